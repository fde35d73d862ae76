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
// Of a described tensor the copy engine copies the block, at the word of one
// thread. A slot then has a barrier that ends its phase when its copies have
// been made; the loop waits for it in place of a group, for a phase of the
// parity that it carries.
//
// On chips with such barriers the threads of a loop do not meet if the engine
// makes all of its copies, or none and there are several groups of warps: a
// slot has a second barrier, at which the warps arrive when they have read it,
// and who copies waits there before the next copy. Threads that copy arrive at
// the first one when theirs have been made.
//
// Where only the next iteration reads `acc`, the product of i - 1 may still run
// at the barrier. Its ring has a slot more, and the slot of i - 2 is filled.
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
/// More than the memory of any chip holds; each is filled by code of its own.
constexpr int64_t kMostSlots = 64;
/// Of a barrier for copies.
constexpr int64_t kBarrierBytes = 8;

/// A product that reads a ring.
struct Reader {
  MmaOp mma;
  unsigned operand = 0;
  bool isTurned = false; ///< it reads the transpose of what is loaded
  LinearLayout swizzle;  ///< of the factor
};

/// A tile that comes through a ring.
struct Channel {
  tile::LoadOp load;
  std::vector<Reader> readers;
  SmallVector<Operation *> onTheWay; ///< to the products, the last ones first
  LinearLayout swizzle;              ///< of the tile that is loaded
  int64_t slotElements = 0, bytes = 0;
  int64_t lag = 0; ///< iterations more than its own that a product reads it
  int64_t slots = 0;
  Value ring;
  Value released; ///< barriers at which warps arrive that have read a slot
  /// Of a block for the copy engine.
  tile::BlockHintOp block;
  tile::TensorMapAttr map;

  int64_t slotBytes() const { return slotElements * bytes; }
};

class Loop {
public:
  Loop(scf::ForOp loop, const Writes &writes)
      : loop(loop), body(loop.getBody()), writes(writes) {
    // One group of four warps is kept in step by its products: for its own
    // copies a barrier of all threads is cheaper.
    constexpr int32_t kWarpsOfGroup = 4;
    auto target = tile::TargetAttr::of(loop);
    hasBarriers =
        target && target.has(tile::Units::TensorCopy) &&
        blockShape(loop->getParentOfType<ModuleOp>()).numWarps > kWarpsOfGroup;
  }

  /// Whether there are channels, and what their copies need is known.
  bool analyse();
  /// Bytes of factors that are stored.
  int64_t otherBytes();
  /// Sets the slots of the rings that are filled so many iterations ahead, or
  /// as many as `limit` bytes are enough for, and gives the distance; 0 if
  /// there is none.
  int64_t chooseSlots(int64_t distance, std::optional<int64_t> limit,
                      BlockShape block);
  void rewrite(int64_t distance);

private:
  /// Values by the size of rings, in slots.
  using BySize = llvm::SmallDenseMap<int64_t, Value>;

