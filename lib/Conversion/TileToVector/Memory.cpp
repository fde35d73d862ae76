//===- Memory.cpp - Buffers, global memory, atomics -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses are i64 until the access itself. Lanes that a mask leaves out are
// never touched: where a whole strip is known to be inside, a plain vector
// access is taken at run time, else a masked one.
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "terrazzo/Conversion/Atomics.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

static LLVM::LLVMPointerType pointerType(OpBuilder &b) {
  return LLVM::LLVMPointerType::get(b.getContext());
}

/// What stores around the caches must be aligned to, and how much a launch must
/// write to make use of them: more than a core's share of any chip's caches.
static constexpr int64_t kAroundBytes = 16;
static constexpr int64_t kCachesBytes = int64_t(32) << 20;

/// The integer type that stands for an element in masked accesses, which not
/// every chip has for small floats.
static Type accessType(Type storage) {
  if (storage.isF16() || storage.isBF16())
    return IntegerType::get(storage.getContext(), 16);
  return storage;
}

Value Lowering::fromStorage(Value raw, Type element) {
  Type now = getElementTypeOrSelf(raw.getType());
  Type wanted = registerType(element);
  if (now == wanted)
    return raw;
  Type type = wanted;
  if (auto vector = dyn_cast<VectorType>(raw.getType()))
    type = VectorType::get(vector.getShape(), wanted);
  if (wanted.isInteger() &&
      wanted.getIntOrFloatBitWidth() < now.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, type, raw);
  return arith::BitcastOp::create(b, type, raw);
}

Value Lowering::toStorage(Value value, Type element) {
  Type now = getElementTypeOrSelf(value.getType());
  Type wanted = storageType(element);
  if (now == wanted)
    return value;
  Type type = wanted;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), wanted);
  if (now.getIntOrFloatBitWidth() < wanted.getIntOrFloatBitWidth())
    return arith::ExtUIOp::create(b, type, value);
  return arith::BitcastOp::create(b, type, value);
}

void Lowering::either(Value condition, function_ref<void()> then,
                      function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, condition,
                              /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(&op.getElseRegion().front());
  otherwise();
}

