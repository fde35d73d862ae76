//===- Channels.cpp - Factors that are copied ahead -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of slots in shared memory between the copies of a loop and its
// products. With `n` slots,
//
//   for i { x = load p(i); acc = mma x, ...; }
//
// becomes
//
//   for j < n - 1 { slot j = copy p(j) if there is one; commit }
//   for i {
//     wait for all groups but the last n - 2; barrier
//     acc = mma slot i % n, ...
//     slot (i + n - 1) % n = copy p(i + n - 1) if there is one; commit
//   }
//
// After the wait and the barrier, the copies of iteration i by all threads have
// been made, and all threads are done with the product of i - 1, whose slot is
// the next to be filled. Each iteration commits one group, with or without
// copies in it, so the groups count iterations. What would be copied beyond the
// last iteration is not started: no copy is in flight when the loop ends.
//
// Where nothing reads `acc` in the loop, the product of i - 1 may still run at
// the barrier, and the slot of i - 2 is filled: copies are one iteration less
// ahead.
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "MemoryModel.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "SharedPlaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTCHANNELS
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace simt {
namespace {

/// What is used where `tile.num_stages` does not say.
constexpr int64_t kDefaultSlots = 3;

/// A factor that comes through a ring.
struct Channel {
  tile::LoadOp load;
  SmallVector<Operation *> onTheWay; ///< to the product, the last one first
  MmaOp mma;
  unsigned operand = 0;
  LinearLayout swizzle; ///< of the factor
  LayoutAttr ofLoad;    ///< of the tile that is loaded
  int64_t slotElements = 0, bytes = 0;
  Value ring;

  int64_t slotBytes() const { return slotElements * bytes; }
};

class Loop {
public:
  Loop(scf::ForOp loop, const Writes &writes)
      : loop(loop), body(loop.getBody()), writes(writes) {}

  /// Whether there are channels, and what their copies need is known.
  bool analyse();
  /// Bytes of a slot of each, and of factors that are stored.
  int64_t slotBytes() const;
  int64_t otherBytes();
  /// For how many iterations more than its own a product reads its slot.
  int64_t lag();
  void rewrite(int64_t slots);

private:
  std::optional<Channel> channelOf(MmaOp mma, unsigned operand);
  /// Adds the pure ops of the body that `values` are made of, operands first,
  /// and the carried values among them.
  bool addSlice(ValueRange values);
  bool carriedStayInside();
  Value constant(int64_t value, Type type) {
    return arith::ConstantOp::create(b(), loop.getLoc(),
                                     b().getIntegerAttr(type, value));
  }
  /// Starts the copies of one iteration, whose counter and carried values the
  /// mapping names, and gives the carried values of the next.
  SmallVector<Value> copy(IRMapping &mapping, Value active, Value offset);
  /// Starts the copies of the first `distance` iterations, and gives the
  /// carried values of the next.
  SmallVector<Value> copyFirst(int64_t distance);
  /// Has the loop carry more values; these are yielded as they are for now.
  /// Gives the first.
  unsigned carryMore(ValueRange inits);
  /// Waits for the copies of this iteration, and starts those `distance` ahead
  /// into a ring of `slots`, after the first product. The loop carries the
  /// number of the slot that its products read from `first` on, then the
  /// carried values that many iterations ahead.
  void copyAhead(unsigned first, int64_t distance, int64_t slots);
  void replaceProduct(MmaOp mma, Value slot);
  /// Whether there are more than `steps` steps from `from` to the loop's end.
  Value hasMore(Value from, int64_t steps);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  ImplicitLocOpBuilder &b() { return *builder; }

  scf::ForOp loop;
  Block *body;
  const Writes &writes;
  std::vector<Channel> channels;
  SmallVector<MmaOp> products; ///< with a channel
  llvm::SetVector<Operation *> slice;
  llvm::SetVector<unsigned> carried; ///< numbers of carried values
  std::optional<ImplicitLocOpBuilder> builder;
};

/// A tile of zeros, or none.
bool isZeros(Value value) {
  if (!value)
    return true;
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getSource();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

std::optional<Channel> Loop::channelOf(MmaOp mma, unsigned operand) {
  Channel channel;
  Value value = mma->getOperand(operand);
  bool isTurned = false;
  for (Operation *op = value.getDefiningOp();
       op && op->hasOneUse() && op->getBlock() == body &&
       isa<ConvertLayoutOp, tile::TransposeOp>(op);
       op = value.getDefiningOp()) {
    isTurned ^= isa<tile::TransposeOp>(op);
    channel.onTheWay.push_back(op);
    value = op->getOperand(0);
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != body ||
      load.getIsVolatile() || !isZeros(load.getOther()) ||
      writes.mayChange(load.getPtr()))
    return std::nullopt;
  channel.load = load;
  channel.mma = mma;
  channel.operand = operand;
  auto type = cast<RankedTensorType>(load.getType());
  const LinearLayout &layout = getLayout(type).getLayout();
  channel.bytes = elementBytes(type.getElementType());
  auto vector = load->getAttrOfType<IntegerAttr>(kVectorAttr);
  int fastest = fastestDim(layout);
  int64_t width = vector ? vector.getInt() : 1;
  if (width * channel.bytes < 4 || width * channel.bytes > 16 ||
      layout.numConsecutive(kRegister, layout::dimName(fastest)) < width ||
      type.getDimSize(fastest) % width != 0)
    return std::nullopt;
  channel.swizzle =
      factorBuffer(tile::getShape(mma->getOperand(operand).getType()),
                   isTurned ? 1 - fastest : fastest, channel.bytes);
  channel.ofLoad = LayoutAttr::get(
      loop.getContext(),
      isTurned ? channel.swizzle.transposeOuts({1, 0}) : channel.swizzle);
  channel.slotElements = channel.swizzle.inSize(kOffset);
  return channel;
}

bool Loop::addSlice(ValueRange values) {
  for (Value value : values) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != body || argument == loop.getInductionVar())
        continue;
      unsigned number = argument.getArgNumber() - 1;
      if (carried.insert(number) && !addSlice(loop.getYieldedValues()[number]))
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (op->getBlock() != body || slice.contains(op))
      continue;
    if (!isPure(op) || op->getNumRegions() != 0 || isa<ConvertLayoutOp>(op) ||
        !addSlice(op->getOperands()))
      return false;
    slice.insert(op);
  }
  return true;
}

/// Whether nothing but the loads depends on the carried values.
bool Loop::carriedStayInside() {
  SmallVector<Value> values;
  llvm::SmallDenseSet<Value> seen;
  for (unsigned number : carried) {
    if (!loop.getResult(number).use_empty())
      return false;
    values.push_back(loop.getRegionIterArg(number));
  }
  auto isLoad = [&](Operation *op) {
    return llvm::any_of(channels,
                        [&](Channel &each) { return each.load == op; });
  };
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user == body->getTerminator()) {
        if (!carried.contains(use.getOperandNumber()))
          return false;
      } else if (slice.contains(user)) {
        llvm::append_range(values, user->getResults());
      } else if (!isLoad(user)) {
        return false;
      }
    }
  }
  return true;
}

