//===- TileOps.td - Operations of the tile dialect ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints are numbered (C1), (C2), ...; the verifier (TileVerifiers.cpp) and test/Dialect/Tile/invalid.mlir name
// them by these numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILEOPS
#define TERRAZZO_DIALECT_TILE_IR_TILEOPS

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "terrazzo/Dialect/Tile/IR/TileAttrs.td"
include "terrazzo/Dialect/Tile/IR/TileDialect.td"
include "terrazzo/Dialect/Tile/IR/TileTypes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

// The result type follows from the operands and attributes.
class Tile_InferredOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([Pure, InferTypeOpAdaptorWithIsCompatible], traits)>;

//===----------------------------------------------------------------------===//
// Programming model
//===----------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "Index of this program instance along an axis of the grid";
  let description = [{
    Constraints:
    * (C1) `axis` is 0, 1 or 2.
  }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "Extent of the grid along an axis";
  let description = [{
    Constraints:
    * (C1) `axis` is 0, 1 or 2.
  }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

def Tile_ArangeOp : Tile_InferredOp<"arange"> {
  let summary = "The integers start, start + 1, ..., end - 1";
  let description = [{
    Constraints:
    * (C1) `start < end`; the result has `end - start` elements of i32.
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs Tile_IntTile:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile whose elements are all one scalar";
  let description = [{
    Constraints:
    * (C1) the element type of the result is the type of the operand.
  }];
  let arguments = (ins Tile_Scalar:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats dimensions of extent 1";
  let description = [{
    Constraints:
    * (C1) source and result have the same rank and element type;
    * (C2) each source extent is 1 or that of the result.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_InferredOp<"expand_dims"> {
  let summary = "Inserts a dimension of extent 1";
  let description = [{
    Constraints:
    * (C1) `axis` is in `[0, rank(source)]`.
  }];
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    A tile of one element may be reshaped to rank 0 (`tensor<f32>`), too.

    Constraints:
    * (C1) source and result have the same element type and number of elements.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransposeOp : Tile_InferredOp<"transpose"> {
  let summary = "Permutes the dimensions of a tile";
  let description = [{
    Result dimension `i` is source dimension `order[i]`. Moves no data by itself.

    Constraints:
    * (C1) `order` is a permutation of `[0, rank(source))`.
  }];
  let arguments = (ins Tile_Tile:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `,` $order attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_JoinOp : Tile_InferredOp<"join", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Two tiles side by side along a new last dimension of extent 2";
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Tile_SplitOp : Tile_InferredOp<"split", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "The inverse of join";
  let description = [{
    Constraints:
    * (C1) the last extent of the source is 2.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$lhs, Tile_Tile:$rhs);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($lhs)";
}

def Tile_ConcatOp : Tile_InferredOp<"concat"> {
  let summary = "Two tiles one behind the other along an axis";
  let description = [{
    Constraints:
    * (C1) `axis` is in `[0, rank)`;
    * (C2) ranks, element types and all extents but that of `axis` agree.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $axis attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Tile_FlipOp : Tile_InferredOp<"flip"> {
  let summary = "Reverses a tile along an axis";
  let description = [{
    Constraints:
    * (C1) `axis` is in `[0, rank)`.
  }];
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source)";
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "A rectangle of a tile";
  let description = [{
    Element `i` of the result is element `offsets + i * strides` of the source. `sizes` is the shape of the result before
    dimensions are dropped: a result of lower rank leaves out the dimensions in `dropped`, each of size 1.

    Offsets are one i32 per dimension of the source. What is read outside the source is undefined, so the frontend
    checks static offsets and clamps dynamic ones where the language says so.

    Constraints:
    * (C1) there are as many offsets and sizes as dimensions;
    * (C2) `dropped` is increasing and names dimensions of size 1;
    * (C3) the result type has the remaining sizes as its shape and the element type of the source. If all
      dimensions are dropped, the result is a scalar.
  }];
  let arguments = (ins Tile_Tile:$source, Variadic<I32>:$offsets, DenseI32ArrayAttr:$sizes,
                       DenseI32ArrayAttr:$strides, DenseI32ArrayAttr:$dropped);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` $sizes `strides` $strides `dropped` $dropped attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_InsertOp : Tile_Op<"insert", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "A tile with a rectangle replaced";
  let description = [{
    The inverse of `tile.slice` with unit strides: a copy of `dest` in which the rectangle at `offsets`, of the shape that
    `source` has once the dimensions in `dropped` are put back as extents of 1, holds `source`.

    Constraints:
    * (C1) there are as many offsets as dimensions of `dest`;
    * (C2) `source`, with dropped dimensions put back, has the rank and element type of `dest` and fits into it.
  }];
  let arguments = (ins Tile_Value:$source, Tile_Tile:$dest, Variadic<I32>:$offsets, DenseI32ArrayAttr:$dropped);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `into` $dest `[` $offsets `]` `dropped` $dropped attr-dict `:` type($source) `into` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "Picks elements along an axis by index";
  let description = [{
    `result[.., i, ..] = source[.., indices[.., i, ..], ..]`. An index outside the axis gives an undefined element, never
    a fault.

    Constraints:
    * (C1) `axis` is in `[0, rank)`;
    * (C2) source and indices have the same rank and, but for `axis`, the same extents;
    * (C3) the result has the shape of the indices and the element type of the source.
  }];
  let arguments = (ins Tile_Tile:$source, Tile_IntTile:$indices, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `[` $indices `]` `,` $axis attr-dict `:` type($source) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pointers and memory
//===----------------------------------------------------------------------===//

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Moves a pointer by a number of elements";
  let description = [{
    The offset is signed, of any width; the address is computed in 64 bits. It counts elements of the pointee type (a
    pointee i1 does not exist).

    Constraints:
    * (C1) both operands are scalars, or tiles of one shape.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_IntLike:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure]> {
  let summary = "The address in a pointer";
  let description = [{
    Constraints:
    * (C1) operand and result are scalars, or tiles of one shape; the result is i64.
  }];
  let arguments = (ins Tile_PtrLike:$source);
  let results = (outs Tile_IntLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure]> {
  let summary = "A pointer to an address";
  let description = [{
    Constraints:
    * (C1) operand and result are scalars, or tiles of one shape; the operand is i64.
  }];
  let arguments = (ins Tile_IntLike:$source);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PtrCastOp : Tile_Op<"ptr_cast", [Pure]> {
  let summary = "The same address with another pointee type";
  let description = [{
    Constraints:
    * (C1) operand and result are scalars, or tiles of one shape.
  }];
  let arguments = (ins Tile_PtrLike:$source);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_HintOp : Tile_Op<"hint", [Pure, SameOperandsAndResultType]> {
  let summary = "The operand, with a promise about its values";
  let description = [{
    Per dimension (a scalar counts as one dimension): `contiguity[d]` consecutive elements along `d` differ by 1,
    `divisibility[d]` divides the first of each such run, `constancy[d]` consecutive elements are equal. An absent array
    promises nothing.

    Constraints:
    * (C1) each array has as many entries as the operand has dimensions (one for a scalar), all positive.
  }];
  let arguments = (ins Tile_Value:$source, OptionalAttr<DenseI32ArrayAttr>:$contiguity,
                       OptionalAttr<DenseI32ArrayAttr>:$divisibility, OptionalAttr<DenseI32ArrayAttr>:$constancy);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

// Nothing that accesses memory: it only must not vanish.
def Tile_Promises : Resource<"::terrazzo::tile::Promises">;

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite<Tile_Promises>]>]> {
  let summary = "A promise that a condition holds";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                   InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "Reads elements through pointers";
  let description = [{
    Lanes whose mask is false are not read, whatever their pointer, and give `other`, or 0 when there is none.

    Constraints:
    * (C1) mask and other are scalars with a scalar pointer, or tiles of the pointer's shape;
    * (C2) other has the pointee type;
    * (C3) other comes with a mask.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_BoolLike>:$mask, Optional<Tile_Value>:$other,
                       DefaultValuedAttr<Tile_CacheModifier, "::terrazzo::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::terrazzo::tile::EvictionPolicy::Normal">:$evict,
                       UnitAttr:$isVolatile);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))? attr-dict `:` type($ptr) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "Writes elements through pointers";
  let description = [{
    Lanes whose mask is false are not written, whatever their pointer.

    Constraints:
    * (C1) value and mask are scalars with a scalar pointer, or tiles of the pointer's shape;
    * (C2) value has the pointee type.
  }];
  let arguments = (ins Arg<Tile_PtrLike, "", [MemWrite]>:$ptr, Tile_Value:$value, Optional<Tile_BoolLike>:$mask,
                       DefaultValuedAttr<Tile_CacheModifier, "::terrazzo::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::terrazzo::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = [{
    $ptr `,` $value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_MakeDescriptorOp : Tile_Op<"make_descriptor", [Pure, SameVariadicOperandSize, TypesMatchWith<
    "the base points to the elements of the descriptor", "result", "base",
    "PtrType::get(::llvm::cast<DescriptorType>($_self).getElementType())">]> {
  let summary = "Describes a strided tensor in memory by its base, shape and strides";
  let description = [{
    All lengths count elements. What a block of the result names outside of `[0, shape)` reads as the type's padding, and is not
    written.

    Constraints:
    * (C1) there is one of `shape` and one of `strides` for each dimension of the block.
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I64>:$shape, Variadic<I64>:$strides);
  let results = (outs Tile_DescriptorType:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_DescriptorLoadOp : Tile_Op<"descriptor_load", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "Reads the block of a described tensor at an offset";
  let description = [{
    Element `i` of the result is element `offsets + i` of the tensor.

    Constraints:
    * (C1) there is one offset for each dimension of the block.
  }];
  let arguments = (ins Arg<Tile_DescriptorType, "", [MemRead]>:$descriptor, Variadic<Tile_Coordinate>:$offsets,
                       DefaultValuedAttr<Tile_CacheModifier, "::terrazzo::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::terrazzo::tile::EvictionPolicy::Normal">:$evict);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $descriptor `[` $offsets (`:` type($offsets)^)? `]` attr-dict `:` qualified(type($descriptor)) `->` type($result)
  }];
}

def Tile_DescriptorStoreOp : Tile_Op<"descriptor_store"> {
  let summary = "Writes the block of a described tensor at an offset";
  let description = [{
    Constraints:
    * (C1) there is one offset for each dimension of the block;
    * (C2) the value has the shape and elements of the block.
  }];
  let arguments = (ins Arg<Tile_DescriptorType, "", [MemWrite]>:$descriptor, Variadic<Tile_Coordinate>:$offsets,
                       Tile_Tile:$value);
  let assemblyFormat = [{
    $descriptor `[` $offsets (`:` type($offsets)^)? `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_BlockHintOp : Tile_Op<"block_hint", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The operand, which is the block of a tensor at an offset";
  let description = [{
    So that a block that was expanded to pointers can be copied by an engine that takes tensor maps. That of the tensor has no box yet.

    Constraints:
    * (C1) there is one offset for each dimension of the block.
  }];
  let arguments = (ins Tile_Tile:$source, Variadic<I32>:$offsets, Tile_TensorMapAttr:$map);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `[` $offsets `]` $map attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Atomically updates elements through pointers and returns what they held";
  let description = [{
    Lanes whose mask is false are not touched and give 0. `fmax` and `fmin` drop NaN.

    Constraints:
    * (C1) value and mask are scalars with a scalar pointer, or tiles of the pointer's shape;
    * (C2) value has the pointee type;
    * (C3) `fadd`, `fmax` and `fmin` take floats of 16 bits or more, `exch` takes either, all others take integers;
    * (C4) the result has the type of value.
  }];
  let arguments = (ins Tile_RMWKind:$kind, Tile_PtrLike:$ptr, Tile_Value:$value, Optional<Tile_BoolLike>:$mask,
                       DefaultValuedAttr<Tile_MemSem, "::terrazzo::tile::MemSem::AcqRel">:$sem,
                       DefaultValuedAttr<Tile_MemScope, "::terrazzo::tile::MemScope::Gpu">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind `,` $ptr `,` $value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($ptr) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                              AllTypesMatch<["expected", "value", "result"]>]> {
  let summary = "Atomically replaces elements that hold an expected value and returns what they held";
  let description = [{
    Compares bits, floats too.

    Constraints:
    * (C1) expected and value are scalars with a scalar pointer, or tiles of the pointer's shape;
    * (C2) expected and value have the pointee type.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_Value:$expected, Tile_Value:$value,
                       DefaultValuedAttr<Tile_MemSem, "::terrazzo::tile::MemSem::AcqRel">:$sem,
                       DefaultValuedAttr<Tile_MemScope, "::terrazzo::tile::MemScope::Gpu">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $ptr `,` $expected `,` $value attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Linear algebra, reductions, scans
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + lhs @ rhs";
  let description = [{
    `lhs` is `[.., M, K]`, `rhs` `[.., K, N]`, `acc` `[.., M, N]`, with at most one leading batch dimension. Products are
    exact and summed in the type of `acc` at least; f32 operands may be rounded as `precision` says, and sums of up to
    `maxNumImpreciseAcc` products of 8-bit floats may have fewer bits.

    Constraints:
    * (C1) ranks are equal, 2 or 3; batch extents agree;
    * (C2) M, N and K agree;
    * (C3) the operands are both floats (of any type) or both integers of one width;
    * (C4) acc is a float of 16 bits or more, or i32;
    * (C5) `maxNumImpreciseAcc` is not negative.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Tile_Tile:$acc,
                       DefaultValuedAttr<Tile_Precision, "::terrazzo::tile::Precision::Default">:$precision,
                       UnitAttr:$isUnsigned, DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
                                     ParentOneOf<["ReduceOp", "ScanOp", "RecurrenceOp", "MapOp"]>]> {
  let summary = "Ends the region of a reduction, scan, recurrence or map";
  let arguments = (ins Variadic<Tile_Value>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Combines the elements of tiles along an axis";
  let description = [{
    The region takes the accumulated elements of all operands, then the next ones: `(a0, .., an, b0, .., bn)`, and yields
    n + 1 scalars. Element order is kept (the combine need not commute), association is free. A result has the operand's
    shape without `axis`; operands of rank 1 give scalars.

    Constraints:
    * (C1) there is at least one operand, all have one shape;
    * (C2) `axis` is in `[0, rank)`;
    * (C3) the region has two scalar arguments an operand, of its element type, and yields one each.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "`(` $operands `)` `,` $axis attr-dict `:` functional-type($operands, $results) $combine";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "All prefixes of an associative combination along an axis";
  let description = [{
    The region is that of `tile.reduce`; element `i` of a result combines elements `0..i`. With `reverse`, element `i`
    combines `n-1..i`, the accumulated suffix as the first operand: flip, scan, flip.

    Constraints: (C1) to (C3) of `tile.reduce`;
    * (C4) the results have the types of the operands.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    `(` $operands `)` `,` $axis (`reverse` $reverse^)? attr-dict `:` functional-type($operands, $results) $combine
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_RecurrenceOp : Tile_Op<"recurrence", [RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "A sequential scan with a carried state";
  let description = [{
    Steps through `axis` of `xs` from 0 up, with `reverse` from the last down. The region takes the carried values, then
    the slices of `xs` at this step (the axis removed; scalars for tiles of rank 1), and yields the new carried values,
    then this step's outputs. Results are the last carried values, then each output stacked along `axis`, in the place
    that the step had. The order of evaluation is exactly the sequential one.

    Constraints:
    * (C1) there is at least one x, all have the same extent along `axis`, which is in `[0, rank)` of each;
    * (C2) the region's arguments have the types of the inits and of the slices;
    * (C3) it yields the types of the inits, then the outputs;
    * (C4) the results are the types of the inits, then the outputs with the axis put back.
  }];
  let arguments = (ins Variadic<Tile_Value>:$inits, Variadic<Tile_Tile>:$xs, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$step);
  let assemblyFormat = [{
    `init` `(` $inits `)` `over` `(` $xs `)` `,` $axis (`reverse` $reverse^)? attr-dict
    `:` functional-type(operands, $results) $step
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Computes each element by a region with control flow of its own";
  let description = [{
    The region takes one element of each operand and yields one of each result.

    Constraints:
    * (C1) there is at least one operand; operands and results have one shape;
    * (C2) the region's arguments and yielded values have the element types of the operands and results.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands `)` attr-dict `:` functional-type($operands, $results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_HistogramOp : Tile_InferredOp<"histogram"> {
  let summary = "How often each of 0 .. bins - 1 occurs";
  let description = [{
    Values outside `[0, bins)` and lanes whose mask is false do not count.

    Constraints:
    * (C1) `bins` is positive; the source has rank 1; the mask has its shape.
  }];
  let arguments = (ins Tile_IntTile:$source, Optional<Tile_BoolTile>:$mask, I32Attr:$bins);
  let results = (outs Tile_IntTile:$result);
  let assemblyFormat = "$source (`mask` $mask^ `:` type($mask))? `,` $bins attr-dict `:` type($source) `->` type($result)";
}

def Tile_SortOp : Tile_Op<"sort", [Pure, SameOperandsAndResultType]> {
  let summary = "The elements in order along an axis";
  let description = [{
    By Batcher's bitonic network over the least power of two that holds the axis; what the axis lacks counts as elements
    that sort last, and is cut off again. Which of two equal elements (0.0 and -0.0, two NaNs) comes first follows from
    the network, so it is the same on every target. NaN is greater than every number. Integers are signed unless
    `isUnsigned`.

    With `bitonic`, only the network's last merge: the elements along the axis first rise, then fall, or the reverse.

    With `turned by` a bit, the last merge goes the other way round in rows whose index along dimension 0 has that bit: so
    do parts of a longer network. tz-tile-expand-sort makes them, for GPUs.

    Constraints:
    * (C1) `axis` is in `[0, rank)`;
    * (C2) the elements are integers or floats;
    * (C3) with `bitonic` or `turned by`, the extent along the axis is a power of two;
    * (C4) `turnedBit` is a bit of an index along dimension 0, which is not `axis`.
  }];
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis, UnitAttr:$descending, UnitAttr:$isUnsigned, UnitAttr:$bitonic,
                       OptionalAttr<I32Attr>:$turnedBit);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `,` $axis (`descending` $descending^)? (`unsigned` $isUnsigned^)? (`bitonic` $bitonic^)?
    (`turned` `by` $turnedBit^)? attr-dict
    `:` type($source)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The element that sorts behind everything else.
    ::mlir::TypedAttr getLast();
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic that arith and math lack
//===----------------------------------------------------------------------===//

def Tile_ClampOp : Tile_Op<"clamp", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "min(max(x, low), high) on floats";
  let description = [{
    A NaN in `source` gives `low` (or NaN with `propagate_nan`).

    Constraints:
    * (C1) the operands are floats or tiles of floats.
  }];
  let arguments = (ins Tile_Value:$source, Tile_Value:$low, Tile_Value:$high, UnitAttr:$propagateNan);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source `,` $low `,` $high attr-dict `:` type($source)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints every element of its operands, with the program's index";
  let description = [{
    `isSigned` says for each operand whether its integers are signed; `hex` prints bits.

    Constraints:
    * (C1) `isSigned` has one entry an operand.
  }];
  let arguments = (ins StrAttr:$prefix, UnitAttr:$hex, DenseI32ArrayAttr:$isSigned, Variadic<Tile_Value>:$operands);
  // In parentheses: without them, a print of nothing would take the next line's result for an operand.
  let assemblyFormat = "$prefix `,` $isSigned (`(` $operands^ `:` type($operands) `)`)? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stops the kernel with a message unless every element holds";
  let arguments = (ins Tile_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders the memory accesses of one program instance";
  let description = [{
    No access of memory moves over it: it reads and writes memory that it does not name.
  }];
  let assemblyFormat = "attr-dict";
}

#endif
