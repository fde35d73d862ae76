//===- Compiler.cpp - Module in, artifact out -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Compiler/Compiler.h"

#include "ArgumentInfo.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Target/CPU/Target.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace terrazzo;

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().assumeVerified());
  return text;
}

namespace {
/// Keeps the module's text after the pass that leaves the tile dialect.
class KeepVectorStage : public PassInstrumentation {
public:
  explicit KeepVectorStage(std::string &out) : out(out) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "tz-tile-to-vector")
      if (auto module = dyn_cast<ModuleOp>(op))
        out = printed(module);
  }

private:
  std::string &out;
};
} // namespace

LogicalResult terrazzo::attachTarget(ModuleOp module, llvm::StringRef spec) {
  registerTargets();
  auto [name, chip] = spec.split(':');
  const Target *target = findTarget(name);
  if (!target) {
    InFlightDiagnostic diag = module.emitError("no target '")
                              << name << "': expected one of ";
    llvm::interleaveComma(targetNames(), diag);
    return diag;
  }
  DictionaryAttr description = target->describe(*module.getContext(), chip);
  if (!description)
    return module.emitError("target '")
           << name << "' has no chip '" << chip << "'";
  module->setAttr(kTargetAttr, description);
  return success();
}

/// The one kernel of the module.
static FailureOr<func::FuncOp> findKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(tile::kKernelAttr))
      continue;
    if (kernel)
      return func.emitError(
                 "a module holds one kernel, found a second one after '")
             << kernel.getSymName() << "'";
    kernel = func;
  }
  if (!kernel)
    return module.emitError("a module holds one kernel (a function with '")
           << tile::kKernelAttr << "'), found none";
  return kernel;
}

FailureOr<Artifact> terrazzo::compile(ModuleOp original, llvm::StringRef spec,
                                      ArrayRef<llvm::StringRef> stages) {
  OwningOpRef<ModuleOp> module(original.clone());
  if (failed(attachTarget(*module, spec)))
    return failure();
  const Target *target = findTarget(spec.split(':').first);
  FailureOr<func::FuncOp> kernel = findKernel(*module);
  if (failed(kernel))
    return failure();
  std::vector<ArgInfo> args = collectArguments(*kernel);

  auto wants = [&](llvm::StringRef stage) {
    return llvm::is_contained(stages, stage);
  };
  std::string tileStage, vectorStage;
  if (wants("tile"))
    tileStage = printed(*module);
  PassManager manager(module->getContext(), ModuleOp::getOperationName());
  if (wants("vector"))
    manager.addInstrumentation(std::make_unique<KeepVectorStage>(vectorStage));
  target->buildPipeline(manager);
  if (failed(manager.run(*module)))
    return failure();

  FailureOr<Artifact> artifact =
      target->emit(*module, wants("llir") || wants("asm"));
  if (failed(artifact))
    return failure();
  artifact->args = std::move(args);
  collectLines(*module, *artifact);
  if (!tileStage.empty())
    artifact->stages["tile"] = std::move(tileStage);
  if (!vectorStage.empty())
    artifact->stages["vector"] = std::move(vectorStage);
  for (llvm::StringRef optional : {"llir", "asm"})
    if (!wants(optional))
      artifact->stages.erase(optional.str());
  return artifact;
}

std::string terrazzo::pipelineText(llvm::StringRef spec) {
  registerTargets();
  const Target *target = findTarget(spec.split(':').first);
  if (!target)
    return "";
  OpPassManager manager(ModuleOp::getOperationName());
  target->buildPipeline(manager);
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  return text;
}

std::string terrazzo::hostChip() { return cpu::hostChip(); }
