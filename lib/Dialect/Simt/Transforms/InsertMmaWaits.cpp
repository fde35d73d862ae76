//===- InsertMmaWaits.cpp - Waits for products in flight ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that a matrix unit reads from shared memory is in flight until it
// is waited for. Products of a thread end in the order in which they start, so
// a wait says how many of the last may still be on their way. It stands right
// before the first op that reads the result.
//
// A product whose result only the loop's next iteration reads runs on: that
// iteration waits where it reads it, or, if it only adds to it, at its end,
// since the slots of the iteration before are filled next. What reads a buffer
// that the loop stores to again does not last that long.
//
// A slot of a ring is released right behind the wait for the product that has
// read it.
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_INSERTMMAWAITS
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace simt {
namespace {

/// What a product reads, and those in its block that it adds to.
SmallVector<Value> factorsOf(LocalMmaOp mma) {
  llvm::SetVector<Value> factors;
  for (Block *block = mma->getBlock(); mma && mma->getBlock() == block;
       mma = mma.getAcc().getDefiningOp<LocalMmaOp>())
    for (Value factor : {Value(mma.getLhs()), Value(mma.getRhs())})
      factors.insert(factor);
  return factors.takeVector();
}

/// Products that start in `block` from `first` up to `last`; nothing if a
/// region between has some.
std::optional<int64_t> countProducts(Block::iterator first,
                                     Block::iterator last) {
  int64_t count = 0;
  for (Operation &op : llvm::make_range(first, last)) {
    if (isa<LocalMmaOp>(op)) {
      ++count;
      continue;
    }
    if (op.walk([](LocalMmaOp) {
            return WalkResult::interrupt();
          }).wasInterrupted())
      return std::nullopt;
  }
  return count;
}

/// The conversions, the last one first, that make a factor in registers, in
/// this iteration or, of a carried one, in the next.
SmallVector<Operation *> conversionsTo(Value factor, Block *block) {
  SmallVector<Operation *> conversions;
  Value value = factor;
  if (auto argument = dyn_cast<BlockArgument>(factor)) {
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    if (!loop || argument.getOwner() != block)
      return conversions;
    value = loop.getTiedLoopYieldedValue(argument)->get();
  }
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != block || !op->hasOneUse() ||
        !isa<ConvertLayoutOp, arith::TruncFOp>(op))
      break;
    conversions.push_back(op);
    value = op->getOperand(0);
  }
  return conversions;
}

/// Whether the loop leaves a factor alone until the next iteration's product
/// has started.
bool outlasts(Value factor, scf::ForOp loop) {
  auto alloc = factor.getDefiningOp<AllocOp>();
  if (!alloc)
    return loop.isDefinedOutsideOfLoop(factor) ||
           (isa<OpResult>(factor) &&
            !conversionsTo(factor, loop.getBody()).empty());
  std::optional<uint64_t> ring = alloc.getRing();
  if (ring)
    return *ring >= 1;
  return llvm::all_of(alloc->getUsers(), [&](Operation *user) {
    return isa<LocalMmaOp, MmaWaitOp>(user) || !loop->isAncestor(user);
  });
}

MmaWaitOp wait(OpBuilder &b, Location loc, ValueRange values,
               ArrayRef<Value> factors, int64_t pending) {
  auto isBuffer = [](Value factor) {
    return isa<BufferType>(factor.getType());
  };
  SmallVector<Value> buffers, tiles;
  llvm::copy_if(factors, std::back_inserter(buffers), isBuffer);
  llvm::copy_if(factors, std::back_inserter(tiles), std::not_fn(isBuffer));
  return MmaWaitOp::create(b, loc, values.getTypes(), values, tiles, buffers,
                           b.getI32IntegerAttr(static_cast<int32_t>(pending)));
}

/// Waits for `value`, which `mma` makes in this iteration or made in the one
/// before, before `place`, an op of its block. A factor's registers are written
/// again behind the wait, or ptxas would wait before.
void waitBefore(Operation *place, LocalMmaOp mma, Value value,
                int64_t pending) {
  Block *block = mma->getBlock();
  bool isLater = value != mma.getResult();
  SmallVector<Value> values = {value}, factors;
  SmallVector<SmallVector<Operation *>> delayed;
  for (Value factor : factorsOf(mma)) {
    bool isOwn = factor.getDefiningOp() && !isa<BufferType>(factor.getType()) &&
                 factor.getDefiningOp()->getBlock() == block;
    // Of the iteration before, it is no longer there.
    if (!isLater || !isOwn)
      factors.push_back(factor);
    SmallVector<Operation *> conversions = conversionsTo(factor, block);
    if (conversions.empty() || isLater != isOwn)
      continue;
    Value source = conversions.back()->getOperand(0);
    Operation *def = source.getDefiningOp();
    if (!def || def->getBlock() != block || !def->isBeforeInBlock(place) ||
        llvm::is_contained(values, source))
      continue;
    values.push_back(source);
    delayed.push_back(std::move(conversions));
  }
  OpBuilder b(place);
  MmaWaitOp done = wait(b, mma.getLoc(), values, factors, pending);
  value.replaceUsesWithIf(done.getResult(0), [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    return use.getOwner() != done && !user->isBeforeInBlock(done);
  });
  for (auto [index, conversions] : llvm::enumerate(delayed)) {
    conversions.back()->setOperand(0, done.getResult(index + 1));
    Operation *behind = done;
    for (Operation *op : llvm::reverse(conversions)) {
      if (op->isBeforeInBlock(done))
        op->moveAfter(behind);
      behind = op;
    }
  }
}

