//===- tz-translate.cpp - Translates between IR and other forms -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  mlir::registerToLLVMIRTranslation();
  mlir::registerFromLLVMIRTranslation();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "Terrazzo translation driver"));
}
