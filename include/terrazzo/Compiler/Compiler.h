//===- Compiler.h - Module in, artifact out ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_COMPILER_COMPILER_H
#define TERRAZZO_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "terrazzo/Support/Artifact.h"

#include <atomic>
#include <string>

namespace terrazzo {

/// Compiles a module of one kernel for `target` ("cpu", "cpu:CHIP",
/// "cuda:sm_90a", "hip:gfx942").
///
/// With "lines" among them, the later ones tell the lines of the source.
/// `stages` names the intermediate forms to keep in the artifact: "tile", then
/// "vector" (CPU) or "simt", "llir", and "asm", "ptx" or "amdgcn". The module
/// is not changed. Errors are diagnostics on the module's context.
///
/// `stop` is polled before each pass: once it is not 0, the rest is skipped and
/// the result is a failure, without a diagnostic.
llvm::FailureOr<Artifact> compile(mlir::ModuleOp module, llvm::StringRef target,
                                  llvm::ArrayRef<llvm::StringRef> stages,
                                  const std::atomic<int32_t> *stop = nullptr);

/// The pipeline of a target as `tz-opt --pass-pipeline` takes it; empty when
/// there is no such target.
std::string pipelineText(llvm::StringRef target);

/// The machine at hand as a chip: "name+feature+feature".
std::string hostChip();

/// Changes with every build that may produce other code: LLVM's version and
/// Terrazzo's sources.
std::string compilerFingerprint();

/// Attaches the description of `target` to the module, as a pipeline expects.
llvm::LogicalResult attachTarget(mlir::ModuleOp module, llvm::StringRef target);

} // namespace terrazzo

#endif // TERRAZZO_COMPILER_COMPILER_H
