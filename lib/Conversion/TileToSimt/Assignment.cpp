//===- Assignment.cpp - One layout for every tile -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assignment.h"

#include "terrazzo/Layout/Swizzle.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

/// A run-time loop is taken to run this often.
static constexpr double kTripCount = 8;
/// Store, barrier and load of a trip through shared memory, beside the
/// accesses themselves.
static constexpr double kSharedTrip = 40;

static int64_t registersOf(const LinearLayout &layout) {
  return layout.inSize(kRegister);
}

double simt::conversionCost(RankedTensorType type, const LinearLayout &from,
                            const LinearLayout &to) {
  if (from == to)
    return 0;
  double words = std::max<int64_t>(1, elementBytes(type.getElementType()) / 4);
  double out = words * static_cast<double>(registersOf(from)),
         in = words * static_cast<double>(registersOf(to));
  switch (layout::classify(from, to)) {
  case layout::Conversion::None:
    return 0;
  case layout::Conversion::Registers:
    return 0.1;
  case layout::Conversion::Lanes:
    return 2 * in + 4;
  case layout::Conversion::Shared:
    return kSharedTrip + 2 * (out + in);
  }
  llvm_unreachable("all kinds of conversion are above");
}

//===----------------------------------------------------------------------===//
// Cheap tiles
//===----------------------------------------------------------------------===//

static bool isExpensiveMath(Operation *op) {
  return op->getName().getDialectNamespace() == "math" ||
         isa<arith::DivFOp, arith::RemFOp, tile::ClampOp>(op);
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tile::AddPtrOp, tile::PtrToIntOp, tile::IntToPtrOp,
             tile::PtrCastOp, tile::HintOp, tile::BlockHintOp, tile::MapOp>(op);
}

/// Ops that move no data between threads if the layouts fit.
static bool isRenaming(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp>(op) ||
         isLinearReshape(op);
}

bool Assignment::isCheap(Value value) {
  if (auto it = cheap.find(value); it != cheap.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (op && op->getNumRegions() == 0) {
    if (isa<tile::ArangeOp, tile::SplatOp, arith::ConstantOp>(op))
      result = true;
    else if (isRenaming(op) ||
             (isElementwise(op) && isPure(op) && !isExpensiveMath(op)))
      result = llvm::all_of(op->getOperands(), [&](Value operand) {
        return !isTile(operand) || isCheap(operand);
      });
  }
  return cheap[value] = result;
}

//===----------------------------------------------------------------------===//
// Classes and links
//===----------------------------------------------------------------------===//

void Assignment::unite(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isTile(value) || isCheap(value))
      continue;
    void *key = value.getAsOpaquePointer();
    if (!groups.contains(key)) {
      groups.insert(key);
      tiles.push_back(value);
    }
    if (first)
      groups.unionSets(first.getAsOpaquePointer(), key);
    else
      first = value;
  }
}

/// Joins what flows along one carried value of a loop or branch.
void Assignment::uniteLoop(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                   loop.getYieldedValues(), loop.getResults()))
      unite({init, arg, next, result});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() == 0)
      return;
    for (auto [first, second, result] :
         llvm::zip(branch.thenYield().getResults(),
                   branch.elseYield().getResults(), branch.getResults()))
      unite({first, second, result});
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, arg, next] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments(),
                   loop.getYieldOp().getResults()))
      unite({init, arg, next});
    for (auto [given, arg, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(),
                   loop.getResults()))
      unite({given, arg, result});
  } else if (auto recurrence = dyn_cast<tile::RecurrenceOp>(op)) {
    Block &step = recurrence.getStep().front();
    Operation *yield = step.getTerminator();
    for (auto [index, init] : llvm::enumerate(recurrence.getInits()))
      unite({init, step.getArgument(index), yield->getOperand(index),
             recurrence.getResult(index)});
  }
}

static Value accessPointer(Operation *op) { return op->getOperand(0); }

static bool isAccess(Operation *op) {
  return isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
      op);
}

