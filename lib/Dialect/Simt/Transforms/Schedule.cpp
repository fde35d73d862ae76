//===- Schedule.cpp - When the parts of a loop's body run -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "Factors.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

using namespace terrazzo;
using namespace terrazzo::simt;

/// Beyond this, all stages are no longer tried.
static constexpr size_t kMaxNodes = 10;

unsigned Schedule::numStages() const {
  return stages.empty() ? 1 : *llvm::max_element(stages) + 1;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void simt::forEachOperand(Operation *op, function_ref<void(Value)> visit) {
  op->walk(
      [&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
}

bool simt::isAsynchronous(Operation *op) {
  auto mma = dyn_cast<MmaOp>(op);
  return mma && mma.isInShared(1);
}

std::optional<unsigned> simt::carriedNumber(Value value, scf::ForOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument.getArgNumber() == 0)
    return std::nullopt;
  return argument.getArgNumber() - 1;
}

namespace {

class Grouping {
public:
  Grouping(scf::ForOp loop, const Resources &resources)
      : loop(loop), resources(resources) {}
  std::vector<Node> run();

private:
  /// The products that an op waits for, of its iteration and the one before.
  using Signature = std::pair<llvm::SmallBitVector, llvm::SmallBitVector>;

  bool isMovable();
  void addFactors(Node &node);
  void addTo(llvm::SmallBitVector &waits, Value value);
  Signature signatureOf(Operation *op);
  void sign();
  double cyclesOf(Operation *op);
  void link(std::vector<Node> &nodes);

  scf::ForOp loop;
  const Resources &resources;
  SmallVector<Operation *> products;
  llvm::DenseMap<Operation *, unsigned> home; ///< of factors, the product
  llvm::MapVector<Operation *, Signature> signatures;
};

/// That all ops may run in any order that their operands allow.
bool Grouping::isMovable() {
  if (loop.getUnsignedCmp())
    return false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load ? load.getIsVolatile() : !isMemoryEffectFree(&op))
      return false;
  }
  // A value that is carried on as it is, or by another, would have two ages.
  return llvm::none_of(loop.getYieldedValues(), [&](Value value) {
    return carriedNumber(value, loop) || value == loop.getInductionVar();
  });
}

/// What loads the factors of a product belongs to it.
void Grouping::addFactors(Node &node) {
  auto mma = cast<MmaOp>(node.ops.front());
  for (unsigned factor : {0U, 1U}) {
    Operation *op = mma->getOperand(factor).getDefiningOp();
    SmallVector<Operation *> way;
    while (op && op->getBlock() == loop.getBody() && op->hasOneUse() &&
           isa<ConvertLayoutOp, tile::TransposeOp, tile::BlockHintOp>(op)) {
      way.push_back(op);
      op = op->getOperand(0).getDefiningOp();
    }
    if (!mma.isInShared(factor) || !op || op->getBlock() != loop.getBody() ||
        !isa<tile::LoadOp>(op) || !op->hasOneUse())
      continue;
    way.push_back(op);
    for (Operation *each : way)
      home[each] = home.lookup(mma);
    node.ops.append(way);
  }
}

/// What waiting for a value of the body means: a product, or what that which
/// makes it waits for.
void Grouping::addTo(llvm::SmallBitVector &waits, Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != loop.getBody())
    return;
  if (auto found = home.find(def); found != home.end())
    waits.set(found->second);
  else if (auto *known = signatures.find(def); known != signatures.end())
    waits |= known->second.first;
}

Grouping::Signature Grouping::signatureOf(Operation *op) {
  auto count = static_cast<unsigned>(products.size());
  Signature signature{llvm::SmallBitVector(count), llvm::SmallBitVector(count)};
  forEachOperand(op, [&](Value value) {
    addTo(signature.first, value);
    Operation *def = value.getDefiningOp();
    auto *known = def ? signatures.find(def) : signatures.end();
    if (known != signatures.end() && !home.contains(def))
      signature.second |= known->second.second;
    if (auto number = carriedNumber(value, loop))
      addTo(signature.second, loop.getYieldedValues()[*number]);
  });
  return signature;
}

void Grouping::sign() {
  // Twice: the second time what is carried is known.
  for (int round = 0; round < 2; ++round)
    for (Operation &op : loop.getBody()->without_terminator())
      signatures[&op] = signatureOf(&op);
}

