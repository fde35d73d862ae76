//===- RandomFunction.cpp - Random functions of the tile dialect ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomFunction.h"

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace terrazzo;
using namespace axistest;

static bool isInteger(Type type) {
  return isa<IntegerType>(getElementTypeOrSelf(type));
}
static bool isNumber(Type type) {
  return isInteger(type) && !getElementTypeOrSelf(type).isInteger(1);
}
static bool isTile(Type type) { return isa<RankedTensorType>(type); }
static bool hasAxes(Type type) { return !tile::getShape(type).empty(); }
static bool isPointer(Type type) {
  return isa<tile::PtrType>(getElementTypeOrSelf(type));
}

RandomFunction::RandomFunction(ModuleOp module, unsigned seed)
    : module(module), builder(module.getContext()),
      loc(UnknownLoc::get(module.getContext())), engine(seed) {}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value RandomFunction::add(Value value) {
  pool.push_back(value);
  return value;
}

Value RandomFunction::oneOf(function_ref<bool(Type)> wanted) {
  SmallVector<Value> found;
  for (Value value : pool)
    if (wanted(value.getType()))
      found.push_back(value);
  if (found.empty())
    return {};
  size_t recent = std::min<size_t>(found.size(), 4);
  return chance(50) ? found[found.size() - 1 - pick(recent)]
                    : found[pick(found.size())];
}

Value RandomFunction::oneOf(Type type) {
  return oneOf([&](Type other) { return other == type; });
}

/// A number that stands at an edge rather than anywhere.
APInt RandomFunction::number(unsigned width) {
  static constexpr int64_t edges[] = {0,   1,  2,  3,  4,  5,  7,  8,
                                      12,  15, 16, 24, 31, 32, 63, 64,
                                      127, -1, -2, -3, -4, -7, -8, -16};
  if (chance(85))
    return APInt(width, edges[pick(std::size(edges))], true, true);
  APInt value(width, (uint64_t(engine()) << 32) | engine(), false, true);
  if (chance(30))
    value = APInt::getSignedMaxValue(width) - pick(40);
  if (chance(20))
    value = APInt::getSignedMinValue(width) + pick(40);
  return value.shl(pick(width));
}

APInt RandomFunction::argument(BlockArgument argument) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto divisor = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                    tile::kDivisibilityAttr);
  unsigned width = isa<IntegerType>(argument.getType())
                       ? cast<IntegerType>(argument.getType()).getWidth()
                       : 64;
  return number(width) *
         APInt(width, divisor ? divisor.getInt() : 1, false, true);
}

Value RandomFunction::constant(Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return arith::ConstantOp::create(
        builder, loc, type, builder.getIntegerAttr(type, number(width)));
  SmallVector<APInt> values;
  APInt start = number(width), step = number(width);
  unsigned repeat = 1 << pick(4), period = 1 << (1 + pick(5));
  for (int64_t at = 0; at < tensor.getNumElements(); ++at)
    values.push_back(start +
                     step * APInt(width, at / repeat % period, false, true));
  if (chance(50))
    values.assign(1, start);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(tensor, values));
}

/// A value whose elements are all one, of an integer type.
Value RandomFunction::uniform(Type type) {
  Type element = getElementTypeOrSelf(type);
  Value scalar = chance(50) ? oneOf(element) : Value();
  if (!scalar)
    scalar = constant(element);
  if (!isTile(type))
    return scalar;
  return tile::SplatOp::create(builder, loc, type, scalar);
}

Type RandomFunction::reshaped(Type type, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, getElementTypeOrSelf(type));
}

