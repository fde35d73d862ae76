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

inline Half fmaHalf(Half a, Half b, Half c) {
  return toHalf(fmaToOdd(toFloat(a), toFloat(b), toFloat(c)));
}

template <class T>
inline float dot2(Packed<T> a, Packed<T> b, float c) {
  double sum = double(toFloat(a.lo)) * toFloat(b.lo) +
               double(toFloat(a.hi)) * toFloat(b.hi);
  return static_cast<float>(sum + c);
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_HALFFORMULAS_H
