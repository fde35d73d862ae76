//===- Emit.cpp - From the llvm dialect to an object ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's own vectorisers stay off: tiles arrive as vectors already, and scalar
// loops that are left are so because their lanes depend on each other.
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "terrazzo/Target/Target.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;
using namespace terrazzo;

static std::unique_ptr<llvm::TargetMachine> makeMachine(llvm::StringRef chip,
                                                        std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string features;
  llvm::StringRef rest = chip.split('+').second;
  while (!rest.empty()) {
    auto [feature, tail] = rest.split('+');
    features += (features.empty() ? "+" : ",+") + feature.str();
    rest = tail;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  if (!machine)
    error = "no code generator for " + triple.str();
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

/// An upper bound of the stack of one call: static allocations, and room for
/// what the register allocator spills.
static uint64_t stackBytes(llvm::Module &module) {
  uint64_t bytes = 0;
  const llvm::DataLayout &layout = module.getDataLayout();
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &inst : block)
        if (auto *alloca = dyn_cast<llvm::AllocaInst>(&inst))
          if (auto size = alloca->getAllocationSize(layout))
            bytes += size->getFixedValue() + alloca->getAlign().value();
  return bytes + 16384;
}

static std::string codegen(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, stream, nullptr, type);
  passes.run(module);
  return std::string(buffer.data(), buffer.size());
}

FailureOr<Artifact> cpu::emitObject(ModuleOp module, bool wantsStages) {
  auto target = module->getAttrOfType<DictionaryAttr>(kTargetAttr);
  auto entry = module->getAttrOfType<StringAttr>("tile.entry");
  if (!target || !entry)
    return module.emitError("module needs the attributes 'tile.target' and "
                            "'tile.entry' to be emitted");
  llvm::StringRef chip = target.getAs<StringAttr>("chip").getValue();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, entry.getValue());
  if (!llvmModule)
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(chip, error);
  if (!machine)
    return module.emitError("cannot generate code for '")
           << chip << "': " << error;
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  std::string width =
      std::to_string(8 * target.getAs<IntegerAttr>("vector_bytes").getInt());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("tune-cpu", chip.split('+').first);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-trapping-math", "true");
  }
  optimize(*llvmModule, *machine);

  Artifact artifact;
  artifact.target = "cpu";
  artifact.chip = chip.str();
  artifact.entry = entry.getValue().str();
  artifact.threadsPerBlock = 1;
  artifact.stackBytes = stackBytes(*llvmModule);
  if (wantsStages) {
    llvm::raw_string_ostream(artifact.stages["llir"]) << *llvmModule;
    // Code generation changes the module, so assembly comes from a copy.
    artifact.stages["asm"] = codegen(*llvm::CloneModule(*llvmModule), *machine,
                                     llvm::CodeGenFileType::AssemblyFile);
  }
  std::string object =
      codegen(*llvmModule, *machine, llvm::CodeGenFileType::ObjectFile);
  artifact.code.assign(object.begin(), object.end());
  return artifact;
}
