//===- ExpandSort.cpp - Sorts as exchanges of halves ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage of the network exchanges partners at a distance d. They are the two
// halves of dimension 2 of [rows, n / 2d, 2, d], so a stage is
//
//   low, high = split(transpose(reshape(x)))
//   swap      = low > high, turned around where blocks sort downwards
//   x         = reshape(transpose(join(swap ? high : low, swap ? low : high)))
//
// A long row that several warps share is one of parts: each warp sorts its
// part, every other one the other way round; of the merges that follow, the
// stages between parts are exchanges, and what is left is a merge of each part.
//
// Contract: Passes.td. Every case: test/Dialect/Tile/expand-sort.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Checks.h"
#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <utility>

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_TILEEXPANDSORT
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

class Expansion {
public:
  /// Of rows in `parts` parts, each for a warp; 1 for exchanges alone.
  Expansion(tile::SortOp op, int64_t parts)
      : op(op), b(op.getLoc(), op), parts(parts) {}

  void run() {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t rank = type.getRank(), axis = op.getAxis();
    SmallVector<int32_t> order, back(rank);
    for (int32_t dim = 0; dim < rank; ++dim)
      if (dim != axis)
        order.push_back(dim);
    order.push_back(axis);
    for (auto [place, dim] : llvm::enumerate(order))
      back[dim] = place;
    Value moved = transpose(op.getSource(), order);
    int64_t extent = type.getDimSize(axis);
    rows = type.getNumElements() / extent;
    size = int64_t{1} << tile::sortLevels(op);
    Value x = padded(reshape(moved, {rows, extent}), extent);
    x = parts > 1 ? sortParts(x) : exchangeAll(x);
    if (extent != size)
      x = first(x, extent);
    x = reshape(x, tile::getShape(moved.getType()));
    op.replaceAllUsesWith(transpose(x, back));
    op.erase();
  }

private:
  Value transpose(Value value, ArrayRef<int32_t> order) {
    if (llvm::is_sorted(order))
      return value;
    return tile::TransposeOp::create(b, value, order);
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    return tile::ReshapeOp::create(b, type.clone(shape), value);
  }

  Value splat(TypedAttr value, ArrayRef<int64_t> shape) {
    Value scalar = arith::ConstantOp::create(b, value);
    return tile::SplatOp::create(
        b, RankedTensorType::get(shape, value.getType()), scalar);
  }

  Value padded(Value x, int64_t extent) {
    if (extent == size)
      return x;
    Value padding = splat(op.getLast(), {rows, size - extent});
    return tile::ConcatOp::create(b, x, padding, 1);
  }

  /// The first `extent` columns.
  Value first(Value x, int64_t extent) {
    Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
    int32_t sizes[] = {static_cast<int32_t>(rows),
                       static_cast<int32_t>(extent)};
    auto type = cast<RankedTensorType>(x.getType()).clone({rows, extent});
    return tile::SliceOp::create(b, type, x, ValueRange{zero, zero}, sizes,
                                 ArrayRef<int32_t>{1, 1}, ArrayRef<int32_t>{});
  }

  /// Which pairs sort downwards: blocks in turns, the first one upwards unless
  /// the whole sorts downwards. Null if none does.
  Value direction(int64_t distance, int64_t block) {
    int64_t groups = size / (2 * distance);
    SmallVector<int64_t> shape = {1, groups, 1};
    if (block >= size)
      return op.getDescending() ? splat(b.getBoolAttr(true), shape) : Value();
    Value group = tile::ArangeOp::create(b, 0, static_cast<int32_t>(groups));
    group = reshape(group, shape);
    Value bit = splat(b.getI32IntegerAttr(block / (2 * distance)), shape);
    Value odd = arith::AndIOp::create(b, group, bit);
    return arith::CmpIOp::create(b,
                                 op.getDescending() ? arith::CmpIPredicate::eq
                                                    : arith::CmpIPredicate::ne,
                                 odd, splat(b.getI32IntegerAttr(0), shape));
  }

  Value exchangeAll(Value x) {
    for (tile::SortStage stage : tile::sortStages(op))
      x = exchange(x, int64_t{1} << stage.distance, int64_t{1} << stage.block);
    return x;
  }

