//===- DotGroups.cpp - Products of groups of narrow elements --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors multiply pairs of bf16 or groups of four i8 that are neighbours
// along K, and add the products to one lane of 32 bits. The operands are packed
// for that: rows of the left one with unit stride along K, of the right one in
// the order [K / group, N, group], both seen as buffers of i32. What is missing
// of a last group is zero.
//
// The byte products of vectors (vpdpbusd) are of an unsigned and a signed
// factor. So one operand is moved by 128, by flipping the upper bit, and 128
// times the sum of the other one's elements, the excess, is taken off.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// A tile register is 16 rows of 16 lanes of 32 bits.
static constexpr int64_t kTileSide = 16;
static constexpr int64_t kPageBytes = 4096;

static Type elementOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getElementType();
}

static int64_t groupOf(Type element) { return 4 / byteSize(element); }

DotUnit Lowering::pickUnit(tile::DotOp op) {
  Type lhs = elementOf(op.getLhs()), rhs = elementOf(op.getRhs());
  Type acc = elementOf(op.getAcc());
  bool hasTile = false, hasVector = false;
  // Products in groups are not a chain of fp32 FMAs, which strict mode is.
  if (lhs.isBF16() && rhs.isBF16() && !acc.isF64() && !chip.isStrict)
    hasTile = chip.hasTileBf16, hasVector = chip.hasVectorBf16;
  else if (lhs.isInteger(8) && rhs.isInteger(8) && acc.isInteger(32))
    hasTile = chip.hasTileInt8, hasVector = chip.hasVectorInt8;
  if (!hasTile && !hasVector) // Wider elements make no groups.
    return DotUnit::Single;
  auto type = cast<RankedTensorType>(op.getType());
  int64_t rank = type.getRank();
  int64_t m = type.getDimSize(rank - 2), n = type.getDimSize(rank - 1);
  int64_t k =
      cast<RankedTensorType>(op.getLhs().getType()).getDimSize(rank - 1);
  int64_t groups = llvm::divideCeil(k, groupOf(lhs));
  // Tiles that are mostly padding are slower than vectors.
  constexpr int64_t kHalf = kTileSide / 2;
  if (hasTile && m >= kHalf && n >= kHalf && groups >= kHalf)
    return DotUnit::Tiles;
  return hasVector && k > 1 ? DotUnit::Vectors : DotUnit::Single;
}

void Lowering::packGroups(tile::DotOp op, Product &product) {
  Type element = elementOf(op.getLhs());
  product.element = element;
  int64_t group = groupOf(element);
  bool isTiles = product.unit == DotUnit::Tiles;
  bool isMoved = !isTiles && element.isInteger();
  auto rounded = [&](int64_t extent) {
    return isTiles ? static_cast<int64_t>(llvm::alignTo(extent, kTileSide))
                   : extent;
  };
  int64_t groups = rounded(llvm::divideCeil(product.k, group));
  // Sums over a row are taken by whole vectors.
  int64_t rowGroups =
      isMoved ? llvm::alignTo(groups, chip.vectorBytes / 4) : groups;
  if (!isTiles || !takeRowsInPlace(op.getLhs(), product, groups * group)) {
    product.lhs = packRows(op.getLhs(), rounded(product.m), rowGroups * group,
                           isMoved && !product.isUnsigned);
    product.pitch = index(4 * product.lhs.strides.end()[-2]);
  }
  product.rhs = packColumns(op.getRhs(), rounded(product.n), groups * group,
                            isMoved && product.isUnsigned);
  product.k = groups;
  if (isMoved)
    product.excess = excessOf(
        product, cast<RankedTensorType>(op.getType()).getShape().drop_back(2));
}

/// A buffer of narrow elements, seen as groups along `dim`.
static Buffer asGroups(Buffer buffer, int64_t dim, OpBuilder &b) {
  int64_t group = groupOf(buffer.element);
  buffer.element = b.getI32Type();
  for (auto [i, stride] : llvm::enumerate(buffer.strides))
    if (static_cast<int64_t>(i) != dim)
      stride /= group;
  return buffer;
}

