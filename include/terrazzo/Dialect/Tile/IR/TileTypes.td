//===- TileTypes.td - Types of the tile dialect ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILETYPES
#define TERRAZZO_DIALECT_TILE_IR_TILETYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "terrazzo/Dialect/Tile/IR/TileDialect.td"

def Tile_PtrType : TypeDef<Tile_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "A pointer to elements of a type, in an address space";
  let description = [{
    `!tile.ptr<f32>` is a 64-bit address in global memory of elements of `f32`. The pointee is an integer or float type
    whose width is a multiple of eight bits, or another pointer. Booleans in memory are bytes: `!tile.ptr<i8>`.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType);
  let assemblyFormat = "`<` $pointeeType `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType), [{
    return $_get(pointeeType.getContext(), pointeeType);
  }]>];
}

def Tile_Tile : StaticShapeTensorOf<[AnyType]>;
def Tile_IntTile : StaticShapeTensorOf<[AnyInteger]>;
def Tile_BoolTile : StaticShapeTensorOf<[I1]>;
def Tile_PtrTile : StaticShapeTensorOf<[Tile_PtrType]>;

// A scalar or a tile of it.
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, Tile_PtrTile], "pointer or tile of pointers">;
def Tile_IntLike : AnyTypeOf<[AnySignlessInteger, Tile_IntTile], "integer or tile of integers">;
def Tile_BoolLike : AnyTypeOf<[I1, Tile_BoolTile], "i1 or tile of i1">;
def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Tile_PtrType], "integer, float or pointer">;
def Tile_Value : AnyTypeOf<[Tile_Scalar, Tile_Tile], "scalar or tile">;

#endif
