//===- FusedMultiplyAdd.cpp - fma without an instruction ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both round the exact sum once. There is no wider format for f64: its sum is
// made of integers of 128 bits, as IEEE 754 describes the operation.
//===----------------------------------------------------------------------===//

#include "Functions.h"

#include <cmath>

using namespace mlir;
using namespace terrazzo::expand;

namespace {

/// An unsigned integer of 128 bits.
struct Wide {
  Expr high, low;
};

/// What is shifted out is kept as the lowest bit: whether it was anything. The
/// number may have 126 bits, the distance is not negative.
Wide shiftRightSticky(Wide x, Expr distance) {
  Expr zero = distance.like(0);
  Expr isFar = distance >= 64;
  distance = select(distance < 127, distance, 127);
  Expr low = select(isFar, x.high, x.low), high = select(isFar, zero, x.high);
  Expr lost = select(isFar, x.low, zero);
  // A shift by 64 in two, of which none is too far.
  Expr rest = distance & 63, inverse = rest ^ 63;
  lost = lost | ((low << low.like(1)) << inverse);
  low = shiftRightUnsigned(low, rest) | ((high << high.like(1)) << inverse);
  high = shiftRightUnsigned(high, rest);
  Expr isInexact = lost != zero;
  return {high, select(isInexact, low | 1, low)};
}

Wide shiftLeft(Wide x, int64_t distance) {
  Expr count = x.low.like(distance), inverse = x.low.like(64 - distance);
  return {(x.high << count) | shiftRightUnsigned(x.low, inverse),
          x.low << count};
}

Wide add(Wide x, Wide y) {
  Expr low = x.low + y.low;
  Expr carry = select(lessUnsigned(low, x.low), low.like(1), low.like(0));
  return {x.high + y.high + carry, low};
}

Wide select(Expr condition, Wide x, Wide y) {
  return {terrazzo::expand::select(condition, x.high, y.high),
          terrazzo::expand::select(condition, x.low, y.low)};
}

Wide operator~(Wide x) { return {x.high ^ -1, x.low ^ -1}; }

/// A finite number: mantissa * 2^exponent, with 53 bits unless it is 0.
struct Parts {
  Expr mantissa, exponent;
};

Parts split(Expr x) {
  Expr bits = x.bits();
  Expr field = shiftRightUnsigned(bits, 52) & 0x7ff;
  Expr fraction = bits & ((int64_t(1) << 52) - 1);
  Expr isNormal = field > 0;
  Expr mantissa = select(isNormal, fraction | (int64_t(1) << 52), fraction);
  Expr shift = countLeadingZeros(mantissa) - 11;
  return {mantissa << shift, select(isNormal, field, 1) - 1075 - shift};
}

/// The f64 next to magnitude * 2^exponent, ties to even, as its bits. The
/// lowest bit of the magnitude may stand for what is below it.
Expr roundToDouble(Wide magnitude, Expr exponent) {
  Expr zero = exponent.like(0);
  Expr isLong = magnitude.high != zero;
  Expr top = select(isLong, magnitude.high, magnitude.low);
  Expr next = select(isLong, magnitude.low, zero);
  Expr shift = countLeadingZeros(top) & 63;
  Expr isInexact = (next << shift) != zero;
  top = (top << shift) |
        shiftRightUnsigned(shiftRightUnsigned(next, 1), shift ^ 63);
  // The exponent field that the leading bit asks for.
  Expr field = exponent + select(isLong, zero + 127, zero + 63) - shift + 1023;
  // The leading bit at 62, so that a carry has room.
  top = shiftRightUnsigned(top, 1) | (top & 1);
  top = select(isInexact, top | 1, top);
  Expr missing = 1 - field;
  Expr drop = select(missing > 0, missing, zero) + 10;
  Expr isTiny = drop > 63;
  top = select(isTiny, 1, top), drop = select(isTiny, 63, drop);
  Expr isOdd = shiftRightUnsigned(top, drop) & 1;
  Expr half = drop.like(1) << (drop - 1);
  Expr rounded = shiftRightUnsigned(top + half - 1 + isOdd, drop);
  // The leading bit of a normal number adds one to the field.
  Expr bits = ((select(field > 1, field, 1) - 1) << zero.like(52)) + rounded;
  return select(field < 2047, bits, int64_t(0x7ff) << 52);
}

/// The product of two f32 is an f64, and never too large or small for one. Its
/// sum with the third is rounded to odd: to a neighbour with an odd last bit
/// where it is inexact, after which rounding to f32 gives what rounding the
/// exact sum would (Boldo and Melquiond). What rounding to nearest lost is
/// Knuth's two-sum.
Expr expandFmaOfFloats(Expr a, Expr b, Expr c) {
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

Expr expandFmaOfDoubles(Expr a, Expr b, Expr c) {
  Parts x = split(a), y = split(b), z = split(c);
  auto [low, high] = multiplyExtended(x.mantissa, y.mantissa);
  // Leading bits at 124 or 125; the smaller one is moved to the other.
  Wide product = shiftLeft({high, low}, 20);
  Wide addend = {z.mantissa << z.mantissa.like(8), z.mantissa.like(0)};
  Expr productExponent = x.exponent + y.exponent - 20;
  Expr addendExponent = z.exponent - 72;
  Expr distance = addendExponent - productExponent;
  Expr isAddendLarger = distance > 0;
  product =
      select(isAddendLarger, shiftRightSticky(product, distance), product);
  addend = select(isAddendLarger, addend, shiftRightSticky(addend, -distance));
  Expr exponent = select(isAddendLarger, addendExponent, productExponent);

  Expr productSign = a.bits() ^ b.bits(), addendSign = c.bits();
  Expr isDifference = (productSign ^ addendSign) < 0;
  Wide one = {exponent.like(0), exponent.like(1)};
  Wide difference = add(add(product, ~addend), one);
  Wide sum = select(isDifference, difference, add(product, addend));
  Expr isAddendsSign = sum.high < 0;
  sum = select(isAddendsSign, add(~sum, one), sum);
  Expr sign =
      select(isAddendsSign, addendSign, productSign) & (uint64_t(1) << 63);
  Expr isZero = (sum.high | sum.low) == exponent.like(0);
  Expr bits = roundToDouble(sum, exponent) | sign;
  Expr value = select(isZero, 0, bits).asFloat(a.element());

  // Where a factor is 0 or something is infinite or NaN, nothing is rounded;
  // but the product of finite factors must not overflow.
  auto isFinite = [](Expr v) { return absolute(v) < v.like(HUGE_VAL); };
  Expr factorsFinite = isFinite(a) & isFinite(b), addendFinite = isFinite(c);
  Expr isPlain =
      factorsFinite & addendFinite & (a != a.like(0)) & (b != b.like(0));
  Expr special = select(factorsFinite & !addendFinite, 0.0, a * b) + c;
  return select(isPlain, value, special);
}
} // namespace

Expr terrazzo::expand::expandFma(Expr a, Expr b, Expr c) {
  return a.isF64() ? expandFmaOfDoubles(a, b, c) : expandFmaOfFloats(a, b, c);
}
