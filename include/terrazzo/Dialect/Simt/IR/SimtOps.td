//===- SimtOps.td - Operations of the simt dialect ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints are numbered as in TileOps.td; SimtVerifiers.cpp and test/Dialect/Simt/invalid.mlir name them by these numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMTOPS
#define TERRAZZO_DIALECT_SIMT_IR_SIMTOPS

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "terrazzo/Dialect/Simt/IR/SimtAttrs.td"
include "terrazzo/Dialect/Simt/IR/SimtTypes.td"
include "terrazzo/Dialect/Tile/IR/TileAttrs.td"
include "terrazzo/Dialect/Tile/IR/TileTypes.td"

def Simt_SharedMemory : Resource<"::terrazzo::simt::SharedMemory">;

class Simt_Op<string mnemonic, list<Trait> traits = []> : Op<Simt_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Tiles with layouts
//===----------------------------------------------------------------------===//

def Simt_ConvertLayoutOp : Simt_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    Constraints:
    * (C1) source and result differ in the layout only.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Simt_WarpReduceOp : Simt_Op<"warp_reduce", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Combines, along an axis, the elements that each warp holds";
  let description = [{
    As `tile.reduce`, but each warp combines its own elements only. The result keeps the axis, with one element for each
    of the places that warps have along it and that hold an element, and has the layout that is left when registers and
    lanes do not move along it and the warps' bits of the axis are packed in order.

    Constraints:
    * (C1) there is at least one operand, all have one shape and layout, and each has a result;
    * (C2) `axis` is in `[0, rank)`;
    * (C3) the region has two scalar arguments an operand, of its element type, and yields one each;
    * (C4) each bit of the axis is one bit of a register, lane or warp, which moves along nothing else;
    * (C5) the results have the shape and layout described above.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis, UnitAttr:$commutative);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "`(` $operands `)` `,` $axis attr-dict `:` functional-type($operands, $results) $combine";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Simt_YieldOp : Simt_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"WarpReduceOp">]> {
  let summary = "Ends the region of a warp_reduce";
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

def Simt_MmaOp : Simt_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + lhs @ rhs by the matrix unit";
  let description = [{
    As `tile.dot`, by repetitions of one instruction. Which warp computes what is said by the layout of `acc`: the
    instruction's own, repeated over warps and registers. Those of the factors follow from it: each warp holds what it needs
    (`MatrixUnits.h`). An instruction that reads its factors from shared memory may have the left one in registers: `lhsInRegisters`
    says so.

    Constraints:
    * (C1) ranks are equal, 2 or 3; batch extents, M, N and K agree;
    * (C2) element types are those of the instruction, f32 for `tf32`;
    * (C3) M and N, padded to powers of two, are no smaller than the instruction, and K is a multiple of its k;
    * (C4) where tiles have layouts, that of `acc` repeats the instruction's, and those of the factors follow from it, unless
      the instruction reads them from shared memory;
    * (C5) factors that it reads from there have rank 2, and rows and columns of at least 32 bytes;
    * (C6) `lhsInRegisters` is for instructions that read shared memory.

    Where the instruction takes only factors that run along K (`innermostDim`), that is how they are stored.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Tile_Tile:$acc, Simt_InstructionAttr:$instruction,
                       UnitAttr:$isUnsigned, UnitAttr:$lhsInRegisters);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `by` $instruction attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Whether factor 0 or 1 is read from shared memory.
    bool isInShared(unsigned factor);
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def Simt_AllocOp : Simt_Op<"alloc", [MemoryEffects<[MemAlloc<Simt_SharedMemory>]>]> {
  let summary = "A buffer in shared memory";
  let description = [{
    Lives from its first access to its last; `offset` (bytes), once there, says where: at a multiple of `alignment`. A `ring` has
    slots that are filled and read in turn; the pass that made it has put the waits and barriers between them, such that a product may
    still read its slot as many iterations after its own as `ring` says.

    A buffer may hold a part of a tile at a time: accesses with `within` touch the elements whose place, counted from `base`, lies
    in `[0, within)`, and no others. So a tile goes through in rounds, each with a `base` of its own.

    Constraints:
    * (C1) `bytes` is in [1, 2^40], `alignment` a power of two from 16 to 1024, `ring` not negative;
    * (C2) with an `offset`, it ends at 2^28 bytes or before: instructions hold offsets.
  }];
  let arguments = (ins I64Attr:$bytes, OptionalAttr<I64Attr>:$offset, DefaultValuedAttr<I64Attr, "16">:$alignment,
                       OptionalAttr<I64Attr>:$ring);
  let results = (outs Simt_BufferType:$buffer);
  let assemblyFormat = "$bytes (`at` $offset^)? attr-dict";
  let hasVerifier = 1;
}

class Simt_LocalOp<string mnemonic, list<Trait> traits> : Simt_Op<mnemonic, traits> {
  string addressing = [{
    Element `c` of the tile is element `base + offset + sum(c[d] * strides[d])` of the buffer, counted in elements of
    the tile (i1 takes a byte, a pointer eight). With a `swizzle`, there are no strides: `c` is at `base + offset +`
    that layout's inverse of `c`. A scalar has no strides. With `within`, only elements whose place is in `[0, within)` are touched.
  }];
}

def Simt_LocalStoreOp : Simt_LocalOp<"local_store", [MemoryEffects<[MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Writes a tile to a buffer";
  let description = addressing # [{
    Elements beyond the shape are not written, and of copies that several threads hold one is written. With `disjoint`,
    what the op, and others alike but for value and offset, write with different offsets does not overlap.

    Constraints:
    * (C1) there is one stride a dimension, or a swizzle;
    * (C2) the buffer is the result of a `simt.alloc`;
    * (C3) the swizzle has one offset for each element of the padded tile.
  }];
  let arguments = (ins Tile_Value:$value, Simt_BufferType:$buffer, Optional<I32>:$offset, I32Attr:$base,
                       DenseI32ArrayAttr:$strides, OptionalAttr<Simt_LayoutAttr>:$swizzle, UnitAttr:$disjoint,
                       OptionalAttr<I32Attr>:$within);
  let assemblyFormat = [{
    $value `,` $buffer `[` ($offset^)? `]` `base` $base `strides` $strides (`swizzle` $swizzle^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Simt_LocalLoadOp : Simt_LocalOp<"local_load", [AttrSizedOperandSegments, MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "Reads a tile from a buffer";
  let description = addressing # [{
    Elements beyond the shape are not read; those outside `within` are as in `otherwise`, and undefined without one.

    Constraints:
    * (C1) there is one stride a dimension, or a swizzle;
    * (C2) the buffer is the result of a `simt.alloc`;
    * (C3) the swizzle has one offset for each element of the padded tile;
    * (C4) `otherwise` has the type of the result.
  }];
  let arguments = (ins Simt_BufferType:$buffer, Optional<I32>:$offset, Optional<Tile_Value>:$otherwise, I32Attr:$base,
                       DenseI32ArrayAttr:$strides, OptionalAttr<Simt_LayoutAttr>:$swizzle, OptionalAttr<I32Attr>:$within);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $buffer `[` ($offset^)? `]` `base` $base `strides` $strides (`swizzle` $swizzle^)?
    (`otherwise` $otherwise^ `:` type($otherwise))? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_LocalGatherOp : Simt_Op<"local_gather", [MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "Reads elements of a buffer by index along an axis";
  let description = [{
    `result[c] = buffer[base + sum(c[d] * strides[d], d != axis) + index[c] * strides[axis]]`. An index outside `[0, extent)`
    gives an undefined element and no fault. `within` and `otherwise` are as in `simt.local_load`.

    Constraints:
    * (C1) there is one stride a dimension, indices and result have one shape and layout;
    * (C2) the buffer is the result of a `simt.alloc`;
    * (C3) `axis` is in `[0, rank)`, `extent` is positive;
    * (C4) `otherwise` has the type of the result.
  }];
  let arguments = (ins Simt_BufferType:$buffer, Tile_IntTile:$indices, Optional<Tile_Tile>:$otherwise, I32Attr:$axis,
                       I32Attr:$extent, DenseI32ArrayAttr:$strides, DefaultValuedAttr<I32Attr, "0">:$base,
                       OptionalAttr<I32Attr>:$within);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `,` $axis `extent` $extent `strides` $strides (`otherwise` $otherwise^ `:` type($otherwise))?
    attr-dict `:` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_LocalCountOp : Simt_Op<"local_count", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Adds one to the i32 counters of a buffer that the elements name, atomically";
  let description = [{
    Element `i` names counter `base + i`, if that is in `[0, bins)`. Elements whose mask is false, copies and elements beyond the
    shape do not count.

    Constraints:
    * (C1) indices and mask have one shape and layout;
    * (C2) the buffer is the result of a `simt.alloc`;
    * (C3) `bins` is positive.
  }];
  let arguments = (ins Simt_BufferType:$buffer, Tile_IntTile:$indices, Optional<Tile_BoolTile>:$mask, I32Attr:$bins,
                       DefaultValuedAttr<I32Attr, "0">:$base);
  let assemblyFormat = "$buffer `[` $indices `]` (`mask` $mask^ `:` type($mask))? `,` $bins attr-dict `:` type($indices)";
  let hasVerifier = 1;
}

def Simt_LocalDotOp : Simt_Op<"local_dot", [MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "acc + lhs @ rhs with both factors in shared memory";
  let description = [{
    As `tile.dot`. `lhs` and `rhs` are buffers with one stride for each dimension ([batch,] M, K and [batch,] K, N) of elements of
    `lhsType` and `rhsType`; `depth` is K. For each element the products are added in the order of k, by fused
    multiply-add where the type of `acc` is a float of 32 bits or more.

    Constraints:
    * (C1) there is one stride a dimension of the factors;
    * (C2) both buffers are results of a `simt.alloc`;
    * (C3) acc and result have one type;
    * (C4) its rank is 2 or 3, and factors and accumulator are floats, or the factors integers of one type and acc i32, of at most 64 bits;
    * (C5) `depth` is positive.
  }];
  let arguments = (ins Simt_BufferType:$lhs, Simt_BufferType:$rhs, Tile_Tile:$acc, TypeAttr:$lhsType, TypeAttr:$rhsType,
                       I32Attr:$depth, DenseI32ArrayAttr:$lhsStrides, DenseI32ArrayAttr:$rhsStrides,
                       UnitAttr:$isUnsigned);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $lhs `:` $lhsType $lhsStrides `,` $rhs `:` $rhsType $rhsStrides `,` $acc `depth` $depth attr-dict `:` type($acc) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_LocalCopyOp : Simt_Op<"local_copy", [AttrSizedOperandSegments,
                                              MemoryEffects<[MemRead, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Starts a copy of a tile from global memory to a buffer";
  let description = [{
    Elements whose mask is false become 0. Without `active` nothing happens. The copy belongs to the next `simt.copy_commit`, and has
    been made when a `simt.copy_wait` says so; until then the buffer holds neither. `swizzle` and `offset` are as in
    `simt.local_store`. Each access covers as many bytes as `simt.vector` elements have: 4, 8 or 16.

    Constraints:
    * (C1) the buffer is the result of a `simt.alloc`;
    * (C2) the swizzle has one offset for each element of the padded tile.
  }];
  let arguments = (ins Tile_Tile:$ptr, Optional<Tile_BoolTile>:$mask, I1:$active, Simt_BufferType:$buffer,
                       Optional<I32>:$offset, Simt_LayoutAttr:$swizzle);
  let assemblyFormat = [{
    $ptr (`mask` $mask^ `:` type($mask))? `if` $active `to` $buffer `[` ($offset^)? `]` $swizzle attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

def Simt_CopyCommitOp : Simt_Op<"copy_commit", [AttrSizedOperandSegments,
                                                MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Makes the copies that this thread has started since the last one a group";
  let description = [{
    With `barriers`, each thread arrives at one of them instead when all copies have been made that it has started.

    Constraints:
    * (C1) the barriers are the result of a `simt.alloc`, and come with a slot.
  }];
  let arguments = (ins Optional<Simt_BufferType>:$barriers, Optional<I32>:$slot);
  let assemblyFormat = "(`signals` $barriers^ `[` $slot `]`)? attr-dict";
  let hasVerifier = 1;
}

def Simt_CopyWaitOp : Simt_Op<"copy_wait", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Waits until all groups of this thread's copies but the last `pending` have been made";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Simt_LocalTensorCopyOp : Simt_Op<"local_tensor_copy", [AttrSizedOperandSegments,
                                              MemoryEffects<[MemRead, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Starts a copy of a block of a tensor to a buffer, by the copy engine";
  let description = [{
    As `simt.local_copy`, of the block of shape `shape` at `coordinates` of the tensor of `map`, which starts at `base`. One thread
    starts it. It is an arrival at barrier `slot` of `barriers`, and has been made when that one's phase ends. With `released` that thread
    waits first for the phase of parity `releasedParity` of that barrier, at which the warps arrive that have read what was there before. The
    swizzle has one of the forms that the engine knows, rows innermost.

    Constraints:
    * (C1) the buffers are results of a `simt.alloc`;
    * (C2) there are as many coordinates and extents as the swizzle has dimensions;
    * (C3) the swizzle is one of `layout::swizzledBuffer` with the last dimension innermost;
    * (C4) the shape is that of the swizzle and has at least eight rows;
    * (C5) `released` comes with its slot and parity.
  }];
  let arguments = (ins Tile_TensorMapType:$map, Tile_PtrType:$base, Variadic<I32>:$coordinates, I1:$active, Simt_BufferType:$buffer,
                       Optional<I32>:$offset, Simt_BufferType:$barriers, I32:$slot, Optional<Simt_BufferType>:$released,
                       Optional<I32>:$releasedSlot, Optional<I32>:$releasedParity, DenseI64ArrayAttr:$shape, Simt_LayoutAttr:$swizzle);
  let assemblyFormat = [{
    $map `,` $base `[` $coordinates `]` `if` $active `to` $buffer `[` ($offset^)? `]` `signals` $barriers `[` $slot `]`
    (`after` $released^ `[` $releasedSlot `]` `,` $releasedParity)? $shape $swizzle attr-dict `:` qualified(type($base))
  }];
  let hasVerifier = 1;
}

def Simt_MbarrierInitOp : Simt_Op<"mbarrier_init", [MemoryEffects<[MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Makes the words of 8 bytes of a buffer barriers, each in its phase 0";
  let description = [{
    One thread does so; a `simt.barrier` shows them to all. A phase ends with as many `arrivals`, of copies or of warps.

    Constraints:
    * (C1) the buffer is the result of a `simt.alloc`;
    * (C2) `arrivals` is positive.
  }];
  let arguments = (ins Simt_BufferType:$barriers, I32Attr:$arrivals);
  let assemblyFormat = "$barriers `,` $arrivals attr-dict";
  let hasVerifier = 1;
}

def Simt_MbarrierEndOp : Simt_Op<"mbarrier_end", [MemoryEffects<[MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Makes barriers plain memory again";
  let description = [{
    Constraints:
    * (C1) the buffer is the result of a `simt.alloc`.
  }];
  let arguments = (ins Simt_BufferType:$barriers);
  let assemblyFormat = "$barriers attr-dict";
  let hasVerifier = 1;
}

def Simt_MbarrierArriveOp : Simt_Op<"mbarrier_arrive", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Each warp arrives at a barrier, if `active`, and says that it has read a slot of a ring";
  let description = [{
    What it reads of the slot by products has been waited for: one lane arrives for all. The slot may be filled again once the phase
    has ended.

    Constraints:
    * (C1) the buffers are results of a `simt.alloc`, the second one of a ring.
  }];
  let arguments = (ins Simt_BufferType:$barriers, I32:$slot, I1:$active, Simt_BufferType:$ring);
  let assemblyFormat = "$barriers `[` $slot `]` `if` $active `releases` $ring attr-dict";
  let hasVerifier = 1;
}

def Simt_MbarrierWaitOp : Simt_Op<"mbarrier_wait", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Waits until the phase of a barrier with this parity has ended";
  let description = [{
    With `units`, what threads copied to shared memory before they arrived is seen by matrix units that read it after, too.

    Constraints:
    * (C1) the buffer is the result of a `simt.alloc`.
  }];
  let arguments = (ins Simt_BufferType:$barriers, I32:$slot, I32:$parity, UnitAttr:$units);
  let assemblyFormat = "$barriers `[` $slot `]` `,` $parity (`units` $units^)? attr-dict";
  let hasVerifier = 1;
}

def Simt_LocalMmaOp : Simt_Op<"local_mma", [AttrSizedOperandSegments,
                                            MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>,
                                            AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + lhs @ rhs by a matrix unit that reads factors from shared memory";
  let description = [{
    As `simt.mma`. A factor lies in its buffer, from an offset (elements) on, by a swizzle that the unit knows (`layout::swizzledBuffer`), with either
    dimension innermost, or it is a tile (the left one only); `depth` is K.

    The op starts the product. Until a `simt.mma_wait` says that it has been made, its buffers are being read, and its result is
    *in flight*: it may be the accumulator of another such op, which comes after it, or be carried by a loop, and nothing else.

    Constraints:
    * (C1) buffers are results of a `simt.alloc`;
    * (C2) the swizzles are what the instruction reads, of M x K and K x N; a tile has none and no offset;
    * (C3) the layout of acc repeats the instruction's, and that of a tile follows from it.
  }];
  let arguments = (ins AnyTypeOf<[Simt_BufferType, Tile_Tile]>:$lhs, Optional<I32>:$lhsOffset, Simt_BufferType:$rhs,
                       Optional<I32>:$rhsOffset, Tile_Tile:$acc, Simt_InstructionAttr:$instruction, I32Attr:$depth,
                       OptionalAttr<Simt_LayoutAttr>:$lhsSwizzle, Simt_LayoutAttr:$rhsSwizzle);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $lhs `[` ($lhsOffset^)? `]` (`swizzle` $lhsSwizzle^)? `,` $rhs `[` ($rhsOffset^)? `]` `swizzle` $rhsSwizzle `,` $acc
    `by` $instruction `depth` $depth attr-dict `:` type($lhs) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_MmaWaitOp : Simt_Op<"mma_wait", [AttrSizedOperandSegments,
                                           MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "Waits until all products of this thread's `simt.local_mma` but the last `pending` have been made";
  let description = [{
    The results are the values, which are no longer in flight. `buffers` are those that the products read which have been made, and
    `factors` tiles that they read: their registers are not written to before.

    Constraints:
    * (C1) there is a result of the same type for each of `values`;
    * (C2) `pending` is not negative.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values, Variadic<Tile_Tile>:$factors, Variadic<Simt_BufferType>:$buffers,
                       I32Attr:$pending);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = [{
    $pending (`of` `(` $values^ `:` type($values) `)`)? (`holding` `(` $factors^ `:` type($factors) `)`)? (`reading` $buffers^)?
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What one thread does
//===----------------------------------------------------------------------===//

def Simt_BarrierOp : Simt_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all threads of the block; orders their accesses of shared and global memory";
  let description = [{
    With `units`, what threads wrote to shared memory before it is seen by matrix units that read it after, too.
  }];
  let arguments = (ins UnitAttr:$units);
  let assemblyFormat = "(`units` $units^)? attr-dict";
}

def Simt_ThreadIdOp : Simt_Op<"thread_id", [Pure]> {
  let summary = "Index of this thread in its block";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Simt_WarpIdOp : Simt_Op<"warp_id", [Pure]> {
  let summary = "Index of this thread's warp in its block, uniform in the warp";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Simt_SharedBaseOp : Simt_Op<"shared_base", [Pure]> {
  let summary = "Start of the block's shared memory, `simt.shared_bytes` (a module attribute) long, aligned to 16 bytes at least";
  let results = (outs LLVM_PointerInAddressSpace<3>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Simt_ShuffleXorOp : Simt_Op<"shuffle_xor", [AllTypesMatch<["value", "result"]>]> {
  let summary = "The value of the lane whose index differs by `mask`; all lanes take part";
  let description = [{
    Constraints:
    * (C1) `mask` is not negative.
  }];
  let arguments = (ins I32:$value, I32Attr:$mask);
  let results = (outs I32:$result);
  let assemblyFormat = "$value `,` $mask attr-dict";
  let hasVerifier = 1;
}

def Simt_ShuffleIndexOp : Simt_Op<"shuffle_index", [AllTypesMatch<["value", "result"]>]> {
  let summary = "The value of lane `lane` of this warp; all lanes take part";
  let arguments = (ins I32:$value, I32:$lane);
  let results = (outs I32:$result);
  let assemblyFormat = "$value `,` $lane attr-dict";
}

def Simt_ThreadMmaOp : Simt_Op<"thread_mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "One matrix instruction; all lanes take part";
  let description = [{
    Operands and result are what a lane holds of each by the instruction's layouts, registers in order, as words of 32 bits
    (of 64 for elements of 64): an integer, or a vector of them. The products are summed in an order that is the
    instruction's own.

    Constraints:
    * (C1) each has as many bits as the instruction's layout has registers.
  }];
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, AnyType:$acc, Simt_InstructionAttr:$instruction, UnitAttr:$isUnsigned);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `by` $instruction attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_ThreadGroupMmaOp : Simt_Op<"thread_group_mma", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts matrix instructions of four warps, whose factors are in shared memory";
  let description = [{
    Accumulator `i` gets, for each step `s`, the product of the blocks at `lhs + lhsPlaces[i] + lhsSteps[s]` and
    `rhs + rhsPlaces[i] + rhsSteps[s]` (bytes). A block is seen as the unit sees it: rows of `swizzle` bytes (32, 64 or 128), of
    elements along K, or with `across` along M or N; bits 4 and up of an address are XORed with bits 7 and up of it, as many as
    the swizzle has 16-byte units. `stride` is from eight rows to the next eight, `leading` from a run of `swizzle` bytes to the
    next (used with `across` only). The pointers are the same for the threads of four warps. Without `lhs`, the left block is
    fragment `lhsPlaces[i] + lhsSteps[s]`: what a lane holds of it, as words of 32 bits.

    The results are there, and the factors are no longer read, when a `simt.thread_group_wait` says so. Each op is a group.

    Constraints:
    * (C1) there is a place in each factor for each accumulator, as many steps in both, and a result for each accumulator;
    * (C2) each accumulator and fragment has as many bits as the instruction's layout has registers;
    * (C3) there is either `lhs` or a fragment for each place and step;
    * (C4) `across` is for instructions that take such factors.
  }];
  let arguments = (ins Optional<LLVM_PointerInAddressSpace<3>>:$lhs, Variadic<AnyType>:$fragments,
                       LLVM_PointerInAddressSpace<3>:$rhs, Variadic<AnyType>:$accs,
                       Simt_InstructionAttr:$instruction, DenseI32ArrayAttr:$lhsPlaces, DenseI32ArrayAttr:$rhsPlaces,
                       DenseI32ArrayAttr:$lhsSteps, DenseI32ArrayAttr:$rhsSteps, I32Attr:$lhsSwizzle, I32Attr:$rhsSwizzle,
                       I32Attr:$lhsStride, I32Attr:$rhsStride, I32Attr:$lhsLeading, I32Attr:$rhsLeading,
                       UnitAttr:$lhsAcross, UnitAttr:$rhsAcross);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    (`at` $lhs^ `:` type($lhs))? (`held` `(` $fragments^ `:` type($fragments) `)`)? `,` $rhs `,` $accs `by` $instruction attr-dict `:`
    type($rhs) `,` type($accs) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Simt_ThreadGroupWaitOp : Simt_Op<"thread_group_wait", [AttrSizedOperandSegments]> {
  let summary = "Waits until all groups of this warp's matrix instructions but the last `pending` have been made";
  let description = [{
    The results are the values, which have been made. `fragments` are what the groups read: they stay as they are until then.

    Constraints:
    * (C1) there is a result of the same type for each operand;
    * (C2) `pending` is not negative.
  }];
  let arguments = (ins Variadic<AnyType>:$values, Variadic<AnyType>:$fragments, I32Attr:$pending);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $pending (`of` `(` $values^ `:` type($values) `)`)? (`holding` `(` $fragments^ `:` type($fragments) `)`)? attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Simt_ThreadLoadOp : Simt_Op<"thread_load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "Reads an integer, or a vector of integers of up to 16 bytes, if the mask is true";
  let description = [{
    `other`, or 0 without one, if the mask is false: nothing is read then, whatever the pointer. The address is aligned to the size
    of the result.

    Constraints:
    * (C1) the result is an i8, i16, i32 or i64, or a vector of 1, 2, 4, 8 or 16 of them and up to 16 bytes;
    * (C2) other has the type of the result;
    * (C3) other comes with a mask.
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, Optional<I1>:$mask, Optional<AnyType>:$other,
                       DefaultValuedAttr<Tile_CacheModifier, "::terrazzo::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::terrazzo::tile::EvictionPolicy::Normal">:$evict,
                       UnitAttr:$isVolatile);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? (`other` $other^ `:` type($other))? attr-dict `:` type($ptr) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Simt_ThreadCopyOp : Simt_Op<"thread_copy", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of 4, 8 or 16 bytes from global to shared memory, if `active`";
  let description = [{
    As part of `simt.local_copy`: zeros if the mask is false.

    Constraints:
    * (C1) `bytes` is 4, 8 or 16.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$to, LLVM_AnyPointer:$from, Optional<I1>:$mask, Optional<I1>:$active,
                       I32Attr:$bytes);
  let assemblyFormat = "$to `,` $from (`mask` $mask^)? (`if` $active^)? $bytes attr-dict `:` type($to) `,` type($from)";
  let hasVerifier = 1;
}

def Simt_ThreadTensorCopyOp : Simt_Op<"thread_tensor_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of a box of a tensor to shared memory, by the copy engine";
  let description = [{
    Of the box of `map`, a parameter of the kernel, at `coordinates`, the last dimension first. Its bytes, those outside of the tensor
    included, count towards what `barrier` expects.

    Constraints:
    * (C1) there are 1 to 5 coordinates.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$to, LLVM_AnyPointer:$map, Variadic<I32>:$coordinates,
                       LLVM_PointerInAddressSpace<3>:$barrier);
  let assemblyFormat = "$to `,` $map `[` $coordinates `]` `signals` $barrier attr-dict `:` type($to) `,` type($map) `,` type($barrier)";
  let hasVerifier = 1;
}

def Simt_ThreadMbarrierInitOp : Simt_Op<"thread_mbarrier_init", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes 8 bytes of shared memory a barrier, whose phases each wait for `arrivals`";
  let description = [{
    The copy engine sees it; other threads, after a `simt.barrier`.

    Constraints:
    * (C1) `arrivals` is positive.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, I32Attr:$arrivals);
  let assemblyFormat = "$barrier `,` $arrivals attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def Simt_ThreadMbarrierEndOp : Simt_Op<"thread_mbarrier_end", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a barrier plain memory again";
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def Simt_ThreadMbarrierArriveOp : Simt_Op<"thread_mbarrier_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives at a barrier; its phase waits for `bytes` more of copies";
  let description = [{
    Constraints:
    * (C1) `bytes` is not negative.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, I32Attr:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def Simt_ThreadCopyArriveOp : Simt_Op<"thread_copy_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives at a barrier when all copies that this thread has started have been made";
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def Simt_ThreadMbarrierWaitOp : Simt_Op<"thread_mbarrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the phase of a barrier with this parity has ended";
  let description = [{
    Phases are numbered from 0. What the copies that it waited for have written is there then; with `units`, matrix units see it, too.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, I32:$parity, UnitAttr:$units);
  let assemblyFormat = "$barrier `,` $parity (`units` $units^)? attr-dict `:` type($barrier)";
}

def Simt_ThreadStoreOp : Simt_Op<"thread_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes an integer, or a vector of integers of up to 16 bytes, if the mask is true";
  let description = [{
    Alignment as in `simt.thread_load`.

    Constraints:
    * (C1) the value has a type that `simt.thread_load` can give.
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, AnyType:$value, Optional<I1>:$mask,
                       DefaultValuedAttr<Tile_CacheModifier, "::terrazzo::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::terrazzo::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = "$ptr `,` $value (`mask` $mask^)? attr-dict `:` type($ptr) `,` type($value)";
  let hasVerifier = 1;
}

def Simt_ThreadAtomicRMWOp : Simt_Op<"thread_atomic_rmw", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "An atomic update by one thread, if the mask is true";
  let description = [{
    Kinds as in `tile.atomic_rmw` (`fmax` and `fmin` drop NaN). The result is what the memory held, or 0 if the mask is
    false.

    Constraints:
    * (C1) the value is i8, i16, i32, i64, f16, bf16, f32 or f64;
    * (C2) `fadd`, `fmax` and `fmin` take floats, `exch` takes either, all others take integers;
    * (C3) the result has the type of the value.
  }];
  let arguments = (ins Tile_RMWKind:$kind, LLVM_AnyPointer:$ptr, AnyType:$value, Optional<I1>:$mask,
                       DefaultValuedAttr<Tile_MemSem, "::terrazzo::tile::MemSem::AcqRel">:$sem,
                       DefaultValuedAttr<Tile_MemScope, "::terrazzo::tile::MemScope::Gpu">:$scope);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind `,` $ptr `,` $value (`mask` $mask^)? attr-dict `:` type($ptr) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Simt_ThreadAtomicCASOp : Simt_Op<"thread_atomic_cas", [MemoryEffects<[MemRead, MemWrite]>,
                                                           AllTypesMatch<["expected", "value", "result"]>]> {
  let summary = "An atomic compare-and-swap of an integer by one thread, if the mask is true";
  let description = [{
    The result is what the memory held, or 0 if the mask is false.

    Constraints:
    * (C1) the value is i8, i16, i32 or i64.
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, AnyInteger:$expected, AnyInteger:$value, Optional<I1>:$mask,
                       DefaultValuedAttr<Tile_MemSem, "::terrazzo::tile::MemSem::AcqRel">:$sem,
                       DefaultValuedAttr<Tile_MemScope, "::terrazzo::tile::MemScope::Gpu">:$scope);
  let results = (outs AnyInteger:$result);
  let assemblyFormat = [{
    $ptr `,` $expected `,` $value (`mask` $mask^)? attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Simt_ThreadFenceOp : Simt_Op<"thread_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders this thread's accesses before and after it, as others of the scope see them";
  let arguments = (ins Tile_MemSem:$sem, Tile_MemScope:$scope);
  let assemblyFormat = "$sem $scope attr-dict";
}

#endif
