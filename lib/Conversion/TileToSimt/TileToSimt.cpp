//===- TileToSimt.cpp - Gives every tile a layout -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assignment.h chooses; this file writes the choice into the types, computes
// cheap tiles again in each layout that is asked for, and puts a conversion
// where two layouts meet. Tests: test/Conversion/TileToSimt/.
//===----------------------------------------------------------------------===//

#include "Assignment.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Checks.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_TILETOSIMT
#include "terrazzo/Conversion/Passes.h.inc"

namespace simt {
namespace {

class Placement {
public:
  Placement(func::FuncOp kernel, BlockShape block)
      : kernel(kernel), assignment(kernel, block) {}

  void run();

private:
  void place(Operation *op);
  void placeAccess(Operation *op);
  void placeReduce(tile::ReduceOp op);
  void placeRecurrence(tile::RecurrenceOp op);
  void placeControl(Operation *op);
  void placeJoin(tile::JoinOp op);
  void placeMma(MmaOp op);
  void placeTerminator(Operation *op);
  void placeFree(Operation *op);
  bool isDead(Operation *op);

  /// `value` in `layout`, for the use of `user`. Scalars stay as they are.
  Value want(Value value, const LinearLayout &layout, Operation *user);
  void wantOperand(OpOperand &operand, const LinearLayout &layout) {
    operand.set(want(operand.get(), layout, operand.getOwner()));
  }
  /// An operand whose layout does not matter to the op.
  void wantAny(OpOperand &operand);
  Value recompute(Value cheap, const LinearLayout &layout);

  /// The op's result comes out in `layout`; its class may want another.
  void setResult(OpResult result, const LinearLayout &layout);
  void setType(Value value, const LinearLayout &layout) {
    value.setType(
        withLayout(cast<RankedTensorType>(value.getType()), attr(layout)));
  }
  LayoutAttr attr(const LinearLayout &layout) {
    return LayoutAttr::get(kernel.getContext(), layout);
  }

