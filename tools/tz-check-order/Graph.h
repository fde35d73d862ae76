//===- Graph.h - Accesses and barriers along a function ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function as what the order of memory is about: in each block the accesses
// and barriers that run in turn, and the blocks that may follow. LLVM IR and
// machine code look the same this way.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TOOLS_TZ_CHECK_ORDER_GRAPH_H
#define TERRAZZO_TOOLS_TZ_CHECK_ORDER_GRAPH_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace terrazzo::order {

struct Step {
  bool isBarrier;
  /// The number of the barrier; of accesses what the maker of the graph likes.
  unsigned number;
};

/// A set of barriers, by number.
using Barriers = llvm::BitVector;

/// The barriers that may run before an access, and behind it.
struct Sides {
  Barriers before, after;
  bool operator==(const Sides &) const = default;
};

class Graph {
public:
  struct Block {
    llvm::SmallVector<Step> steps;
    llvm::SmallVector<unsigned> successors;
  };

  /// A graph of `blockCount` blocks, the first of which is the entry, with
  /// barriers below `barrierCount`.
  Graph(unsigned blockCount, unsigned barrierCount)
      : blocks(blockCount), barrierCount(barrierCount) {}
  Block &block(unsigned number) { return blocks[number]; }

  /// Calls `visit` with each access and the barriers on its sides: in one turn
  /// through the function, along paths that do not go back to the head of a
  /// loop, where those of the other side of a branch are on neither; and ever.
  void forEachAccess(llvm::function_ref<void(unsigned access, const Sides &turn,
                                             const Sides &ever)>
                         visit) const;

private:
  llvm::SmallVector<unsigned> reversePostOrder() const;
  Barriers ownOf(unsigned block) const;
  llvm::SmallVector<Sides> sidesOfBlocks(llvm::ArrayRef<unsigned> order,
                                         bool everyEdge) const;

  llvm::SmallVector<Block> blocks;
  unsigned barrierCount;
};

} // namespace terrazzo::order

#endif // TERRAZZO_TOOLS_TZ_CHECK_ORDER_GRAPH_H
