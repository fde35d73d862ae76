//===- Reduce.cpp - Reductions within a warp ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each bit of the axis belongs to a register or a lane bit, and one step for
// each combines the two halves: registers pairwise, lanes by a shuffle after
// which both hold the result. The order of bits gives the tree:
//
//   commutative          registers first, then lanes
//   commutative, strict  from the highest bit down (halving)
//   any other            from the lowest bit up (neighbours), first operand
//                        from the lower index
//
// docs/Rationale/Tile.md defines the strict ones, and that elements beyond the
// axis' extent are left out.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

FailureOr<Lowering::Tuple>
Lowering::combine(Region &region, ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  SmallVector<Value> arguments(lhs), yielded;
  llvm::append_range(arguments, rhs);
  Location saved = b.getLoc();
  if (failed(inlineRegion(region, arguments, yielded)))
    return failure();
  b.setLoc(saved);
  return Tuple(yielded.begin(), yielded.end());
}

Lowering::Tuple Lowering::select(Value condition, ArrayRef<Value> yes,
                                 ArrayRef<Value> no) {
  Tuple out;
  for (auto [one, other] : llvm::zip_equal(yes, no))
    out.push_back(
        one == other
            ? one
            : arith::SelectOp::create(b, condition, one, other).getResult());
  return out;
}

FailureOr<SmallVector<Lowering::AxisBit>>
Lowering::axisBits(Operation *op, Distribution &d, int64_t axis) {
  SmallVector<AxisBit> bits(d.outBits[axis]);
  bool isClean = true;
  auto collect = [&](ArrayRef<Coords> bases, AxisBit::Kind kind) {
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      int32_t step = basis[axis];
      if (step == 0)
        continue;
      int64_t moved = llvm::count_if(basis, [](int32_t c) { return c != 0; });
      unsigned place = llvm::Log2_32(step);
      isClean &= moved == 1 && llvm::isPowerOf2_32(step) &&
                 place < bits.size() && bits[place].kind == AxisBit::None;
      if (isClean)
        bits[place] = {kind, static_cast<unsigned>(bit)};
    }
  };
  collect(d.registers, AxisBit::Register);
  collect(d.lanes, AxisBit::Lane);
  collect(d.warps, AxisBit::Warp);
  collect(d.loops, AxisBit::Counter);
  for (AxisBit bit : bits)
    isClean &= bit.kind != AxisBit::None;
  if (!isClean)
    return op->emitOpError("expected a layout in which each bit of a place "
                           "moves along the axis only or not at all");
  return bits;
}

Value Lowering::isPresent(RankedTensorType type, int64_t axis, uint32_t r,
                          int32_t done, int32_t step) {
  Distribution &d = distribution(type);
  auto extent = static_cast<int32_t>(type.getDimSize(axis));
  if (extent == int32_t{1} << d.outBits[axis])
    return {};
  // The least index that it covers.
  int32_t own = (d.coords[r][axis] & ~done) | step;
  int32_t mask = d.threadMask[axis] & ~done & ~step;
  if ((own | mask) < extent)
    return {};
  if (own >= extent)
    return never();
  computeThread(d);
  Value thread = d.thread[axis];
  if (mask != d.threadMask[axis])
    thread = arith::AndIOp::create(b, thread, i32(mask));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                               i32(extent - own));
}

LogicalResult Lowering::reduceStep(RankedTensorType type, int64_t axis,
                                   Region &region, int32_t done, int32_t step,
                                   AxisBit bit, bool ordered, Rows &rows) {
  Rows next;
  uint32_t mask = bit.kind == AxisBit::Register ? uint32_t{1} << bit.bit : 0;
  // In the order of registers, not of the table.
  for (uint32_t r : distribution(type).unique) {
    auto it = rows.find(r);
    if (it == rows.end() || (r & mask) != 0)
      continue;
    Tuple low = it->second, high;
    Value present = isPresent(type, axis, r, done, step);
    if (present && present == never()) {
      // Lanes differ in this bit, then, but those at 1 hold nothing.
      if (bit.kind == AxisBit::Lane)
        for (Value &value : low)
          value = arith::SelectOp::create(
              b, laneBit(bit.bit), shuffleXor(value, int32_t{1} << bit.bit),
              value);
      next[r] = low;
      continue;
    }
    if (bit.kind == AxisBit::Register) {
      high = rows.find(r | mask)->second;
    } else {
      for (Value value : low)
        high.push_back(shuffleXor(value, int32_t{1} << bit.bit));
      if (ordered || present) {
        Tuple own = low;
        low = select(laneBit(bit.bit), high, own);
        high = select(laneBit(bit.bit), own, high);
      }
    }
    FailureOr<Tuple> both = combine(region, low, high);
    if (failed(both))
      return failure();
    next[r] = present ? select(present, *both, low) : *both;
  }
  rows = std::move(next);
  return success();
}

