//===- Loops.cpp - Loop nests and what goes into memory -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest walks a shape, one dimension of it in strips of up to `maxLanes`
// lanes; what a power of two leaves over is cut into smaller ones, so no strip
// reads past the end.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// Past this many operations an expression is worth a buffer.
static constexpr int64_t kCheapOps = 6;

Coords Lowering::identity(ArrayRef<int64_t> shape) {
  Coords at;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    at.push_back({index(0), 0});
  return at;
}

Value Lowering::forLoop(
    int64_t from, int64_t to, int64_t step, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body,
    SmallVectorImpl<Value> *results) {
  auto loop = scf::ForOp::create(b, index(from), index(to), index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> yields =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values the loop came with its terminator.
  if (!inits.empty())
    scf::YieldOp::create(b, yields);
  if (results)
    results->assign(loop.getResults().begin(), loop.getResults().end());
  return loop.getInductionVar();
}

void Lowering::stripLoop(int64_t extent, int64_t dim, int64_t maxLanes,
                         Coords &at, StripBody body) {
  int64_t start = 0;
  auto strip = [&](Value base, int64_t width) {
    lanes = width;
    Cache outer;
    std::swap(outer, cache);
    Coords here(at);
    here[dim] = {base, width == 1 ? 0 : 1};
    body(here);
    std::swap(outer, cache);
  };
  for (int64_t width = maxLanes; width >= 1; width /= 2) {
    int64_t count = (extent - start) / width;
    if (count == 0)
      continue;
    if (count == 1) {
      strip(index(start), width);
    } else {
      forLoop(
          start, start + count * width, width, {},
          [&](Value base, ValueRange) {
            strip(base, width);
            return SmallVector<Value>();
          },
          nullptr);
    }
    start += count * width;
  }
}

void Lowering::loopOver(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                        Coords &at, StripBody body) {
  if (dims.empty())
    return body(at);
  int64_t dim = dims.front();
  if (shape[dim] == 1) {
    at[dim] = {index(0), 0};
    return loopOver(shape, dims.drop_front(), at, body);
  }
  forLoop(
      0, shape[dim], 1, {},
      [&](Value i, ValueRange) {
        at[dim] = {i, 0};
        loopOver(shape, dims.drop_front(), at, body);
        return SmallVector<Value>();
      },
      nullptr);
}

void Lowering::forStrips(ArrayRef<int64_t> shape, int64_t vectorDim,
                         int64_t maxLanes, StripBody body) {
  int64_t savedLanes = lanes;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != vectorDim)
      dims.push_back(dim);
  Coords at = identity(shape);
  loopOver(shape, dims, at, [&](const Coords &outer) {
    Coords here(outer);
    if (vectorDim >= 0)
      return stripLoop(shape[vectorDim], vectorDim, maxLanes, here, body);
    lanes = 1;
    Cache saved;
    std::swap(saved, cache);
    body(here);
    std::swap(saved, cache);
  });
  lanes = savedLanes;
}

//===----------------------------------------------------------------------===//
// Choosing the vector dimension and width
//===----------------------------------------------------------------------===//

/// By how many elements a tile of integers or pointers moves along a dimension.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
std::optional<int64_t> Lowering::strideAlong(Value tile, int64_t dim,
                                             int depth) {
  Operation *op = tile.getDefiningOp();
  if (!op || depth > 32 || isInBuffer(tile))
    return std::nullopt;
  auto operand = [&](unsigned i) {
    return strideAlong(op->getOperand(i), dim, depth + 1);
  };
  if (isa<tile::ArangeOp>(op))
    return 1;
  if (isa<tile::SplatOp>(op))
    return 0;
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constantOp.getValue())
               ? std::optional<int64_t>(0)
               : std::nullopt;
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return tile::getShape(broadcast.getSource().getType())[dim] == 1
               ? std::optional<int64_t>(0)
               : operand(0);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    int64_t axis = expand.getAxis();
    if (dim == axis)
      return 0;
    return strideAlong(expand.getSource(), dim > axis ? dim - 1 : dim,
                       depth + 1);
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return strideAlong(transpose.getSource(), transpose.getOrder()[dim],
                       depth + 1);
  if (isa<tile::AddPtrOp, arith::AddIOp>(op)) {
    auto lhs = operand(0), rhs = operand(1);
    return lhs && rhs ? std::optional<int64_t>(*lhs + *rhs) : std::nullopt;
  }
  if (isa<arith::ExtSIOp, tile::HintOp, tile::PtrCastOp, arith::RemSIOp>(op))
    return operand(0);
  if (isa<arith::MulIOp>(op)) {
    auto lhs = operand(0), rhs = operand(1);
    if (lhs && rhs && *lhs == 0 && *rhs == 0)
      return 0;
    for (auto [moving, fixed] : {std::pair{lhs, op->getOperand(1)},
                                 std::pair{rhs, op->getOperand(0)}}) {
      Value source = fixed;
      if (auto splat = fixed.getDefiningOp<tile::SplatOp>())
        source = splat.getSource();
      DenseIntElementsAttr dense;
      IntegerAttr factor;
      if (matchPattern(source, m_Constant(&factor)) && moving)
        return *moving * factor.getInt();
      if (matchPattern(source, m_Constant(&dense)) && dense.isSplat() && moving)
        return *moving * dense.getSplatValue<APInt>().getSExtValue();
    }
  }
  return std::nullopt;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity)
