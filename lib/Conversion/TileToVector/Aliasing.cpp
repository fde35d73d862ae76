//===- Aliasing.cpp - Loads beside the store that they feed ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store's value is evaluated strip by strip between its writes, but means
// what memory held before all of them. That is the same if each strip is
// written where it was read, or if the arrays do not overlap. Two arguments of
// a kernel may be parts of one array, so whether they overlap is decided when
// the kernel runs, from the first and the last byte that each tile may touch;
// where they do, the value goes through a buffer.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Analysis/PointerOrigin.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// A tile of one value.
static bool isUniform(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<tile::SplatOp>(op) ||
         (isa<tile::BroadcastOp, tile::ExpandDimsOp>(op) &&
          isUniform(op->getOperand(0)));
}

/// Whether a tile is a sum of terms of one dimension each, every one of them
/// monotone: then its extremes are at its corners.
static bool hasCorners(Value tile, int depth = 0) {
  Operation *op = tile.getDefiningOp();
  if (!op || depth > 32)
    return false;
  if (isa<tile::ArangeOp>(op) || isUniform(tile))
    return true;
  if (isa<arith::MulIOp>(op) && !isUniform(op->getOperand(0)) &&
      !isUniform(op->getOperand(1)))
    return false;
  return isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp,
             tile::AddPtrOp, tile::HintOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::ExtSIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return hasCorners(operand, depth + 1);
         });
}

Lowering::Relation Lowering::relationOf(tile::LoadOp load,
                                        tile::StoreOp store) {
  bool elsewhere = false;
  for (Value operand : store->getOperands())
    dependsOn(operand, load.getResult(), elsewhere);
  Value from = load.getPtr(), to = store.getPtr();
  stripCommonSteps(from, to);
  if (from == to)
    return elsewhere ? Relation::Unknown : Relation::InPlace;
  BlockArgument read = pointerOrigin(load.getPtr()),
                written = pointerOrigin(store.getPtr());
  if (!read || !written || read == written || !hasCorners(load.getPtr()) ||
      !hasCorners(store.getPtr()))
    return Relation::Unknown;
  bool isAlike = from == read && to == written;
  return isAlike && !elsewhere ? Relation::InPlaceOrApart : Relation::Apart;
}

bool Lowering::isReadToo(tile::StoreOp store) {
  BlockArgument written = pointerOrigin(store.getPtr());
  auto mayRead = [&](tile::LoadOp load) {
    BlockArgument read = pointerOrigin(load.getPtr());
    return !read || read == written ? WalkResult::interrupt()
                                    : WalkResult::advance();
  };
  return !written ||
         store->getParentOfType<func::FuncOp>().walk(mayRead).wasInterrupted();
}

std::pair<Value, Value> Lowering::extremes(Value pointers) {
  ArrayRef<int64_t> shape = tile::getShape(pointers.getType());
  auto pointee = cast<tile::PtrType>(tile::getElementType(pointers.getType()))
                     .getPointeeType();
  int64_t saved = std::exchange(lanes, 1);
  Value low, high;
  withFreshCache([&] {
    Value first = eval(pointers, identity(shape)).v;
    low = high = first;
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      if (extent == 1)
        continue;
      Coords corner = identity(shape);
      corner[dim] = {index(extent - 1), 0};
      Value span =
          b.createOrFold<arith::SubIOp>(eval(pointers, corner).v, first);
      low = addIndex(low, b.createOrFold<arith::MinSIOp>(span, index(0)));
      high = addIndex(high, b.createOrFold<arith::MaxSIOp>(span, index(0)));
    }
  });
  lanes = saved;
  return {low, addIndex(high, index(byteSize(pointee)))};
}

Value Lowering::overlapsWhatFeeds(tile::StoreOp store) {
  SmallVector<Value> work(store->operand_begin(), store->operand_end());
  DenseSet<Value> seen, compared;
  Value overlaps;
  std::optional<std::pair<Value, Value>> written;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    Operation *op = tile.getDefiningOp();
    if (!op || !isa<RankedTensorType>(tile.getType()) || isInBuffer(tile) ||
        !seen.insert(tile).second)
      continue;
    work.append(op->operand_begin(), op->operand_end());
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load)
      continue;
    Relation relation = relationOf(load, store);
    assert(relation != Relation::Unknown && "such a load is in a buffer");
    if (relation == Relation::InPlace || !compared.insert(load.getPtr()).second)
      continue;
    if (!written)
      written = extremes(store.getPtr());
    auto [low, high] = extremes(load.getPtr());
    auto less = [&](Value lhs, Value rhs) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lhs, rhs);
    };
    Value here = arith::AndIOp::create(b, less(low, written->second),
                                       less(written->first, high));
    if (relation == Relation::InPlaceOrApart)
      here = arith::AndIOp::create(
          b, here,
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, low,
                                written->first));
    overlaps = overlaps ? arith::OrIOp::create(b, overlaps, here) : here;
  }
  return overlaps;
}
