//===- Emit.cpp - From the llvm dialect to an object ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "terrazzo/Target/CodeGen.h"
#include "terrazzo/Target/Target.h"

#include "llvm/IR/Instructions.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace terrazzo;

/// The code generator of this process for exactly the features of `chip`.
static CodeGen::Machine machineOf(llvm::StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  CodeGen::Machine machine;
  machine.triple = llvm::sys::getProcessTriple();
  machine.cpu = "x86-64";
  machine.hoistsConstants = false;
  llvm::StringRef rest = chip.split('+').second;
  while (!rest.empty()) {
    auto [feature, tail] = rest.split('+');
    machine.features += (machine.features.empty() ? "+" : ",+") + feature.str();
    rest = tail;
  }
  return machine;
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

/// Fails if the object is not complete in itself, which would otherwise come
/// out where it is loaded.
static LogicalResult checkSymbols(ModuleOp module, llvm::StringRef entry,
                                  llvm::StringRef chip,
                                  llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, entry));
  if (!file)
    return module.emitError("the code generator's object cannot be read: ")
           << llvm::toString(file.takeError());
  Operation *kernel = module.lookupSymbol(entry);
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || name->empty())
      continue;
    return (kernel ? kernel : module.getOperation())->emitError("kernel '")
           << entry << "' compiled for " << chip.split('+').first
           << " calls the function '" << *name
           << "', expected code that calls no library; this is a fault of the "
              "compiler";
  }
  return success();
}

FailureOr<Artifact> cpu::emitObject(ModuleOp module, bool wantsStages) {
  auto target = tile::TargetAttr::of(module);
  auto entry = module->getAttrOfType<StringAttr>("tile.entry");
  if (!target || !entry)
    return module.emitError("module needs the attributes 'tile.target' and "
                            "'tile.entry' to be emitted");
  llvm::StringRef chip = target.getChip();

  FailureOr<std::unique_ptr<CodeGen>> codegen =
      CodeGen::create(module, entry.getValue(), machineOf(chip));
  if (failed(codegen))
    return failure();
  llvm::Module &llvmModule = (*codegen)->getModule();
  std::string width = std::to_string(8 * target.getVectorBytes());
  for (llvm::Function &function : llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("tune-cpu", chip.split('+').first);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-trapping-math", "true");
    // Loops stay loops: there is no memcpy to be called.
    function.addFnAttr("no-builtins");
  }
  if (failed((*codegen)->optimize(llvm::OptimizationLevel::O2)))
    return failure();

  Artifact artifact;
  artifact.target = "cpu";
  artifact.chip = chip.str();
  artifact.entry = entry.getValue().str();
  artifact.threadsPerBlock = 1;
  artifact.stackBytes = stackBytes(llvmModule);
  if (wantsStages) {
    artifact.stages["llir"] = (*codegen)->text();
    FailureOr<std::string> assembly =
        (*codegen)->generateFromCopy(llvm::CodeGenFileType::AssemblyFile);
    if (failed(assembly))
      return failure();
    artifact.stages["asm"] = std::move(*assembly);
  }
  FailureOr<std::string> object =
      (*codegen)->generate(llvm::CodeGenFileType::ObjectFile);
  if (failed(object) ||
      failed(checkSymbols(module, entry.getValue(), chip, *object)))
    return failure();
  artifact.code.assign(object->begin(), object->end());
  return artifact;
}
