//===- Shared.cpp - Shared memory -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The place of an element is linear in the bits of the hardware index, like its
// coordinates: a sum of strides, or under a swizzle an XOR. So one address a
// thread is computed, and registers differ from it by constants.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

int32_t Lowering::Addressing::own(uint32_t r) const {
  int32_t total = 0;
  for (auto [bit, step] : llvm::enumerate(registers))
    if (r >> bit & 1)
      total = mode == Xor ? total ^ step : total + step;
  return total;
}

Value Lowering::pointerTo(Type element, Value base,
                          ArrayRef<LLVM::GEPArg> index) {
  return LLVM::GEPOp::create(b, base.getType(), element, base, index);
}

/// A power of two that divides an integer, as its definition shows.
static int64_t divisorOf(Value value, int depth = 0) {
  constexpr int64_t most = 16;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero() || constant.countr_zero() >= 4
               ? most
               : int64_t{1} << constant.countr_zero();
  Operation *op = value.getDefiningOp();
  if (!op || depth == 4)
    return 1;
  if (isa<arith::MulIOp>(op))
    return std::min(most, divisorOf(op->getOperand(0), depth + 1) *
                              divisorOf(op->getOperand(1), depth + 1));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(divisorOf(op->getOperand(0), depth + 1),
                    divisorOf(op->getOperand(1), depth + 1));
  if (isa<arith::SelectOp>(op))
    return std::min(divisorOf(op->getOperand(1), depth + 1),
                    divisorOf(op->getOperand(2), depth + 1));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return divisorOf(op->getOperand(0), depth + 1);
  return 1;
}

FailureOr<Lowering::Addressing> Lowering::addressing(Operation *op,
                                                     Value buffer, Type element,
                                                     Value offset,
                                                     int64_t base) {
  auto alloc = buffer.getDefiningOp<simt::AllocOp>();
  if (!alloc || !alloc.getOffset())
    return op->emitOpError("expected a buffer with an offset: tz-allocate-"
                           "shared has to run before");
  if (!sharedBase)
    atEntry([&] {
      sharedBase = simt::SharedBaseOp::create(
          b, LLVM::LLVMPointerType::get(b.getContext(), 3));
    });
  Addressing a;
  int64_t bytes = simt::elementBytes(element);
  a.element = b.getIntegerType(8 * bytes);
  int64_t start = static_cast<int64_t>(*alloc.getOffset()) + base * bytes;
  a.base = sharedBase;
  if (start != 0)
    a.base = pointerTo(b.getI8Type(), a.base,
                       LLVM::GEPArg(static_cast<int32_t>(start)));
  a.alignment = base == 0 ? 16 : base & -base;
  a.first = static_cast<int32_t>(base);
  a.offset = offset;
  if (auto within = op->getAttrOfType<IntegerAttr>("within")) {
    // An access lies wholly inside or outside.
    a.within = static_cast<int32_t>(within.getInt());
    a.alignment = std::min<int64_t>(a.alignment, a.within & -a.within);
  }
  if (offset) {
    a.base = pointerTo(a.element, a.base, LLVM::GEPArg(offset));
    a.alignment = std::min(a.alignment, divisorOf(offset));
  }
  a.threadBase = a.base;
  return a;
}

void Lowering::addressTile(Addressing &a, RankedTensorType type,
                           ArrayRef<int32_t> strides,
                           simt::LayoutAttr swizzle) {
  Distribution &d = distribution(type);
  a.strides.assign(strides.begin(), strides.end());
  std::optional<layout::LinearLayout> inverse;
  if (swizzle) {
    inverse = swizzle.getLayout().invert();
    a.mode = Addressing::Xor;
  }
  Coords seen(d.rank(), 0);
  auto steps = [&](ArrayRef<Coords> bases, SmallVector<int32_t> &out) {
    for (const Coords &basis : bases) {
      int32_t step = 0;
      if (inverse)
        step = inverse->apply(basis).front();
      for (int64_t dim = 0; dim < d.rank(); ++dim) {
        // Coordinates that are XORs are no sum of strides.
        if (!swizzle && (seen[dim] & basis[dim]) != 0)
          a.mode = Addressing::Coordinates;
        seen[dim] |= basis[dim];
        if (!inverse)
          step += basis[dim] * strides[dim];
      }
      out.push_back(step);
    }
  };
  steps(d.registers, a.registers);
  steps(d.lanes, a.lanes);
  steps(d.warps, a.warps);
  steps(d.loops, a.loops);
  if (a.mode == Addressing::Coordinates)
    return;
  a.thread = threadPart(a.lanes, a.warps, a.loops, a.mode == Addressing::Sum);
  if (a.thread)
    a.threadBase = pointerTo(a.element, a.base, LLVM::GEPArg(a.thread));
  for (ArrayRef<int32_t> part :
       {ArrayRef(a.lanes), ArrayRef(a.warps), ArrayRef(a.loops)})
    for (int32_t step : part)
      a.threadMask |= step;
}

