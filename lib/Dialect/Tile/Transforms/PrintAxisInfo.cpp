//===- PrintAxisInfo.cpp - Shows what AxisInfo knows ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contract: Passes.td. Every case: test/Dialect/Tile/print-axis-info.mlir.
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Analysis/AxisInfo.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_PRINTAXISINFO
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

std::string text(ArrayRef<int64_t> entries) {
  std::string out;
  llvm::raw_string_ostream os(out);
  os << "[";
  llvm::interleaveComma(entries, os);
  os << "]";
  return out;
}

void print(const AxisInfoAnalysis &analysis, OpResult value) {
  Type element = getElementTypeOrSelf(value.getType());
  bool isPointer = isa<tile::PtrType>(element);
  if (!isPointer && !isa<IntegerType, IndexType>(element))
    return;
  AxisInfo info = analysis.get(value);
  InFlightDiagnostic remark = value.getOwner()->emitRemark()
                              << "contiguity " << text(info.contiguity)
                              << ", divisibility " << text(info.divisibility)
                              << ", constancy " << text(info.constancy);
  if (info.constant)
    remark << ", constant " << *info.constant;
  if (isPointer) {
    SmallVector<unsigned> order = analysis.getOrder(value);
    remark << ", vector " << analysis.getPointerVector(value) << ", order "
           << text(SmallVector<int64_t>(order.begin(), order.end()));
  }
}

struct PrintAxisInfo : impl::PrintAxisInfoBase<PrintAxisInfo> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      AxisInfoAnalysis analysis(func);
      func.walk([&](Operation *op) {
        for (OpResult value : op->getResults())
          print(analysis, value);
      });
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace terrazzo
