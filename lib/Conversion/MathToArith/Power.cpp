//===- Power.cpp - powf, cbrt, rsqrt --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// pow(x, y) = 2^(y log2 |x|). An error in y log2 |x| is multiplied by up to
// 2^10 in the result, so the logarithm and the product are carried as
// unevaluated sums of two numbers (Dekker, Knuth), with FMA giving the low half
// of each product.

#include "Coefficients.h"
#include "Functions.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// 2 / ln 2 and 1/3, each as two floats and two doubles.
constexpr double kTwoLog2EF32[] = {0x1.715476p+1, 0x1.4ae0c0p-25};
constexpr double kTwoLog2EF64[] = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};
constexpr double kThirdF32[] = {0x1.555556p-2, -0x1.555556p-27};
constexpr double kThirdF64[] = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

/// high + low, low being at most about half a unit in the last place of high.
struct Pair {
  Expr high, low;
};
Pair fastSum(Expr large, Expr small) {
  Expr high = large + small;
  return {high, (large - high) + small};
}
Pair product(Expr a, Expr b) {
  Expr high = a * b;
  return {high, fma(a, b, -high)};
}
Pair productWith(Pair a, ArrayRef<double> constant) {
  Pair p = product(a.high, a.high.like(constant[0]));
  Expr low = fma(a.high, constant[1], p.low);
  return {p.high, fma(a.low, constant[0], low)};
}

/// log2 of a positive finite number. log(1+f) = 2 s (1 + v/3 + v^2 R(v)) with
/// s = f / (2+f), v = s^2.
Pair log2Pair(Expr x) {
  using namespace coefficients;
  auto [e, f] = splitLog(x);
  Expr divisor = f + 2.0;
  Expr divisorLow = f - (divisor - 2.0);
  Expr inverse = divisor.like(1.0) / divisor;
  Expr s = f * inverse;
  Expr rest = fma(-s, divisorLow, fma(-s, divisor, f));
  Pair sPair = fastSum(s, rest * inverse);
  Pair v = product(sPair.high, sPair.high);
  v.low = fma(sPair.high + sPair.high, sPair.low, v.low);
  Pair series = productWith(v, choose(x, ArrayRef(kThirdF32), kThirdF64));
  Expr square = v.high * v.high;
  series.low =
      fma(square, polynomial(v.high, choose(x, powF32, powF64)), series.low);
  Pair base =
      productWith(sPair, choose(x, ArrayRef(kTwoLog2EF32), kTwoLog2EF64));
  // base * (1 + series)
  Pair extra = product(base.high, series.high);
  Expr extraLow =
      fma(base.high, series.low, fma(base.low, series.high, extra.low));
  Pair sum = fastSum(base.high, extra.high);
  Pair fraction = fastSum(sum.high, sum.low + (base.low + extraLow));
  Pair whole = fastSum(e, fraction.high);
  Pair direct = fastSum(whole.high, whole.low + fraction.low);
  // e = 0 breaks the order that fastSum needs.
  Expr isZero = e == e.like(0.0);
  return {select(isZero, fraction.high, direct.high),
          select(isZero, fraction.low, direct.low)};
}

/// 2^(high + low) for any high; low is small.
Expr exp2Pair(Pair p) {
  using namespace coefficients;
  double limit = choose(p.high, 200.0, 1200.0);
  // Beyond the limit the result is 0 or infinite whatever `low` says (it may be
  // NaN there, from infinity minus infinity).
  Expr inside = absolute(p.high) < limit;
  Expr edge = select(p.high < 0.0, p.high.like(-limit), limit);
  Expr high = select(inside, p.high, select(isNaN(p.high), p.high, edge));
  Expr low = select(inside, p.low, 0.0);
  auto [n, exponent] = roundProduct(high, 1.0, 2 * high.bias());
  Expr r = (high - n) + low;
  return scaleTwice(polynomial(r, choose(r, exp2F32, exp2F64)), exponent);
}
} // namespace

Expr expandPow(Expr x, Expr y) {
  Expr magnitude = absolute(x);
  Expr zero = x.like(0.0), one = x.like(1.0);
  Pair logarithm = log2Pair(magnitude);
  Expr finite = magnitude < kInfinity;
  logarithm.high = select(magnitude == zero, -kInfinity,
                          select(finite, logarithm.high, magnitude));
  Pair exponent = product(y, logarithm.high);
  exponent.low = fma(y, logarithm.low, exponent.low);
  Expr result = exp2Pair(exponent);
  // 1^inf: the product above is NaN.
  result = select(magnitude == one, one, result);
  Expr halfY = y * 0.5;
  Expr isInteger = truncate(y) == y;
  Expr isOdd = isInteger & (truncate(halfY) != halfY);
  Expr sign = x.bits() & (uint64_t(1) << (x.width() - 1));
  Expr signedResult = (result.bits() | sign).asFloat(x.element());
  result = select(isOdd, signedResult, result);
  Expr outside = (x < 0.0) & finite & !isInteger;
  result = select(outside, kNaN, result);
  result = select(isNaN(x + y) & isNaN(x * y), x + y, result);
  return select((y == zero) | (x == one), one, result);
}

Expr expandCbrt(Expr x) {
  Expr a = absolute(x);
  // Denormals have no exponent to divide, and the cubes of huge numbers
  // overflow.
  Expr small = a < choose(x, 0x1p-100, 0x1p-900);
  Expr huge = a > choose(x, 0x1p100, 0x1p900);
  auto pickScale = [&](double up) {
    return select(small, x.like(up), select(huge, x.like(1 / up), 1.0));
  };
  Expr scaled = a * pickScale(choose(x, 0x1p48, 0x1p216));
  // A third of the exponent (and, roughly, of the mantissa) in integers.
  int half = static_cast<int>(x.width()) / 2;
  Expr top = shiftRightUnsigned(scaled.bits(), half);
  Expr third = shiftRightUnsigned(
      top * (x.isF64() ? int64_t(0x55555556) : int64_t(0x5556)), half);
  int64_t offset =
      x.isF64() ? int64_t(0x2A9F7893) << 32 : int64_t(0x2A51) << 16;
  Expr t = ((third << half) + offset).asFloat(x.element());
  // Halley's iteration triples the number of right bits.
  for (int step = 0; step < (x.isF64() ? 3 : 2); ++step) {
    Expr cube = t * t * t;
    t = t * ((cube + (scaled + scaled)) / (cube + cube + scaled));
  }
  // One Newton step with the residual in twice the precision.
  Expr square = t * t;
  Expr squareLow = fma(t, t, -square);
  Expr residual = fma(square, t, -scaled);
  residual = fma(squareLow, t, residual);
  t = fma(residual / (square * -3.0), t.like(1.0), t);
  t = t * pickScale(choose(x, 0x1p-16, 0x1p-72));
  // Zero, infinity and NaN are their own cube roots.
  Expr ordinary = (a > 0.0) & (a < kInfinity);
  return select(ordinary, withSignOf(t, x), x);
}

Expr expandRsqrt(Expr x) { return x.like(1.0) / squareRoot(x); }

} // namespace terrazzo::expand
