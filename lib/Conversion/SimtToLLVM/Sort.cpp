//===- Sort.cpp - Sorting networks within a warp --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partners of a stage differ in one bit of the axis: two registers are compared
// and exchanged; of two lanes, each gets the other's value and keeps one of
// both.
// Tests: test/Conversion/SimtToLLVM/loops.mlir, test/python/simt/test_sort.py.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

struct Lowering::Network {
  Lowering &l;
  ImplicitLocOpBuilder &b;
  tile::SortOp op;
  SmallVector<AxisBit> bits;
  Registers values;
  AxisBit rowBit = {}; ///< of rows that sort the other way
  Value isRowTurned;   ///< if that is a warp's

  LogicalResult findRowBit(Distribution &d);
  Value turned(Value swap, uint32_t r, size_t level);
  void exchangeRegisters(uint32_t r, uint32_t partner, size_t level);
  void exchangeLanes(uint32_t r, unsigned bit, size_t level);
};

/// The answer for a block that sorts the other way: every other one does, the
/// last one, which is the row, by the row.
Value Lowering::Network::turned(Value swap, uint32_t r, size_t level) {
  bool isTurned = op.getDescending();
  AxisBit bit = level < bits.size() ? bits[level] : rowBit;
  if (level >= bits.size() && isRowTurned)
    swap = arith::XOrIOp::create(b, swap, isRowTurned);
  else if (bit.kind == AxisBit::Lane)
    swap = arith::XOrIOp::create(b, swap, l.laneBit(bit.bit));
  else if (bit.kind == AxisBit::Counter)
    swap = arith::XOrIOp::create(b, swap, l.counterBit(bit.bit));
  else if (bit.kind == AxisBit::Register)
    isTurned ^= (r >> bit.bit & 1) != 0;
  return isTurned ? l.negated(swap) : swap;
}

void Lowering::Network::exchangeRegisters(uint32_t r, uint32_t partner,
                                          size_t level) {
  Value low = values[r], high = values[partner];
  Value swap = turned(tile::sortsBehind(b, op, low, high), r, level);
  values[r] = arith::SelectOp::create(b, swap, high, low);
  values[partner] = arith::SelectOp::create(b, swap, low, high);
}

void Lowering::Network::exchangeLanes(uint32_t r, unsigned bit, size_t level) {
  Value own = values[r], other = l.shuffleXor(own, int32_t{1} << bit);
  Value low = arith::SelectOp::create(b, l.laneBit(bit), other, own);
  Value high = arith::SelectOp::create(b, l.laneBit(bit), own, other);
  Value swap = turned(tile::sortsBehind(b, op, low, high), r, level);
  values[r] = arith::SelectOp::create(b, swap, other, own);
}

LogicalResult Lowering::Network::findRowBit(Distribution &d) {
  std::optional<uint32_t> place = op.getTurnedBit();
  if (!place)
    return success();
  FailureOr<SmallVector<AxisBit>> rows = l.axisBits(op, d, 0);
  if (failed(rows))
    return failure();
  rowBit = (*rows)[*place];
  if (rowBit.kind == AxisBit::Warp) {
    l.computeThread(d);
    Value bit = arith::AndIOp::create(b, d.thread[0], l.i32(1 << *place));
    isRowTurned =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, l.i32(0));
  }
  return success();
}

LogicalResult Lowering::lowerSort(tile::SortOp op) {
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  Distribution &d = distribution(type);
  int64_t axis = op.getAxis();
  FailureOr<SmallVector<AxisBit>> bits = axisBits(op, d, axis);
  if (failed(bits))
    return failure();
  if (llvm::any_of(*bits,
                   [](AxisBit bit) { return bit.kind == AxisBit::Warp; }))
    return op.emitOpError("expected the axis within a warp, found it across "
                          "warps: the sort should have been decomposed");
  Network net{*this, b, op, *bits, Registers(registersOf(op.getSource())),
              {},    {}};
  if (failed(net.findRowBit(d)))
    return failure();
  Value last;
  bool isFirst = !window || window->isFirstPass;
  for (uint32_t r : d.unique) {
    if (!isFirst)
      break;
    Value isThere = inBoundsAlong(type, r, axis);
    if (!isThere)
      continue;
    if (!last)
      atEntry([&] { last = arith::ConstantOp::create(b, op.getLast()); });
    net.values[r] =
        isThere == never()
            ? last
            : arith::SelectOp::create(b, isThere, net.values[r], last)
                  .getResult();
  }
  for (auto [level, place] :
       window && window->pass ? window->pass->stages : tile::sortStages(op)) {
    AxisBit bit = (*bits)[place];
    uint32_t partner = uint32_t{1} << bit.bit;
    for (uint32_t r : d.unique) {
      if (bit.kind == AxisBit::Lane)
        net.exchangeLanes(r, bit.bit, level);
      else if ((r & partner) == 0)
        net.exchangeRegisters(r, r | partner, level);
    }
  }
  setEach(op.getResult(), [&](uint32_t r) { return net.values[r]; });
  return success();
}