int64_t Lowering::pickVectorDim(ArrayRef<int64_t> shape, ValueRange roots,
                                int64_t preferred) {
  int64_t rank = shape.size();
  SmallVector<int64_t> score(rank, 0);
  // Only what keeps its dimensions on the way up is looked at; the rest
  // follows.
  SmallVector<std::pair<Value, SmallVector<int64_t>>> pendingTiles;
  for (Value root : roots)
    pendingTiles.push_back(
        {root, llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  DenseSet<Value> seen;
  while (!pendingTiles.empty()) {
    auto [tile, map] = pendingTiles.pop_back_val();
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    if (!type || !seen.insert(tile).second)
      continue;
    if (auto it = buffers.find(tile); it != buffers.end()) {
      for (auto [dim, stride] : llvm::enumerate(it->second.strides))
        if (map[dim] >= 0 && stride == 1 && type.getDimSize(dim) > 1)
          score[map[dim]] += 2;
      continue;
    }
    Operation *op = tile.getDefiningOp();
    if (!op)
      continue;
    Value pointer;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      pointer = load.getPtr();
    else if (isa<tile::PtrType>(type.getElementType()))
      pointer = tile;
    if (pointer)
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (map[dim] >= 0 && type.getDimSize(dim) > 1)
          if (auto stride = strideAlong(pointer, dim);
              stride && std::abs(*stride) <= 1)
            score[map[dim]] += *stride != 0 ? 4 : 1;
    SmallVector<int64_t> inner(map);
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      for (auto [dim, extent] :
           llvm::enumerate(tile::getShape(broadcast.getSource().getType())))
        if (extent == 1)
          inner[dim] = -1;
    } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      inner.erase(inner.begin() + expand.getAxis());
    } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      for (auto [dim, source] : llvm::enumerate(transpose.getOrder()))
        inner[source] = map[dim];
    } else if (isa<tile::SliceOp, tile::SplitOp, tile::GatherOp>(op)) {
      continue;
    }
    if (isa<tile::LoadOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (auto operandType = dyn_cast<RankedTensorType>(operand.getType()))
        if (operandType.getRank() == static_cast<int64_t>(inner.size()))
          pendingTiles.push_back({operand, inner});
  }
  if (preferred >= 0)
    score[preferred] += 1;
  int64_t best = -1;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (shape[dim] == 1)
      continue;
    // A handful of lanes is not worth a contiguous access.
    if (shape[dim] < 4)
      score[dim] -= 3;
    if (best < 0 || score[dim] > score[best])
      best = dim;
  }
  return best < 0 ? rank - 1 : best;
}

int64_t Lowering::lanesFor(ValueRange roots) {
  int64_t widest = 1;
  for (Value root : roots) {
    Type element = tile::getElementType(root.getType());
    if (!isa<tile::PtrType>(element))
      widest = std::max(widest, byteSize(element));
  }
  // Two registers of the widest type hide latency; i1 and pointers do not
  // count.
  return std::min<int64_t>(
      64, std::max<int64_t>(4, 2 * chip.vectorBytes /
                                   std::max<int64_t>(4, widest)));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value Lowering::allocateBytes(int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                b.getI8Type(), count, 64);
}

Buffer Lowering::allocate(Type element, ArrayRef<int64_t> shape,
                          int64_t innerDim, bool contiguous) {
  Buffer buffer;
  buffer.element = element;
  int64_t rank = shape.size();
  buffer.strides.assign(rank, 1);
  SmallVector<int64_t> order; // innermost first
  if (rank > 0)
    order.push_back(innerDim);
  for (int64_t dim = rank - 1; dim >= 0; --dim)
    if (dim != innerDim)
      order.push_back(dim);
  int64_t stride = 1, bytes = byteSize(element);
  for (auto [position, dim] : llvm::enumerate(order)) {
    buffer.strides[dim] = stride;
    stride *= shape[dim];
    // Rows a multiple of 512 bytes apart fall into the same few cache sets.
    if (position == 0 && rank > 1 && !contiguous && stride * bytes % 512 == 0)
      stride += 64 / bytes;
  }
  buffer.ptr = allocateBytes(std::max<int64_t>(1, stride) * bytes);
  return buffer;
}