SmallVector<Value> simt::sameLayout(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  if (isAccess(op) || isElementwise(op) || isa<tile::ScanOp, tile::SortOp>(op))
    llvm::append_range(values, op->getResults());
  else if (auto dot = dyn_cast<tile::DotOp>(op))
    values = {dot.getAcc(), dot.getResult()};
  else if (auto mma = dyn_cast<MmaOp>(op))
    values = {mma.getAcc(), mma.getResult()};
  else if (auto gather = dyn_cast<tile::GatherOp>(op))
    values = {gather.getIndices(), gather.getResult()};
  else if (auto insert = dyn_cast<tile::InsertOp>(op))
    values = {insert.getDest(), insert.getResult()};
  else if (!isa<tile::ReduceOp, tile::JoinOp, tile::HistogramOp>(op))
    values.clear();
  return values;
}

/// Everything of an access that has the pointer's shape, but for the value that
/// is stored or loaded.
static SmallVector<Value> addressOperands(Operation *op) {
  SmallVector<Value> values = {accessPointer(op)};
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    for (Value value : {load.getMask(), load.getOther()})
      if (value)
        values.push_back(value);
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    if (store.getMask())
      values.push_back(store.getMask());
  }
  return values;
}

void Assignment::collect(Operation *op) {
  uniteLoop(op);
  if (isa<tile::LoadOp, tile::StoreOp>(op)) {
    unite(addressOperands(op));
    unite(op->getResults());
    if (auto store = dyn_cast<tile::StoreOp>(op))
      unite(store.getValue());
    return;
  }
  unite(sameLayout(op));
  if (isa<tile::ReduceOp, tile::SplitOp>(op))
    unite(op->getResults());
  for (Value value : op->getOperands())
    unite(value);
  for (Value value : op->getResults())
    unite(value);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        unite(argument);
}

void Assignment::addClass(Value value) {
  void *leader = *groups.findLeader(value.getAsOpaquePointer());
  auto [it, isNew] = classes.try_emplace(leader, static_cast<int>(all.size()));
  if (isNew) {
    all.emplace_back();
    all.back().type = cast<RankedTensorType>(value.getType());
  }
  all[it->second].members.push_back(value);
}

int Assignment::classOf(Value value) {
  if (!isTile(value) || isCheap(value))
    return -1;
  auto leader = groups.findLeader(value.getAsOpaquePointer());
  assert(leader != groups.member_end() && "every tile was collected");
  return classes.lookup(*leader);
}

static double weightOf(Operation *op, func::FuncOp kernel) {
  double weight = 1;
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp, tile::RecurrenceOp>(parent))
      weight *= kTripCount;
  return weight;
}

/// What an access costs, and the link between its address and its value.
void Assignment::weighAccess(Operation *op) {
  double weight = weightOf(op, kernel);
  // The access runs in the layout of its address if that is not free.
  int home = -1;
  for (Value value : addressOperands(op))
    home = std::max(home, classOf(value));
  bool isLoad = op->getNumResults() != 0;
  int value = classOf(isLoad ? op->getResult(0) : op->getOperand(1));
  if (home < 0)
    home = value;
  if (home < 0)
    return;
  all[home].anchors.push_back({op, weight});
  if (value >= 0 && home != value)
    links.push_back({op, isLoad ? home : value, isLoad ? value : home, weight});
}

/// What any other op costs, and the link that it is.
void Assignment::weigh(Operation *op) {
  double weight = weightOf(op, kernel);
  auto anchor = [&](Value tile) {
    if (int home = classOf(tile); home >= 0)
      all[home].anchors.push_back({op, weight});
  };
  if (isa<tile::ReduceOp, tile::ScanOp, tile::SortOp>(op))
    anchor(op->getOperand(0));
  else if (isa<tile::DotOp, MmaOp, tile::RecurrenceOp>(op))
    llvm::for_each(op->getResults(), anchor);
  if (isa<MmaOp>(op))
    for (unsigned operand : {0U, 1U}) {
      int from = classOf(op->getOperand(operand)),
          to = classOf(op->getResult(0));
      if (from >= 0 && to >= 0)
        links.push_back({op, from, to, weight, operand});
    }
  if (isa<tile::ReduceOp, tile::JoinOp, tile::SplitOp>(op) || isRenaming(op)) {
    int from = classOf(op->getOperand(0)), to = classOf(op->getResult(0));
    if (from >= 0 && to >= 0)
      links.push_back({op, from, to, weight});
  } else if (isElementwise(op) && op->getNumResults()) {
    if (int home = classOf(op->getResult(0)); home >= 0)
      all[home].elementwise += weight * (isExpensiveMath(op) ? 8 : 1);
  }
}

