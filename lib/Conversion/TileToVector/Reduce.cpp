//===- Reduce.cpp - Reductions, scans, recurrences ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A combine region runs on whole vectors where it is plain arithmetic. Along
// the lanes, a commutative one keeps a vector of partial results; any other
// combines neighbours, so the order of elements stays.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// Plain arithmetic, which a vector can stand in for.
static bool isVectorizable(Region &region) {
  return llvm::all_of(region.front().without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 &&
           isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
  });
}

SmallVector<Value> Lowering::combine(Region &region, ValueRange lhs,
                                     ValueRange rhs) {
  Block &block = region.front();
  SmallVector<Value> inputs(lhs.begin(), lhs.end());
  inputs.append(rhs.begin(), rhs.end());
  auto vectorType = dyn_cast<VectorType>(inputs.front().getType());
  if (!vectorType) {
    // Scalars: the region may hold anything that a kernel may.
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), inputs))
      mapScalar(argument, value);
    int64_t saved = lanes;
    (void)lowerBlock(block);
    lanes = saved;
    return llvm::map_to_vector(block.getTerminator()->getOperands(),
                               [&](Value v) { return scalar(v); });
  }
  IRMapping map;
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), inputs))
    map.map(argument, value);
  auto widened = [&](Value old) -> Value {
    if (Value now = map.lookupOrNull(old))
      return now;
    Value one = scalar(old);
    return vector::BroadcastOp::create(
        b, VectorType::get(vectorType.getShape(), one.getType()), one);
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(
          VectorType::get(vectorType.getShape(), registerType(type)));
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr dense = DenseElementsAttr::get(cast<VectorType>(types.front()),
                                               constantOp.getValue());
      map.map(constantOp.getResult(),
              Value(arith::ConstantOp::create(b, dense)));
      continue;
    }
    OperationState state(op.getLoc(), op.getName(),
                         llvm::map_to_vector(op.getOperands(), widened), types,
                         op.getAttrs());
    Operation *created = b.create(state);
    map.map(op.getResults(), created->getResults());
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), widened);
}

SmallVector<Value> Lowering::reduceLanes(Region &region,
                                         SmallVector<Value> vectors,
                                         bool inOrder) {
  auto type = dyn_cast<VectorType>(vectors.front().getType());
  while (type) {
    int64_t half = type.getNumElements() / 2;
    SmallVector<Value> lhs, rhs;
    for (Value vector : vectors) {
      if (half == 1) {
        lhs.push_back(vector::ExtractOp::create(b, vector, 0));
        rhs.push_back(vector::ExtractOp::create(b, vector, 1));
        continue;
      }
      SmallVector<int64_t> first, second;
      for (int64_t lane = 0; lane < half; ++lane) {
        first.push_back(inOrder ? 2 * lane : lane);
        second.push_back(inOrder ? 2 * lane + 1 : half + lane);
      }
      lhs.push_back(vector::ShuffleOp::create(b, vector, vector, first));
      rhs.push_back(vector::ShuffleOp::create(b, vector, vector, second));
    }
    vectors = combine(region, lhs, rhs);
    type = dyn_cast<VectorType>(vectors.front().getType());
  }
  return vectors;
}

SmallVector<Value> Lowering::evalAll(ValueRange tiles, const Coords &at) {
  return llvm::map_to_vector(
      tiles, [&](Value tile) { return asVector(eval(tile, at)); });
}

/// How many strips of a row are summed side by side, so that one need not wait
/// for the other: a cheap strip takes less time than an addition.
static int64_t independentSums(int64_t ops) {
  return ops <= 8 ? 4 : ops <= 24 ? 2 : 1;
}