void RandomFunction::apply(StringRef name, ValueRange operands) {
  OperationState state(loc, name);
  state.addOperands(operands);
  state.addTypes(operands.back().getType());
  add(builder.create(state)->getResult(0));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void RandomFunction::makeCreation() {
  static constexpr int64_t shapes[][2] = {{4, 8},  {8, 4}, {16, 1}, {1, 16},
                                          {2, 16}, {6, 4}, {3, 8},  {8, 8}};
  auto shape = ArrayRef<int64_t>(shapes[pick(std::size(shapes))]);
  int64_t count = shape[0] * shape[1];
  auto i32 = builder.getI32Type();
  switch (pick(4)) {
  case 0:
    add(constant(chance(50) ? RankedTensorType::get(shape, i32)
                            : RankedTensorType::get({count}, i32)));
    return;
  case 1:
    if (Value scalar = oneOf([](Type type) { return !isTile(type); }))
      add(tile::SplatOp::create(builder, loc,
                                reshaped(scalar.getType(), {count}), scalar));
    return;
  default:
    int32_t start = chance(60) ? 0 : int32_t(number(8).getSExtValue());
    Value range =
        tile::ArangeOp::create(builder, loc, start, int32_t(start + count));
    add(range);
    if (chance(50))
      add(tile::ReshapeOp::create(builder, loc,
                                  reshaped(range.getType(), shape), range));
  }
}

void RandomFunction::makeBinary() {
  static constexpr StringLiteral names[] = {
      "arith.addi",  "arith.addi",  "arith.subi",      "arith.muli",
      "arith.divsi", "arith.divui", "arith.remsi",     "arith.remui",
      "arith.shli",  "arith.shrsi", "arith.shrui",     "arith.andi",
      "arith.ori",   "arith.xori",  "arith.maxsi",     "arith.minsi",
      "arith.maxui", "arith.minui", "arith.floordivsi"};
  Value x = oneOf(isNumber);
  if (!x)
    return;
  Type type = x.getType();
  Value y = chance(60) ? uniform(type) : oneOf(type);
  if (chance(15))
    std::swap(x, y);
  apply(names[pick(std::size(names))], {x, y});
  Operation *made = pool.back().getDefiningOp();
  if (isa<arith::AddIOp, arith::MulIOp, arith::SubIOp>(made) && chance(40))
    made->setAttr("overflowFlags",
                  arith::IntegerOverflowFlagsAttr::get(
                      builder.getContext(), arith::IntegerOverflowFlags::nsw));
}

void RandomFunction::makeComparison() {
  Value x = oneOf(isInteger);
  if (!x)
    return;
  Type type = x.getType();
  if (chance(50) && isNumber(type)) {
    Value y = chance(70) ? uniform(type) : oneOf(type);
    auto predicate = *arith::symbolizeCmpIPredicate(pick(10));
    if (chance(30))
      std::swap(x, y);
    add(arith::CmpIOp::create(builder, loc, predicate, x, y));
    return;
  }
  Value other = chance(50) ? uniform(type) : oneOf(type);
  Type mask = isTile(type) ? RankedTensorType::get(tile::getShape(type),
                                                   builder.getI1Type())
                           : Type(builder.getI1Type());
  Value condition = oneOf(mask);
  if (chance(20) || !condition)
    condition = oneOf(Type(builder.getI1Type()));
  if (condition)
    add(arith::SelectOp::create(builder, loc, condition, x, other));
}

void RandomFunction::makeCast() {
  Value x = oneOf(isInteger);
  if (!x)
    return;
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  static constexpr unsigned widths[] = {8, 32, 64, 1};
  unsigned to = widths[pick(std::size(widths))];
  Type element = builder.getIntegerType(to);
  Type type = isTile(x.getType())
                  ? reshaped(element, tile::getShape(x.getType()))
                  : element;
  if (to < width)
    add(arith::TruncIOp::create(builder, loc, type, x));
  else if (to > width && chance(60))
    add(arith::ExtSIOp::create(builder, loc, type, x));
  else if (to > width)
    add(arith::ExtUIOp::create(builder, loc, type, x));
}

/// Other shapes of the same elements.
void RandomFunction::makeView() {
  Value x = oneOf(isTile);
  if (!x)
    return;
  ArrayRef<int64_t> shape = tile::getShape(x.getType());
  int64_t count = cast<RankedTensorType>(x.getType()).getNumElements();
  switch (pick(3)) {
  case 0:
    if (shape.size() < 3)
      add(tile::ExpandDimsOp::create(builder, loc, x,
                                     int32_t(pick(shape.size() + 1))));
    return;
  case 1: {
    SmallVector<int32_t> order;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      order.push_back(dim);
    std::shuffle(order.begin(), order.end(), engine);
    add(tile::TransposeOp::create(builder, loc, x, order));
    return;
  }
  default:
    SmallVector<int64_t> to;
    int64_t left = count;
    while (to.size() < 2 && left > 1) {
      static constexpr int64_t parts[] = {1, 2, 3, 4, 8, 16};
      int64_t part = parts[pick(std::size(parts))];
      if (left % part == 0) {
        to.push_back(part);
        left /= part;
      }
    }
    to.insert(to.begin() + pick(to.size() + 1), left);
    add(tile::ReshapeOp::create(builder, loc, reshaped(x.getType(), to), x));
  }
}

void RandomFunction::makeShape() {
  Value x = oneOf(hasAxes);
  if (!x)
    return;
  SmallVector<int64_t> shape(tile::getShape(x.getType()));
  int64_t count = cast<RankedTensorType>(x.getType()).getNumElements();
  int32_t axis = pick(shape.size());
  switch (pick(5)) {
  case 0:
    for (int64_t &extent : shape)
      if (extent == 1 && count < 64)
        extent = 1 << pick(4);
    add(tile::BroadcastOp::create(builder, loc, reshaped(x.getType(), shape),
                                  x));
    return;
  case 1:
    add(tile::FlipOp::create(builder, loc, x, axis));
    return;
  case 2:
    if (count <= 64 && shape.size() < 3)
      add(tile::JoinOp::create(builder, loc, x, oneOf(x.getType())));
    return;
  case 3:
    if (count <= 64)
      add(tile::ConcatOp::create(builder, loc, x, oneOf(x.getType()), axis));
    return;
  default:
    if (shape.back() == 2)
      for (Value half : tile::SplitOp::create(builder, loc, x)->getResults())
        add(half);
  }
}

void RandomFunction::makeSlice() {
  Value x = oneOf(hasAxes);
  if (!x)
    return;
  SmallVector<Value> offsets;
  SmallVector<int32_t> sizes, strides, dropped;
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(tile::getShape(x.getType()))) {
    int32_t size = 1 + pick(extent);
    int32_t stride = size * 2 <= extent && chance(30) ? 2 : 1;
    int32_t last = extent - 1 - (size - 1) * stride;
    Value offset = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(pick(last + 1)));
    if (chance(30)) { // one that is not known, in range as a frontend clamps
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
      Value most = arith::ConstantOp::create(builder, loc,
                                             builder.getI32IntegerAttr(last));
      if (Value any = oneOf(Type(builder.getI32Type())))
        offset = arith::MinSIOp::create(
            builder, loc, arith::MaxSIOp::create(builder, loc, any, zero),
            most);
    }
    offsets.push_back(offset);
    sizes.push_back(size);
    strides.push_back(stride);
    if (size == 1 && chance(50))
      dropped.push_back(dim);
    else
      shape.push_back(size);
  }
  Type type = shape.empty() ? getElementTypeOrSelf(x.getType())
                            : reshaped(x.getType(), shape);
  add(tile::SliceOp::create(builder, loc, type, x, offsets, sizes, strides,
                            dropped));
}

