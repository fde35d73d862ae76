//===- SmallFloat.cpp - f16 and bf16 as bits ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallFloat.h"

#include <bit>

namespace terrazzo::runtime {

/// Rounds the bits of a double to a format with `mantissa` stored mantissa bits
/// and exponents of 15 - mantissa bits.
static uint16_t roundTo(double value, int mantissa) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int bias = (1 << (14 - mantissa)) - 1;
  uint16_t sign = uint16_t(bits >> 63) << 15;
  uint16_t infinity = uint16_t((2 * bias + 1) << mantissa);
  int exponent = int(bits >> 52 & 0x7FF);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7FF) {
    // A NaN keeps its high bits and becomes quiet.
    uint16_t quiet = uint16_t(1) << (mantissa - 1);
    return sign | infinity |
           (fraction ? uint16_t(quiet | fraction >> (52 - mantissa)) : 0);
  }
  // All f64 subnormals are far below half of the smallest result.
  if (exponent == 0)
    return sign;
  fraction |= uint64_t(1) << 52;
  int target = exponent - 1023 + bias;
  if (target >= 2 * bias + 1)
    return sign | infinity;
  // The result is `fraction` shifted so that its unit is the last place.
  int shift = 52 - mantissa + (target <= 0 ? 1 - target : 0);
  if (shift > 54)
    return sign;
  uint64_t kept = fraction >> shift;
  uint64_t lost = fraction & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (lost > half || (lost == half && (kept & 1)))
    ++kept;
  // The leading one of a normal number adds one to the exponent field; a carry
  // out of the mantissa, up to infinity, does the right thing too.
  uint64_t field = target <= 0 ? 0 : uint64_t(target - 1);
  return sign | uint16_t((field << mantissa) + kept);
}

uint16_t roundToF16(double value) { return roundTo(value, 10); }
uint16_t roundToBF16(double value) { return roundTo(value, 7); }

float extendF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits >> 15) << 31;
  uint32_t exponent = bits >> 10 & 31;
  uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {
    // Exact: a small integer times a power of two.
    float magnitude = float(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  uint32_t field = exponent == 31 ? 255 : exponent + 112;
  // A signalling NaN becomes quiet, as the hardware does it.
  uint32_t quiet = exponent == 31 && fraction ? 1u << 22 : 0;
  return std::bit_cast<float>(sign | field << 23 | quiet | fraction << 13);
}

float extendBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

} // namespace terrazzo::runtime
