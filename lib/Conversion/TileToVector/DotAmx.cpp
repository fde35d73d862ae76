//===- DotAmx.cpp - Products in tile registers (AMX) ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All tiles are 16 rows of 64 bytes: a function has one configuration of the
// eight registers, which LLVM derives from the shapes. Four are sums, values
// that the loop over K carries; each of its iterations loads two tiles of each
// operand for four products. Sums at the edges go through a block of their own,
// since tiles are loaded and stored whole.
//
// The intrinsics are those that the amx dialect's ops become. That dialect
// takes memrefs; buffers here are pointers.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

static constexpr int64_t kSide = 16, kRowBytes = 64;

namespace {

/// Emits the operations on tile registers.
class TileEmitter {
public:
  explicit TileEmitter(ImplicitLocOpBuilder &b)
      : b(b), rows(number(kSide)), bytes(number(kRowBytes)) {}

  Value load(Value ptr, Value stride) {
    return call("tileloadd64", {rows, bytes, ptr, stride}, true);
  }
  void store(Value tile, Value ptr, Value stride) {
    call("tilestored64", {rows, bytes, ptr, stride, tile}, false);
  }
  Value multiply(llvm::StringRef name, Value sum, Value lhs, Value rhs) {
    return call(name, {rows, bytes, bytes, sum, lhs, rhs}, true);
  }

private:
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, b.getI16IntegerAttr(value));
  }
  Value call(llvm::StringRef name, ValueRange operands, bool isTile) {
    auto attr = b.getStringAttr("llvm.x86." + name + ".internal");
    if (!isTile) {
      LLVM::CallIntrinsicOp::create(b, attr, operands);
      return {};
    }
    Type tile = LLVM::LLVMX86AMXType::get(b.getContext());
    return LLVM::CallIntrinsicOp::create(b, tile, attr, operands).getResult(0);
  }

  ImplicitLocOpBuilder &b;
  Value rows, bytes;
};

/// A part of a dimension: `count` blocks of `tiles` tiles, or one tile at the
/// edge of which only `valid` rows or columns exist.
struct Segment {
  int64_t start, count, tiles, valid;
};

SmallVector<Segment> segmentsOf(int64_t extent) {
  SmallVector<Segment> segments;
  int64_t full = extent / kSide, pairs = full / 2;
  if (pairs > 0)
    segments.push_back({0, pairs, 2, 2 * kSide});
  if (full % 2)
    segments.push_back({2 * pairs * kSide, 1, 1, kSide});
  if (int64_t rest = extent % kSide)
    segments.push_back({full * kSide, 1, 1, rest});
  return segments;
}

} // namespace

/// acc[row.., column..] += lhs[row.., :] @ rhs[:, column..]; `rows` and
/// `columns` of it exist.
void Lowering::tileBlock(const Product &product, Value row, Value column,
                         int64_t rowTiles, int64_t columnTiles, int64_t rows,
                         int64_t columns) {
  TileEmitter tiles(b);
  const Buffer &lhs = product.lhs, &rhs = product.rhs;
  llvm::StringRef name = isa<FloatType>(product.acc.element) ? "tdpbf16ps"
                         : product.isUnsigned                ? "tdpbuud"
                                                             : "tdpbssd";
  auto at = [&](const Buffer &buffer, Value i, Value j) {
    return elementPtr(buffer, elementOffset(buffer, {{i, 0}, {j, 0}}).first);
  };
  auto rowStride = [&](const Buffer &buffer) {
    return index(4 * buffer.strides[0]);
  };
  Buffer acc = part(product.acc,
                    elementOffset(product.acc, {{row, 0}, {column, 0}}).first,
                    product.acc.strides);
  Buffer block = acc;
  bool isWhole = rows == rowTiles * kSide && columns == columnTiles * kSide &&
                 acc.strides[1] == 1;
  auto copy = [&](const Buffer &from, const Buffer &to) {
    forStrips({rows, columns}, 1, chip.vectorBytes / 4, [&](const Coords &at) {
      storeBuffer(to, at, loadBuffer(from, at));
    });
  };
  if (!isWhole) {
    block = allocate(acc.element, {rowTiles * kSide, columnTiles * kSide}, 1,
                     false);
    copy(acc, block);
  }
  SmallVector<Value> sums, results;
  for (int64_t r = 0; r < rowTiles; ++r)
    for (int64_t c = 0; c < columnTiles; ++c)
      sums.push_back(tiles.load(at(block, index(r * kSide), index(c * kSide)),
                                rowStride(block)));
  forLoop(
      0, product.k, kSide, sums,
      [&](Value k, ValueRange carried) {
        SmallVector<Value> left, right, next;
        for (int64_t r = 0; r < rowTiles; ++r)
          left.push_back(tiles.load(at(lhs, addIndex(row, index(r * kSide)), k),
                                    rowStride(lhs)));
        for (int64_t c = 0; c < columnTiles; ++c)
          right.push_back(tiles.load(
              at(rhs, k, addIndex(column, index(c * kSide))), rowStride(rhs)));
        for (int64_t r = 0; r < rowTiles; ++r)
          for (int64_t c = 0; c < columnTiles; ++c)
            next.push_back(tiles.multiply(name, carried[r * columnTiles + c],
                                          left[r], right[c]));
        return next;
      },
      &results);
  for (int64_t r = 0; r < rowTiles; ++r)
    for (int64_t c = 0; c < columnTiles; ++c)
      tiles.store(results[r * columnTiles + c],
                  at(block, index(r * kSide), index(c * kSide)),
                  rowStride(block));
  if (!isWhole)
    copy(block, acc);
}

void Lowering::multiplyTiles(const Product &product) {
  auto each = [&](const Segment &segment, function_ref<void(Value)> body) {
    if (segment.count == 1)
      return body(index(segment.start));
    int64_t step = segment.tiles * kSide;
    forLoop(
        segment.start, segment.start + segment.count * step, step, {},
        [&](Value start, ValueRange) {
          body(start);
          return SmallVector<Value>();
        },
        nullptr);
  };
  // A panel of columns stays in the first-level cache for all rows.
  for (const Segment &columns : segmentsOf(product.n))
    each(columns, [&](Value column) {
      for (const Segment &rows : segmentsOf(product.m))
        each(rows, [&](Value row) {
          tileBlock(product, row, column, rows.tiles, columns.tiles, rows.valid,
                    columns.valid);
        });
    });
}
