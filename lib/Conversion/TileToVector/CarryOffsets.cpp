//===- CarryOffsets.cpp - Tiles that loops move as a whole ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `p += stride` on a tile of pointers carries every element through the loop:
//
//   %r = scf.for .. iter_args(%p = %p0) { .. %n = addptr %p, splat(%s); yield
//   %n }
//
// Only a scalar changes, so only it is carried, and %p becomes
// addptr(%p0, splat(%o)): an expression, evaluated where it is read. The same
// holds for tiles of integers. Test:
// test/Conversion/TileToVector/carry-offsets.mlir
//===----------------------------------------------------------------------===//

#include "CarryOffsets.h"

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace terrazzo;

/// The scalar that a splat (or a broadcast of one) repeats; null otherwise. A
/// constant tile gives a constant.
static Value uniformScalar(Value tile, OpBuilder &b) {
  if (auto splat = tile.getDefiningOp<tile::SplatOp>())
    return splat.getSource();
  if (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    return uniformScalar(broadcast.getSource(), b);
  DenseElementsAttr dense;
  if (matchPattern(tile, m_Constant(&dense)) && dense.isSplat())
    return arith::ConstantOp::create(b, tile.getLoc(),
                                     dense.getSplatValue<TypedAttr>());
  return {};
}

/// The steps from `argument` to `yielded` if each adds one scalar to all of it.
static bool uniformSteps(Value yielded, Value argument,
                         SmallVectorImpl<Operation *> &steps) {
  while (yielded != argument) {
    Operation *op = yielded.getDefiningOp();
    if (!op || op->getBlock() != argument.getParentBlock())
      return false;
    if (isa<tile::AddPtrOp>(op)) {
      steps.push_back(op);
      yielded = op->getOperand(0);
    } else if (isa<arith::AddIOp>(op)) {
      steps.push_back(op);
      // The moving side is the one that leads back to the argument.
      bool isRight = op->getOperand(1) == argument;
      yielded = op->getOperand(isRight ? 1 : 0);
    } else {
      return false;
    }
  }
  return !steps.empty();
}

static Value widened(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : Value(arith::ExtSIOp::create(b, loc, type, value));
}

/// base + offset on every element.
static Value moved(OpBuilder &b, Location loc, Value base, Value offset) {
  auto type = cast<RankedTensorType>(base.getType());
  Value splat = tile::SplatOp::create(
      b, loc, RankedTensorType::get(type.getShape(), offset.getType()), offset);
  if (isa<tile::PtrType>(type.getElementType()))
    return tile::AddPtrOp::create(b, loc, type, base, splat);
  return arith::AddIOp::create(b, loc, base, splat);
}

static bool rewriteLoop(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa<tile::PtrType, IntegerType>(type.getElementType()) ||
        type.getElementType().isInteger(1))
      continue;
    SmallVector<Operation *> steps;
    if (!uniformSteps(yield.getOperand(i), argument, steps))
      continue;
    OpBuilder inner(yield);
    SmallVector<Value> amounts;
    for (Operation *step : steps) {
      Value moving = step == steps.back() ? Value(argument) : Value();
      Value tile = step->getOperand(step->getOperand(1) == moving ? 0 : 1);
      Value amount = uniformScalar(tile, inner);
      if (!amount)
        break;
      amounts.push_back(amount);
    }
    if (amounts.size() != steps.size())
      continue;
    bool isPointer = isa<tile::PtrType>(type.getElementType());
    Type offsetType = isPointer ? Type(b.getI64Type()) : type.getElementType();
    Value zero =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(offsetType, 0));
    Value init = loop.getInitArgs()[i];
    bool isUnsigned = loop.getUnsignedCmp();
    IRRewriter rewriter(b);
    auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, ValueRange{zero}, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &at, Location, ArrayRef<BlockArgument> added) {
          Value next = added.front();
          for (Value amount : llvm::reverse(amounts))
            next = arith::AddIOp::create(at, loc, next,
                                         widened(at, loc, amount, offsetType));
          return SmallVector<Value>{next};
        }));
    newLoop.setUnsignedCmp(isUnsigned);
    Value offset = newLoop.getRegionIterArgs().back();
    OpBuilder start = OpBuilder::atBlockBegin(newLoop.getBody());
    BlockArgument old = newLoop.getRegionIterArg(i);
    old.replaceAllUsesWith(moved(start, loc, init, offset));
    // The tile itself is carried no more: it is its own init.
    newLoop.getBody()->getTerminator()->setOperand(i, old);
    OpBuilder behind(newLoop->getBlock(), std::next(newLoop->getIterator()));
    newLoop.getResult(i).replaceAllUsesWith(
        moved(behind, loc, init, newLoop.getResults().back()));
    return true;
  }
  return false;
}

void cpu::carryOffsets(Operation *root) {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<scf::ForOp> loops;
    root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (rewriteLoop(loop)) {
        changed = true;
        break;
      }
  }
}