/// Whether a buffer can be seen so: groups are whole and aligned.
static bool hasGroups(const Buffer &buffer, int64_t dim, int64_t extent) {
  int64_t group = groupOf(buffer.element);
  for (auto [i, stride] : llvm::enumerate(buffer.strides))
    if (static_cast<int64_t>(i) == dim ? stride != 1 : stride % group != 0)
      return false;
  return extent % group == 0;
}

/// Zeros from `start` on along a dimension of a buffer of this shape.
void Lowering::clearFrom(const Buffer &buffer, ArrayRef<int64_t> shape,
                         int64_t dim, int64_t start) {
  if (start == shape[dim])
    return;
  SmallVector<int64_t> rest(shape);
  rest[dim] -= start;
  Buffer tail =
      part(buffer, index(start * buffer.strides[dim]), buffer.strides);
  int64_t unit = llvm::find(buffer.strides, 1) - buffer.strides.begin();
  forStrips(rest, unit, chip.vectorBytes / byteSize(buffer.element),
            [&](const Coords &at) {
              Type type = registerType(buffer.element);
              if (lanes > 1)
                type = VectorType::get({lanes}, type);
              storeBuffer(tail, at, {zero(type), 0, lanes > 1});
            });
}

Value Lowering::flipped(Value bytes, bool flip) {
  return flip ? Value(arith::XOrIOp::create(b, bytes,
                                            constant(-128, bytes.getType())))
              : bytes;
}

/// Evaluates a tile into a buffer of `padded` extents, which are uninitialised
/// behind the tile; the innermost dimension is `inner`.
Buffer Lowering::packNarrow(Value tile, ArrayRef<int64_t> padded, int64_t inner,
                            bool flip) {
  Buffer buffer = allocate(elementOf(tile), padded, inner, false);
  emitNest(
      tile::getShape(tile.getType()), tile,
      [&](const Coords &at) {
        storeBuffer(buffer, at,
                    {flipped(evalVector(tile, at), flip), 0, lanes > 1});
      },
      inner);
  return buffer;
}

/// The left operand, [.., rows, depth / group].
Buffer Lowering::packRows(Value tile, int64_t rows, int64_t depth, bool flip) {
  ArrayRef<int64_t> shape = tile::getShape(tile.getType());
  int64_t last = shape.size() - 1;
  SmallVector<int64_t> padded(shape);
  padded[last - 1] = rows, padded[last] = depth;
  bool isWhole = shape == ArrayRef(padded);
  if (auto it = buffers.find(tile); it != buffers.end() && isWhole && !flip &&
                                    hasGroups(it->second, last, depth))
    return asGroups(it->second, last, b);
  prepare(tile, {-1});
  int64_t natural = pickVectorDim(shape, tile, last);
  if (natural == last) {
    Buffer packed = packNarrow(tile, padded, last, flip);
    clearFrom(packed, padded, last, shape[last]);
    return asGroups(packed, last, b);
  }
  // Groups first, as of a right operand: to turn words is less work than to
  // turn their parts.
  auto turn = [&](auto &extents) {
    std::swap(extents[last - 1], extents[last]);
  };
  Buffer narrow = packNarrow(tile, shape, natural, flip);
  SmallVector<int64_t> columns(shape);
  turn(columns), turn(narrow.strides);
  int64_t group = groupOf(narrow.element);
  SmallVector<int64_t> inGroups(shape);
  inGroups[last] = depth / group;
  turn(inGroups);
  Buffer across = allocate(b.getI32Type(), inGroups, last, false);
  interleaveInto(across, narrow.element, columns, {}, [&](const Coords &at) {
    return asVector(loadBuffer(narrow, at));
  });
  clearFrom(across, inGroups, last - 1, llvm::divideCeil(shape[last], group));
  turn(inGroups), turn(across.strides);
  padded[last] = depth / group;
  Buffer packed = allocate(b.getI32Type(), padded, last, false);
  transposeInto(across, packed, inGroups);
  return packed;
}

