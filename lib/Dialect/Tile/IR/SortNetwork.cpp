//===- SortNetwork.cpp - The network that sorts are made of ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Tile/expand-sort.mlir,
// test/Conversion/SimtToLLVM/loops.mlir,
// test/Conversion/TileToVector/sort.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;

unsigned tile::sortLevels(SortOp op) {
  return llvm::Log2_64_Ceil(getShape(op.getType())[op.getAxis()]);
}

SmallVector<tile::SortStage> tile::sortStages(SortOp op) {
  SmallVector<SortStage> stages;
  unsigned levels = sortLevels(op);
  for (unsigned block = op.getBitonic() && levels > 0 ? levels : 1;
       block <= levels; ++block)
    for (unsigned distance = block; distance-- > 0;)
      stages.push_back({block, distance});
  return stages;
}

Value tile::sortsBehind(ImplicitLocOpBuilder &b, SortOp op, Value a, Value c) {
  Type type = a.getType(), element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element))
    return arith::CmpIOp::create(b,
                                 op.getIsUnsigned() ? arith::CmpIPredicate::ugt
                                                    : arith::CmpIPredicate::sgt,
                                 a, c);
  if (element.getIntOrFloatBitWidth() == 8) {
    Type wide = b.getF16Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    a = arith::ExtFOp::create(b, wide, a);
    c = arith::ExtFOp::create(b, wide, c);
  }
  // The unordered comparison holds for a NaN in either; that `c` is a number
  // leaves the one in `a`.
  Value unordered = arith::CmpFOp::create(b, arith::CmpFPredicate::UGT, a, c);
  Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, c, c);
  return arith::AndIOp::create(b, unordered, isNumber);
}