bool Loop::analyse() {
  bool isOrdered = loop.getUnsignedCmp();
  for (Operation &op : body->without_terminator())
    isOrdered |= ordersMemory(&op);
  if (isOrdered)
    return false;
  for (auto mma : body->getOps<MmaOp>()) {
    size_t before = channels.size();
    for (unsigned operand : {0U, 1U})
      if (mma.isInShared(operand))
        if (std::optional<Channel> channel = channelOf(mma, operand))
          channels.push_back(*channel);
    if (channels.size() != before)
      products.push_back(mma);
  }
  if (channels.empty())
    return false;
  for (Channel &channel : channels)
    if (!addSlice(channel.load->getOperands()))
      return false;
  return true;
}

int64_t Loop::slotBytes() const {
  int64_t bytes = 0;
  for (const Channel &channel : channels)
    bytes += channel.slotBytes();
  return bytes;
}

int64_t Loop::otherBytes() {
  int64_t bytes = 0;
  for (MmaOp mma : products)
    for (unsigned operand : {0U, 1U})
      if (mma.isInShared(operand) &&
          llvm::none_of(channels, [&](Channel &each) {
            return each.mma == mma && each.operand == operand;
          })) {
        auto type = cast<RankedTensorType>(mma->getOperand(operand).getType());
        bytes += type.getNumElements() * elementBytes(type.getElementType());
      }
  return bytes;
}

