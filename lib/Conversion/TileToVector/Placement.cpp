//===- Placement.cpp - What has to be in memory, and when -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An expression that several roots need is evaluated once and kept in a buffer
// (it is *pending*) or evaluated again by each of them. Indices, masks and what
// a load of whole vectors gives are evaluated again: reading memory is what a
// buffer would cost, too. What a write may change is kept before that.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// Past this many operations an expression is worth a buffer.
static constexpr int64_t kCheapOps = 6;
/// A load whose rows are this many bytes apart from each other fills the cache
/// as well as a buffer does.
static constexpr int64_t kLongRowBytes = 2048;

/// From here on the work on an element, such as one mathematical function,
/// hides what comes next from a processor that works out of order.
static constexpr int64_t kLongOps = 20;

Lowering::Cost Lowering::costOf(Value tile) {
  if (isInBuffer(tile) || pending.contains(tile))
    return {1, false, false};
  auto it = costs.find(tile);
  return it == costs.end() ? Cost{} : it->second;
}

static int64_t ownCost(Operation *op) {
  if (isa<tile::ArangeOp, tile::SplatOp, arith::ConstantOp, tile::HintOp,
          tile::PtrCastOp>(op) ||
      isRenaming(op))
    return 0;
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::FmaOp, math::FloorOp, math::CeilOp>(op) ? 1
                                                                           : 20;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return 12;
  if (isa<arith::DivFOp, arith::RemFOp>(op))
    return 5;
  if (isa<tile::GatherOp>(op))
    return 4;
  return 1;
}

/// The non-virtual ops that a tile's value flows into, through virtual ones.
static void collectRoots(Value tile, SetVector<Operation *> &roots,
                         DenseSet<Value> &seen) {
  SmallVector<Value> work = {tile};
  while (!work.empty()) {
    Value now = work.pop_back_val();
    if (!seen.insert(now).second)
      continue;
    for (Operation *user : now.getUsers())
      if (!isVirtualOp(user) || user->getBlock() != now.getParentBlock())
        roots.insert(user);
      else
        work.append(user->result_begin(), user->result_end());
  }
}

static bool writesMemory(Operation *op) {
  return !isMemoryEffectFree(op) && !isa<tile::LoadOp, tile::AssumeOp>(op);
}

void Lowering::noteRoots(Block &block) {
  // From the end, so that what a value flows into is known when it is met.
  Operation *nextWrite = nullptr;
  for (Operation &op : llvm::reverse(block)) {
    if (isVirtualOp(&op))
      for (Value result : op.getResults()) {
        Reach reach;
        reach.nextWrite = nextWrite;
        for (Operation *user : result.getUsers()) {
          if (!isVirtualOp(user) || user->getBlock() != &block) {
            Operation *here = block.findAncestorOpInBlock(*user);
            reach.add({user, here, nullptr, false, user->getBlock() != &block});
            continue;
          }
          for (Value further : user->getResults())
            reach.add(reaches.lookup(further));
        }
        reaches[result] = reach;
      }
    if (writesMemory(&op))
      nextWrite = &op;
  }
}

void Lowering::Reach::add(const Reach &other) {
  if (!other.root)
    return;
  isSeveral |= other.isSeveral || (root && root != other.root);
  isElsewhere |= other.isElsewhere;
  if (!last || last->isBeforeInBlock(other.last))
    last = other.last;
  root = other.root;
}

/// Whether a tile of indices leads to addresses of loads and nowhere else:
/// there, and only there, a remainder costs nothing per lane.
static bool onlyAddressesLoads(Value tile, int depth = 0) {
  return depth < 32 &&
         llvm::all_of(
             tile.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (auto load = dyn_cast<tile::LoadOp>(user))
                 return load.getPtr() == tile;
               return (isRenaming(user) ||
                       isa<tile::AddPtrOp, arith::AddIOp, arith::MulIOp,
                           arith::ExtSIOp, tile::HintOp>(user)) &&
                      onlyAddressesLoads(user->getResult(0), depth + 1);
             });
}

bool Lowering::isStream(tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  Value mask = load.getMask();
  if (mask && (costOf(mask).isDear || costOf(mask).ops > kCheapOps))
    return false;
  int64_t unit = -1, elements = 1;
  bool isDense = true;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    int64_t extent = type.getDimSize(dim);
    if (extent == 1)
      continue;
    auto stride = strideAlong(load.getPtr(), dim);
    if (stride && std::abs(*stride) == 1)
      unit = dim;
    isDense &= stride && *stride == elements;
    elements *= extent;
  }
  return unit >= 0 &&
         (isDense || type.getDimSize(unit) * byteSize(type.getElementType()) >=
                         kLongRowBytes);
}

