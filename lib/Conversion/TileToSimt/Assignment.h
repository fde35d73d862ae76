//===- Assignment.h - One layout for every tile -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The global choice of layouts. Tiles fall into three kinds:
//
//   * cheap tiles (indices, masks, constants, addresses without a load behind
//     them) have no layout of their own: they are computed again in whatever
//     layout a use asks for;
//   * all others are grouped into classes of one layout each: an elementwise op
//     joins its operands and results, a loop joins what it carries;
//   * classes are linked by ops that change the shape (reductions, broadcasts,
//     transposes, ...), which cost nothing if the layouts on both sides fit,
//     and a conversion if they do not.
//
// Every class has candidates: what its memory accesses, products, scans and
// reductions would like best, and what neighbours' candidates become across a
// link. Cost is counted in issue slots of a warp, roughly; classes take turns
// in choosing the cheapest candidate until none changes its mind.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_CONVERSION_TILETOSIMT_ASSIGNMENT_H
#define TERRAZZO_LIB_CONVERSION_TILETOSIMT_ASSIGNMENT_H

#include "terrazzo/Analysis/AxisInfo.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace terrazzo::simt {

using namespace mlir; // NOLINT: private header

/// Whether a value is a tile.
inline bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// The operands and results of an op that must have one layout; scalars among
/// them count for nothing. Loads and stores run in the layout of their choice.
SmallVector<Value> sameLayout(Operation *op);

class Assignment {
public:
  Assignment(func::FuncOp kernel, BlockShape block);

  /// Computed again wherever it is needed.
  bool isCheap(Value tile);

  /// The layout of a tile that is not cheap.
  const LinearLayout &layoutOf(Value tile);

  /// The layout of the first of these that has one; if all are cheap, one that
  /// is good enough. For tiles of one shape.
  LinearLayout anyLayout(ArrayRef<Value> tiles);

  /// The layout in which an op with a free choice (a memory access, a print)
  /// runs best, given the layouts of its tiles.
  LinearLayout layoutForAccess(Operation *op);

  /// The layout of an accumulator in which its product is computed.
  LinearLayout layoutForMma(MmaOp op);

  /// How many consecutive elements an access may cover, as far as alignment and
  /// mask allow.
  int64_t vectorOf(Operation *access);
  /// The same, of what a thread holds side by side in `layout`.
  int64_t vectorWithin(Operation *access, const LinearLayout &layout);

  const BlockShape block;

private:
  struct Class {
    RankedTensorType type;
    SmallVector<Value> members;
    /// Ops whose cost depends on the layout, with what they weigh.
    SmallVector<std::pair<Operation *, double>> anchors;
    double elementwise = 0; ///< weighted elementwise ops
    std::vector<LinearLayout> candidates;
    size_t chosen = 0;
  };
  /// A link between the class of one of op's operands and that of its result.
  struct Link {
    Operation *op;
    int from, to;
    double weight;
    unsigned operand = 0;
  };
  /// What a layout on one side becomes on the other without data moving.
  std::optional<LinearLayout> upwards(const Link &link,
                                      const LinearLayout &result);
  std::optional<LinearLayout> downwards(const Link &link,
                                        const LinearLayout &operand);

  void collect(Operation *op);
  void unite(ValueRange values);
  void uniteLoop(Operation *op);
  void addClass(Value value);
  int classOf(Value value);
  void weighAccess(Operation *op);
  void weigh(Operation *op);
  void propose(Class &into, const LinearLayout &layout);
  void proposeAnchors(Class &into);
  void proposeAcrossLinks();
  double anchorCost(Operation *op, const LinearLayout &layout,
                    RankedTensorType type);
  double accessCost(Operation *access, const LinearLayout &layout);
  double linkCost(const Link &link, const LinearLayout &from,
                  const LinearLayout &to);
  /// The cost of these classes and of all links that touch one of them.
  double cost(ArrayRef<size_t> indices);
  /// Gives a class a candidate, and its neighbours what that becomes across
  /// links that rename; returns who moved, with what they had.
  SmallVector<std::pair<size_t, size_t>> moveGroup(size_t index, size_t to);
  bool tryCandidate(size_t index, size_t candidate, bool isGroup);
  void choose();
  LinearLayout coalesced(Operation *access);

  func::FuncOp kernel;
  AxisInfoAnalysis axis;
  llvm::EquivalenceClasses<void *> groups;
  SmallVector<Value> tiles;
  DenseMap<void *, int> classes;
  SmallVector<Class> all;
  SmallVector<Link> links;
  SmallVector<SmallVector<size_t>> linksOf;
  DenseMap<Value, bool> cheap;
};

/// What it costs to bring a tile of this type from one layout to another.
double conversionCost(RankedTensorType type, const LinearLayout &from,
                      const LinearLayout &to);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_CONVERSION_TILETOSIMT_ASSIGNMENT_H