/// `count` strips of `lanes` lanes from `start`, to one value an operand.
SmallVector<Value>
Lowering::reduceStrips(Region &region, int64_t start, int64_t count,
                       int64_t sums, bool inOrder,
                       function_ref<SmallVector<Value>(Value)> strip) {
  int64_t width = lanes;
  auto values = [&](Value base) {
    lanes = width;
    SmallVector<Value> next = strip(base);
    return inOrder ? reduceLanes(region, next, true) : next;
  };
  SmallVector<SmallVector<Value>> totals;
  auto flat = [&] {
    SmallVector<Value> all;
    for (const SmallVector<Value> &total : totals)
      all.append(total);
    return all;
  };
  sums = inOrder || count < 2 * sums ? 1 : sums;
  for (int64_t i = 0; i < sums; ++i)
    totals.push_back(values(index(start + i * width)));
  size_t operands = totals.front().size();
  auto step = [&](Value base, ValueRange carried) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < sums; ++i)
      next.append(combine(region, carried.slice(i * operands, operands),
                          values(addIndex(base, index(i * width)))));
    return next;
  };
  int64_t rounds = count / sums;
  if (rounds > 1) {
    SmallVector<Value> results;
    forLoop(start + sums * width, start + rounds * sums * width, sums * width,
            flat(), step, &results);
    for (auto [i, total] : llvm::enumerate(totals))
      total.assign(results.begin() + i * operands,
                   results.begin() + (i + 1) * operands);
  }
  for (int64_t i = rounds * sums; i < count; ++i)
    totals[i % sums] =
        combine(region, totals[i % sums], values(index(start + i * width)));
  for (; totals.size() > 1; totals.resize(totals.size() / 2))
    for (size_t i = 0, half = totals.size() / 2; i < half; ++i)
      totals[i] = combine(region, totals[i], totals[half + i]);
  lanes = width;
  return totals.front();
}

/// One row along the vector dimension to scalars.
SmallVector<Value> Lowering::reduceRow(tile::ReduceOp op, const Nest &nest,
                                       const Coords &row) {
  Region &region = op.getCombine();
  int64_t axis = op.getAxis();
  int64_t extent = tile::getShape(op.getOperands().front().getType())[axis];
  bool commutes = tile::isCommutative(region);
  auto strip = [&](Value base) {
    Coords at(row);
    at[axis] = {base, lanes == 1 ? 0 : 1};
    SmallVector<Value> values;
    withFreshCache([&] {
      knowRow(base);
      leave(nest, at);
      values = evalAll(op.getOperands(), at);
    });
    return values;
  };
  int64_t cost = 0;
  for (Value operand : op.getOperands())
    cost += costOf(operand).ops;
  for (Value tile : nest.along)
    cost += costs.lookup(tile).ops;
  int64_t widest = isVectorizable(region) ? nest.maxLanes : 1;
  SmallVector<Type> types =
      llvm::map_to_vector(op.getOperands(), [](Value operand) {
        return registerType(tile::getElementType(operand.getType()));
      });
  return byRow(nest.roots, row, axis, extent, widest, types, [&] {
    SmallVector<Value> total;
    int64_t start = 0;
    for (int64_t width = widest; width >= 1; width /= 2) {
      int64_t count = (extent - start) / width;
      if (count == 0)
        continue;
      lanes = width;
      SmallVector<Value> partial = reduceStrips(
          region, start, count, independentSums(cost), !commutes, strip);
      if (commutes)
        partial = reduceLanes(region, partial, false);
      total = total.empty() ? partial : combine(region, total, partial);
      start += count * width;
    }
    return total;
  });
}

/// The axis is walked one by one, lanes run along another dimension.
void Lowering::reduceAcross(tile::ReduceOp op, const Nest &nest,
                            ArrayRef<Buffer> out) {
  Region &region = op.getCombine();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> shape(
      tile::getShape(op.getOperands().front().getType()));
  int64_t extent = shape[axis];
  shape[axis] = 1;
  int64_t widest = isVectorizable(region) ? nest.maxLanes : 1;
  forStrips(shape, nest.vectorDim, widest, [&](const Coords &outer) {
    auto element = [&](Value i) {
      Coords at(outer);
      at[axis] = {i, 0};
      SmallVector<Value> values;
      withFreshCache([&] {
        leave(nest, at);
        values = evalAll(op.getOperands(), at);
      });
      return values;
    };
    int64_t width = lanes;
    SmallVector<Value> total = element(index(0));
    if (extent > 1) {
      SmallVector<Value> results;
      forLoop(
          1, extent, 1, total,
          [&](Value i, ValueRange carried) {
            lanes = width;
            return combine(region, carried, element(i));
          },
          &results);
      total = results;
    }
    lanes = width;
    Coords to(outer);
    to.erase(to.begin() + axis);
    for (auto [buffer, value] : llvm::zip_equal(out, total))
      storeBuffer(buffer, to, {value, 0, lanes > 1});
  });
}