void RandomFunction::makeGather() {
  Value x = oneOf(hasAxes);
  if (!x)
    return;
  Type i32 = builder.getI32Type();
  ArrayRef<int64_t> shape = tile::getShape(x.getType());
  int32_t axis = pick(shape.size());
  Value indices = oneOf(reshaped(i32, shape));
  if (!indices)
    return;
  auto splat = [&](int32_t value) {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(cast<RankedTensorType>(indices.getType()),
                               APInt(32, value)));
  };
  if (chance(50))
    indices = arith::RemUIOp::create(builder, loc, indices, splat(shape[axis]));
  else
    indices =
        arith::MinUIOp::create(builder, loc, indices, splat(shape[axis] - 1));
  add(tile::GatherOp::create(builder, loc, reshaped(x.getType(), shape), x,
                             indices, axis));
}

void RandomFunction::makePointer() {
  Value offset = oneOf([](Type type) { return isNumber(type); });
  if (!offset)
    return;
  Type type = offset.getType();
  auto withElement = [&](Type element) {
    return isTile(type) ? reshaped(element, tile::getShape(type)) : element;
  };
  Value ptr = oneOf([&](Type other) {
    return isPointer(other) && isTile(other) == isTile(type) &&
           tile::getShape(other) == tile::getShape(type);
  });
  if (!ptr) {
    Value scalar =
        oneOf([](Type other) { return isPointer(other) && !isTile(other); });
    ptr = tile::SplatOp::create(builder, loc, withElement(scalar.getType()),
                                scalar);
  }
  Type pointees[] = {builder.getI8Type(), builder.getF32Type(),
                     builder.getF16Type()};
  Type pointer = withElement(tile::PtrType::get(pointees[pick(3)]));
  switch (pick(5)) {
  case 0:
    add(tile::PtrCastOp::create(builder, loc, pointer, ptr));
    return;
  case 1:
    add(tile::PtrToIntOp::create(builder, loc,
                                 withElement(builder.getI64Type()), ptr));
    return;
  case 2:
    if (getElementTypeOrSelf(type).isInteger(64))
      add(tile::IntToPtrOp::create(builder, loc, pointer, offset));
    return;
  default:
    add(tile::AddPtrOp::create(builder, loc, ptr.getType(), ptr, offset));
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void RandomFunction::fillBlock(Block &block, unsigned depth, TypeRange yields,
                               SmallVectorImpl<Value> &yielded) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  for (BlockArgument argument : block.getArguments())
    add(argument);
  for (unsigned count = 2 + pick(6); count > 0; --count)
    step(depth + 1);
  for (Type type : yields)
    yielded.push_back(oneOf(type));
}

static void yield(Block *block, ValueRange values) {
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  scf::YieldOp::create(builder, builder.getUnknownLoc(), values);
}

void RandomFunction::makeFor(unsigned depth) {
  SmallVector<Value> inits, yielded;
  for (unsigned count = 1 + pick(3); count > 0; --count)
    inits.push_back(oneOf([](Type) { return true; }));
  auto bound = [&](int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value begin = chance(70) ? bound(pick(9)) : uniform(builder.getI32Type());
  Value step = bound(1 + pick(8));
  Value end = arith::AddIOp::create(builder, loc, begin, bound(pick(24)),
                                    arith::IntegerOverflowFlags::nsw);
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, inits);
  size_t mark = pool.size();
  fillBlock(*loop.getBody(), depth, ValueRange(inits).getTypes(), yielded);
  pool.truncate(mark);
  yield(loop.getBody(), yielded);
  for (Value result : loop.getResults())
    add(result);
}

void RandomFunction::makeWhile(unsigned depth) {
  Type i32 = builder.getI32Type();
  SmallVector<Value> inits = {constant(i32)}, passed, yielded;
  inits.push_back(oneOf([](Type) { return true; }));
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locs(2, loc);
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  size_t mark = pool.size();
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  fillBlock(*before, depth, types, passed);
  builder.setInsertionPointToEnd(before);
  Value go = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                   before->getArgument(0), uniform(i32));
  scf::ConditionOp::create(builder, loc, go, passed);
  pool.truncate(mark);
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  fillBlock(*after, depth, types, yielded);
  yield(after, yielded);
  pool.truncate(mark);
  for (Value result : loop.getResults())
    add(result);
}