Assignment::Assignment(func::FuncOp kernel, BlockShape block)
    : block(block), kernel(kernel), axis(kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { collect(op); });
  for (Value value : tiles)
    addClass(value);
  kernel.walk([&](Operation *op) {
    if (isAccess(op))
      weighAccess(op);
    else
      weigh(op);
  });
  linksOf.resize(all.size());
  for (auto [index, link] : llvm::enumerate(links)) {
    linksOf[link.from].push_back(index);
    linksOf[link.to].push_back(index);
  }
  choose();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

int64_t Assignment::vectorOf(Operation *access) {
  Value pointer = accessPointer(access);
  if (cast<RankedTensorType>(pointer.getType()).getRank() == 0)
    return 1;
  int64_t vector = axis.getPointerVector(pointer);
  unsigned fastest = axis.getOrder(pointer).front();
  Value mask;
  if (auto load = dyn_cast<tile::LoadOp>(access))
    mask = load.getMask();
  else if (auto store = dyn_cast<tile::StoreOp>(access))
    mask = store.getMask();
  else
    return 1;
  if (mask)
    vector = std::min(vector, axis.getMaskAlignment(mask, fastest));
  return std::max<int64_t>(1, vector);
}

int64_t Assignment::vectorWithin(Operation *access,
                                 const LinearLayout &layout) {
  Value pointer = accessPointer(access);
  if (cast<RankedTensorType>(pointer.getType()).getRank() == 0)
    return 1;
  unsigned fastest = axis.getOrder(pointer).front();
  return std::min<int64_t>(
      vectorOf(access),
      layout.numConsecutive(kRegister, layout::dimName(fastest)));
}

LinearLayout Assignment::coalesced(Operation *access) {
  Value pointer = accessPointer(access);
  auto type = cast<RankedTensorType>(pointer.getType());
  if (type.getRank() == 0)
    return LayoutBuilder(type.getShape(), block).finish({});
  return coalescedLayout(type.getShape(), axis.getOrder(pointer),
                         vectorOf(access), block);
}

void Assignment::propose(Class &into, const LinearLayout &layout) {
  constexpr size_t kMostCandidates = 10;
  if (into.candidates.size() < kMostCandidates &&
      !llvm::is_contained(into.candidates, layout))
    into.candidates.push_back(layout);
}

void Assignment::proposeAnchors(Class &into) {
  ArrayRef<int64_t> shape = into.type.getShape();
  for (auto [op, weight] : into.anchors) {
    if (isAccess(op)) {
      propose(into, coalesced(op));
    } else if (isa<tile::DotOp>(op)) {
      propose(into, dotLayout(shape, block));
    } else if (auto mma = dyn_cast<MmaOp>(op)) {
      for (const LinearLayout &layout :
           accumulatorLayouts(mma.getInstruction(), shape, block))
        propose(into, layout);
    } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
      propose(into, scanLayout(shape, scan.getAxis(), block));
    } else if (auto sort = dyn_cast<tile::SortOp>(op)) {
      propose(into, sortLayout(shape, sort.getAxis(), block));
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      constexpr int64_t kSmallAxis = 16;
      int axis = reduce.getAxis();
      if (shape.size() > 1) {
        propose(into, carryLayout(shape, axis, block));
        if (shape[axis] <= kSmallAxis)
          propose(into,
                  axisInThread(shape, axis, paddedShape(shape)[axis], block));
      }
    }
  }
  propose(into, coalescedLayout(shape, rowMajor(shape.size()), 1, block));
}

