//===- SmallFloats.h - 16-bit floats as lanes have them ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions without branches, so that loops over lanes become vectors. All
// round to nearest, ties to even.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_SMALLFLOATS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_SMALLFLOATS_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace terrazzo::amdsim {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

inline float toFloat(Half half) {
  uint32_t sign = uint32_t(half.bits & 0x8000) << 16;
  uint32_t magnitude = half.bits & 0x7fff;
  // Normal numbers: the exponent is moved by 112. Denormals: an integer times
  // 2^-24, which a float holds exactly. Infinity and NaN: exponent of all ones.
  uint32_t normal = (magnitude << 13) + (112u << 23);
  float denormal =
      static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
  uint32_t special = (magnitude << 13) | 0x7f800000;
  uint32_t result = magnitude < 0x400
                        ? std::bit_cast<uint32_t>(denormal)
                        : (magnitude >= 0x7c00 ? special : normal);
  return std::bit_cast<float>(result | sign);
}

inline float toFloat(BFloat value) {
  return std::bit_cast<float>(uint32_t(value.bits) << 16);
}
inline float toFloat(float value) { return value; }

inline Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t odd = (magnitude >> 13) & 1;
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + odd) >> 13;
  // Adding 0.5 puts a denormal's bits in the last places of the sum, rounded.
  float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  uint32_t denormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000;
  uint32_t nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  uint32_t result = magnitude < 0x38800000 ? denormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? nan : result;
  return {static_cast<uint16_t>(result | sign)};
}

/// A double that rounds to a float as it would to any format that has at least
/// two bits less: inexact results get an odd last bit.
inline float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (back == value || std::isnan(value) || (bits & 1))
    return nearest;
  // The neighbour on the other side of the value.
  bool isAway = std::fabs(back) < std::fabs(value);
  bits = isAway ? bits + 1 : bits - 1;
  return std::bit_cast<float>(bits);
}

inline Half toHalf(double value) { return toHalf(roundToOdd(value)); }

inline BFloat toBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  uint32_t result = (bits & 0x7fffffff) > 0x7f800000 ? nan : rounded;
  return {static_cast<uint16_t>(result)};
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_SMALLFLOATS_H