bool Lowering::takeRowsInPlace(Value tile, Product &product, int64_t depth) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  ArrayRef<int64_t> shape = tile::getShape(tile.getType());
  if (!load || load.getIsVolatile() || shape.size() != 2 ||
      shape[0] % kTileSide != 0 || shape[1] != depth)
    return false;
  prepare(tile, {-1});
  if (isInBuffer(tile))
    return false;
  int64_t bytes = byteSize(elementOf(tile)), saved = lanes;
  Value mask = load.getMask(), first;
  if (mask && (!isRowMask(mask, 0) || !isRowMask(mask, 1)))
    return false;
  SmallVector<Value> conditions;
  std::optional<Value> pitch;
  bool isKnown = false;
  withFreshCache([&] {
    Coords origin = identity(shape);
    lanes = 1;
    pitch = slopeAlong(load.getPtr(), origin, 0, shape[0], conditions);
    auto step = slopeAlong(load.getPtr(), origin, 1, shape[1], conditions);
    isKnown = pitch && step && getConstantIntValue(*step) == bytes;
    if (isKnown)
      first = eval(load.getPtr(), origin).v;
  });
  // What both ends of the first and the last row have, all have.
  for (int64_t row : {int64_t(0), shape[0] - 1})
    if (isKnown && mask)
      withFreshCache([&] {
        lanes = depth;
        Value isTrue = allTrue(mask, {{index(row), 0}, {index(0), 1}});
        isKnown = static_cast<bool>(isTrue);
        conditions.push_back(isTrue);
      });
  lanes = saved;
  if (!isKnown)
    return false;
  b.setLoc(load.getLoc());
  // Rows whole pages apart fall into the same few sets of the caches.
  Value isApart = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne,
      arith::AndIOp::create(b, *pitch, index(kPageBytes - 1)), index(0));
  Value inPlace = isApart;
  for (Value condition : conditions)
    inPlace = arith::AndIOp::create(b, inPlace, condition);
  either(arith::XOrIOp::create(b, inPlace, constant(1, b.getI1Type())), [&] {
    product.lhs = packRows(tile, shape[0], depth, /*flip=*/false);
  });
  Type pointer = product.lhs.ptr.getType();
  product.pitch = arith::SelectOp::create(
      b, inPlace, *pitch, index(4 * product.lhs.strides.front()));
  product.lhs.ptr = LLVM::SelectOp::create(
      b, inPlace, LLVM::IntToPtrOp::create(b, pointer, first), product.lhs.ptr);
  return true;
}

/// The right operand, [.., depth / group, columns] with unit stride.
Buffer Lowering::packColumns(Value tile, int64_t columns, int64_t depth,
                             bool flip) {
  ArrayRef<int64_t> shape = tile::getShape(tile.getType());
  Type element = elementOf(tile);
  int64_t group = groupOf(element);
  int64_t last = shape.size() - 1, along = last - 1;
  SmallVector<int64_t> padded(shape);
  padded[along] = depth / group, padded[last] = columns;
  std::optional<Buffer> narrow;
  if (auto it = buffers.find(tile); it != buffers.end() && !flip)
    narrow = it->second;
  else
    prepare(tile, {-1});
  SmallVector<int64_t> whole(shape); // without what a last group lacks
  if (!narrow && pickVectorDim(shape, tile, last) == along) {
    whole[along] = llvm::alignTo(shape[along], group);
    narrow = packNarrow(tile, whole, along, flip);
    clearFrom(*narrow, whole, along, shape[along]);
  }
  Buffer packed = allocate(b.getI32Type(), padded, last, false);
  if (narrow && hasGroups(*narrow, along, whole[along])) {
    // The groups are there already, in columns.
    SmallVector<int64_t> inGroups(whole);
    inGroups[along] /= group;
    transposeInto(asGroups(*narrow, along, b), packed, inGroups);
  } else if (narrow) {
    interleaveInto(packed, element, shape, {}, [&](const Coords &at) {
      return asVector(loadBuffer(*narrow, at));
    });
  } else {
    noteReads(tile);
    interleaveInto(packed, element, shape, tile, [&](const Coords &at) {
      return flipped(evalVector(tile, at), flip);
    });
  }
  clearFrom(packed, padded, along, llvm::divideCeil(shape[along], group));
  return packed;
}