int64_t Loop::lag() {
  return llvm::any_of(products,
                      [](MmaOp mma) { return isCarried(mma, mma.getAcc()); });
}

Value Loop::hasMore(Value from, int64_t steps) {
  Value left = arith::SubIOp::create(b(), loop.getUpperBound(), from);
  Value needed = arith::MulIOp::create(b(), loop.getStep(),
                                       constant(steps, from.getType()));
  return arith::CmpIOp::create(b(), arith::CmpIPredicate::ugt, left, needed);
}

SmallVector<Value> Loop::copy(IRMapping &mapping, Value active, Value offset) {
  for (Operation *op : slice)
    b().clone(*op, mapping);
  for (Channel &channel : channels) {
    Value place = arith::MulIOp::create(
        b(), offset, constant(channel.slotElements, b().getI32Type()));
    Value mask = channel.load.getMask();
    auto copy =
        LocalCopyOp::create(b(), mapping.lookupOrDefault(channel.load.getPtr()),
                            mask ? mapping.lookupOrDefault(mask) : Value(),
                            active, channel.ring, place, channel.ofLoad);
    copy->setAttr(kVectorAttr, channel.load->getAttr(kVectorAttr));
  }
  CopyCommitOp::create(b());
  SmallVector<Value> next;
  for (unsigned number : carried)
    next.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
  return next;
}

SmallVector<Value> Loop::copyFirst(int64_t distance) {
  Value runs =
      arith::CmpIOp::create(b(), arith::CmpIPredicate::slt,
                            loop.getLowerBound(), loop.getUpperBound());
  SmallVector<Value> state;
  for (unsigned number : carried)
    state.push_back(loop.getInitArgs()[number]);
  Value counter = loop.getLowerBound();
  for (int64_t step = 0; step < distance; ++step) {
    Value active = runs;
    if (step > 0)
      active =
          arith::AndIOp::create(b(), runs, hasMore(loop.getLowerBound(), step));
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    for (auto [number, value] : llvm::zip(carried, state))
      mapping.map(loop.getRegionIterArg(number), value);
    state = copy(mapping, active, constant(step, b().getI32Type()));
    counter = arith::AddIOp::create(b(), counter, loop.getStep());
  }
  return state;
}

unsigned Loop::carryMore(ValueRange inits) {
  unsigned first = loop.getNumRegionIterArgs();
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto now = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
        return SmallVector<Value>(args.begin(), args.end());
      }));
  loop = now;
  body = loop.getBody();
  return first;
}

