//===- Memory.cpp - Global memory -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are of integers or of vectors of integers, in words of four bytes
// where there are so many; floats and pointers are cast on the way.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

/// The type of an element in an LLVM vector.
static Type laneType(OpBuilder &b, Type element) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return element;
  return b.getIntegerType(8 * simt::elementBytes(element));
}

Type Lowering::memoryType(Type element, int64_t count) {
  int64_t bytes = simt::elementBytes(element), total = bytes * count;
  int64_t word = std::max(bytes, std::min<int64_t>(4, total));
  Type type = b.getIntegerType(8 * word);
  return total == word ? type : VectorType::get(total / word, type);
}

Value Lowering::toInteger(Value value, Type element) {
  Type type = b.getIntegerType(8 * simt::elementBytes(element));
  if (isa<tile::PtrType>(element))
    return LLVM::PtrToIntOp::create(b, type, value);
  if (isa<FloatType>(element))
    return arith::BitcastOp::create(b, type, value);
  if (element != type)
    return arith::ExtUIOp::create(b, type, value);
  return value;
}

Value Lowering::fromInteger(Value raw, Type element) {
  if (isa<tile::PtrType>(element))
    return LLVM::IntToPtrOp::create(b, registerType(element), raw);
  if (isa<FloatType>(element))
    return arith::BitcastOp::create(b, element, raw);
  if (element != raw.getType())
    return arith::TruncIOp::create(b, element, raw);
  return raw;
}

Value Lowering::pack(ValueRange values, Type element) {
  if (values.size() == 1)
    return toInteger(values.front(), element);
  Type lane = laneType(b, element);
  auto count = static_cast<int64_t>(values.size());
  auto type = VectorType::get(count, lane);
  Value vector = LLVM::PoisonOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value one = lane == element ? value : toInteger(value, element);
    vector = LLVM::InsertElementOp::create(b, vector, one,
                                           i32(static_cast<int64_t>(i)));
  }
  Type memory = memoryType(element, count);
  if (memory != type)
    vector = LLVM::BitcastOp::create(b, memory, vector);
  return vector;
}

SmallVector<Value> Lowering::unpack(Value raw, Type element, int64_t count) {
  if (count == 1)
    return {fromInteger(raw, element)};
  Type lane = laneType(b, element);
  auto type = VectorType::get(count, lane);
  if (raw.getType() != type)
    raw = LLVM::BitcastOp::create(b, type, raw);
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Value one = LLVM::ExtractElementOp::create(b, raw, i32(i));
    values.push_back(lane == element ? one : fromInteger(one, element));
  }
  return values;
}

/// How many elements an access of `op` covers: no more than its attribute says,
/// than 16 bytes hold, than low registers hold in a row.
int64_t Lowering::accessWidth(Operation *op, RankedTensorType type) {
  auto attribute = op->getAttrOfType<IntegerAttr>(simt::kVectorAttr);
  int64_t widest = attribute ? attribute.getInt() : 1;
  widest = std::min(widest, 16 / simt::elementBytes(type.getElementType()));
  Distribution &d = distribution(type);
  for (int64_t dim = 0; dim < d.rank(); ++dim) {
    int64_t width = 1;
    for (const Coords &basis : d.registers) {
      Coords step(d.rank(), 0);
      step[dim] = static_cast<int32_t>(width);
      if (2 * width > widest || basis != step)
        break;
      width *= 2;
    }
    // Accesses start at multiples of their width, and no row ends within one.
    auto areAligned = [&](ArrayRef<Coords> bases) {
      return llvm::all_of(
          bases, [&](const Coords &basis) { return basis[dim] % width == 0; });
    };
    while (type.getDimSize(dim) % width != 0 || !areAligned(d.lanes) ||
           !areAligned(d.warps) || !areAligned(d.loops) ||
           !areAligned(
               ArrayRef<Coords>(d.registers).drop_front(llvm::Log2_64(width))))
      width /= 2;
    if (width > 1)
      return width;
  }
  return 1;
}

static bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

Value Lowering::accessMask(RankedTensorType type, uint32_t r, Value mask) {
  Value within = inBounds(type, r);
  return mask ? both(within, registersOf(mask)[r]) : within;
}

LogicalResult Lowering::lowerLoad(tile::LoadOp op) {
  Type element = tile::getElementType(op.getType());
  // `others` are null where an element without its mask is 0.
  auto load = [&](Value ptr, Value mask, ArrayRef<Value> others) {
    auto count = static_cast<int64_t>(others.size());
    // Whether the mask says so or the tile ends before.
    if (mask && mask == never())
      return llvm::map_to_vector(others, [&](Value other) {
        return other ? other : zero(registerType(element));
      });
    Value other;
    if (mask && others.front() && !llvm::all_of(others, isZero))
      other = pack(others, element);
    Value raw = simt::ThreadLoadOp::create(b, memoryType(element, count), ptr,
                                           mask, other, op.getCache(),
                                           op.getEvict(), op.getIsVolatile());
    return unpack(raw, element, count);
  };
  if (!isTile(op.getResult())) {
    Value mask = op.getMask() ? both({}, scalar(op.getMask())) : Value();
    Value other = op.getOther() ? scalar(op.getOther()) : Value();
    setScalar(op.getResult(), load(scalar(op.getPtr()), mask, {other}).front());
    return success();
  }
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  Distribution &d = distribution(type);
  int64_t width = accessWidth(op, type);
  ArrayRef<Value> pointers = registersOf(op.getPtr()), others;
  if (op.getOther())
    others = registersOf(op.getOther());
  Registers now(d.numRegisters());
  for (uint32_t r : d.unique) {
    if (r % width != 0)
      continue;
    Value mask = accessMask(type, r, op.getMask());
    SmallVector<Value> replacements(width);
    if (op.getOther())
      replacements.assign(others.begin() + r, others.begin() + r + width);
    llvm::copy(load(pointers[r], mask, replacements), now.begin() + r);
  }
  setEach(op.getResult(), [&](uint32_t r) { return now[r]; });
  return success();
}

