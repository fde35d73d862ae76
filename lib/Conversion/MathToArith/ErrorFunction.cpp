//===- ErrorFunction.cpp - erf, erfc --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// erf is x + x P(x^2) around zero and 1 - erfc(|x|) beyond. erf in f32 (GELU)
// needs erfc to an absolute error only and takes it as the fourth power of a
// polynomial: the root is smooth down to where erf rounds to 1. erfc itself,
// and erf in f64, take exp(-x^2) K(t) / (1 + 2x), where t = (x - 2) / (x + 2)
// maps the half line to an interval on which K is smooth.

#include "Coefficients.h"
#include "Functions.h"

using namespace mlir;

namespace terrazzo::expand {

namespace {
/// min(a, bound) that lets NaN through.
Expr bound(Expr a, double limit) {
  return select(Literal(limit) < a, limit, a);
}

/// erfc(a) for 0.45 <= a.
Expr erfcTail(Expr a) {
  using namespace coefficients;
  // Zero from 10.1 (27.3) on.
  Expr x = bound(a, choose(a, 10.5, 28.0));
  Expr t = (x - 2.0) / (x + 2.0);
  Expr kernel = polynomial(t, choose(x, erfcxF32, erfcxF64)) / fma(x, 2.0, 1.0);
  // x^2 = square + low exactly; exp(-low) = 1 - low.
  Expr square = x * x;
  Expr low = fma(x, x, -square);
  ExpParts parts = splitExp(-square, 2 * x.bias());
  Expr value = parts.mantissa * kernel;
  value = fma(-low, value, value);
  return scaleTwice(value, parts.exponent);
}

/// erf(x) / x - 1 for |x| < 1 (1.125).
Expr erfSeries(Expr x) {
  using namespace coefficients;
  return polynomial(x * x, choose(x, erfSmallF32, erfSmallF64));
}
} // namespace

Expr expandErf(Expr x) {
  using namespace coefficients;
  Expr a = absolute(x);
  Expr small = fma(x, erfSeries(x), x);
  if (x.isF64()) {
    Expr large = a.like(1.0) - erfcTail(bound(a, 6.5));
    return select(a >= 1.0, withSignOf(large, x), small);
  }
  // erf rounds to 1 from 3.92 on, and so does 1 - erfc(4).
  Expr root = polynomial(bound(a, 4.0), erfcRootF32);
  Expr square = root * root;
  Expr large = fma(-square, square, 1.0);
  return select(a > 1.125, withSignOf(large, x), small);
}

Expr expandErfc(Expr x) {
  Expr a = absolute(x);
  Expr small = x.like(1.0) - fma(x, erfSeries(x), x);
  Expr tail = erfcTail(a);
  Expr large = select(x < 0.0, tail.like(2.0) - tail, tail);
  return select(a > 0.5, large, small);
}

} // namespace terrazzo::expand
