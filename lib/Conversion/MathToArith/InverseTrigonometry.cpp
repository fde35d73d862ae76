//===- InverseTrigonometry.cpp - atan, atan2, asin, acos ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// atan of a ratio y/x is an offset (0, pi/4, pi/2) plus atan of a ratio no
// larger than tan(pi/8); choosing the numerator and denominator first leaves
// one division for atan and atan2 alike.

#include "Coefficients.h"
#include "Functions.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTanPi8 = 0x1.a827999fcef32p-2;
constexpr double kTan3Pi8 = 0x1.3504f333f9de6p+1;
// pi/2 as two floats and as two doubles.
constexpr double kHalfPiHighF32 = 0x1.921fb6p+0,
                 kHalfPiLowF32 = -0x1.777a5cp-25;
constexpr double kHalfPiHighF64 = 0x1.921fb54442d18p+0,
                 kHalfPiLowF64 = 0x1.1a62633145c07p-54;

double halfPiHigh(Expr x) { return choose(x, kHalfPiHighF32, kHalfPiHighF64); }
double halfPiLow(Expr x) { return choose(x, kHalfPiLowF32, kHalfPiLowF64); }

/// atan(y / x) for y, x >= 0, not both zero or infinite.
Expr atanRatio(Expr y, Expr x) {
  using namespace coefficients;
  Expr low = y <= x * kTanPi8;
  Expr high = y > x * kTan3Pi8;
  Expr numerator = select(low, y, select(high, -x, y - x));
  Expr denominator = select(low, x, select(high, y, y + x));
  Expr z = numerator / denominator;
  Expr u = z * z;
  Expr tail = z * u * polynomial(u, choose(x, atanF32, atanF64));
  // pi/4 and pi/2, high and low parts, by powers of two of one constant.
  Expr turns = select(low, x.like(0.0), select(high, x.like(1.0), 0.5));
  Expr rest = z + fma(turns, halfPiLow(x), tail);
  return select(low, z + tail, fma(turns, halfPiHigh(x), rest));
}

/// asin(s) for 0 <= s <= 1/2 with u = s^2.
Expr asinSeries(Expr s, Expr u) {
  using namespace coefficients;
  return fma(s * u, polynomial(u, choose(s, asinF32, asinF64)), s);
}

/// For a = |x|: asin(s) with s = a where a <= 1/2, else s = sqrt((1 - a) / 2).
Expr asinHalf(Expr a, Expr small) {
  Expr u = select(small, a * a, (a.like(1.0) - a) * 0.5);
  return asinSeries(select(small, a, squareRoot(u)), u);
}
} // namespace

Expr expandAtan(Expr x) {
  return withSignOf(atanRatio(absolute(x), x.like(1.0)), x);
}

Expr expandAtan2(Expr y, Expr x) {
  Expr ay = absolute(y), ax = absolute(x);
  // Equal infinities act like 1 / 1, and 0 / 0 like 0 / 1. Huge arguments are
  // scaled, or their sum would overflow.
  Expr infinite = (ay == ay.like(kInfinity)) & (ax == ax.like(kInfinity));
  Expr huge =
      (ay > choose(x, 0x1p125, 0x1p1021)) | (ax > choose(x, 0x1p125, 0x1p1021));
  Expr scaledY = select(huge, ay * 0.25, ay);
  Expr scaledX = select(huge, ax * 0.25, ax);
  Expr top = select(infinite, 1.0, scaledY);
  Expr bottom = select(infinite | (ay == ay.like(0.0)), 1.0, scaledX);
  Expr angle = atanRatio(top, bottom);
  Expr negative = x.bits() < x.bits().like(0);
  Expr beyond = x.like(2 * halfPiHigh(x)) - (angle - 2 * halfPiLow(x));
  Expr result = withSignOf(select(negative, beyond, angle), y);
  return select(isNaN(x) | isNaN(y), x + y, result);
}

Expr expandAsin(Expr x) {
  Expr a = absolute(x);
  Expr small = a <= 0.5;
  Expr p = asinHalf(a, small);
  Expr large = x.like(halfPiHigh(x)) - ((p + p) - halfPiLow(x));
  return withSignOf(select(small, p, large), x);
}

Expr expandAcos(Expr x) {
  Expr a = absolute(x);
  Expr small = a <= 0.5;
  Expr p = asinHalf(a, small);
  Expr signedP = withSignOf(p, x);
  Expr middle = x.like(halfPiHigh(x)) - (signedP - halfPiLow(x));
  Expr twice = p + p;
  Expr beyond = x.like(2 * halfPiHigh(x)) - (twice - 2 * halfPiLow(x));
  return select(small, middle, select(x < 0.0, beyond, twice));
}

} // namespace terrazzo::expand
