//===- tz-opt.cpp - Runs passes over textual IR ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "terrazzo/Compiler/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  terrazzo::registerDialects(registry);
  terrazzo::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Terrazzo optimizer driver\n", registry));
}