LogicalResult Lowering::lowerStore(tile::StoreOp op) {
  Type element = tile::getElementType(op.getValue().getType());
  if (!isTile(op.getValue())) {
    Value mask = isFirstThread();
    if (op.getMask())
      mask = both(mask, scalar(op.getMask()));
    if (mask == never())
      return success();
    simt::ThreadStoreOp::create(b, scalar(op.getPtr()),
                                toInteger(scalar(op.getValue()), element), mask,
                                op.getCache(), op.getEvict());
    return success();
  }
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Distribution &d = distribution(type);
  int64_t width = accessWidth(op, type);
  ArrayRef<Value> pointers = registersOf(op.getPtr()),
                  values = registersOf(op.getValue());
  for (uint32_t r : d.unique) {
    if (r % width != 0)
      continue;
    Value mask = both(isWriter(d), accessMask(type, r, op.getMask()));
    if (mask && mask == never())
      continue;
    simt::ThreadStoreOp::create(b, pointers[r],
                                pack(values.slice(r, width), element), mask,
                                op.getCache(), op.getEvict());
  }
  return success();
}

Value Lowering::atomicElement(Operation *op, Value ptr, Value value,
                              Value expected, Value mask) {
  Type element = tile::getElementType(op->getResult(0).getType());
  if (mask && mask == never())
    return zero(registerType(element));
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    Value now = toInteger(value, element);
    Value old = simt::ThreadAtomicCASOp::create(
        b, now.getType(), ptr, toInteger(expected, element), now, mask,
        cas.getSem(), cas.getScope());
    return fromInteger(old, element);
  }
  auto rmw = cast<tile::AtomicRMWOp>(op);
  bool isNative =
      isa<IntegerType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
          element);
  Value now = isNative ? value : toInteger(value, element);
  Value old =
      simt::ThreadAtomicRMWOp::create(b, now.getType(), rmw.getKind(), ptr, now,
                                      mask, rmw.getSem(), rmw.getScope());
  return isNative ? old : fromInteger(old, element);
}

/// Whether all that becomes of an atomic's result is that one thread writes it
/// to shared memory.
static bool isOnlyShared(Value result) {
  return llvm::all_of(result.getUsers(), [](Operation *user) {
    return isa<simt::LocalStoreOp>(user);
  });
}

LogicalResult Lowering::lowerAtomic(Operation *op) {
  Value result = op->getResult(0), ptr = op->getOperand(0), mask;
  Value value = op->getOperand(1), expected;
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    expected = cas.getExpected();
    value = cas.getValue();
  } else {
    mask = cast<tile::AtomicRMWOp>(op).getMask();
  }
  if (!isTile(result)) {
    if (!isOnlyShared(result))
      return op->emitOpError("expected the result of a scalar's atomic, which "
                             "one thread has, to go through shared memory");
    Value condition = isFirstThread();
    if (mask)
      condition = both(condition, scalar(mask));
    setScalar(result,
              atomicElement(op, scalar(ptr), scalar(value),
                            expected ? scalar(expected) : Value(), condition));
    return success();
  }
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(result.getType());
  Distribution &d = distribution(type);
  bool isShared = isOnlyShared(result);
  // A lane's copy is in the lane with its free bits 0, if these move nothing.
  bool isInWarp = d.freeWarps == 0;
  for (auto [bit, basis] : llvm::enumerate(d.lanes))
    isInWarp &= (d.freeLanes >> bit & 1) == 0 ||
                llvm::all_of(basis, [](int32_t c) { return c == 0; });
  if (!isInWarp && !isShared)
    return op->emitOpError("expected the result of an atomic, of which several "
                           "warps need copies, to go through shared memory");
  Value source;
  if (d.freeLanes != 0 && !isShared)
    source = arith::AndIOp::create(b, laneId(),
                                   i32(~static_cast<int32_t>(d.freeLanes)));
  setEach(result, [&](uint32_t r) {
    Value condition = both(isWriter(d), inBounds(type, r));
    if (mask)
      condition = both(condition, registersOf(mask)[r]);
    Value old =
        atomicElement(op, registersOf(ptr)[r], registersOf(value)[r],
                      expected ? registersOf(expected)[r] : Value(), condition);
    return source ? shuffleIndex(old, source) : old;
  });
  return success();
}
