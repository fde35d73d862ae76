//===- Dialects.cpp - C API: dialects -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo-c/Dialects.h"

#include "mlir/CAPI/IR.h"
#include "terrazzo/Compiler/Registration.h"

void tzRegisterDialects(MlirDialectRegistry registry) {
  terrazzo::registerDialects(*unwrap(registry));
}
