//===- TensorCopies.cpp - Copies by the copy engine -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread tells the barrier what will come and starts the copies. The engine
// swizzles rows of up to 128 bytes, so a block with longer rows is several
// boxes, each of all rows.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

FailureOr<Value> Lowering::mbarrier(Operation *op, Value barriers, Value slot) {
  FailureOr<Addressing> a =
      addressing(op, barriers, b.getI64Type(), scalar(slot), 0);
  if (failed(a))
    return failure();
  return a->base;
}

LogicalResult Lowering::lowerTensorCopy(simt::LocalTensorCopyOp op) {
  Type element = op.getBase().getType().getPointeeType();
  int64_t bytes = simt::elementBytes(element);
  Value offset = op.getOffset() ? scalar(op.getOffset()) : Value();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), element, offset, 0);
  FailureOr<Value> barrier = mbarrier(op, op.getBarriers(), op.getSlot());
  if (failed(a) || failed(barrier))
    return failure();
  simt::UnitSwizzle swizzle =
      *simt::unitSwizzle(op.getSwizzle().getLayout(), bytes);
  int64_t rows = op.getShape()[0], run = swizzle.bytes / bytes;
  int64_t count = op.getShape()[1] / run;
  Value released;
  if (op.getReleased()) {
    FailureOr<Value> known =
        mbarrier(op, op.getReleased(), op.getReleasedSlot());
    if (failed(known))
      return failure();
    released = *known;
  }
  ifThen(both(isFirstThread(), scalar(op.getActive())), [&] {
    if (released)
      simt::ThreadMbarrierWaitOp::create(b, released,
                                         scalar(op.getReleasedParity()),
                                         /*units=*/false);
    simt::ThreadMbarrierArriveOp::create(
        b, *barrier,
        b.getI32IntegerAttr(
            static_cast<int32_t>(count * rows * swizzle.bytes)));
    for (int64_t i = 0; i < count; ++i) {
      Value row = scalar(op.getCoordinates()[0]);
      Value column = scalar(op.getCoordinates()[1]);
      Value to = a->base;
      if (i > 0) {
        column = arith::AddIOp::create(b, column, i32(i * run));
        to = pointerTo(b.getI8Type(), to,
                       LLVM::GEPArg(static_cast<int32_t>(i * swizzle.leading)));
      }
      simt::ThreadTensorCopyOp::create(b, to, scalar(op.getMap()),
                                       ValueRange{column, row}, *barrier);
    }
  });
  return success();
}

/// Calls `visit` with each of the barriers, in one thread.
LogicalResult Lowering::forEachMbarrier(Operation *op, Value barriers,
                                        llvm::function_ref<void(Value)> visit) {
  auto alloc = barriers.getDefiningOp<simt::AllocOp>();
  FailureOr<Addressing> a =
      addressing(op, barriers, b.getI64Type(), Value(), 0);
  if (failed(a))
    return failure();
  ifThen(isFirstThread(), [&] {
    for (int32_t i = 0; i < static_cast<int32_t>(alloc.getBytes() / 8); ++i)
      visit(i ? pointerTo(a->element, a->base, LLVM::GEPArg(i)) : a->base);
  });
  return success();
}

LogicalResult Lowering::lowerMbarrierInit(simt::MbarrierInitOp op) {
  return forEachMbarrier(op, op.getBarriers(), [&](Value barrier) {
    simt::ThreadMbarrierInitOp::create(b, barrier, op.getArrivalsAttr());
  });
}

LogicalResult Lowering::lowerMbarrierEnd(simt::MbarrierEndOp op) {
  return forEachMbarrier(op, op.getBarriers(), [&](Value barrier) {
    simt::ThreadMbarrierEndOp::create(b, barrier);
  });
}

LogicalResult Lowering::lowerCopyCommit(simt::CopyCommitOp op) {
  if (!op.getBarriers()) {
    b.clone(*op);
    return success();
  }
  FailureOr<Value> barrier = mbarrier(op, op.getBarriers(), op.getSlot());
  if (failed(barrier))
    return failure();
  simt::ThreadCopyArriveOp::create(b, *barrier);
  return success();
}

LogicalResult Lowering::lowerMbarrierArrive(simt::MbarrierArriveOp op) {
  FailureOr<Value> barrier = mbarrier(op, op.getBarriers(), op.getSlot());
  if (failed(barrier))
    return failure();
  ifThen(both(isFirstLane(), scalar(op.getActive())), [&] {
    simt::ThreadMbarrierArriveOp::create(b, *barrier, b.getI32IntegerAttr(0));
  });
  return success();
}

LogicalResult Lowering::lowerMbarrierWait(simt::MbarrierWaitOp op) {
  FailureOr<Value> barrier = mbarrier(op, op.getBarriers(), op.getSlot());
  if (failed(barrier))
    return failure();
  simt::ThreadMbarrierWaitOp::create(b, *barrier, scalar(op.getParity()),
                                     op.getUnits());
  return success();
}

LogicalResult Lowering::lowerRing(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](simt::CopyCommitOp o) { return lowerCopyCommit(o); })
      .Case([&](simt::CopyWaitOp o) {
        b.clone(*o);
        return success();
      })
      .Case([&](simt::LocalTensorCopyOp o) { return lowerTensorCopy(o); })
      .Case([&](simt::MbarrierInitOp o) { return lowerMbarrierInit(o); })
      .Case([&](simt::MbarrierEndOp o) { return lowerMbarrierEnd(o); })
      .Case([&](simt::MbarrierArriveOp o) { return lowerMbarrierArrive(o); })
      .Case([&](simt::MbarrierWaitOp o) { return lowerMbarrierWait(o); });
}
