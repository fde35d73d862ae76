//===- NarrowFloats.cpp - Conversions of 8- and 16-bit floats -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One description a format and one formula for all of them. Narrowing rounds
// once: f64 goes by an f32 rounded to odd (the last bit is set when anything
// was lost), from which rounding to any format of at most 22 bits gives what
// rounding the f64 would (Boldo and Melquiond).

#include "Functions.h"

using namespace mlir;

namespace terrazzo::expand {

namespace {
/// A sign-magnitude float format. Codes are magnitudes, without the sign bit.
struct Format {
  int bits, mantissaBits, bias;
  /// The largest finite code, the code that overflow gives, the one that NaN
  /// gives.
  int largest, overflow, nan;
  /// No negative zero; the code of "-0" is the only NaN.
  bool unsignedZero;
  bool hasInfinity() const {
    return overflow == largest + 1 && overflow != nan;
  }
};

Format describe(Type type) {
  if (isa<Float8E5M2Type>(type))
    return {8, 2, 15, 0x7b, 0x7c, 0x7e, false};
  if (isa<Float8E4M3FNType>(type))
    return {8, 3, 7, 0x7e, 0x7e, 0x7f, false}; // saturates, infinity too
  if (isa<Float8E5M2FNUZType>(type))
    return {8, 2, 16, 0x7f, 0x80, 0x80, true};
  if (isa<Float8E4M3FNUZType>(type))
    return {8, 3, 8, 0x7f, 0x80, 0x80, true};
  assert(type.isF16() && "a format of this file");
  return {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, false};
}

constexpr int kF32Mantissa = 23, kF32Bias = 127;
constexpr int64_t kF32Infinity = 0x7f800000;

Type f32(Expr x) { return x.builder().getF32Type(); }

/// The bits, shifted up, are those of an f32.
Expr widenBF16(Expr x) {
  return (x.bits().resizeUnsigned(32) << 16).asFloat(f32(x));
}

Expr widenToF32(Expr x) {
  Type type = x.element();
  const ExpandMathTarget &target = x.emitter().target;
  if (type.isBF16())
    return widenBF16(x);
  if (type.isF16() && target.f16Conversions)
    return x.extendTo(f32(x));
  if (isa<Float8E5M2Type>(type) && target.f16Conversions) {
    // The upper half of an f16.
    Expr half =
        (x.bits().resizeUnsigned(16) << 8).asFloat(x.builder().getF16Type());
    return half.extendTo(f32(x));
  }
  Format format = describe(type);
  Expr code = x.bits().resizeUnsigned(32);
  Expr sign = (code << (32 - format.bits)) & int64_t(0x80000000);
  Expr magnitude = code & ((int64_t(1) << (format.bits - 1)) - 1);
  int shift = kF32Mantissa - format.mantissaBits;
  Expr normal =
      (magnitude << shift) + (int64_t(kF32Bias - format.bias) << kF32Mantissa);
  Expr denormal = (magnitude.signedTo(f32(x)) *
                   std::ldexp(1.0, 1 - format.bias - format.mantissaBits))
                      .bits();
  Expr result =
      select(magnitude < (int64_t(1) << format.mantissaBits), denormal, normal);
  if (format.unsignedZero)
    return select(code == code.like(int64_t(format.nan)), int64_t(0x7fc00000),
                  result | sign)
        .asFloat(f32(x));
  if (format.hasInfinity()) {
    // Infinity and NaN keep their mantissa and get the exponent.
    Expr special = (magnitude << shift) | kF32Infinity;
    result = select(magnitude >= int64_t(format.overflow), special, result);
  } else {
    result = select(magnitude == magnitude.like(int64_t(format.nan)),
                    int64_t(0x7fc00000), result);
  }
  return (result | sign).asFloat(f32(x));
}

/// f64 to f32, towards zero.
Expr truncateF64(Expr x) {
  Expr rounded = x.truncateTo(f32(x));
  Expr above = absolute(rounded.extendTo(x.element())) > absolute(x);
  Expr bits = rounded.bits();
  return select(above, bits - 1, bits).asFloat(f32(x));
}

/// f64 to f32, exact or with an odd last bit.
Expr roundToOdd(Expr x) {
  Expr truncated = truncateF64(x);
  // NaN compares unequal too, but its last bit does not matter.
  Expr inexact = truncated.extendTo(x.element()) != x;
  Expr bits = truncated.bits();
  return select(inexact, bits | 1, bits).asFloat(f32(x));
}

/// The code of |x| rounded to nearest even, still 32 bits wide, not yet checked
/// for overflow; `magnitude` is the bits of |x|.
Expr roundCode(Expr magnitude, const Format &format) {
  int shift = kF32Mantissa - format.mantissaBits;
  Expr odd = shiftRightUnsigned(magnitude, shift) & 1;
  Expr rounded = magnitude + ((int64_t(1) << (shift - 1)) - 1) + odd;
  Expr normal = shiftRightUnsigned(rounded, shift) -
                (int64_t(kF32Bias - format.bias) << format.mantissaBits);
  // A denormal is a multiple of one step; adding the number whose last place
  // that is makes the adder round.
  Expr asFloat = magnitude.asFloat(f32(magnitude));
  double magic =
      std::ldexp(1.0, 1 - format.bias - format.mantissaBits + kF32Mantissa);
  Expr denormal = (asFloat + magic).bits() - asFloat.like(magic).bits();
  int64_t smallestNormal = int64_t(kF32Bias + 1 - format.bias) << kF32Mantissa;
  return select(magnitude < smallestNormal, denormal, normal);
}

/// The code of |x| rounded towards zero.
Expr truncateCode(Expr magnitude, const Format &format) {
  int shift = kF32Mantissa - format.mantissaBits;
  Expr normal = shiftRightUnsigned(magnitude, shift) -
                (int64_t(kF32Bias - format.bias) << format.mantissaBits);
  Expr steps = magnitude.asFloat(f32(magnitude)) *
               std::ldexp(1.0, format.bias + format.mantissaBits - 1);
  int64_t smallestNormal = int64_t(kF32Bias + 1 - format.bias) << kF32Mantissa;
  Expr small = magnitude < smallestNormal;
  Expr bounded = select(small, steps, 0.0);
  Expr denormal(magnitude.emitter(),
                arith::FPToSIOp::create(magnitude.builder(), magnitude.type(),
                                        bounded.get()));
  return select(small, denormal, normal);
}

/// f32 to bf16 without taking the sign apart: a carry out of the mantissa goes
/// to the exponent, and only a NaN could carry on into the sign.
Expr narrowBF16(Expr x, bool towardZero) {
  Expr bits = x.bits();
  Expr upper = shiftRightUnsigned(bits, 16);
  Expr code = upper;
  if (!towardZero)
    code = shiftRightUnsigned(bits + 0x7fff + (upper & 1), 16);
  code = select(isNaN(x), upper | 0x40, code);
  return code.resizeUnsigned(16).asFloat(x.builder().getBF16Type());
}

/// f32 to a narrow format in integer arithmetic.
Expr narrowBits(Expr x, Type element, bool towardZero) {
  if (element.isBF16())
    return narrowBF16(x, towardZero);
  Format format = describe(element);
  Expr bits = x.bits();
  Expr magnitude = bits & int64_t(0x7fffffff);
  Expr code = towardZero ? truncateCode(magnitude, format)
                         : roundCode(magnitude, format);
  int64_t tooLarge = towardZero ? format.largest : format.overflow;
  code = select(code > int64_t(format.largest), tooLarge, code);
  if (towardZero)
    code = select(magnitude == magnitude.like(kF32Infinity),
                  int64_t(format.overflow), code);
  Expr nan = magnitude > kF32Infinity;
  // The f32's payload survives where there is room, as hardware has it.
  if (format.bits == 16)
    code = select(
        nan,
        (shiftRightUnsigned(magnitude, kF32Mantissa - format.mantissaBits) &
         ((int64_t(1) << format.mantissaBits) - 1)) |
            int64_t(format.nan),
        code);
  else
    code = select(nan, int64_t(format.nan), code);
  Expr sign = shiftRightUnsigned(bits, 32 - format.bits) &
              (int64_t(1) << (format.bits - 1));
  Expr whole = code | sign;
  if (format.unsignedZero)
    whole = select((code & 0x7f) == code.like(0), code, whole);
  return whole.resizeUnsigned(format.bits).asFloat(element);
}

/// Whether one op does the conversion from f32.
bool isNative(Type element, const ExpandMathTarget &target) {
  return (element.isF16() && target.f16Conversions) ||
         (element.isBF16() && target.bf16Conversions);
}
} // namespace

bool isNarrowFloat(Type element) {
  return element.isF16() || element.isBF16() ||
         isa<Float8E5M2Type, Float8E4M3FNType, Float8E5M2FNUZType,
             Float8E4M3FNUZType>(element);
}

bool needsConversion(Type element, const ExpandMathTarget &target) {
  return isNarrowFloat(element) && !isNative(element, target);
}

Expr widen(Expr x, Type element) {
  if (x.element() == element)
    return x;
  Expr wide = isNarrowFloat(x.element()) ? widenToF32(x) : x;
  // Every number of an 8-bit format is a number of both 16-bit ones.
  if (isNarrowFloat(element))
    return narrow(wide, element);
  return wide.extendTo(element);
}

Expr narrow(Expr x, Type element, bool towardZero) {
  if (x.element() == element)
    return x;
  if (isNarrowFloat(x.element()))
    x = widenToF32(x);
  if (x.isF64() && element.isF32())
    return towardZero ? truncateF64(x) : x.truncateTo(element);
  if (x.isF64())
    x = roundToOdd(x);
  if (!towardZero && isNative(element, x.emitter().target))
    return x.truncateTo(element);
  return narrowBits(x, element, towardZero);
}

} // namespace terrazzo::expand
