//===- FloatFormulas.h - Arithmetic of one lane -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas of AMD's ISA documents ("CDNA 3" and "RDNA 3/4" Instruction Set
// Architecture, chapter "Instructions").
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_FLOATFORMULAS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_FLOATFORMULAS_H

#include "SmallFloats.h"

#include <limits>

namespace terrazzo::amdsim {

/// The smaller; a NaN only if both are; -0 is less than +0.
template <class T>
inline T minNum(T a, T b) {
  T less = a < b ? a : b;
  // Equal values may be zeros of two signs: the sign bits are joined.
  T signedZero = std::signbit(a) ? a : b;
  T result = a == b ? signedZero : less;
  result = __builtin_isnan(b) ? a : result;
  return __builtin_isnan(a) ? b : result;
}

template <class T>
inline T maxNum(T a, T b) {
  T more = a > b ? a : b;
  T signedZero = std::signbit(a) ? b : a;
  T result = a == b ? signedZero : more;
  result = __builtin_isnan(b) ? a : result;
  return __builtin_isnan(a) ? b : result;
}

/// As minNum, but a NaN if either is (v_minimum of gfx12).
template <class T>
inline T minimum(T a, T b) {
  T result = minNum(a, b);
  result = __builtin_isnan(a) ? a : result;
  return !__builtin_isnan(a) && __builtin_isnan(b) ? b : result;
}

template <class T>
inline T maximum(T a, T b) {
  T result = maxNum(a, b);
  result = __builtin_isnan(a) ? a : result;
  return !__builtin_isnan(a) && __builtin_isnan(b) ? b : result;
}

template <class T>
inline T median(T a, T b, T c) {
  T least = minNum(minNum(a, b), c);
  if (__builtin_isnan(a) || __builtin_isnan(b) || __builtin_isnan(c))
    return least;
  T most = maxNum(maxNum(a, b), c);
  if (most == a)
    return maxNum(b, c);
  return most == b ? maxNum(a, c) : maxNum(a, b);
}

/// What transcendental instructions make of denormals, whatever the mode.
inline float flushed(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

template <class T>
inline int biasedExponent(T value) {
  if constexpr (sizeof(T) == 4)
    return int(std::bit_cast<uint32_t>(value) >> 23 & 0xff);
  else
    return int(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff);
}

template <class T>
inline bool isDenormal(T value) {
  return biasedExponent(value) == 0 && value != T(0);
}

/// The first step of a division of `c` by `b`: scales one of them, `a`, so that
/// no step over- or underflows, and says whether the quotient is scaled.
template <class T>
inline T divScale(T a, T b, T c, bool &isScaled) {
  constexpr bool kIsFloat = sizeof(T) == 4;
  constexpr int kScale = kIsFloat ? 64 : 128;
  constexpr int kFar = kIsFloat ? 96 : 768;
  constexpr int kSmall = kIsFloat ? 23 : 53;
  isScaled = false;
  if (b == T(0) || c == T(0))
    return std::numeric_limits<T>::quiet_NaN();
  if (biasedExponent(c) - biasedExponent(b) >= kFar) {
    isScaled = true;
    return a == b ? std::ldexp(a, kScale) : a;
  }
  if (isDenormal(b))
    return std::ldexp(a, kScale);
  bool smallInverse = isDenormal(T(1) / b), smallQuotient = isDenormal(c / b);
  if (smallInverse && smallQuotient) {
    // The documents have the sign of this exponent the other way, by which
    // 1 / 0x1p127 would be infinite.
    isScaled = true;
    return a == b ? std::ldexp(a, -kScale) : a;
  }
  if (smallInverse)
    return std::ldexp(a, -kScale);
  if (smallQuotient) {
    isScaled = true;
    return a == c ? std::ldexp(a, kScale) : a;
  }
  return biasedExponent(c) <= kSmall ? std::ldexp(a, kScale) : a;
}

/// a * b + c with the last bit odd where it is inexact: rounded again to a
/// narrower format, it gives what one rounding would. The product must be exact
/// in a double.
inline double fmaToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error != 0.0 && std::isfinite(sum) && !(bits & 1))
    bits += (error > 0.0) == (sum > 0.0) ? 1 : ~uint64_t(0);
  return std::bit_cast<double>(bits);
}

/// The last product of a division, with divScale's scaling undone before the
/// result is rounded.
template <class T>
inline T divFmas(T a, T b, T c, bool isScaled) {
  if (!isScaled)
    return std::fma(a, b, c);
  bool isLarge = std::fabs(c) >= T(2);
  if constexpr (sizeof(T) == 4)
    return static_cast<float>(
        std::ldexp(fmaToOdd(a, b, c), isLarge ? 64 : -64));
  else
    return std::ldexp(std::fma(a, b, c), isLarge ? 128 : -128);
}

/// The quotient `a` of `c` by `b`, with the special cases put right.
template <class T>
inline T divFixup(T a, T b, T c) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr int kTiny = sizeof(T) == 4 ? -150 : -1075;
  T sign = std::signbit(b) != std::signbit(c) ? T(-1) : T(1);
  if (__builtin_isnan(c))
    return c;
  if (__builtin_isnan(b))
    return b;
  bool infiniteB = std::fabs(b) == kInfinity;
  bool infiniteC = std::fabs(c) == kInfinity;
  if ((b == T(0) && c == T(0)) || (infiniteB && infiniteC))
    return -std::numeric_limits<T>::quiet_NaN();
  if (b == T(0) || infiniteC)
    return std::copysign(kInfinity, sign);
  if (infiniteB || c == T(0) || biasedExponent(c) - biasedExponent(b) < kTiny)
    return std::copysign(T(0), sign);
  // Finite operands have no NaN as quotient: the steps before ran over.
  return std::copysign(__builtin_isnan(a) ? kInfinity : a, sign);
}

/// In revolutions, as v_sin and v_cos count.
inline float sinOfTurns(float turns) {
  double part = double(turns) - std::floor(double(turns));
  return static_cast<float>(std::sin(part * 6.283185307179586));
}
inline float cosOfTurns(float turns) {
  double part = double(turns) - std::floor(double(turns));
  return static_cast<float>(std::cos(part * 6.283185307179586));
}

/// The part below the point, always less than 1.
template <class T>
inline T fraction(T value) {
  T part = value - std::floor(value);
  constexpr T kMost =
      sizeof(T) == 4 ? T(0x1.fffffep-1) : T(0x1.fffffffffffffp-1);
  return part > kMost ? kMost : part;
}

template <class T>
inline int32_t frexpExponent(T value) {
  int exponent = 0;
  if (std::isfinite(value) && value != T(0))
    (void)std::frexp(value, &exponent);
  return exponent;
}

template <class T>
inline T frexpMantissa(T value) {
  int exponent = 0;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}

/// Towards zero; what does not fit becomes the nearest that does, NaN 0.
template <class To, class From>
inline To truncateTo(From value) {
  using Limits = std::numeric_limits<To>;
  if (__builtin_isnan(value))
    return 0;
  double wide = value;
  if (wide <= static_cast<double>(Limits::min()))
    return Limits::min();
  if (wide >= static_cast<double>(Limits::max()))
    return Limits::max();
  return static_cast<To>(wide);
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_FLOATFORMULAS_H