void RandomFunction::makeIf(unsigned depth) {
  Value condition = oneOf(Type(builder.getI1Type()));
  Value sample = oneOf([](Type) { return true; });
  if (!condition)
    return;
  Type type = sample.getType();
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), condition,
                                  /*withElseRegion=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    size_t mark = pool.size();
    SmallVector<Value> yielded;
    fillBlock(*block, depth, type, yielded);
    yield(block, yielded);
    pool.truncate(mark);
  }
  add(branch.getResult(0));
}

void RandomFunction::step(unsigned depth) {
  unsigned kind = pick(100);
  if (kind < 15)
    makeCreation();
  else if (kind < 45)
    makeBinary();
  else if (kind < 57)
    makeComparison();
  else if (kind < 64)
    makeCast();
  else if (kind < 73)
    makeView();
  else if (kind < 80)
    makeShape();
  else if (kind < 84)
    makeSlice();
  else if (kind < 87)
    makeGather();
  else if (kind < 94 || depth >= 2)
    makePointer();
  else if (kind < 97)
    makeFor(depth);
  else if (kind < 98)
    makeWhile(depth);
  else
    makeIf(depth);
}

func::FuncOp RandomFunction::make() {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Type types[] = {i32,
                  i32,
                  i64,
                  builder.getI1Type(),
                  tile::PtrType::get(builder.getF32Type()),
                  tile::PtrType::get(builder.getI8Type())};
  auto func = func::FuncOp::create(loc, "f",
                                   builder.getFunctionType(types, TypeRange()));
  module.push_back(func);
  Block *block = func.addEntryBlock();
  for (BlockArgument argument : block->getArguments()) {
    add(argument);
    if (!argument.getType().isInteger(1) && chance(60))
      func.setArgAttr(argument.getArgNumber(), tile::kDivisibilityAttr,
                      builder.getI32IntegerAttr(1 << pick(6)));
  }
  builder.setInsertionPointToEnd(block);
  makeCreation();
  for (unsigned count = 6 + pick(24); count > 0; --count)
    step(0);
  func::ReturnOp::create(builder, loc);
  return func;
}
