//===- RandomFunction.h - Random functions of the tile dialect --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H
#define TERRAZZO_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/APInt.h"

#include <random>

namespace axistest {

/// Makes a function of integer and pointer tiles with loops and branches. Each
/// op takes operands that are there already, rather new ones than old ones.
class RandomFunction {
public:
  RandomFunction(mlir::ModuleOp module, unsigned seed);

  mlir::func::FuncOp make();
  /// A value for an argument, divisible as its attribute says.
  llvm::APInt argument(mlir::BlockArgument argument);

private:
  using Value = mlir::Value;

  unsigned pick(unsigned count) { return engine() % count; }
  bool chance(unsigned percent) { return pick(100) < percent; }
  Value oneOf(llvm::function_ref<bool(mlir::Type)> wanted);
  Value oneOf(mlir::Type type);
  Value add(Value value);
  void apply(llvm::StringRef op, mlir::ValueRange operands);

  llvm::APInt number(unsigned width);
  Value constant(mlir::Type type);
  Value uniform(mlir::Type type);
  mlir::Type reshaped(mlir::Type type, llvm::ArrayRef<int64_t> shape);

  void step(unsigned depth);
  void makeCreation();
  void makeBinary();
  void makeComparison();
  void makeCast();
  void makeShape();
  void makeView();
  void makePointer();
  void makeSlice();
  void makeGather();
  void makeFor(unsigned depth);
  void makeWhile(unsigned depth);
  void makeIf(unsigned depth);
  void fillBlock(mlir::Block &block, unsigned depth, mlir::TypeRange yields,
                 llvm::SmallVectorImpl<Value> &yielded);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Location loc;
  std::mt19937 engine;
  llvm::SmallVector<Value> pool;
};

} // namespace axistest

#endif // TERRAZZO_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H
