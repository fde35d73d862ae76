//===- Evaluate.cpp - Strips of virtual tiles -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// eval(tile, coordinates) emits code for `lanes` elements of a tile. Integers
// stay scalar (uniform or affine) as long as they can, so that addresses, masks
// and per-row values cost nothing per lane. A strip's cache keeps every value
// that was asked for, so a value used twice is computed once.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

Type cpu::registerType(Type element) {
  if (isa<tile::PtrType>(element))
    return IntegerType::get(element.getContext(), 64);
  return element;
}

Type cpu::storageType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<tile::PtrType>(element))
    return IntegerType::get(context, 64);
  if (element.getIntOrFloatBitWidth() <= 8)
    return IntegerType::get(context, 8);
  return element;
}

int64_t cpu::byteSize(Type element) {
  return storageType(element).getIntOrFloatBitWidth() / 8;
}

bool cpu::isVirtualOp(Operation *op) {
  if (op->getNumResults() == 0 || op->getNumRegions() != 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isa<tile::ReshapeOp, tile::JoinOp, tile::ConcatOp, tile::InsertOp,
          tile::DotOp, tile::HistogramOp, tile::SortOp, tile::AtomicRMWOp,
          tile::AtomicCASOp>(op))
    return false;
  return isa<tile::TileDialect, arith::ArithDialect, math::MathDialect>(
      op->getDialect());
}

bool cpu::isRenaming(Operation *op) {
  return isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp,
             tile::FlipOp, tile::SliceOp, tile::SplitOp>(op);
}

Type Lowering::laneType(Type element) {
  Type type = registerType(element);
  return lanes == 1 ? type : VectorType::get({lanes}, type);
}

Value Lowering::index(int64_t value) {
  Value &known = indexConstants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    known = constant(value, b.getI64Type());
  }
  return known;
}

Value Lowering::constant(int64_t value, Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = b.getFloatAttr(element, static_cast<double>(value));
  else
    attr = b.getIntegerAttr(
        element, APInt(element.getIntOrFloatBitWidth(), value, true, true));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

Value Lowering::zero(Type type) { return constant(0, type); }

Value Lowering::addIndex(Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(lhs, rhs);
}

Value Lowering::mulIndex(Value lhs, int64_t rhs) {
  if (rhs == 1)
    return lhs;
  return b.createOrFold<arith::MulIOp>(lhs, constant(rhs, lhs.getType()));
}

Value Lowering::asVector(Val value) {
  if (value.isVector || lanes == 1)
    return value.v;
  auto type = VectorType::get({lanes}, value.v.getType());
  Value splat = vector::BroadcastOp::create(b, type, value.v);
  if (value.step == 0)
    return splat;
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(APInt(width, lane * value.step, true, true));
  Value offsets =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(b, splat, offsets);
}

Val Lowering::add(Val lhs, Val rhs, Type type) {
  if (!lhs.isVector && !rhs.isVector)
    return {b.createOrFold<arith::AddIOp>(lhs.v, rhs.v), lhs.step + rhs.step,
            false};
  return {arith::AddIOp::create(b, asVector(lhs), asVector(rhs)), 0, true};
}

Val Lowering::scaled(Val value, int64_t factor, Type type) {
  if (factor == 1)
    return value;
  if (!value.isVector)
    return {b.createOrFold<arith::MulIOp>(value.v,
                                          constant(factor, value.v.getType())),
            value.step * factor, false};
  return {
      arith::MulIOp::create(b, value.v, constant(factor, value.v.getType())), 0,
      true};
}

Val Lowering::eval(Value tile, const Coords &at) {
  auto &entries = cache[tile];
  for (auto &[coords, val] : entries)
    if (coords == at)
      return val;
  Val result;
  if (auto it = buffers.find(tile);
      it != buffers.end() && !indices.contains(tile))
    result = loadBuffer(it->second, at);
  else
    result = evalOp(tile.getDefiningOp(), tile, at);
  // Lanes of a strip of one are all alike.
  if (lanes == 1)
    result = {result.v, 0, false};
  cache[tile].push_back({at, result});
  return result;
}

std::optional<Coords> Lowering::sourceCoords(Operation *op, const Coords &at) {
  Coords from(at);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    ArrayRef<int64_t> shape = tile::getShape(broadcast.getSource().getType());
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (extent == 1)
        from[dim] = {index(0), 0};
  } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    from.erase(from.begin() + expand.getAxis());
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getOrder()))
      from[source] = at[dim];
  } else {
    return std::nullopt;
  }
  return from;
}

Val Lowering::evalConstant(arith::ConstantOp op) {
  // Tiles of different elements are put into buffers beforehand.
  auto dense = cast<DenseElementsAttr>(op.getValue());
  return {arith::ConstantOp::create(b, dense.getSplatValue<TypedAttr>()), 0,
          false};
}

