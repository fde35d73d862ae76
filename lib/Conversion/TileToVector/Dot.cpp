//===- Dot.cpp - Matrix products by register blocks -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are packed to the type that products are summed in (16-bit floats
// are widened on the way), the right one with unit stride along N. Then panels
// of a few vectors of N are multiplied with a few rows at a time: the
// accumulators of one such block live in registers over all of K.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// What a panel of the right operand may take of a first-level cache.
static constexpr int64_t kPanelBytes = int64_t(32) << 10;

Value Lowering::converted(Value value, Type compute, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == compute)
    return value;
  Type type = compute;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), compute);
  if (isa<FloatType>(compute))
    return from.getIntOrFloatBitWidth() < compute.getIntOrFloatBitWidth()
               ? Value(arith::ExtFOp::create(b, type, value))
               : Value(arith::TruncFOp::create(b, type, value));
  if (isUnsigned)
    return arith::ExtUIOp::create(b, type, value);
  return arith::ExtSIOp::create(b, type, value);
}

Buffer Lowering::packOperand(Value tile, Type compute, bool isUnsigned,
                             bool needsUnitLast) {
  auto type = cast<RankedTensorType>(tile.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t last = type.getRank() - 1;
  if (auto it = buffers.find(tile);
      it != buffers.end() && type.getElementType() == compute &&
      (!needsUnitLast || it->second.strides[last] == 1))
    return it->second;
  prepare(tile, {-1});
  int64_t natural = pickVectorDim(shape, tile, needsUnitLast ? last : -1);
  Buffer packed = allocate(compute, shape, natural, false);
  emitNest(
      shape, tile,
      [&](const Coords &at) {
        Value value = evalVector(tile, at);
        storeBuffer(packed, at,
                    {converted(value, compute, isUnsigned), 0, lanes > 1});
      },
      natural);
  if (!needsUnitLast || packed.strides[last] == 1)
    return packed;
  Buffer transposed = allocate(compute, shape, last, false);
  transposeInto(packed, transposed, shape);
  return transposed;
}

/// Square blocks are turned in registers by stages of interleaving; what is
/// left over goes element by element.
void Lowering::transposeInto(const Buffer &source, const Buffer &destination,
                             ArrayRef<int64_t> shape) {
  int64_t rank = shape.size(), rows = shape[rank - 2],
          columns = shape[rank - 1];
  int64_t side = chip.vectorBytes / byteSize(source.element);
  int64_t fullRows = rows / side * side, fullColumns = columns / side * side;
  int64_t saved = lanes;
  SmallVector<int64_t> batch(shape.drop_back(2));
  auto move = [&](Coords at, Value row, Value column) {
    lanes = 1;
    at[rank - 2] = {row, 0}, at[rank - 1] = {column, 0};
    storeBuffer(destination, at, loadBuffer(source, at));
  };
  forStrips(batch, -1, 1, [&](const Coords &outer) {
    Coords at(outer);
    at.resize(rank, {index(0), 0});
    auto each = [&](int64_t from, int64_t to, int64_t step,
                    function_ref<void(Value)> body) {
      if (from < to)
        forLoop(
            from, to, step, {},
            [&](Value i, ValueRange) {
              body(i);
              return SmallVector<Value>();
            },
            nullptr);
    };
    each(0, fullRows, side, [&](Value row) {
      each(0, fullColumns, side, [&](Value column) {
        lanes = side;
        SmallVector<Value> block;
        for (int64_t i = 0; i < side; ++i) {
          Coords from(at);
          from[rank - 2] = {row, 1},
                      from[rank - 1] = {addIndex(column, index(i)), 0};
          block.push_back(loadBuffer(source, from).v);
        }
        // Interleaving element i with element i + n/2, log2(n) times,
        // transposes.
        SmallVector<int64_t> low, high;
        for (int64_t i = 0; i < side / 2; ++i)
          low.append({i, side + i}),
              high.append({side / 2 + i, side + side / 2 + i});
        for (int64_t stage = 1; stage < side; stage *= 2) {
          SmallVector<Value> next(side);
          for (int64_t i = 0; i < side / 2; ++i) {
            next[2 * i] = vector::ShuffleOp::create(b, block[i],
                                                    block[i + side / 2], low);
            next[2 * i + 1] = vector::ShuffleOp::create(
                b, block[i], block[i + side / 2], high);
          }
          block = next;
        }
        for (int64_t i = 0; i < side; ++i) {
          Coords to(at);
          to[rank - 2] = {addIndex(row, index(i)), 0},
                    to[rank - 1] = {column, 1};
          storeBuffer(destination, to, {block[i], 0, true});
        }
      });
      each(fullColumns, columns, 1, [&](Value column) {
        each(0, side, 1, [&](Value i) { move(at, addIndex(row, i), column); });
      });
    });
    each(fullRows, rows, 1, [&](Value row) {
      each(0, columns, 1, [&](Value column) { move(at, row, column); });
    });
  });
  lanes = saved;
}

Value Lowering::multiplyAdd(const Product &product, Value a, Value c,
                            Value sum) {
  if (product.unit != DotUnit::Single)
    return multiplyGroups(product, a, c, sum);
  if (!isa<FloatType>(product.acc.element))
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, a, c));
  if (chip.hasFma || chip.isStrict)
    return math::FmaOp::create(b, a, c, sum);
  return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, a, c));
}