  /// Each part of the rows by itself: the whole network of its size, or the
  /// last merge; the end of the merge of blocks of 2^`block` elements.
  Value sortEachPart(Value x, unsigned block, bool isMerge) {
    unsigned own = llvm::Log2_64(size / parts);
    IntegerAttr turned;
    if ((int64_t{1} << block) < size)
      turned = b.getI32IntegerAttr(static_cast<int32_t>(block - own));
    Value rowsOfParts = reshape(x, {rows * parts, size / parts});
    Value sorted = tile::SortOp::create(
        b, rowsOfParts.getType(), rowsOfParts, b.getI32IntegerAttr(1),
        op.getDescendingAttr(), op.getIsUnsignedAttr(),
        isMerge ? b.getUnitAttr() : UnitAttr(), turned);
    return reshape(sorted, {rows, size});
  }

  Value sortParts(Value x) {
    unsigned own = llvm::Log2_64(size / parts);
    if (!op.getBitonic())
      x = sortEachPart(x, own, /*isMerge=*/false);
    unsigned merged = 0; // whose last stages are left to each part
    for (tile::SortStage stage : tile::sortStages(op)) {
      if (stage.block <= own)
        continue;
      if (stage.distance >= own) {
        if (merged)
          x = sortEachPart(x, std::exchange(merged, 0), /*isMerge=*/true);
        x = exchange(x, int64_t{1} << stage.distance,
                     int64_t{1} << stage.block);
      } else {
        merged = stage.block;
      }
    }
    return merged ? sortEachPart(x, merged, /*isMerge=*/true) : x;
  }

  Value exchange(Value x, int64_t distance, int64_t block) {
    constexpr int32_t order[] = {0, 1, 3, 2};
    Value downwards = direction(distance, block);
    Value pairs = transpose(
        reshape(x, {rows, size / (2 * distance), 2, distance}), order);
    auto split = tile::SplitOp::create(b, pairs);
    Value low = split.getLhs(), high = split.getRhs();
    Value swap = tile::sortsBehind(b, op, low, high);
    if (downwards) {
      if (downwards.getType() != swap.getType())
        downwards = tile::BroadcastOp::create(b, swap.getType(), downwards);
      swap = arith::XOrIOp::create(b, swap, downwards);
    }
    Value least = arith::SelectOp::create(b, swap, high, low);
    Value greatest = arith::SelectOp::create(b, swap, low, high);
    Value joined = tile::JoinOp::create(b, least, greatest);
    return reshape(transpose(joined, order), {rows, size});
  }

  tile::SortOp op;
  ImplicitLocOpBuilder b;
  int64_t parts, rows = 1, size = 1;
};

/// How many parts of a row are sorted by loops, each by a warp: none (0) if the
/// network is short enough to be written out.
int64_t partsOf(tile::SortOp op, ModuleOp module, int64_t mostExchanges) {
  auto target = tile::TargetAttr::of(module);
  int64_t warpSize = target && target.getWarpSize() ? target.getWarpSize() : 32;
  auto warps = module->getAttrOfType<IntegerAttr>(tile::kNumWarpsAttr);
  int64_t numWarps = warps ? warps.getInt() : 4;
  int64_t rows = 1, size = int64_t{1} << tile::sortLevels(op);
  for (auto [dim, extent] : llvm::enumerate(tile::getShape(op.getType())))
    if (static_cast<int64_t>(dim) != op.getAxis())
      rows *= llvm::PowerOf2Ceil(extent);
  auto stages = static_cast<int64_t>(tile::sortStages(op).size());
  if (rows * size / (warpSize * numWarps) * stages <= mostExchanges)
    return 0;
  return std::clamp<int64_t>(numWarps / rows, 1,
                             std::max<int64_t>(1, size / 2));
}

struct TileExpandSort : impl::TileExpandSortBase<TileExpandSort> {
  using TileExpandSortBase::TileExpandSortBase;

  void runOnOperation() override {
    SmallVector<std::pair<tile::SortOp, int64_t>> sorts;
    getOperation().walk([&](tile::SortOp op) {
      int64_t parts = partsOf(op, getOperation(), most);
      if (parts != 1)
        sorts.emplace_back(op, parts);
    });
    for (auto [op, parts] : sorts)
      Expansion(op, parts).run();
  }
};

} // namespace
} // namespace terrazzo
