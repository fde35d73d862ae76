//===-- terrazzo-c/Dialects.h - C API: dialects -------------------*- C -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_C_DIALECTS_H
#define TERRAZZO_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif
// Exported, also where the compiler hides what is not.
#pragma GCC visibility push(default)

/// Registers every dialect of Terrazzo and those it builds on.
void tzRegisterDialects(MlirDialectRegistry registry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif // TERRAZZO_C_DIALECTS_H