LogicalResult Lowering::setReduced(Operation *op, int64_t axis, bool keepsAxis,
                                   Rows &rows) {
  Distribution &source = distribution(op->getOperand(0).getType());
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!isTile(result)) {
      setScalar(result, rows.find(0)->second[index]);
      continue;
    }
    Distribution &to = distribution(result.getType());
    // Lanes and warps keep their place in the other dimensions.
    auto map = [&](ArrayRef<int32_t> coords) {
      Coords out(coords);
      if (!keepsAxis)
        out.insert(out.begin() + axis, 0);
      else
        out[axis] = 0;
      return out;
    };
    for (auto [ours, theirs] : {std::pair{&to.lanes, &source.lanes},
                                std::pair{&to.warps, &source.warps}})
      for (auto [basis, other] : llvm::zip_equal(*ours, *theirs)) {
        Coords wanted(other);
        wanted[axis] = 0;
        if (map(basis) != wanted)
          return op->emitOpError("expected the result's layout to be that of "
                                 "the operand without the axis, found ")
                 << result.getType();
      }
    LogicalResult status = success();
    setEach(result, [&](uint32_t r) -> Value {
      auto row = source.find(map(to.coords[r]));
      auto it = row ? rows.find(*row) : rows.end();
      if (it == rows.end()) {
        status = failure();
        return zero(registerType(tile::getElementType(result.getType())));
      }
      return it->second[index];
    });
    if (failed(status))
      return op->emitOpError("expected the result's layout to be that of the "
                             "operand without the axis, found ")
             << result.getType();
  }
  return success();
}

SmallVector<unsigned> Lowering::combineOrder(ArrayRef<AxisBit> bits,
                                             bool commutative) const {
  SmallVector<unsigned> order;
  auto append = [&](AxisBit::Kind kind) {
    for (unsigned i = bits.size(); i-- > 0;)
      if (bits[i].kind == kind)
        order.push_back(i);
  };
  if (commutative && !machine.strict) {
    append(AxisBit::Register);
    append(AxisBit::Lane);
    return order;
  }
  for (unsigned i = 0; i < bits.size(); ++i) {
    unsigned place = commutative ? bits.size() - 1 - i : i;
    if (bits[place].kind != AxisBit::Warp)
      order.push_back(place);
  }
  return order;
}

LogicalResult Lowering::lowerReduce(Operation *op, Region &region, int64_t axis,
                                    bool commutative, bool keepsAxis) {
  if (failed(checkOneLayout(op, op->getOperands())))
    return failure();
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Distribution &d = distribution(type);
  FailureOr<SmallVector<AxisBit>> bits = axisBits(op, d, axis);
  if (failed(bits))
    return failure();
  SmallVector<unsigned> order = combineOrder(*bits, commutative);
  if (!keepsAxis && order.size() != bits->size())
    return op->emitOpError("expected the axis within a warp, found it across "
                           "warps: the reduction should have been decomposed");
  Rows rows;
  for (uint32_t r : d.unique)
    for (Value operand : op->getOperands())
      rows[r].push_back(registersOf(operand)[r]);
  int32_t done = 0;
  for (unsigned place : order) {
    int32_t step = int32_t{1} << place;
    bool ordered = !commutative || machine.strict;
    if (failed(reduceStep(type, axis, region, done, step, (*bits)[place],
                          ordered, rows)))
      return failure();
    done |= step;
  }
  return setReduced(op, axis, keepsAxis, rows);
}