/// One round of a tree: of `present` elements along the axis, pairs become one.
/// docs/Rationale/Tile.md has both trees. Returns how many elements are left.
int64_t Lowering::treeRound(tile::ReduceOp op, ArrayRef<Buffer> values,
                            int64_t vectorDim, int64_t maxLanes,
                            int64_t present, int64_t half) {
  Region &region = op.getCombine();
  int64_t axis = op.getAxis();
  bool halves = tile::isCommutative(region);
  int64_t pairs = halves ? std::max<int64_t>(0, present - half) : present / 2;
  SmallVector<int64_t> shape(
      tile::getShape(op.getOperands().front().getType()));
  auto valuesAt = [&](const Coords &at) {
    return llvm::map_to_vector(values, [&](const Buffer &buffer) {
      return asVector(loadBuffer(buffer, at));
    });
  };
  auto keepAt = [&](const Coords &at, ValueRange now) {
    for (auto [buffer, value] : llvm::zip_equal(values, now))
      storeBuffer(buffer, at, {value, 0, lanes > 1});
  };
  // Neighbours along the lanes are two lanes apart from the next.
  int64_t alongLanes = !halves && vectorDim == axis ? -1 : vectorDim;
  shape[axis] = pairs;
  if (pairs > 0)
    forStrips(shape, alongLanes, maxLanes, [&](const Coords &at) {
      Coords first(at), second(at);
      if (!halves)
        first[axis].base = mulIndex(at[axis].base, 2);
      second[axis].base = addIndex(first[axis].base, index(halves ? half : 1));
      keepAt(at, combine(region, valuesAt(first), valuesAt(second)));
    });
  if (halves)
    return std::min(present, half);
  if (present % 2 != 0 && present > 1) {
    // The last one has no partner.
    shape[axis] = 1;
    forStrips(shape, alongLanes, maxLanes, [&](const Coords &at) {
      Coords from(at), to(at);
      from[axis] = {index(present - 1), 0};
      to[axis] = {index(pairs), 0};
      keepAt(to, valuesAt(from));
    });
  }
  return present - pairs;
}

/// By a tree that does not depend on the width of vectors.
LogicalResult Lowering::lowerStrictReduce(tile::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  int64_t axis = op.getAxis(), saved = lanes;
  Nest nest = openNest(type.getShape(), op.getOperands());
  SmallVector<Buffer> values;
  for (Value operand : op.getOperands())
    values.push_back(allocate(tile::getElementType(operand.getType()),
                              type.getShape(), nest.vectorDim, false));
  forStrips(
      type.getShape(), nest.vectorDim, nest.maxLanes,
      [&](const Coords &at) {
        leave(nest, at);
        for (auto [operand, buffer] : llvm::zip_equal(op.getOperands(), values))
          storeBuffer(buffer, at, eval(operand, at));
      },
      nest.roots);
  closeNest(nest);
  int64_t widest = isVectorizable(op.getCombine()) ? nest.maxLanes : 1;
  int64_t present = type.getDimSize(axis);
  for (int64_t half = llvm::PowerOf2Ceil(present) / 2; half >= 1; half /= 2)
    present = treeRound(op, values, nest.vectorDim, widest, present, half);
  lanes = 1;
  for (auto [result, buffer] : llvm::zip_equal(op.getResults(), values)) {
    if (type.getRank() == 1)
      mapScalar(result, loadBuffer(buffer, {{index(0), 0}}).v);
    else
      buffers[result] = sliceAt(buffer, axis, index(0));
  }
  lanes = saved;
  return success();
}

LogicalResult Lowering::lowerReduce(tile::ReduceOp op) {
  if (chip.isStrict)
    return lowerStrictReduce(op);
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  int64_t axis = op.getAxis(), rank = type.getRank(), saved = lanes;
  // Along a short axis the lanes belong to another dimension.
  int64_t preferred = type.getDimSize(axis) >= 16 ? axis : -1;
  Nest nest = openNest(type.getShape(), op.getOperands(), preferred);
  SmallVector<Buffer> out;
  SmallVector<int64_t> outer(type.getShape());
  outer.erase(outer.begin() + axis);
  int64_t inner = nest.vectorDim > axis ? nest.vectorDim - 1 : nest.vectorDim;
  if (nest.vectorDim == axis || inner < 0)
    inner = rank - 2;
  if (rank > 1)
    for (Value operand : op.getOperands())
      out.push_back(allocate(tile::getElementType(operand.getType()), outer,
                             inner, false));

  SmallVector<int64_t> rows(type.getShape());
  rows[axis] = 1;
  if (nest.vectorDim != axis) {
    reduceAcross(op, nest, out);
  } else {
    forStrips(rows, -1, 1, [&](const Coords &row) {
      SmallVector<Value> total = reduceRow(op, nest, row);
      lanes = 1;
      if (rank == 1) {
        for (auto [result, value] : llvm::zip_equal(op.getResults(), total))
          mapScalar(result, value);
        return;
      }
      Coords to(row);
      to.erase(to.begin() + axis);
      for (auto [buffer, value] : llvm::zip_equal(out, total))
        storeBuffer(buffer, to, {value, 0, false});
    });
  }
  closeNest(nest);
  lanes = saved;
  for (auto [result, buffer] : llvm::zip(op.getResults(), out))
    buffers[result] = buffer;
  return success();
}

