//===- MathToArith.h - Elementary functions as arithmetic -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The device maths of every target: `math` ops, conversions that hardware
// lacks, arithmetic on 16-bit floats and the float remainder become `arith`
// ops, so that no compiled kernel calls a library. The same polynomials run on
// each target, so strict mode gives the same bits everywhere.
// docs/Rationale/Math.md has the error bounds of every function.
#ifndef TERRAZZO_CONVERSION_MATHTOARITH_H
#define TERRAZZO_CONVERSION_MATHTOARITH_H

#include "mlir/IR/PatternMatch.h"

namespace terrazzo {

/// What the hardware does by itself; the expansion leaves such ops alone.
struct ExpandMathTarget {
  /// f32 -> bf16 rounds in hardware (AVX512-BF16, sm_80, gfx950).
  bool bf16Conversions = false;
  /// f16 <-> f32 converts in hardware (F16C and every GPU).
  bool f16Conversions = true;
  /// f16 arithmetic and comparison run in hardware (AVX512-FP16, GPUs).
  bool f16Arithmetic = false;
  /// fma is an instruction (FMA and every GPU).
  bool fma = true;
  /// Rounding to integers is an instruction (SSE4.1 and every GPU).
  bool rounding = true;
  /// f32 exp2, log2, rsqrt and division are instructions of a few ulp (every
  /// GPU). Those stay, exp and log are made of them, and divisions that need
  /// not be correctly rounded are marked by kApproximateAttr.
  bool approximate = false;
  /// The minimum and maximum that pass over NaN (maxnumf) are made of
  /// comparisons beside f16, in which LLVM would do them if they came from
  /// there, one call of fmaxf an element (x86).
  bool selectMinMax = false;
};

/// Unit attribute of an `arith.divf` that may be off by a few ulp.
inline constexpr llvm::StringLiteral kApproximateAttr = "tile.approximate";
/// Unit attribute of an `arith.divf` that the user wants correctly rounded.
inline constexpr llvm::StringLiteral kExactAttr = "tile.exact";

/// Adds the patterns behind `tz-expand-math`. Each pattern rewrites one op into
/// ops that no pattern matches again.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns,
                                const ExpandMathTarget &target = {});

} // namespace terrazzo

#endif // TERRAZZO_CONVERSION_MATHTOARITH_H
