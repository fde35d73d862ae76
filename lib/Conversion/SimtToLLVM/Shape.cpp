//===- Shape.cpp - Ops that only rename registers -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such an op says for each element of its result which one of the source it is.
// In the layouts that it has got, lanes and warps already hold their elements;
// which register it is follows from the coordinates.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

LogicalResult Lowering::matchThreads(Operation *op, Distribution &result,
                                     Distribution &source, CoordMap map) {
  for (auto [ours, theirs] : {std::pair{&result.lanes, &source.lanes},
                              std::pair{&result.warps, &source.warps},
                              std::pair{&result.loops, &source.loops}})
    for (auto [basis, other] : llvm::zip_equal(*ours, *theirs))
      if (map(basis) != other)
        return op->emitOpError("expected layouts in which each thread already "
                               "holds its elements: a simt.convert_layout is "
                               "missing");
  return success();
}

LogicalResult Lowering::rename(Operation *op, Value result, Value source,
                               CoordMap map) {
  Distribution &to = distribution(result.getType());
  Distribution &from = distribution(source.getType());
  if (failed(matchThreads(op, to, from, map)))
    return failure();
  ArrayRef<Value> registers = registersOf(source);
  Registers now(to.numRegisters());
  for (uint32_t r = 0; r < to.numRegisters(); ++r) {
    std::optional<uint32_t> other = from.find(map(to.coords[r]));
    if (!other)
      return op->emitOpError("expected layouts in which each thread already "
                             "holds its elements: a simt.convert_layout is "
                             "missing");
    now[r] = registers[*other];
  }
  setRegisters(result, std::move(now));
  return success();
}

LogicalResult Lowering::lowerArange(tile::ArangeOp op) {
  Distribution &d = distribution(op.getType());
  auto start = static_cast<int32_t>(op.getStart());
  setEach(op.getResult(), [&](uint32_t r) -> Value {
    if (start == 0)
      return coordinate(d, r, 0);
    computeThread(d);
    if (!d.thread[0])
      return i32(start + d.coords[r][0]);
    // One sum; of no sign that is known.
    if (d.isDisjoint(0))
      return arith::AddIOp::create(b, d.thread[0], i32(start + d.coords[r][0]),
                                   arith::IntegerOverflowFlags::nsw);
    return arith::AddIOp::create(b, coordinate(d, r, 0), i32(start),
                                 arith::IntegerOverflowFlags::nsw);
  });
  return success();
}

LogicalResult Lowering::lowerShape(Operation *op) {
  Value result = op->getResult(0), source = op->getOperand(0);
  if (isa<tile::SplatOp>(op)) {
    Value value = scalar(source);
    setEach(result, [&](uint32_t) { return value; });
    return success();
  }
  return rename(op, result, source,
                [&](ArrayRef<int32_t> coords) { return sourceOf(op, coords); });
}

/// The logarithm of an extent, padded.
static unsigned bitsOf(int64_t extent) { return llvm::Log2_64_Ceil(extent); }

Coords Lowering::sourceOf(Operation *op, ArrayRef<int32_t> coords) {
  Coords out(coords);
  ArrayRef<int64_t> shape = tile::getShape(op->getOperand(0).getType());
  if (isa<tile::BroadcastOp>(op)) {
    for (auto [coordinate, extent] : llvm::zip_equal(out, shape))
      if (extent == 1)
        coordinate = 0;
  } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    out.erase(out.begin() + expand.getAxis());
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [dim, coordinate] : llvm::zip(transpose.getOrder(), coords))
      out[dim] = coordinate;
  } else if (isa<tile::ReshapeOp>(op)) {
    uint64_t packed = 0;
    for (auto [extent, coordinate] :
         llvm::zip(tile::getShape(op->getResult(0).getType()), coords))
      packed = packed << bitsOf(extent) | static_cast<uint32_t>(coordinate);
    out.resize(shape.size());
    for (size_t dim = shape.size(); dim-- > 0;) {
      unsigned bits = bitsOf(shape[dim]);
      out[dim] = static_cast<int32_t>(packed & ((uint64_t{1} << bits) - 1));
      packed >>= bits;
    }
  }
  return out;
}

