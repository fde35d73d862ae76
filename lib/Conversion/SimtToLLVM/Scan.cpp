//===- Scan.cpp - Prefixes within a warp ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits of the axis, from the lowest, fall into segments of register bits
// and of lane bits. The first segment is scanned; its totals are the elements
// of a shorter scan along the segments behind it, whose exclusive result is put
// before each element at the end. Registers are scanned one after the other,
// lanes in log-steps: in step k, lanes whose position has bit k take the value
// at the end of the block of 2^k before theirs.
//
// In strict mode a scan is the left fold: one register after the other, too,
// and one lane after the other.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

struct Lowering::Scan {
  /// Bits of the axis next to each other that are all of registers or of lanes.
  struct Segment {
    bool isLanes = false;
    SmallVector<unsigned> bits;
    uint32_t mask() const {
      uint32_t mask = 0;
      for (unsigned bit : bits)
        mask |= uint32_t{1} << bit;
      return mask;
    }
    uint32_t size() const { return uint32_t{1} << bits.size(); }
  };
  /// What comes before the elements of each register, if anything does: as
  /// conditions are, null is always, never() never.
  struct Prefixes {
    Rows values;
    llvm::DenseMap<uint32_t, Value> exists;
  };

  Lowering &l;
  ImplicitLocOpBuilder &b;
  Region &region;
  bool reverse;
  /// Whether the last value of a tuple says that the element exists: in a
  /// reverse scan, those beyond the extent come first.
  bool tracksPresence;
  SmallVector<Segment> segments;
  SmallVector<uint32_t> order = {}; ///< registers, ascending
  LogicalResult status = success();

  Tuple compose(const Tuple &first, const Tuple &second);
  Tuple withPrefix(const Tuple &prefix, Value exists, const Tuple &value);
  Tuple shuffled(const Tuple &value, Value lane);
  uint32_t place(const Segment &segment, uint32_t position) const;
  Value selectPosition(unsigned laneBit, Value yes, Value no);
  Tuple scanLanes(const Segment &segment, Tuple value);
  Value lastLane(const Segment &segment);
  std::pair<Value, Value> previousLane(const Segment &segment);
  Rows inclusive(size_t index, const Rows &values, Rows &totals);
  Prefixes exclusive(size_t segment, const Rows &values);
  Prefixes exclusiveInRegisters(size_t segment, const Rows &values);
  Prefixes exclusiveInLanes(size_t segment, const Rows &values);
  Rows run(const Rows &values);
  std::pair<uint32_t, uint32_t> registerAndLane(uint32_t position) const;
  std::pair<Value, Value> laneAt(uint32_t mask, uint32_t place);
  Rows fold(const Rows &values);
  uint32_t registerMask() const;
  uint32_t registerAtEnd(bool isFirst) const;
  void beginWithCarried(Rows &values);
  void carryOn(const Rows &values);
  /// What comes out: one element after the other, or by halves.
  Rows compute(Rows &values, bool inOrder);
};

Lowering::Tuple Lowering::Scan::compose(const Tuple &first,
                                        const Tuple &second) {
  size_t count = first.size() - (tracksPresence ? 1 : 0);
  ArrayRef<Value> lhs = ArrayRef<Value>(first).take_front(count),
                  rhs = ArrayRef<Value>(second).take_front(count);
  FailureOr<Tuple> out = l.combine(region, lhs, rhs);
  if (failed(out)) {
    status = failure();
    return second;
  }
  if (!tracksPresence)
    return *out;
  Tuple result = l.select(first.back(), *out, rhs);
  result.push_back(second.back());
  return result;
}

Lowering::Tuple Lowering::Scan::withPrefix(const Tuple &prefix, Value exists,
                                           const Tuple &value) {
  if (exists && exists == l.never())
    return value;
  Tuple both = compose(prefix, value);
  return exists ? l.select(exists, both, value) : both;
}

Lowering::Tuple Lowering::Scan::shuffled(const Tuple &value, Value lane) {
  Tuple out;
  for (Value one : value)
    out.push_back(l.shuffleIndex(one, lane));
  return out;
}

