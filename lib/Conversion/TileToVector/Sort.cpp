//===- Sort.cpp - Sorting networks as loops -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bitonic network is three loops: over blocks of 2, 4, .., n elements, over
// distances from half a block down to 1, over pairs at that distance. Where
// lanes run across the rows, an exchange is one of whole vectors. Where they
// run along the axis, the distances within a vector are shuffles of it, the
// only ones that are written out. So the code does not grow with the extent.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// Whether element `i` is in a block that is sorted against the others.
static Value isInOddBlock(ImplicitLocOpBuilder &b, Value i, Value block) {
  Value bit = arith::AndIOp::create(b, i, block);
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, zero);
}

void Lowering::exchange(const Network &net, const Coords &low,
                        const Coords &high, Value isOdd) {
  Value a = loadBuffer(net.buffer, low).v, c = loadBuffer(net.buffer, high).v;
  Value swap = tile::sortsBehind(b, net.op, a, c);
  Value turned = isOdd;
  if (net.isDescending)
    turned = arith::XOrIOp::create(b, turned, constant(1, b.getI1Type()));
  swap = arith::XOrIOp::create(b, swap, asVector({turned, 0, false}));
  storeBuffer(net.buffer, low,
              {arith::SelectOp::create(b, swap, c, a), 0, lanes > 1});
  storeBuffer(net.buffer, high,
              {arith::SelectOp::create(b, swap, a, c), 0, lanes > 1});
}

/// All exchanges at a distance within a vector. `block` says which lanes sort
/// downwards, `isOdd` (or null) whether the whole vector does.
Value Lowering::exchangeLanes(const Network &net, Value x, int64_t distance,
                              int64_t block, Value isOdd) {
  SmallVector<int64_t> lower, upper;
  SmallVector<bool> turned;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    lower.push_back(lane & ~distance);
    upper.push_back(lane | distance);
    turned.push_back(((lane & distance) != 0) ^ ((lane & block) != 0) ^
                     net.isDescending);
  }
  Value low = vector::ShuffleOp::create(b, x, x, lower);
  Value high = vector::ShuffleOp::create(b, x, x, upper);
  Value swap = tile::sortsBehind(b, net.op, low, high);
  auto type = cast<VectorType>(swap.getType());
  Value lanesTurned =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, turned));
  if (isOdd)
    lanesTurned =
        arith::XOrIOp::create(b, lanesTurned, asVector({isOdd, 0, false}));
  swap = arith::XOrIOp::create(b, swap, lanesTurned);
  return arith::SelectOp::create(b, swap, high, low);
}

/// The end of a block's merge: from a distance within a vector down to 1.
Value Lowering::mergeLanes(const Network &net, Value x, int64_t distance,
                           int64_t block, Value isOdd) {
  for (; distance >= 1; distance /= 2)
    x = exchangeLanes(net, x, distance, block, isOdd);
  return x;
}

/// Sends each vector of a row along the axis through `body`.
void Lowering::forVectors(const Network &net, const Coords &row,
                          function_ref<Value(Value, Value)> body) {
  forLoop(
      0, net.size, lanes, {},
      [&](Value base, ValueRange) {
        Coords at(row);
        at[net.axis] = {base, 1};
        Value x = loadBuffer(net.buffer, at).v;
        storeBuffer(net.buffer, at, {body(base, x), 0, true});
        return SmallVector<Value>();
      },
      nullptr);
}