LogicalResult Lowering::lowerScan(tile::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t axis = op.getAxis(), extent = shape[axis], saved = lanes;
  Region &region = op.getCombine();
  SmallVector<int64_t> others(shape);
  others[axis] = 1;
  bool isOneRow = llvm::all_of(others, [](int64_t n) { return n == 1; });
  if (isOneRow || !isVectorizable(region))
    for (Value operand : op.getOperands())
      keep(operand);
  int64_t vectorDim = isOneRow ? -1 : pickVectorDim(others, op.getOperands());
  Nest nest = openNest(shape, op.getOperands(), -1, vectorDim);
  SmallVector<Buffer> out;
  for (Value operand : op.getOperands())
    out.push_back(allocate(tile::getElementType(operand.getType()), shape,
                           vectorDim < 0 ? type.getRank() - 1 : vectorDim,
                           false));
  forStrips(
      others, vectorDim, isVectorizable(region) ? nest.maxLanes : 1,
      [&](const Coords &outer) {
        int64_t width = lanes;
        auto place = [&](Value i) {
          Coords at(outer);
          at[axis] = {op.getReverse()
                          ? b.createOrFold<arith::SubIOp>(index(extent - 1), i)
                          : i,
                      0};
          return at;
        };
        auto element = [&](const Coords &at) {
          SmallVector<Value> values;
          withFreshCache([&] {
            leave(nest, at);
            values = evalAll(op.getOperands(), at);
          });
          return values;
        };
        auto keep = [&](const Coords &at, ValueRange values) {
          for (auto [buffer, value] : llvm::zip_equal(out, values))
            storeBuffer(buffer, at, {value, 0, width > 1});
        };
        Coords first = place(index(0));
        SmallVector<Value> total = element(first);
        keep(first, total);
        if (extent == 1)
          return;
        forLoop(
            1, extent, 1, total,
            [&](Value i, ValueRange carried) {
              lanes = width;
              Coords at = place(i);
              SmallVector<Value> next = combine(region, carried, element(at));
              keep(at, next);
              return next;
            },
            nullptr);
      });
  closeNest(nest);
  lanes = saved;
  for (auto [result, buffer] : llvm::zip_equal(op.getResults(), out))
    buffers[result] = buffer;
  return success();
}

Lowering::Recurrence Lowering::openRecurrence(tile::RecurrenceOp op) {
  int64_t axis = op.getAxis();
  Block &block = op.getStep().front();
  Recurrence state;
  for (Value x : op.getXs())
    state.xs.push_back(materialize(x));
  for (Value y : op.getResults().drop_front(op.getInits().size())) {
    auto type = cast<RankedTensorType>(y.getType());
    int64_t inner =
        type.getRank() - 1 == axis && axis > 0 ? axis - 1 : type.getRank() - 1;
    state.ys.push_back(
        allocate(type.getElementType(), type.getShape(), inner, false));
    buffers[y] = state.ys.back();
  }
  for (auto [init, argument] : llvm::zip(op.getInits(), block.getArguments())) {
    state.carried.push_back({});
    if (!isa<RankedTensorType>(init.getType())) {
      state.scalarInits.push_back(scalar(init));
      continue;
    }
    state.carried.back() = allocateTile(init.getType());
    copyInto(init, state.carried.back());
    buffers[argument] = state.carried.back();
  }
  return state;
}

