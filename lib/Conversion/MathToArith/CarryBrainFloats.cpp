//===- CarryBrainFloats.cpp - Brain floats as their bits ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Behind tz-expand-math a bf16 is only moved, chosen and taken apart. Where the
// processor has no registers for it, LLVM carries one as an f32 all the same,
// and calls a library to make a bf16 of that; vectors of them it chooses from
// lane by lane in general registers.
// Types are changed in place; no operation but the few below looks at them.
// Contract: Passes.td. Tests: test/Conversion/MathToArith/
// carry-brain-floats.mlir.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace terrazzo {

#define GEN_PASS_DEF_CARRYBRAINFLOATS
#include "terrazzo/Conversion/Passes.h.inc"

namespace {

bool isBrain(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// The type of the bits of what is of `type`, if that has brain floats.
Type carried(Type type) {
  if (!isBrain(type))
    return type;
  Type bits = IntegerType::get(type.getContext(), 16);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(bits);
  return bits;
}

TypedAttr carried(TypedAttr value) {
  if (!isBrain(value.getType()))
    return value;
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return cast<TypedAttr>(dense.bitcast(carried(dense.getElementType())));
  return IntegerAttr::get(carried(value.getType()),
                          cast<FloatAttr>(value).getValue().bitcastToAPInt());
}

/// Whether an op is of a tile, which should have been taken apart.
bool hasTile(Operation *op) {
  auto isTile = [](Type type) {
    return isa<TensorType>(type) && isBrain(type);
  };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Whether an op computes with brain floats, which should have been expanded.
bool computes(Operation *op) {
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op) ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return false;
  return llvm::any_of(op->getOperandTypes(), isBrain) ||
         llvm::any_of(op->getResultTypes(), isBrain);
}

struct CarryBrainFloats : impl::CarryBrainFloatsBase<CarryBrainFloats> {
  void runOnOperation() override {
    auto chip = tile::TargetAttr::of(getOperation());
    if (chip && chip.has(tile::Units::VectorBf16))
      return;
    WalkResult checked = getOperation()->walk([](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op);
          function && (llvm::any_of(function.getArgumentTypes(), isBrain) ||
                       llvm::any_of(function.getResultTypes(), isBrain))) {
        op->emitOpError("has bf16 in its type, expected none");
        return WalkResult::interrupt();
      }
      if (hasTile(op)) {
        op->emitOpError("of a tile of bf16 expected to have been taken apart "
                        "by tz-tile-to-vector");
        return WalkResult::interrupt();
      }
      if (!computes(op))
        return WalkResult::advance();
      op->emitOpError("on bf16 expected to have been expanded by "
                      "tz-expand-math");
      return WalkResult::interrupt();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([](Operation *op) { carry(op); });
  }

private:
  static void carry(Operation *op) {
    for (OpResult result : op->getResults())
      result.setType(carried(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(carried(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      constant.setValueAttr(carried(constant.getValue()));
    } else if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
      gep.setElemType(carried(gep.getElemType()));
    } else if (isa<arith::BitcastOp>(op) &&
               op->getOperand(0).getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }
};
} // namespace

} // namespace terrazzo
