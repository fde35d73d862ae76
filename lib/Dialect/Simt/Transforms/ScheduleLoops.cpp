//===- ScheduleLoops.cpp - Loops whose iterations overlap -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "terrazzo/Dialect/Simt/IR/Layouts.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {

/// Where ops of a loop's body are in a schedule. Others, which wait for no
/// product, go where they are needed.
using Places = llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>>;

/// A loop whose late ops run one iteration later than the others:
///
///   if there is an iteration {
///     early(first)
///     for the iterations that follow { early(i), late(i - 1) }
///     late(last)
///   }
class Rotation {
public:
  Rotation(scf::ForOp loop, const Places &places, unsigned firstLate)
      : loop(loop), body(loop.getBody()), places(places), firstLate(firstLate),
        b(loop.getLoc(), loop) {}

  /// Gives the loop that is made; `places` are those of its ops then.
  scf::ForOp run(Places &places);

private:
  void findEarly();
  void findCrossing();
  bool isLate(Operation *op) { return !early.contains(op); }
  /// Whether a carried value comes from a late op.
  bool isLateArgument(unsigned number) {
    Operation *def = loop.getYieldedValues()[number].getDefiningOp();
    return def && def->getBlock() == body && isLate(def);
  }
  void emit(Operation *op, SmallVectorImpl<Operation *> &order,
            llvm::DenseSet<Operation *> &done);
  SmallVector<Operation *> stepOrder();
  scf::ForOp makeLoop(ValueRange inits, Value start, Places &now);

  scf::ForOp loop;
  Block *body;
  const Places &places;
  unsigned firstLate;
  ImplicitLocOpBuilder b;
  llvm::DenseSet<Operation *> early;
  llvm::SetVector<Value> crossing; ///< read late, made early
};

/// Ops of early nodes, and what these are made of, now and one iteration ahead.
void Rotation::findEarly() {
  SmallVector<Operation *> next;
  for (Operation &op : body->without_terminator())
    if (auto place = places.find(&op);
        place != places.end() && place->second.first < firstLate)
      next.push_back(&op);
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!early.insert(op).second)
      continue;
    forEachOperand(op, [&](Value value) {
      if (auto number = carriedNumber(value, loop))
        value = loop.getYieldedValues()[*number];
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == body && !places.contains(def))
        next.push_back(def);
    });
  }
}

void Rotation::findCrossing() {
  for (Operation &op : body->without_terminator()) {
    if (!isLate(&op))
      continue;
    forEachOperand(&op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      auto number = carriedNumber(value, loop);
      bool isEarly = def      ? def->getBlock() == body && !isLate(def)
                     : number ? !isLateArgument(*number)
                              : value == loop.getInductionVar();
      if (isEarly)
        crossing.insert(value);
    });
  }
}

/// Puts an op behind what it needs in a step.
void Rotation::emit(Operation *op, SmallVectorImpl<Operation *> &order,
                    llvm::DenseSet<Operation *> &done) {
  if (!done.insert(op).second)
    return;
  forEachOperand(op, [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (auto number = carriedNumber(value, loop);
        number && !isLate(op) && isLateArgument(*number))
      def = loop.getYieldedValues()[*number].getDefiningOp();
    else if (def && def->getBlock() == body && isLate(def) != isLate(op))
      return;
    if (def && def->getBlock() == body)
      emit(def, order, done);
  });
  order.push_back(op);
}

SmallVector<Operation *> Rotation::stepOrder() {
  SmallVector<Operation *> wanted;
  for (Operation &op : body->without_terminator())
    if (places.contains(&op))
      wanted.push_back(&op);
  llvm::sort(wanted, [&](Operation *a, Operation *b) {
    unsigned slot = places.lookup(a).second, other = places.lookup(b).second;
    return slot != other ? slot < other : a->isBeforeInBlock(b);
  });
  for (Operation &op : body->without_terminator())
    if (!places.contains(&op))
      wanted.push_back(&op);
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> done;
  for (Operation *op : wanted)
    emit(op, order, done);
  return order;
}