std::optional<LinearLayout> Assignment::upwards(const Link &link,
                                                const LinearLayout &result) {
  auto mma = dyn_cast<MmaOp>(link.op);
  if (!mma)
    return operandLayout(link.op, result);
  if (mma.isInShared(link.operand) ||
      !isAccumulatorLayout(mma.getInstruction(), result))
    return std::nullopt;
  return factorLayout(
      mma.getInstruction(),
      link.operand == 0 ? layout::MatrixRole::A : layout::MatrixRole::B, result,
      tile::getShape(mma->getOperand(link.operand).getType()));
}

std::optional<LinearLayout> Assignment::downwards(const Link &link,
                                                  const LinearLayout &operand) {
  if (isa<MmaOp>(link.op))
    return std::nullopt;
  return resultLayout(link.op, operand);
}

void Assignment::proposeAcrossLinks() {
  for (const Link &link : links) {
    if (isAccess(link.op)) {
      for (const LinearLayout &layout :
           std::vector<LinearLayout>(all[link.from].candidates))
        propose(all[link.to], layout);
      for (const LinearLayout &layout :
           std::vector<LinearLayout>(all[link.to].candidates))
        propose(all[link.from], layout);
      continue;
    }
    for (const LinearLayout &layout :
         std::vector<LinearLayout>(all[link.from].candidates))
      if (auto image = downwards(link, layout))
        propose(all[link.to], *image);
    for (const LinearLayout &layout :
         std::vector<LinearLayout>(all[link.to].candidates))
      if (auto image = upwards(link, layout))
        propose(all[link.from], *image);
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Elements along `dim` without a gap that the lanes of a warp touch by one
/// instruction, `vector` of them each. What other registers hold in between is
/// another instruction's matter.
static int64_t runAlong(const LinearLayout &layout, int dim, int64_t vector) {
  int64_t run = vector;
  for (const LinearLayout::Basis &basis : basesOf(layout, kLane))
    if (basis[dim] == run)
      run *= 2;
  return run;
}

double Assignment::accessCost(Operation *access, const LinearLayout &layout) {
  Value pointer = accessPointer(access);
  auto type = cast<RankedTensorType>(pointer.getType());
  int64_t registers = registersOf(layout);
  if (type.getRank() == 0)
    return 1;
  auto element = cast<tile::PtrType>(type.getElementType()).getPointeeType();
  int64_t bytes = elementBytes(element);
  unsigned fastest = axis.getOrder(pointer).front();
  int64_t vector = vectorWithin(access, layout);
  vector = std::min(vector, std::max<int64_t>(1, 16 / bytes));
  int64_t run = axis.get(pointer).contiguity[fastest] > 1
                    ? runAlong(layout, static_cast<int>(fastest), vector)
                    : 1;
  constexpr int64_t kSectorBytes = 32;
  double waste = std::max(1.0, static_cast<double>(kSectorBytes) /
                                   static_cast<double>(run * bytes));
  double accesses =
      static_cast<double>(registers) / static_cast<double>(vector);
  // Issue of the instructions, and what the memory system moves for them.
  return 8 * accesses + static_cast<double>(registers * bytes) * waste;
}

double Assignment::anchorCost(Operation *op, const LinearLayout &layout,
                              RankedTensorType type) {
  if (isAccess(op)) {
    double direct = accessCost(op, layout);
    if (classOf(accessPointer(op)) >= 0)
      return direct;
    // The access can run in its own layout and convert.
    LinearLayout own = coalesced(op);
    return std::min(direct,
                    accessCost(op, own) + conversionCost(type, own, layout));
  }
  if (isa<tile::DotOp>(op))
    return layout == dotLayout(type.getShape(), block) ? 0 : 10 * kSharedTrip;
  if (auto mma = dyn_cast<MmaOp>(op)) {
    InstructionAttr unit = mma.getInstruction();
    if (isAccumulatorLayout(unit, layout))
      return 0;
    // It runs in a layout of its own, with a conversion on either side.
    LinearLayout own = accumulatorLayouts(unit, type.getShape(), block).front();
    return conversionCost(type, layout, own) +
           conversionCost(type, own, layout);
  }
  if (auto sort = dyn_cast<tile::SortOp>(op)) {
    int along = sort.getAxis();
    LinearLayout own = isSortable(layout, along)
                           ? layout
                           : sortLayout(type.getShape(), along, block);
    // A bit is exchanged in each level above it, half of them or so.
    double stages = static_cast<double>(outBits(own)[along]) / 2;
    return 2 * conversionCost(type, layout, own) +
           stages * static_cast<double>(registersOf(own)) *
               (2 * bitsAlong(own, kRegister, along) +
                5 * bitsAlong(own, kLane, along));
  }
  int axis = -1;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    axis = reduce.getAxis();
  else if (auto scan = dyn_cast<tile::ScanOp>(op))
    axis = scan.getAxis();
  if (axis < 0)
    return 0;
  double operands = op->getNumOperands();
  int inRegisters = bitsAlong(layout, kRegister, axis),
      inLanes = bitsAlong(layout, kLane, axis),
      inWarps = bitsAlong(layout, kWarp, axis);
  double registers = static_cast<double>(registersOf(layout));
  if (isa<tile::ReduceOp>(op)) {
    double left = registers / static_cast<double>(int64_t{1} << inRegisters);
    return operands * (registers + 3 * left * inLanes +
                       (inWarps ? kSharedTrip + 4 * left : 0));
  }
  LinearLayout own = scanLayout(type.getShape(), axis, block);
  double convert = inWarps ? 2 * conversionCost(type, layout, own) : 0;
  return operands * (2 * registers + 4 * registers * inLanes + convert);
}

double Assignment::linkCost(const Link &link, const LinearLayout &from,
                            const LinearLayout &to) {
  if (isAccess(link.op))
    return conversionCost(all[link.from].type, from, to);
  if (auto reduce = dyn_cast<tile::ReduceOp>(link.op))
    return conversionCost(all[link.to].type, *resultLayout(reduce, from), to);
  if (auto needed = upwards(link, to))
    return conversionCost(all[link.from].type, from, *needed);
  if (auto given = downwards(link, from))
    return conversionCost(all[link.to].type, *given, to);
  return 2 * kSharedTrip;
}

double Assignment::cost(ArrayRef<size_t> indices) {
  double sum = 0;
  DenseSet<size_t> touched;
  for (size_t index : indices) {
    const Class &self = all[index];
    const LinearLayout &layout = self.candidates[self.chosen];
    sum += self.elementwise * static_cast<double>(registersOf(layout));
    for (auto [op, weight] : self.anchors)
      sum += weight * anchorCost(op, layout, self.type);
    touched.insert(linksOf[index].begin(), linksOf[index].end());
  }
  for (size_t number : touched) {
    const Link &link = links[number];
    const Class &from = all[link.from], &to = all[link.to];
    sum += link.weight * linkCost(link, from.candidates[from.chosen],
                                  to.candidates[to.chosen]);
  }
  return sum;
}

SmallVector<std::pair<size_t, size_t>> Assignment::moveGroup(size_t index,
                                                             size_t to) {
  SmallVector<std::pair<size_t, size_t>> moved = {{index, all[index].chosen}};
  all[index].chosen = to;
  for (size_t next = 0; next < moved.size(); ++next) {
    size_t self = moved[next].first;
    LinearLayout layout = all[self].candidates[all[self].chosen];
    for (size_t number : linksOf[self]) {
      const Link &link = links[number];
      bool isDown = link.from == static_cast<int>(self);
      size_t other = isDown ? link.to : link.from;
      if ((isDown && isa<tile::BroadcastOp>(link.op)) ||
          llvm::any_of(moved, [&](auto &each) { return each.first == other; }))
        continue;
      std::optional<LinearLayout> image;
      if (isAccess(link.op))
        image = layout;
      else
        image = isDown ? downwards(link, layout) : upwards(link, layout);
      if (!image)
        continue;
      auto &candidates = all[other].candidates;
      auto found = llvm::find(candidates, *image);
      if (found == candidates.end())
        continue;
      moved.push_back({other, all[other].chosen});
      all[other].chosen = found - candidates.begin();
    }
  }
  return moved;
}

/// Gives a class, or its group, another candidate if that costs less.
bool Assignment::tryCandidate(size_t index, size_t candidate, bool isGroup) {
  if (candidate == all[index].chosen)
    return false;
  SmallVector<std::pair<size_t, size_t>> moved = {{index, all[index].chosen}};
  if (isGroup)
    moved = moveGroup(index, candidate);
  else
    all[index].chosen = candidate;
  SmallVector<size_t> who;
  for (auto [each, before] : moved)
    who.push_back(each);
  auto exchange = [&] {
    for (auto &[each, choice] : moved)
      std::swap(all[each].chosen, choice);
  };
  double after = cost(who);
  exchange();
  if (after >= cost(who))
    return false;
  exchange();
  return true;
}

void Assignment::choose() {
  for (Class &each : all)
    proposeAnchors(each);
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round)
    proposeAcrossLinks();
  // Heavy classes first: the others arrange themselves around them.
  SmallVector<size_t> order(all.size());
  for (size_t index = 0; index < all.size(); ++index)
    order[index] = index;
  auto weight = [&](size_t index) {
    double sum = all[index].elementwise;
    for (auto [op, each] : all[index].anchors)
      sum += 8 * each;
    return sum * static_cast<double>(all[index].type.getNumElements());
  };
  llvm::sort(order, [&](size_t a, size_t b) {
    return weight(a) != weight(b) ? weight(a) > weight(b) : a < b;
  });
  // Each class alone, then with those that follow it without a conversion: a
  // chain of renamings would otherwise be stuck with one conversion in it.
  bool changed = true;
  for (int round = 0; changed && round < 2 * kRounds; ++round) {
    changed = false;
    for (size_t index : order)
      for (bool isGroup : {false, true})
        for (size_t c = 0; c < all[index].candidates.size(); ++c)
          changed |= tryCandidate(index, c, isGroup);
  }
}

LinearLayout Assignment::anyLayout(ArrayRef<Value> tiles) {
  for (Value tile : tiles)
    if (isTile(tile) && !isCheap(tile))
      return layoutOf(tile);
  ArrayRef<int64_t> shape = tile::getShape(tiles.front().getType());
  return coalescedLayout(shape, rowMajor(shape.size()), 1, block);
}

const LinearLayout &Assignment::layoutOf(Value tile) {
  const Class &home = all[classOf(tile)];
  return home.candidates[home.chosen];
}

LinearLayout Assignment::layoutForMma(MmaOp op) {
  const LinearLayout &layout = layoutOf(op.getResult());
  if (isAccumulatorLayout(op.getInstruction(), layout))
    return layout;
  return accumulatorLayouts(op.getInstruction(), tile::getShape(op.getType()),
                            block)
      .front();
}

LinearLayout Assignment::layoutForAccess(Operation *op) {
  // An address that is carried decides, then the cheaper of the value's layout
  // and the coalesced one.
  for (Value value : addressOperands(op))
    if (classOf(value) >= 0)
      return layoutOf(value);
  Value value = op->getNumResults() ? op->getResult(0) : op->getOperand(1);
  if (!isa<tile::LoadOp, tile::StoreOp>(op))
    for (Value operand : op->getOperands())
      if (classOf(operand) >= 0)
        return layoutOf(operand);
  LinearLayout own = coalesced(op);
  if (classOf(value) < 0)
    return own;
  const LinearLayout &given = layoutOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  double convert = isa<tile::LoadOp>(op) ? conversionCost(type, own, given)
                                         : conversionCost(type, given, own);
  return accessCost(op, given) <= accessCost(op, own) + convert ? given : own;
}