/// Whether a value differs between programs, or between turns of a loop.
static bool movesOn(Value value, DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    return loop && value == loop.getInductionVar();
  }
  return seen.insert(value).second &&
         (isa<tile::ProgramIdOp>(op) ||
          llvm::any_of(op->getOperands(),
                       [&](Value operand) { return movesOn(operand, seen); }));
}

int64_t Lowering::distanceToNext(Value pointers) {
  auto type = cast<RankedTensorType>(pointers.getType());
  int64_t elements = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    int64_t extent = type.getDimSize(dim);
    if (extent > 1 && strideAlong(pointers, dim) != elements)
      return 0;
    elements *= extent;
  }
  auto pointee = cast<tile::PtrType>(type.getElementType()).getPointeeType();
  int64_t bytes = elements * byteSize(pointee);
  DenseSet<Value> seen;
  return bytes >= kLongRowBytes && movesOn(pointers, seen) ? bytes : 0;
}

/// The first of the roots of a tile in their block.
static Operation *firstRoot(Value tile) {
  SetVector<Operation *> roots;
  DenseSet<Value> seen;
  collectRoots(tile, roots, seen);
  Operation *first = nullptr;
  for (Operation *root : roots)
    if (!first ||
        (root->getBlock() == first->getBlock() && root->isBeforeInBlock(first)))
      first = root;
  return first;
}

/// The ops that will evaluate `tile`, as far as that can be foreseen: what is
/// dear is evaluated by the first op that needs it.
static void collectReaders(Value tile, SmallVectorImpl<Operation *> &readers) {
  SmallVector<Value> work = {tile};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value now = work.pop_back_val();
    for (Operation *user : now.getUsers()) {
      if (!isVirtualOp(user)) {
        readers.push_back(user);
        continue;
      }
      for (Value result : user->getResults()) {
        if (!seen.insert(result).second)
          continue;
        if (ownCost(user) <= kCheapOps)
          work.push_back(result);
        else if (Operation *first = firstRoot(result))
          readers.push_back(first);
      }
    }
  }
}

static Operation *lastReader(Value tile) {
  SmallVector<Operation *> readers;
  collectReaders(tile, readers);
  Operation *last = nullptr;
  for (Operation *reader : readers) {
    Operation *here = tile.getParentBlock()->findAncestorOpInBlock(*reader);
    if (here && (!last || last->isBeforeInBlock(here)))
      last = here;
  }
  return last;
}

void Lowering::noteReads(ValueRange roots) {
  ahead.clear();
  bool isLong = llvm::any_of(
      roots, [&](Value root) { return costOf(root).ops >= kLongOps; });
  SmallVector<Value> work(roots.begin(), roots.end());
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    Operation *op = tile.getDefiningOp();
    if (!op || !isa<RankedTensorType>(tile.getType()) || isInBuffer(tile) ||
        !seen.insert(tile).second)
      continue;
    work.append(op->operand_begin(), op->operand_end());
    // The first pass over a row is as fast as memory; from then on memory would
    // be idle. Where a strip is long work, a processor does not get to the
    // loads of the coming ones in time.
    auto load = dyn_cast<tile::LoadOp>(op);
    bool isAgain = load && !readBefore.insert(op).second;
    if (load && (isAgain || isLong) && lastReader(tile) == current)
      if (int64_t bytes = distanceToNext(load.getPtr()))
        ahead[op] = isAgain ? bytes : kLongRowBytes;
  }
}

Lowering::Cost Lowering::measure(Operation *op) {
  if (isIndex(op->getResult(0)))
    return {};
  Cost cost{ownCost(op), false, isa<tile::GatherOp>(op)};
  if (auto load = dyn_cast<tile::LoadOp>(op))
    cost = {1, true, !isStream(load)};
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      Cost inner = costOf(operand);
      cost.ops = std::min<int64_t>(cost.ops + inner.ops, 1000000);
      cost.hasLoad |= inner.hasLoad;
      cost.isDear |= inner.isDear;
    }
  cost.isDear |= cost.ops > kCheapOps;
  return cost;
}

/// Whether each row of a broadcast would evaluate `tile` again.
static bool isRepeated(Value tile) {
  return llvm::any_of(tile.getUsers(), [](Operation *reader) {
    while (isa<tile::ExpandDimsOp>(reader)) {
      if (!reader->hasOneUse())
        return false;
      reader = *reader->getUsers().begin();
    }
    return isa<tile::BroadcastOp>(reader);
  });
}

