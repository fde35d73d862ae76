//===- Checks.h - What passes take for granted ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a kernel's tiles, also those that ops of other dialects make, and of the
// block that runs it, which attributes of the module describe.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_TILE_IR_CHECKS_H
#define TERRAZZO_DIALECT_TILE_IR_CHECKS_H

#include "mlir/IR/Operation.h"

namespace terrazzo::tile {

/// Names of the module attributes that say how many warps run a program of the
/// grid (i32), and for which chip that is (a `#tile.target`).
inline constexpr llvm::StringLiteral kNumWarpsAttr = "tile.num_warps";
inline constexpr llvm::StringLiteral kTargetAttr = "tile.target";

/// No chip runs more threads of one block.
inline constexpr int64_t kMostThreads = 1024;
/// Tiles are no longer in any dimension.
inline constexpr int64_t kMostExtent = int64_t{1} << 30;

/// Whether there are scalars and tiles of this type: integers of 1, 8, 16, 32
/// and 64 bits, the floats of 8 to 64 bits that the dialect knows, pointers.
bool isElement(mlir::Type type);

/// Whether all tiles that a kernel makes are tiles of such elements; says which
/// one is not.
llvm::LogicalResult checkTiles(mlir::Operation *kernel);

} // namespace terrazzo::tile

#endif // TERRAZZO_DIALECT_TILE_IR_CHECKS_H
