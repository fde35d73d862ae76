//===- ChooseMatrixUnits.cpp - Which instruction computes a product -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before layouts are assigned, since those of a product follow from the
// instruction. Tests: test/Dialect/Simt/choose-matrix-units.mlir.
//===----------------------------------------------------------------------===//

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

void choose(tile::DotOp op, tile::MatrixUnit unit, int32_t numWarps) {
  Type lhs = tile::getElementType(op.getLhs().getType()),
       rhs = tile::getElementType(op.getRhs().getType()),
       acc = tile::getElementType(op.getType());
  simt::InstructionAttr instruction = simt::chooseInstruction(
      unit, lhs, rhs, acc, op.getPrecision(), tile::getShape(op.getType()),
      tile::getShape(op.getLhs().getType()).back(), numWarps);
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
  if (acc != instruction.getAcc())
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
    SmallVector<tile::DotOp> dots;
    module.walk([&](tile::DotOp op) { dots.push_back(op); });
    for (tile::DotOp op : dots)
      choose(op, target.getMatrix(), block.numWarps);
  }
};

} // namespace
} // namespace terrazzo
