//===- CarryOffsets.h - Tiles that loops move as a whole --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_CONVERSION_TILETOVECTOR_CARRYOFFSETS_H
#define TERRAZZO_LIB_CONVERSION_TILETOVECTOR_CARRYOFFSETS_H

#include "mlir/IR/Operation.h"

namespace terrazzo::cpu {

/// Replaces carried tiles of pointers or integers to which a loop adds a scalar
/// by that scalar.
void carryOffsets(mlir::Operation *root);

} // namespace terrazzo::cpu

#endif // TERRAZZO_LIB_CONVERSION_TILETOVECTOR_CARRYOFFSETS_H
