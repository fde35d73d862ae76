//===- Float8.cpp - 8-bit floats ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

#include <cmath>
#include <limits>

using namespace terrazzo::amdsim;

float terrazzo::amdsim::decodeFloat8(uint8_t bits, bool isBf8, bool isFnuz) {
  int mantissaBits = isBf8 ? 2 : 3;
  int bias = (isBf8 ? 15 : 7) + isFnuz;
  int most = isBf8 ? 31 : 15;
  int exponent = (bits & 0x7f) >> mantissaBits;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  float sign = bits & 0x80 ? -1.0f : 1.0f;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (isFnuz) {
    if (bits == 0x80)
      return kNan;
  } else if (isBf8 && exponent == most) {
    return mantissa ? kNan : sign * std::numeric_limits<float>::infinity();
  } else if (!isBf8 && (bits & 0x7f) == 0x7f) {
    return kNan;
  }
  if (exponent == 0)
    return sign * std::ldexp(float(mantissa), 1 - bias - mantissaBits);
  return sign * std::ldexp(float(mantissa + (1 << mantissaBits)),
                           exponent - bias - mantissaBits);
}

uint8_t terrazzo::amdsim::encodeFloat8(float value, bool isBf8, bool isFnuz) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return isFnuz ? 0x80 : uint8_t(sign | 0x7f);
  // The largest finite value: all ones, less what stands for NaN and infinity.
  uint8_t largest = isFnuz ? 0x7f : (isBf8 ? 0x7b : 0x7e);
  float magnitude = std::fabs(value);
  // The values grow with their bits, so the nearest is found by halving.
  unsigned low = 0, high = largest;
  if (magnitude >= decodeFloat8(largest, isBf8, isFnuz)) {
    low = largest;
  } else {
    while (high - low > 1) {
      unsigned middle = (low + high) / 2;
      if (decodeFloat8(uint8_t(middle), isBf8, isFnuz) <= magnitude)
        low = middle;
      else
        high = middle;
    }
    float below = magnitude - decodeFloat8(uint8_t(low), isBf8, isFnuz);
    float above = decodeFloat8(uint8_t(high), isBf8, isFnuz) - magnitude;
    if (above < below || (above == below && (low & 1)))
      low = high;
  }
  if (isFnuz && low == 0)
    return 0;
  return uint8_t(sign | low);
}