void Lowering::registerBlock(const Product &product, Value row, Value column,
                             int64_t rows, ArrayRef<int64_t> widths) {
  const Buffer &lhs = product.lhs, &rhs = product.rhs, &acc = product.acc;
  int64_t columnsAt = 0;
  SmallVector<int64_t> starts;
  for (int64_t width : widths)
    starts.push_back(columnsAt), columnsAt += width;
  auto cell = [&](int64_t r, size_t c) {
    return Coords{{addIndex(row, index(r)), 0},
                  {addIndex(column, index(starts[c])), 1}};
  };
  SmallVector<Value> sums;
  for (int64_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < widths.size(); ++c) {
      lanes = widths[c];
      Value sum = loadBuffer(acc, cell(r, c)).v;
      if (product.excess)
        sum = arith::SubIOp::create(
            b, sum, asVector(loadBuffer(*product.excess, cell(r, c))));
      sums.push_back(sum);
    }
  SmallVector<Value> results;
  forLoop(
      0, product.k, 1, sums,
      [&](Value i, ValueRange carried) {
        SmallVector<Value> right, next;
        for (size_t c = 0; c < widths.size(); ++c) {
          lanes = widths[c];
          right.push_back(
              loadBuffer(rhs, {{i, 0}, {addIndex(column, index(starts[c])), 1}})
                  .v);
        }
        for (int64_t r = 0; r < rows; ++r) {
          lanes = 1;
          Value left =
              loadBuffer(lhs, {{addIndex(row, index(r)), 0}, {i, 0}}).v;
          for (size_t c = 0; c < widths.size(); ++c) {
            lanes = widths[c];
            Value a = asVector({left, 0, false});
            next.push_back(multiplyAdd(product, a, right[c],
                                       carried[r * widths.size() + c]));
          }
        }
        return next;
      },
      &results);
  for (int64_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < widths.size(); ++c) {
      lanes = widths[c];
      storeBuffer(acc, cell(r, c),
                  {results[r * widths.size() + c], 0, lanes > 1});
    }
}

/// All rows of a panel of columns.
void Lowering::panel(const Product &product, Value column,
                     ArrayRef<int64_t> widths) {
  int64_t m = product.m;
  // 24 accumulators of 32 registers, 12 of 16.
  int64_t budget = chip.vectorBytes >= 64 ? 24 : 12;
  int64_t rows =
      std::clamp<int64_t>(budget / static_cast<int64_t>(widths.size()), 1, 12);
  rows = std::min(rows, m);
  int64_t full = m / rows * rows;
  if (full == rows) {
    registerBlock(product, index(0), column, rows, widths);
  } else {
    forLoop(
        0, full, rows, {},
        [&](Value row, ValueRange) {
          registerBlock(product, row, column, rows, widths);
          return SmallVector<Value>();
        },
        nullptr);
  }
  if (full < m)
    registerBlock(product, index(full), column, m - full, widths);
}