/// Element `i` of the xs to element `i` of the ys; the tiles among the carried
/// values move on.
LogicalResult Lowering::recurrenceStep(tile::RecurrenceOp op,
                                       const Recurrence &state, Value i) {
  int64_t axis = op.getAxis();
  Block &block = op.getStep().front();
  size_t carriedCount = op.getInits().size();
  lanes = 1;
  for (auto [argument, x] : llvm::zip_equal(
           block.getArguments().drop_front(carriedCount), state.xs)) {
    if (isa<RankedTensorType>(argument.getType()))
      buffers[argument] = sliceAt(x, axis, i);
    else
      withFreshCache([&] { mapScalar(argument, loadBuffer(x, {{i, 0}}).v); });
  }
  return lowerRegion(block, [&] {
    ValueRange yields = block.getTerminator()->getOperands();
    for (auto [value, y] :
         llvm::zip_equal(yields.drop_front(carriedCount), state.ys)) {
      lanes = 1;
      if (isa<RankedTensorType>(value.getType()))
        copyInto(value, sliceAt(y, axis, i));
      else
        storeBuffer(y, {{i, 0}}, {scalar(value), 0, false});
    }
    carry(yields.take_front(carriedCount),
          block.getArguments().take_front(carriedCount), state.carried, false);
  });
}

LogicalResult Lowering::lowerRecurrence(tile::RecurrenceOp op) {
  int64_t saved = lanes;
  int64_t extent = tile::getShape(op.getXs().front().getType())[op.getAxis()];
  Block &block = op.getStep().front();
  auto carriedNow =
      block.getTerminator()->getOperands().take_front(op.getInits().size());
  Recurrence state = openRecurrence(op);
  LogicalResult result = success();
  SmallVector<Value> finals;
  forLoop(
      0, extent, 1, state.scalarInits,
      [&](Value step, ValueRange now) {
        Value i = op.getReverse()
                      ? b.createOrFold<arith::SubIOp>(index(extent - 1), step)
                      : step;
        size_t next = 0;
        for (auto [init, argument] :
             llvm::zip(op.getInits(), block.getArguments()))
          if (!isa<RankedTensorType>(init.getType()))
            mapScalar(argument, now[next++]);
        result = recurrenceStep(op, state, i);
        return scalarsOf(carriedNow);
      },
      &finals);
  size_t next = 0;
  for (auto [value, buffer] : llvm::zip(op.getResults(), state.carried)) {
    if (isa<RankedTensorType>(value.getType()))
      buffers[value] = buffer;
    else
      mapScalar(value, finals[next++]);
  }
  lanes = saved;
  return result;
}

LogicalResult Lowering::lowerHistogram(tile::HistogramOp op) {
  Type i32 = b.getI32Type();
  int64_t bins = op.getBins();
  Buffer out = allocate(i32, {bins}, 0, true);
  forStrips({bins}, 0, chip.vectorBytes / 4, [&](const Coords &at) {
    storeBuffer(out, at, {zero(laneType(i32)), 0, lanes > 1});
  });
  SmallVector<Value> roots = {op.getSource()};
  if (op.getMask())
    roots.push_back(op.getMask());
  for (Value root : roots)
    keep(root);
  forStrips(
      tile::getShape(op.getSource().getType()), -1, 1, [&](const Coords &at) {
        Value bin = eval(op.getSource(), at).v;
        if (bin.getType().getIntOrFloatBitWidth() < 64)
          bin = arith::ExtSIOp::create(b, b.getI64Type(), bin);
        Value counts = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bin,
                                             index(bins));
        if (op.getMask())
          counts = arith::AndIOp::create(b, counts, eval(op.getMask(), at).v);
        auto guarded = scf::IfOp::create(b, counts);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&guarded.getThenRegion().front());
        Val old = loadBuffer(out, {{bin, 0}});
        storeBuffer(
            out, {{bin, 0}},
            {arith::AddIOp::create(b, old.v, constant(1, i32)), 0, false});
      });
  buffers[op.getResult()] = out;
  return success();
}

LogicalResult Lowering::lowerMap(tile::MapOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  SmallVector<Buffer> out;
  for (Value result : op.getResults())
    out.push_back(allocate(tile::getElementType(result.getType()),
                           type.getShape(),
                           std::max<int64_t>(0, type.getRank() - 1), false));
  for (Value operand : op.getOperands())
    keep(operand);
  Block &block = op.getBody().front();
  LogicalResult result = success();
  forStrips(type.getShape(), -1, 1, [&](const Coords &at) {
    for (auto [argument, operand] :
         llvm::zip_equal(block.getArguments(), op.getOperands()))
      mapScalar(argument, eval(operand, at).v);
    result = lowerBlock(block);
    if (failed(result))
      return;
    lanes = 1;
    for (auto [buffer, value] :
         llvm::zip_equal(out, block.getTerminator()->getOperands()))
      storeBuffer(buffer, at, {scalar(value), 0, false});
  });
  for (auto [value, buffer] : llvm::zip_equal(op.getResults(), out))
    buffers[value] = buffer;
  return result;
}
