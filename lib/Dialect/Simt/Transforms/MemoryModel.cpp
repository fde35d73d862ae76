//===- MemoryModel.cpp - Who may touch what another has touched -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryModel.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

/// The kernel argument that an address derives from, or null.
static Value followRoot(Value pointer, DenseSet<Value> &seen) {
  if (!seen.insert(pointer).second)
    return {};
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return pointer;
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (argument.getArgNumber() > 0)
        return followRoot(loop.getInitArgs()[argument.getArgNumber() - 1],
                          seen);
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getBeforeBody())
        return followRoot(loop.getInits()[argument.getArgNumber()], seen);
      return followRoot(
          loop.getConditionOp().getArgs()[argument.getArgNumber()], seen);
    }
    return {};
  }
  Operation *op = pointer.getDefiningOp();
  if (isa<tile::AddPtrOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
          tile::ReshapeOp, tile::TransposeOp, tile::PtrCastOp, tile::HintOp,
          ConvertLayoutOp>(op))
    return followRoot(op->getOperand(0), seen);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return followRoot(
        loop.getInitArgs()[cast<OpResult>(pointer).getResultNumber()], seen);
  return {};
}

/// The carried pointers of a loop may be swapped: a root is one only if no
/// other pointer argument can get there. A loop that yields a pointer of
/// another root is found by following the yielded value, too.
Value simt::rootOf(Value pointer) {
  DenseSet<Value> seen;
  Value root = followRoot(pointer, seen);
  for (Value value : SmallVector<Value>(seen.begin(), seen.end())) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      continue;
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      continue;
    OpOperand *next = loop.getTiedLoopYieldedValue(argument);
    if (!next)
      return {};
    DenseSet<Value> others;
    Value other = followRoot(next->get(), others);
    if (other && other != root)
      return {};
  }
  return root;
}

static Access sharedAccess(Operation *op, Value buffer, bool isWrite) {
  Access access;
  access.op = op;
  access.isWrite = isWrite;
  access.isShared = true;
  auto alloc = buffer.getDefiningOp<AllocOp>();
  access.begin = alloc.getOffset().value_or(0);
  access.end = access.begin + static_cast<int64_t>(alloc.getBytes());
  access.address = buffer;
  return access;
}

static Access globalAccess(Operation *op, Value pointer, bool isWrite) {
  Access access;
  access.op = op;
  access.isWrite = isWrite;
  access.root = rootOf(pointer);
  access.address = pointer;
  return access;
}

SmallVector<Access> simt::accessesOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Access>>(op)
      .Case<LocalStoreOp>([](auto store) -> SmallVector<Access> {
        return {sharedAccess(store, store.getBuffer(), true)};
      })
      .Case<LocalLoadOp, LocalGatherOp>([](auto load) -> SmallVector<Access> {
        return {sharedAccess(load, load.getBuffer(), false)};
      })
      .Case<LocalCountOp>([](auto count) -> SmallVector<Access> {
        return {sharedAccess(count, count.getBuffer(), true)};
      })
      .Case<LocalDotOp>([](auto dot) -> SmallVector<Access> {
        return {sharedAccess(dot, dot.getLhs(), false),
                sharedAccess(dot, dot.getRhs(), false)};
      })
      .Case<tile::LoadOp>([](auto load) -> SmallVector<Access> {
        return {globalAccess(load, load.getPtr(), false)};
      })
      .Case<tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
          [](auto store) -> SmallVector<Access> {
            return {globalAccess(store, store.getPtr(), true)};
          })
      .Default([](Operation *) { return SmallVector<Access>(); });
}

bool simt::conflict(const Access &earlier, const Access &later) {
  if (earlier.isShared != later.isShared ||
      (!earlier.isWrite && !later.isWrite))
    return false;
  if (earlier.isShared) {
    // One op has one layout: with the same offset a thread meets itself.
    auto store = dyn_cast<LocalStoreOp>(later.op);
    if (store && earlier.op == later.op && store.getDisjoint())
      return false;
    return earlier.begin < later.end && later.begin < earlier.end;
  }
  // Atomics order themselves.
  if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(earlier.op) &&
      isa<tile::AtomicRMWOp, tile::AtomicCASOp>(later.op))
    return false;
  if (earlier.root && later.root && earlier.root != later.root)
    return false;
  // The same addresses in the same layout: each thread meets only itself. A
  // scalar is written by one thread and read by all.
  if (!earlier.isEarlier && earlier.address == later.address &&
      isa<RankedTensorType>(earlier.address.getType()))
    return false;
  return true;
}

namespace {

using Pending = SmallVector<Access>;

/// Adds what is not there yet; whether anything was new.
bool merge(Pending &into, const Pending &from, bool asEarlier) {
  bool grew = false;
  for (Access access : from) {
    access.isEarlier |= asEarlier;
    if (llvm::is_contained(into, access))
      continue;
    into.push_back(access);
    grew = true;
  }
  return grew;
}

class Follower {
public:
  Follower(llvm::function_ref<bool(Operation *, const Access &)> onHazard,
           bool mayMove)
      : onHazard(onHazard), mayMove(mayMove) {}

  void follow(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block))
      follow(op, pending);
  }

private:
  void follow(Operation &op, Pending &pending) {
    if (isa<BarrierOp>(op)) {
      pending.clear();
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending other = pending;
      follow(branch.getThenRegion().front(), pending);
      if (!branch.getElseRegion().empty())
        follow(branch.getElseRegion().front(), other);
      merge(pending, other, false);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      followLoop({loop.getBody()}, pending);
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      followLoop({loop.getBeforeBody(), loop.getAfterBody()}, pending);
      return;
    }
    for (const Access &later : accessesOf(&op)) {
      auto found = llvm::find_if(pending, [&](const Access &earlier) {
        return conflict(earlier, later);
      });
      if (found != pending.end() && onHazard(&op, *found)) {
        pending.clear();
        break;
      }
    }
    llvm::append_range(pending, accessesOf(&op));
  }

  /// The blocks of a loop, run in turn zero times or more; the first decides
  /// whether to go on (of a `for`, the only one may not run at all).
  void followLoop(ArrayRef<Block *> blocks, Pending &pending) {
    // A barrier that what came before calls for does better in front of the
    // loop than in it.
    Operation *loop = blocks.front()->getParentOp();
    const Access *before = nullptr;
    loop->walk([&](Operation *op) {
      for (const Access &later : accessesOf(op))
        for (const Access &earlier : pending)
          if (!before && conflict(earlier, later))
            before = &earlier;
    });
    if (before && mayMove && onHazard(loop, *before))
      pending.clear();
    Pending entry = pending, exit;
    do {
      Pending state = entry;
      follow(*blocks.front(), state);
      exit = state;
      for (Block *block : blocks.drop_front())
        follow(*block, state);
      if (!merge(entry, state, true))
        break;
    } while (true);
    if (blocks.size() == 1)
      merge(exit, pending, false);
    pending = exit;
  }

  llvm::function_ref<bool(Operation *, const Access &)> onHazard;
  bool mayMove;
};

} // namespace

void simt::followAccesses(
    func::FuncOp kernel,
    llvm::function_ref<bool(Operation *, const Access &)> onHazard,
    bool mayMove) {
  Pending pending;
  for (Block &block : kernel.getBody())
    Follower(onHazard, mayMove).follow(block, pending);
}
