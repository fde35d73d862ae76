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

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Action.h"
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
/// A stage that a pass leaves behind.
struct PassStage {
  llvm::StringLiteral pass, stage;
};
constexpr PassStage kPassStages[] = {
    {"tz-tile-to-vector", "vector"},
    {"tz-insert-barriers", "simt"},
};

/// Keeps the module's text after the passes that end a stage.
class KeepStages : public PassInstrumentation {
public:
  KeepStages(ArrayRef<llvm::StringRef> wanted,
             std::map<std::string, std::string> &out)
      : wanted(wanted), out(out) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      return;
    for (const PassStage &stage : kPassStages)
      if (pass->getArgument() == stage.pass &&
          llvm::is_contained(wanted, stage.stage))
        out[stage.stage.str()] = printed(module);
  }

private:
  ArrayRef<llvm::StringRef> wanted;
  std::map<std::string, std::string> &out;
};
} // namespace

/// A name as messages show it: a user may give anything for one.
static std::string shown(llvm::StringRef name) {
  constexpr size_t most = 80;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '\'';
  llvm::printEscapedString(name.take_front(most), stream);
  stream << (name.size() > most ? "...'" : "'");
  return text;
}

static LogicalResult refuseChip(ModuleOp module, const Target &target,
                                llvm::StringRef chip) {
  InFlightDiagnostic diag = module.emitError("target '")
                            << target.getName() << "' ";
  if (chip.empty())
    diag << "needs a chip";
  else
    diag << "has no chip " << shown(chip);
  diag << ": expected one of ";
  llvm::interleaveComma(target.getChips(), diag);
  if (!target.getFeatures().empty()) {
    diag << "; each may have, after a '+', features of ";
    llvm::interleaveComma(target.getFeatures(), diag);
  }
  return diag;
}

namespace {
/// While it lives, passes of the context are skipped once `stop` is set: MLIR
/// runs each as an action, and CodeGen does the same with LLVM's.
class StopPoint {
public:
  StopPoint(MLIRContext &context, const std::atomic<int32_t> *stop)
      : context(context), stop(stop) {
    if (stop)
      context.registerActionHandler(
          [stop](llvm::function_ref<void()> action, const tracing::Action &) {
            if (stop->load(std::memory_order_relaxed) == 0)
              action();
          });
  }
  ~StopPoint() {
    if (stop)
      context.registerActionHandler(nullptr);
  }
  StopPoint(const StopPoint &) = delete;
  StopPoint &operator=(const StopPoint &) = delete;

  bool isReached() const { return stop && stop->load() != 0; }

private:
  MLIRContext &context;
  const std::atomic<int32_t> *stop;
};
} // namespace

LogicalResult terrazzo::attachTarget(ModuleOp module, llvm::StringRef spec) {
  registerTargets();
  auto [name, chip] = spec.split(':');
  const Target *target = findTarget(name);
  if (!target) {
    InFlightDiagnostic diag = module.emitError("no target ")
                              << shown(name) << ": expected one of ";
    llvm::interleaveComma(targetNames(), diag);
    return diag;
  }
  tile::TargetAttr description = target->describe(*module.getContext(), chip);
  if (!description) {
    return refuseChip(module, *target, chip);
  }
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
                                      ArrayRef<llvm::StringRef> stages,
                                      const std::atomic<int32_t> *stop) {
  StopPoint stopPoint(*original.getContext(), stop);
  OwningOpRef<ModuleOp> module(original.clone());
  if (failed(attachTarget(*module, spec)))
    return failure();
  const Target *target = findTarget(spec.split(':').first);
  FailureOr<func::FuncOp> kernel = findKernel(*module);
  if (failed(kernel))
    return failure();
  std::vector<ArgInfo> args = collectArguments(*kernel);
  // Lowering makes a function of its own.
  auto place = kernel->getLoc()->findInstanceOf<FileLineColLoc>();

  auto wants = [&](llvm::StringRef stage) {
    return llvm::is_contained(stages, stage);
  };
  std::map<std::string, std::string> kept;
  if (wants("tile"))
    kept["tile"] = printed(*module);
  PassManager manager(module->getContext(), ModuleOp::getOperationName());
  if (llvm::any_of(kPassStages,
                   [&](const PassStage &stage) { return wants(stage.stage); }))
    manager.addInstrumentation(std::make_unique<KeepStages>(stages, kept));
  target->buildPipeline(manager);
  if (failed(manager.run(*module)) || stopPoint.isReached())
    return failure();

  if (wants("lines")) {
    PassManager lines(module->getContext(), ModuleOp::getOperationName());
    lines.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
    if (failed(lines.run(*module)))
      return failure();
  }
  static constexpr llvm::StringLiteral emitted[] = {"llir", "asm", "ptx",
                                                    "amdgcn"};
  FailureOr<Artifact> artifact =
      target->emit(*module, llvm::any_of(emitted, wants));
  if (failed(artifact) || stopPoint.isReached())
    return failure();
  artifact->args = std::move(args);
  if (place) {
    artifact->metadata["file"] = place.getFilename().str();
    artifact->metadata["line"] = std::to_string(place.getLine());
  }
  collectLines(*module, *artifact);
  collectTensorMaps(*module, *artifact);
  for (llvm::StringRef stage : emitted)
    if (!wants(stage))
      artifact->stages.erase(stage.str());
  artifact->stages.merge(kept);
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
