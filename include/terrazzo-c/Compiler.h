//===-- terrazzo-c/Compiler.h - C API: module in, artifact out ----*- C -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_C_COMPILER_H
#define TERRAZZO_C_COMPILER_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
#include <atomic>
#include <cstdint>
typedef std::atomic<int32_t> TzStopFlag;
extern "C" {
#else
#include <stdint.h>
typedef _Atomic(int32_t) TzStopFlag;
#endif
// Exported, also where the compiler hides what is not.
#pragma GCC visibility push(default)

/// Compiles a module of one kernel for a target.
///
/// \param module    a module at the `tile` stage; it is not changed.
/// \param target    "cpu" for the host, or "cpu:CHIP" with CHIP as in
///                  tzHostChip().
/// \param stages    a comma-separated list of the stages to keep in the
///                  artifact ("tile", "vector", "llir", "asm"), or "".
/// \param stop      once it is not 0, the compile ends before its next pass,
///                  with a failure and without a diagnostic; may be NULL.
/// \param write     receives the bytes of the serialised artifact, once.
/// \returns success. On failure diagnostics have been emitted on the module's
///          context (attach a handler to read them).
MlirLogicalResult tzCompile(MlirModule module, MlirStringRef target,
                            MlirStringRef stages, const TzStopFlag *stop,
                            MlirStringCallback write, void *userData);

/// The pass pipeline (as `tz-opt --pass-pipeline` takes it) that tzCompile runs
/// for a target; empty for an unknown one.
void tzPipeline(MlirStringRef target, MlirStringCallback write, void *userData);

/// The host as a chip: "name+feature+feature...", the features being those that
/// code generation depends on.
void tzHostChip(MlirStringCallback write, void *userData);

/// A string that changes with every build that may produce other code.
void tzCompilerFingerprint(MlirStringCallback write, void *userData);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif // TERRAZZO_C_COMPILER_H