SmallVector<unsigned> Lowering::chooseGroup(const Addressing &a,
                                            RankedTensorType type,
                                            int64_t bytes) {
  SmallVector<unsigned> group;
  if (a.mode == Addressing::Coordinates)
    return group;
  Distribution &d = distribution(type);
  auto isDivisible = [](ArrayRef<int32_t> steps, int64_t by) {
    return llvm::all_of(steps, [by](int32_t step) { return step % by == 0; });
  };
  // An access lies wholly within the shape or wholly outside.
  auto isWhole = [&](const Coords &basis) {
    for (int64_t dim = 0; dim < d.rank(); ++dim) {
      int64_t extent = type.getDimSize(dim);
      if (basis[dim] != 0 && extent != int64_t{1} << d.outBits[dim] &&
          extent % (2 * int64_t{1} << llvm::Log2_32(basis[dim])) != 0)
        return false;
    }
    return true;
  };
  for (int64_t width = 1; 2 * width * bytes <= 16; width *= 2) {
    int64_t wider = 2 * width;
    const auto *it = llvm::find(a.registers, width);
    if (it == a.registers.end() || a.alignment % wider != 0 ||
        !isDivisible(a.lanes, wider) || !isDivisible(a.warps, wider) ||
        !isDivisible(a.loops, wider))
      break;
    auto bit = static_cast<unsigned>(it - a.registers.begin());
    if ((d.freeRegisters >> bit & 1) != 0 || !isWhole(d.registers[bit]))
      break;
    bool othersFit = true;
    for (auto [other, step] : llvm::enumerate(a.registers))
      othersFit &=
          step % wider == 0 || other == bit || llvm::is_contained(group, other);
    if (!othersFit)
      break;
    group.push_back(bit);
  }
  return group;
}

Value Lowering::address(Addressing &a, RankedTensorType type, uint32_t r) {
  if (a.mode == Addressing::Coordinates) {
    Distribution &d = distribution(type);
    Value index;
    for (int64_t dim = 0; dim < d.rank(); ++dim) {
      if (a.strides[dim] == 0 || type.getDimSize(dim) == 1)
        continue;
      Value part = coordinate(d, r, dim);
      if (a.strides[dim] != 1)
        part = arith::MulIOp::create(b, part, i32(a.strides[dim]));
      index = add(index, part);
    }
    return index ? pointerTo(a.element, a.base, LLVM::GEPArg(index)) : a.base;
  }
  int32_t own = a.own(r);
  if (own == 0)
    return a.threadBase;
  if (a.mode == Addressing::Sum || (own & a.threadMask) == 0)
    return pointerTo(a.element, a.threadBase, LLVM::GEPArg(own));
  return pointerTo(a.element, a.base,
                   LLVM::GEPArg(exclusiveOr(a.thread, i32(own))));
}

/// The place of register `r` but for what is the same in all threads.
Value Lowering::placeOfThread(Addressing &a, RankedTensorType type,
                              uint32_t r) {
  if (a.mode == Addressing::Sum)
    return a.thread;
  if (a.mode == Addressing::Xor)
    return exclusiveOr(a.thread, i32(a.own(r)));
  Distribution &d = distribution(type);
  Value place;
  for (int64_t dim = 0; dim < d.rank(); ++dim)
    if (a.strides[dim] != 0)
      place = add(place, arith::MulIOp::create(b, coordinate(d, r, dim),
                                               i32(a.strides[dim])));
  return place;
}

/// What of the places of register `r` all threads together reach.
static std::pair<int64_t, int64_t> sumOfSteps(ArrayRef<int32_t> lanes,
                                              ArrayRef<int32_t> warps,
                                              ArrayRef<int32_t> loops) {
  int64_t least = 0, most = 0;
  for (ArrayRef<int32_t> steps : {lanes, warps, loops})
    for (int32_t step : steps)
      (step < 0 ? least : most) += step;
  return {least, most};
}