  std::optional<Channel> channelOf(tile::LoadOp load);
  /// Finds what reads a value that is loaded; false if that is not products.
  bool findReaders(Channel &channel, Value value, bool isTurned);
  /// How the copy engine copies a block; false if it does not.
  bool describe(Channel &channel);
  /// How the threads copy a tile; false if they do not.
  bool choosePieces(Channel &channel);
  /// The channel through which a factor comes and its reader there, or null.
  std::pair<Channel *, Reader *> readerOf(MmaOp mma, unsigned operand);
  /// How many channels the copy engine fills.
  int64_t numDescribed() const {
    return llvm::count_if(
        channels, [](const Channel &each) { return each.map != nullptr; });
  }
  /// What the copies of a channel depend on.
  static OperandRange sourceOf(Channel &channel) {
    return channel.map ? channel.block.getOffsets()
                       : OperandRange(channel.load->getOperands());
  }
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
  /// `places` are the slots of rings by their size.
  /// `parities` are those of the releases to wait for, if any.
  SmallVector<Value> copy(IRMapping &mapping, Value active,
                          const BySize &places, const BySize &parities);
  /// Starts the copies of the first `distance` iterations, and gives the
  /// carried values of the next.
  SmallVector<Value> copyFirst(int64_t distance);
  /// Has the loop carry more values; these are yielded as they are for now.
  /// Gives the first.
  unsigned carryMore(ValueRange inits);
  /// The number of the slot that is read, of a ring of this size. The loop
  /// carries, from `first` on, that for each size, then the carried values as
  /// many iterations ahead as copies are, then, for each size, the parity of
  /// the phase that ends when the copy engine has filled the slot.
  Value slotOf(int64_t slots, unsigned first);
  unsigned parityNumber(int64_t slots) {
    return loop.getNumRegionIterArgs() - static_cast<unsigned>(sizes.size()) +
           indexOf(slots);
  }
  unsigned indexOf(int64_t slots) {
    return static_cast<unsigned>(
        std::distance(sizes.begin(), llvm::find(sizes, slots)));
  }
  /// Waits for the copies of this iteration, and starts those `distance` ahead,
  /// after the first product.
  void copyAhead(unsigned first, int64_t distance);
  /// Starts the copy of a channel.
  void startCopy(Channel &channel, IRMapping &mapping, Value active,
                 const BySize &places, const BySize &parities);
  /// Whether the threads need not meet in the loop.
  bool isReleased() const {
    return numDescribed() == static_cast<int64_t>(channels.size()) ||
           (numDescribed() == 0 && hasBarriers);
  }
  /// The slot after so many others, around a ring, and whether it goes around.
  std::pair<Value, Value> stepOn(Value slot, int64_t steps, int64_t slots);
  /// Has the warps arrive for the slots that are free at the end of the body.
  void release(unsigned first);
  /// Slots that have a barrier: as many as the largest ring has.
  int64_t numBarriers() const {
    return numDescribed() > 0 || isReleased() ? *llvm::max_element(sizes) : 0;
  }
  /// Makes the barriers, and plain memory of them behind the loop.
  void makeBarriers();
  void replaceProduct(MmaOp mma, unsigned first);
  /// Whether there are more than `steps` steps from `from` to the loop's end.
  Value hasMore(Value from, int64_t steps);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  ImplicitLocOpBuilder &b() { return *builder; }

  scf::ForOp loop;
  Block *body;
  const Writes &writes;
  bool hasBarriers; ///< in memory, for what threads copy
  std::vector<Channel> channels;
  SmallVector<MmaOp> products; ///< with a channel
  Value barriers;              ///< of the slots that the copy engine fills
  llvm::SetVector<Operation *> slice;
  llvm::SetVector<unsigned> carried; ///< numbers of carried values
  llvm::SetVector<int64_t> sizes;    ///< of rings, in slots
  std::optional<ImplicitLocOpBuilder> builder;
};

/// Whether a product may still run in the next iteration. One whose left factor
/// is read from a ring ends in its own, for the registers are written again.
bool mayRunOn(MmaOp mma) {
  Operation *left = mma.getLhs().getDefiningOp();
  while (isa_and_nonnull<ConvertLayoutOp, tile::TransposeOp, tile::BlockHintOp>(
      left))
    left = left->getOperand(0).getDefiningOp();
  return runsOn(mma) &&
         (mma.isInShared(0) || !isa_and_nonnull<tile::LoadOp>(left));
}

/// A tile of zeros, or none.
bool isZeros(Value value) {
  if (!value)
    return true;
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getSource();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

bool Loop::findReaders(Channel &channel, Value value, bool isTurned) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != body)
      return false;
    if (auto mma = dyn_cast<MmaOp>(user)) {
      unsigned operand = use.getOperandNumber();
      if (operand > 1 || !readsSharedMemory(mma.getInstruction()))
        return false;
      channel.readers.push_back({mma, operand, isTurned, LinearLayout()});
      continue;
    }
    if (!isa<ConvertLayoutOp, tile::TransposeOp, tile::BlockHintOp>(user) ||
        !findReaders(channel, user->getResult(0),
                     isTurned ^ isa<tile::TransposeOp>(user)))
      return false;
    if (auto block = dyn_cast<tile::BlockHintOp>(user))
      channel.block = block;
    channel.onTheWay.push_back(user);
  }
  return true;
}

std::optional<Channel> Loop::channelOf(tile::LoadOp load) {
  Channel channel;
  if (!isa<RankedTensorType>(load.getType()) || load.use_empty() ||
      !findReaders(channel, load.getResult(), /*isTurned=*/false) ||
      channel.readers.empty() || load.getIsVolatile() ||
      !isZeros(load.getOther()) || writes.mayChange(load.getPtr()))
    return std::nullopt;
  channel.load = load;
  channel.bytes = elementBytes(tile::getElementType(load.getType()));
  for (Reader &reader : channel.readers)
    channel.lag = std::max<int64_t>(channel.lag, mayRunOn(reader.mma));
  if (!describe(channel) && !choosePieces(channel))
    return std::nullopt;
  channel.slotElements = channel.swizzle.inSize(kOffset);
  return channel;
}

