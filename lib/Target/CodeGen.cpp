//===- CodeGen.cpp - From the llvm dialect to a machine's code ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/CodeGen.h"

#include "mlir/IR/Action.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <csetjmp>
#include <mutex>

using namespace mlir;
using namespace terrazzo;

//===----------------------------------------------------------------------===//
// Fatal errors
//===----------------------------------------------------------------------===//
// A code generator that meets what it can't select ends the process. Lowering
// produces nothing of the kind; should it all the same, the user gets an error
// and keeps the process: the handler jumps out of LLVM, and what LLVM held is
// left behind unfreed.

namespace {
struct Recovery {
  std::jmp_buf point;
  std::string message;
};
} // namespace

static thread_local Recovery *recovery = nullptr;

static void handleFatalError(void *, const char *message, bool) {
  if (!recovery)
    return; // Not ours: LLVM goes on and ends the process.
  recovery->message = message;
  std::longjmp(recovery->point, 1);
}

/// Runs `work`; false and a message if LLVM gave up.
static bool survives(llvm::function_ref<void()> work, std::string &message) {
  static std::once_flag once;
  std::call_once(once,
                 [] { llvm::install_fatal_error_handler(handleFatalError); });
  Recovery here;
  recovery = &here;
  if (setjmp(here.point) == 0) { // NOLINT(cert-err52-cpp)
    work();
    recovery = nullptr;
    return true;
  }
  recovery = nullptr;
  message = here.message;
  return false;
}

//===----------------------------------------------------------------------===//
// Stopping
//===----------------------------------------------------------------------===//
// Whoever stops a compile does so by a handler of actions on MLIR's context.
// LLVM's optional passes ask it too: a compile that nobody waits for ends soon.
// Code generation has no optional passes; it is not begun then.

namespace {
struct LlvmPassAction : tracing::ActionImpl<LlvmPassAction> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LlvmPassAction)
  using ActionImpl::ActionImpl;
  static constexpr llvm::StringLiteral tag = "llvm-pass";
  void print(llvm::raw_ostream &os) const override { os << tag; }
};
} // namespace

static bool goesOn(ModuleOp module) {
  bool runs = false;
  module.getContext()->executeAction<LlvmPassAction>([&] { runs = true; }, {});
  return runs;
}

//===----------------------------------------------------------------------===//
// Long code
//===----------------------------------------------------------------------===//

/// Instructions from which on code is long: more than a kernel has that is
/// written for speed.
static constexpr unsigned kLong = 9000;

/// Leaves out what takes more than linear time, where there is much code.
struct CodeGen::Gate : llvm::OptPassGate {
  bool isEnabled() const override { return isLong; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    // Straight-line strength reduction compares each address with all before
    // it.
    return pass != "slsr";
  }
  bool isLong = false;
};

//===----------------------------------------------------------------------===//
// CodeGen
//===----------------------------------------------------------------------===//

CodeGen::CodeGen(ModuleOp module)
    : source(module), gate(std::make_unique<Gate>()),
      context(std::make_unique<llvm::LLVMContext>()) {
  context->setOptPassGate(*gate);
  context->setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *self) {
        auto *codegen = static_cast<CodeGen *>(self);
        if (info->getSeverity() != llvm::DS_Error)
          return;
        std::string text;
        llvm::raw_string_ostream stream(text);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        codegen->source.emitError("code generation: ") << text;
        codegen->reported = true;
      },
      this);
}

CodeGen::~CodeGen() = default;

/// Never frees what half-done passes may still refer to.
template <typename T>
static void abandon(std::unique_ptr<T> &owned) {
  [[maybe_unused]] T *leaked = owned.release();
}

LogicalResult CodeGen::guarded(llvm::function_ref<void()> work) {
  std::string message;
  reported = false;
  if (survives(work, message))
    return failure(reported);
  abandon(llvmModule);
  abandon(machine);
  abandon(context);
  return source.emitError("code generation failed: ") << message;
}

FailureOr<std::unique_ptr<CodeGen>>
CodeGen::create(ModuleOp module, llvm::StringRef name, const Machine &wanted) {
  std::unique_ptr<CodeGen> result(new CodeGen(module));
  llvm::Triple triple(wanted.triple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError("cannot generate code: ") << error;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  result->machine.reset(target->createTargetMachine(
      triple, wanted.cpu, wanted.features, options, wanted.relocation,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  result->hoistsConstants = wanted.hoistsConstants;
  if (!result->machine)
    return module.emitError("no code generator for ") << triple.str();
  result->llvmModule = translateModuleToLLVMIR(module, *result->context, name);
  if (!result->llvmModule)
    return failure();
  result->llvmModule->setTargetTriple(triple);
  result->llvmModule->setDataLayout(result->machine->createDataLayout());
  return result;
}

LogicalResult CodeGen::optimize(llvm::OptimizationLevel level) {
  return guarded([&] {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.SLPVectorization = false;
    tuning.LoopInterleaving = false;
    llvm::PassInstrumentationCallbacks callbacks;
    callbacks.registerShouldRunOptionalPassCallback(
        [this](llvm::StringRef, const llvm::Any &) { return goesOn(source); });
    llvm::PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    builder.buildPerModuleDefaultPipeline(level).run(*llvmModule, modules);
  });
}

/// As TargetMachine::addPassesToEmitFile, which leaves no choice of passes.
bool CodeGen::addPasses(llvm::legacy::PassManager &passes,
                        llvm::raw_pwrite_stream &stream,
                        llvm::CodeGenFileType type) {
  if (hoistsConstants)
    return !machine->addPassesToEmitFile(passes, stream, nullptr, type);
  // Every target of LLVM is of this class.
  auto &codegen = static_cast<llvm::CodeGenTargetMachineImpl &>(*machine);
  llvm::TargetPassConfig *config = codegen.createPassConfig(passes);
  config->disablePass(&llvm::EarlyMachineLICMID);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&codegen);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (codegen.addAsmPrinter(passes, stream, nullptr, type,
                            info->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

FailureOr<std::string> CodeGen::generate(llvm::Module &module,
                                         llvm::CodeGenFileType type) {
  if (!goesOn(source))
    return failure();
  gate->isLong = module.getInstructionCount() > kLong;
  llvm::SmallVector<char, 0> buffer;
  bool supported = true;
  if (failed(guarded([&] {
        llvm::raw_svector_ostream stream(buffer);
        llvm::legacy::PassManager passes;
        supported = addPasses(passes, stream, type);
        if (supported)
          passes.run(module);
      })))
    return failure();
  if (!supported)
    return source.emitError("the code generator has no such output");
  return std::string(buffer.data(), buffer.size());
}

FailureOr<std::string> CodeGen::generate(llvm::CodeGenFileType type) {
  return generate(*llvmModule, type);
}

FailureOr<std::string> CodeGen::generateFromCopy(llvm::CodeGenFileType type) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
  FailureOr<std::string> result = generate(*copy, type);
  if (!llvmModule) // Given up: see guarded().
    abandon(copy);
  return result;
}

std::string CodeGen::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << *llvmModule;
  return result;
}
