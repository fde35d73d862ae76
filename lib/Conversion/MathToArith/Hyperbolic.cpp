//===- Hyperbolic.cpp - tanh, sinh, cosh and their inverses ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// By expm1 and log1p, which keep their relative precision around zero, so that
// no second formula is needed there.

#include "Functions.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
} // namespace

Expr expandTanh(Expr x) {
  // -expm1(-2a) / (2 + expm1(-2a)), with halves: h = expm1(-2a) / 2.
  Expr a = absolute(x);
  Expr bounded =
      select(a.like(choose(x, 10.0, 20.0)) < a, choose(x, 10.0, 20.0), a);
  Expr h = halfExpm1(bounded * -2.0);
  Expr ratio = -h / (h + 1.0);
  // Halves lose the last bit of a denormal.
  Expr tiny = a < choose(x, 0x1p-14, 0x1p-28);
  return select(tiny, x, withSignOf(ratio, x));
}

Expr expandSinh(Expr x) {
  // (e + e / (e + 1)) / 2 with e = expm1(a); h = e / 2 does not overflow early.
  Expr a = absolute(x);
  Expr h = halfExpm1(a);
  Expr sum = h + h / (h + h + 1.0);
  sum = select(h < std::numeric_limits<double>::infinity(), sum, h);
  Expr tiny = a < choose(x, 0x1p-13, 0x1p-27);
  return select(tiny, x, withSignOf(sum, x));
}

Expr expandCosh(Expr x) {
  Expr half = halfExp(absolute(x));
  return half + half.like(0.25) / half;
}

Expr expandAsinh(Expr x) {
  // log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a, log(2 a).
  Expr a = absolute(x);
  Expr large = a > choose(x, 0x1p30, 0x1p60);
  Expr square = a * a;
  Expr inner = a + square / (squareRoot(square + 1.0) + 1.0);
  Expr result = expandLog1p(select(large, a, inner));
  result = select(large, result + kLn2, result);
  return withSignOf(result, x);
}

Expr expandAcosh(Expr x) {
  // log1p(t + sqrt(2 t + t^2)) with t = x - 1; for large x, log(2 x).
  Expr t = x - 1.0;
  Expr large = x > choose(x, 0x1p30, 0x1p60);
  Expr inner = t + squareRoot(fma(t, t, t + t));
  Expr result = expandLog1p(select(large, x, inner));
  Expr inside = select(large, result + kLn2, result);
  return select(x >= 1.0, inside,
                x.like(std::numeric_limits<double>::quiet_NaN()));
}

Expr expandAtanh(Expr x) {
  // log1p(2 a / (1 - a)) / 2: NaN beyond 1, since the argument is below -1
  // there.
  Expr a = absolute(x);
  Expr half = expandLog1p((a + a) / (a.like(1.0) - a)) * 0.5;
  Expr tiny = a < choose(x, 0x1p-13, 0x1p-27);
  return select(tiny, x, withSignOf(half, x));
}

} // namespace terrazzo::expand