/// Elements i of all parts, vectors of `width`, side by side: pairs of parts,
/// then pairs of pairs.
static Value sideBySide(ImplicitLocOpBuilder &b, SmallVector<Value> parts,
                        int64_t width) {
  int64_t group = static_cast<int64_t>(parts.size());
  while (parts.size() > 1) {
    int64_t half = static_cast<int64_t>(parts.size()) / 2;
    int64_t count = group / static_cast<int64_t>(parts.size());
    int64_t length = width * count;
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t from : {int64_t(0), length})
        for (int64_t j = 0; j < count; ++j)
          order.push_back(from + i * count + j);
    }
    // Neighbours are joined, so that the order of the parts is kept.
    SmallVector<Value> joined;
    for (int64_t i = 0; i < half; ++i)
      joined.push_back(
          vector::ShuffleOp::create(b, parts[2 * i], parts[2 * i + 1], order));
    parts = joined;
  }
  return parts.front();
}

/// Rows of a tile of `shape` that make a group are interleaved, vectors that
/// `read` gives; `roots` are what that evaluates. Rows that are missing are
/// zero.
void Lowering::interleaveInto(const Buffer &groups, Type element,
                              ArrayRef<int64_t> shape, ValueRange roots,
                              function_ref<Value(const Coords &)> read) {
  int64_t group = groupOf(element), saved = lanes;
  int64_t last = shape.size() - 1, along = last - 1;
  // The destination by its narrow elements, [.., K / group, N * group].
  Buffer narrow(groups);
  narrow.element = element;
  for (int64_t &stride : narrow.strides)
    stride *= group;
  narrow.strides[last] = 1;
  auto store = [&](Coords to, SmallVector<Value> parts) {
    int64_t width = lanes;
    parts.resize(group, zero(parts.front().getType()));
    to[last].base = mulIndex(to[last].base, group);
    if (width == 1) {
      for (auto [i, value] : llvm::enumerate(parts)) {
        Coords one(to);
        one[last] = {addIndex(to[last].base, index(i)), 0};
        storeBuffer(narrow, one, {value, 0, false});
      }
      return;
    }
    lanes = width * group;
    storeBuffer(narrow, to, {sideBySide(b, parts, width), 0, true});
    lanes = width;
  };
  // `first` is the first row of the group at these coordinates.
  auto interleave = [&](const Coords &at, Value first, int64_t count) {
    SmallVector<Coords> rows(count, at);
    for (int64_t i = 0; i < count; ++i)
      rows[i][along] = {addIndex(first, index(i)), 0};
    stripLoop(shape[last], last, chip.vectorBytes / 4, rows, roots,
              [&](const Coords &strip) {
                SmallVector<Value> parts;
                for (const Coords &row : rows) {
                  Coords from(row);
                  from[last] = strip[last];
                  parts.push_back(read(from));
                }
                Coords to(at);
                to[last] = strip[last];
                store(to, parts);
              });
  };
  SmallVector<int64_t> walk(shape), outer = llvm::to_vector(llvm::seq(last));
  walk[along] = shape[along] / group;
  Coords at = identity(walk);
  if (walk[along] > 0)
    loopOver(walk, outer, at, [&](const Coords &at) {
      interleave(at, mulIndex(at[along].base, group), group);
    });
  int64_t full = walk[along] * group;
  if (full < shape[along]) {
    walk[along] = 1;
    loopOver(walk, outer, at, [&](Coords at) {
      at[along] = {index(full / group), 0};
      interleave(at, index(full), shape[along] - full);
    });
  }
  lanes = saved;
}

