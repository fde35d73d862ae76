//===- NarrowArithmetic.cpp - Arithmetic on 8- and 16-bit floats ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Operands are widened to f32, the op is done there and the result rounded. For
// + - * / and sqrt that is the correctly rounded result, because f32 has more
// than twice the bits (Figueroa). Sign operations touch the sign bit only.

#include "Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace terrazzo::expand {

namespace {
uint64_t signMask(Expr x) { return uint64_t(1) << (x.width() - 1); }

/// An integer of any width as an f32, or as an f64 that rounds to every narrow
/// format as the integer would.
Expr integerToFloat(Expr x, bool isSigned) {
  Type f32 = x.builder().getF32Type(), f64 = x.builder().getF64Type();
  auto convert = [&](Expr v, Type to) {
    return isSigned ? v.signedTo(to) : v.unsignedTo(to);
  };
  if (x.width() <= 16)
    return convert(x, f32);
  if (x.width() <= 32)
    return convert(x, f64);
  // 53 bits of the number, the lowest of which says whether the rest was zero.
  Expr rest = x & 0x7ff;
  Expr sticky = select(rest == rest.like(0), rest.like(0), 0x400);
  Expr folded = (x & ~int64_t(0x7ff)) | sticky;
  Expr high = isSigned ? x >> 52 : shiftRightUnsigned(x, 52);
  // Numbers that f64 holds exactly stay as they are.
  Expr small = lessUnsigned(high + 1, high.like(2));
  if (!isSigned)
    small = high == high.like(0);
  return convert(select(small, x, folded), f64);
}

Value castFromInteger(Operation *op, Emitter &emitter, bool isSigned) {
  Expr x(emitter, op->getOperand(0));
  if (!isNarrowFloat(getElementTypeOrSelf(op->getResult(0))) ||
      !isa<IntegerType>(x.element()))
    return {};
  return narrow(integerToFloat(x, isSigned),
                getElementTypeOrSelf(op->getResult(0)))
      .get();
}

/// The op itself on widened operands; a result that was a narrow float becomes
/// f32.
Value cloneWide(Operation *op, ValueRange operands, Emitter &emitter) {
  Operation *clone = emitter.builder.clone(*op);
  clone->setOperands(operands);
  Value result = clone->getResult(0);
  if (isNarrowFloat(getElementTypeOrSelf(result)))
    result.setType(
        Expr(emitter, result).typeWith(emitter.builder.getF32Type()));
  return result;
}

Value viaF32(Operation *op, Emitter &emitter) {
  Type narrowType = getElementTypeOrSelf(op->getResult(0));
  Type f32 = emitter.builder.getF32Type();
  SmallVector<Value, 3> operands;
  for (Value v : op->getOperands())
    operands.push_back(isNarrowFloat(getElementTypeOrSelf(v))
                           ? widen(Expr(emitter, v), f32).get()
                           : v);
  Value result;
  if (isa<arith::RemFOp>(op))
    result =
        expandRemainder(Expr(emitter, operands[0]), Expr(emitter, operands[1]))
            .get();
  else
    result = expandWide(op, operands, emitter);
  if (!result)
    result = cloneWide(op, operands, emitter);
  return isNarrowFloat(narrowType)
             ? narrow(Expr(emitter, result), narrowType).get()
             : result;
}

Value expandSignOp(Operation *op, Emitter &emitter) {
  Expr x(emitter, op->getOperand(0));
  Expr bits = x.bits();
  if (isa<arith::NegFOp>(op))
    return (bits ^ signMask(x)).asFloat(x.element()).get();
  Expr magnitude = bits & (signMask(x) - 1);
  if (isa<math::CopySignOp>(op)) {
    Expr sign = Expr(emitter, op->getOperand(1)).bits() & signMask(x);
    return (magnitude | sign).asFloat(x.element()).get();
  }
  return magnitude.asFloat(x.element()).get();
}

/// Minimum and maximum choose an operand, so nothing is rounded, and the choice
/// is made on bits: LLVM would narrow a float maximum to f16 and call fmaxf for
/// it.
Value expandMinMax(Operation *op, Emitter &emitter) {
  Expr x(emitter, op->getOperand(0)), y(emitter, op->getOperand(1));
  Type f32 = emitter.builder.getF32Type();
  Expr a = widen(x, f32), b = widen(y, f32);
  bool isMax = isa<arith::MaxNumFOp, arith::MaximumFOp>(op);
  bool dropsNaN = isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
  Expr takeY = (isMax ? a < b : a > b) | isNaN(dropsNaN ? a : b);
  Expr chosen = select(takeY, y.bits(), x.bits());
  // -0 is below +0; of other equal numbers the bits are equal.
  Expr zero = isMax ? x.bits() & y.bits() : x.bits() | y.bits();
  return select(a == b, zero, chosen).asFloat(x.element()).get();
}

/// f16 ops that need no code where the hardware has f16 arithmetic.
bool isNativeF16(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp,
             arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
             math::AbsFOp, math::CopySignOp, math::FmaOp, math::SqrtOp,
             math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op);
}
} // namespace

Value expandNarrow(Operation *op, Emitter &emitter) {
  Type operand = getElementTypeOrSelf(op->getOperand(0));
  Type result = getElementTypeOrSelf(op->getResult(0));
  Type narrowType = isNarrowFloat(operand) ? operand : result;
  if (narrowType.isF16() && emitter.target.f16Arithmetic && isNativeF16(op))
    return {};
  if (isa<arith::SIToFPOp>(op))
    return castFromInteger(op, emitter, /*isSigned=*/true);
  if (isa<arith::UIToFPOp>(op))
    return castFromInteger(op, emitter, /*isSigned=*/false);
  // The FNUZ formats have no negative zero to flip to; they take the long way.
  bool flips = !isa<Float8E5M2FNUZType, Float8E4M3FNUZType>(narrowType);
  if (flips && isa<arith::NegFOp, math::AbsFOp, math::CopySignOp>(op))
    return expandSignOp(op, emitter);
  if (isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
          arith::MinimumFOp>(op))
    return expandMinMax(op, emitter);
  return viaF32(op, emitter);
}

} // namespace terrazzo::expand