scf::ForOp Rotation::makeLoop(ValueRange inits, Value start, Places &now) {
  size_t carried = loop.getNumRegionIterArgs();
  auto made =
      scf::ForOp::create(b, start, loop.getUpperBound(), loop.getStep(), inits);
  made->setAttrs(loop->getAttrs());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  IRMapping isEarly, isLater; // what values are in iteration i and i - 1
  isEarly.map(loop.getInductionVar(), made.getInductionVar());
  for (size_t number = 0; number < carried; ++number)
    (isLateArgument(number) ? isLater : isEarly)
        .map(loop.getRegionIterArg(number), made.getRegionIterArg(number));
  for (auto [index, value] : llvm::enumerate(crossing))
    isLater.map(value, made.getRegionIterArg(carried + index));
  for (Operation *op : stepOrder()) {
    Operation *copy = b.clone(*op, isLate(op) ? isLater : isEarly);
    if (auto place = places.find(op); place != places.end())
      now[copy] = place->second;
    for (size_t number = 0; number < carried; ++number)
      if (loop.getYieldedValues()[number].getDefiningOp() == op && isLate(op))
        isEarly.map(loop.getRegionIterArg(number),
                    isLater.lookup(loop.getYieldedValues()[number]));
  }
  SmallVector<Value> yields;
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    yields.push_back(
        (isLateArgument(number) ? isLater : isEarly).lookupOrDefault(value));
  for (Value value : crossing)
    yields.push_back(isEarly.lookup(value));
  scf::YieldOp::create(b, yields);
  return made;
}

scf::ForOp Rotation::run(Places &now) {
  findEarly();
  findCrossing();
  size_t carried = loop.getNumRegionIterArgs();
  Value runs = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(b, loop.getResultTypes(), runs,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loop.getInitArgs());

  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(argument, init);
  for (Operation &op : body->without_terminator())
    if (!isLate(&op))
      b.clone(op, first);
  SmallVector<Value> inits;
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    inits.push_back(isLateArgument(number) ? loop.getInitArgs()[number]
                                           : first.lookupOrDefault(value));
  for (Value value : crossing)
    inits.push_back(first.lookup(value));
  // The counter of the second iteration may lie beyond the end of its type.
  Value left =
      arith::SubIOp::create(b, loop.getUpperBound(), loop.getLowerBound());
  Value isMore =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, left, loop.getStep());
  Value second = arith::AddIOp::create(b, loop.getLowerBound(), loop.getStep());
  Value start =
      arith::SelectOp::create(b, isMore, second, loop.getUpperBound());
  scf::ForOp made = makeLoop(inits, start, now);

  IRMapping last;
  for (size_t number = 0; number < carried; ++number)
    last.map(loop.getRegionIterArg(number), made.getResult(number));
  for (auto [index, value] : llvm::enumerate(crossing))
    last.map(value, made.getResult(carried + index));
  for (Operation &op : body->without_terminator())
    if (isLate(&op))
      b.clone(op, last);
  SmallVector<Value> results;
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    results.push_back(isLateArgument(number) ? last.lookup(value)
                                             : made.getResult(number));
  scf::YieldOp::create(b, results);
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return made;
}

} // namespace

