//===- Debug.cpp - Print and assert ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both write to the buffer behind the kernel's last argument, of words of four
// bytes:
//   0     the next free word; starts at 8
//   1     how many words there are
//   2     0, or 1 + the line of the first assertion that failed
//   3..5  the program that it failed in
//   8..   records of prints: line, operand (-1: none), program (3 words), row-
//         major index of the first element, elements, bytes an element; then
//         the elements. One that does not fit is not written, but word 0 moves
//         on.
// A thread goes on after a failed assertion: the host raises the error.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

int32_t Lowering::addLine(DictionaryAttr entry) {
  lines.push_back(entry);
  return static_cast<int32_t>(lines.size()) - 1;
}

Value Lowering::debugWord(Value word) {
  return pointerTo(b.getI32Type(), debugBuffer, LLVM::GEPArg(word));
}

Value Lowering::programId(int32_t axis) {
  if (!programs[axis])
    atEntry([&] {
      programs[axis] = tile::ProgramIdOp::create(b, b.getI32Type(), axis);
    });
  return programs[axis];
}

void Lowering::ifThen(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto guarded = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&guarded.getThenRegion().front());
  body();
}

Value Lowering::rowMajorIndex(RankedTensorType type, uint32_t r) {
  Distribution &d = distribution(type);
  Value index;
  int64_t stride = 1;
  for (int64_t dim = d.rank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    Value part = coordinate(d, r, dim);
    if (stride != 1)
      part = arith::MulIOp::create(b, part, i32(stride));
    index = add(index, part);
    stride *= type.getDimSize(dim);
  }
  return index ? index : i32(0);
}

/// Elements as words: several small ones in one, two for a large one.
static SmallVector<Value> payload(ImplicitLocOpBuilder &b,
                                  ArrayRef<Value> integers) {
  SmallVector<Value> words;
  Type i32 = b.getI32Type();
  unsigned width = integers.front().getType().getIntOrFloatBitWidth();
  if (width == 64) {
    for (Value integer : integers) {
      Value shift = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
      words.push_back(arith::TruncIOp::create(b, i32, integer));
      words.push_back(arith::TruncIOp::create(
          b, i32, arith::ShRUIOp::create(b, integer, shift)));
    }
    return words;
  }
  size_t count = 32 / width;
  for (auto [i, integer] : llvm::enumerate(integers)) {
    Value part = width == 32
                     ? integer
                     : arith::ExtUIOp::create(b, i32, integer).getResult();
    if (i % count == 0) {
      words.push_back(part);
      continue;
    }
    Value shift = arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(width * (i % count))));
    part = arith::ShLIOp::create(b, part, shift);
    words.back() = arith::OrIOp::create(b, words.back(), part);
  }
  return words;
}

void Lowering::printElements(int32_t line, int32_t operand, Value condition,
                             Value first, ValueRange values, Type element) {
  Value pids[3] = {programId(0), programId(1), programId(2)};
  ifThen(condition, [&] {
    SmallVector<Value> record = {i32(line), i32(operand), pids[0],
                                 pids[1],   pids[2],      first};
    record.push_back(i32(static_cast<int64_t>(values.size())));
    record.push_back(i32(element ? simt::elementBytes(element) : 0));
    if (!values.empty()) {
      SmallVector<Value> integers = llvm::map_to_vector(
          values, [&](Value value) { return toInteger(value, element); });
      record.append(payload(b, integers));
    }
    Type i32Type = b.getI32Type();
    Value size = i32(static_cast<int64_t>(record.size()));
    Value start = simt::ThreadAtomicRMWOp::create(
        b, i32Type, tile::RMWKind::Add, debugBuffer, size, Value(),
        tile::MemSem::Relaxed, tile::MemScope::Gpu);
    Value capacity = simt::ThreadLoadOp::create(
        b, i32Type, debugWord(i32(1)), Value(), Value(),
        tile::CacheModifier::None, tile::EvictionPolicy::Normal, false);
    // The cursor may have gone past the end by many records: compare with what
    // is left, in 64 bits.
    Value wide = arith::ExtUIOp::create(b, b.getI64Type(), start);
    Value end = arith::AddIOp::create(
        b, wide, constant(static_cast<int64_t>(record.size()), b.getI64Type()));
    Value fits = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ule, end,
        arith::ExtUIOp::create(b, b.getI64Type(), capacity));
    ifThen(fits, [&] {
      Value at = pointerTo(i32Type, debugBuffer, LLVM::GEPArg(wide));
      for (auto [i, word] : llvm::enumerate(record))
        simt::ThreadStoreOp::create(
            b, pointerTo(i32Type, at, LLVM::GEPArg(static_cast<int32_t>(i))),
            word, Value(), tile::CacheModifier::None,
            tile::EvictionPolicy::Normal);
    });
  });
}

LogicalResult Lowering::lowerPrint(tile::PrintOp op) {
  int32_t line = addLine(tile::lineEntry(op));
  if (op.getOperands().empty())
    printElements(line, -1, isFirstThread(), i32(0), {}, Type());
  for (auto [position, operand] : llvm::enumerate(op.getOperands())) {
    auto number = static_cast<int32_t>(position);
    Type element = tile::getElementType(operand.getType());
    if (!isTile(operand)) {
      printElements(line, number, isFirstThread(), i32(0), scalar(operand),
                    element);
      continue;
    }
    auto type = cast<RankedTensorType>(operand.getType());
    Distribution &d = distribution(type);
    ArrayRef<Value> values = registersOf(operand);
    // Registers that step along the last dimension make one record.
    int64_t last = d.rank() - 1;
    uint32_t width = 1;
    for (const Coords &basis : d.registers) {
      Coords step(d.rank(), 0);
      if (last >= 0)
        step[last] = static_cast<int32_t>(width);
      if (last < 0 || basis != step || width == 8 ||
          type.getDimSize(last) % (2 * int64_t{width}) != 0)
        break;
      width *= 2;
    }
    for (uint32_t r : d.unique) {
      if (r % width != 0)
        continue;
      Value condition = both(isWriter(d), inBounds(type, r));
      if (condition && condition == never())
        continue;
      Value first = rowMajorIndex(type, r);
      printElements(line, number, condition, first, values.slice(r, width),
                    element);
    }
  }
  return success();
}

LogicalResult Lowering::lowerAssert(tile::AssertOp op) {
  int32_t line = addLine(tile::lineEntry(op));
  Value fails;
  if (auto type = dyn_cast<RankedTensorType>(op.getCondition().getType())) {
    for (uint32_t r : distribution(type).unique) {
      Value within = inBounds(type, r);
      if (within && within == never())
        continue;
      Value here = both(within, negated(registersOf(op.getCondition())[r]));
      fails = fails ? arith::OrIOp::create(b, fails, here).getResult() : here;
    }
  } else {
    fails = both(isFirstThread(), negated(scalar(op.getCondition())));
  }
  Value pids[3] = {programId(0), programId(1), programId(2)};
  ifThen(fails, [&] {
    Type i32Type = b.getI32Type();
    Value old = simt::ThreadAtomicCASOp::create(
        b, i32Type, debugWord(i32(2)), i32(0), i32(int64_t{line} + 1), Value(),
        tile::MemSem::Relaxed, tile::MemScope::Gpu);
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, old, i32(0));
    ifThen(isFirst, [&] {
      for (int32_t axis = 0; axis < 3; ++axis)
        simt::ThreadStoreOp::create(
            b, debugWord(i32(int64_t{3} + axis)), pids[axis], Value(),
            tile::CacheModifier::None, tile::EvictionPolicy::Normal);
    });
  });
  return success();
}
