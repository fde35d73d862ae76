//===- DotAhead.cpp - What the next turn of a loop multiplies -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over K packs a part of each operand, then multiplies it: memory is
// waited for, then idle. So while one part is multiplied, the next one is
// fetched into the second-level cache, a few of its lines beside each block of
// registers.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

static constexpr int64_t kLineBytes = 64;
/// Less than this is there before it is missed.
static constexpr int64_t kFewestBytes = 32 << 10;
/// More lines than this beside one block would be waited for.
static constexpr int64_t kMostLines = 64;

/// What a loop adds to a tile of pointers with each turn, in elements: the
/// scalar that `argument`, one of its carried values, grows by.
static Value growthOf(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar())
    return {};
  Value next = loop.getYieldedValues()[argument.getArgNumber() -
                                       loop.getNumInductionVars()];
  auto sum = next.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return {};
  return sum.getLhs() == argument   ? sum.getRhs()
         : sum.getRhs() == argument ? sum.getLhs()
                                    : Value();
}

/// The new value of a scalar that may be computed only behind here.
Value Lowering::scalarEarly(Value old) {
  if (scalars.contains(old))
    return scalar(old);
  Operation *op = old.getDefiningOp();
  if (!op || !isa<arith::ConstantOp, arith::MulIOp, arith::AddIOp,
                  arith::SubIOp, arith::ExtSIOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (!scalarEarly(operand))
      return {};
  return succeeded(lowerScalarOp(op)) ? scalar(old) : Value();
}

void Lowering::noteAhead(Value operand, Product &product) {
  auto load = operand.getDefiningOp<tile::LoadOp>();
  auto type = cast<RankedTensorType>(operand.getType());
  if (!load || type.getRank() != 2 || costOf(load.getPtr()).hasLoad)
    return;
  int64_t bytes = byteSize(type.getElementType());
  if (type.getNumElements() * bytes < kFewestBytes)
    return;
  int64_t unit = strideAlong(load.getPtr(), 1) == 1 ? 1 : 0;
  if (strideAlong(load.getPtr(), unit) != 1)
    return;
  auto addptr = load.getPtr().getDefiningOp<tile::AddPtrOp>();
  auto splat =
      addptr ? addptr.getOffset().getDefiningOp<tile::SplatOp>() : nullptr;
  auto argument =
      splat ? dyn_cast<BlockArgument>(splat.getSource()) : BlockArgument();
  if (!argument || argument.getOwner() != load->getBlock())
    return;
  Value growth = growthOf(argument);
  Value step = growth ? scalarEarly(growth) : Value();
  if (!step)
    return;
  if (!step.getType().isInteger(64))
    step = arith::ExtSIOp::create(b, b.getI64Type(), step);
  auto loop = cast<scf::ForOp>(load->getParentOp());
  Value isThere = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt,
      arith::AddIOp::create(b, scalar(loop.getInductionVar()),
                            scalar(loop.getStep())),
      scalar(loop.getUpperBound()));
  int64_t rowBytes = type.getDimSize(unit) * bytes;
  product.ahead.push_back(
      {isThere, load.getPtr(), mulIndex(step, bytes), 1 - unit,
       type.getDimSize(1 - unit),
       static_cast<int64_t>(llvm::divideCeil(rowBytes, kLineBytes))});
}

void Lowering::fetchPart(const Product &product, Value turn, int64_t turns) {
  int64_t saved = std::exchange(lanes, 1);
  for (const Product::Ahead &next : product.ahead) {
    int64_t rows = llvm::divideCeil(next.rows, turns);
    if (rows * next.lines > kMostLines)
      continue;
    Value first = mulIndex(turn, rows);
    Value isThere = arith::AndIOp::create(
        b, next.isThere,
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, first,
                              index(next.rows)));
    auto guard = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(&guard.getThenRegion().front());
    forLoop(
        0, rows, 1, {},
        [&](Value i, ValueRange) {
          withFreshCache([&] {
            Coords at(2, {index(0), 0});
            at[next.dim].base = addIndex(first, i);
            Value row = addIndex(eval(next.pointers, at).v, next.distance);
            for (int64_t line = 0; line < next.lines; ++line)
              LLVM::Prefetch::create(
                  b,
                  LLVM::IntToPtrOp::create(
                      b, LLVM::LLVMPointerType::get(b.getContext()),
                      addIndex(row, index(line * kLineBytes))),
                  /*rw=*/0, /*hint=*/2, /*cache=*/1);
          });
          return SmallVector<Value>();
        },
        nullptr);
  }
  lanes = saved;
}