Val Lowering::evalArange(tile::ArangeOp op, const Coords &at) {
  Type i32 = b.getI32Type();
  Value base = b.createOrFold<arith::TruncIOp>(i32, at[0].base);
  base = b.createOrFold<arith::AddIOp>(
      base, constant(static_cast<int32_t>(op.getStart()), i32));
  return {base, at[0].step, false};
}

Val Lowering::evalFlip(tile::FlipOp op, const Coords &at) {
  Coords from(at);
  int64_t axis = op.getAxis();
  int64_t last = op.getType().getDimSize(axis) - 1;
  from[axis] = {b.createOrFold<arith::SubIOp>(index(last), at[axis].base),
                -at[axis].step};
  return eval(op.getSource(), from);
}

Val Lowering::evalSlice(tile::SliceOp op, const Coords &at) {
  Coords from;
  size_t next = 0;
  for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
    Coord coord{index(0), 0};
    if (!llvm::is_contained(op.getDropped(), static_cast<int32_t>(dim)))
      coord = at[next++];
    Value start =
        b.createOrFold<arith::ExtSIOp>(b.getI64Type(), scalar(offset));
    from.push_back({addIndex(mulIndex(coord.base, op.getStrides()[dim]), start),
                    coord.step * op.getStrides()[dim]});
  }
  return eval(op.getSource(), from);
}

Val Lowering::evalSplit(tile::SplitOp op, Value result, const Coords &at) {
  Coords from(at);
  from.push_back({index(result == op.getLhs() ? 0 : 1), 0});
  return eval(op.getSource(), from);
}

Value Lowering::clamped(tile::ClampOp op, Value x, Value low, Value high) {
  if (op.getPropagateNan()) {
    x = arith::MaximumFOp::create(b, x, low);
    return arith::MinimumFOp::create(b, x, high);
  }
  x = arith::MaxNumFOp::create(b, x, low);
  return arith::MinNumFOp::create(b, x, high);
}

Val Lowering::evalClamp(tile::ClampOp op, const Coords &at) {
  Value x = evalVector(op.getSource(), at);
  Value low = evalVector(op.getLow(), at);
  Value high = evalVector(op.getHigh(), at);
  return {clamped(op, x, low, high), 0, true};
}

Val Lowering::evalOp(Operation *op, Value result, const Coords &at) {
  assert(op && "a tile that is no op's result must be in a buffer");
  b.setLoc(op->getLoc());
  return llvm::TypeSwitch<Operation *, Val>(op)
      .Case([&](tile::ArangeOp o) { return evalArange(o, at); })
      .Case(
          [&](tile::SplatOp o) { return Val{scalar(o.getSource()), 0, false}; })
      .Case([&](arith::ConstantOp o) { return evalConstant(o); })
      .Case<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp>(
          [&](Operation *renaming) {
            return eval(renaming->getOperand(0), *sourceCoords(renaming, at));
          })
      .Case([&](tile::FlipOp o) { return evalFlip(o, at); })
      .Case([&](tile::SliceOp o) { return evalSlice(o, at); })
      .Case([&](tile::SplitOp o) { return evalSplit(o, result, at); })
      .Case([&](tile::GatherOp o) { return evalGather(o, at); })
      .Case([&](tile::LoadOp o) { return evalLoad(o, at); })
      .Case([&](tile::AddPtrOp o) { return address(o, at); })
      .Case<tile::HintOp, tile::PtrCastOp, tile::PtrToIntOp, tile::IntToPtrOp>(
          [&](Operation *same) { return eval(same->getOperand(0), at); })
      .Case([&](tile::ClampOp o) { return evalClamp(o, at); })
      .Default([&](Operation *) { return evalElementwise(op, result, at); });
}

Val Lowering::address(tile::AddPtrOp op, const Coords &at) {
  Val base = eval(op.getPtr(), at);
  Val offset = eval(op.getOffset(), at);
  b.setLoc(op.getLoc());
  auto pointee =
      cast<tile::PtrType>(tile::getElementType(op.getType())).getPointeeType();
  Type i64 = b.getI64Type();
  Type from = getElementTypeOrSelf(offset.v.getType());
  if (from.getIntOrFloatBitWidth() < 64) {
    // A narrow sum may wrap between lanes unless it steps by one.
    if (!offset.isVector && std::abs(offset.step) <= 1)
      offset.v = b.createOrFold<arith::ExtSIOp>(i64, offset.v);
    else
      offset = {b.createOrFold<arith::ExtSIOp>(laneType(i64), asVector(offset)),
                0, true};
  }
  return add(base, scaled(offset, byteSize(pointee), i64), i64);
}

