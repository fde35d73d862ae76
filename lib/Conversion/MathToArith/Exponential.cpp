//===- Exponential.cpp - exp, exp2, expm1 ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// exp(x) = 2^n * exp(r) with n = round(x / ln 2) and r = x - n ln 2. Rounding
// is by the magic number 1.5 * 2^mantissaBits: adding it leaves n in the low
// bits of the sum, ready to be shifted into an exponent.
//
// f32 exp and exp2 are the inner loop of attention: one multiplication by
// 2^(n-1) (the polynomial is doubled, so that n = 128 needs no care) and a
// select that flushes results below 2^-125.5, instead of the four more ops that
// denormal results would take (and a microcode assist on several CPUs for
// each).

#include "Coefficients.h"
#include "Functions.h"

using namespace mlir;

namespace terrazzo::expand {

namespace {
// ln 2 as the sum of two floats, and of two doubles.
constexpr double kLn2HighF32 = 0x1.62e430p-1, kLn2LowF32 = -0x1.05c610p-29;
constexpr double kLn2HighF64 = 0x1.62e42fefa39efp-1,
                 kLn2LowF64 = 0x1.abc9e3b39803fp-56;

/// min(x, bound) and max(x, bound) that let NaN through.
Expr clampAbove(Expr x, double bound) {
  return select(Literal(bound) < x, bound, x);
}
Expr clampBelow(Expr x, double bound) {
  return select(Literal(bound) > x, bound, x);
}

/// x - n ln 2.
Expr reduce(Expr x, Expr n) {
  Expr r = fma(n, -choose(x, kLn2HighF32, kLn2HighF64), x);
  return fma(n, -choose(x, kLn2LowF32, kLn2LowF64), r);
}

/// 2 * mantissa * 2^(n-1), or zero where x is below `flushed`.
Expr finishF32(Expr x, Expr r, Expr exponent, ArrayRef<double> coefficients,
               double flushed) {
  Expr doubled = polynomial(r, scaled(coefficients, 2));
  return select(x < flushed, 0.0, scaleOnce(doubled, exponent));
}

/// exp(r) - 1 for the reduced argument.
Expr expm1Reduced(Expr r) {
  using namespace coefficients;
  return fma(r * r, polynomial(r, choose(r, expm1F32, expm1F64)), r);
}
} // namespace

SmallVector<double> scaled(ArrayRef<double> coefficients, double factor) {
  return llvm::map_to_vector(coefficients,
                             [&](double c) { return c * factor; });
}

std::pair<Expr, Expr> roundProduct(Expr x, double factor, int64_t offset) {
  double magic = choose(x, 0x1.8p23, 0x1.8p52) + static_cast<double>(offset);
  Expr sum = fma(x, factor, magic);
  return {sum - magic, sum.bits()};
}

Expr scaleOnce(Expr mantissa, Expr exponent) {
  return mantissa *
         (exponent << mantissa.mantissaBits()).asFloat(mantissa.element());
}

Expr scaleTwice(Expr mantissa, Expr exponent) {
  Expr half = shiftRightUnsigned(exponent, 1);
  return scaleOnce(scaleOnce(mantissa, half), exponent - half);
}

ExpParts splitExp(Expr x, int64_t offset) {
  using namespace coefficients;
  auto [n, exponent] = roundProduct(x, kLog2E, offset);
  return {polynomial(reduce(x, n), choose(x, expF32, expF64)), exponent};
}

Expr expandExp(Expr x) {
  using namespace coefficients;
  if (x.isF64()) {
    // Beyond the clamps the result is infinite or zero anyway.
    Expr bounded = clampAbove(clampBelow(x, -760.0), 715.0);
    ExpParts parts = splitExp(bounded, 2 * x.bias());
    return scaleTwice(parts.mantissa, parts.exponent);
  }
  Expr bounded = clampAbove(x, 89.0);
  auto [n, exponent] = roundProduct(bounded, kLog2E, x.bias() - 1);
  // n >= -125 above -125.5 ln 2.
  return finishF32(x, reduce(bounded, n), exponent, expF32, -0x1.5bf5acp+6);
}

Expr expandExp2(Expr x) {
  using namespace coefficients;
  if (x.isF64()) {
    Expr bounded = clampAbove(clampBelow(x, -1090.0), 1025.0);
    auto [n, exponent] = roundProduct(bounded, 1.0, 2 * x.bias());
    return scaleTwice(polynomial(bounded - n, exp2F64), exponent);
  }
  Expr bounded = clampAbove(x, 128.0);
  double magic = 0x1.8p23 + 126;
  Expr sum = bounded + magic;
  return finishF32(x, bounded - (sum - magic), sum.bits(), exp2F32, -125.5);
}

Expr halfExp(Expr x) {
  Expr bounded = clampAbove(clampBelow(x, choose(x, -110.0, -760.0)),
                            choose(x, 90.0, 716.0));
  ExpParts parts = splitExp(bounded, 2 * x.bias() - 1);
  return scaleTwice(parts.mantissa, parts.exponent);
}

Expr halfExpm1(Expr x) {
  // Below the lower clamp the result is -1/2; above the upper one it is
  // infinite.
  Expr bounded = clampAbove(clampBelow(x, choose(x, -30.0, -60.0)),
                            choose(x, 90.0, 711.0));
  auto [n, exponent] = roundProduct(bounded, kLog2E, 2 * x.bias() - 1);
  Expr p = expm1Reduced(reduce(bounded, n));
  // 2^(n-1) would overflow for n = 1025 of the last results before infinity;
  // half of the scale is applied at the end.
  Expr one = shiftRightUnsigned(exponent, 1);
  Expr two = exponent - one;
  Expr first = (one << x.mantissaBits()).asFloat(x.element());
  Expr second = (two << x.mantissaBits()).asFloat(x.element());
  Expr scale = first * second;
  Expr ordinary = fma(p, scale, scale - 0.5);
  Expr huge = (p * first + first) * second;
  return select(x > choose(x, 80.0, 700.0), huge, ordinary);
}

Expr expandExpm1(Expr x) {
  // Halving loses the last bit of a denormal and the sign of zero.
  Expr tiny = absolute(x) < choose(x, 0x1p-26, 0x1p-55);
  Expr half = halfExpm1(x);
  return select(tiny, x, half + half);
}

} // namespace terrazzo::expand
