//===- Program.cpp - Blocks and scalars -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

Value Lowering::scalar(Value old) {
  Value now = scalars.lookupOrNull(old);
  assert(now && "a scalar is lowered before its uses");
  return now;
}

LogicalResult Lowering::lowerBlock(Block &block) {
  noteRoots(block);
  SmallVector<Value> outer;
  std::swap(outer, unsettled);
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(&op)))
      return failure();
  std::swap(outer, unsettled);
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (isVirtualOp(op)) {
    classify(op);
    for (Value result : op->getResults())
      if (isa<tile::LoadOp>(op) || pending.contains(result))
        unsettled.push_back(result);
    return success();
  }
  if (!isMemoryEffectFree(op) && !isa<tile::LoadOp>(op))
    flushForWrite(op);
  if (op->getNumRegions() != 0)
    flushForRegion(op);
  b.setLoc(op->getLoc());
  current = op;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::StoreOp o) { return lowerStore(o); })
      .Case<tile::AtomicRMWOp, tile::AtomicCASOp>(
          [&](Operation *o) { return lowerAtomic(o); })
      .Case([&](tile::LoadOp o) { return lowerScalarLoad(o); })
      .Case([&](tile::ReduceOp o) { return lowerReduce(o); })
      .Case([&](tile::ScanOp o) { return lowerScan(o); })
      .Case([&](tile::RecurrenceOp o) { return lowerRecurrence(o); })
      .Case([&](tile::HistogramOp o) { return lowerHistogram(o); })
      .Case([&](tile::SortOp o) { return lowerSort(o); })
      .Case([&](tile::MapOp o) { return lowerMap(o); })
      .Case([&](tile::DotOp o) { return lowerDot(o); })
      .Case<tile::ReshapeOp, tile::JoinOp, tile::ConcatOp, tile::InsertOp>(
          [&](Operation *o) { return lowerShapeRoot(o); })
      .Case([&](scf::ForOp o) { return lowerFor(o); })
      .Case([&](scf::IfOp o) { return lowerIf(o); })
      .Case([&](scf::WhileOp o) { return lowerWhile(o); })
      .Case([&](tile::PrintOp o) { return lowerPrint(o); })
      .Case([&](tile::AssertOp o) { return lowerAssert(o); })
      .Case<tile::BarrierOp, tile::AssumeOp>(
          [&](Operation *) { return success(); })
      .Default([&](Operation *o) { return lowerScalarOp(o); });
}

LogicalResult Lowering::lowerScalarOp(Operation *op) {
  if (auto program = dyn_cast<tile::ProgramIdOp>(op)) {
    mapScalar(program.getResult(), programs[program.getAxis()]);
    return success();
  }
  if (auto programCount = dyn_cast<tile::NumProgramsOp>(op)) {
    mapScalar(programCount.getResult(), grid[programCount.getAxis()]);
    return success();
  }
  if (isa<tile::HintOp, tile::PtrCastOp, tile::PtrToIntOp, tile::IntToPtrOp>(
          op)) {
    mapScalar(op->getResult(0), scalar(op->getOperand(0)));
    return success();
  }
  if (auto addptr = dyn_cast<tile::AddPtrOp>(op)) {
    auto pointee = cast<tile::PtrType>(addptr.getType()).getPointeeType();
    Value offset = scalar(addptr.getOffset());
    if (offset.getType().getIntOrFloatBitWidth() < 64)
      offset = b.createOrFold<arith::ExtSIOp>(b.getI64Type(), offset);
    mapScalar(
        addptr.getResult(),
        addIndex(scalar(addptr.getPtr()), mulIndex(offset, byteSize(pointee))));
    return success();
  }
  if (auto clamp = dyn_cast<tile::ClampOp>(op)) {
    mapScalar(clamp.getResult(),
              clamped(clamp, scalar(clamp.getSource()), scalar(clamp.getLow()),
                      scalar(clamp.getHigh())));
    return success();
  }
  if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    Coords at;
    for (Value offset : slice.getOffsets())
      at.push_back(
          {b.createOrFold<arith::ExtSIOp>(b.getI64Type(), scalar(offset)), 0});
    lanes = 1;
    Cache outer;
    std::swap(outer, cache);
    prepare(slice.getSource(), {-1});
    mapScalar(slice.getResult(), eval(slice.getSource(), at).v);
    std::swap(outer, cache);
    return success();
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return op->emitOpError("is not supported on the cpu target");
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return scalar(v); });
  SmallVector<Type> types = llvm::map_to_vector(
      op->getResultTypes(), [](Type t) { return registerType(t); });
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  Operation *created = b.create(state);
  SmallVector<Value> folded;
  if (succeeded(b.tryFold(created, folded)) &&
      folded.size() == op->getNumResults()) {
    created->erase();
    for (auto [old, now] : llvm::zip_equal(op->getResults(), folded))
      mapScalar(old, now);
    return success();
  }
  for (auto [old, now] :
       llvm::zip_equal(op->getResults(), created->getResults()))
    mapScalar(old, now);
  return success();
}
