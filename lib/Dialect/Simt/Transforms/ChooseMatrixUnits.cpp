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

/// Along which dimension of a factor memory runs that it is loaded from;
/// nothing if it is computed.
std::optional<unsigned> loadedAlong(Value factor,
                                    const AxisInfoAnalysis &axis) {
  constexpr unsigned kRank = 2;
  unsigned dims[kRank] = {0, 1};
  Operation *op = factor.getDefiningOp();
  for (; isa_and_nonnull<tile::TransposeOp, tile::BlockHintOp>(op);
       op = op->getOperand(0).getDefiningOp())
    if (auto turn = dyn_cast<tile::TransposeOp>(op))
      for (unsigned &dim : dims)
        dim = static_cast<unsigned>(turn.getOrder()[dim]);
  auto load = dyn_cast_or_null<tile::LoadOp>(op);
  if (!load)
    return std::nullopt;
  return axis.getOrder(load.getPtr()).front() == dims[0] ? 0 : 1;
}

/// Whether the unit can have the left factor in registers, element by element,
/// from memory that does not run along K.
bool mayGather(tile::DotOp op) {
  return tile::getElementType(op.getLhs().getType()).isF32() &&
         tile::getElementType(op.getRhs().getType()).isF32();
}

/// The loop that adds up a product, by a carried value that nothing else reads;
/// null if none does. Sets the value's number.
scf::ForOp summingLoop(tile::DotOp op, unsigned &number) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto sum = dyn_cast<BlockArgument>(op.getAcc());
  if (!loop || !sum || sum.getOwner() != loop.getBody() ||
      sum == loop.getInductionVar() || !sum.hasOneUse() || !op->hasOneUse() ||
      loop.getTiedLoopYieldedValue(sum)->get() != op.getResult())
    return nullptr;
  number = sum.getArgNumber() - 1;
  return loop;
}

/// a b as the transpose of b' a', the left factor of which may lie in
/// registers. A loop that adds up the product carries the transpose.
tile::DotOp turn(tile::DotOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto transposed = [&b](Value value) -> Value {
    return tile::TransposeOp::create(b, value, ArrayRef<int32_t>{1, 0});
  };
  Value left = transposed(op.getRhs()), right = transposed(op.getLhs());
  unsigned number = 0;
  scf::ForOp loop = summingLoop(op, number);
  Value sum = op.getAcc();
  if (loop) {
    b.setInsertionPoint(loop);
    Value init = transposed(loop.getInitArgs()[number]);
    loop.getInitArgsMutable()[number].assign(init);
    sum.setType(init.getType());
    Value total = loop.getResult(number);
    total.setType(init.getType());
    b.setInsertionPointAfter(loop);
    Value back = transposed(total);
    total.replaceAllUsesExcept(back, back.getDefiningOp());
    b.setInsertionPoint(op);
  } else {
    sum = transposed(sum);
  }
  auto turned = cast<tile::DotOp>(b.clone(*op));
  turned->setOperands({left, right, sum});
  Value result = turned.getResult();
  result.setType(sum.getType());
  op.replaceAllUsesWith(loop ? result : transposed(result));
  op.erase();
  return turned;
}

simt::Product productOf(tile::DotOp op, const AxisInfoAnalysis &axis) {
  simt::Product product;
  product.lhs = tile::getElementType(op.getLhs().getType());
  product.rhs = tile::getElementType(op.getRhs().getType());
  product.acc = tile::getElementType(op.getType());
  product.shape.assign(tile::getShape(op.getType()));
  product.k = tile::getShape(op.getLhs().getType()).back();
  product.precision = op.getPrecision();
  product.maxNumImpreciseAcc = op.getMaxNumImpreciseAcc();
  // Where a factor is computed, it can be stored either way.
  product.isAlongK =
      product.shape.size() == 2 &&
      loadedAlong(op.getRhs(), axis).value_or(0) == 0 &&
      (mayGather(op) || loadedAlong(op.getLhs(), axis).value_or(1) == 1);
  return product;
}

/// The instruction for the transpose of a product, where that is one of a unit
/// that cannot have the product itself; else null.
simt::InstructionAttr instructionTurned(tile::DotOp op, simt::Product product,
                                        tile::MatrixUnit unit, int32_t numWarps,
                                        const AxisInfoAnalysis &axis) {
  unsigned number = 0;
  bool isSummed =
      summingLoop(op, number) != nullptr || !isa<scf::ForOp>(op->getParentOp());
  if (!mayGather(op) || product.shape.size() != 2 || product.isAlongK ||
      !isSummed || loadedAlong(op.getRhs(), axis) != 1U ||
      loadedAlong(op.getLhs(), axis) != 1U)
    return {};
  std::swap(product.lhs, product.rhs);
  std::swap(product.shape[0], product.shape[1]);
  product.isAlongK = true;
  simt::InstructionAttr instruction =
      simt::chooseInstruction(unit, product, numWarps);
  return instruction && simt::readsSharedMemory(instruction)
             ? instruction
             : simt::InstructionAttr();
}

void choose(tile::DotOp op, tile::MatrixUnit unit, int32_t numWarps,
            const AxisInfoAnalysis &axis) {
  simt::Product product = productOf(op, axis);
  simt::InstructionAttr instruction =
      instructionTurned(op, product, unit, numWarps, axis);
  bool isHeld = instruction != nullptr;
  if (instruction)
    op = turn(op);
  else
    instruction = simt::chooseInstruction(unit, product, numWarps);
  if (!instruction)
    return;
  bool isAcross = product.shape.size() == 2 &&
                  simt::innermostDim(instruction, 0) &&
                  loadedAlong(op.getLhs(), axis) == 0U;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value left = widened(b, op.getLhs(), simt::tileElement(instruction.getLhs())),
        right =
            widened(b, op.getRhs(), simt::tileElement(instruction.getRhs())),
        sum = widened(b, op.getAcc(), instruction.getAcc());
  isHeld |= isAcross || (simt::readsSharedMemory(instruction) &&
                         isComputed(left, op->getBlock()));
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
