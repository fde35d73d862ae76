//===- tz-check-order.cpp - Does machine code keep the order of memory? ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels for GPUs and compares the last form of the machine code, in
// front of the printer, with the LLVM IR that code generation began with: every
// access of global or shared memory has to stand between the same barriers.
//
//   tz-check-order kernels.mlir --targets=hip:gfx942,cuda:sm_90a
//
// `--without-pins` shows what the pins of Target/AMDGPU/Emit.cpp are good for.
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "terrazzo/Compiler/Compiler.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Target/Target.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace terrazzo;
using namespace terrazzo::order;

static llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                        llvm::cl::desc("<module, or several>"),
                                        llvm::cl::init("-"));
static llvm::cl::list<std::string>
    targets("targets", llvm::cl::CommaSeparated, llvm::cl::OneOrMore,
            llvm::cl::desc("What to compile for: hip:gfx942,cuda:sm_90a"));
static llvm::cl::opt<bool> withoutPins(
    "without-pins",
    llvm::cl::desc("Takes assembly that only orders out of LLVM IR"));

/// Takes the assembly out that keeps accesses in place: it has no operands.
static void removePins(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto *code =
          call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())
               : nullptr;
      if (code && code->getConstraintString() == "~{memory}")
        call->eraseFromParent();
    }
}

/// Compiles one module for one target, and looks at it. False: not compiled.
static bool check(mlir::ModuleOp original, llvm::StringRef spec,
                  Findings &findings) {
  mlir::OwningOpRef<mlir::ModuleOp> module(original.clone());
  if (failed(attachTarget(*module, spec)))
    return false;
  const Target *target = findTarget(spec.split(':').first);
  mlir::PassManager manager(module->getContext(),
                            mlir::ModuleOp::getOperationName());
  target->buildPipeline(manager);
  if (failed(manager.run(*module)))
    return false;
  llvm::FailureOr<std::unique_ptr<CodeGen>> codegen =
      target->translate(*module);
  if (failed(codegen))
    return false;
  llvm::Module &ir = (*codegen)->getModule();
  if (withoutPins)
    removePins(ir);
  return checkMachineCode(ir, (*codegen)->getMachine(), findings);
}

/// The one kernel of a module, to name it.
static std::string nameOf(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function->hasAttr(tile::kKernelAttr))
      return function.getSymName().str();
  return "?";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(
      argc, argv, "Does machine code keep the order of memory?\n");
  // A copy: code generators reset options.
  std::vector<std::string> specs = targets;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!file) {
    llvm::errs() << "error: " << input << ": " << file.getError().message()
                 << "\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerTargets();
  mlir::MLIRContext context(registry);
  llvm::SmallVector<llvm::StringRef> texts;
  (*file)->getBuffer().split(texts, "// -----", -1, /*KeepEmpty=*/false);
  int status = 0;
  for (llvm::StringRef text : texts) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return 2;
    for (const std::string &spec : specs) {
      Findings findings;
      if (!check(*module, spec, findings))
        return 2;
      std::string name = nameOf(*module);
      for (const std::string &fault : findings.faults)
        llvm::errs() << "error: " << name << ", " << spec << ": " << fault
                     << "\n";
      llvm::outs() << name << ", " << spec << ": " << findings.accesses
                   << " accesses, " << findings.barriers << " barriers, "
                   << findings.faults.size() << " moved\n";
      status |= !findings.faults.empty();
    }
  }
  return status;
}
