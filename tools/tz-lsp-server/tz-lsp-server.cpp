//===- tz-lsp-server.cpp - Language server for textual IR -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "terrazzo/Compiler/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  terrazzo::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