  func::FuncOp kernel;
  Assignment assignment;
  /// Where a tile is in its class's layout, if not in the value itself.
  DenseMap<Value, Value> placed;
  DenseMap<std::pair<Value, Attribute>, Value> recomputed;
};

void Placement::wantAny(OpOperand &operand) {
  if (isTile(operand.get()))
    wantOperand(operand, assignment.anyLayout(operand.get()));
}

Value Placement::recompute(Value value, const LinearLayout &layout) {
  LayoutAttr wanted = attr(layout);
  auto key = std::make_pair(value, Attribute(wanted));
  if (auto it = recomputed.find(key); it != recomputed.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  auto type = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  Value result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    result = arith::ConstantOp::create(
        b, op->getLoc(),
        dense.isSplat()
            ? cast<TypedAttr>(Attribute(dense.resizeSplat(type)))
            : cast<TypedAttr>(Attribute(DenseElementsAttr::getFromRawBuffer(
                  type, dense.getRawData()))));
  } else {
    // Operands first: they are further up.
    std::optional<LinearLayout> below = operandLayout(op, layout);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTile(operand)
                             ? recompute(operand, below ? *below : layout)
                             : operand);
    Operation *clone = b.clone(*op);
    clone->setOperands(operands);
    for (OpResult each : clone->getResults())
      if (isTile(each))
        setType(each, layout);
    result = clone->getResult(cast<OpResult>(value).getResultNumber());
  }
  return recomputed[key] = result;
}

Value Placement::want(Value value, const LinearLayout &layout,
                      Operation *user) {
  if (!isTile(value))
    return value;
  if (getLayout(value.getType())) // Made by this pass.
    if (getLayout(value.getType()).getLayout() == layout)
      return value;
  if (assignment.isCheap(value))
    return recompute(value, layout);
  Value home = placed.lookup(value);
  if (!home)
    home = value;
  if (assignment.layoutOf(value) == layout)
    return home;
  OpBuilder b(user);
  return ConvertLayoutOp::create(
      b, user->getLoc(),
      withLayout(cast<RankedTensorType>(value.getType()), attr(layout)), home);
}

void Placement::setResult(OpResult result, const LinearLayout &layout) {
  if (!isTile(result))
    return;
  const LinearLayout &home = assignment.layoutOf(result);
  setType(result, layout);
  if (home == layout)
    return;
  OpBuilder b(result.getOwner());
  b.setInsertionPointAfter(result.getOwner());
  placed[result] = ConvertLayoutOp::create(
      b, result.getLoc(),
      withLayout(cast<RankedTensorType>(result.getType()), attr(home)), result);
}

void Placement::placeAccess(Operation *op) {
  if (!isTile(op->getOperand(0)))
    return;
  LinearLayout layout = assignment.layoutForAccess(op);
  op->setAttr(kVectorAttr, Builder(op).getI32IntegerAttr(static_cast<int32_t>(
                               assignment.vectorWithin(op, layout))));
  for (OpOperand &operand : op->getOpOperands())
    wantOperand(operand, layout);
  for (OpResult result : op->getResults())
    setResult(result, layout);
}

void Placement::placeReduce(tile::ReduceOp op) {
  LinearLayout layout = assignment.anyLayout(sameLayout(op));
  for (OpOperand &operand : op->getOpOperands())
    wantOperand(operand, layout);
  for (OpResult result : op->getResults())
    if (isTile(result))
      setResult(result, *resultLayout(op, layout));
}

void Placement::placeRecurrence(tile::RecurrenceOp op) {
  Block &step = op.getStep().front();
  for (auto [index, operand] : llvm::enumerate(op->getOpOperands())) {
    if (index < op.getInits().size())
      if (Value arg = step.getArgument(index); isTile(arg)) {
        wantOperand(operand, assignment.layoutOf(arg));
        continue;
      }
    wantAny(operand);
  }
  for (BlockArgument arg : step.getArguments())
    if (isTile(arg))
      setType(arg, assignment.layoutOf(arg));
  for (OpResult result : op->getResults())
    if (isTile(result))
      setType(result, assignment.layoutOf(result));
}

void Placement::placeTerminator(Operation *op) {
  Operation *parent = op->getParentOp();
  auto like = [&](size_t index, Value model) {
    if (isTile(model))
      wantOperand(op->getOpOperand(index), assignment.layoutOf(model));
  };
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs()))
      like(index, arg);
  } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    for (auto [index, result] : llvm::enumerate(branch.getResults()))
      like(index, result);
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (isa<scf::ConditionOp>(op)) {
      for (auto [index, arg] : llvm::enumerate(loop.getAfterArguments()))
        like(index + 1, arg);
    } else {
      for (auto [index, arg] : llvm::enumerate(loop.getBeforeArguments()))
        like(index, arg);
    }
  } else if (auto recurrence = dyn_cast<tile::RecurrenceOp>(parent)) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.getOperandNumber() < recurrence.getInits().size())
        like(operand.getOperandNumber(),
             recurrence.getStep().getArgument(operand.getOperandNumber()));
      else
        wantAny(operand);
    }
  }
}

/// Ops that go through shared memory whatever the layouts are, and ops on
/// several tiles of which not all need to agree.
void Placement::placeFree(Operation *op) {
  SmallVector<Value> same = sameLayout(op);
  std::optional<LinearLayout> layout;
  if (!same.empty())
    layout = assignment.anyLayout(same);
  for (OpOperand &operand : op->getOpOperands()) {
    if (llvm::is_contained(same, operand.get()))
      wantOperand(operand, *layout);
    else
      wantAny(operand);
  }
  for (OpResult result : op->getResults())
    if (isTile(result))
      setType(result, assignment.layoutOf(result));
}

/// What a loop starts with; its block arguments and results have classes.
void Placement::placeControl(Operation *op) {
  ValueRange args;
  size_t first = 0;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    args = loop.getRegionIterArgs();
    first = loop.getNumControlOperands();
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    args = loop.getBeforeArguments();
  }
  for (auto [index, arg] : llvm::enumerate(args))
    if (isTile(arg))
      wantOperand(op->getOpOperand(first + index), assignment.layoutOf(arg));
  auto settle = [&](Value value) {
    if (isTile(value))
      setType(value, assignment.layoutOf(value));
  };
  for (Region &region : op->getRegions())
    for (Block &body : region)
      llvm::for_each(body.getArguments(), settle);
  llvm::for_each(op->getResults(), settle);
}