/// The constant that a value is, if it is one.
static std::optional<int64_t> constantOf(Value value) {
  IntegerAttr attr;
  if (matchPattern(value, m_Constant(&attr)))
    return attr.getValue().getSExtValue();
  return std::nullopt;
}

Value Lowering::startsNoMore(Value dividend, Value divisor, Value remainder,
                             int64_t extent) {
  Type type = dividend.getType();
  Value last = arith::AddIOp::create(b, remainder, constant(extent - 1, type));
  Value positive =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, dividend, zero(type));
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, last, divisor);
  return arith::AndIOp::create(b, positive, fits);
}

std::optional<Val> Lowering::evalAffine(Operation *op, ArrayRef<Val> operands) {
  if (operands.empty() ||
      llvm::any_of(operands, [](const Val &v) { return v.isVector; }))
    return std::nullopt;
  const Val &lhs = operands[0];
  const Val &rhs = operands.back();
  if (isa<arith::AddIOp>(op))
    return Val{b.createOrFold<arith::AddIOp>(lhs.v, rhs.v), lhs.step + rhs.step,
               false};
  if (isa<arith::SubIOp>(op))
    return Val{b.createOrFold<arith::SubIOp>(lhs.v, rhs.v), lhs.step - rhs.step,
               false};
  if (isa<arith::MulIOp>(op)) {
    const Val &moving = lhs.step ? lhs : rhs;
    const Val &factor = lhs.step ? rhs : lhs;
    std::optional<int64_t> value = constantOf(factor.v);
    if (!value || factor.step != 0)
      return std::nullopt;
    return Val{b.createOrFold<arith::MulIOp>(moving.v, factor.v),
               moving.step * *value, false};
  }
  if (isa<arith::ExtSIOp>(op) && std::abs(lhs.step) <= 1)
    return Val{b.createOrFold<arith::ExtSIOp>(
                   tile::getElementType(op->getResult(0).getType()), lhs.v),
               lhs.step, false};
  if (isa<arith::RemSIOp>(op) && assumptions && lhs.step == 1 &&
      rhs.step == 0) {
    // x % n of consecutive x is consecutive while it does not pass a multiple
    // of n.
    Value rem = arith::RemSIOp::create(b, lhs.v, rhs.v);
    assumptions->push_back(startsNoMore(lhs.v, rhs.v, rem, lanes));
    return Val{rem, 1, false};
  }
  return std::nullopt;
}

Val Lowering::evalElementwise(Operation *op, Value result, const Coords &at) {
  SmallVector<Val> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? eval(operand, at)
                           : Val{scalar(operand), 0, false});
  b.setLoc(op->getLoc());
  bool uniform =
      llvm::all_of(operands, [](const Val &v) { return v.isUniform(); });
  if (!uniform)
    if (std::optional<Val> affine = evalAffine(op, operands))
      return *affine;
  SmallVector<Value> values;
  for (auto [position, operand] : llvm::enumerate(operands)) {
    bool isCondition = isa<arith::SelectOp>(op) && position == 0;
    bool keepScalar = uniform || (isCondition && operand.isUniform());
    values.push_back(keepScalar ? operand.v : asVector(operand));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = tile::getElementType(type);
    types.push_back(uniform ? registerType(element) : laneType(element));
  }
  OperationState state(op->getLoc(), op->getName(), values, types,
                       op->getAttrs());
  Operation *created = b.create(state);
  unsigned position = cast<OpResult>(result).getResultNumber();
  Value value = created->getResult(position);
  if (uniform && created->getNumResults() == 1) {
    // Folding keeps strides and bounds constant where they are.
    SmallVector<Value> folded;
    if (succeeded(b.tryFold(created, folded)) && folded.size() == 1) {
      created->erase();
      value = folded.front();
    }
  }
  return {value, 0, !uniform && lanes > 1};
}

Val Lowering::evalGather(tile::GatherOp op, const Coords &at) {
  const Buffer &source = buffers.find(op.getSource())->second;
  int64_t axis = op.getAxis();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  Val picked = eval(op.getIndices(), at);
  b.setLoc(op.getLoc());
  Type i64 = b.getI64Type();
  Value wide = asVector(picked);
  if (getElementTypeOrSelf(wide.getType()).getIntOrFloatBitWidth() < 64)
    wide = arith::ExtSIOp::create(b, laneType(i64), wide);
  // An index outside the axis is undefined, but must not leave the buffer.
  Type lane = laneType(i64);
  wide = arith::MaxSIOp::create(b, wide, zero(lane));
  wide = arith::MinSIOp::create(b, wide,
                                constant(type.getDimSize(axis) - 1, lane));
  Coords rest(at);
  rest[axis] = {index(0), 0};
  auto [start, step] = bufferAddress(source, rest);
  int64_t bytes = byteSize(source.element);
  Val address = add(
      Val{start, step * bytes, false},
      scaled(Val{wide, 0, lanes > 1}, source.strides[axis] * bytes, i64), i64);
  return {loadLanes(address, source.element, {}, {}, {}), 0, lanes > 1};
}

