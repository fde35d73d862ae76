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

/// Parse text as the functions of MLIR that are called so, but refuse, with a
/// diagnostic that says where, text that nests so deep that the parser's stack
/// might not do. Null on failure.
MlirModule tzModuleCreateParse(MlirContext context, MlirStringRef text);
MlirType tzTypeParseGet(MlirContext context, MlirStringRef text);
MlirAttribute tzAttributeParseGet(MlirContext context, MlirStringRef text);

/// Calls `each` with every case of an enumeration of the dialects: the name of
/// the case and the text of the attribute that stands for it, "slt" and
/// "2 : i64" for one of "arith.CmpIPredicate". Fails if no enumeration is
/// called so.
MlirLogicalResult tzEnumForEachCase(MlirStringRef name,
                                    void (*each)(MlirStringRef enumCase,
                                                 MlirStringRef attribute,
                                                 void *data),
                                    void *data);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif // TERRAZZO_C_DIALECTS_H
