//===- GuardDivision.cpp - Integer division that cannot trap --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// On x86 a division by zero, or of the smallest integer by -1, kills the
// process; GPUs just return something. The divisor becomes 1 in those cases,
// which is right for the second (INT_MIN / 1 = INT_MIN, remainder 0), and the
// results for zero are set: x / 0 = -1 (all ones), x % 0 = x, so that x = (x /
// 0) * 0 + x % 0 holds. Contract: Passes.td. Tests:
// test/Conversion/MathToArith/guard-division.mlir.

#include "Expr.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace terrazzo {

#define GEN_PASS_DEF_GUARDDIVISION
#include "terrazzo/Conversion/Passes.h.inc"

namespace {
using expand::Emitter;
using expand::Expr;

bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
             arith::FloorDivSIOp>(op);
}
bool isRemainder(Operation *op) {
  return isa<arith::RemSIOp, arith::RemUIOp>(op);
}
bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// Whether a constant divisor can do no harm in any lane.
bool isSafe(Value divisor, bool isSigned) {
  while (auto *op = divisor.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, tile::SplatOp>(op))
      break;
    divisor = op->getOperand(0);
  }
  auto harmless = [&](const APInt &value) {
    return !value.isZero() && !(isSigned && value.isAllOnes());
  };
  Attribute constant;
  if (!matchPattern(divisor, m_Constant(&constant)))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return harmless(integer.getValue());
  auto dense = dyn_cast<DenseIntElementsAttr>(constant);
  return dense && llvm::all_of(dense.getValues<APInt>(), harmless);
}

bool needsGuard(Operation *op) {
  return isDivision(op) && !isSafe(op->getOperand(1), isSigned(op));
}

/// Emits the guarded division before `op` and returns its result.
Value guard(Operation *op, Emitter &emitter) {
  Expr n(emitter, op->getOperand(0)), d(emitter, op->getOperand(1));
  Expr isZero = d == d.like(0);
  Expr unsafe = isZero;
  if (isSigned(op)) {
    Expr smallest = n.like(static_cast<int64_t>(
        APInt::getSignedMinValue(n.width()).getSExtValue()));
    unsafe = unsafe | ((n == smallest) & (d == d.like(-1)));
  }
  Expr safe = select(unsafe, 1, d);
  Operation *division = emitter.builder.clone(*op);
  division->setOperand(1, safe.get());
  Expr result(emitter, division->getResult(0));
  if (isRemainder(op))
    return select(isZero, n, result).get();
  return select(isZero, -1, result).get();
}

struct GuardDivision : impl::GuardDivisionBase<GuardDivision> {
  void runOnOperation() override {
    ExpandMathTarget target;
    Emitter emitter(
        ImplicitLocOpBuilder(getOperation()->getLoc(), &getContext()), target);
    emitter.shareConstants = true;
    getOperation()->walk([&](Operation *op) {
      if (!needsGuard(op))
        return;
      emitter.builder.setInsertionPoint(op);
      emitter.builder.setLoc(op->getLoc());
      op->getResult(0).replaceAllUsesWith(guard(op, emitter));
      op->erase();
    });
  }
};
} // namespace

} // namespace terrazzo
