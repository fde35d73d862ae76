//===- Emit.h - From the llvm dialect to a code object ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_TARGET_AMDGPU_EMIT_H
#define TERRAZZO_LIB_TARGET_AMDGPU_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "terrazzo/Support/Artifact.h"
#include "terrazzo/Target/CodeGen.h"

namespace terrazzo::amdgpu {

/// Translates, optimises, assembles and links a module in the llvm dialect for
/// the chip in its `tile.target`. Errors are diagnostics on the module.
llvm::FailureOr<Artifact> emitCodeObject(mlir::ModuleOp module,
                                         bool wantsStages);

/// The LLVM IR that emitCodeObject() generates code from.
llvm::FailureOr<std::unique_ptr<CodeGen>>
translateKernel(mlir::ModuleOp module);

/// Links one relocatable object into a shared one, as the driver loads it. On
/// failure, `error` says why.
llvm::FailureOr<std::string> link(llvm::StringRef object, std::string &error);

/// Reads registers and spills of the kernel from the notes of a code object.
bool readResources(llvm::StringRef codeObject, Artifact &artifact,
                   std::string &error);

} // namespace terrazzo::amdgpu

#endif // TERRAZZO_LIB_TARGET_AMDGPU_EMIT_H