/// The index bits of a position along a segment.
uint32_t Lowering::Scan::place(const Segment &segment,
                               uint32_t position) const {
  uint32_t out = 0;
  for (auto [i, bit] : llvm::enumerate(segment.bits))
    if ((position >> i & 1) != (reverse ? 1U : 0U))
      out |= uint32_t{1} << bit;
  return out;
}

Lowering::Tuple Lowering::Scan::scanLanes(const Segment &segment, Tuple value) {
  uint32_t below = 0;
  for (unsigned bit : segment.bits) {
    uint32_t own = uint32_t{1} << bit;
    Value source = l.laneId();
    l.atEntry([&] {
      uint32_t set = reverse ? own : below, clear = reverse ? below : own;
      if (clear)
        source = arith::AndIOp::create(b, source,
                                       l.i32(~static_cast<int32_t>(clear)));
      if (set)
        source = arith::OrIOp::create(b, source, l.i32(set));
    });
    Tuple both = compose(shuffled(value, source), value);
    value = reverse ? l.select(l.laneBit(bit), value, both)
                    : l.select(l.laneBit(bit), both, value);
    below |= own;
  }
  return value;
}

Value Lowering::Scan::lastLane(const Segment &segment) {
  Value lane = l.laneId(), last;
  auto mask = static_cast<int32_t>(segment.mask());
  l.atEntry([&] {
    last = reverse ? arith::AndIOp::create(b, lane, l.i32(~mask)).getResult()
                   : arith::OrIOp::create(b, lane, l.i32(mask)).getResult();
  });
  return last;
}

/// The lane one position before, and whether there is one.
std::pair<Value, Value> Lowering::Scan::previousLane(const Segment &segment) {
  Value lane = l.laneId(), previous, exists;
  auto mask = static_cast<int32_t>(segment.mask());
  SmallVector<int32_t> gather(llvm::Log2_64(l.machine.warpSize), 0), scatter;
  for (auto [i, bit] : llvm::enumerate(segment.bits)) {
    gather[bit] = int32_t{1} << i;
    scatter.push_back(int32_t{1} << bit);
  }
  l.atEntry([&] {
    Value inside = arith::AndIOp::create(b, lane, l.i32(mask));
    exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, inside,
                                   l.i32(reverse ? mask : 0));
    Value position = l.linear(lane, gather, true);
    position = arith::AddIOp::create(b, position, l.i32(reverse ? 1 : -1));
    position =
        arith::AndIOp::create(b, position, l.i32(int64_t{segment.size()} - 1));
    Value others = arith::AndIOp::create(b, lane, l.i32(~mask));
    previous =
        arith::OrIOp::create(b, others, l.linear(position, scatter, true));
  });
  return {previous, exists};
}

/// Scans along one segment; `totals` are of its ends, at the registers that
/// have none of its bits. Nobody needs those of the last segment.
Lowering::Rows Lowering::Scan::inclusive(size_t index, const Rows &values,
                                         Rows &totals) {
  const Segment &segment = segments[index];
  Rows out;
  bool isLast = index + 1 == segments.size();
  Value last = segment.isLanes && !isLast ? lastLane(segment) : Value();
  uint32_t mask = segment.isLanes ? 0 : segment.mask();
  for (uint32_t r : order) {
    auto it = values.find(r);
    if (it == values.end())
      continue;
    if (segment.isLanes) {
      Tuple scanned = scanLanes(segment, it->second);
      totals[r] = isLast ? scanned : shuffled(scanned, last);
      out[r] = std::move(scanned);
      continue;
    }
    if (r & mask)
      continue;
    Tuple sum;
    for (uint32_t position = 0; position < segment.size(); ++position) {
      uint32_t at = r | place(segment, position);
      const Tuple &next = values.find(at)->second;
      sum = position == 0 ? next : compose(sum, next);
      out[at] = sum;
    }
    totals[r] = sum;
  }
  return out;
}