/// 128 times the sums of the operand that was not moved.
Buffer Lowering::excessOf(const Product &product, ArrayRef<int64_t> batch) {
  const int64_t rank = batch.size() + 2;
  bool isRows = product.isUnsigned;
  int64_t saved = lanes, width = chip.vectorBytes / 4;
  Type i32 = b.getI32Type();
  SmallVector<int64_t> shape(batch);
  shape.push_back(isRows ? product.m : product.n);
  Buffer excess = allocate(i32, shape, rank - 2, true);
  auto sum = [&](int64_t count, int64_t step, const Buffer &from, Coords at,
                 int64_t along) {
    Type type = lanes > 1 ? Type(VectorType::get({lanes}, i32)) : i32;
    // 0x80 is 128 as an unsigned factor, -128 as a signed one.
    Value factor = constant(static_cast<int32_t>(0x80808080), type);
    SmallVector<Value> sums;
    forLoop(
        0, count, step, zero(type),
        [&](Value i, ValueRange carried) {
          at[along].base = i;
          Value groups = loadBuffer(from, at).v;
          Value a = isRows ? groups : factor, c = isRows ? factor : groups;
          return SmallVector<Value>{
              multiplyGroups(product, a, c, carried.front())};
        },
        &sums);
    return sums.front();
  };
  if (isRows) {
    forStrips(shape, -1, 1, [&](const Coords &outer) {
      Coords at(outer);
      at.push_back({index(0), 1});
      lanes = width;
      Value sums = sum(llvm::alignTo(product.k, width), width, product.lhs, at,
                       rank - 1);
      lanes = 1;
      storeBuffer(
          excess, outer,
          {vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums), 0,
           false});
    });
  } else {
    forStrips(shape, rank - 2, width, [&](const Coords &outer) {
      Coords at(outer);
      at.insert(at.end() - 1, {index(0), 0});
      Value sums = sum(product.k, 1, product.rhs, at, rank - 2);
      storeBuffer(excess, outer, {sums, 0, lanes > 1});
    });
  }
  lanes = saved;
  // Seen as a tile of the shape of the sums.
  excess.strides.insert(
      isRows ? excess.strides.end() : excess.strides.end() - 1, 0);
  return excess;
}

/// sum + the products of the groups of `a` and `c`, lane by lane.
Value Lowering::multiplyGroups(const Product &product, Value a, Value c,
                               Value sum) {
  // The narrowest instruction has four lanes.
  constexpr int64_t kFewest = 4;
  int64_t width = std::max(lanes, kFewest);
  auto widened = [&](Value value) -> Value {
    if (lanes >= kFewest)
      return value;
    auto type = VectorType::get({width}, getElementTypeOrSelf(value.getType()));
    if (lanes == 1)
      return vector::BroadcastOp::create(b, type, value);
    return vector::ShuffleOp::create(b, value, value,
                                     ArrayRef<int64_t>{0, 1, 0, 1});
  };
  bool isFloat = isa<FloatType>(product.element);
  auto narrowType = isFloat ? VectorType::get({2 * width}, b.getBF16Type())
                            : VectorType::get({4 * width}, b.getI8Type());
  auto narrow = [&](Value value) {
    return vector::BitCastOp::create(b, narrowType, widened(value));
  };
  std::string name = (isFloat ? "llvm.x86.avx512bf16.dpbf16ps."
                              : "llvm.x86.avx512.vpdpbusd.") +
                     std::to_string(32 * width);
  Value wide = widened(sum);
  Value result =
      LLVM::CallIntrinsicOp::create(b, wide.getType(), b.getStringAttr(name),
                                    ValueRange{wide, narrow(a), narrow(c)})
          .getResult(0);
  if (lanes == 1)
    return vector::ExtractOp::create(b, result, 0);
  if (lanes < kFewest)
    return vector::ShuffleOp::create(b, result, result,
                                     ArrayRef<int64_t>{0, 1});
  return result;
}
