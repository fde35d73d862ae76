//===- DotAmx.cpp - Products in tile registers (AMX) ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All tiles are 16 rows of 64 bytes. The eight registers are fixed: four of
// sums, which stay there over all of K, and two for each operand. Sums at the
// edges go through a block of their own, since tiles are loaded and stored
// whole. The registers are configured where the kernel's entry begins and
// released where it ends; the runtime's callbacks leave them alone.
//
// LLVM also has tiles as values (and so has MLIR's amx dialect, which takes
// memrefs), but its configuration leaves out registers whose shape it holds in
// a register that it splits; docs/LOG.md says more.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

static constexpr int64_t kSide = 16, kRowBytes = 64;
static constexpr int kTiles = 8;

namespace {

/// Emits the instructions on tile registers, which are numbers.
class TileEmitter {
public:
  explicit TileEmitter(ImplicitLocOpBuilder &b) : b(b) {}

  void load(int tile, Value ptr, Value stride) {
    call("tileloadd64", {number(tile), ptr, stride});
  }
  void store(int tile, Value ptr, Value stride) {
    call("tilestored64", {number(tile), ptr, stride});
  }
  void multiply(llvm::StringRef name, int sum, int lhs, int rhs) {
    call(name, {number(sum), number(lhs), number(rhs)});
  }
  void clear(int tile) { call("tilezero", number(tile)); }
  void configure(Value ptr) { call("ldtilecfg", ptr); }
  void release() { call("tilerelease", {}); }

private:
  Value number(int tile) {
    return arith::ConstantOp::create(b, b.getI8IntegerAttr(tile));
  }
  void call(llvm::StringRef name, ValueRange operands) {
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + name),
                                  operands);
  }

  ImplicitLocOpBuilder &b;
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

void Lowering::configureTiles() {
  if (hasTiles)
    return;
  hasTiles = true;
  // Palette 1; from byte 16 on bytes of the rows of each tile, two bytes a
  // number, from 48 on their numbers of rows.
  uint64_t words[8] = {1};
  for (int tile = 0; tile < kTiles; ++tile) {
    words[2 + tile / 4] |= uint64_t(kRowBytes) << (16 * (tile % 4));
    words[6] |= uint64_t(kSide) << (8 * tile);
  }
  OpBuilder::InsertionGuard guard(b);
  Block &entry = function.getBody().front();
  b.setInsertionPoint(entry.getTerminator());
  TileEmitter(b).release();
  Value memory = allocateBytes(sizeof(words));
  b.setInsertionPointAfterValue(memory);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value place =
        LLVM::GEPOp::create(b, memory.getType(), b.getI64Type(), memory,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(
        b,
        arith::ConstantOp::create(
            b, b.getI64IntegerAttr(static_cast<int64_t>(word))),
        place, 8);
  }
  TileEmitter(b).configure(memory);
}

/// acc[row.., column..] += lhs[row.., :] @ rhs[:, column..]; `rows` and
/// `columns` of it exist.
void Lowering::tileBlock(const Product &product, Value row, Value column,
                         int64_t rowTiles, int64_t columnTiles, int64_t rows,
                         int64_t columns) {
  TileEmitter tiles(b);
  const Buffer &rhs = product.rhs;
  llvm::StringRef name = isa<FloatType>(product.acc.element) ? "tdpbf16ps"
                         : product.isUnsigned                ? "tdpbuud"
                                                             : "tdpbssd";
  auto at = [&](const Buffer &buffer, Value i, Value j) {
    return elementPtr(buffer, elementOffset(buffer, {{i, 0}, {j, 0}}).first);
  };
  auto rowStride = [&](const Buffer &buffer) {
    return index(4 * buffer.strides[0]);
  };
  // The rows of lhs are as far apart as is known at run time.
  auto leftAt = [&](int64_t r, Value k) {
    Value start = arith::MulIOp::create(b, addIndex(row, index(r * kSide)),
                                        product.pitch);
    Buffer bytes = product.lhs;
    bytes.element = b.getI8Type();
    return elementPtr(bytes, addIndex(start, mulIndex(k, 4)));
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
  if (!isWhole)
    block = allocate(acc.element, {rowTiles * kSide, columnTiles * kSide}, 1,
                     false);
  auto sumOf = [](int64_t r, int64_t c) { return static_cast<int>(2 * r + c); };
  auto leftOf = [](int64_t r) { return static_cast<int>(4 + r); };
  auto rightOf = [](int64_t c) { return static_cast<int>(6 + c); };
  auto eachSum = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t r = 0; r < rowTiles; ++r)
      for (int64_t c = 0; c < columnTiles; ++c)
        body(r, c);
  };
  auto loadSums = [&] {
    if (!isWhole)
      copy(acc, block);
    eachSum([&](int64_t r, int64_t c) {
      tiles.load(sumOf(r, c), at(block, index(r * kSide), index(c * kSide)),
                 rowStride(block));
    });
  };
  auto clearSums = [&] {
    eachSum([&](int64_t r, int64_t c) { tiles.clear(sumOf(r, c)); });
  };
  if (product.isFirst)
    either(product.isFirst, clearSums, loadSums);
  else
    loadSums();
  forLoop(
      0, product.k, kSide, {},
      [&](Value k, ValueRange) {
        for (int64_t r = 0; r < rowTiles; ++r)
          tiles.load(leftOf(r), leftAt(r, k), product.pitch);
        for (int64_t c = 0; c < columnTiles; ++c)
          tiles.load(rightOf(c), at(rhs, k, addIndex(column, index(c * kSide))),
                     rowStride(rhs));
        eachSum([&](int64_t r, int64_t c) {
          tiles.multiply(name, sumOf(r, c), leftOf(r), rightOf(c));
        });
        return SmallVector<Value>();
      },
      nullptr);
  eachSum([&](int64_t r, int64_t c) {
    tiles.store(sumOf(r, c), at(block, index(r * kSide), index(c * kSide)),
                rowStride(block));
  });
  if (!isWhole)
    copy(block, acc);
}

void Lowering::multiplyTiles(const Product &product) {
  configureTiles();
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
