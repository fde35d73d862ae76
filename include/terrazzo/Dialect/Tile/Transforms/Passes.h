//===- Passes.h - Passes on the tile dialect --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES_H
#define TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace terrazzo {

#define GEN_PASS_DECL
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace terrazzo

#endif // TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES_H
