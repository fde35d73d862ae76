//===- AxisInfo.cpp - Runs, equal elements and alignment ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over the function. What loops carry is first taken to be as good as
// what they begin with, and made worse, once around the loop after the other,
// until what comes back is no news: claims about carried values then hold at
// the first turn and, holding at one, at the next. Rules for operations are in
// AxisArithmetic.cpp and AxisTile.cpp.
//
//===----------------------------------------------------------------------===//

#include "AxisFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::axis;

namespace {

/// What tile.assume promises of a scalar.
struct Assumption {
  std::optional<ConstantIntRanges> range;
  int64_t divisibility = 1;
};

class Solver {
public:
  Solver(func::FuncOp func, Trust trust) : trust(trust) {
    if (func.isExternal())
      return;
    func.walk([&](tile::AssumeOp op) { assume(op); });
    setUnknown(func.getBody());
    for (BlockArgument argument : func.getArguments())
      setArgument(func, argument);
    do {
      changed = false;
      visit(func.getBody());
    } while (changed);
  }

  const DenseMap<Value, Facts> &all() const { return facts; }

private:
  const Facts *find(Value value) const {
    auto found = facts.find(value);
    return found == facts.end() ? nullptr : &found->second;
  }
  void set(Value value, Facts known);
  /// Makes what is known of a carried value hold of what comes in, too.
  void carry(Value value, Value incoming);
  void setUnknown(Region &region);
  void setArgument(func::FuncOp func, BlockArgument argument);
  void assume(tile::AssumeOp op);

  void visit(Region &region) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op);
  }
  void visit(Operation *op);
  void visitFor(scf::ForOp op);
  void visitWhile(scf::WhileOp op);
  void visitIf(scf::IfOp op);
  void visitPlain(Operation *op);

  const Trust trust;
  DenseMap<Value, Facts> facts;
  DenseMap<Value, Assumption> assumptions;
  DenseMap<Value, unsigned> turns;
  bool changed = false;
};

void Solver::set(Value value, Facts known) {
  if (auto found = assumptions.find(value); found != assumptions.end()) {
    const Assumption &promise = found->second;
    known.divisibility[0] =
        std::max(known.divisibility[0], promise.divisibility);
    if (promise.range) {
      ConstantIntRanges narrow = known.range->intersection(*promise.range);
      // An empty range: a promise that cannot hold, in code that never runs.
      if (narrow.smin().sle(narrow.smax()) && narrow.umin().ule(narrow.umax()))
        known.range = narrow;
    }
  }
  settle(known, value.getType());
  facts.insert_or_assign(value, std::move(known));
}

/// Bounds that still move after a few turns go to their ends.
static ConstantIntRanges widen(const ConstantIntRanges &before,
                               const ConstantIntRanges &now) {
  unsigned width = now.smin().getBitWidth();
  auto pick = [](bool same, const APInt &value, const APInt &end) {
    return same ? value : end;
  };
  return {
      pick(before.umin() == now.umin(), now.umin(), APInt::getZero(width)),
      pick(before.umax() == now.umax(), now.umax(), APInt::getMaxValue(width)),
      pick(before.smin() == now.smin(), now.smin(),
           APInt::getSignedMinValue(width)),
      pick(before.smax() == now.smax(), now.smax(),
           APInt::getSignedMaxValue(width))};
}

void Solver::carry(Value value, Value incoming) {
  const Facts *in = find(incoming);
  if (!in)
    return; // not reached yet
  const Facts *before = find(value);
  if (!before) {
    set(value, *in);
    changed = true;
    return;
  }
  Facts old = *before, both = join(old, *in);
  if (both.range && both.range != old.range && ++turns[value] > 4)
    both.range = widen(*old.range, *both.range);
  set(value, both);
  changed |= !(*find(value) == old);
}

void Solver::setUnknown(Region &region) {
  for (Block &block : region)
    for (BlockArgument argument : block.getArguments())
      set(argument, Facts::unknown(argument.getType()));
}