Value Lowering::isWithin(Addressing &a, RankedTensorType type, uint32_t r,
                         Value more) {
  if (a.within == 0)
    return {};
  int64_t own = a.first;
  if (a.mode == Addressing::Sum) {
    own += a.own(r);
    auto [least, most] = sumOfSteps(a.lanes, a.warps, a.loops);
    bool isKnown = !a.offset && !more;
    if (isKnown && (own + most < 0 || own + least >= a.within))
      return never();
    if (isKnown && own + least >= 0 && own + most < a.within)
      return {};
  }
  // Places may be negative here: no flags.
  Value place = i32(own);
  for (Value part : {placeOfThread(a, type, r), a.offset, more})
    if (part)
      place = arith::AddIOp::create(b, place, part);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place,
                               i32(a.within));
}

/// The registers of one access, in the order of memory.
static SmallVector<uint32_t> members(uint32_t r, ArrayRef<unsigned> group) {
  SmallVector<uint32_t> all = {r};
  for (unsigned bit : group)
    for (size_t i = 0, count = all.size(); i < count; ++i)
      all.push_back(all[i] | uint32_t{1} << bit);
  return all;
}

static uint32_t maskOf(ArrayRef<unsigned> group) {
  uint32_t mask = 0;
  for (unsigned bit : group)
    mask |= uint32_t{1} << bit;
  return mask;
}

LogicalResult Lowering::lowerLocalStore(simt::LocalStoreOp op) {
  Type element = tile::getElementType(op.getValue().getType());
  Value offset = op.getOffset() ? scalar(op.getOffset()) : Value();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), element, offset,
                                       static_cast<int32_t>(op.getBase()));
  if (failed(a))
    return failure();
  if (!isTile(op.getValue())) {
    simt::ThreadStoreOp::create(
        b, a->base, toInteger(scalar(op.getValue()), element), isFirstThread(),
        tile::CacheModifier::None, tile::EvictionPolicy::Normal);
    return success();
  }
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Distribution &d = distribution(type);
  addressTile(*a, type, op.getStrides(), op.getSwizzleAttr());
  SmallVector<unsigned> group =
      chooseGroup(*a, type, simt::elementBytes(element));
  ArrayRef<Value> values = registersOf(op.getValue());
  for (uint32_t r : d.unique) {
    if (r & maskOf(group))
      continue;
    Value mask = both(isWriter(d), inBounds(type, r));
    mask = both(mask, isWithin(*a, type, r));
    if (mask && mask == never())
      continue;
    SmallVector<Value> stored = llvm::map_to_vector(
        members(r, group), [&](uint32_t member) { return values[member]; });
    simt::ThreadStoreOp::create(b, address(*a, type, r), pack(stored, element),
                                mask, tile::CacheModifier::None,
                                tile::EvictionPolicy::Normal);
  }
  return success();
}

LogicalResult Lowering::lowerLocalCopy(simt::LocalCopyOp op) {
  auto type = cast<RankedTensorType>(op.getPtr().getType());
  Type element = cast<tile::PtrType>(type.getElementType()).getPointeeType();
  int64_t bytes = simt::elementBytes(element);
  Value offset = op.getOffset() ? scalar(op.getOffset()) : Value();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), element, offset, 0);
  if (failed(a))
    return failure();
  Distribution &d = distribution(type);
  addressTile(*a, type, {}, op.getSwizzleAttr());
  auto width = static_cast<int64_t>(
      cast<IntegerAttr>(op->getAttr(simt::kVectorAttr)).getInt());
  ArrayRef<Value> pointers = registersOf(op.getPtr());
  Value active = scalar(op.getActive());
  for (uint32_t r : d.unique) {
    if (r % width != 0)
      continue;
    Value mask = accessMask(type, r, op.getMask());
    simt::ThreadCopyOp::create(
        b, address(*a, type, r), pointers[r], mask, both(isWriter(d), active),
        b.getI32IntegerAttr(static_cast<int32_t>(width * bytes)));
  }
  return success();
}

