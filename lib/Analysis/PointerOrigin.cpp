//===- PointerOrigin.cpp - Which array an address is in -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Simt/barriers.mlir, test/Dialect/Simt/prefetch.mlir,
// test/Conversion/TileToVector/overlap.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Analysis/PointerOrigin.h"

#include "terrazzo/Dialect/Simt/IR/Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace terrazzo;

/// Descriptors are pointers with a shape.
static bool isPointer(Value value) {
  return isa<tile::PtrType, tile::DescriptorType>(
      tile::getElementType(value.getType()));
}

/// Ops whose results are elements of their operands that are pointers, or such
/// an element and an offset.
static bool passesPointers(Operation *op) {
  return isa<tile::AddPtrOp, tile::PtrCastOp, tile::MakeDescriptorOp,
             tile::HintOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
             tile::ReshapeOp, tile::TransposeOp, tile::JoinOp, tile::SplitOp,
             tile::ConcatOp, tile::FlipOp, tile::SliceOp, tile::InsertOp,
             tile::GatherOp, simt::ConvertLayoutOp, arith::SelectOp>(op);
}

static SmallVector<Value> sourcesOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && index > 0)
    return {loop.getInitArgs()[index - 1], loop.getYieldedValues()[index - 1]};
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getBeforeBody())
      return {loop.getInits()[index], loop.getYieldOp().getOperand(index)};
    return {loop.getConditionOp().getArgs()[index]};
  }
  return {};
}

SmallVector<Value> terrazzo::pointerSources(Value pointer) {
  if (auto argument = dyn_cast<BlockArgument>(pointer))
    return sourcesOfArgument(argument);
  Operation *op = pointer.getDefiningOp();
  unsigned index = cast<OpResult>(pointer).getResultNumber();
  if (passesPointers(op))
    return llvm::to_vector(
        llvm::make_filter_range(op->getOperands(), isPointer));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.thenYield().getOperand(index),
            branch.elseYield().getOperand(index)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getConditionOp().getArgs()[index]};
  return {};
}

std::optional<SmallVector<BlockArgument>>
terrazzo::pointerOrigins(Value pointer) {
  // Loops may swap what they carry.
  llvm::SetVector<Value> seen;
  seen.insert(pointer);
  SmallVector<BlockArgument> origins;
  for (size_t next = 0; next < seen.size(); ++next) {
    SmallVector<Value> sources = pointerSources(seen[next]);
    seen.insert(sources.begin(), sources.end());
    if (!sources.empty())
      continue;
    auto argument = dyn_cast<BlockArgument>(seen[next]);
    if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    origins.push_back(argument);
  }
  return origins;
}

BlockArgument terrazzo::pointerOrigin(Value pointer) {
  auto origins = pointerOrigins(pointer);
  return origins && origins->size() == 1 ? origins->front() : BlockArgument();
}

/// Whether elements that two pointers count in are of one size.
static bool countAlike(Value first, Value second) {
  auto bits = [](Value pointer) {
    Type pointee = cast<tile::PtrType>(tile::getElementType(pointer.getType()))
                       .getPointeeType();
    return isa<tile::PtrType>(pointee) ? 64u : pointee.getIntOrFloatBitWidth();
  };
  return bits(first) == bits(second) &&
         tile::getShape(first.getType()) == tile::getShape(second.getType());
}

static Value withoutHints(Value pointer) {
  while (auto hint = pointer.getDefiningOp<tile::HintOp>())
    pointer = hint.getSource();
  return pointer;
}

void terrazzo::stripCommonSteps(Value &first, Value &second) {
  first = withoutHints(first), second = withoutHints(second);
  while (first != second && countAlike(first, second)) {
    Operation *a = first.getDefiningOp(), *c = second.getDefiningOp();
    if (!a || !c || a->getName() != c->getName() || !passesPointers(a) ||
        a->getAttrDictionary() != c->getAttrDictionary() ||
        llvm::count_if(a->getOperands(), isPointer) != 1 ||
        !isPointer(a->getOperand(0)) ||
        a->getOperands().drop_front() != c->getOperands().drop_front() ||
        cast<OpResult>(first).getResultNumber() !=
            cast<OpResult>(second).getResultNumber())
      return;
    first = withoutHints(a->getOperand(0));
    second = withoutHints(c->getOperand(0));
  }
}