Buffer Lowering::allocateTile(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  int64_t inner = std::max<int64_t>(0, static_cast<int64_t>(shape.size()) - 1);
  return allocate(tile::getElementType(type), shape, inner, false);
}

Buffer Lowering::materialize(Value tile, bool contiguous) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t rank = type.getRank();
  if (auto it = buffers.find(tile); it != buffers.end()) {
    if (!contiguous)
      return it->second;
    int64_t expected = 1;
    bool isContiguous = true;
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      isContiguous &=
          type.getDimSize(dim) == 1 || it->second.strides[dim] == expected;
      expected *= type.getDimSize(dim);
    }
    if (isContiguous)
      return it->second;
    Buffer packed =
        allocate(type.getElementType(), type.getShape(), rank - 1, true);
    copyInto(tile, packed);
    return packed;
  }
  pending.remove(tile);
  // What it reads comes first: where that lies decides this buffer's layout.
  prepare(tile, type.getShape());
  int64_t inner = rank == 0    ? 0
                  : contiguous ? rank - 1
                               : pickVectorDim(type.getShape(), tile);
  Buffer buffer =
      allocate(type.getElementType(), type.getShape(), inner, contiguous);
  copyInto(tile, buffer);
  buffers[tile] = buffer;
  return buffer;
}

void Lowering::copyInto(Value tile, const Buffer &destination) {
  emitNest(tile::getShape(tile.getType()), tile, [&](const Coords &at) {
    storeBuffer(destination, at, eval(tile, at));
  });
}

Lowering::Nest Lowering::openNest(ArrayRef<int64_t> shape, ValueRange roots,
                                  int64_t preferredDim, int64_t forcedDim) {
  Nest nest;
  nest.along = prepare(roots, shape);
  nest.vectorDim = shape.empty()    ? -1
                   : forcedDim > -2 ? forcedDim
                                    : pickVectorDim(shape, roots, preferredDim);
  SmallVector<Value> widths(roots.begin(), roots.end());
  for (Value tile : nest.along) {
    pending.remove(tile);
    nest.targets.push_back(allocate(tile::getElementType(tile.getType()), shape,
                                    std::max<int64_t>(nest.vectorDim, 0),
                                    false));
    widths.push_back(tile);
  }
  nest.maxLanes = nest.vectorDim < 0 ? 1 : lanesFor(widths);
  return nest;
}

void Lowering::leave(const Nest &nest, const Coords &at) {
  for (auto [tile, buffer] : llvm::zip_equal(nest.along, nest.targets))
    storeBuffer(buffer, at, eval(tile, at));
}

void Lowering::closeNest(const Nest &nest) {
  for (auto [tile, buffer] : llvm::zip_equal(nest.along, nest.targets))
    buffers[tile] = buffer;
}

void Lowering::emitNest(ArrayRef<int64_t> shape, ValueRange roots,
                        StripBody body, int64_t preferredDim) {
  Nest nest = openNest(shape, roots, preferredDim);
  forStrips(shape, nest.vectorDim, nest.maxLanes, [&](const Coords &at) {
    leave(nest, at);
    body(at);
  });
  closeNest(nest);
}

void Lowering::withFreshCache(function_ref<void()> body) {
  Cache outer;
  std::swap(outer, cache);
  body();
  std::swap(outer, cache);
}

//===----------------------------------------------------------------------===//
// What has to be in memory, and when
//===----------------------------------------------------------------------===//

Lowering::Cost Lowering::costOf(Value tile) {
  if (isInBuffer(tile) || pending.contains(tile))
    return {1, false};
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
  if (isa<tile::LoadOp, tile::GatherOp>(op))
    return 4;
  return 1;
}

/// The non-virtual ops that a tile's value flows into, through virtual ones.
static void collectRoots(Value tile, SetVector<Operation *> &roots,
                         DenseSet<Value> &seen) {
  if (!seen.insert(tile).second)
    return;
  for (Operation *user : tile.getUsers()) {
    if (!isVirtualOp(user) || user->getBlock() != tile.getParentBlock()) {
      roots.insert(user);
      continue;
    }
    for (Value result : user->getResults())
      collectRoots(result, roots, seen);
  }
}