void Solver::setArgument(func::FuncOp func, BlockArgument argument) {
  Facts known = Facts::unknown(argument.getType());
  if (auto divisor = func.getArgAttrOfType<IntegerAttr>(
          argument.getArgNumber(), tile::kDivisibilityAttr))
    for (int64_t &divisibility : known.divisibility)
      divisibility = powerOfTwoIn(divisor.getValue());
  set(argument, std::move(known));
}

/// The values for which `value predicate bound` holds, if they have bounds.
static std::optional<ConstantIntRanges>
boundedBy(arith::CmpIPredicate predicate, const APInt &bound) {
  using P = arith::CmpIPredicate;
  unsigned width = bound.getBitWidth();
  APInt least = APInt::getSignedMinValue(width);
  APInt most = APInt::getSignedMaxValue(width);
  auto between = [](const APInt &low, const APInt &high) {
    return std::optional(ConstantIntRanges::fromSigned(low, high));
  };
  if (predicate == P::eq)
    return between(bound, bound);
  if (predicate == P::sge)
    return between(bound, most);
  if (predicate == P::sle)
    return between(least, bound);
  if (predicate == P::sgt && bound != most)
    return between(bound + 1, most);
  if (predicate == P::slt && bound != least)
    return between(least, bound - 1);
  return std::nullopt;
}

/// Takes note of `x < c` and the like, and of `x % c == 0`. The promise counts
/// where it is made whenever `x` is computed: in the block of `x`.
void Solver::assume(tile::AssumeOp op) {
  auto cmp = op.getCondition().getDefiningOp<arith::CmpIOp>();
  APInt bound;
  if (!cmp || !matchPattern(cmp.getRhs(), m_ConstantInt(&bound)))
    return;
  arith::CmpIPredicate predicate = cmp.getPredicate();
  Value value = cmp.getLhs();
  auto noted = [&](Value of) -> Assumption * {
    return of.getParentBlock() == op->getBlock() ? &assumptions[of] : nullptr;
  };
  Operation *rem = value.getDefiningOp();
  APInt divisor;
  if (predicate == arith::CmpIPredicate::eq && bound.isZero() && rem &&
      isa<arith::RemSIOp, arith::RemUIOp>(rem) &&
      matchPattern(rem->getOperand(1), m_ConstantInt(&divisor)))
    if (Assumption *promise = noted(rem->getOperand(0)))
      promise->divisibility =
          std::max(promise->divisibility, powerOfTwoIn(divisor));
  Assumption *promise = noted(value);
  std::optional<ConstantIntRanges> range = boundedBy(predicate, bound);
  if (promise && range)
    promise->range =
        promise->range ? promise->range->intersection(*range) : *range;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Solver::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) { visitFor(loop); })
      .Case([&](scf::WhileOp loop) { visitWhile(loop); })
      .Case([&](scf::IfOp branch) { visitIf(branch); })
      .Default([&](Operation *other) { visitPlain(other); });
}

/// The loop variable: lower bound plus steps, and below the upper bound.
static Facts inductionVariable(scf::ForOp loop, const Facts &lower,
                               const Facts &upper, const Facts &step) {
  Facts known = Facts::unknown(loop.getInductionVar().getType());
  known.divisibility[0] = std::min(lower.every(0), step.every(0));
  if (loop.getUnsignedCmp()) {
    const APInt &begin = lower.range->umin(), &end = upper.range->umax();
    if (begin.ult(end))
      known.range = ConstantIntRanges::fromUnsigned(begin, end - 1);
  } else {
    const APInt &begin = lower.range->smin(), &end = upper.range->smax();
    if (begin.slt(end))
      known.range = ConstantIntRanges::fromSigned(begin, end - 1);
  }
  return known;
}

