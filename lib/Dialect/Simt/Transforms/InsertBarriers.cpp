//===- InsertBarriers.cpp - Barriers where the memory model wants them ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers are put as late as can be, right before the access that would race;
// one of them serves everything before it. In a loop, one that came for the
// next iteration's sake may make one that was there before superfluous: each is
// tried without. CheckBarriers asks the same model whether one is missing.
//===----------------------------------------------------------------------===//

#include "MemoryModel.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_INSERTBARRIERS
#define GEN_PASS_DEF_CHECKBARRIERS
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

class InsertBarriersPass : public impl::InsertBarriersBase<InsertBarriersPass> {
  void runOnOperation() override {
    getOperation().walk([](tile::BarrierOp op) {
      OpBuilder b(op);
      simt::BarrierOp::create(b, op.getLoc());
      op.erase();
    });
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr)) {
        insert(kernel);
        showUnits(kernel);
      }
  }

  /// Matrix units that read shared memory do not see what threads wrote unless
  /// the barrier between says so.
  static void showUnits(func::FuncOp kernel) {
    bool hasUnits =
        kernel.walk([](simt::LocalMmaOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (hasUnits)
      kernel.walk([](simt::BarrierOp op) { op.setUnits(true); });
  }

  static void insert(func::FuncOp kernel) {
    SmallVector<Operation *> barriers;
    simt::followAccesses(
        kernel,
        [&](Operation *op, const simt::Access &) {
          OpBuilder b(op);
          barriers.push_back(simt::BarrierOp::create(b, op->getLoc()));
          return true;
        },
        /*mayMove=*/true);
    bool hasLoops =
        kernel.walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!hasLoops)
      return;
    // Those that run most often first, else in their order.
    SmallVector<std::pair<int64_t, size_t>> order;
    for (auto [index, barrier] : llvm::enumerate(barriers))
      order.emplace_back(-loopsAround(barrier), index);
    llvm::sort(order);
    for (auto [depth, index] : order) {
      Operation *barrier = barriers[index];
      Operation *next = barrier->getNextNode();
      barrier->remove();
      if (isClean(kernel))
        barrier->destroy();
      else
        next->getBlock()->getOperations().insert(Block::iterator(next),
                                                 barrier);
    }
  }

  static int loopsAround(Operation *op) {
    int count = 0;
    while ((op = op->getParentOp()))
      count += isa<LoopLikeOpInterface>(op);
    return count;
  }

  static bool isClean(func::FuncOp kernel) {
    bool clean = true;
    simt::followAccesses(
        kernel,
        [&](Operation *, const simt::Access &) { return clean = false; },
        /*mayMove=*/false);
    return clean;
  }
};

class CheckBarriersPass : public impl::CheckBarriersBase<CheckBarriersPass> {
  void runOnOperation() override {
    bool isClean = true;
    llvm::DenseSet<Operation *> reported;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr))
        simt::followAccesses(
            kernel,
            [&](Operation *op, const simt::Access &earlier) {
              if (reported.insert(op).second) {
                InFlightDiagnostic diag = op->emitError(
                    earlier.isInFlight ? "needs a wait" : "needs a barrier");
                diag << " after an earlier access of the same ";
                diag << (earlier.isShared ? "shared" : "global") << " memory";
                diag.attachNote(earlier.op->getLoc()) << "the earlier access";
              }
              isClean = false;
              return false;
            },
            /*mayMove=*/false);
    getOperation().walk(
        [&](simt::LocalMmaOp op) { isClean &= isWaitedFor(op); });
    if (!isClean)
      signalPassFailure();
  }

  /// That a result in flight is read by waits only, and handed on.
  static bool isWaitedFor(simt::LocalMmaOp product) {
    bool isClean = true;
    llvm::SetVector<Value> inFlight;
    inFlight.insert(product.getResult());
    for (size_t next = 0; next < inFlight.size(); ++next)
      for (OpOperand &use : inFlight[next].getUses()) {
        Operation *user = use.getOwner();
        auto later = dyn_cast<simt::LocalMmaOp>(user);
        if (isa<simt::MmaWaitOp>(user) ||
            (later && use.get() == later.getAcc() &&
             use.get() != later.getLhs()))
          continue;
        auto loop = dyn_cast<scf::ForOp>(user);
        if (isa<scf::YieldOp>(user))
          loop = dyn_cast<scf::ForOp>(user->getParentOp());
        BlockArgument argument =
            !loop          ? BlockArgument()
            : user == loop ? loop.getTiedLoopRegionIterArg(&use)
                           : loop.getRegionIterArg(use.getOperandNumber());
        if (!argument) {
          InFlightDiagnostic diag =
              user->emitError("reads a result that is still in flight");
          diag.attachNote(product.getLoc()) << "the product";
          isClean = false;
          continue;
        }
        inFlight.insert(argument);
        inFlight.insert(loop.getTiedLoopResult(argument));
      }
    return isClean;
  }
};

} // namespace
} // namespace terrazzo