void Lowering::multiply(const Product &product) {
  if (product.unit == DotUnit::Tiles)
    return multiplyTiles(product);
  int64_t n = product.n;
  int64_t width =
      std::max<int64_t>(1, chip.vectorBytes / byteSize(product.acc.element));
  int64_t vectors = n / width;
  int64_t perPanel = chip.vectorBytes >= 64 ? 4 : 2;
  // All rows pass over a panel, which is to stay in the first-level cache; more
  // rows at a time make up for its width.
  if (perPanel * chip.vectorBytes * product.k > kPanelBytes)
    perPanel = 2;
  // A last panel of one vector alone would run at half speed.
  if (perPanel == 4 && vectors % 4 != 0 && vectors % 3 == 0)
    perPanel = 3;
  int64_t full = vectors / perPanel;
  SmallVector<int64_t> widths(perPanel, width);
  if (full == 1) {
    panel(product, index(0), widths);
  } else if (full > 1) {
    forLoop(
        0, full * perPanel * width, perPanel * width, {},
        [&](Value column, ValueRange) {
          panel(product, column, widths);
          return SmallVector<Value>();
        },
        nullptr);
  }
  int64_t done = full * perPanel * width;
  if (int64_t rest = vectors - full * perPanel; rest > 0) {
    panel(product, index(done), SmallVector<int64_t>(rest, width));
    done += rest * width;
  }
  SmallVector<int64_t> tail;
  for (int64_t part = width / 2, left = n - done; part >= 1; part /= 2)
    if (left & part)
      tail.push_back(part);
  if (!tail.empty())
    panel(product, index(done), tail);
}

LogicalResult Lowering::lowerDot(tile::DotOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto lhsType = cast<RankedTensorType>(op.getLhs().getType());
  int64_t rank = type.getRank(), saved = lanes;
  Product product;
  product.m = type.getDimSize(rank - 2), product.n = type.getDimSize(rank - 1);
  product.k = lhsType.getDimSize(rank - 1);
  product.unit = pickUnit(op);
  Type element = type.getElementType();
  Type compute = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32
                     ? b.getF32Type()
                     : element;
  if (isa<FloatType>(element) && lhsType.getElementType().isF64())
    compute = b.getF64Type();
  bool isUnsigned = op.getIsUnsigned();
  product.isUnsigned = isUnsigned;
  if (product.unit != DotUnit::Single) {
    packGroups(op, product);
  } else {
    product.lhs = packOperand(op.getLhs(), compute, isUnsigned, false);
    product.rhs = packOperand(op.getRhs(), compute, isUnsigned, true);
  }
  b.setLoc(op.getLoc());

  Buffer &acc = product.acc;
  auto target = inPlace.find(op.getResult());
  if (target != inPlace.end() && compute == element)
    acc = target->second;
  else
    acc = allocate(compute, type.getShape(), rank - 1, false);
  product.isFirst = firstTurns.lookup(op.getResult());
  auto current = buffers.find(op.getAcc());
  bool isThere = current != buffers.end() && current->second.ptr == acc.ptr;
  if (!isThere)
    emitNest(
        type.getShape(), op.getAcc(),
        [&](const Coords &at) {
          storeBuffer(
              acc, at,
              {converted(evalVector(op.getAcc(), at), compute, isUnsigned), 0,
               lanes > 1});
        },
        rank - 1);
  b.setLoc(op.getLoc());
  if (rank == 2) {
    multiply(product);
  } else {
    forLoop(
        0, type.getDimSize(0), 1, {},
        [&](Value batch, ValueRange) {
          Product one(product);
          one.lhs = sliceAt(product.lhs, 0, batch);
          one.rhs = sliceAt(product.rhs, 0, batch);
          one.acc = sliceAt(product.acc, 0, batch);
          if (product.excess)
            one.excess = sliceAt(*product.excess, 0, batch);
          multiply(one);
          return SmallVector<Value>();
        },
        nullptr);
  }
  lanes = saved;
  if (compute == element) {
    buffers[op.getResult()] = acc;
    return success();
  }
  Buffer rounded = allocate(element, type.getShape(), rank - 1, false);
  forStrips(
      type.getShape(), rank - 1, chip.vectorBytes / 4, [&](const Coords &at) {
        storeBuffer(rounded, at,
                    {converted(asVector(loadBuffer(acc, at)), element, false),
                     0, lanes > 1});
      });
  buffers[op.getResult()] = rounded;
  return success();
}
