//===- ExpandDescriptors.cpp - Blocks as pointers and masks ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element i of the block at `offsets` is base + sum((offsets + i) * strides).
// The part of the offsets is a scalar, so what a loop moves is one pointer:
//
//   start   = base + offsets * strides
//   load start + i * strides mask 0 <= offsets + i < shape
//
// What a chip's copy engine may take has a hint beside that: whether it does is
// decided when it is known where shared memory goes.
//
// Contract: Passes.td. Every case: test/Dialect/Tile/expand-descriptors.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_TILEEXPANDDESCRIPTORS
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

/// Where the elements of one block are.
class BlockPlaces {
public:
  BlockPlaces(Operation *access, Value descriptor, ValueRange offsets)
      : b(access->getLoc(), access),
        op(descriptor.getDefiningOp<tile::MakeDescriptorOp>()),
        block(op.getType().getShape()) {
    for (Value offset : offsets)
      starts.push_back(offset.getType().isInteger(64)
                           ? offset
                           : arith::ExtSIOp::create(b, b.getI64Type(), offset));
  }

  Value pointers() {
    Value start, steps;
    for (size_t axis = 0; axis < block.size(); ++axis) {
      start = sum(start, strided(starts[axis], axis));
      steps = sum(steps, whole(strided(indices(axis), axis), axis));
    }
    Value pointer = tile::AddPtrOp::create(b, op.getBase(), start);
    return tile::AddPtrOp::create(b, splat(pointer, block), steps);
  }

  Value mask() {
    Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
    Value result;
    for (size_t axis = 0; axis < block.size(); ++axis) {
      int64_t extent = block[axis];
      Value index =
          arith::AddIOp::create(b, indices(axis), splat(starts[axis], extent));
      Value low = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index,
                                        splat(zero, extent));
      Value high = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index,
                                         splat(op.getShape()[axis], extent));
      Value inside = whole(arith::AndIOp::create(b, low, high), axis);
      result = result ? arith::AndIOp::create(b, result, inside).getResult()
                      : inside;
    }
    return result;
  }

  /// What lanes outside of the tensor read; null where it is 0.
  Value other() {
    auto type = op.getType();
    if (type.getPadding() == tile::Padding::Zero)
      return {};
    auto element = cast<FloatType>(type.getElementType());
    Value nan = arith::ConstantOp::create(
        b,
        FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics())));
    return splat(nan, block);
  }

  ImplicitLocOpBuilder b;

private:
  Value splat(Value value, ArrayRef<int64_t> shape) {
    return tile::SplatOp::create(
        b, RankedTensorType::get(shape, value.getType()), value);
  }

  Value sum(Value lhs, Value rhs) {
    return lhs ? arith::AddIOp::create(b, lhs, rhs).getResult() : rhs;
  }

  /// 0, 1, ... along an axis.
  Value indices(size_t axis) {
    Value index =
        tile::ArangeOp::create(b, 0, static_cast<int32_t>(block[axis]));
    return arith::ExtSIOp::create(
        b, tile::withElementType(index.getType(), b.getI64Type()), index);
  }

  Value strided(Value index, size_t axis) {
    Value stride = op.getStrides()[axis];
    if (matchPattern(stride, m_One()))
      return index;
    if (isa<RankedTensorType>(index.getType()))
      stride = splat(stride, block[axis]);
    return arith::MulIOp::create(b, index, stride);
  }

  /// A tile along one axis as one of the block's shape.
  Value whole(Value value, size_t axis) {
    for (size_t i = 0; i < block.size(); ++i)
      if (i != axis)
        value = tile::ExpandDimsOp::create(b, value, static_cast<int32_t>(i));
    auto type = cast<RankedTensorType>(value.getType()).clone(block);
    return b.createOrFold<tile::BroadcastOp>(type, value);
  }

  tile::MakeDescriptorOp op;
  ArrayRef<int64_t> block;
  SmallVector<Value> starts;
};

/// Whether products alone read a value, whichever way around.
bool isFactor(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (auto dot = dyn_cast<tile::DotOp>(user))
             return value != dot.getAcc();
           return isa<tile::TransposeOp>(user) && isFactor(user->getResult(0));
         });
}

/// Whether a block is a factor in a loop: as such it may be copied ahead.
bool isFactorInLoop(tile::DescriptorLoadOp op) {
  return op.getType().getRank() == 2 && op->getParentOfType<scf::ForOp>() &&
         isFactor(op);
}

/// What a chip's copy engine has to know of the tensor that a block is of; null
/// if it cannot have the block.
tile::TensorMapAttr mapOf(tile::DescriptorLoadOp op) {
  auto target = tile::TargetAttr::of(op);
  auto isNarrow = [](Value offset) { return offset.getType().isInteger(32); };
  if (!target || !target.has(tile::Units::TensorCopy) || !isFactorInLoop(op) ||
      !llvm::all_of(op.getOffsets(), isNarrow))
    return {};
  return tile::tensorMapOf(
      op.getDescriptor().getDefiningOp<tile::MakeDescriptorOp>());
}

void expand(tile::DescriptorLoadOp op) {
  BlockPlaces places(op, op.getDescriptor(), op.getOffsets());
  Value block =
      tile::LoadOp::create(places.b, places.pointers(), places.mask(),
                           places.other(), op.getCache(), op.getEvict(), false);
  if (tile::TensorMapAttr map = mapOf(op))
    block = tile::BlockHintOp::create(places.b, block, op.getOffsets(), map);
  op.replaceAllUsesWith(block);
  op.erase();
}

void expand(tile::DescriptorStoreOp op) {
  BlockPlaces places(op, op.getDescriptor(), op.getOffsets());
  tile::StoreOp::create(places.b, places.pointers(), op.getValue(),
                        places.mask());
  op.erase();
}

/// Puts constants for what is the sign extension of one, as specialised
/// arguments are.
void foldConstants(tile::MakeDescriptorOp op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto wide = operand.get().getDefiningOp<arith::ExtSIOp>();
    APInt value;
    if (wide && matchPattern(wide.getIn(), m_ConstantInt(&value)))
      operand.set(arith::ConstantOp::create(
          b, op.getLoc(), b.getI64IntegerAttr(value.getSExtValue())));
  }
}

LogicalResult check(Value descriptor, Operation *user) {
  if (!descriptor.getDefiningOp<tile::MakeDescriptorOp>())
    return user->emitOpError("needs a descriptor that 'tile.make_descriptor' "
                             "makes, found one that comes from elsewhere");
  if (!isa<tile::DescriptorLoadOp, tile::DescriptorStoreOp>(user))
    return user->emitOpError("takes a descriptor, which only loads and stores "
                             "of blocks may");
  return success();
}

struct TileExpandDescriptors
    : impl::TileExpandDescriptorsBase<TileExpandDescriptors> {
  void runOnOperation() override {
    WalkResult checked = getOperation().walk([](Operation *op) {
      for (Value operand : op->getOperands())
        if (isa<tile::DescriptorType>(operand.getType()) &&
            failed(check(operand, op)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](tile::MakeDescriptorOp op) { foldConstants(op); });
    getOperation().walk([](tile::DescriptorLoadOp op) { expand(op); });
    getOperation().walk([](tile::DescriptorStoreOp op) { expand(op); });
    getOperation().walk([](tile::MakeDescriptorOp op) { op.erase(); });
  }
};

} // namespace
} // namespace terrazzo
