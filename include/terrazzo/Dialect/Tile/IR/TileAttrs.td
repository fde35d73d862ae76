//===- TileAttrs.td - Attributes of the tile dialect ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILEATTRS
#define TERRAZZO_DIALECT_TILE_IR_TILEATTRS

include "mlir/IR/EnumAttr.td"

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
def Tile_Precision : I32EnumAttr<"Precision", "how a dot of fp32 operands may round them", [
  I32EnumAttrCase<"Default", 0, "default">, I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">, I32EnumAttrCase<"IEEE", 3, "ieee">,
  I32EnumAttrCase<"BF16x3", 4, "bf16x3">, I32EnumAttrCase<"BF16x6", 5, "bf16x6">]> {
  let cppNamespace = "::terrazzo::tile";
}

#endif
