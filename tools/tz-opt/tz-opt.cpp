//===- tz-opt.cpp - Runs passes over textual IR ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "terrazzo/Compiler/Input.h"
#include "terrazzo/Compiler/Registration.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  terrazzo::registerDialects(registry);
  terrazzo::registerPasses();
  llvm::InitLLVM init(argc, argv);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Terrazzo optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These read no file.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  std::unique_ptr<llvm::MemoryBuffer> file = terrazzo::openInput(input);
  if (!file)
    return EXIT_FAILURE;
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(output, &error);
  if (!out) {
    llvm::errs() << error << '\n';
    return EXIT_FAILURE;
  }
  if (failed(MlirOptMain(out->os(), std::move(file), registry, config)))
    return EXIT_FAILURE;
  out->keep();
  return EXIT_SUCCESS;
}
