//===- Matrix.h - Shapes of matrix instructions -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_MATRIX_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_MATRIX_H

#include <cstdint>

namespace terrazzo::amdsim {

enum class Element : uint8_t {
  F16,
  BF16,
  F32,
  /// f32 of which the unit takes 10 bits of mantissa.
  XF32,
  F64,
  I8,
  /// Signed where neg_lo says so.
  IU8,
  /// The chip's 8-bit floats: 4 bits of exponent, or 5.
  Fp8,
  Bf8,
  I32,
};

/// Where a lane's registers lie in the matrices.
enum class MatrixLayout : uint8_t { Mfma, WmmaGfx11, WmmaGfx12 };

struct MatrixShape {
  uint8_t m, n, k, blocks;
  Element a, b, d;
  MatrixLayout layout;
};

/// 8-bit floats. FNUZ: no infinity, NaN in place of -0, a bias larger by one.
float decodeFloat8(uint8_t bits, bool isBf8, bool isFnuz);
/// To nearest; what is too large becomes the largest, or with OCP's e5m2
/// infinity when it does not saturate.
uint8_t encodeFloat8(float value, bool isBf8, bool isFnuz);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_MATRIX_H