LogicalResult Lowering::lowerLocalLoad(simt::LocalLoadOp op) {
  Type element = tile::getElementType(op.getType());
  Value offset = op.getOffset() ? scalar(op.getOffset()) : Value();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), element, offset,
                                       static_cast<int32_t>(op.getBase()));
  if (failed(a))
    return failure();
  auto load = [&](Value ptr, Value mask, Value other, int64_t count) {
    Value raw = simt::ThreadLoadOp::create(
        b, memoryType(element, count), ptr, mask, other,
        tile::CacheModifier::None, tile::EvictionPolicy::Normal, false);
    return unpack(raw, element, count);
  };
  if (!isTile(op.getResult())) {
    setScalar(op.getResult(), load(a->base, Value(), Value(), 1).front());
    return success();
  }
  auto type = cast<RankedTensorType>(op.getType());
  Distribution &d = distribution(type);
  addressTile(*a, type, op.getStrides(), op.getSwizzleAttr());
  SmallVector<unsigned> group =
      chooseGroup(*a, type, simt::elementBytes(element));
  ArrayRef<Value> before;
  if (op.getOtherwise())
    before = registersOf(op.getOtherwise());
  Registers now(d.numRegisters());
  for (uint32_t r : d.unique) {
    if (r & maskOf(group))
      continue;
    Value mask = both(inBounds(type, r), isWithin(*a, type, r)), other;
    auto count = static_cast<int64_t>(size_t{1} << group.size());
    SmallVector<Value> values(count, zero(registerType(element)));
    if (!before.empty())
      values = llvm::map_to_vector(
          members(r, group), [&](uint32_t member) { return before[member]; });
    if (mask && !before.empty())
      other = pack(values, element);
    if (!mask || mask != never())
      values = load(address(*a, type, r), mask, other, count);
    for (auto [member, value] : llvm::zip_equal(members(r, group), values))
      now[member] = value;
  }
  setEach(op.getResult(), [&](uint32_t r) { return now[r]; });
  return success();
}

std::pair<Value, Value> Lowering::checkIndex(Value index, int64_t bound,
                                             int64_t base) {
  unsigned width = index.getType().getIntOrFloatBitWidth();
  Type i32Type = b.getI32Type();
  if (width < 32)
    index = arith::ExtSIOp::create(b, i32Type, index);
  if (base != 0)
    index = arith::AddIOp::create(b, index, constant(base, index.getType()));
  Value isWithin = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                                         constant(bound, index.getType()));
  if (width > 32)
    index = arith::TruncIOp::create(b, i32Type, index);
  return {isWithin, index};
}

LogicalResult Lowering::lowerLocalGather(simt::LocalGatherOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  if (failed(checkOneLayout(op)))
    return failure();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), element, Value(),
                                       static_cast<int32_t>(op.getBase()));
  if (failed(a))
    return failure();
  SmallVector<int32_t> strides(op.getStrides());
  auto along = static_cast<int32_t>(op.getAxis());
  int32_t stride = strides[along];
  strides[along] = 0;
  addressTile(*a, type, strides);
  ArrayRef<Value> indices = registersOf(op.getIndices()), before;
  if (op.getOtherwise())
    before = registersOf(op.getOtherwise());
  setEach(op.getResult(), [&](uint32_t r) {
    auto [isIndex, index] =
        checkIndex(indices[r], static_cast<int32_t>(op.getExtent()));
    Value mask = both(isIndex, inBounds(type, r)), other;
    if (mask == never())
      return zero(registerType(element));
    if (stride != 1)
      index = arith::MulIOp::create(b, index, i32(stride));
    mask = both(mask, isWithin(*a, type, r, index));
    if (!before.empty())
      other = toInteger(before[r], element);
    Value ptr =
        pointerTo(a->element, address(*a, type, r), LLVM::GEPArg(index));
    Value raw = simt::ThreadLoadOp::create(b, memoryType(element, 1), ptr, mask,
                                           other, tile::CacheModifier::None,
                                           tile::EvictionPolicy::Normal, false);
    return fromInteger(raw, element);
  });
  return success();
}

LogicalResult Lowering::lowerLocalCount(simt::LocalCountOp op) {
  if (failed(checkOneLayout(op)))
    return failure();
  Type i32Type = b.getI32Type();
  FailureOr<Addressing> a = addressing(op, op.getBuffer(), i32Type, Value(), 0);
  if (failed(a))
    return failure();
  auto type = cast<RankedTensorType>(op.getIndices().getType());
  Distribution &d = distribution(type);
  ArrayRef<Value> indices = registersOf(op.getIndices());
  for (uint32_t r : d.unique) {
    Value mask = both(isWriter(d), inBounds(type, r));
    if (op.getMask())
      mask = both(mask, registersOf(op.getMask())[r]);
    auto [isBin, index] =
        checkIndex(indices[r], static_cast<int32_t>(op.getBins()),
                   static_cast<int32_t>(op.getBase()));
    mask = both(mask, isBin);
    if (mask == never())
      continue;
    Value ptr = pointerTo(a->element, a->base, LLVM::GEPArg(index));
    simt::ThreadAtomicRMWOp::create(b, i32Type, tile::RMWKind::Add, ptr, i32(1),
                                    mask, tile::MemSem::Relaxed,
                                    tile::MemScope::Cta);
  }
  return success();
}
