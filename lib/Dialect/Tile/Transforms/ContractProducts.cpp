//===- ContractProducts.cpp - Products and sums in one rounding -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM would decide it for each copy of the code: an expression has then other
// bits in the loop for arrays that overlap than in the one for those that do
// not, or where it is computed again. Here it is decided once:
//
//   %m = arith.mulf %a, %b fastmath<contract>
//   %s = arith.addf %c, %m fastmath<contract>   =>   %s = math.fma %a, %b, %c
//
// Contract: Passes.td. Every case: test/Dialect/Tile/contract-products.mlir.
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_TILECONTRACTPRODUCTS
#include "terrazzo/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

bool mayContract(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::contract);
}

void forbid(Operation *sum) {
  auto op = cast<arith::ArithFastMathInterface>(sum);
  arith::FastMathFlags flags =
      op.getFastMathFlagsAttr().getValue() & ~arith::FastMathFlags::contract;
  sum->setAttr(op.getFastMathAttrName(),
               arith::FastMathFlagsAttr::get(sum->getContext(), flags));
}

/// The product that a sum's operand is, if nothing else reads it.
arith::MulFOp productOf(Value operand, Operation *sum) {
  auto product = operand.getDefiningOp<arith::MulFOp>();
  bool fits = product && operand.hasOneUse() &&
              product->getBlock() == sum->getBlock() && mayContract(product);
  return fits ? product : arith::MulFOp();
}

/// The one rounding that a sum and a product of its operands can be; null if
/// none of them is one.
Value contract(Operation *sum) {
  bool isDifference = isa<arith::SubFOp>(sum);
  ImplicitLocOpBuilder b(sum->getLoc(), sum);
  Value left = sum->getOperand(0), right = sum->getOperand(1);
  auto negate = [&](Value value) -> Value {
    return isDifference ? arith::NegFOp::create(b, value).getResult() : value;
  };
  if (arith::MulFOp product = productOf(right, sum))
    return math::FmaOp::create(b, negate(product.getLhs()), product.getRhs(),
                               left);
  if (arith::MulFOp product = productOf(left, sum))
    return math::FmaOp::create(b, product.getLhs(), product.getRhs(),
                               negate(right));
  return {};
}

struct ContractProducts : impl::TileContractProductsBase<ContractProducts> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp>(op) ||
          !mayContract(cast<arith::ArithFastMathInterface>(op)))
        return;
      Type element = getElementTypeOrSelf(op->getResult(0).getType());
      if (element.isF32() || element.isF64())
        sums.push_back(op);
    });
    auto target = tile::TargetAttr::of(getOperation());
    bool hasFma = target && target.has(tile::Units::Fma);
    for (Operation *sum : sums) {
      Value fused = hasFma ? contract(sum) : Value();
      if (!fused) {
        if (!isa<tile::ReduceOp>(sum->getParentOp()))
          forbid(sum);
        continue;
      }
      SmallVector<Value, 2> operands(sum->getOperands());
      sum->getResult(0).replaceAllUsesWith(fused);
      sum->erase();
      for (Value operand : operands)
        if (operand.use_empty())
          operand.getDefiningOp()->erase();
    }
  }
};

} // namespace
} // namespace terrazzo