void Loop::copyAhead(unsigned first, int64_t distance, int64_t slots) {
  Type i32 = b().getI32Type();
  Value slot = loop.getRegionIterArg(first);
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  b().setInsertionPointToStart(body);
  CopyWaitOp::create(b(),
                     b().getI32IntegerAttr(static_cast<int32_t>(distance - 1)));
  BarrierOp::create(b(), /*units=*/true);
  b().setInsertionPointAfter(products.front());
  Value active = hasMore(loop.getInductionVar(), distance);
  int64_t free = slots - distance;
  Value wraps = arith::CmpIOp::create(b(), arith::CmpIPredicate::slt, slot,
                                      constant(free, i32));
  Value oldest = arith::SelectOp::create(
      b(), wraps, arith::AddIOp::create(b(), slot, constant(distance, i32)),
      arith::SubIOp::create(b(), slot, constant(free, i32)));
  IRMapping mapping;
  Type type = loop.getInductionVar().getType();
  mapping.map(
      loop.getInductionVar(),
      arith::AddIOp::create(b(), loop.getInductionVar(),
                            arith::MulIOp::create(b(), loop.getStep(),
                                                  constant(distance, type))));
  for (auto [index, number] : llvm::enumerate(carried))
    mapping.map(loop.getRegionIterArg(number),
                loop.getRegionIterArg(first + 1 + index));
  for (auto [index, value] : llvm::enumerate(copy(mapping, active, oldest)))
    yield->setOperand(first + 1 + index, value);
  Value isLast = arith::CmpIOp::create(b(), arith::CmpIPredicate::eq, slot,
                                       constant(slots - 1, i32));
  yield->setOperand(first,
                    arith::SelectOp::create(
                        b(), isLast, constant(0, i32),
                        arith::AddIOp::create(b(), slot, constant(1, i32))));
}

void Loop::replaceProduct(MmaOp mma, Value slot) {
  Type i32 = b().getI32Type();
  b().setLoc(mma.getLoc());
  StoredFactor factors[2];
  Value offsets[2];
  for (unsigned operand : {0U, 1U}) {
    auto channel = llvm::find_if(channels, [&](Channel &each) {
      return each.mma == mma && each.operand == operand;
    });
    Value factor = mma->getOperand(operand);
    b().setInsertionPoint(mma);
    if (channel != channels.end()) {
      factors[operand] = {channel->ring,
                          LayoutAttr::get(loop.getContext(), channel->swizzle)};
      offsets[operand] = arith::MulIOp::create(
          b(), slot, constant(channel->slotElements, i32));
      continue;
    }
    if (!mma.isInShared(operand))
      continue;
    if (isOutside(factor))
      b().setInsertionPoint(loop);
    factors[operand] = storeFactor(b(), factor);
  }
  replaceMma(mma, factors, offsets);
}

void Loop::rewrite(int64_t slots) {
  builder.emplace(loop.getLoc(), loop);
  int64_t lag = std::min(this->lag(), slots - 2), distance = slots - 1 - lag;
  for (Channel &channel : channels)
    channel.ring = allocFactor(b(), channel.swizzle, channel.bytes, slots, lag);
  bool isDead = carriedStayInside();
  SmallVector<Value> inits = copyFirst(distance);
  inits.insert(inits.begin(), constant(0, b().getI32Type()));
  unsigned first = carryMore(inits);
  copyAhead(first, distance, slots);
  // What nothing reads any more is gone once it does not change.
  if (isDead)
    for (unsigned number : carried)
      body->getTerminator()->setOperand(number, loop.getRegionIterArg(number));
  for (MmaOp mma : products)
    replaceProduct(mma, loop.getRegionIterArg(first));
  for (Channel &channel : channels) {
    for (Operation *op : channel.onTheWay)
      op->erase();
    channel.load.erase();
  }
}

} // namespace
} // namespace simt

namespace {

class SimtChannelsPass : public impl::SimtChannelsBase<SimtChannelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto stages = module->getAttrOfType<IntegerAttr>("tile.num_stages");
    int64_t wanted = stages ? stages.getInt() : simt::kDefaultSlots;
    std::optional<int64_t> limit = simt::sharedLimit(module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kKernelAttr))
        continue;
      if (failed(simt::checkLayouts(kernel, simt::blockShape(module))))
        return signalPassFailure();
      simt::Writes writes(kernel);
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp op : loops) {
        simt::Loop loop(op, writes);
        if (!loop.analyse())
          continue;
        // Where products lag, a slot more keeps the copies as far ahead.
        int64_t slots = wanted + (wanted > 1 ? loop.lag() : 0);
        if (limit)
          slots =
              std::min(slots, (*limit - loop.otherBytes()) / loop.slotBytes());
        if (slots >= 2)
          loop.rewrite(slots);
      }
    }
  }
};

} // namespace
} // namespace terrazzo
