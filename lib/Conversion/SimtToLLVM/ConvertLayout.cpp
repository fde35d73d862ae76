//===- ConvertLayout.cpp - Other registers, other lanes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each place (register, lane, warp) of the result, algebra gives a place of
// the source that holds the same element: a linear map, here within a warp.
// Lanes exchange registers in rounds, one shuffle each. What register a lane
// has to send in a round depends on who reads it, and two lanes may not want
// different registers of one lane in the same round. So, with all maps linear:
//
//   1. a lane reads in round p for its register p ^ turn(lane), with `turn`
//      chosen such that who reads lane s is known to lane s;
//   2. lanes put their registers in the order of the rounds (selects);
//   3. the rounds: shuffles;
//   4. lanes undo the turn (selects).
//
// Where lanes do not move, 2 is all there is. Where no turn helps, a lane reads
// several registers and picks one.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Layout/Gf2.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

//===----------------------------------------------------------------------===//
// Shuffles of any type
//===----------------------------------------------------------------------===//

SmallVector<Value, 2> Lowering::splitToWords(Value value) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    value = LLVM::PtrToIntOp::create(b, i64, value);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(b, b.getIntegerType(width), value);
  if (width < 32)
    return {arith::ExtUIOp::create(b, i32, value)};
  if (width == 32)
    return {value};
  Value high = arith::ShRUIOp::create(b, value, constant(32, i64));
  return {arith::TruncIOp::create(b, i32, value),
          arith::TruncIOp::create(b, i32, high)};
}

Value Lowering::fromWords(ValueRange words, Type type) {
  Type i64 = b.getI64Type();
  Value value = words.front();
  if (words.size() == 2) {
    Value low = arith::ExtUIOp::create(b, i64, words[0]);
    Value high = arith::ExtUIOp::create(b, i64, words[1]);
    high = arith::ShLIOp::create(b, high, constant(32, i64));
    value = arith::OrIOp::create(b, low, high);
  }
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(b, type, value);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 32)
    value = arith::TruncIOp::create(b, b.getIntegerType(width), value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, type, value);
  return value;
}

Value Lowering::shuffleXor(Value value, int32_t mask) {
  SmallVector<Value, 2> words = splitToWords(value);
  for (Value &word : words)
    word = simt::ShuffleXorOp::create(b, b.getI32Type(), word, mask);
  return fromWords(words, value.getType());
}

