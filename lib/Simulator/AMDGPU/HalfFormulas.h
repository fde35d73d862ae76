//===- HalfFormulas.h - Arithmetic of 16-bit floats -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_HALFFORMULAS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_HALFFORMULAS_H

#include "FloatFormulas.h"
#include "Lanes.h"

namespace terrazzo::amdsim {

/// The product of two halves is exact in a double; the sum's rounding error is
/// kept in its last bit, so that rounding it again gives what one would.
inline Half fmaHalf(Half a, Half b, Half c) {
  double product = double(toFloat(a)) * double(toFloat(b));
  double addend = toFloat(c);
  double sum = product + addend;
  double part = sum - product;
  double error = (product - (sum - part)) + (addend - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error != 0.0 && std::isfinite(sum) && !(bits & 1))
    bits += (error > 0.0) == (sum > 0.0) ? 1 : ~uint64_t(0);
  return toHalf(std::bit_cast<double>(bits));
}

template <class T>
inline float dot2(Packed<T> a, Packed<T> b, float c) {
  double sum = double(toFloat(a.lo)) * toFloat(b.lo) +
               double(toFloat(a.hi)) * toFloat(b.hi);
  return static_cast<float>(sum + c);
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_HALFFORMULAS_H
