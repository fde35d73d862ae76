//===- ChooseMatrixUnits.cpp - Which instruction computes a product -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before layouts are assigned, since those of a product follow from the
// instruction. Tests: test/Dialect/Simt/choose-matrix-units.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Analysis/AxisInfo.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_CHOOSEMATRIXUNITS
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

/// `value` with wider float elements, or as it is.
Value widened(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (tile::getElementType(value.getType()) == element)
    return value;
  return arith::ExtFOp::create(
      b, tile::withElementType(value.getType(), element), value);
}

/// Whether a factor is computed where the product is, rather than loaded or
/// there before: it is in registers then.
bool isComputed(Value factor, Block *block) {
  Operation *op = factor.getDefiningOp();
  while (isa_and_nonnull<tile::TransposeOp, tile::BlockHintOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && op->getBlock() == block && !isa<tile::LoadOp>(op) &&
         !op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether a factor can be stored with this dimension innermost: it is loaded
/// so, or it is computed.
bool mayRunAlong(Value factor, unsigned dim, const AxisInfoAnalysis &axis) {
  Operation *op = factor.getDefiningOp();
  for (; isa_and_nonnull<tile::TransposeOp, tile::BlockHintOp>(op);
       op = op->getOperand(0).getDefiningOp())
    if (auto turn = dyn_cast<tile::TransposeOp>(op))
      dim = static_cast<unsigned>(turn.getOrder()[dim]);
  auto load = dyn_cast_or_null<tile::LoadOp>(op);
  return !load || axis.getOrder(load.getPtr()).front() == dim;
}

void choose(tile::DotOp op, tile::MatrixUnit unit, int32_t numWarps,
            const AxisInfoAnalysis &axis) {
  simt::Product product;
  product.lhs = tile::getElementType(op.getLhs().getType());
  product.rhs = tile::getElementType(op.getRhs().getType());
  product.acc = tile::getElementType(op.getType());
  product.shape.assign(tile::getShape(op.getType()));
  product.k = tile::getShape(op.getLhs().getType()).back();
  product.precision = op.getPrecision();
  product.maxNumImpreciseAcc = op.getMaxNumImpreciseAcc();
  product.isAlongK = product.shape.size() == 2 &&
                     mayRunAlong(op.getLhs(), 1, axis) &&
                     mayRunAlong(op.getRhs(), 0, axis);
  simt::InstructionAttr instruction =
      simt::chooseInstruction(unit, product, numWarps);
  if (!instruction)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value left = widened(b, op.getLhs(), simt::tileElement(instruction.getLhs())),
        right =
            widened(b, op.getRhs(), simt::tileElement(instruction.getRhs())),
        sum = widened(b, op.getAcc(), instruction.getAcc());
  bool isHeld =
      simt::readsSharedMemory(instruction) && isComputed(left, op->getBlock());
  Value result = simt::MmaOp::create(b, sum.getType(), left, right, sum,
                                     instruction, op.getIsUnsignedAttr(),
                                     isHeld ? b.getUnitAttr() : UnitAttr());
  if (product.acc != instruction.getAcc())
    result = arith::TruncFOp::create(b, op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

class ChooseMatrixUnitsPass
    : public impl::ChooseMatrixUnitsBase<ChooseMatrixUnitsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = tile::TargetAttr::of(module);
    if (!target || module->hasAttr("tile.strict"))
      return;
    simt::BlockShape block = simt::blockShape(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<tile::DotOp> dots;
      function.walk([&](tile::DotOp op) { dots.push_back(op); });
      if (dots.empty())
        continue;
      AxisInfoAnalysis axis(function);
      for (tile::DotOp op : dots)
        choose(op, target.getMatrix(), block.numWarps, axis);
    }
  }
};

} // namespace
} // namespace terrazzo
