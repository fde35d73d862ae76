//===- FitShared.cpp - Tiles go through shared memory in rounds -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that is wanted elsewhere is stored to a buffer as a whole and read
// from it as a whole. Where that is more than the chip has, it goes in rounds:
// the buffer holds the elements of one range of places at a time.
//
//   %a = simt.alloc 4096                        %a = simt.alloc 2048
//   local_store %x, %a[] base 0          local_store %x, %a[] base 0, within
//   512 %y = local_load %a[] base 0   ->     %p = local_load %a[] base 0,
//   within 512
//                                     local_store %x, %a[] base -512, within
//                                     512 %y = local_load %a[] base -512,
//                                     within 512
//                                                                   otherwise
//                                                                   %p
//
// Three kinds of trips can be cut so: from stores to one load, the factors of a
// product along k, and what a loop reads or writes row by row. Kernels that fit
// stay as they are. Of those that do not, the trip with the largest buffers is
// cut in two where the need is highest, again and again until all is well.
//===----------------------------------------------------------------------===//

#include "SharedPlaces.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_FITSHARED
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace simt {
namespace {

/// Each round is code of its own.
constexpr int64_t kMostRounds = 16;
constexpr int64_t kAccessBytes = 16;

/// Places [first, first + count) of a buffer, in elements.
struct Range {
  int64_t first, count;
};

/// What passes through buffers that are free when `end` is done.
class Trip {
public:
  explicit Trip(Operation *end) : end(end) {}
  virtual ~Trip() = default;

  /// Into how many rounds it can be cut.
  virtual int64_t mostRounds() const = 0;
  /// What a buffer needs if it is cut into `rounds`.
  virtual int64_t bytesIn(AllocOp buffer, int64_t rounds) = 0;
  /// Cuts it.
  virtual void cut() = 0;

  Operation *end;
  SmallVector<AllocOp> buffers;
  int64_t rounds = 1;
};

void setBytes(AllocOp buffer, int64_t bytes) {
  buffer.setBytes(static_cast<uint64_t>(bytes));
}

/// Lets an access see a range of the places that it saw.
template <typename Op>
void narrow(Op access, Range range, bool isSure = false) {
  OpBuilder b(access);
  auto base = static_cast<int32_t>(access.getBase());
  access.setBaseAttr(
      b.getI32IntegerAttr(static_cast<int32_t>(base - range.first)));
  if (!isSure)
    access.setWithinAttr(
        b.getI32IntegerAttr(static_cast<int32_t>(range.count)));
}

void narrow(LocalCountOp count, Range range) {
  OpBuilder b(count);
  count.setBaseAttr(b.getI32IntegerAttr(static_cast<int32_t>(-range.first)));
  count.setBinsAttr(b.getI32IntegerAttr(static_cast<int32_t>(range.count)));
}

/// A store of a tile that may be cut: its bytes an element, or 0.
int64_t storedBytes(Operation *op) {
  auto store = dyn_cast<LocalStoreOp>(op);
  if (!store || !isa<RankedTensorType>(store.getValue().getType()) ||
      store.getSwizzleAttr() || store.getWithin())
    return 0;
  return elementBytes(tile::getElementType(store.getValue().getType()));
}

/// The same of a load.
int64_t loadedBytes(Operation *op) {
  auto load = dyn_cast<LocalLoadOp>(op);
  if (!load || !isa<RankedTensorType>(load.getType()) ||
      load.getSwizzleAttr() || load.getWithin())
    return 0;
  return elementBytes(tile::getElementType(load.getType()));
}

//===----------------------------------------------------------------------===//
// From stores to a load
//===----------------------------------------------------------------------===//

class TileTrip : public Trip {
public:
  /// The trip through a buffer, if it is one of this kind: accesses of one
  /// block, the last of which reads.
  static std::unique_ptr<TileTrip> create(AllocOp buffer);

  int64_t mostRounds() const override { return kMostRounds; }
  int64_t bytesIn(AllocOp, int64_t rounds) override {
    return sizeIn(rounds) * bytes;
  }
  void cut() override;

private:
  using Trip::Trip;
  int64_t sizeIn(int64_t rounds) const;

  SmallVector<Operation *> writers;
  int64_t bytes = 0;    ///< of an element
  int64_t elements = 0; ///< of the buffer
  int64_t row = 1;      ///< elements that are best kept together
};

std::unique_ptr<TileTrip> TileTrip::create(AllocOp buffer) {
  SmallVector<Operation *> users(buffer->getUsers());
  if (users.size() < 2 || llvm::any_of(users, [&](Operation *user) {
        return user->getBlock() != users.front()->getBlock();
      }))
    return nullptr;
  llvm::sort(users,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  std::unique_ptr<TileTrip> trip(new TileTrip(users.pop_back_val()));
  ArrayRef<int32_t> strides;
  if (auto gather = dyn_cast<LocalGatherOp>(trip->end);
      gather && !gather.getWithin()) {
    trip->bytes = elementBytes(gather.getType().getElementType());
    strides = gather.getStrides();
  } else {
    trip->bytes = loadedBytes(trip->end);
    if (auto load = dyn_cast<LocalLoadOp>(trip->end))
      strides = load.getStrides();
  }
  if (trip->bytes == 0)
    return nullptr;
  for (int32_t stride : strides)
    trip->row = std::max<int64_t>(trip->row, std::abs(stride));
  for (Operation *user : users)
    if (!isa<LocalCountOp>(user) && storedBytes(user) != trip->bytes)
      return nullptr;
  trip->writers = users;
  trip->buffers = {buffer};
  trip->elements = static_cast<int64_t>(buffer.getBytes()) / trip->bytes;
  return trip;
}

int64_t TileTrip::sizeIn(int64_t rounds) const {
  int64_t rows = llvm::divideCeil(elements, row);
  int64_t size = rows >= rounds ? row * llvm::divideCeil(rows, rounds)
                                : llvm::divideCeil(elements, rounds);
  return static_cast<int64_t>(
      llvm::alignTo(size, std::max<int64_t>(1, kAccessBytes / bytes)));
}

void TileTrip::cut() {
  OpBuilder b(end);
  int64_t size = sizeIn(rounds);
  Value result;
  for (int64_t first = 0; first < elements; first += size) {
    Range range{first, std::min(size, elements - first)};
    for (Operation *writer : writers)
      llvm::TypeSwitch<Operation *>(b.clone(*writer))
          .Case<LocalStoreOp, LocalCountOp>(
              [&](auto each) { narrow(each, range); });
    llvm::TypeSwitch<Operation *>(b.clone(*end))
        .Case<LocalLoadOp, LocalGatherOp>([&](auto each) {
          narrow(each, range);
          if (result)
            each.getOtherwiseMutable().assign(result);
          result = each;
        });
  }
  end->getResult(0).replaceAllUsesWith(result);
  end->erase();
  for (Operation *writer : writers)
    writer->erase();
  setBytes(buffers.front(), size * bytes);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

class DotTrip : public Trip {
public:
  static std::unique_ptr<DotTrip> create(LocalDotOp dot);

  int64_t mostRounds() const override {
    return std::min<int64_t>(kMostRounds, depth);
  }
  int64_t bytesIn(AllocOp buffer, int64_t rounds) override {
    for (Factor &factor : factors)
      if (factor.store.getBuffer() == buffer.getResult())
        return depthIn(rounds) * factor.strideOfK() * factor.bytes;
    llvm_unreachable("a product has two factors");
  }
  void cut() override;

private:
  using Trip::Trip;
  struct Factor {
    LocalStoreOp store;
    int64_t k; ///< the dimension
    int64_t bytes;
    SmallVector<int32_t> strides; ///< with k outermost
    int64_t strideOfK() const { return strides[k]; }
    bool init(Value buffer, LocalDotOp dot, ArrayRef<int32_t> given);
  };
  int64_t depthIn(int64_t rounds) const {
    return static_cast<int64_t>(llvm::divideCeil(depth, rounds));
  }

  SmallVector<Factor, 2> factors;
  int64_t depth = 0;
};

/// Fails unless one store fills the buffer for this product alone.
bool DotTrip::Factor::init(Value buffer, LocalDotOp dot,
                           ArrayRef<int32_t> given) {
  for (Operation *user : buffer.getUsers()) {
    if (user == dot)
      continue;
    bytes = storedBytes(user);
    if (store || bytes == 0 || user->getBlock() != dot->getBlock() ||
        !user->isBeforeInBlock(dot))
      return false;
    store = cast<LocalStoreOp>(user);
    if (store.getOffset() || store.getBase() != 0 ||
        store.getStrides() != given)
      return false;
  }
  strides.assign(given.begin(), given.end());
  // The batch may lie outside of k.
  if (strides.size() == 3 && strides[0] > strides[k]) {
    strides[0] = strides[k];
    strides[k] = static_cast<int32_t>(
        strides[0] * tile::getShape(store.getValue().getType())[0]);
  }
  return store && strides[k] == *llvm::max_element(strides);
}

std::unique_ptr<DotTrip> DotTrip::create(LocalDotOp dot) {
  std::unique_ptr<DotTrip> trip(new DotTrip(dot));
  auto rank = static_cast<int64_t>(dot.getLhsStrides().size());
  trip->depth = static_cast<int32_t>(dot.getDepth());
  trip->factors.resize(2);
  trip->factors[0].k = rank - 1;
  trip->factors[1].k = rank - 2;
  if (dot.getLhs() == dot.getRhs() ||
      !trip->factors[0].init(dot.getLhs(), dot, dot.getLhsStrides()) ||
      !trip->factors[1].init(dot.getRhs(), dot, dot.getRhsStrides()))
    return nullptr;
  trip->buffers = {dot.getLhs().getDefiningOp<AllocOp>(),
                   dot.getRhs().getDefiningOp<AllocOp>()};
  return trip;
}

/// `tile` with elements of another float type.
Value withElement(ImplicitLocOpBuilder &b, Value tile, Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType() == element)
    return tile;
  auto to = RankedTensorType::get(type.getShape(), element, type.getEncoding());
  if (type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, to, tile);
  return arith::TruncFOp::create(b, to, tile);
}

void DotTrip::cut() {
  auto dot = cast<LocalDotOp>(end);
  ImplicitLocOpBuilder b(dot.getLoc(), dot);
  // Sums stay as exact between rounds as they are within one.
  Type own = dot.getAcc().getType().getElementType(), exact = own;
  if (isa<FloatType>(own)) {
    exact = b.getF32Type();
    for (Type part : {own, dot.getLhsType(), dot.getRhsType()})
      if (part.isF64())
        exact = part;
  }
  Value acc = withElement(b, dot.getAcc(), exact);
  int64_t size = depthIn(rounds);
  for (int64_t first = 0; first < depth; first += size) {
    int64_t count = std::min(size, depth - first);
    for (Factor &factor : factors) {
      auto store = cast<LocalStoreOp>(b.clone(*factor.store));
      store.setStrides(factor.strides);
      narrow(store, {first * factor.strideOfK(), count * factor.strideOfK()});
    }
    auto part = cast<LocalDotOp>(b.clone(*dot));
    part.setDepthAttr(b.getI32IntegerAttr(static_cast<int32_t>(count)));
    part.setLhsStrides(factors[0].strides);
    part.setRhsStrides(factors[1].strides);
    part.getAccMutable().assign(acc);
    part.getResult().setType(cast<RankedTensorType>(acc.getType()));
    acc = part;
  }
  dot.replaceAllUsesWith(withElement(b, acc, own));
  for (AllocOp buffer : buffers)
    setBytes(buffer, bytesIn(buffer, rounds));
  dot->erase();
  for (Factor &factor : factors)
    factor.store->erase();
}

//===----------------------------------------------------------------------===//
// Loops over rows
//===----------------------------------------------------------------------===//

/// `scale * counter + shift`.
struct Affine {
  int64_t scale = 0, shift = 0;
};

/// An integer as such a function of a loop's counter.
std::optional<Affine> affineIn(Value value, Value counter) {
  APInt constant;
  if (!value)
    return Affine{0, 0};
  if (value == counter)
    return Affine{1, 0};
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Affine{0, constant.getSExtValue()};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Affine> a = affineIn(op->getOperand(0), counter),
                        b = affineIn(op->getOperand(1), counter);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Affine{a->scale + b->scale, a->shift + b->shift};
  if (isa<arith::SubIOp>(op))
    return Affine{a->scale - b->scale, a->shift - b->shift};
  if (a->scale != 0 && b->scale != 0)
    return std::nullopt;
  return Affine{a->scale * b->shift + a->shift * b->scale, a->shift * b->shift};
}

class LoopTrip : public Trip {
public:
  /// The trip of all buffers that a loop goes through row by row, if there are
  /// any.
  static std::unique_ptr<LoopTrip> create(scf::ForOp loop);

  int64_t mostRounds() const override {
    return std::min(kMostRounds, iterations);
  }
  int64_t bytesIn(AllocOp buffer, int64_t rounds) override {
    Rows &each = rows[buffer];
    return rangeOf(each, 0, iterationsIn(rounds)).count * each.bytes;
  }
  void cut() override;

private:
  using Trip::Trip;
  /// A buffer, of which each iteration touches the places [low, high], `scale`
  /// times the counter on.
  struct Rows {
    SmallVector<LocalStoreOp> before; ///< what fills it, or
    LocalLoadOp after;                ///< what reads all that was written
    int64_t scale = 0, low = INT64_MAX, high = INT64_MIN;
    int64_t bytes = 0;                      ///< of an element
    bool isRead = false, isWritten = false; ///< by the loop
    bool init(AllocOp buffer, scf::ForOp loop);
    bool addInside(Operation *user, scf::ForOp loop);
    bool addOutside(Operation *user, scf::ForOp loop);
    template <typename Op>
    bool touch(Op access, Type type, scf::ForOp loop);
  };
  int64_t iterationsIn(int64_t rounds) const {
    return static_cast<int64_t>(llvm::divideCeil(iterations, rounds));
  }
  /// What the iterations [from, to) touch.
  Range rangeOf(const Rows &each, int64_t from, int64_t to) const {
    int64_t a = each.scale * (start + from * step),
            b = each.scale * (start + (to - 1) * step);
    return {each.low + std::min(a, b),
            each.high - each.low + std::abs(a - b) + 1};
  }
  void narrowBody(scf::ForOp loop, int64_t from, int64_t to);

  llvm::MapVector<Operation *, Rows> rows;
  int64_t start = 0, step = 1, iterations = 0;
};

/// Takes in what an access in the loop touches.
template <typename Op>
bool LoopTrip::Rows::touch(Op access, Type type, scf::ForOp loop) {
  std::optional<Affine> offset =
      affineIn(access.getOffset(), loop.getInductionVar());
  if (!offset || (low <= high && offset->scale != scale))
    return false;
  scale = offset->scale;
  int64_t first = offset->shift + static_cast<int32_t>(access.getBase()),
          last = first;
  for (auto [extent, stride] :
       llvm::zip(tile::getShape(type), access.getStrides()))
    (stride < 0 ? first : last) += (extent - 1) * stride;
  low = std::min(low, first);
  high = std::max(high, last);
  return true;
}

/// An access in the loop: of a store or a load.
bool LoopTrip::Rows::addInside(Operation *user, scf::ForOp loop) {
  if (auto store = dyn_cast<LocalStoreOp>(user)) {
    isWritten = true;
    return touch(store, store.getValue().getType(), loop);
  }
  auto load = cast<LocalLoadOp>(user);
  isRead = true;
  return touch(load, load.getType(), loop);
}

/// A store in front of the loop, or the one load behind it.
bool LoopTrip::Rows::addOutside(Operation *user, scf::ForOp loop) {
  auto store = dyn_cast<LocalStoreOp>(user);
  if (user->getBlock() != loop->getBlock() ||
      user->isBeforeInBlock(loop) != (store != nullptr) || (!store && after))
    return false;
  if (store)
    before.push_back(store);
  else
    after = cast<LocalLoadOp>(user);
  return true;
}

/// Fails unless the loop only reads what stores in front of it wrote, or only
/// writes what one load behind it reads, each iteration rows of its own.
bool LoopTrip::Rows::init(AllocOp buffer, scf::ForOp loop) {
  for (Operation *user : buffer->getUsers()) {
    auto store = dyn_cast<LocalStoreOp>(user);
    int64_t now = store ? storedBytes(user) : loadedBytes(user);
    if (now == 0 || (bytes && now != bytes))
      return false;
    bytes = now;
    if (user->getBlock() == loop.getBody() ? !addInside(user, loop)
                                           : !addOutside(user, loop))
      return false;
  }
  // In the order of the text: the later of two stores counts.
  llvm::sort(before, [](LocalStoreOp a, LocalStoreOp b) {
    return a->isBeforeInBlock(b);
  });
  APInt step;
  matchPattern(loop.getStep(), m_ConstantInt(&step));
  bool areApart = std::abs(scale) * step.getSExtValue() > high - low;
  return areApart && (isRead ? !isWritten && !after : before.empty());
}

std::unique_ptr<LoopTrip> LoopTrip::create(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || lower.sge(upper) ||
      !step.isStrictlyPositive())
    return nullptr;
  std::unique_ptr<LoopTrip> trip(new LoopTrip(loop));
  trip->start = lower.getSExtValue();
  trip->step = step.getSExtValue();
  trip->iterations = static_cast<int64_t>(
      llvm::divideCeil((upper - lower).getSExtValue(), trip->step));
  llvm::SetVector<Operation *> seen;
  for (Operation &op : *loop.getBody())
    for (Value operand : op.getOperands())
      if (auto buffer = operand.getDefiningOp<AllocOp>())
        if (buffer->getBlock() == loop->getBlock())
          seen.insert(buffer);
  for (Operation *op : seen) {
    Rows each;
    if (!each.init(cast<AllocOp>(op), loop))
      continue;
    trip->rows[op] = each;
    trip->buffers.push_back(cast<AllocOp>(op));
  }
  return trip->rows.empty() ? nullptr : std::move(trip);
}

/// Makes a copy of the loop that of iterations [from, to).
void LoopTrip::narrowBody(scf::ForOp loop, int64_t from, int64_t to) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto bound = [&](int64_t iteration) -> Value {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(loop.getInductionVar().getType(),
                            start + iteration * step));
  };
  loop.setLowerBound(bound(from));
  loop.setUpperBound(bound(to));
  for (Operation &op : *loop.getBody())
    llvm::TypeSwitch<Operation *>(&op).Case<LocalLoadOp, LocalStoreOp>(
        [&](auto access) {
          auto *it = rows.find(access.getBuffer().getDefiningOp());
          if (it != rows.end())
            narrow(access, rangeOf(it->second, from, to), /*isSure=*/true);
        });
}

