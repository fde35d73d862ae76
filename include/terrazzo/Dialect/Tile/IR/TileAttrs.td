//===- TileAttrs.td - Attributes of the tile dialect ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILEATTRS
#define TERRAZZO_DIALECT_TILE_IR_TILEATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "terrazzo/Dialect/Tile/IR/TileDialect.td"

// A parameter of an enumeration that may be left out.
class Tile_EnumFact<EnumAttrInfo info, string value> : EnumParameter<info> { let defaultValue = value; }

def Tile_RMWKind : I32EnumAttr<"RMWKind", "what an atomic read-modify-write computes", [
  I32EnumAttrCase<"And", 0, "and">, I32EnumAttrCase<"Or", 1, "or">, I32EnumAttrCase<"Xor", 2, "xor">,
  I32EnumAttrCase<"Add", 3, "add">, I32EnumAttrCase<"FAdd", 4, "fadd">,
  I32EnumAttrCase<"MaxS", 5, "max">, I32EnumAttrCase<"MinS", 6, "min">,
  I32EnumAttrCase<"MaxU", 7, "umax">, I32EnumAttrCase<"MinU", 8, "umin">,
  I32EnumAttrCase<"FMax", 9, "fmax">, I32EnumAttrCase<"FMin", 10, "fmin">,
  I32EnumAttrCase<"Exch", 11, "exch">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_MemSem : I32EnumAttr<"MemSem", "ordering of an atomic operation", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_MemScope : I32EnumAttr<"MemScope", "who sees an atomic operation", [
  I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Gpu", 1, "gpu">, I32EnumAttrCase<"Sys", 2, "sys">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_CacheModifier : I32EnumAttr<"CacheModifier", "which caches an access goes through", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"CA", 1, "ca">, I32EnumAttrCase<"CG", 2, "cg">,
  I32EnumAttrCase<"CV", 3, "cv">, I32EnumAttrCase<"WB", 4, "wb">, I32EnumAttrCase<"CS", 5, "cs">,
  I32EnumAttrCase<"WT", 6, "wt">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_EvictionPolicy : I32EnumAttr<"EvictionPolicy", "how soon a cache line may go", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"EvictFirst", 1, "evict_first">,
  I32EnumAttrCase<"EvictLast", 2, "evict_last">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_Padding : I32EnumAttr<"Padding", "what a block reads outside of its tensor", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"NaN", 1, "nan">]> {
  let cppNamespace = "::terrazzo::tile";
}
def Tile_Precision : I32EnumAttr<"Precision", "how a dot of fp32 operands may round them", [
  I32EnumAttrCase<"Default", 0, "default">, I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">, I32EnumAttrCase<"IEEE", 3, "ieee">,
  I32EnumAttrCase<"BF16x3", 4, "bf16x3">, I32EnumAttrCase<"BF16x6", 5, "bf16x6">]> {
  let cppNamespace = "::terrazzo::tile";
}

//===----------------------------------------------------------------------===//
// What a kernel is compiled for
//===----------------------------------------------------------------------===//

def Tile_Units : I32BitEnumAttr<"Units", "instructions that a chip has beside those that all have", [
  I32BitEnumAttrCaseNone<"None", "none">,
  // Rounds once.
  I32BitEnumAttrCaseBit<"Fma", 0, "fma">,
  // exp2, log2, rsqrt and division of fp32 with a few bits of error.
  I32BitEnumAttrCaseBit<"Approximate", 1, "approximate">,
  // Conversions between fp32 and fp16 or bf16; arithmetic of fp16.
  I32BitEnumAttrCaseBit<"F16", 2, "f16">, I32BitEnumAttrCaseBit<"Bf16", 3, "bf16">,
  I32BitEnumAttrCaseBit<"F16Arithmetic", 4, "f16_arithmetic">,
  // Has no minimum or maximum of floats that drops NaN: they are comparisons.
  I32BitEnumAttrCaseBit<"SelectMinMax", 5, "select_min_max">,
  // Sums of products of narrow elements in tile registers (AMX) or vectors (AVX512-BF16, AVX512-VNNI).
  I32BitEnumAttrCaseBit<"TileBf16", 6, "tile_bf16">, I32BitEnumAttrCaseBit<"TileInt8", 7, "tile_int8">,
  I32BitEnumAttrCaseBit<"VectorBf16", 8, "vector_bf16">, I32BitEnumAttrCaseBit<"VectorInt8", 9, "vector_int8">,
  // A copy engine that moves blocks of described tensors.
  I32BitEnumAttrCaseBit<"TensorCopy", 10, "tensor_copy">,
  // Rounding of floats to integers, all five ways.
  I32BitEnumAttrCaseBit<"Rounding", 11, "rounding">]> {
  let cppNamespace = "::terrazzo::tile";
}

def Tile_MatrixUnit : I32EnumAttr<"MatrixUnit", "the matrix unit of a chip's warps", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"MmaSm80", 1, "mma_sm80">, I32EnumAttrCase<"MmaSm89", 2, "mma_sm89">,
  I32EnumAttrCase<"WgmmaSm90", 3, "wgmma_sm90">,
  I32EnumAttrCase<"MfmaGfx90a", 4, "mfma_gfx90a">, I32EnumAttrCase<"MfmaGfx942", 5, "mfma_gfx942">,
  I32EnumAttrCase<"MfmaGfx950", 6, "mfma_gfx950">,
  I32EnumAttrCase<"WmmaGfx11", 7, "wmma_gfx11">, I32EnumAttrCase<"WmmaGfx12", 8, "wmma_gfx12">]> {
  let cppNamespace = "::terrazzo::tile";
}