double Grouping::cyclesOf(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    ArrayRef<int64_t> shape = tile::getShape(mma.getType());
    int64_t depth = tile::getShape(mma.getLhs().getType()).back();
    double bytes = static_cast<double>(
        elementBytes(tile::getElementType(mma.getLhs().getType())));
    return static_cast<double>(shape[0] * shape[1] * depth) * bytes / 2 /
           resources.multiplyAdds;
  }
  if (isa<tile::LoadOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
          tile::TransposeOp, tile::BlockHintOp, ConvertLayoutOp>(op))
    return 0; // Copied ahead, or names for what is there.
  double elements = 0;
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes())))
    if (auto tile = dyn_cast<RankedTensorType>(type))
      elements = std::max(elements, static_cast<double>(tile.getNumElements()));
  bool isSpecial = isa<math::MathDialect>(op->getDialect()) &&
                   !isa<math::FmaOp, math::AbsFOp>(op);
  return elements / (isSpecial ? resources.special : resources.lanes);
}

void Grouping::link(std::vector<Node> &nodes) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, node] : llvm::enumerate(nodes))
    for (Operation *op : node.ops)
      numbers[op] = static_cast<unsigned>(number);
  auto add = [&](SmallVectorImpl<unsigned> &to, Operation *def, unsigned own) {
    auto found = def ? numbers.find(def) : numbers.end();
    if (found != numbers.end() && found->second != own &&
        !llvm::is_contained(to, found->second))
      to.push_back(found->second);
  };
  for (auto [number, node] : llvm::enumerate(nodes))
    for (Operation *op : node.ops)
      forEachOperand(
          op, [&, number = static_cast<unsigned>(number)](Value value) {
            add(node.before, value.getDefiningOp(), number);
            if (auto index = carriedNumber(value, loop))
              add(node.carried, loop.getYieldedValues()[*index].getDefiningOp(),
                  number);
          });
}

std::vector<Node> Grouping::run() {
  std::vector<Node> nodes;
  if (!isMovable())
    return nodes;
  for (Operation &op : loop.getBody()->without_terminator())
    if (isAsynchronous(&op)) {
      home[&op] = static_cast<unsigned>(products.size());
      products.push_back(&op);
      Node node;
      node.ops = {&op};
      node.isProduct = true;
      node.runsOn = runsOn(&op);
      node.isHeld = !cast<MmaOp>(op).isInShared(0);
      addFactors(node);
      nodes.push_back(node);
    }
  sign();
  SmallVector<std::pair<Signature, unsigned>> groups;
  for (auto &[op, signature] : signatures) {
    if (home.contains(op) ||
        (signature.first.none() && signature.second.none()))
      continue;
    auto *found = llvm::find_if(
        groups, [&](auto &group) { return group.first == signature; });
    if (found == groups.end()) {
      groups.emplace_back(signature, static_cast<unsigned>(nodes.size()));
      nodes.emplace_back();
      found = &groups.back();
    }
    nodes[found->second].ops.push_back(op);
  }
  for (Node &node : nodes)
    for (Operation *op : node.ops)
      node.cycles += cyclesOf(op);
  link(nodes);
  return nodes;
}

} // namespace