void LoopTrip::cut() {
  auto loop = cast<scf::ForOp>(end);
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  DenseMap<Operation *, Value> results;
  int64_t size = iterationsIn(rounds);
  for (int64_t from = 0; from < iterations; from += size) {
    int64_t to = std::min(iterations, from + size);
    for (auto &[buffer, each] : rows)
      for (LocalStoreOp store : each.before)
        narrow(cast<LocalStoreOp>(b.clone(*store)), rangeOf(each, from, to));
    auto part = cast<scf::ForOp>(b.clone(*loop));
    part.getInitArgsMutable().assign(carried);
    narrowBody(part, from, to);
    carried.assign(part.getResults().begin(), part.getResults().end());
    for (auto &[buffer, each] : rows) {
      if (!each.after)
        continue;
      auto load = cast<LocalLoadOp>(b.clone(*each.after));
      narrow(load, rangeOf(each, from, to));
      if (Value before = results.lookup(buffer))
        load.getOtherwiseMutable().assign(before);
      results[buffer] = load;
    }
  }
  for (AllocOp buffer : buffers)
    setBytes(buffer, bytesIn(buffer, rounds));
  for (auto &[buffer, each] : rows) {
    if (each.after) {
      each.after.replaceAllUsesWith(results[buffer]);
      each.after.erase();
    }
    for (LocalStoreOp store : each.before)
      store.erase();
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

class Plan {
public:
  Plan(func::FuncOp kernel, int64_t limit) : order(kernel), limit(limit) {
    whole = order.lifetimes();
    total = placeAll(whole, limit);
  }

  bool fits() const { return total <= limit; }
  /// Cuts trips, on paper, until all fits or nothing is left to cut.
  void fit(func::FuncOp kernel);
  /// Inner ones first: the loops around them are copied.
  void apply() {
    for (const std::unique_ptr<Trip> &trip : trips)
      if (trip->rounds > 1)
        trip->cut();
  }

private:
  void findTrips(func::FuncOp kernel);
  SmallVector<Lifetime> lifetimes();
  Trip *largestAtPeak(ArrayRef<Lifetime> buffers);

  TextOrder order;
  int64_t limit, total;
  SmallVector<Lifetime> whole;
  SmallVector<std::unique_ptr<Trip>> trips; ///< inner ones first
  DenseMap<Operation *, Trip *> tripOf;     ///< by buffer
};

void Plan::findTrips(func::FuncOp kernel) {
  auto add = [&](std::unique_ptr<Trip> trip) {
    if (!trip)
      return;
    for (AllocOp buffer : trip->buffers)
      tripOf[buffer] = trip.get();
    trips.push_back(std::move(trip));
  };
  kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (auto buffer = dyn_cast<AllocOp>(op))
      add(TileTrip::create(buffer));
    else if (auto dot = dyn_cast<LocalDotOp>(op))
      add(DotTrip::create(dot));
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      add(LoopTrip::create(loop));
  });
}