def Tile_TargetAttr : AttrDef<Tile_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The chip that a kernel is compiled for: all that passes may know of it";
  let description = [{
    `#tile.target<name = "hip", chip = "gfx942", warp_size = 64, shared_bytes = 65536, units = fma|f16, matrix = mfma_gfx942>`,
    the attribute `tile.target` of the module. A fact that is left out is unknown (numbers), or the chip does not have it
    (`units`, `matrix`). Targets fill it from one table with a row a chip; lit tests write the facts that they are about.

    * `warp_size`: lanes of a warp; `max_threads`, `shared_bytes`: the most that one block can have;
    * `registers`: 32-bit registers that a thread can have;
    * `vector_bytes`: the widest access of memory (GPUs), the width of vectors (CPUs);
    * `capability`, `ptx_version`: 90 for sm_90, 80 for PTX 8.0;
    * `private_space`: the address space of what a thread has to itself.

    Verified: numbers are not negative, and the lanes are a power of two.
  }];
  let parameters = (ins
    StringRefParameter<"of the target", "\"\"">:$name,
    StringRefParameter<"of the chip", "\"\"">:$chip,
    DefaultValuedParameter<"int32_t", "0">:$warp_size,
    DefaultValuedParameter<"int32_t", "0">:$max_threads,
    DefaultValuedParameter<"int32_t", "0">:$shared_bytes,
    DefaultValuedParameter<"int32_t", "0">:$registers,
    DefaultValuedParameter<"int32_t", "0">:$vector_bytes,
    DefaultValuedParameter<"int32_t", "0">:$capability,
    DefaultValuedParameter<"int32_t", "0">:$ptx_version,
    DefaultValuedParameter<"int32_t", "0">:$private_space,
    Tile_EnumFact<Tile_Units, "::terrazzo::tile::Units::None">:$units,
    Tile_EnumFact<Tile_MatrixUnit, "::terrazzo::tile::MatrixUnit::None">:$matrix);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the chip has all of these.
    bool has(Units units) const { return bitEnumContainsAll(getUnits(), units); }
    /// The `tile.target` of the nearest op around `op` that has one, `op` itself included; null if there is none.
    static TargetAttr of(::mlir::Operation *op);
  }];
}

//===----------------------------------------------------------------------===//
// What a launch computes
//===----------------------------------------------------------------------===//

def Tile_ArgProductAttr : AttrDef<Tile_Dialect, "ArgProduct"> {
  let mnemonic = "arg_product";
  let summary = "A number that a launch computes: a factor times arguments of the kernel";
  let description = [{
    `#tile.arg_product<factor = 4, args = [3], bytes = 4>`: four times argument 3, an integer of `bytes` bytes that wraps around.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$factor, OptionalParameter<"::mlir::DenseI32ArrayAttr">:$args,
                        DefaultValuedParameter<"int32_t", "8">:$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_TensorMapAttr : AttrDef<Tile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "What a launch tells the copy engine of a tensor";
  let description = [{
    The tensor that argument `base` points to, of a shape and strides that are `#tile.arg_product`s (the last stride is 1 and left
    out), copied in boxes. Words of 16 bytes change places within `swizzle_bytes` of shared memory (0, 32, 64 or 128). Those of a
    module are its attribute `tile.tensor_maps`, one for each of the last arguments of the kernel, of type `!tile.tensor_map`.
  }];
  let parameters = (ins "int32_t":$base, "::mlir::Type":$element, "::mlir::ArrayAttr":$shape, "::mlir::ArrayAttr":$strides,
                        "::mlir::DenseI32ArrayAttr":$box, DefaultValuedParameter<"int32_t", "0">:$swizzle_bytes,
                        Tile_EnumFact<Tile_Padding, "::terrazzo::tile::Padding::Zero">:$padding);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