/// Takes the last extent off; 1 if there is none.
static int64_t takeLast(ArrayRef<int64_t> &extents) {
  if (extents.empty())
    return 1;
  int64_t last = extents.back();
  extents = extents.drop_back();
  return last;
}

/// Whether row-major positions in two shapes are the same bits: extents but the
/// first of each group of dimensions that correspond are powers of two.
static bool isReshapeOfBits(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  while (!from.empty() || !to.empty()) {
    int64_t left = takeLast(from), right = takeLast(to);
    int64_t lastLeft = left, lastRight = right;
    while (left != right) {
      bool growLeft = left < right;
      ArrayRef<int64_t> &rest = growLeft ? from : to;
      int64_t &last = growLeft ? lastLeft : lastRight;
      // What is not the group's first extent has to be a power of two.
      if (rest.empty() || !llvm::isPowerOf2_64(last))
        return false;
      last = takeLast(rest);
      (growLeft ? left : right) *= last;
    }
  }
  return true;
}

LogicalResult Lowering::lowerReshape(tile::ReshapeOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (!isReshapeOfBits(from.getShape(), to.getShape()))
    return op.emitOpError("expected a reshape by powers of two, found ")
           << from << " to " << to;
  return rename(op, op.getResult(), op.getSource(),
                [&](ArrayRef<int32_t> coords) { return sourceOf(op, coords); });
}

LogicalResult Lowering::lowerJoin(tile::JoinOp op) {
  Distribution &to = distribution(op.getType());
  Distribution &from = distribution(op.getLhs().getType());
  auto map = [](ArrayRef<int32_t> coords) {
    return Coords(coords.drop_back());
  };
  bool movesThreads = to.threadMask.back() != 0;
  if (movesThreads)
    return op.emitOpError("expected both elements of a pair in one thread");
  if (failed(matchThreads(op, to, from, map)))
    return failure();
  ArrayRef<Value> lhs = registersOf(op.getLhs()),
                  rhs = registersOf(op.getRhs());
  Registers now(to.numRegisters());
  for (uint32_t r = 0; r < to.numRegisters(); ++r) {
    std::optional<uint32_t> other = from.find(map(to.coords[r]));
    if (!other)
      return op.emitOpError("expected layouts in which each thread already "
                            "holds its elements: a simt.convert_layout is "
                            "missing");
    now[r] = (to.coords[r].back() ? rhs : lhs)[*other];
  }
  setRegisters(op.getResult(), std::move(now));
  return success();
}

LogicalResult Lowering::lowerSplit(tile::SplitOp op) {
  Distribution &from = distribution(op.getSource().getType());
  if (from.threadMask.back() != 0)
    return op.emitOpError("expected both elements of a pair in one thread");
  for (auto [index, half] : llvm::enumerate(op.getResults())) {
    Distribution &to = distribution(half.getType());
    auto last = [](int32_t value) {
      return [value](ArrayRef<int32_t> coords) {
        Coords out(coords);
        out.push_back(value);
        return out;
      };
    };
    if (failed(matchThreads(op, to, from, last(0))))
      return failure();
    ArrayRef<Value> registers = registersOf(op.getSource());
    Registers now(to.numRegisters());
    for (uint32_t r = 0; r < to.numRegisters(); ++r) {
      std::optional<uint32_t> other =
          from.find(last(static_cast<int32_t>(index))(to.coords[r]));
      if (!other)
        return op.emitOpError("expected layouts in which each thread already "
                              "holds its elements: a simt.convert_layout is "
                              "missing");
      now[r] = registers[*other];
    }
    setRegisters(half, std::move(now));
  }
  return success();
}
