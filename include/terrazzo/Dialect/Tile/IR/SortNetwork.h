//===- SortNetwork.h - The network that sorts are made of -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The network is part of what `tile.sort` means: it decides where equal
// elements go. All lowerings take it from here.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_TILE_IR_SORTNETWORK_H
#define TERRAZZO_DIALECT_TILE_IR_SORTNETWORK_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

namespace terrazzo::tile {

/// Elements whose places differ in bit `distance` alone are compared, and
/// exchanged where they are in the wrong order: upwards, but downwards where
/// bit `block` of their places is set; the other way round if the whole sort is
/// descending. The last block is the whole axis, so that bit is none's.
struct SortStage {
  unsigned block, distance;
};

/// The number of bits of a place along the padded axis.
unsigned sortLevels(SortOp op);

/// In order.
llvm::SmallVector<SortStage> sortStages(SortOp op);

/// Whether `a` sorts behind `c` in an ascending order, where NaN is greater
/// than every number. For scalars, vectors and tiles.
mlir::Value sortsBehind(mlir::ImplicitLocOpBuilder &b, SortOp op, mlir::Value a,
                        mlir::Value c);

} // namespace terrazzo::tile

#endif // TERRAZZO_DIALECT_TILE_IR_SORTNETWORK_H
