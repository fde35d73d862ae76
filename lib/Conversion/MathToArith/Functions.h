//===- Functions.h - One formula a function ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Arguments and results are f32 or f64 (scalar, vector or tensor) unless said
// otherwise. docs/Rationale/Math.md has the error bounds.
#ifndef TERRAZZO_LIB_CONVERSION_MATHTOARITH_FUNCTIONS_H
#define TERRAZZO_LIB_CONVERSION_MATHTOARITH_FUNCTIONS_H

#include "Expr.h"

namespace terrazzo::expand {

// Exponential.cpp
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
/// The coefficients of a polynomial times `factor`.
llvm::SmallVector<double> scaled(llvm::ArrayRef<double> coefficients,
                                 double factor);
/// exp(x) = mantissa * 2^n; `exponent` holds n + offset in its low bits.
struct ExpParts {
  Expr mantissa;
  Expr exponent;
};
/// For |x| small enough that n + offset fits; NaN gives a NaN mantissa.
ExpParts splitExp(Expr x, int64_t offset);
/// mantissa * 2^n by one multiplication; n + bias, which the offset must be,
/// has to be the exponent of a normal number.
Expr scaleOnce(Expr mantissa, Expr exponent);
/// mantissa * 2^n by two multiplications, right down to denormal results; the
/// offset must be twice the bias.
Expr scaleTwice(Expr mantissa, Expr exponent);
/// n = round(x * factor), as a float and, plus `offset`, as low bits.
std::pair<Expr, Expr> roundProduct(Expr x, double factor, int64_t offset);
Expr expandExp(Expr x);
Expr expandExp2(Expr x);
Expr expandExpm1(Expr x);
/// exp(x) * 2^-1 and expm1(x) * 2^-1, which do not overflow before sinh does.
Expr halfExp(Expr x);
Expr halfExpm1(Expr x);

// Logarithm.cpp
/// x = 2^exponent * (1 + fraction), sqrt(1/2) <= 1 + fraction < sqrt(2), for
/// positive finite x, denormal ones too.
struct LogParts {
  Expr exponent;
  Expr fraction;
};
LogParts splitLog(Expr x);
Expr expandLog(Expr x);
Expr expandLog2(Expr x);
Expr expandLog10(Expr x);
Expr expandLog1p(Expr x);

// Power.cpp
Expr expandPow(Expr x, Expr y);
Expr expandCbrt(Expr x);
Expr expandRsqrt(Expr x);

// Hyperbolic.cpp
Expr expandTanh(Expr x);
Expr expandSinh(Expr x);
Expr expandCosh(Expr x);
Expr expandAsinh(Expr x);
Expr expandAcosh(Expr x);
Expr expandAtanh(Expr x);

// ErrorFunction.cpp
Expr expandErf(Expr x);
Expr expandErfc(Expr x);

// Trigonometry.cpp, ArgumentReduction.cpp
/// x = quadrant * pi/2 + rest (low two bits of quadrant count), |rest| <=
/// ~pi/4.
struct Quadrant {
  Expr rest;
  Expr quadrant;
};
Quadrant reduceToQuadrant(Expr x);
/// The same for finite |x| >= 2^17 (f32) or 2^27 (f64), by the bits of 2/pi.
Quadrant reduceLarge(Expr x);
Expr expandSin(Expr x);
Expr expandCos(Expr x);
Expr expandTan(Expr x);
std::pair<Expr, Expr> expandSinCos(Expr x);

// InverseTrigonometry.cpp
Expr expandAtan(Expr x);
Expr expandAtan2(Expr y, Expr x);
Expr expandAsin(Expr x);
Expr expandAcos(Expr x);

// Remainder.cpp
/// C's fmod: exact, the sign of x.
Expr expandRemainder(Expr x, Expr y);

// FusedMultiplyAdd.cpp
/// fma of f32 or f64, rounded once. That of f64 is some 150 operations.
Expr expandFma(Expr a, Expr b, Expr c);

// Rounding.cpp
/// To an integer of f32 or f64, exact as the instructions are.
Expr expandFloor(Expr x);
Expr expandCeil(Expr x);
Expr expandTrunc(Expr x);
/// Ties away from zero.
Expr expandRound(Expr x);
Expr expandRoundEven(Expr x);

// NarrowFloats.cpp
/// Whether the type is a float below f32 that this folder knows.
bool isNarrowFloat(mlir::Type element);
/// Whether conversion between f32 and this type needs code.
bool needsConversion(mlir::Type element, const ExpandMathTarget &target);
/// Any float format to a wider one; exact.
Expr widen(Expr x, mlir::Type element);
/// Any float format to a narrower one in one rounding, to nearest even or
/// towards zero. Overflow gives the format's infinity, or NaN where it has
/// none.
Expr narrow(Expr x, mlir::Type element, bool towardZero = false);

// NarrowArithmetic.cpp
/// The replacement of an arith or math op on narrow floats, or null.
mlir::Value expandNarrow(mlir::Operation *op, Emitter &emitter);

// ExpandMath.cpp
/// The replacement of a math op on f32 or f64 operands, or null when the op is
/// native.
mlir::Value expandWide(mlir::Operation *op, mlir::ValueRange operands,
                       Emitter &emitter);

} // namespace terrazzo::expand

#endif // TERRAZZO_LIB_CONVERSION_MATHTOARITH_FUNCTIONS_H