Value Lowering::ifElse(Value condition, Type type, function_ref<Value()> then,
                       function_ref<Value()> otherwise) {
  auto op =
      scf::IfOp::create(b, TypeRange(type), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  Value a = then();
  scf::YieldOp::create(b, a);
  b.setInsertionPointToStart(&op.getElseRegion().front());
  Value c = otherwise();
  scf::YieldOp::create(b, c);
  return op.getResult(0);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Where lane 0 is, in elements from the start, and how far each lane moves.
std::pair<Value, int64_t> Lowering::elementOffset(const Buffer &buffer,
                                                  const Coords &at) {
  Value offset = index(0);
  int64_t step = 0;
  for (auto [coord, stride] : llvm::zip_equal(at, buffer.strides)) {
    offset = addIndex(offset, mulIndex(coord.base, stride));
    step += coord.step * stride;
  }
  return {offset, step};
}

std::pair<Value, int64_t> Lowering::bufferAddress(const Buffer &buffer,
                                                  const Coords &at) {
  auto [offset, step] = elementOffset(buffer, at);
  Value base = LLVM::PtrToIntOp::create(b, b.getI64Type(), buffer.ptr);
  return {addIndex(base, mulIndex(offset, byteSize(buffer.element))), step};
}

/// Buffers are addressed by getelementptr, so that LLVM sees which one it is.
Value Lowering::elementPtr(const Buffer &buffer, Value offset) {
  return LLVM::GEPOp::create(b, pointerType(b), storageType(buffer.element),
                             buffer.ptr, ArrayRef<LLVM::GEPArg>{offset});
}

Buffer Lowering::part(const Buffer &buffer, Value offset,
                      ArrayRef<int64_t> strides) {
  return {elementPtr(buffer, offset), buffer.element,
          SmallVector<int64_t, 4>(strides)};
}

Buffer Lowering::sliceAt(const Buffer &buffer, int64_t axis, Value i) {
  SmallVector<int64_t, 4> strides(buffer.strides);
  strides.erase(strides.begin() + axis);
  return part(buffer, mulIndex(i, buffer.strides[axis]), strides);
}

Val Lowering::loadBuffer(const Buffer &buffer, const Coords &at) {
  auto [offset, step] = elementOffset(buffer, at);
  Type storage = storageType(buffer.element);
  int64_t bytes = byteSize(buffer.element);
  if (lanes == 1 || step == 0) {
    Value ptr = elementPtr(buffer, offset);
    return {fromStorage(LLVM::LoadOp::create(b, storage, ptr, bytes),
                        buffer.element),
            0, false};
  }
  if (step == 1 || step == -1) {
    Value first = step == 1 ? offset : addIndex(offset, index(1 - lanes));
    Value ptr = elementPtr(buffer, first);
    Value loaded =
        LLVM::LoadOp::create(b, VectorType::get({lanes}, storage), ptr, bytes);
    if (step == -1) {
      SmallVector<int64_t> reversed(
          llvm::reverse(llvm::seq<int64_t>(0, lanes)));
      loaded = vector::ShuffleOp::create(b, loaded, loaded, reversed);
    }
    return {fromStorage(loaded, buffer.element), 0, true};
  }
  auto [address, unused] = bufferAddress(buffer, at);
  return {gatherLanes(asVector({address, step * bytes, false}), buffer.element,
                      {}, {}),
          0, true};
}

void Lowering::storeBuffer(const Buffer &buffer, const Coords &at, Val value) {
  auto [offset, step] = elementOffset(buffer, at);
  int64_t bytes = byteSize(buffer.element);
  Value raw = toStorage(lanes == 1 ? value.v : asVector(value), buffer.element);
  if (lanes == 1 || step == 1) {
    LLVM::StoreOp::create(b, raw, elementPtr(buffer, offset), bytes);
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value one = vector::ExtractOp::create(b, raw, lane);
    Value ptr = elementPtr(buffer, addIndex(offset, index(step * lane)));
    LLVM::StoreOp::create(b, one, ptr, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Lanes through addresses
//===----------------------------------------------------------------------===//

Value Lowering::gatherLanes(Value addresses, Type element, Value mask,
                            Value other) {
  Type storage = storageType(element);
  Type access = accessType(storage);
  auto type = VectorType::get({lanes}, access);
  Value pointers = LLVM::IntToPtrOp::create(
      b, VectorType::get({lanes}, pointerType(b)), addresses);
  if (!mask)
    mask = constant(1, VectorType::get({lanes}, b.getI1Type()));
  Value rest = other ? toStorage(other, element)
                     : zero(VectorType::get({lanes}, storage));
  if (access != storage)
    rest = arith::BitcastOp::create(b, type, rest);
  Value raw =
      LLVM::masked_gather::create(b, type, pointers, mask, ValueRange{rest},
                                  b.getI32IntegerAttr(byteSize(element)));
  if (access != storage)
    raw = arith::BitcastOp::create(b, VectorType::get({lanes}, storage), raw);
  return fromStorage(raw, element);
}

Value Lowering::loadContiguous(Value ptr, Type element) {
  Type storage = storageType(element);
  Type type = lanes == 1 ? storage : VectorType::get({lanes}, storage);
  return fromStorage(LLVM::LoadOp::create(b, type, ptr, byteSize(element)),
                     element);
}

/// Takes off a mask what is the same in all lanes and gives that, null if there
/// is nothing; what is left is null if that was all.
static Value takeUniform(ImplicitLocOpBuilder &b, Value &mask) {
  auto splat = mask.getDefiningOp<vector::BroadcastOp>();
  if (splat && !isa<VectorType>(splat.getSourceType())) {
    mask = Value();
    return splat.getSource();
  }
  auto both = mask.getDefiningOp<arith::AndIOp>();
  if (!both)
    return {};
  auto join = [&](Value lhs, Value rhs) -> Value {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return arith::AndIOp::create(b, lhs, rhs);
  };
  Value lhs = both.getLhs(), rhs = both.getRhs();
  Value ofLhs = takeUniform(b, lhs), ofRhs = takeUniform(b, rhs);
  if (ofLhs || ofRhs)
    mask = join(lhs, rhs);
  return join(ofLhs, ofRhs);
}

Value Lowering::loadLanes(Val address, Type element, Value mask,
                          Value maskAllTrue, Value other) {
  int64_t bytes = byteSize(element);
  Type lane = laneType(element);
  auto pointer = [&] {
    return LLVM::IntToPtrOp::create(b, pointerType(b), address.v);
  };
  bool uniformMask = mask && !isa<VectorType>(mask.getType());
  if (uniformMask)
    return ifElse(
        mask, lane, [&] { return loadLanes(address, element, {}, {}, {}); },
        [&] { return other; });
  if (lanes == 1)
    return loadContiguous(pointer(), element);
  if (address.isUniform() && !mask) {
    Value one = fromStorage(
        LLVM::LoadOp::create(b, storageType(element), pointer(), bytes),
        element);
    return asVector({one, 0, false});
  }
  if (address.isVector || address.step != bytes)
    return gatherLanes(asVector(address), element, mask, other);
  if (!mask)
    return loadContiguous(pointer(), element);
  auto masked = [&]() -> Value {
    // Of two vectors without AVX-512, LLVM 22 loads the second as a whole where
    // the mask is a condition and constants that are false for all of it.
    Value rest = mask;
    Value uniform = chip.vectorBytes < 64 ? takeUniform(b, rest) : Value();
    if (uniform)
      return ifElse(
          uniform, lane,
          [&] { return loadLanes(address, element, rest, {}, other); },
          [&] { return other; });
    Type storage = storageType(element);
    Type access = accessType(storage);
    auto type = VectorType::get({lanes}, access);
    Value instead = toStorage(other, element);
    if (access != storage)
      instead = arith::BitcastOp::create(b, type, instead);
    Value raw = LLVM::MaskedLoadOp::create(b, type, pointer(), mask, instead,
                                           b.getI32IntegerAttr(bytes));
    if (access != storage)
      raw = arith::BitcastOp::create(b, VectorType::get({lanes}, storage), raw);
    return fromStorage(raw, element);
  };
  if (!maskAllTrue)
    return masked();
  return ifElse(
      maskAllTrue, lane, [&] { return loadContiguous(pointer(), element); },
      masked);
}

void Lowering::storeLanes(Val address, Type element, Value value, Value mask,
                          Value maskAllTrue, Value aroundCaches) {
  int64_t bytes = byteSize(element);
  Value raw = toStorage(value, element);
  if (mask && !isa<VectorType>(mask.getType()))
    return either(
        mask, [&] { storeLanes(address, element, value, {}, {}); }, nullptr);
  auto pointer = [&] {
    return LLVM::IntToPtrOp::create(b, pointerType(b), address.v);
  };
  if (lanes == 1) {
    LLVM::StoreOp::create(b, raw, pointer(), bytes);
    return;
  }
  Type storage = storageType(element);
  Type access = accessType(storage);
  Value bits = raw;
  if (access != storage)
    bits = arith::BitcastOp::create(b, VectorType::get({lanes}, access), raw);
  bool contiguous = !address.isVector && address.step == bytes;
  if (!contiguous) {
    // Lanes are written in order, so the last one wins where addresses agree.
    Value pointers = LLVM::IntToPtrOp::create(
        b, VectorType::get({lanes}, pointerType(b)), asVector(address));
    if (!mask)
      mask = constant(1, VectorType::get({lanes}, b.getI1Type()));
    LLVM::masked_scatter::create(b, bits, pointers, mask,
                                 b.getI32IntegerAttr(bytes));
    return;
  }
  auto whole = [&] { LLVM::StoreOp::create(b, raw, pointer(), bytes); };
  auto around = [&] {
    LLVM::StoreOp::create(b, raw, pointer(), kAroundBytes,
                          /*isVolatile=*/false, /*isNonTemporal=*/true);
  };
  auto plain = [&] {
    if (aroundCaches && lanes * bytes >= kAroundBytes)
      either(aroundCaches, around, whole);
    else
      whole();
  };
  if (!mask)
    return plain();
  auto masked = [&] {
    LLVM::MaskedStoreOp::create(b, bits, pointer(), mask,
                                b.getI32IntegerAttr(bytes));
  };
  if (!maskAllTrue)
    return masked();
  either(maskAllTrue, plain, masked);
}

//===----------------------------------------------------------------------===//
// Stores and scalar loads
//===----------------------------------------------------------------------===//

/// Nobody will find in the caches what a launch writes last if it is larger
/// than they are; then to fetch each line before it is overwritten is idle
/// work, half as much again as there is to read and to write. Only for what is
/// written once, not by several threads in an order, and not read.
Value Lowering::goesAroundCaches(tile::StoreOp op) {
  auto kernel = dyn_cast<func::FuncOp>(op->getParentOp());
  int64_t bytes = kernel ? distanceToNext(op.getPtr()) : 0;
  auto isAtomic = [](Operation *inner) {
    return isa<tile::AtomicRMWOp, tile::AtomicCASOp>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (bytes == 0 || isReadToo(op) || kernel.walk(isAtomic).wasInterrupted())
    return {};
  if (!std::exchange(hasFence, true)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function.getBody().front().getTerminator());
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.sse.sfence"),
                                  ValueRange());
  }
  Value programs = constant(1, b.getI64Type());
  for (Value extent : grid)
    programs = arith::MulIOp::create(
        b, programs, arith::ExtUIOp::create(b, b.getI64Type(), extent));
  Value isLarge = arith::CmpIOp::create(
      b, arith::CmpIPredicate::uge, programs,
      constant(llvm::divideCeil(kCachesBytes, bytes), b.getI64Type()));
  int64_t saved = std::exchange(lanes, 1);
  Value rest;
  withFreshCache([&] {
    Value first =
        eval(op.getPtr(), identity(tile::getShape(op.getPtr().getType()))).v;
    rest = arith::AndIOp::create(b, first,
                                 constant(kAroundBytes - 1, b.getI64Type()));
  });
  lanes = saved;
  Value isAligned = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                                          constant(0, b.getI64Type()));
  return arith::AndIOp::create(b, isLarge, isAligned);
}

void Lowering::storeDirectly(tile::StoreOp op, const Nest &nest) {
  Value aroundCaches = goesAroundCaches(op);
  auto strip = [&](const Coords &at) {
    leave(nest, at);
    Value value = evalVector(op.getValue(), at);
    Value mask, maskAllTrue;
    if (op.getMask()) {
      maskAllTrue = allTrue(op.getMask(), at);
      Val all = eval(op.getMask(), at);
      mask = all.isUniform() ? all.v : asVector(all);
      if (matchPattern(mask, m_One()))
        mask = {};
    }
    Val address = eval(op.getPtr(), at);
    b.setLoc(op.getLoc());
    storeLanes(address, tile::getElementType(op.getValue().getType()), value,
               mask, maskAllTrue, aroundCaches);
  };
  forStrips(tile::getShape(op.getPtr().getType()), nest.vectorDim,
            nest.maxLanes, strip, nest.roots);
}

void Lowering::storeByBuffer(tile::StoreOp op, const Nest &nest) {
  ArrayRef<int64_t> shape = tile::getShape(op.getPtr().getType());
  SmallVector<std::pair<Value, Buffer>> read;
  for (Value operand : op->getOperands())
    if (!isInBuffer(operand) && costs.lookup(operand).hasLoad)
      read.push_back(
          {operand, allocate(tile::getElementType(operand.getType()), shape,
                             std::max<int64_t>(nest.vectorDim, 0), false)});
  forStrips(shape, nest.vectorDim, nest.maxLanes, [&](const Coords &at) {
    leave(nest, at);
    for (auto &[operand, buffer] : read)
      storeBuffer(buffer, at, eval(operand, at));
  });
  forStrips(shape, nest.vectorDim, nest.maxLanes, [&](const Coords &at) {
    auto value = [&](Value operand) {
      for (auto &[known, buffer] : read)
        if (known == operand)
          return loadBuffer(buffer, at);
      return eval(operand, at);
    };
    Value mask;
    if (op.getMask())
      mask = asVector(value(op.getMask()));
    Value stored = asVector(value(op.getValue()));
    storeLanes(value(op.getPtr()),
               tile::getElementType(op.getValue().getType()), stored, mask, {});
  });
}

LogicalResult Lowering::lowerStore(tile::StoreOp op) {
  if (!isa<RankedTensorType>(op.getPtr().getType())) {
    lanes = 1;
    Value mask = op.getMask() ? scalar(op.getMask()) : Value();
    storeLanes({scalar(op.getPtr()), 0, false}, op.getValue().getType(),
               scalar(op.getValue()), mask, {});
    return success();
  }
  SmallVector<Value> roots = {op.getPtr(), op.getValue()};
  if (op.getMask())
    roots.push_back(op.getMask());
  Nest nest = openNest(tile::getShape(op.getPtr().getType()), roots);
  b.setLoc(op.getLoc());
  // All of a single strip is read before any of it is written.
  bool isOneStrip =
      nest.maxLanes ==
      cast<RankedTensorType>(op.getPtr().getType()).getNumElements();
  Value overlaps = isOneStrip ? Value() : overlapsWhatFeeds(op);
  if (!overlaps) {
    storeDirectly(op, nest);
  } else {
    either(
        overlaps, [&] { storeByBuffer(op, nest); },
        [&] { storeDirectly(op, nest); });
  }
  closeNest(nest);
  return success();
}

LogicalResult Lowering::lowerScalarLoad(tile::LoadOp op) {
  lanes = 1;
  Type element = op.getType();
  Value mask = op.getMask() ? scalar(op.getMask()) : Value();
  Value other;
  if (mask)
    other = op.getOther() ? scalar(op.getOther()) : zero(registerType(element));
  mapScalar(op.getResult(), loadLanes({scalar(op.getPtr()), 0, false}, element,
                                      mask, {}, other));
  return success();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Small floats have no atomic arithmetic: compare and swap their bits.
Value Lowering::casLoop(Value ptr, Value value, tile::RMWKind kind) {
  Type type = value.getType();
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value first =
      LLVM::LoadOp::create(b, bits, ptr, type.getIntOrFloatBitWidth() / 8);
  auto loop = scf::WhileOp::create(
      b, TypeRange{bits}, ValueRange{first},
      [&](OpBuilder &, Location, ValueRange args) {
        Value old = arith::BitcastOp::create(b, type, args[0]);
        Value now;
        if (kind == tile::RMWKind::FAdd)
          now = arith::AddFOp::create(b, old, value);
        else if (kind == tile::RMWKind::FMax)
          now = arith::MaxNumFOp::create(b, old, value);
        else
          now = arith::MinNumFOp::create(b, old, value);
        Value wanted = arith::BitcastOp::create(b, bits, now);
        Value swap = LLVM::AtomicCmpXchgOp::create(
            b, ptr, args[0], wanted, LLVM::AtomicOrdering::acq_rel,
            LLVM::AtomicOrdering::monotonic);
        Value found = LLVM::ExtractValueOp::create(b, swap, 0);
        Value done = LLVM::ExtractValueOp::create(b, swap, 1);
        Value again =
            arith::XOrIOp::create(b, done, constant(1, b.getI1Type()));
        scf::ConditionOp::create(b, again, found);
      },
      [&](OpBuilder &, Location, ValueRange args) {
        scf::YieldOp::create(b, args);
      });
  return arith::BitcastOp::create(b, type, loop.getResult(0));
}

Value Lowering::atomicElement(Operation *op, Value address, Value value,
                              Value expected) {
  Type element = tile::getElementType(op->getResult(0).getType());
  Value ptr = LLVM::IntToPtrOp::create(b, pointerType(b), address);
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    Type bits = b.getIntegerType(8 * byteSize(element));
    auto asBits = [&](Value v) {
      return v.getType() == bits ? v
                                 : Value(arith::BitcastOp::create(b, bits, v));
    };
    Value swap = LLVM::AtomicCmpXchgOp::create(
        b, ptr, asBits(expected), asBits(value), atomicOrdering(cas.getSem()),
        LLVM::AtomicOrdering::monotonic);
    Value found = LLVM::ExtractValueOp::create(b, swap, 0);
    return found.getType() == element || isa<tile::PtrType>(element)
               ? found
               : Value(arith::BitcastOp::create(b, element, found));
  }
  auto rmw = cast<tile::AtomicRMWOp>(op);
  bool isSmallFloat =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  if (isSmallFloat && rmw.getKind() != tile::RMWKind::Exch)
    return casLoop(ptr, value, rmw.getKind());
  if (isSmallFloat) {
    Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
    Value old = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::xchg, ptr,
        arith::BitcastOp::create(b, bits, value), atomicOrdering(rmw.getSem()));
    return arith::BitcastOp::create(b, element, old);
  }
  return LLVM::AtomicRMWOp::create(b, atomicBinOp(rmw.getKind()), ptr, value,
                                   atomicOrdering(rmw.getSem()));
}

LogicalResult Lowering::lowerAtomic(Operation *op) {
  Value pointer, value, expected, mask;
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    pointer = cas.getPtr(), value = cas.getValue(),
    expected = cas.getExpected();
  } else {
    auto rmw = cast<tile::AtomicRMWOp>(op);
    pointer = rmw.getPtr(), value = rmw.getValue(), mask = rmw.getMask();
  }
  Value result = op->getResult(0);
  Type element = tile::getElementType(result.getType());
  auto one = [&](Value address, Value v, Value e, Value m) -> Value {
    if (!m)
      return atomicElement(op, address, v, e);
    return ifElse(
        m, registerType(element),
        [&] { return atomicElement(op, address, v, e); },
        [&] { return zero(registerType(element)); });
  };
  if (!isa<RankedTensorType>(pointer.getType())) {
    mapScalar(result, one(scalar(pointer), scalar(value),
                          expected ? scalar(expected) : Value(),
                          mask ? scalar(mask) : Value()));
    return success();
  }
  ArrayRef<int64_t> shape = tile::getShape(pointer.getType());
  SmallVector<Value> roots = {pointer, value};
  if (expected)
    roots.push_back(expected);
  if (mask)
    roots.push_back(mask);
  Buffer out =
      allocate(element, shape, shape.empty() ? 0 : shape.size() - 1, false);
  SmallVector<Value> along = prepare(roots, shape);
  for (Value tile : along)
    materialize(tile);
  forStrips(shape, -1, 1, [&](const Coords &at) {
    Value e = expected ? eval(expected, at).v : Value();
    Value m = mask ? eval(mask, at).v : Value();
    Value address = eval(pointer, at).v, v = eval(value, at).v;
    b.setLoc(op->getLoc());
    storeBuffer(out, at, {one(address, v, e, m), 0, false});
  });
  buffers[result] = out;
  return success();
}