Lowering::Scan::Prefixes
Lowering::Scan::exclusiveInRegisters(size_t index, const Rows &values) {
  const Segment &segment = segments[index];
  Rows totals;
  Rows sums = inclusive(index, values, totals);
  Prefixes outer = exclusive(index + 1, totals), out;
  for (uint32_t r : order) {
    if (!totals.contains(r))
      continue;
    Value exists = outer.exists.lookup(r);
    const Tuple &prefix = outer.values.find(r)->second;
    out.values[r | place(segment, 0)] = prefix;
    out.exists[r | place(segment, 0)] = exists;
    for (uint32_t position = 1; position < segment.size(); ++position) {
      uint32_t at = r | place(segment, position);
      const Tuple &before = sums.find(r | place(segment, position - 1))->second;
      out.values[at] = withPrefix(prefix, exists, before);
      out.exists[at] = Value();
    }
  }
  return out;
}

Lowering::Scan::Prefixes Lowering::Scan::exclusiveInLanes(size_t index,
                                                          const Rows &values) {
  const Segment &segment = segments[index];
  Rows totals;
  Rows sums = inclusive(index, values, totals);
  Prefixes outer = exclusive(index + 1, totals), out;
  auto [previous, exists] = previousLane(segment);
  for (uint32_t r : order) {
    auto it = sums.find(r);
    if (it == sums.end())
      continue;
    Tuple before = shuffled(it->second, previous);
    Value beyond = outer.exists.lookup(r);
    bool isAlone = beyond && beyond == l.never();
    const Tuple &prefix = outer.values.find(r)->second;
    Tuple both = withPrefix(prefix, beyond, before);
    out.values[r] = isAlone ? both : l.select(exists, both, prefix);
    if (isAlone)
      out.exists[r] = exists;
    else
      out.exists[r] = beyond
                          ? arith::OrIOp::create(b, exists, beyond).getResult()
                          : Value();
  }
  return out;
}

Lowering::Scan::Prefixes Lowering::Scan::exclusive(size_t index,
                                                   const Rows &values) {
  if (index == segments.size()) {
    Prefixes none;
    for (const auto &[r, value] : values) {
      none.values[r] = value;
      none.exists[r] = l.never();
    }
    return none;
  }
  return segments[index].isLanes ? exclusiveInLanes(index, values)
                                 : exclusiveInRegisters(index, values);
}

Lowering::Rows Lowering::Scan::run(const Rows &values) {
  if (segments.empty())
    return values;
  Rows totals;
  Rows out = inclusive(0, values, totals);
  if (segments.size() == 1)
    return out;
  Prefixes before = exclusive(1, totals);
  uint32_t mask = segments.front().isLanes ? 0 : segments.front().mask();
  for (uint32_t r : order) {
    auto it = out.find(r);
    if (it == out.end())
      continue;
    uint32_t row = r & ~mask;
    it->second = withPrefix(before.values.find(row)->second,
                            before.exists.lookup(row), it->second);
  }
  return out;
}

/// The index bits of a position along the axis.
std::pair<uint32_t, uint32_t>
Lowering::Scan::registerAndLane(uint32_t position) const {
  uint32_t reg = 0, lane = 0;
  for (const Segment &segment : segments) {
    uint32_t at = place(segment, position & (segment.size() - 1));
    (segment.isLanes ? lane : reg) |= at;
    position /= segment.size();
  }
  return {reg, lane};
}

/// The lane of this one's row that has these bits of `mask`, and whether it is
/// this one.
std::pair<Value, Value> Lowering::Scan::laneAt(uint32_t mask, uint32_t place) {
  Value lane = l.laneId(), isHere;
  l.atEntry([&] {
    Value inside = arith::AndIOp::create(b, lane, l.i32(int64_t{mask}));
    isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inside,
                                   l.i32(int64_t{place}));
    lane = arith::AndIOp::create(b, lane, l.i32(~static_cast<int32_t>(mask)));
    lane = arith::OrIOp::create(b, lane, l.i32(int64_t{place}));
  });
  return {lane, isHere};
}