void simt::applySchedule(scf::ForOp loop, ArrayRef<Node> nodes,
                         const Schedule &schedule) {
  Places places;
  for (auto [slot, number] : llvm::enumerate(schedule.order))
    for (Operation *op : nodes[number].ops)
      places[op] = {schedule.stages[number], static_cast<unsigned>(slot)};
  for (unsigned stage = schedule.numStages(); --stage > 0;) {
    Places now;
    loop = Rotation(loop, places, stage).run(now);
    places = std::move(now);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace terrazzo {
#define GEN_PASS_DEF_SIMTSCHEDULE
#define GEN_PASS_DEF_SIMTPRINTSCHEDULE
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

/// Innermost loops with products that run beside other ops.
SmallVector<scf::ForOp> scheduledLoops(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (llvm::any_of(loop.getBody()->without_terminator(),
                     [](Operation &op) { return isAsynchronous(&op); }))
      loops.push_back(loop);
  });
  return loops;
}

/// Registers of a thread that schedules may fill, in bytes; the others are for
/// addresses and what is on its way.
int64_t registerBytes(const BlockShape &block) {
  constexpr int64_t kFile = 65536, kMost = 255, kOthers = 48;
  int64_t threads = int64_t{block.warpSize} * block.numWarps;
  return 4 * (std::min(kMost, kFile / threads) - kOthers);
}

Schedule scheduleOf(ModuleOp module, scf::ForOp loop, ArrayRef<Node> nodes,
                    const Resources &resources, int32_t most) {
  auto stages = module->getAttrOfType<IntegerAttr>("tile.num_stages");
  if (stages)
    most = std::min(most, static_cast<int32_t>(stages.getInt()));
  return findSchedule(loop, nodes, resources,
                      static_cast<unsigned>(std::max(most, 1)),
                      registerBytes(blockShape(module)));
}

/// Calls `visit` with the loops of each kernel that schedules are for; fails
/// where tiles have no layouts.
LogicalResult
forEachLoop(ModuleOp module,
            llvm::function_ref<void(func::FuncOp, scf::ForOp)> visit) {
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!kernel->hasAttr(tile::kKernelAttr))
      continue;
    if (failed(checkLayouts(kernel, blockShape(module))))
      return failure();
    for (scf::ForOp loop : scheduledLoops(kernel))
      visit(kernel, loop);
  }
  return success();
}

class SimtSchedulePass : public impl::SimtScheduleBase<SimtSchedulePass> {
public:
  using SimtScheduleBase::SimtScheduleBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Resources resources;
    auto apply = [&](func::FuncOp, scf::ForOp loop) {
      if (stages <= 1)
        return; // There is only the order as written.
      std::vector<Node> nodes = nodesOf(loop, resources);
      if (nodes.empty())
        return;
      Schedule schedule = scheduleOf(module, loop, nodes, resources, stages);
      if (schedule.numStages() > 1)
        applySchedule(loop, nodes, schedule);
    };
    if (failed(forEachLoop(module, apply)))
      signalPassFailure();
  }
};

class SimtPrintSchedulePass
    : public impl::SimtPrintScheduleBase<SimtPrintSchedulePass> {
public:
  using SimtPrintScheduleBase::SimtPrintScheduleBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Resources resources;
    auto show = [&](func::FuncOp kernel, scf::ForOp loop) {
      std::vector<Node> nodes = nodesOf(loop, resources);
      print(kernel, nodes,
            nodes.empty() ? Schedule()
                          : scheduleOf(module, loop, nodes, resources, stages));
    };
    if (failed(forEachLoop(module, show)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  static void print(func::FuncOp kernel, ArrayRef<Node> nodes,
                    const Schedule &schedule) {
    llvm::raw_ostream &os = llvm::outs();
    os << "loop of " << kernel.getSymName() << ": ";
    if (nodes.empty()) {
      os << "as written\n";
      return;
    }
    os << schedule.numStages() << " stages, "
       << llvm::format("%.0f", schedule.cycles) << " cycles a step, "
       << schedule.waitingBytes << " bytes a thread between steps\n";
    os << "  stage  cycles  on    first op\n";
    for (unsigned number : schedule.order) {
      const Node &node = nodes[number];
      os << llvm::format("  %5u  %6.0f  ", schedule.stages[number], node.cycles)
         << (node.isProduct ? "unit  " : "lanes ")
         << node.ops.front()->getName() << " and " << node.ops.size() - 1
         << " more\n";
    }
  }
};

} // namespace
} // namespace terrazzo