std::vector<Node> simt::nodesOf(scf::ForOp loop, const Resources &resources) {
  return Grouping(loop, resources).run();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

class Search {
public:
  Search(scf::ForOp loop, ArrayRef<Node> nodes, const Resources &resources)
      : loop(loop), nodes(nodes), resources(resources) {}

  Schedule run(unsigned maxStages, int64_t maxBytes);

private:
  bool isAllowed(ArrayRef<unsigned> stages);
  /// Nodes that come before `node` in a step.
  SmallVector<unsigned> inStep(unsigned node, ArrayRef<unsigned> stages);
  SmallVector<unsigned> orderOf(ArrayRef<unsigned> stages);
  double simulate(const Schedule &schedule);
  int64_t waitingBytes(ArrayRef<unsigned> stages);
  int64_t resultBytes();

  scf::ForOp loop;
  ArrayRef<Node> nodes;
  const Resources &resources;
};

/// What an iteration needs comes in its step or before.
bool Search::isAllowed(ArrayRef<unsigned> stages) {
  for (auto [number, node] : llvm::enumerate(nodes)) {
    for (unsigned other : node.before)
      if (stages[other] > stages[number])
        return false;
    for (unsigned other : node.carried)
      if (stages[other] > stages[number] + 1)
        return false;
  }
  return true;
}

SmallVector<unsigned> Search::inStep(unsigned node, ArrayRef<unsigned> stages) {
  SmallVector<unsigned> first;
  for (unsigned other : nodes[node].before)
    if (stages[other] == stages[node])
      first.push_back(other);
  for (unsigned other : nodes[node].carried)
    if (stages[other] == stages[node] + 1)
      first.push_back(other);
  return first;
}

/// Empty if the needs of a step go round.
SmallVector<unsigned> Search::orderOf(ArrayRef<unsigned> stages) {
  SmallVector<double> ready(nodes.size(), -1);
  SmallVector<unsigned> order;
  double now = 0, unit = 0;
  while (order.size() < nodes.size()) {
    std::optional<unsigned> best;
    double bestStart = 0;
    for (unsigned node = 0; node < nodes.size(); ++node) {
      if (ready[node] >= 0)
        continue;
      double start = now;
      bool isReady = true;
      for (unsigned other : inStep(node, stages)) {
        isReady &= ready[other] >= 0;
        start = std::max(start, ready[other]);
      }
      // Products before arithmetic, then the last stage, then as written.
      auto rank = [&](unsigned each) {
        return std::pair(!nodes[each].isProduct, stages[each]);
      };
      if (isReady && (!best || start < bestStart ||
                      (start == bestStart && rank(node) < rank(*best)))) {
        best = node;
        bestStart = start;
      }
    }
    if (!best)
      return {};
    if (nodes[*best].isProduct) {
      unit = std::max(unit, bestStart) + nodes[*best].cycles;
      ready[*best] = unit;
      now = std::max(bestStart + resources.issue,
                     nodes[*best].isHeld ? unit - nodes[*best].cycles / 8 : 0);
    } else {
      now = ready[*best] = bestStart + nodes[*best].cycles;
    }
    order.push_back(*best);
  }
  return order;
}

namespace {

/// One stream of instructions, which waits where it reads, and one matrix unit
/// beside it.
class Simulation {
public:
  static constexpr int kSteps = 8;

  Simulation(ArrayRef<Node> nodes, const Resources &resources)
      : nodes(nodes), resources(resources),
        ready(nodes.size(), SmallVector<double>(kSteps, 0)) {}

  /// Runs a step, and gives the time when it has ended.
  double run(const Schedule &schedule, int step);
  double end() const { return std::max(now, unit); }

private:
  double startOf(const Node &node, int iteration) const;
  void run(const Node &node, double start);

  ArrayRef<Node> nodes;
  const Resources &resources;
  std::vector<SmallVector<double>> ready; ///< of each node and iteration
  double now = 0, unit = 0;
};

} // namespace

double Simulation::startOf(const Node &node, int iteration) const {
  double start = now;
  for (unsigned other : node.before)
    start = std::max(start, ready[other][iteration]);
  // The product that an accumulator comes from is not waited for.
  if (iteration > 0)
    for (unsigned other : node.carried)
      if (!node.isProduct || !nodes[other].isProduct)
        start = std::max(start, ready[other][iteration - 1]);
  return start;
}

void Simulation::run(const Node &node, double start) {
  if (node.isProduct) {
    unit = std::max(unit, start) + node.cycles;
    // Registers of factors are read when the unit gets to them.
    now = std::max(start + resources.issue,
                   node.isHeld ? unit - node.cycles / 8 : 0);
    return;
  }
  // As much of it as lies beside products is slower.
  double beside = std::max(unit - start, 0.0),
         cycles = node.cycles / resources.beside;
  now = cycles <= beside
            ? start + cycles
            : start + beside + node.cycles - beside * resources.beside;
}

double Simulation::run(const Schedule &schedule, int step) {
  now += resources.step;
  double waits = 0;
  for (unsigned number : schedule.order) {
    const Node &node = nodes[number];
    int iteration = step - static_cast<int>(schedule.stages[number]);
    if (iteration < 0)
      continue;
    run(node, startOf(node, iteration));
    ready[number][iteration] = node.isProduct ? unit : now;
    if (node.isProduct && !node.runsOn)
      waits = std::max(waits, unit);
  }
  return now = std::max(now, waits);
}

/// The time of a step once the loop runs.
double Search::simulate(const Schedule &schedule) {
  constexpr int kHalf = Simulation::kSteps / 2;
  Simulation simulation(nodes, resources);
  double half = 0;
  for (int step = 0; step < Simulation::kSteps; ++step) {
    double end = simulation.run(schedule, step);
    if (step == kHalf - 1)
      half = end;
  }
  return (simulation.end() - half) / double{kHalf};
}

/// Values that later stages read wait for a step or more, as carried ones do
/// that are read before the step makes them anew.
int64_t Search::waitingBytes(ArrayRef<unsigned> stages) {
  llvm::DenseMap<Operation *, unsigned> stageOf;
  for (auto [number, node] : llvm::enumerate(nodes))
    for (Operation *op : node.ops)
      stageOf[op] = stages[number];
  auto stageOfDef = [&](Value value) -> std::optional<unsigned> {
    auto def = stageOf.find(value.getDefiningOp());
    if (!value.getDefiningOp() || def == stageOf.end())
      return std::nullopt;
    return def->second;
  };
  llvm::MapVector<Value, unsigned> steps;
  for (auto [op, stage] : stageOf)
    forEachOperand(op, [&, stage = stage](Value value) {
      unsigned least = 0;
      std::optional<unsigned> made = stageOfDef(value);
      if (auto number = carriedNumber(value, loop)) {
        made = stageOfDef(loop.getYieldedValues()[*number]);
        least = 1;
      }
      if (made && stage + least > *made)
        steps[value] = std::max(steps[value], stage + least - *made);
    });
  int64_t bytes = 0;
  for (auto [value, count] : steps)
    bytes += count * bytesInThread(value.getType());
  return bytes;
}

/// What a step needs beside: the largest result that is not made in place, as
/// accumulators are.
int64_t Search::resultBytes() {
  int64_t largest = 0;
  auto isAccumulator = [](Value value) {
    auto mma =
        value.hasOneUse() ? dyn_cast<MmaOp>(*value.user_begin()) : MmaOp();
    return mma && mma.getAcc() == value;
  };
  for (const Node &node : nodes)
    for (Operation *op : node.ops) {
      auto mma = dyn_cast<MmaOp>(op);
      bool isInPlace = mma ? !matchPattern(mma.getAcc(), m_Constant())
                           : llvm::all_of(op->getResults(), isAccumulator);
      if (isInPlace ||
          isa<tile::LoadOp, tile::TransposeOp, tile::BlockHintOp>(op))
        continue;
      for (Value result : op->getResults())
        largest = std::max(largest, bytesInThread(result.getType()));
    }
  return largest;
}

Schedule Search::run(unsigned maxStages, int64_t maxBytes) {
  Schedule best;
  best.stages.assign(nodes.size(), 0);
  best.order = orderOf(best.stages);
  best.cycles = simulate(best);
  if (nodes.size() > kMaxNodes || nodes.size() < 2)
    return best;
  // A gain of less than this is not worth registers and code.
  constexpr double kGain = 0.98;
  SmallVector<unsigned> stages(nodes.size(), 0);
  int64_t result = resultBytes();
  best.waitingBytes = waitingBytes(best.stages);
  while (true) {
    size_t digit = 0;
    while (digit < stages.size() && ++stages[digit] == maxStages)
      stages[digit++] = 0;
    if (digit == stages.size())
      return best;
    if (*llvm::min_element(stages) != 0 || !isAllowed(stages))
      continue;
    Schedule next;
    next.stages = stages;
    next.waitingBytes = waitingBytes(stages);
    if (result + next.waitingBytes > maxBytes)
      continue;
    next.order = orderOf(stages);
    if (next.order.empty())
      continue;
    next.cycles = simulate(next);
    bool isFaster = next.cycles < best.cycles * kGain;
    bool isAsFast = next.cycles * kGain < best.cycles;
    if (isFaster || (isAsFast && best.numStages() > 1 &&
                     next.waitingBytes < best.waitingBytes))
      best = next;
  }
}

} // namespace

Schedule simt::findSchedule(scf::ForOp loop, ArrayRef<Node> nodes,
                            const Resources &resources, unsigned maxStages,
                            int64_t maxBytes) {
  return Search(loop, nodes, resources).run(maxStages, maxBytes);
}
