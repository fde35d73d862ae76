//===- tz-translate.cpp - Translates between IR and other forms -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--tz-emit` runs the last step of a compilation alone: it takes a module that
// has gone through a target's pipeline and writes the code, or with
// `--tz-stage` one of the forms on the way there.
//===----------------------------------------------------------------------===//

#include "mlir/IR/AsmState.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "terrazzo/Compiler/Input.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Target/Target.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace terrazzo;

static llvm::cl::opt<std::string>
    stageOption("tz-stage", llvm::cl::init("code"),
                llvm::cl::desc("What --tz-emit writes: code, llir, ptx..."));

namespace {
/// What the options say. They are read once: LLD, which is a part of some
/// targets, resets them all.
struct Options {
  std::string stage;
  bool splitsInput = false;
};
} // namespace
static Options options;

static LogicalResult emit(Operation *op, raw_ostream &out) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError("expected a module");
  auto facts = tile::TargetAttr::of(module);
  llvm::StringRef name = facts ? facts.getName() : "";
  if (name.empty())
    return module.emitError("module needs the attribute '")
           << kTargetAttr << "' with a 'name'";
  const Target *target = findTarget(name);
  if (!target)
    return module.emitError("no target '") << name << "'";
  const std::string &wanted = options.stage;
  FailureOr<Artifact> artifact = target->emit(module, wanted != "code");
  if (failed(artifact))
    return failure();
  if (wanted == "code") {
    out.write(reinterpret_cast<const char *>(artifact->code.data()),
              artifact->code.size());
    return success();
  }
  auto stage = artifact->stages.find(wanted);
  if (stage == artifact->stages.end())
    return module.emitError("target '")
           << name << "' has no stage '" << wanted << "'";
  out << stage->second;
  return success();
}

static LogicalResult translate(llvm::StringRef input, llvm::StringRef output,
                               const Translation &translation) {
  std::unique_ptr<llvm::MemoryBuffer> file = terrazzo::openInput(input);
  if (!file)
    return failure();
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(output, &error);
  if (!out) {
    llvm::errs() << error << '\n';
    return failure();
  }
  auto translateModule = [&](std::unique_ptr<llvm::MemoryBuffer> module,
                             raw_ostream &os) {
    auto manager = std::make_shared<llvm::SourceMgr>();
    manager->AddNewSourceBuffer(std::move(module), llvm::SMLoc());
    MLIRContext context;
    SourceMgrDiagnosticHandler handler(*manager, &context);
    return translation(manager, os, &context);
  };
  if (failed(splitAndProcessBuffer(std::move(file), translateModule, out->os(),
                                   options.splitsInput ? kDefaultSplitMarker
                                                       : "")))
    return failure();
  out->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerToLLVMIRTranslation();
  registerFromLLVMIRTranslation();
  registerTargets();
  TranslateFromMLIRRegistration emission(
      "tz-emit", "writes the code of a module that a pipeline has lowered",
      emit, [](DialectRegistry &registry) { registerDialects(registry); });
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::init("-"),
                                   llvm::cl::desc("<input file>"));
  llvm::cl::opt<std::string> output("o", llvm::cl::init("-"),
                                    llvm::cl::desc("Output file"),
                                    llvm::cl::value_desc("file"));
  llvm::cl::opt<const Translation *, false, TranslationParser> translation(
      "", llvm::cl::desc("Translation to perform"), llvm::cl::Required);
  llvm::cl::opt<bool> splitInput(
      "split-input-file",
      llvm::cl::desc(
          "Translate the parts between lines '// -----' one by one"));
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerTranslationCLOptions();
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "Terrazzo translation driver\n");
  options = {stageOption, splitInput};
  return failed(translate(input, output, *translation));
}