/// A loop over `from, .., to - 1` with a run-time end.
static void countTo(ImplicitLocOpBuilder &b, Value from, Value to, Value step,
                    function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// The stages of one block, down to a distance of `width` elements: that of a
/// vector along the axis, or 1 across. `level` is the logarithm of the block.
void Lowering::mergeFar(const Network &net, const Coords &row, int64_t width,
                        Value level, Value block) {
  Value one = index(1);
  Value stages = arith::SubIOp::create(b, level, index(llvm::Log2_64(width)));
  countTo(b, index(0), stages, one, [&](Value stage) {
    Value above = arith::SubIOp::create(b, level, stage);
    Value shift = arith::SubIOp::create(b, above, one);
    Value distance = arith::ShLIOp::create(b, one, shift);
    Value inside = arith::SubIOp::create(b, distance, one);
    countTo(b, index(0), index(net.size / 2), index(width), [&](Value pair) {
      // The pair's number with a zero put in where partners differ.
      Value group = arith::ShRUIOp::create(b, pair, shift);
      Value start = arith::ShLIOp::create(b, group, above);
      Value i = arith::OrIOp::create(b, start,
                                     arith::AndIOp::create(b, pair, inside));
      Coords low(row), high(row);
      low[net.axis] = {i, width > 1 ? 1 : 0};
      high[net.axis] = {addIndex(i, distance), width > 1 ? 1 : 0};
      exchange(net, low, high, isInOddBlock(b, i, block));
    });
  });
}

/// One row along the axis, or as many across it as there are lanes.
void Lowering::sortRow(const Network &net, const Coords &row, bool isAlong) {
  int64_t width = isAlong ? lanes : 1;
  int64_t first = net.isBitonic ? net.size : 2;
  if (first <= width)
    forVectors(net, row, [&](Value base, Value x) {
      for (int64_t block = first; block <= width; block *= 2) {
        // A block of a vector and more turns all of its lanes.
        bool isWhole = block == width;
        Value isOdd = isWhole ? isInOddBlock(b, base, index(width)) : Value();
        x = mergeLanes(net, x, block / 2, isWhole ? 0 : block, isOdd);
      }
      return x;
    });
  first = std::max(first, 2 * width);
  if (first > net.size)
    return;
  forLoop(
      llvm::Log2_64(first), llvm::Log2_64(net.size) + 1, 1, {},
      [&](Value level, ValueRange) {
        Value block = arith::ShLIOp::create(b, index(1), level);
        mergeFar(net, row, width, level, block);
        if (width > 1)
          forVectors(net, row, [&](Value base, Value x) {
            return mergeLanes(net, x, width / 2, 0,
                              isInOddBlock(b, base, block));
          });
        return SmallVector<Value>();
      },
      nullptr);
}

LogicalResult Lowering::lowerSort(tile::SortOp op) {
  if (op.getTurnedBit())
    return op.emitOpError("has rows that sort the other way: expected one "
                          "direction, parts of a network are for GPUs");
  auto type = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  int64_t axis = op.getAxis(), extent = shape[axis], saved = lanes;
  Network net{{},
              op,
              axis,
              int64_t{1} << tile::sortLevels(op),
              op.getDescending(),
              op.getBitonic()};
  // What it reads comes first: where that lies decides this buffer's layout.
  prepare(op.getSource(), shape);
  int64_t vectorDim = pickVectorDim(shape, op.getSource());
  SmallVector<int64_t> padded(shape), missing(shape), rows(shape);
  padded[axis] = net.size;
  missing[axis] = net.size - extent;
  rows[axis] = 1;
  net.buffer =
      allocate(element, padded, std::max<int64_t>(0, vectorDim), false);
  copyInto(op.getSource(), net.buffer);
  buffers[op.getResult()] = net.buffer;
  int64_t width = lanesFor(op.getSource());
  if (missing[axis] > 0) {
    Value last = arith::ConstantOp::create(b, op.getLast());
    forStrips(missing, vectorDim, width, [&](const Coords &at) {
      Coords behind(at);
      behind[axis].base = addIndex(at[axis].base, index(extent));
      storeBuffer(net.buffer, behind, {last, 0, false});
    });
  }
  bool isAlong = vectorDim == axis;
  if (net.size > 1)
    forStrips(rows, isAlong ? -1 : vectorDim, width, [&](const Coords &row) {
      if (isAlong)
        lanes = std::min(width, net.size);
      sortRow(net, row, isAlong);
    });
  lanes = saved;
  return success();
}
