//===- Graph.cpp - Accesses and barriers along a function -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include "llvm/ADT/STLExtras.h"

using namespace terrazzo::order;
using llvm::SmallVector;

/// The blocks that the entry reaches.
SmallVector<unsigned> Graph::reversePostOrder() const {
  SmallVector<unsigned> order;
  llvm::BitVector seen(blocks.size());
  SmallVector<std::pair<unsigned, unsigned>> path = {{0, 0}};
  seen.set(0);
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == blocks[block].successors.size()) {
      order.push_back(block);
      path.pop_back();
      continue;
    }
    unsigned successor = blocks[block].successors[next++];
    if (!seen.test(successor)) {
      seen.set(successor);
      path.push_back({successor, 0});
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Barriers Graph::ownOf(unsigned block) const {
  Barriers own(barrierCount);
  for (const Step &step : blocks[block].steps)
    if (step.isBarrier)
      own.set(step.number);
  return own;
}

/// What may run before the begin of each block, and behind its end.
SmallVector<Sides> Graph::sidesOfBlocks(llvm::ArrayRef<unsigned> order,
                                        bool everyEdge) const {
  SmallVector<unsigned> place(blocks.size());
  for (auto [index, block] : llvm::enumerate(order))
    place[block] = static_cast<unsigned>(index);
  Barriers none(barrierCount);
  SmallVector<Sides> sides(blocks.size(), {none, none});
  for (bool changed = true; changed;) {
    changed = false;
    auto add = [&](Barriers &to, const Barriers &from, unsigned through) {
      Barriers more = ownOf(through);
      more |= from;
      changed |= more.test(to);
      to |= more;
    };
    auto isTaken = [&](unsigned from, unsigned to) {
      return everyEdge || place[from] < place[to];
    };
    for (unsigned block : order)
      for (unsigned successor : blocks[block].successors)
        if (isTaken(block, successor))
          add(sides[successor].before, sides[block].before, block);
    for (unsigned block : llvm::reverse(order))
      for (unsigned successor : blocks[block].successors)
        if (isTaken(block, successor))
          add(sides[block].after, sides[successor].after, successor);
  }
  return sides;
}

void Graph::forEachAccess(
    llvm::function_ref<void(unsigned, const Sides &, const Sides &)> visit)
    const {
  SmallVector<unsigned> order = reversePostOrder();
  SmallVector<Sides> turns = sidesOfBlocks(order, /*everyEdge=*/false),
                     evers = sidesOfBlocks(order, /*everyEdge=*/true);
  for (unsigned block : order) {
    Barriers above(barrierCount), below = ownOf(block);
    for (const Step &step : blocks[block].steps) {
      if (step.isBarrier) {
        above.set(step.number);
        below.reset(step.number);
        continue;
      }
      Sides turn = turns[block], ever = evers[block];
      for (Sides *sides : {&turn, &ever}) {
        sides->before |= above;
        sides->after |= below;
      }
      visit(step.number, turn, ever);
    }
  }
}
