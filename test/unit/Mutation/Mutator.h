//===- Mutator.h - Small changes of a module --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_MUTATION_MUTATOR_H
#define TERRAZZO_TEST_UNIT_MUTATION_MUTATOR_H

#include "mlir/IR/BuiltinOps.h"
#include "terrazzo/Dialect/Simt/IR/Simt.h"

#include <random>

namespace terrazzo::mutation {

/// Changes a module at random. What comes out need not verify, but can be
/// printed in generic form.
class Mutator {
public:
  Mutator(mlir::ModuleOp module, uint64_t seed) : module(module), rng(seed) {}

  /// One change, or none where the first choice has nothing to change.
  void mutate();

private:
  /// A number below `count`, which is not 0.
  size_t below(size_t count) { return rng() % count; }
  bool chance(unsigned percent) { return below(100) < percent; }

  int64_t number(int64_t old);
  mlir::Attribute changed(mlir::Attribute attribute);
  mlir::Attribute changedArray(mlir::ArrayAttr array);
  mlir::Attribute changedDictionary(mlir::DictionaryAttr dictionary);
  mlir::Attribute changedElements(mlir::DenseElementsAttr elements);
  simt::LayoutAttr changedLayout(simt::LayoutAttr layout);
  mlir::Type changed(mlir::Type type);
  mlir::Type otherElement(mlir::Type element);
  /// A list with one member changed, left out or given twice.
  template <typename T, typename Change>
  llvm::SmallVector<T> changedList(llvm::ArrayRef<T> list, Change change);

  void changeAttribute();
  void changeType();
  void changeLayout();
  void dropOp();
  void duplicateOp();
  void changeOperand();
  void moveOp();

  llvm::SmallVector<mlir::Operation *> ops();
  /// A value of that type that `op` may use.
  mlir::Value otherValue(mlir::Operation *op, mlir::Type type);

  mlir::ModuleOp module;
  std::mt19937_64 rng;
};

} // namespace terrazzo::mutation

#endif // TERRAZZO_TEST_UNIT_MUTATION_MUTATOR_H