void Lowering::classify(Operation *op) {
  Cost cost = measure(op);
  for (Value result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    costs[result] = cost;
    if (isIndex(result) &&
        (isIndex(result, /*exact=*/true) || onlyAddressesLoads(result))) {
      indices.insert(result);
      continue;
    }
    // What a renaming reads is pending if it has to be.
    if ((!cost.hasLoad && !cost.isDear) || isRenaming(op))
      continue;
    const Reach &reach = reaches.at(result);
    bool isWritten = cost.hasLoad && reach.last && reach.nextWrite &&
                     reach.nextWrite->isBeforeInBlock(reach.last);
    bool isNeeded = reach.isElsewhere || isWritten ||
                    (cost.isDear && (reach.isSeveral || isRepeated(result)));
    if (isNeeded)
      pending.insert(result);
  }
}

SmallVector<Value> Lowering::prepare(ValueRange roots,
                                     ArrayRef<int64_t> shape) {
  DenseMap<Value, bool> seen;
  SmallVector<Value> along;
  for (Value root : roots)
    prepareTree(root, true, shape, seen, along);
  llvm::erase_if(along, [&](Value tile) { return isInBuffer(tile); });
  return along;
}

void Lowering::prepareTree(Value tile, bool identity, ArrayRef<int64_t> shape,
                           DenseMap<Value, bool> &seen,
                           SmallVectorImpl<Value> &along) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || isInBuffer(tile))
    return;
  auto [it, isNew] = seen.try_emplace(tile, identity);
  if (!isNew && (it->second == identity || identity))
    return;
  it->second = identity;
  Operation *op = tile.getDefiningOp();
  bool inPlaceHere = identity && type.getShape() == shape;
  if (pending.contains(tile) && !inPlaceHere) {
    materialize(tile);
    return;
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    materialize(gather.getSource());
    prepareTree(gather.getIndices(), identity, shape, seen, along);
  } else if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    if (!isa<SplatElementsAttr>(constantOp.getValue())) {
      auto dense = cast<DenseElementsAttr>(constantOp.getValue());
      Buffer buffer = allocate(type.getElementType(), type.getShape(),
                               std::max<int64_t>(0, type.getRank() - 1), true);
      lanes = 1;
      for (auto [position, value] :
           llvm::enumerate(dense.getValues<Attribute>())) {
        Value one = arith::ConstantOp::create(b, cast<TypedAttr>(value));
        Value ptr = LLVM::GEPOp::create(
            b, LLVM::LLVMPointerType::get(b.getContext()),
            storageType(type.getElementType()), buffer.ptr,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
        LLVM::StoreOp::create(b, toStorage(one, type.getElementType()), ptr);
      }
      buffers[tile] = buffer;
      return;
    }
  } else {
    bool keeps = !isRenaming(op);
    for (Value operand : op->getOperands())
      prepareTree(operand, identity && keeps, shape, seen, along);
  }
  if (pending.contains(tile) && !llvm::is_contained(along, tile))
    along.push_back(tile);
}

void Lowering::flushForWrite(Operation *write) {
  // What was read before and is needed after goes into memory now; so does what
  // this write must not overtake.
  SmallVector<Value> victims;
  auto store = dyn_cast<tile::StoreOp>(write);
  // What is in a buffer or has met its last root concerns no later write.
  llvm::erase_if(unsettled, [&](Value value) {
    Operation *last = reaches.at(value).last;
    return isInBuffer(value) || !last || last->isBeforeInBlock(write);
  });
  for (Value value : unsettled) {
    auto load = value.getDefiningOp<tile::LoadOp>();
    if (!load && !pending.contains(value))
      continue;
    bool isNeededLater = write->isBeforeInBlock(reaches.at(value).last);
    bool isVictim =
        isNeededLater
            ? load || costs.lookup(value).hasLoad
            : load && (!store || relationOf(load, store) == Relation::Unknown);
    if (isVictim)
      victims.push_back(value);
  }
  for (Value victim : victims)
    if (!isInBuffer(victim))
      materialize(victim);
}

void Lowering::flushForRegion(Operation *op) {
  // The op's own operands are its lowering's matter.
  SetVector<Value> needed;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            !op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
            operand.getParentBlock()->getParentOp() != op)
          needed.insert(operand);
    });
  // Everything pending below an outer value that the region reads.
  SmallVector<Value> work(needed.begin(), needed.end());
  DenseSet<Value> seen;
  SmallVector<Value> order;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    if (!isa<RankedTensorType>(tile.getType()) || isInBuffer(tile) ||
        !seen.insert(tile).second)
      continue;
    Operation *def = tile.getDefiningOp();
    if (pending.contains(tile) || isa<tile::LoadOp>(def) ||
        (isa<arith::ConstantOp>(def) &&
         !isa<SplatElementsAttr>(cast<arith::ConstantOp>(def).getValue()))) {
      order.push_back(tile);
      continue;
    }
    if (auto gather = dyn_cast<tile::GatherOp>(def))
      order.push_back(gather.getSource());
    for (Value operand : def->getOperands())
      work.push_back(operand);
  }
  for (Value tile : order)
    if (!isInBuffer(tile))
      materialize(tile);
}