/// Sets how a tile lies in its ring; whether its products can read it there.
static bool setSwizzle(Channel &channel, int innermost) {
  ArrayRef<int64_t> shape = tile::getShape(channel.load.getType());
  channel.swizzle = factorBuffer(shape, innermost, channel.bytes);
  for (Reader &reader : channel.readers) {
    reader.swizzle = reader.isTurned ? channel.swizzle.transposeOuts({1, 0})
                                     : channel.swizzle;
    int dim = reader.isTurned ? 1 - innermost : innermost;
    if (!reader.mma.isInShared(reader.operand))
      continue;
    if (!unitSwizzle(reader.swizzle, channel.bytes) ||
        innermostDim(reader.mma.getInstruction(), reader.operand)
                .value_or(dim) != dim)
      return false;
  }
  return true;
}

bool Loop::describe(Channel &channel) {
  // A box has at most 256 rows; the swizzle's pattern is of eight.
  constexpr int64_t kMostRows = 256, kRows = 8;
  if (!channel.block)
    return false;
  ArrayRef<int64_t> shape = tile::getShape(channel.load.getType());
  if (shape.size() != 2 || shape[0] < kRows || shape[0] > kMostRows ||
      !llvm::all_of(shape, llvm::isPowerOf2_64) ||
      !setSwizzle(channel, /*innermost=*/1))
    return false;
  std::optional<UnitSwizzle> swizzle =
      unitSwizzle(channel.swizzle, channel.bytes);
  if (!swizzle || swizzle->isColumn)
    return false;
  tile::TensorMapAttr map = channel.block.getMap();
  int32_t box[] = {static_cast<int32_t>(shape[0]),
                   static_cast<int32_t>(swizzle->bytes / channel.bytes)};
  MLIRContext *context = loop.getContext();
  channel.map = tile::TensorMapAttr::get(
      context, map.getBase(), map.getElement(), map.getShape(),
      map.getStrides(), DenseI32ArrayAttr::get(context, box),
      static_cast<int32_t>(swizzle->bytes), map.getPadding());
  return true;
}

bool Loop::choosePieces(Channel &channel) {
  auto type = cast<RankedTensorType>(channel.load.getType());
  if (type.getRank() != 2)
    return false;
  const LinearLayout &layout = getLayout(type).getLayout();
  auto vector = channel.load->getAttrOfType<IntegerAttr>(kVectorAttr);
  int fastest = fastestDim(layout);
  int64_t width = vector ? vector.getInt() : 1;
  return width * channel.bytes >= 4 && width * channel.bytes <= 16 &&
         layout.numConsecutive(kRegister, layout::dimName(fastest)) >= width &&
         type.getDimSize(fastest) % width == 0 && setSwizzle(channel, fastest);
}

std::pair<Channel *, Reader *> Loop::readerOf(MmaOp mma, unsigned operand) {
  for (Channel &channel : channels)
    for (Reader &reader : channel.readers)
      if (reader.mma == mma && reader.operand == operand)
        return {&channel, &reader};
  return {nullptr, nullptr};
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
    return llvm::any_of(channels, [&](Channel &each) {
      return each.load == op || each.block == op;
    });
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
  for (auto load : body->getOps<tile::LoadOp>())
    if (std::optional<Channel> channel = channelOf(load))
      channels.push_back(*channel);
  if (channels.empty())
    return false;
  for (auto mma : body->getOps<MmaOp>())
    if (readerOf(mma, 0).first || readerOf(mma, 1).first)
      products.push_back(mma);
  for (Channel &channel : channels)
    if (!addSlice(sourceOf(channel)))
      return false;
  return true;
}

int64_t Loop::otherBytes() {
  // Buffers begin at multiples of 16 bytes.
  int64_t bytes = 0;
  if (numDescribed() > 0 || isReleased())
    bytes += 16 + 16 * static_cast<int64_t>(channels.size());
  for (MmaOp mma : products)
    for (unsigned operand : {0U, 1U})
      if (mma.isInShared(operand) && !readerOf(mma, operand).first) {
        auto type = cast<RankedTensorType>(mma->getOperand(operand).getType());
        bytes += type.getNumElements() * elementBytes(type.getElementType());
      }
  return bytes;
}