static bool writesMemory(Operation *op) {
  return !isMemoryEffectFree(op) && !isa<tile::LoadOp, tile::AssumeOp>(op);
}

/// Whether memory is written after `tile` is defined and before `root` runs.
static bool isWrittenBetween(Value tile, Operation *root) {
  Operation *from = tile.getDefiningOp();
  Operation *to = from->getBlock()->findAncestorOpInBlock(*root);
  if (!to)
    return true;
  for (Operation *op = from->getNextNode(); op && op != to;
       op = op->getNextNode())
    if (writesMemory(op))
      return true;
  return false;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity)
void Lowering::classify(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    Cost cost{ownCost(op), isa<tile::LoadOp>(op)};
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType())) {
        Cost inner = costOf(operand);
        cost.ops = std::min<int64_t>(cost.ops + inner.ops, 1000000);
        cost.hasLoad |= inner.hasLoad;
      }
    costs[result] = cost;
    if (!cost.hasLoad && cost.ops <= kCheapOps)
      continue;
    if (isRenaming(op))
      continue; // its source is pending if it has to be
    SetVector<Operation *> roots;
    DenseSet<Value> seen;
    collectRoots(result, roots, seen);
    bool isNeeded = roots.size() > 1;
    for (Operation *root : roots)
      isNeeded |= root->getBlock() != op->getBlock() ||
                  (cost.hasLoad && isWrittenBetween(result, root));
    // Repeating it per row of a broadcast would repeat the work.
    for (Operation *user : result.getUsers()) {
      Value at = result;
      Operation *reader = user;
      while (auto expand = dyn_cast<tile::ExpandDimsOp>(reader)) {
        at = expand.getResult();
        if (!at.hasOneUse())
          break;
        reader = *at.getUsers().begin();
      }
      isNeeded |= isa<tile::BroadcastOp>(reader);
    }
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

/// The argument of the kernel that a pointer comes from, and the offsets added.
static Value originOf(Value pointer, SmallVectorImpl<Value> &offsets) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (auto addptr = dyn_cast<tile::AddPtrOp>(op)) {
      offsets.push_back(addptr.getOffset());
      pointer = addptr.getPtr();
    } else if (isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
                   tile::HintOp>(op)) {
      pointer = op->getOperand(0);
    } else {
      break;
    }
  }
  return pointer;
}

/// A store may run strip by strip beside a load that feeds it if both touch the
/// same elements at each strip, or different arrays.
static bool mayFuse(tile::LoadOp load, tile::StoreOp store) {
  SmallVector<Value> loadOffsets, storeOffsets;
  Value from = originOf(load.getPtr(), loadOffsets),
        to = originOf(store.getPtr(), storeOffsets);
  if (loadOffsets == storeOffsets)
    return true;
  auto isArgument = [](Value v) {
    return isa<BlockArgument>(v) &&
           isa<func::FuncOp>(v.getParentBlock()->getParentOp());
  };
  return from != to && isArgument(from) && isArgument(to);
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity)
void Lowering::flushForWrite(Operation *write) {
  // What was read before and is needed after goes into memory now; so does what
  // this store must not overtake.
  SmallVector<Value> victims;
  for (Operation &op :
       llvm::make_range(write->getBlock()->begin(), write->getIterator())) {
    if (!isVirtualOp(&op))
      continue;
    bool isLoad = isa<tile::LoadOp>(op);
    for (Value result : op.getResults()) {
      if (isInBuffer(result) || (!isLoad && !pending.contains(result)))
        continue;
      bool neededLater = false, feedsWrite = false;
      SetVector<Operation *> roots;
      DenseSet<Value> seen;
      collectRoots(result, roots, seen);
      for (Operation *root : roots) {
        Operation *here = write->getBlock()->findAncestorOpInBlock(*root);
        if (here == write)
          feedsWrite = true;
        else if (!here || write->isBeforeInBlock(here))
          neededLater = true;
      }
      auto store = dyn_cast<tile::StoreOp>(write);
      bool unsafe = feedsWrite && isLoad &&
                    (!store || !mayFuse(cast<tile::LoadOp>(op), store));
      if ((neededLater && (isLoad || costs.lookup(result).hasLoad)) || unsafe)
        victims.push_back(result);
    }
  }
  for (Value victim : victims)
    if (!isInBuffer(victim))
      materialize(victim);
}

void Lowering::flushForRegion(Operation *op) {
  SetVector<Value> needed;
  op->walk([&](Operation *inner) {
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
