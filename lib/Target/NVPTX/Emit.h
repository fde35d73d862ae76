//===- Emit.h - From the llvm dialect to PTX --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_TARGET_NVPTX_EMIT_H
#define TERRAZZO_LIB_TARGET_NVPTX_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "terrazzo/Support/Artifact.h"
#include "terrazzo/Target/CodeGen.h"

namespace terrazzo::nvptx {

/// Translates, optimises and prints as PTX a module in the llvm dialect for the
/// chip in its `tile.target`. Errors are diagnostics on the module.
llvm::FailureOr<Artifact> emitPtx(mlir::ModuleOp module, bool wantsStages);

/// The LLVM IR that emitPtx() generates code from.
llvm::FailureOr<std::unique_ptr<CodeGen>>
translateKernel(mlir::ModuleOp module);

} // namespace terrazzo::nvptx

#endif // TERRAZZO_LIB_TARGET_NVPTX_EMIT_H