void Solver::visitFor(scf::ForOp loop) {
  const Facts *lower = find(loop.getLowerBound());
  const Facts *upper = find(loop.getUpperBound());
  const Facts *step = find(loop.getStep());
  if (!lower || !upper || !step)
    return; // not reached yet
  set(loop.getInductionVar(), inductionVariable(loop, *lower, *upper, *step));
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    carry(argument, init);
  visit(loop.getRegion());
  for (auto [argument, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    carry(argument, yielded);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    if (const Facts *known = find(argument))
      set(result, *known);
}

void Solver::visitWhile(scf::WhileOp loop) {
  for (auto [argument, init] :
       llvm::zip_equal(loop.getBeforeArguments(), loop.getInits()))
    carry(argument, init);
  visit(loop.getBefore());
  for (auto [after, result, passed] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults(),
                       loop.getConditionOp().getArgs()))
    if (const Facts *known = find(passed)) {
      Facts copy = *known;
      set(after, copy);
      set(result, copy);
    }
  visit(loop.getAfter());
  for (auto [argument, yielded] : llvm::zip_equal(
           loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
    carry(argument, yielded);
}

void Solver::visitIf(scf::IfOp branch) {
  visit(branch.getThenRegion());
  visit(branch.getElseRegion());
  if (branch.getNumResults() == 0)
    return;
  for (auto [result, yes, no] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                       branch.elseYield().getOperands())) {
    const Facts *a = find(yes), *b = find(no);
    if (a && b)
      set(result, join(*a, *b));
    else if (a || b) // the other is not reached yet
      set(result, a ? Facts(*a) : Facts(*b));
  }
}

void Solver::visitPlain(Operation *op) {
  SmallVector<Facts, 2> results;
  bool reached =
      llvm::all_of(op->getOperands(), [&](Value v) { return find(v); });
  if (!reached)
    return;
  auto of = [&](Value value) -> const Facts & { return *find(value); };
  Attribute constant;
  if (op->getNumResults() == 1 && matchPattern(op, m_Constant(&constant)))
    results.push_back(inferConstant(constant, op->getResult(0).getType()));
  else if (!inferTile(op, of, trust, results) &&
           !inferElementwise(op, of, trust, results))
    for (Type type : op->getResultTypes())
      results.push_back(Facts::unknown(type));
  for (auto [value, known] : llvm::zip_equal(op->getResults(), results))
    set(value, std::move(known));
  // Regions of reductions, maps and the like: nothing is known of their
  // arguments.
  for (Region &region : op->getRegions()) {
    setUnknown(region);
    visit(region);
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

AxisInfoAnalysis::AxisInfoAnalysis(func::FuncOp func) {
  Solver strict(func, Trust::Proven);
  for (const auto &[value, facts] : strict.all())
    proven.try_emplace(value, facts);
  Solver likely(func, Trust::Likely);
  for (const auto &[value, facts] : likely.all())
    likelyContiguity.try_emplace(value, facts.contiguity);
}

AxisInfo AxisInfoAnalysis::get(Value value) const {
  auto found = proven.find(value);
  return found == proven.end() ? AxisInfo(Facts::unknown(value.getType()))
                               : found->second;
}

int64_t AxisInfoAnalysis::getPointerVector(Value ptr) const {
  auto type = dyn_cast<tile::PtrType>(getElementTypeOrSelf(ptr.getType()));
  assert(type && "expected a pointer or a tile of pointers");
  int64_t bytes = pointeeBytes(type);
  if (!llvm::isPowerOf2_64(bytes))
    return 1;
  unsigned fastest = getOrder(ptr).front();
  AxisInfo info = get(ptr);
  // Accesses inside a group start at multiples of their own size from its
  // start.
  int64_t widest = std::min<int64_t>(info.divisibility[fastest], 16) / bytes;
  return std::max<int64_t>(1, std::min(info.contiguity[fastest], widest));
}

int64_t AxisInfoAnalysis::getMaskAlignment(Value mask, unsigned dim) const {
  AxisInfo info = get(mask);
  assert(dim < info.constancy.size() && "no such axis");
  return info.constancy[dim];
}

SmallVector<unsigned> AxisInfoAnalysis::getOrder(Value ptr) const {
  auto found = likelyContiguity.find(ptr);
  SmallVector<int64_t> contiguity =
      found == likelyContiguity.end() ? get(ptr).contiguity : found->second;
  SmallVector<unsigned> order = llvm::to_vector(
      llvm::seq<unsigned>(0, static_cast<unsigned>(contiguity.size())));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(contiguity[a], a) > std::pair(contiguity[b], b);
  });
  return order;
}
