//===- TileTypes.td - Types of the tile dialect ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILETYPES
#define TERRAZZO_DIALECT_TILE_IR_TILETYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "terrazzo/Dialect/Tile/IR/TileAttrs.td"
include "terrazzo/Dialect/Tile/IR/TileDialect.td"

def Tile_PtrType : TypeDef<Tile_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "A pointer to elements of a type, in an address space";
  let description = [{
    `!tile.ptr<f32>` is a 64-bit address in global memory of elements of `f32`. The pointee is an integer or float of 8, 16,
    32 or 64 bits, or another pointer. Booleans in memory are bytes: `!tile.ptr<i8>`.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType);
  let assemblyFormat = "`<` $pointeeType `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType), [{
    return $_get(pointeeType.getContext(), pointeeType);
  }]>];
}

def Tile_DescriptorType : TypeDef<Tile_Dialect, "Descriptor"> {
  let mnemonic = "descriptor";
  let summary = "A strided tensor in memory that is read and written in blocks of one shape";
  let description = [{
    `!tile.descriptor<64x32xf16>`, or `!tile.descriptor<64x32xf16, nan>`, by what a block reads outside of the tensor. The
    elements are what a pointer may point to; NaN is for floats.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        Tile_EnumFact<Tile_Padding, "::terrazzo::tile::Padding::Zero">:$padding);
  let assemblyFormat = "`<` custom<Block>($shape, $elementType) (`,` $padding^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile that a block is.
    ::mlir::RankedTensorType getBlockType() const {
      return ::mlir::RankedTensorType::get(getShape(), getElementType());
    }
  }];
}

def Tile_TensorMapType : TypeDef<Tile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "What the copy engine of the device knows of a tensor; an argument that the launch adds";
}

// What there is on its own or in tiles: i1, and integers, floats and pointers of 8 to 64 bits.
def Tile_Scalar : Type<CPred<"::terrazzo::tile::isElement($_self)">, "integer, float or pointer">;
def Tile_Integer
    : Type<And<[Tile_Scalar.predicate, AnySignlessInteger.predicate]>, "integer">;

class Tile_TileOf<Type element, string what>
    : ConfinedType<StaticShapeTensorOf<[element]>, [CPred<[{
        ::llvm::all_of(::llvm::cast<::mlir::RankedTensorType>($_self).getShape(), [](int64_t n) { return n > 0; })
      }]>], "tile of " # what>;

def Tile_Tile : Tile_TileOf<Tile_Scalar, "integers, floats or pointers">;
def Tile_IntTile : Tile_TileOf<Tile_Integer, "integers">;
def Tile_BoolTile : Tile_TileOf<I1, "i1">;
def Tile_PtrTile : Tile_TileOf<Tile_PtrType, "pointers">;

// A scalar or a tile of it.
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, Tile_PtrTile], "pointer or tile of pointers">;
def Tile_IntLike : AnyTypeOf<[Tile_Integer, Tile_IntTile], "integer or tile of integers">;
def Tile_BoolLike : AnyTypeOf<[I1, Tile_BoolTile], "i1 or tile of i1">;
// An index into a tensor in memory.
def Tile_Coordinate : AnyTypeOf<[I32, I64], "i32 or i64">;
def Tile_Value : AnyTypeOf<[Tile_Scalar, Tile_Tile], "scalar or tile">;

#endif