void Placement::placeJoin(tile::JoinOp op) {
  std::optional<LinearLayout> below =
      operandLayout(op, assignment.layoutOf(op.getResult()));
  LinearLayout layout = below ? *below : assignment.anyLayout(sameLayout(op));
  for (OpOperand &operand : op->getOpOperands())
    wantOperand(operand, layout);
  setResult(op->getResult(0), *resultLayout(op, layout));
}

void Placement::placeMma(MmaOp op) {
  LinearLayout layout = assignment.layoutForMma(op);
  auto factor = [&](unsigned index, layout::MatrixRole role) {
    OpOperand &operand = op->getOpOperand(index);
    if (op.isInShared(index))
      return wantAny(operand);
    wantOperand(operand, factorLayout(op.getInstruction(), role, layout,
                                      tile::getShape(operand.get().getType())));
  };
  factor(0, layout::MatrixRole::A);
  factor(1, layout::MatrixRole::B);
  wantOperand(op->getOpOperand(2), layout);
  setResult(op->getResult(0), layout);
}

void Placement::place(Operation *op) {
  auto isCheapResult = [&](OpResult result) {
    return isTile(result) && assignment.isCheap(result);
  };
  if (op->getNumResults() && llvm::all_of(op->getResults(), isCheapResult))
    return; // Made again where needed.
  if (op->hasTrait<OpTrait::IsTerminator>())
    return placeTerminator(op);
  if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
          op))
    return placeAccess(op);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return placeReduce(reduce);
  if (auto recurrence = dyn_cast<tile::RecurrenceOp>(op))
    return placeRecurrence(recurrence);
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return placeControl(op);
  if (auto join = dyn_cast<tile::JoinOp>(op))
    return placeJoin(join);
  if (auto mma = dyn_cast<MmaOp>(op))
    return placeMma(mma);
  if (isa<tile::DotOp>(op)) {
    wantAny(op->getOpOperand(0));
    wantAny(op->getOpOperand(1));
    wantOperand(op->getOpOperand(2), assignment.layoutOf(op->getResult(0)));
    return setType(op->getResult(0), assignment.layoutOf(op->getResult(0)));
  }
  if (isa<tile::GatherOp, tile::ConcatOp, tile::FlipOp, tile::SliceOp,
          tile::InsertOp, tile::HistogramOp, tile::PrintOp, tile::AssertOp>(
          op) ||
      (isa<tile::ReshapeOp>(op) && !isLinearReshape(op)))
    return placeFree(op);
  // Elementwise ops and scans share one layout; renamings have one for each
  // side.
  if (op->getNumResults() == 0 || !isTile(op->getResult(0)))
    return;
  const LinearLayout &layout = assignment.layoutOf(op->getResult(0));
  std::optional<LinearLayout> below = operandLayout(op, layout);
  for (OpOperand &operand : op->getOpOperands())
    wantOperand(operand, below ? *below : layout);
  for (OpResult result : op->getResults())
    setType(result, layout);
}

bool Placement::isDead(Operation *op) {
  return op->use_empty() && llvm::any_of(op->getResults(), [](OpResult result) {
           return isTile(result) && !getLayout(result.getType());
         });
}

void Placement::run() {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    ops.push_back(op);
    // Their regions hold scalars.
    return isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  for (Operation *op : ops)
    place(op);
  for (Operation *op : llvm::reverse(ops))
    if (isDead(op))
      op->erase();
}

} // namespace
} // namespace simt

namespace {

/// Whether all warps that each instruction needs are there.
LogicalResult checkInstructions(func::FuncOp kernel, simt::BlockShape block) {
  auto walk = kernel.walk([&](simt::MmaOp op) {
    if (!simt::accumulatorLayouts(op.getInstruction(),
                                  tile::getShape(op.getType()), block)
             .empty())
      return WalkResult::advance();
    op.emitOpError() << "needs a group of warps for its instruction, more than "
                        "the "
                     << block.numWarps << " of the block";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

class TileToSimtPass : public impl::TileToSimtBase<TileToSimtPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    simt::BlockShape block = simt::blockShape(module);
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr)) {
        if (failed(tile::checkTiles(kernel)) ||
            failed(checkInstructions(kernel, block)))
          return signalPassFailure();
        simt::Placement(kernel, block).run();
      }
  }
};

} // namespace
} // namespace terrazzo
