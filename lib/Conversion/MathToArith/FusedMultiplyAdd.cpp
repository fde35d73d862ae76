//===- FusedMultiplyAdd.cpp - fma of f32 without an instruction -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The product of two f32 is an f64, and never too large or small for one. Its
// sum with the third is rounded to odd: to a neighbour with an odd last bit
// where it is inexact, after which rounding to f32 gives what rounding the
// exact sum would (Boldo and Melquiond). What rounding to nearest lost is
// Knuth's two-sum.

#include "Functions.h"

using namespace mlir;

namespace terrazzo::expand {

Expr expandFma(Expr a, Expr b, Expr c) {
  Type f64 = a.builder().getF64Type();
  Expr product = a.extendTo(f64) * b.extendTo(f64), x = c.extendTo(f64);
  Expr sum = product + x, part = sum - product;
  Expr lost = (product - (sum - part)) + (x - part);
  Expr bits = sum.bits();
  // An infinity or NaN has lost NaN, which is neither.
  Expr isInexact = (lost < 0.0) | (lost > 0.0);
  Expr isEven = (bits & 1) == bits.like(0);
  Expr isFurther = (lost.bits() ^ bits) >= 0;
  Expr odd = select(isFurther, bits + 1, bits - 1);
  return select(isInexact & isEven, odd, bits)
      .asFloat(f64)
      .truncateTo(a.element());
}

} // namespace terrazzo::expand
