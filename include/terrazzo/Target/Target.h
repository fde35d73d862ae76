//===- Target.h - A machine that code can be produced for -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The narrow door between the pipelines and a back end. Passes never see it: a
// *fact* about the machine goes into the module attribute that describe()
// makes, an *instruction* into the target's own patterns.
// docs/howto/add-a-target.md.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_TARGET_H
#define TERRAZZO_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "terrazzo/Dialect/Tile/IR/Checks.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Support/Artifact.h"
#include "terrazzo/Target/CodeGen.h"

#include <string>

namespace terrazzo {

using tile::kTargetAttr;

class Target {
public:
  virtual ~Target() = default;

  /// The name in `--target`, cache keys and diagnostics: "cpu".
  virtual llvm::StringRef getName() const = 0;

  /// The chips that describe() knows.
  virtual llvm::SmallVector<llvm::StringRef> getChips() const = 0;

  /// What may follow the name of a chip, each after a '+'.
  virtual llvm::ArrayRef<llvm::StringLiteral> getFeatures() const { return {}; }

  /// The chip that `chip` names ("" for the machine at hand) as data: all that
  /// passes may ask. A null attribute when there is no such chip.
  virtual tile::TargetAttr describe(mlir::MLIRContext &context,
                                    llvm::StringRef chip) const = 0;

  /// Dialects and translations that the pipeline needs besides the common ones.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// From the tile dialect to the llvm dialect.
  virtual void buildPipeline(mlir::OpPassManager &manager) const = 0;

  /// From the llvm dialect to the LLVM IR that emit() generates code from, for
  /// tools that look at what code generation makes of it. Of targets whose
  /// kernels run in blocks of threads.
  virtual llvm::FailureOr<std::unique_ptr<CodeGen>>
  translate(mlir::ModuleOp module) const;

  /// From the llvm dialect to code. Fills code, entry, target, chip, what is
  /// known of the resources it uses, and with `wantsStages` the stages from
  /// "llir" on that are text.
  virtual llvm::FailureOr<Artifact> emit(mlir::ModuleOp module,
                                         bool wantsStages) const = 0;
};

/// The target called `name`, or null.
const Target *findTarget(llvm::StringRef name);

/// Adds a target; called once each by registerAllTargets().
void registerTarget(std::unique_ptr<Target> target);

/// The names of all targets, sorted.
llvm::SmallVector<llvm::StringRef> targetNames();

} // namespace terrazzo

#endif // TERRAZZO_TARGET_TARGET_H