Value Lowering::shuffleIndex(Value value, Value lane) {
  SmallVector<Value, 2> words = splitToWords(value);
  for (Value &word : words)
    word = simt::ShuffleIndexOp::create(b, b.getI32Type(), word, lane);
  return fromWords(words, value.getType());
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {

/// Bits of a register, a lane and a warp index: who holds an element.
struct Holder {
  uint32_t reg = 0, lane = 0, warp = 0;
  Holder operator^(const Holder &other) const {
    return {reg ^ other.reg, lane ^ other.lane, warp ^ other.warp};
  }
};

/// A conversion within warps.
struct Plan {
  SmallVector<Holder> registers, lanes, warps; ///< source of each result bit
  SmallVector<uint32_t> turn;   ///< result registers, for each lane bit
  SmallVector<uint32_t> reads;  ///< the lane read, for each lane bit
  SmallVector<uint32_t> wants;  ///< its register, for each lane bit
  SmallVector<uint32_t> picks;  ///< the same, where readers disagree
  SmallVector<uint32_t> offers; ///< what a lane sends, for each bit of it

  static std::optional<Plan> create(const Distribution &from,
                                    const Distribution &to);
  void resolveReaders();
  template <typename T>
  static T apply(ArrayRef<T> map, uint32_t index) {
    T out{};
    for (auto [bit, image] : llvm::enumerate(map))
      if (index >> bit & 1)
        out = out ^ image;
    return out;
  }
  Holder source(uint32_t reg) const { return apply<Holder>(registers, reg); }
  uint32_t offered(uint32_t lane) const {
    return apply<uint32_t>(offers, lane);
  }
};

} // namespace

std::optional<Plan> Plan::create(const Distribution &from,
                                 const Distribution &to) {
  // A tag has the bits of the register first, then the lane's, then the warp's.
  layout::Span span;
  uint64_t tag = 1;
  for (ArrayRef<Coords> bases :
       {ArrayRef(from.registers), ArrayRef(from.lanes), ArrayRef(from.warps)})
    for (const Coords &basis : bases) {
      span.insert(from.pack(basis), tag);
      tag <<= 1;
    }
  auto holderOf = [&](uint64_t tag) -> Holder {
    auto bits = [&](size_t from, size_t count) {
      return static_cast<uint32_t>(tag >> from & ((uint64_t{1} << count) - 1));
    };
    size_t registers = from.registers.size(), lanes = from.lanes.size();
    return {bits(0, registers), bits(registers, lanes),
            bits(registers + lanes, from.warps.size())};
  };
  bool isWithinWarp = true;
  // Copies of the source stay in their own lane and warp.
  auto sources = [&](ArrayRef<Coords> wanted, ArrayRef<Coords> own, Holder one,
                     bool isRegister, SmallVector<Holder> &out) {
    for (auto [bit, basis] : llvm::enumerate(wanted)) {
      Holder self{one.reg << bit, one.lane << bit, one.warp << bit};
      Holder holder = self;
      bool isSame = bit < own.size() && own[bit] == basis;
      if (!isSame) {
        uint64_t vector = from.pack(basis), tag = 0;
        isWithinWarp &= span.reduce(vector, tag);
        holder = holderOf(tag);
        if (!isRegister &&
            llvm::all_of(own[bit], [](int32_t c) { return c == 0; }))
          holder = holder ^ self;
      }
      isWithinWarp &= holder.warp == self.warp;
      out.push_back(holder);
    }
  };
  Plan plan;
  sources(to.registers, from.registers, {1, 0, 0}, true, plan.registers);
  sources(to.lanes, from.lanes, {0, 1, 0}, false, plan.lanes);
  sources(to.warps, from.warps, {0, 0, 1}, false, plan.warps);
  if (!isWithinWarp)
    return std::nullopt;
  plan.resolveReaders();
  return plan;
}

bool thread::isWithinWarps(const Distribution &from, const Distribution &to) {
  return Plan::create(from, to).has_value();
}

void Plan::resolveReaders() {
  turn.assign(lanes.size(), 0);
  picks.assign(lanes.size(), 0);
  for (const Holder &holder : lanes) {
    reads.push_back(holder.lane);
    wants.push_back(holder.reg);
  }
  layout::Span span; // lanes that are read -> readers
  for (size_t bit = 0; bit < lanes.size(); ++bit)
    span.insert(reads[bit]);
  layout::Span seen;
  for (size_t bit = 0; bit < lanes.size(); ++bit) {
    uint64_t readers = uint64_t{1} << bit;
    if (seen.insert(reads[bit], readers))
      continue;
    // These readers read the same lane as those without `bit`.
    uint64_t lane = reads[bit];
    seen.reduce(lane, readers);
    uint32_t difference =
        apply<uint32_t>(wants, static_cast<uint32_t>(readers));
    if (difference == 0)
      continue;
    bool isResolved = false;
    for (size_t q = 0; q < registers.size() && !isResolved; ++q) {
      if (span.contains(registers[q].lane))
        continue;
      turn[bit] = uint32_t{1} << q;
      reads[bit] ^= registers[q].lane;
      wants[bit] ^= registers[q].reg;
      span.insert(reads[bit]);
      isResolved = seen.insert(reads[bit], uint64_t{1} << bit);
    }
    if (!isResolved) {
      picks[bit] = difference;
      wants[bit] ^= difference;
    }
  }
  // Who reads a lane says what it sends.
  offers.assign(lanes.size(), 0);
  seen.forEach([&](uint64_t lane, uint64_t readers) {
    unsigned top = llvm::Log2_64(lane);
    uint64_t below = lane ^ (uint64_t{1} << top);
    offers[top] = apply<uint32_t>(wants, static_cast<uint32_t>(readers)) ^
                  offered(static_cast<uint32_t>(below));
  });
}

//===----------------------------------------------------------------------===//
// The rounds
//===----------------------------------------------------------------------===//

/// Puts values in the order (index ^ difference) in lanes where `bit` is set.
static void exchange(ImplicitLocOpBuilder &b, Registers &values, Value bit,
                     uint32_t difference) {
  Registers before = values;
  for (uint32_t i = 0; i < values.size(); ++i)
    if (before[i] && before[i ^ difference] &&
        before[i] != before[i ^ difference])
      values[i] =
          arith::SelectOp::create(b, bit, before[i ^ difference], before[i]);
}

struct Lowering::Rounds {
  Rounds(Lowering &l, const Plan &plan, ArrayRef<Value> source)
      : l(l), plan(plan), values(source) {}

  Lowering &l;
  const Plan &plan;
  Registers values; ///< what each round sends
  Value reads;      ///< the lane to read; null if it is this one
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, Value> known;

  void sortValues();
  void setReads();
  Value shuffled(uint32_t reg, uint32_t lane);
  Value picked(uint32_t reg, uint32_t lane, size_t bit);
  Value received(uint32_t round);
};

/// Puts the registers in the order of the rounds.
void Lowering::Rounds::sortValues() {
  for (auto [bit, holder] : llvm::enumerate(plan.warps))
    if (uint32_t offer = holder.reg ^ plan.offered(holder.lane))
      exchange(l.b, values,
               l.negated(l.areClear(l.warpId(), uint32_t{1} << bit)), offer);
  for (auto [bit, offer] : llvm::enumerate(plan.offers))
    if (offer)
      exchange(l.b, values, l.laneBit(bit), offer);
}

void Lowering::Rounds::setReads() {
  SmallVector<int32_t> laneReads(plan.reads.begin(), plan.reads.end()),
      warpReads;
  for (const Holder &holder : plan.warps)
    warpReads.push_back(static_cast<int32_t>(holder.lane));
  bool isOwn = llvm::all_of(llvm::enumerate(plan.reads),
                            [](auto entry) {
                              return entry.value() == uint32_t{1}
                                                          << entry.index();
                            }) &&
               llvm::all_of(warpReads, [](int32_t lane) { return lane == 0; });
  if (isOwn)
    return;
  reads = l.threadPart(laneReads, warpReads, {}, false);
  if (!reads)
    reads = l.i32(0);
}

/// Register `reg` of the lane that is `lane` away from the one to read.
Value Lowering::Rounds::shuffled(uint32_t reg, uint32_t lane) {
  Value &slot = known[{reg, lane}];
  if (!slot && !reads)
    slot = lane ? l.shuffleXor(values[reg], static_cast<int32_t>(lane))
                : values[reg];
  else if (!slot)
    slot = l.shuffleIndex(values[reg],
                          lane ? l.exclusiveOr(reads, l.i32(lane)) : reads);
  return slot;
}

/// Where readers of one lane want different registers, each reads them all.
Value Lowering::Rounds::picked(uint32_t reg, uint32_t lane, size_t bit) {
  while (bit < plan.picks.size() && plan.picks[bit] == 0)
    ++bit;
  if (bit == plan.picks.size())
    return shuffled(reg, lane);
  Value no = picked(reg, lane, bit + 1);
  Value yes = picked(reg ^ plan.picks[bit], lane, bit + 1);
  return arith::SelectOp::create(l.b, l.laneBit(bit), yes, no);
}

Value Lowering::Rounds::received(uint32_t round) {
  Holder source = plan.source(round);
  return picked(source.reg ^ plan.offered(source.lane), source.lane, 0);
}

LogicalResult Lowering::lowerConvertLayout(simt::ConvertLayoutOp op) {
  Distribution &from = distribution(op.getSource().getType());
  Distribution &to = distribution(op.getType());
  std::optional<Plan> plan = Plan::create(from, to);
  if (!plan)
    return op.emitOpError("expected a conversion within warps, found ")
           << op.getSource().getType() << " to " << op.getType();

  Rounds rounds(*this, *plan, registersOf(op.getSource()));
  rounds.sortValues();
  rounds.setReads();
  Registers received;
  for (uint32_t round = 0; round < to.numRegisters(); ++round)
    received.push_back(rounds.received(round));
  for (auto [bit, turn] : llvm::enumerate(plan->turn))
    if (turn)
      exchange(b, received, laneBit(bit), turn);
  setEach(op.getResult(), [&](uint32_t r) { return received[r]; });
  return success();
}
