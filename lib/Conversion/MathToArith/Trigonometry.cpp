//===- Trigonometry.cpp - sin, cos, tan -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// After reduction to a quarter turn both polynomials are evaluated and the
// quadrant selects; that is cheaper than a branch on any vector.

#include "Coefficients.h"
#include "Functions.h"

using namespace mlir;

namespace terrazzo::expand {

namespace {
struct SinCos {
  Expr sine, cosine;
};

/// Of the reduced argument.
SinCos evaluate(Expr r) {
  using namespace coefficients;
  Expr u = r * r;
  Expr sine = fma(r * u, polynomial(u, choose(r, sinF32, sinF64)), r);
  Expr cosine =
      fma(u * u, polynomial(u, choose(r, cosF32, cosF64)), fma(u, -0.5, 1.0));
  return {sine, cosine};
}

/// sin(quadrant * pi/2 + rest) of the two values at rest.
Expr pick(Expr quadrant, SinCos at) {
  Expr isOdd = (quadrant & 1) != quadrant.like(0);
  Expr value = select(isOdd, at.cosine, at.sine);
  Expr sign = (quadrant & 2) << (static_cast<int>(value.width()) - 2);
  return (value.bits() ^ sign).asFloat(value.element());
}

/// sin(-0) = -0, which the polynomial turns into +0.
Expr keepZero(Expr x, Expr result) {
  return select(x == x.like(0.0), x, result);
}
} // namespace

Expr expandSin(Expr x) {
  auto [rest, quadrant] = reduceToQuadrant(x);
  return keepZero(x, pick(quadrant, evaluate(rest)));
}

Expr expandCos(Expr x) {
  auto [rest, quadrant] = reduceToQuadrant(x);
  return pick(quadrant + 1, evaluate(rest));
}

std::pair<Expr, Expr> expandSinCos(Expr x) {
  auto [rest, quadrant] = reduceToQuadrant(x);
  SinCos at = evaluate(rest);
  return {keepZero(x, pick(quadrant, at)), pick(quadrant + 1, at)};
}

Expr expandTan(Expr x) {
  auto [rest, quadrant] = reduceToQuadrant(x);
  SinCos at = evaluate(rest);
  Expr isOdd = (quadrant & 1) != quadrant.like(0);
  Expr numerator = select(isOdd, -at.cosine, at.sine);
  Expr denominator = select(isOdd, at.sine, at.cosine);
  return keepZero(x, numerator / denominator);
}

} // namespace terrazzo::expand