int64_t Loop::chooseSlots(int64_t distance, std::optional<int64_t> limit,
                          BlockShape block) {
  int64_t others = otherBytes();
  auto bytesOf = [&](int64_t distance, bool mayLag) {
    int64_t sum = others;
    for (Channel &channel : channels) {
      channel.slots = distance + 1 + (mayLag ? channel.lag : 0);
      sum += channel.slots *
             (channel.slotBytes() +
              (channel.map || isReleased() ? 2 * kBarrierBytes : 0));
    }
    return sum;
  };
  // A slot more is not worth a block less on a multiprocessor; of blocks with
  // many threads, there is only one for want of registers.
  constexpr int32_t kManyThreads = 256;
  bool isAlone = block.warpSize * block.numWarps >= kManyThreads;
  for (int64_t ahead = distance; ahead > 0; --ahead) {
    int64_t without = bytesOf(ahead, false), with = bytesOf(ahead, true);
    if (!limit ||
        (with <= *limit && (isAlone || *limit / with == *limit / without)))
      return ahead;
  }
  for (Channel &channel : channels)
    channel.lag = 0;
  distance = std::max<int64_t>(distance, 0);
  while (distance > 0 && limit && bytesOf(distance, false) > *limit)
    --distance;
  return distance;
}

Value Loop::hasMore(Value from, int64_t steps) {
  Value left = arith::SubIOp::create(b(), loop.getUpperBound(), from);
  Value needed = arith::MulIOp::create(b(), loop.getStep(),
                                       constant(steps, from.getType()));
  return arith::CmpIOp::create(b(), arith::CmpIPredicate::ugt, left, needed);
}

SmallVector<Value> Loop::copy(IRMapping &mapping, Value active,
                              const BySize &places, const BySize &parities) {
  for (Operation *op : slice)
    b().clone(*op, mapping);
  for (Channel &channel : channels)
    startCopy(channel, mapping, active, places, parities);
  if (numDescribed() != static_cast<int64_t>(channels.size()))
    CopyCommitOp::create(b(), isReleased() ? barriers : Value(),
                         isReleased() ? places.lookup(numBarriers()) : Value());
  SmallVector<Value> next;
  for (unsigned number : carried)
    next.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
  return next;
}

/// The argument of the kernel that is a tensor map: one of those that there
/// are, or a new one.
static Value argumentFor(func::FuncOp kernel, tile::TensorMapAttr map) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<Attribute> maps;
  if (auto before = module->getAttrOfType<ArrayAttr>(tile::kTensorMapsAttr))
    llvm::append_range(maps, before);
  size_t others = kernel.getNumArguments() - maps.size();
  size_t index = llvm::find(maps, map) - maps.begin();
  if (index == maps.size()) {
    maps.push_back(map);
    module->setAttr(tile::kTensorMapsAttr,
                    ArrayAttr::get(module.getContext(), maps));
    [[maybe_unused]] LogicalResult inserted = kernel.insertArgument(
        others + index, tile::TensorMapType::get(module.getContext()), {},
        kernel.getLoc());
  }
  return kernel.getArgument(others + index);
}

void Loop::startCopy(Channel &channel, IRMapping &mapping, Value active,
                     const BySize &places, const BySize &parities) {
  Value place =
      arith::MulIOp::create(b(), places.lookup(channel.slots),
                            constant(channel.slotElements, b().getI32Type()));
  Value parity = parities.lookup(channel.slots);
  if (!channel.map) {
    if (parity)
      MbarrierWaitOp::create(b(), channel.released,
                             places.lookup(channel.slots), parity,
                             /*units=*/false);
    Value mask = channel.load.getMask();
    auto copy = LocalCopyOp::create(
        b(), mapping.lookupOrDefault(channel.load.getPtr()),
        mask ? mapping.lookupOrDefault(mask) : Value(), active, channel.ring,
        place, LayoutAttr::get(loop.getContext(), channel.swizzle));
    copy->setAttr(kVectorAttr, channel.load->getAttr(kVectorAttr));
    return;
  }
  auto kernel = loop->getParentOfType<func::FuncOp>();
  SmallVector<Value> coordinates;
  for (Value offset : channel.block.getOffsets())
    coordinates.push_back(mapping.lookupOrDefault(offset));
  Value base = kernel.getArgument(static_cast<unsigned>(channel.map.getBase()));
  LocalTensorCopyOp::create(
      b(), argumentFor(kernel, channel.map), base, coordinates, active,
      channel.ring, place, barriers, places.lookup(numBarriers()),
      parity ? channel.released : Value(),
      parity ? places.lookup(channel.slots) : Value(), parity,
      b().getDenseI64ArrayAttr(tile::getShape(channel.load.getType())),
      LayoutAttr::get(loop.getContext(), channel.swizzle));
}

