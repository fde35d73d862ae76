//===- InsertMmaWaits.cpp - Waits for products in flight ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that a matrix unit reads from shared memory is in flight until it
// is waited for. Products of a thread end in the order in which they start, so
// a wait says how many of the last may still be on their way. It stands right
// before the first op that reads the result.
//
// An accumulator that a loop carries from one product to the next is waited for
// behind the loop. In it, each iteration waits for the products of the one
// before, whose slots are filled next. What reads a buffer that the loop stores
// to again does not last that long.
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

/// Whether the loop leaves a factor alone until the next iteration's product
/// has started.
bool outlasts(Value factor, scf::ForOp loop) {
  auto alloc = factor.getDefiningOp<AllocOp>();
  if (!alloc)
    return loop.isDefinedOutsideOfLoop(factor);
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

/// The conversions, the last one first, that make what a factor in registers is
/// in the next iteration.
SmallVector<Operation *> conversionsTo(Value factor, Block *block) {
  SmallVector<Operation *> conversions;
  auto argument = dyn_cast<BlockArgument>(factor);
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  if (!argument || !loop || argument.getOwner() != block)
    return conversions;
  Value value = loop.getTiedLoopYieldedValue(argument)->get();
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != block || !op->hasOneUse() ||
        !isa<ConvertLayoutOp, arith::TruncFOp>(op))
      break;
    conversions.push_back(op);
    value = op->getOperand(0);
  }
  return conversions;
}

/// Waits for `value`, which `mma` has made, before `place`, an op of its block.
/// A factor's next registers are the same again: they are written behind the
/// wait, or ptxas would wait before.
void waitBefore(Operation *place, LocalMmaOp mma) {
  Value value = mma.getResult();
  SmallVector<Value> values = {value};
  SmallVector<SmallVector<Operation *>> delayed;
  for (Value factor : factorsOf(mma)) {
    SmallVector<Operation *> conversions =
        conversionsTo(factor, mma->getBlock());
    if (conversions.empty())
      continue;
    Value source = conversions.back()->getOperand(0);
    Operation *def = source.getDefiningOp();
    if (!def || def->getBlock() != mma->getBlock() ||
        !def->isBeforeInBlock(place) || llvm::is_contained(values, source))
      continue;
    values.push_back(source);
    delayed.push_back(std::move(conversions));
  }
  auto between =
      countProducts(std::next(mma->getIterator()), place->getIterator());
  OpBuilder b(place);
  MmaWaitOp done =
      wait(b, mma.getLoc(), values, factorsOf(mma), between.value_or(0));
  value.replaceUsesWithIf(done.getResult(0), [&](OpOperand &use) {
    Operation *user = mma->getBlock()->findAncestorOpInBlock(*use.getOwner());
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

/// The first op of the block that reads the result, other than as the
/// accumulator of a product in the block; null if only such do. What nobody
/// reads is read by the next op.
Operation *firstReader(LocalMmaOp mma) {
  Operation *first = nullptr;
  if (mma.getResult().use_empty())
    return mma->getNextNode();
  for (OpOperand &use : mma.getResult().getUses()) {
    auto next = dyn_cast<LocalMmaOp>(use.getOwner());
    if (next && next->getBlock() == mma->getBlock() &&
        use.get() == next.getAcc() && use.get() != next.getLhs())
      continue;
    Operation *user = mma->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Whether the result may be in flight until the loop ends.
bool lastsForLoop(LocalMmaOp mma) {
  return isCarried(mma, mma.getAcc()) &&
         llvm::all_of(factorsOf(mma), [&](Value factor) {
           return outlasts(factor, cast<scf::ForOp>(mma->getParentOp()));
         });
}

void insertWaits(LocalMmaOp mma) {
  if (lastsForLoop(mma)) {
    auto loop = cast<scf::ForOp>(mma->getParentOp());
    Block *body = loop.getBody();
    OpBuilder b(body->getTerminator());
    if (!isa<MmaWaitOp>(body->getTerminator()->getPrevNode()))
      wait(b, mma.getLoc(), {}, {},
           countProducts(body->begin(), body->end()).value_or(0));
    b.setInsertionPointAfter(loop);
    Value result = loop.getTiedLoopResult(cast<BlockArgument>(mma.getAcc()));
    MmaWaitOp done = wait(b, mma.getLoc(), result, factorsOf(mma), 0);
    result.replaceAllUsesExcept(done.getResult(0), done);
    return;
  }
  if (Operation *reader = firstReader(mma))
    waitBefore(reader, mma);
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
  }
};

} // namespace
} // namespace terrazzo