/// The first op of the block that reads a value, other than as the accumulator
/// of a product in it; null if only such do.
Operation *firstReader(Value value, Block *block) {
  Operation *first = nullptr;
  for (OpOperand &use : value.getUses()) {
    auto next = dyn_cast<LocalMmaOp>(use.getOwner());
    if (next && next->getBlock() == block && use.get() == next.getAcc() &&
        use.get() != next.getLhs())
      continue;
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Whether a product may run into the next iteration.
bool mayRunOn(LocalMmaOp mma) {
  return runsOn(mma) && llvm::all_of(factorsOf(mma), [&](Value factor) {
           return outlasts(factor, cast<scf::ForOp>(mma->getParentOp()));
         });
}

/// Behind the first wait in a loop's body that also waits for all products of
/// the iteration before, if that is before `place`; else `place`. What follows
/// is then free to move.
Operation *earliestFreeWait(Block *body, Operation *place) {
  for (auto done : body->getOps<MmaWaitOp>()) {
    if (!done->isBeforeInBlock(place))
      break;
    if (static_cast<int64_t>(done.getPending()) <=
        countProducts(body->begin(), done->getIterator()).value_or(0))
      return done->getNextNode();
  }
  return place;
}

/// Waits in the next iteration: where the result is read, or, if it is only
/// added to, at the end, for all products of the iterations before. Behind the
/// loop, the last one.
void waitLater(LocalMmaOp mma) {
  auto loop = cast<scf::ForOp>(mma->getParentOp());
  Block *body = loop.getBody();
  OpOperand &yielded = *mma.getResult().use_begin();
  BlockArgument argument = loop.getRegionIterArg(yielded.getOperandNumber());
  Operation *reader = firstReader(argument, body);
  OpBuilder b(body->getTerminator());
  if (reader) {
    if (mma->isBeforeInBlock(reader))
      reader = mma;
    reader = earliestFreeWait(body, reader);
    waitBefore(reader, mma, argument,
               countProducts(body->begin(), reader->getIterator()).value_or(0));
  } else if (!isa<MmaWaitOp>(body->getTerminator()->getPrevNode())) {
    wait(b, mma.getLoc(), {}, {},
         countProducts(body->begin(), body->end()).value_or(0));
  }
  b.setInsertionPointAfter(loop);
  Value result = loop.getTiedLoopResult(argument);
  SmallVector<Value> factors =
      llvm::filter_to_vector(factorsOf(mma), [&](Value factor) {
        return loop.isDefinedOutsideOfLoop(factor);
      });
  MmaWaitOp done = wait(b, mma.getLoc(), result, factors, 0);
  result.replaceAllUsesExcept(done.getResult(0), done);
}

/// Has the warps arrive as soon as they have waited for what reads the ring, by
/// waits that name it, or, if none does, by one that names nothing.
void releaseBehindWait(MbarrierArriveOp arrive) {
  Operation *behind = nullptr, *unnamed = nullptr;
  for (auto done : arrive->getBlock()->getOps<MmaWaitOp>())
    if (llvm::is_contained(done.getBuffers(), arrive.getRing()))
      behind = done;
    else if (done.getBuffers().empty())
      unnamed = done;
  if (!behind)
    behind = unnamed;
  if (!behind)
    return;
  for (Value operand : arrive->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && def->getBlock() == arrive->getBlock() &&
        behind->isBeforeInBlock(def))
      behind = def;
  arrive->moveAfter(behind);
}

void insertWaits(LocalMmaOp mma) {
  if (mayRunOn(mma))
    return waitLater(mma);
  Value result = mma.getResult();
  // What nobody reads is waited for at once.
  Operation *reader = result.use_empty() ? mma->getNextNode()
                                         : firstReader(result, mma->getBlock());
  if (reader)
    waitBefore(
        reader, mma, result,
        countProducts(std::next(mma->getIterator()), reader->getIterator())
            .value_or(0));
}

} // namespace
} // namespace simt

namespace {

class InsertMmaWaitsPass : public impl::InsertMmaWaitsBase<InsertMmaWaitsPass> {
  void runOnOperation() override {
    SmallVector<simt::LocalMmaOp> products;
    getOperation().walk([&](simt::LocalMmaOp op) { products.push_back(op); });
    for (simt::LocalMmaOp op : products)
      simt::insertWaits(op);
    SmallVector<simt::MbarrierArriveOp> arrivals;
    getOperation().walk(
        [&](simt::MbarrierArriveOp op) { arrivals.push_back(op); });
    for (simt::MbarrierArriveOp op : arrivals)
      simt::releaseBehindWait(op);
  }
};

} // namespace
} // namespace terrazzo
