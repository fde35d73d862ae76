//===- Rounding.cpp - Rounding to integers without an instruction ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Adding 2^m, with m stored mantissa bits, rounds a smaller magnitude to an
// integer, ties to even; what is larger is one. The others follow from that by
// one step. The sign is the argument's, that of zeros too.

#include "Functions.h"

using namespace mlir;
using namespace terrazzo::expand;

/// `rounded`, where the magnitude has a fraction at all; NaN stays.
static Expr whereFractional(Expr x, Expr rounded) {
  Expr isSmall =
      absolute(x) < static_cast<double>(uint64_t(1) << x.mantissaBits());
  return select(isSmall, withSignOf(absolute(rounded), x), x);
}

static Expr roundMagnitude(Expr magnitude) {
  double unit = static_cast<double>(uint64_t(1) << magnitude.mantissaBits());
  return (magnitude + unit) - unit;
}

static Expr truncateMagnitude(Expr magnitude) {
  Expr nearest = roundMagnitude(magnitude);
  return select(nearest > magnitude, nearest - 1.0, nearest);
}

Expr terrazzo::expand::expandRoundEven(Expr x) {
  return whereFractional(x, roundMagnitude(absolute(x)));
}

Expr terrazzo::expand::expandTrunc(Expr x) {
  return whereFractional(x, truncateMagnitude(absolute(x)));
}

Expr terrazzo::expand::expandFloor(Expr x) {
  Expr nearest = withSignOf(roundMagnitude(absolute(x)), x);
  return whereFractional(x, select(nearest > x, nearest - 1.0, nearest));
}

Expr terrazzo::expand::expandCeil(Expr x) {
  Expr nearest = withSignOf(roundMagnitude(absolute(x)), x);
  return whereFractional(x, select(nearest < x, nearest + 1.0, nearest));
}

Expr terrazzo::expand::expandRound(Expr x) {
  Expr magnitude = absolute(x), whole = truncateMagnitude(magnitude);
  Expr isUp = magnitude - whole >= 0.5;
  return whereFractional(x, select(isUp, whole + 1.0, whole));
}
