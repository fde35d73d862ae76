//===- Emit.h - From the llvm dialect to an object --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_TARGET_CPU_EMIT_H
#define TERRAZZO_LIB_TARGET_CPU_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "terrazzo/Support/Artifact.h"

namespace terrazzo::cpu {

/// Translates, optimises and assembles a module in the llvm dialect for the
/// chip in its `tile.target`. Errors are diagnostics on the module.
llvm::FailureOr<Artifact> emitObject(mlir::ModuleOp module, bool wantsStages);

} // namespace terrazzo::cpu

#endif // TERRAZZO_LIB_TARGET_CPU_EMIT_H
