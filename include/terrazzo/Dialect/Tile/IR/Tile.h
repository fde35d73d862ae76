//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_TILE_IR_TILE_H
#define TERRAZZO_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "terrazzo/Dialect/Tile/IR/TileDialect.h.inc"

#include "terrazzo/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileTypes.h.inc"

namespace terrazzo::tile {
/// What `tile.assume` has an effect on: it has to stay, and touches no memory.
struct Promises : mlir::SideEffects::Resource::Base<Promises> {
  mlir::StringRef getName() final { return "Promises"; }
};
} // namespace terrazzo::tile

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileOps.h.inc"

namespace terrazzo::tile {

/// Name of the unit attribute that marks a kernel entry.
inline constexpr llvm::StringLiteral kKernelAttr = "tile.kernel";
/// Name of the argument attribute (i32) by which a pointer or integer is
/// divisible.
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tile.divisibility";
/// Name of the unit attribute of pointer arguments that may point into one
/// array. All others are apart, as far as a program's own order goes.
inline constexpr llvm::StringLiteral kOverlapsAttr = "tile.overlaps";

/// Name of the module attribute (an array of `#tile.tensor_map`) of the tensor
/// maps that a launch makes.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tile.tensor_maps";

/// Name of the module attribute (an array) of what the runtime must know of the
/// prints and asserts that lowering has made numbers of.
inline constexpr llvm::StringLiteral kLinesAttr = "tile.lines";

/// The entry of a print or an assert in that array: `text`, its place in the
/// source, and of each operand of a print "<dtype> <shape> <hex>".
mlir::DictionaryAttr lineEntry(PrintOp op);
mlir::DictionaryAttr lineEntry(AssertOp op);

/// The type itself, or the element type of a tile.
mlir::Type getElementType(mlir::Type type);

/// `type` with its element type (or itself, for a scalar) replaced.
mlir::Type withElementType(mlir::Type type, mlir::Type element);

/// The shape of a tile, empty for a scalar.
llvm::ArrayRef<int64_t> getShape(mlir::Type type);

/// `type` without dimension `axis`; the element type when nothing is left.
mlir::Type dropAxis(mlir::RankedTensorType type, int64_t axis);

/// What a launch tells the copy engine of a descriptor, but for the box; null
/// if the descriptor does not follow from the kernel's arguments by products,
/// or if it is not known that they are aligned as the engine needs.
TensorMapAttr tensorMapOf(MakeDescriptorOp descriptor);

/// Whether the region of a tile.reduce or tile.scan gives the same for (a, b)
/// and (b, a): each value that it yields is one commutative op on the two
/// arguments that it belongs to. It decides the order of a strict reduction, so
/// docs/Rationale/Tile.md lists the ops.
bool isCommutative(mlir::Region &combine);

} // namespace terrazzo::tile

#endif // TERRAZZO_DIALECT_TILE_IR_TILE_H
