//===- Prefetch.cpp - Loads that start early ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load waits for hundreds of cycles; what stands between it and its address
// is often a reduction over the block with a barrier, or the rest of a loop's
// body.
//
//   for i { x = load p(i); ... }
//
// becomes
//
//   y = load p(first)
//   for i iter_args(x = y) { y = load p(i + step) if there is one; ...; yield y
//   }
//
// The values wait in registers. Only loads from arguments that the kernel does
// not store to move, and none over an op that orders memory: a barrier that the
// user wrote, an atomic that is not relaxed, and whatever else has effects that
// are not known.
//===----------------------------------------------------------------------===//

#include "MemoryModel.h"
#include "terrazzo/Dialect/Simt/IR/Layouts.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTPREFETCH
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace simt {
namespace {

/// Bytes of registers in each thread that may wait for loads at one time.
constexpr int64_t kWaitingBytes = 192;

class Prefetcher {
public:
  explicit Prefetcher(func::FuncOp kernel) : kernel(kernel), writes(kernel) {}

  void run() {
    SmallVector<Block *> blocks;
    SmallVector<scf::ForOp> loops;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == kernel || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        loops.push_back(loop);
    });
    for (Block *block : blocks)
      hoist(*block);
    for (scf::ForOp loop : loops)
      rotate(loop);
  }

private:
  bool isMovable(tile::LoadOp load) {
    return !load.getIsVolatile() && !writes.mayChange(load.getPtr());
  }

  /// The pure ops of `block` that `values` are made of, operands first; fails
  /// if one is not pure.
  static bool sliceOf(ValueRange values, Block &block,
                      llvm::SetVector<Operation *> &slice) {
    for (Value value : values) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != &block || slice.contains(op))
        continue;
      if (!isPure(op) || op->getNumRegions() != 0 || isa<ConvertLayoutOp>(op) ||
          !sliceOf(op->getOperands(), block, slice))
        return false;
      slice.insert(op);
    }
    return true;
  }

  /// Something that takes long, or that threads wait at.
  static bool isBoundary(Operation &op) {
    return op.getNumRegions() != 0 ||
           isa<ConvertLayoutOp, MmaOp, tile::DotOp>(op);
  }

  /// Moves loads, with what their addresses are made of, before the first
  /// boundary of a block.
  void hoist(Block &block) {
    auto boundary =
        llvm::find_if(block, [](Operation &op) { return isBoundary(op); });
    if (boundary == block.end())
      return;
    int64_t waiting = 0;
    for (Operation &op :
         llvm::make_early_inc_range(llvm::make_range(boundary, block.end()))) {
      if (ordersMemory(&op))
        return;
      auto load = dyn_cast<tile::LoadOp>(op);
      llvm::SetVector<Operation *> slice;
      if (!load || !isMovable(load) ||
          !sliceOf(load->getOperands(), block, slice))
        continue;
      waiting += bytesInThread(load.getType());
      if (waiting > kWaitingBytes)
        return;
      for (Operation *op : slice)
        if (!op->isBeforeInBlock(&*boundary))
          op->moveBefore(&*boundary);
      load->moveBefore(&*boundary);
    }
  }

  /// `load` as it would be with other values for what the mapping names, if
  /// `condition` holds.
  static Value cloneLoad(OpBuilder &b, tile::LoadOp load,
                         const llvm::SetVector<Operation *> &slice,
                         IRMapping &mapping, Value condition) {
    for (Operation *op : slice)
      if (!llvm::all_of(op->getResults(),
                        [&](Value v) { return mapping.contains(v); }))
        b.clone(*op, mapping);
    Location loc = load.getLoc();
    Value mask = condition;
    // The load's own mask may still have a layout of its own.
    Value shaped = load.getMask() ? load.getMask() : load.getPtr();
    if (auto type = dyn_cast<RankedTensorType>(shaped.getType())) {
      auto maskType = RankedTensorType::get(type.getShape(), b.getI1Type(),
                                            type.getEncoding());
      mask = tile::SplatOp::create(b, loc, maskType, condition);
    }
    if (load.getMask())
      mask = arith::AndIOp::create(
          b, loc, mapping.lookupOrDefault(load.getMask()), mask);
    auto copy = cast<tile::LoadOp>(b.clone(*load, mapping));
    copy.getMaskMutable().assign(mask);
    return copy.getResult();
  }

  /// A load with what its address is made of in the body of its loop.
  struct Candidate {
    tile::LoadOp load;
    llvm::SetVector<Operation *> slice;

    bool uses(Value value) {
      auto isUser = [&](Operation *op) {
        return llvm::is_contained(op->getOperands(), value);
      };
      return isUser(load) || llvm::any_of(slice, isUser);
    }
  };

  /// The loads of a loop's body whose next address is known, as many as may
  /// wait at one time.
  SmallVector<Candidate> candidatesOf(scf::ForOp loop) {
    Block &body = *loop.getBody();
    SmallVector<Candidate> candidates;
    int64_t waiting = 0;
    for (auto load : body.getOps<tile::LoadOp>()) {
      llvm::SetVector<Operation *> slice;
      if (!isMovable(load) || !sliceOf(load->getOperands(), body, slice))
        continue;
      // What the next iteration's address needs of this one.
      llvm::SetVector<Operation *> carried;
      bool isKnown = true;
      for (Operation *op : slice)
        for (Value operand : op->getOperands())
          isKnown &= isKnownAhead(operand, loop, carried);
      for (Value operand : load->getOperands())
        isKnown &= isKnownAhead(operand, loop, carried);
      if (!isKnown)
        continue;
      waiting += bytesInThread(load.getType());
      if (waiting > kWaitingBytes)
        return {};
      candidates.push_back({load, slice});
    }
    return candidates;
  }

  /// The loads of the first iteration, if there is one, in front of the loop.
  static SmallVector<Value> loadFirst(OpBuilder &b, scf::ForOp loop,
                                      ArrayRef<Candidate> candidates) {
    Location loc = loop.getLoc();
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    for (auto [arg, init] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
      first.map(arg, init);
    Value runs =
        arith::CmpIOp::create(b, loc,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                    : arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    SmallVector<Value> values;
    for (const Candidate &each : candidates)
      values.push_back(cloneLoad(b, each.load, each.slice, first, runs));
    return values;
  }

  /// Rotates the loads of a loop by one iteration.
  void rotate(scf::ForOp loop) {
    if (ordersMemory(loop))
      return;
    SmallVector<Candidate> candidates = candidatesOf(loop);
    if (candidates.empty())
      return;
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    SmallVector<Value> inits = loadFirst(b, loop, candidates);

    size_t carriedCount = loop.getNumRegionIterArgs();
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    auto added = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
          return SmallVector<Value>(args.begin(), args.end());
        });
    if (failed(added))
      return;
    auto rotated = cast<scf::ForOp>(*added);
    Block &newBody = *rotated.getBody();
    auto yield = cast<scf::YieldOp>(newBody.getTerminator());
    Value counter = rotated.getInductionVar();

    b.setInsertionPointToStart(&newBody);
    Value left =
        arith::SubIOp::create(b, loc, rotated.getUpperBound(), counter);
    Value isMore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                                         left, rotated.getStep());
    Value next = arith::AddIOp::create(b, loc, counter, rotated.getStep());
    IRMapping ahead;
    ahead.map(counter, next);
    for (size_t index = 0; index < carriedCount; ++index) {
      Value arg = rotated.getRegionIterArg(index);
      if (llvm::any_of(candidates,
                       [&](Candidate &each) { return each.uses(arg); }))
        ahead.map(arg, computeAhead(b, yield.getOperand(index), newBody));
    }
    for (auto [index, each] : llvm::enumerate(candidates)) {
      Value value = cloneLoad(b, each.load, each.slice, ahead, isMore);
      yield->setOperand(static_cast<unsigned>(carriedCount + index), value);
      each.load.getResult().replaceAllUsesWith(
          rotated.getRegionIterArg(carriedCount + index));
    }
    for (Candidate &each : candidates)
      each.load.erase();
  }

  /// Whether the next iteration's value of `value` can be computed at the start
  /// of this one: a carried value must become what it becomes by pure ops.
  static bool isKnownAhead(Value value, scf::ForOp loop,
                           llvm::SetVector<Operation *> &slice) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBody() ||
        argument == loop.getInductionVar())
      return true;
    Value next = loop.getTiedLoopYieldedValue(argument)->get();
    llvm::SetVector<Operation *> own;
    if (!sliceOf(next, *loop.getBody(), own))
      return false;
    // Of other carried values only as they are now.
    slice.insert(own.begin(), own.end());
    return true;
  }

  /// A copy of `value`, which is made of pure ops of the body.
  static Value computeAhead(OpBuilder &b, Value value, Block &body) {
    llvm::SetVector<Operation *> slice;
    sliceOf(value, body, slice);
    IRMapping mapping;
    for (Operation *op : slice)
      b.clone(*op, mapping);
    return mapping.lookupOrDefault(value);
  }

  func::FuncOp kernel;
  Writes writes;
};

} // namespace
} // namespace simt

namespace {

class SimtPrefetchPass : public impl::SimtPrefetchBase<SimtPrefetchPass> {
  void runOnOperation() override {
    simt::BlockShape block = simt::blockShape(getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr)) {
        if (failed(simt::checkLayouts(kernel, block)))
          return signalPassFailure();
        simt::Prefetcher(kernel).run();
      }
  }
};

} // namespace
} // namespace terrazzo