void Loop::makeBarriers() {
  SmallVector<Value> all;
  auto make = [&](int64_t slots, int64_t arrivals) {
    auto made = AllocOp::create(b(), BufferType::get(b().getContext()),
                                b().getI64IntegerAttr(kBarrierBytes * slots),
                                IntegerAttr(), b().getI64IntegerAttr(16),
                                IntegerAttr());
    MbarrierInitOp::create(
        b(), made, b().getI32IntegerAttr(static_cast<int32_t>(arrivals)));
    all.push_back(made);
    return made;
  };
  BlockShape block = blockShape(loop->getParentOfType<ModuleOp>());
  barriers = make(numBarriers(), numDescribed() > 0 ? numDescribed()
                                                    : int64_t{block.warpSize} *
                                                          block.numWarps);
  if (isReleased())
    for (Channel &channel : channels)
      channel.released = make(channel.slots, block.numWarps);
  // Shows them to all threads, and the engine that the ring's memory is free.
  BarrierOp::create(b(), /*units=*/true);
  OpBuilder::InsertionGuard guard(b());
  b().setInsertionPointAfter(loop);
  for (Value each : all)
    MbarrierEndOp::create(b(), each);
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
    BySize places;
    for (int64_t slots : sizes)
      places[slots] = constant(step, b().getI32Type());
    state = copy(mapping, active, places, BySize());
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

Value Loop::slotOf(int64_t slots, unsigned first) {
  return loop.getRegionIterArg(first + indexOf(slots));
}

std::pair<Value, Value> Loop::stepOn(Value slot, int64_t steps, int64_t slots) {
  Type i32 = b().getI32Type();
  Value next = arith::AddIOp::create(b(), slot, constant(steps, i32));
  Value wraps = arith::CmpIOp::create(b(), arith::CmpIPredicate::sge, next,
                                      constant(slots, i32));
  Value back = arith::SubIOp::create(b(), next, constant(slots, i32));
  return {arith::SelectOp::create(b(), wraps, back, next), wraps};
}

void Loop::release(unsigned first) {
  b().setInsertionPoint(body->getTerminator());
  Value always = constant(1, b().getI1Type());
  for (Channel &channel : channels) {
    Value slot = slotOf(channel.slots, first), active = always;
    if (channel.lag > 0) {
      // Of the iterations before; `slots - lag` ahead is `lag` behind.
      slot = stepOn(slot, channel.slots - channel.lag, channel.slots).first;
      Value done = arith::SubIOp::create(b(), loop.getInductionVar(),
                                         loop.getLowerBound());
      Value needed = arith::MulIOp::create(
          b(), loop.getStep(), constant(channel.lag, done.getType()));
      active =
          arith::CmpIOp::create(b(), arith::CmpIPredicate::uge, done, needed);
    }
    MbarrierArriveOp::create(b(), channel.released, slot, active, channel.ring);
  }
}

void Loop::copyAhead(unsigned first, int64_t distance) {
  Type i32 = b().getI32Type();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  b().setInsertionPointToStart(body);
  auto parityOf = [&](int64_t slots) {
    return loop.getRegionIterArg(parityNumber(slots));
  };
  if (!isReleased())
    CopyWaitOp::create(
        b(), b().getI32IntegerAttr(static_cast<int32_t>(distance - 1)));
  Value slot = barriers ? slotOf(numBarriers(), first) : Value();
  if (barriers)
    MbarrierWaitOp::create(b(), barriers, slot, parityOf(numBarriers()),
                           /*units=*/numDescribed() == 0);
  if (!isReleased())
    BarrierOp::create(b(), /*units=*/true);
  b().setInsertionPointAfter(products.front());
  Value active = hasMore(loop.getInductionVar(), distance);
  BySize places, parities;
  for (int64_t slots : sizes) {
    Value read = slotOf(slots, first), wraps, isLast, next;
    std::tie(places[slots], wraps) = stepOn(read, distance, slots);
    std::tie(next, isLast) = stepOn(read, 1, slots);
    yield->setOperand(first + indexOf(slots), next);
    if (!barriers)
      continue;
    // Each turn around a ring is a phase. What is filled is released in the
    // phase before; nobody has to, before the first one.
    Value parity = parityOf(slots), one = constant(1, i32);
    Value turned = arith::XOrIOp::create(b(), parity, one);
    yield->setOperand(parityNumber(slots),
                      arith::SelectOp::create(b(), isLast, turned, parity));
    if (isReleased())
      parities[slots] = arith::SelectOp::create(b(), wraps, parity, turned);
  }
  IRMapping mapping;
  Type type = loop.getInductionVar().getType();
  mapping.map(
      loop.getInductionVar(),
      arith::AddIOp::create(b(), loop.getInductionVar(),
                            arith::MulIOp::create(b(), loop.getStep(),
                                                  constant(distance, type))));
  first += sizes.size();
  for (auto [index, number] : llvm::enumerate(carried))
    mapping.map(loop.getRegionIterArg(number),
                loop.getRegionIterArg(first + index));
  for (auto [index, value] :
       llvm::enumerate(copy(mapping, active, places, parities)))
    yield->setOperand(first + index, value);
}

void Loop::replaceProduct(MmaOp mma, unsigned first) {
  Type i32 = b().getI32Type();
  b().setLoc(mma.getLoc());
  StoredFactor factors[2];
  Value offsets[2];
  for (unsigned operand : {0U, 1U}) {
    auto [channel, reader] = readerOf(mma, operand);
    Value factor = mma->getOperand(operand);
    b().setInsertionPoint(mma);
    if (channel) {
      auto swizzle = LayoutAttr::get(loop.getContext(), reader->swizzle);
      Value place = arith::MulIOp::create(b(), slotOf(channel->slots, first),
                                          constant(channel->slotElements, i32));
      if (mma.isInShared(operand)) {
        factors[operand] = {channel->ring, swizzle};
        offsets[operand] = place;
        continue;
      }
      Value held = LocalLoadOp::create(
          b(), factor.getType(), channel->ring, place, /*otherwise=*/Value(),
          b().getI32IntegerAttr(0), b().getDenseI32ArrayAttr({}), swizzle,
          /*within=*/IntegerAttr());
      mma->setOperand(operand, held);
      continue;
    }
    if (!mma.isInShared(operand))
      continue;
    if (isOutside(factor))
      b().setInsertionPoint(loop);
    factors[operand] = storeFactor(b(), mma, operand);
  }
  replaceMma(mma, factors, offsets);
}

void Loop::rewrite(int64_t distance) {
  builder.emplace(loop.getLoc(), loop);
  for (Channel &channel : channels) {
    channel.ring = allocFactor(b(), channel.swizzle, channel.bytes,
                               channel.slots, channel.lag);
    sizes.insert(channel.slots);
  }
  if (numBarriers() > 0)
    makeBarriers();
  bool isDead = carriedStayInside();
  SmallVector<Value> state = copyFirst(distance);
  SmallVector<Value> inits(sizes.size(), constant(0, b().getI32Type()));
  llvm::append_range(inits, state);
  if (barriers)
    inits.append(sizes.size(), constant(0, b().getI32Type()));
  unsigned first = carryMore(inits);
  copyAhead(first, distance);
  if (barriers && isReleased())
    release(first);
  // What nothing reads any more is gone once it does not change.
  if (isDead)
    for (unsigned number : carried)
      body->getTerminator()->setOperand(number, loop.getRegionIterArg(number));
  for (MmaOp mma : products)
    replaceProduct(mma, first);
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
    int64_t wanted = std::min(stages ? stages.getInt() : simt::kDefaultSlots,
                              simt::kMostSlots);
    std::optional<int64_t> limit = simt::sharedLimit(module);
    simt::BlockShape block = simt::blockShape(module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kKernelAttr))
        continue;
      if (failed(simt::checkLayouts(kernel, block)))
        return signalPassFailure();
      simt::Writes writes(kernel);
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp op : loops) {
        simt::Loop loop(op, writes);
        if (!loop.analyse())
          continue;
        if (int64_t distance = loop.chooseSlots(wanted - 1, limit, block))
          loop.rewrite(distance);
      }
      kernel.walk([](tile::BlockHintOp hint) {
        hint.replaceAllUsesWith(hint.getSource());
        hint.erase();
      });
    }
  }
};

} // namespace
} // namespace terrazzo