/// The left fold, position by position.
Lowering::Rows Lowering::Scan::fold(const Rows &values) {
  uint32_t registerMask = 0, laneMask = 0, positions = 1;
  for (const Segment &segment : segments) {
    (segment.isLanes ? laneMask : registerMask) |= segment.mask();
    positions *= segment.size();
  }
  Rows out, carried;
  for (uint32_t position = 0; position < positions; ++position) {
    auto [reg, lane] = registerAndLane(position);
    auto [source, isHere] = laneAt(laneMask, lane);
    for (uint32_t row : order) {
      if (row & registerMask)
        continue;
      Tuple value = values.find(row | reg)->second;
      if (position != 0)
        value = compose(carried[row], value);
      auto it = out.find(row | reg);
      if (it == out.end())
        out[row | reg] = value;
      else
        it->second = l.select(isHere, value, it->second);
      // Lanes of the next position need it; those of this one have it.
      carried[row] = value;
      bool leavesLane = segments.front().isLanes ||
                        (position + 1) % segments.front().size() == 0;
      if (leavesLane && position + 1 != positions)
        carried[row] = shuffled(value, source);
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// In a loop along the axis
//===----------------------------------------------------------------------===//

uint32_t Lowering::Scan::registerMask() const {
  uint32_t mask = 0;
  for (const Segment &segment : segments)
    mask |= segment.mask();
  return mask;
}

/// The register of a row's first or last element, where all are registers.
uint32_t Lowering::Scan::registerAtEnd(bool isFirst) const {
  return isFirst == reverse ? registerMask() : 0;
}

/// A row that goes on starts with what the turn before ended with: it is one
/// fold over all turns.
void Lowering::Scan::beginWithCarried(Rows &values) {
  ArrayRef<Value> left = l.window->carried;
  for (uint32_t row : order) {
    if (row & registerMask())
      continue;
    Tuple &value = values.find(row | registerAtEnd(true))->second;
    Tuple before(left.take_front(value.size()));
    left = left.drop_front(value.size());
    value = l.select(l.window->isFirst, value, compose(before, value));
  }
}

void Lowering::Scan::carryOn(const Rows &values) {
  for (uint32_t row : order)
    if ((row & registerMask()) == 0)
      llvm::append_range(l.window->next,
                         values.find(row | registerAtEnd(false))->second);
}

Lowering::Rows Lowering::Scan::compute(Rows &values, bool inOrder) {
  bool isCarried = l.window && l.window->isFirst;
  if (isCarried)
    beginWithCarried(values);
  Rows out = inOrder ? fold(values) : run(values);
  if (isCarried)
    carryOn(out);
  return out;
}

LogicalResult Lowering::lowerScan(tile::ScanOp op) {
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  Distribution &d = distribution(type);
  int64_t axis = op.getAxis();
  FailureOr<SmallVector<AxisBit>> bits = axisBits(op, d, axis);
  if (failed(bits))
    return failure();
  // A loop along the axis goes over its highest bits.
  while (!bits->empty() && bits->back().kind == AxisBit::Counter)
    bits->pop_back();
  bool isPadded = type.getDimSize(axis) != int64_t{1} << d.outBits[axis];
  Scan scan{
      *this, b, op.getCombine(), op.getReverse(), op.getReverse() && isPadded,
      {}};
  scan.order.assign(d.unique.begin(), d.unique.end());
  bool hasLanes = false;
  for (AxisBit bit : *bits) {
    if (bit.kind == AxisBit::Warp)
      return op.emitOpError("expected the axis within a warp, found it across "
                            "warps: the scan should have been decomposed");
    bool isLanes = bit.kind == AxisBit::Lane;
    hasLanes |= isLanes;
    if (scan.segments.empty() || scan.segments.back().isLanes != isLanes)
      scan.segments.push_back({isLanes, {}});
    scan.segments.back().bits.push_back(bit.bit);
  }
  Rows values;
  for (uint32_t r : d.unique) {
    Tuple &value = values[r];
    for (Value operand : op.getOperands())
      value.push_back(registersOf(operand)[r]);
    if (scan.tracksPresence) {
      Value within = inBoundsAlong(type, r, axis);
      value.push_back(within ? within : constant(1, b.getI1Type()));
    }
  }
  // Sums of integers are the same in any order.
  bool isExact = tile::isCommutative(op.getCombine()) &&
                 isa<IntegerType>(type.getElementType());
  Rows out = scan.compute(values, machine.strict && hasLanes && !isExact);
  if (failed(scan.status))
    return failure();
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    setEach(result, [&](uint32_t r) { return out.find(r)->second[index]; });
  return success();
}
