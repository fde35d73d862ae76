//===- Remainder.cpp - The remainder of floats ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// fmod by long division: each step takes q = trunc(r / (y 2^k)) of at most
// mantissaBits bits and subtracts q y 2^k, which an FMA does exactly, since the
// result is a multiple of the last place of y and smaller than y 2^k. A
// quotient that rounded up leaves a negative remainder, and y 2^k is added
// back. One step is enough while x / y < 2^22 (2^51 for f64); scalars and
// vectors loop while any lane is left, tensors take the steps that the widest
// ratio needs.

#include "Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
/// floor(log2(a)) of a positive finite number.
Expr exponentOf(Expr a) {
  int bits = a.mantissaBits();
  Expr denormal = a < choose(a, 0x1p-126, 0x1p-1022);
  Expr scaled =
      select(denormal, a * static_cast<double>(int64_t(1) << bits), a);
  Expr field = shiftRightUnsigned(scaled.bits(), bits);
  return select(denormal, field - (a.bias() + bits), field - a.bias());
}

/// One step of the division of r by y (both positive) whose exponent is given.
Expr step(Expr r, Expr y, Expr yExponent) {
  int bits = r.mantissaBits();
  // y 2^k is bits - 1 binades below r, or y itself.
  Expr k = exponentOf(r) - yExponent - (bits - 1);
  k = select(k > k.like(0), k, 0);
  Expr half = k >> 1;
  auto powerOfTwo = [&](Expr n) {
    return ((n + n.like(r.bias())) << bits).asFloat(r.element());
  };
  Expr divisor = y * powerOfTwo(half) * powerOfTwo(k - half);
  Expr quotient = truncate(r / divisor);
  Expr rest = fma(-quotient, divisor, r);
  rest = select(rest < 0.0, rest + divisor, rest);
  return select(r >= y, rest, r);
}

Expr loopWhileAny(Expr r, Expr y, Expr yExponent) {
  ImplicitLocOpBuilder &builder = r.builder();
  Emitter &emitter = r.emitter();
  OpBuilder::InsertionGuard guard(builder);
  auto loop =
      scf::WhileOp::create(builder, TypeRange{r.type()}, ValueRange{r.get()});
  Block *before = builder.createBlock(&loop.getBefore(), {}, r.type(),
                                      {r.builder().getLoc()});
  Expr current(emitter, before->getArgument(0));
  Value any = (current >= y).get();
  if (isa<VectorType>(r.type()))
    any = vector::ReductionOp::create(builder, vector::CombiningKind::OR, any);
  scf::ConditionOp::create(builder, any, ValueRange{current.get()});
  Block *after = builder.createBlock(&loop.getAfter(), {}, r.type(),
                                     {r.builder().getLoc()});
  Expr taken = step(Expr(emitter, after->getArgument(0)), y, yExponent);
  scf::YieldOp::create(builder, ValueRange{taken.get()});
  return Expr(emitter, loop.getResult(0));
}

Expr loopFixed(Expr r, Expr y, Expr yExponent) {
  ImplicitLocOpBuilder &builder = r.builder();
  // The largest ratio spans 277 (2098) bits, of which a step removes 21 (50) or
  // more.
  int64_t steps = r.isF64() ? 43 : 14;
  auto index = [&](int64_t n) -> Value {
    return arith::ConstantIndexOp::create(builder, n);
  };
  auto loop = scf::ForOp::create(builder, index(0), index(steps), index(1),
                                 ValueRange{r.get()});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Expr taken = step(Expr(r.emitter(), loop.getRegionIterArg(0)), y, yExponent);
  scf::YieldOp::create(builder, ValueRange{taken.get()});
  return Expr(r.emitter(), loop.getResult(0));
}
} // namespace

Expr expandRemainder(Expr x, Expr y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Expr ax = absolute(x), ay = absolute(y);
  // Lanes without a remainder divide 0 by 1, so that the loop ends.
  Expr valid = (ax < infinity) & (ay > 0.0);
  Expr dividend = select(valid, ax, 0.0);
  Expr divisor = select(valid, ay, 1.0);
  Expr exponent = exponentOf(divisor);
  auto vector = dyn_cast<VectorType>(x.type());
  bool whole = isa<TensorType>(x.type()) || (vector && vector.getRank() != 1);
  Expr rest = whole ? loopFixed(dividend, divisor, exponent)
                    : loopWhileAny(dividend, divisor, exponent);
  return select(valid, withSignOf(rest, x),
                x.like(std::numeric_limits<double>::quiet_NaN()));
}

} // namespace terrazzo::expand