/// As the plan has them.
SmallVector<Lifetime> Plan::lifetimes() {
  SmallVector<Lifetime> now(whole);
  for (Lifetime &buffer : now)
    if (Trip *trip = tripOf.lookup(buffer.alloc); trip && trip->rounds > 1)
      buffer = order.lifetime(
          buffer.alloc, trip->bytesIn(buffer.alloc, trip->rounds), trip->end);
  return now;
}

/// The trip with the most bytes of those that can be cut where most is needed
/// at one time; null if there is none.
Trip *Plan::largestAtPeak(ArrayRef<Lifetime> buffers) {
  auto sumAt = [&](int64_t time) {
    int64_t sum = 0;
    for (const Lifetime &buffer : buffers)
      if (buffer.first <= time && time <= buffer.last)
        sum += buffer.bytes;
    return sum;
  };
  int64_t peak = 0, most = -1;
  for (const Lifetime &buffer : buffers)
    if (int64_t sum = sumAt(buffer.first); sum > most) {
      most = sum;
      peak = buffer.first;
    }
  llvm::MapVector<Trip *, int64_t> bytes;
  for (const Lifetime &buffer : buffers)
    if (buffer.first <= peak && peak <= buffer.last)
      if (Trip *trip = tripOf.lookup(buffer.alloc);
          trip && 2 * trip->rounds <= trip->mostRounds())
        bytes[trip] += buffer.bytes;
  if (bytes.empty())
    return nullptr;
  return llvm::max_element(bytes, llvm::less_second())->first;
}

void Plan::fit(func::FuncOp kernel) {
  findTrips(kernel);
  while (!fits()) {
    Trip *largest = largestAtPeak(lifetimes());
    if (!largest)
      return;
    largest->rounds *= 2;
    SmallVector<Lifetime> now = lifetimes();
    total = placeAll(now, limit);
  }
}

} // namespace
} // namespace simt

namespace {

class FitSharedPass : public impl::FitSharedBase<FitSharedPass> {
  void runOnOperation() override {
    std::optional<int64_t> limit = simt::sharedLimit(getOperation());
    if (!limit)
      return;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kKernelAttr))
        continue;
      simt::Plan plan(kernel, *limit);
      if (plan.fits())
        continue;
      plan.fit(kernel);
      plan.apply();
    }
  }
};

} // namespace
} // namespace terrazzo
