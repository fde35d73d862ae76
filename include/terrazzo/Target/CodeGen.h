//===- CodeGen.h - From the llvm dialect to a machine's code ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the targets' emit() share: translation to LLVM IR, optimisation, code.
// Whatever LLVM reports on the way, an error that it takes to be fatal too, is
// a diagnostic on the module.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_CODEGEN_H
#define TERRAZZO_TARGET_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace terrazzo {

class CodeGen {
public:
  /// Which code generator of LLVM, and for which processor.
  struct Machine {
    std::string triple;
    std::string cpu;
    std::string features;
    llvm::Reloc::Model relocation = llvm::Reloc::PIC_;
    /// Whether constants are loaded into registers in front of loops. Where
    /// they can be operands in memory, long formulas run out of registers by
    /// it.
    bool hoistsConstants = true;
  };

  /// Translates `module`, which is in the llvm dialect, to one called `name`.
  /// The caller has initialised the code generator.
  static llvm::FailureOr<std::unique_ptr<CodeGen>>
  create(mlir::ModuleOp module, llvm::StringRef name, const Machine &machine);
  ~CodeGen();

  llvm::Module &getModule() { return *llvmModule; }
  llvm::TargetMachine &getMachine() { return *machine; }

  /// LLVM's own pipeline, without its vectorisers: tiles arrive as vectors
  /// already, and scalar loops that are left are so because their lanes depend
  /// on each other.
  llvm::LogicalResult optimize(llvm::OptimizationLevel level);

  /// Assembly or an object. Code generation changes the module.
  llvm::FailureOr<std::string> generate(llvm::CodeGenFileType type);

  /// Assembly or an object from a copy of the module.
  llvm::FailureOr<std::string> generateFromCopy(llvm::CodeGenFileType type);

  /// The module as text.
  std::string text() const;

private:
  struct Gate;

  explicit CodeGen(mlir::ModuleOp module);
  llvm::LogicalResult guarded(llvm::function_ref<void()> work);
  llvm::FailureOr<std::string> generate(llvm::Module &module,
                                        llvm::CodeGenFileType type);

  /// Adds the passes of the code generator; false if it has no such output.
  bool addPasses(llvm::legacy::PassManager &passes,
                 llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type);

  mlir::ModuleOp source;
  bool hoistsConstants = true;
  /// LLVM reported an error since the last call of guarded().
  bool reported = false;
  /// Which passes the context's code goes through.
  std::unique_ptr<Gate> gate;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> llvmModule;
};

} // namespace terrazzo

#endif // TERRAZZO_TARGET_CODEGEN_H
