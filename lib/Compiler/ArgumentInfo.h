//===- ArgumentInfo.h - What a launch must know of a kernel -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_COMPILER_ARGUMENTINFO_H
#define TERRAZZO_LIB_COMPILER_ARGUMENTINFO_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "terrazzo/Support/Artifact.h"

#include <vector>

namespace terrazzo {

/// Kind, size and name of each argument of a kernel at the tile stage, and
/// whether the kernel writes through it.
std::vector<ArgInfo> collectArguments(mlir::func::FuncOp kernel);

/// Fills the artifact's table of assert and print messages from the module
/// attribute `tile.lines` that lowering left.
void collectLines(mlir::ModuleOp module, Artifact &artifact);

/// Adds the tensor maps that a launch makes, which lowering has noted.
void collectTensorMaps(mlir::ModuleOp module, Artifact &artifact);

} // namespace terrazzo

#endif // TERRAZZO_LIB_COMPILER_ARGUMENTINFO_H
