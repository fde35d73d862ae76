//===- MemoryModel.cpp - Who may touch what another has touched -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryModel.h"

#include "terrazzo/Analysis/PointerOrigin.h"
#include "terrazzo/Dialect/Simt/IR/Layouts.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

/// The one argument that stands for all that may be the same array.
static Value representative(BlockArgument argument) {
  auto kernel = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!kernel.getArgAttr(argument.getArgNumber(), tile::kOverlapsAttr))
    return argument;
  return *llvm::find_if(kernel.getArguments(), [&](BlockArgument other) {
    return kernel.getArgAttr(other.getArgNumber(), tile::kOverlapsAttr);
  });
}

Value simt::rootOf(Value pointer) {
  auto origins = pointerOrigins(pointer);
  if (!origins)
    return {};
  llvm::SmallSetVector<Value, 2> roots;
  for (BlockArgument argument : *origins)
    roots.insert(representative(argument));
  return roots.size() == 1 ? roots.front() : Value();
}

static bool isGlobal(const MemoryEffects::EffectInstance &effect) {
  return isa<SideEffects::DefaultResource>(effect.getResource());
}

bool simt::ordersMemory(Operation *op) {
  auto orders = [](Operation *inner) {
    // What is in its regions is looked at for itself.
    if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    // A program's own are `tile.barrier`; these are for memory of the passes.
    if (isa<BarrierOp>(inner))
      return WalkResult::advance();
    auto known = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!known)
      return WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    known.getEffects(effects);
    bool isOrder = llvm::any_of(effects, [](const auto &effect) {
      return isGlobal(effect) && !effect.getValue() &&
             !isa<MemoryEffects::Read>(effect.getEffect());
    });
    return isOrder ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(orders).wasInterrupted();
}

void simt::forEachWrite(Operation *op, llvm::function_ref<void(Value)> visit) {
  auto known = dyn_cast<MemoryEffectOpInterface>(op);
  if (!known)
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  known.getEffects(effects);
  for (const auto &effect : effects)
    if (isGlobal(effect) && effect.getValue() &&
        isa<MemoryEffects::Write>(effect.getEffect()))
      visit(effect.getValue());
}

Writes::Writes(func::FuncOp kernel) {
  kernel.walk([&](Operation *op) {
    forEachWrite(op, [&](Value pointer) {
      Value root = rootOf(pointer);
      isUnknown |= !root;
      roots.insert(root);
    });
  });
}

bool Writes::mayChange(Value pointer) const {
  Value root = rootOf(pointer);
  return isUnknown || !root || roots.contains(root);
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
      .Case<LocalCopyOp>([](auto copy) -> SmallVector<Access> {
        return {sharedAccess(copy, copy.getBuffer(), true),
                globalAccess(copy, copy.getPtr(), false)};
      })
      .Case([](LocalTensorCopyOp copy) -> SmallVector<Access> {
        // What it does to its barrier is the barrier's own matter.
        SmallVector<Access> accesses = {
            sharedAccess(copy, copy.getBuffer(), true),
            sharedAccess(copy, copy.getBarriers(), false),
            globalAccess(copy, copy.getBase(), false)};
        if (copy.getReleased())
          accesses.push_back(sharedAccess(copy, copy.getReleased(), false));
        return accesses;
      })
      .Case<MbarrierInitOp, MbarrierEndOp>([](auto op) -> SmallVector<Access> {
        return {sharedAccess(op, op.getBarriers(), true)};
      })
      .Case([](CopyCommitOp commit) -> SmallVector<Access> {
        if (!commit.getBarriers())
          return {};
        return {sharedAccess(commit, commit.getBarriers(), false)};
      })
      .Case<MbarrierWaitOp, MbarrierArriveOp>(
          [](auto op) -> SmallVector<Access> {
            return {sharedAccess(op, op.getBarriers(), false)};
          })
      .Case([](LocalDotOp dot) -> SmallVector<Access> {
        return {sharedAccess(dot, dot.getLhs(), false),
                sharedAccess(dot, dot.getRhs(), false)};
      })
      .Case<LocalMmaOp, MmaWaitOp>([](auto product) {
        SmallVector<Access> accesses;
        for (Value factor : product->getOperands()) {
          if (!isa<BufferType>(factor.getType()))
            continue;
          accesses.push_back(sharedAccess(product, factor, false));
          accesses.back().isInFlight = isa<LocalMmaOp>(product);
        }
        return accesses;
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

/// Whether two stores write different bytes, or each thread again what it wrote
/// itself: with the same offset they meet in one layout.
static bool areDisjoint(Operation *first, Operation *second) {
  auto a = dyn_cast<LocalStoreOp>(first), b = dyn_cast<LocalStoreOp>(second);
  return a && b && a.getDisjoint() && b.getDisjoint() &&
         a.getBuffer() == b.getBuffer() && a.getBase() == b.getBase() &&
         a.getStrides() == b.getStrides() &&
         a.getSwizzleAttr() == b.getSwizzleAttr() &&
         a.getWithin() == b.getWithin() &&
         a.getValue().getType() == b.getValue().getType();
}

bool simt::conflict(const Access &earlier, const Access &later) {
  if (earlier.isShared != later.isShared ||
      (!earlier.isWrite && !later.isWrite))
    return false;
  // The slots of a ring are kept apart by the pass that made it.
  if (earlier.isShared && earlier.address == later.address &&
      later.address.getDefiningOp<AllocOp>().getRing())
    return false;
  if (earlier.isShared)
    return earlier.begin < later.end && later.begin < earlier.end &&
           !areDisjoint(earlier.op, later.op);
  // Atomics order themselves.
  if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(earlier.op) &&
      isa<tile::AtomicRMWOp, tile::AtomicCASOp>(later.op))
    return false;
  if (earlier.root && later.root && earlier.root != later.root)
    return false;
  // The same addresses in the same layout: each thread meets only itself, but
  // what several hold, as all do a scalar, one of them writes for the others.
  return earlier.isEarlier || earlier.address != later.address ||
         (hasCopies(earlier.address.getType()) &&
          !(earlier.isWrite && later.isWrite));
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
  /// Threads meet, but what they have in flight is none's yet.
  static void passBarrier(Pending &pending) {
    llvm::erase_if(pending,
                   [](const Access &access) { return !access.isInFlight; });
  }

  void follow(Operation &op, Pending &pending) {
    if (isa<BarrierOp>(op)) {
      passBarrier(pending);
      return;
    }
    if (auto wait = dyn_cast<MmaWaitOp>(op))
      for (Access &access : pending)
        if (llvm::is_contained(wait.getBuffers(), access.address))
          access.isInFlight = false;
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
    if (auto arrive = dyn_cast<MbarrierArriveOp>(op))
      followRelease(arrive, pending);
    for (const Access &later : accessesOf(&op)) {
      auto *found = llvm::find_if(pending, [&](const Access &earlier) {
        return conflict(earlier, later);
      });
      if (found != pending.end() && onHazard(&op, *found)) {
        passBarrier(pending);
        break;
      }
    }
    llvm::append_range(pending, accessesOf(&op));
  }

  /// What is released must have been read, unless the ring lets products run
  /// on: which slot that is in is not followed.
  void followRelease(MbarrierArriveOp arrive, const Pending &pending) {
    if (arrive.getRing().getDefiningOp<AllocOp>().getRing() != 0)
      return;
    const auto *reading = llvm::find_if(pending, [&](const Access &access) {
      return access.isInFlight && access.address == arrive.getRing();
    });
    if (reading != pending.end())
      onHazard(arrive, *reading);
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
      passBarrier(pending);
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