Value Lowering::allTrue(Value mask, const Coords &at) {
  for (auto &[coords, val] : cache.lookup(mask))
    if (coords == at && val.isUniform())
      return val.v;
  Operation *op = mask.getDefiningOp();
  if (!op || isInBuffer(mask))
    return {};
  auto conjunction = [&](Value lhs, Value rhs, const Coords &where) -> Value {
    Value a = allTrue(lhs, where);
    Value c = a ? allTrue(rhs, where) : Value();
    return c ? Value(arith::AndIOp::create(b, a, c)) : Value();
  };
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return scalar(splat.getSource());
  if (isa<arith::AndIOp>(op))
    return conjunction(op->getOperand(0), op->getOperand(1), at);
  if (std::optional<Coords> from = sourceCoords(op, at))
    return allTrue(op->getOperand(0), *from);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare) {
    Val value = eval(mask, at);
    return value.isUniform() ? value.v : Value();
  }
  Val lhs = eval(compare.getLhs(), at), rhs = eval(compare.getRhs(), at);
  if (lhs.isUniform() && rhs.isUniform())
    return eval(mask, at).v;
  using P = arith::CmpIPredicate;
  bool isMonotone = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge},
                                       compare.getPredicate());
  if (lhs.isVector || rhs.isVector || !isMonotone || std::abs(lhs.step) > 1 ||
      std::abs(rhs.step) > 1)
    return {};
  // The difference of two affine values is monotone, so both ends decide.
  Type i64 = b.getI64Type();
  auto end = [&](Val v, int64_t lane) -> Value {
    Value wide =
        v.v.getType() == i64 ? v.v : b.createOrFold<arith::ExtSIOp>(i64, v.v);
    return addIndex(wide, index(v.step * lane));
  };
  Value first = arith::CmpIOp::create(b, compare.getPredicate(), end(lhs, 0),
                                      end(rhs, 0));
  Value last = arith::CmpIOp::create(b, compare.getPredicate(),
                                     end(lhs, lanes - 1), end(rhs, lanes - 1));
  return arith::AndIOp::create(b, first, last);
}

void Lowering::fetchAhead(tile::LoadOp op, Val address) {
  auto it = ahead.find(op);
  int64_t bytes = byteSize(tile::getElementType(op.getType()));
  if (it == ahead.end() || address.isVector || address.step != bytes)
    return;
  for (int64_t line = 0; line < lanes * bytes; line += 64) {
    Value next = addIndex(address.v, index(it->second + line));
    LLVM::Prefetch::create(
        b,
        LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                 next),
        /*rw=*/0, /*hint=*/3, /*cache=*/1);
  }
}

Val Lowering::evalLoad(tile::LoadOp op, const Coords &at) {
  Type element = tile::getElementType(op.getType());
  int64_t bytes = byteSize(element);
  Value mask, maskAllTrue, other;
  if (op.getMask()) {
    maskAllTrue = allTrue(op.getMask(), at);
    Val value = eval(op.getMask(), at);
    mask = value.isUniform() ? value.v : asVector(value);
    if (matchPattern(mask, m_One()))
      mask = {};
    else
      other = op.getOther() ? evalVector(op.getOther(), at)
                            : zero(laneType(element));
  }
  Cache outer = cache;
  auto finish = [&](Val address) -> Value {
    b.setLoc(op.getLoc());
    // One address for all lanes, and nothing to leave out: a scalar.
    return loadLanes(address, element, mask, maskAllTrue, other);
  };
  // First as if lanes were consecutive where that needs to be checked.
  SmallVector<Value> conditions;
  SmallVector<Value> *saved = assumptions;
  assumptions = &conditions;
  Val fast = eval(op.getPtr(), at);
  assumptions = saved;
  b.setLoc(op.getLoc());
  fetchAhead(op, fast);
  if (!mask && fast.isUniform() && conditions.empty()) {
    Value ptr = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext()), fast.v);
    return {
        fromStorage(LLVM::LoadOp::create(b, storageType(element), ptr, bytes),
                    element),
        0, false};
  }
  if (conditions.empty())
    return {finish(fast), 0, true};
  if (fast.isVector || fast.step != bytes) {
    cache = outer;
    return {finish(eval(op.getPtr(), at)), 0, true};
  }
  Value all = conditions.front();
  for (Value condition : ArrayRef(conditions).drop_front())
    all = arith::AndIOp::create(b, all, condition);
  Value loaded = ifElse(
      all, laneType(element), [&] { return finish(fast); },
      [&] {
        cache = outer;
        return finish(eval(op.getPtr(), at));
      });
  cache = outer;
  return {loaded, 0, true};
}
