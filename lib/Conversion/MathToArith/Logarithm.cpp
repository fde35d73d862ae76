//===- Logarithm.cpp - log, log2, log10, log1p ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// log(x) = e ln 2 + log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)), so that e = 0
// around x = 1 and nothing cancels there. log(1 + f) is kept as f (exact) plus
// a tail. f32 evaluates the tail by a polynomial; f64, where that would take 20
// terms, by s = f / (2 + f), whose series has even powers only.

#include "Coefficients.h"
#include "Functions.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A multiple of the natural logarithm: the constant 1 / ln(base) and the
/// logarithm of 2, each as a sum of two numbers of the format.
struct Base {
  double factorHigh, factorLow, twoHigh, twoLow;
};
constexpr Base kNaturalF32 = {1, 0, 0x1.62e430p-1, -0x1.05c610p-29};
constexpr Base kNaturalF64 = {1, 0, 0x1.62e42fefa39efp-1,
                              0x1.abc9e3b39803fp-56};
constexpr Base kBinaryF32 = {0x1.715476p+0, 0x1.4ae0c0p-26, 1, 0};
constexpr Base kBinaryF64 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1, 0};
constexpr Base kDecimalF32 = {0x1.bcb7b2p-2, -0x1.5b235ep-27, 0x1.344136p-2,
                              -0x1.ec10c0p-27};
constexpr Base kDecimalF64 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57,
                              0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};

int64_t sqrtHalfBits(Expr x) {
  return x.isF64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
}

/// x = 2^e m, m in [sqrt(1/2), sqrt(2)), of a positive normal x: the bits of
/// 2^e relative to those of 1, and m.
std::pair<Expr, Expr> splitNormal(Expr x) {
  Expr shifted = x.bits() - sqrtHalfBits(x);
  int64_t mask = (int64_t(1) << x.mantissaBits()) - 1;
  Expr m = ((shifted & mask) + sqrtHalfBits(x)).asFloat(x.element());
  return {shifted & ~mask, m};
}

/// A small signed integer held in the exponent field as a float. f64 goes by
/// the magic number, because i64 -> f64 is not a vector instruction everywhere.
Expr exponentToFloat(Expr field, Type element) {
  if (!element.isF64())
    return (field >> 23).signedTo(element);
  Expr e = field >> 52;
  Expr magic = (e + e.like(int64_t(0x4338000000000000))).asFloat(element);
  return magic - 0x1.8p52;
}

/// log(1 + f) - f.
Expr logTail(Expr f) {
  using namespace coefficients;
  Expr square = f * f;
  if (!f.isF64())
    return square * fma(f, polynomial(f, logF32), -0.5);
  Expr s = f / (f + 2.0);
  Expr u = s * s;
  Expr half = square * 0.5;
  return fma(s, fma(u, polynomial(u, atanhF64), half), -half);
}

/// e log(2) + log(1 + f) in a base.
Expr combine(LogParts parts, const Base &base) {
  Expr f = parts.fraction, e = parts.exponent;
  Expr tail = logTail(f);
  if (base.factorHigh != 1) {
    // f * factor without the rounding error of the constant.
    tail = fma(f, base.factorLow, tail * base.factorHigh);
    if (base.twoLow != 0)
      tail = fma(e, base.twoLow, tail);
    return fma(e, base.twoHigh, fma(f, base.factorHigh, tail));
  }
  Expr low = fma(e, base.twoLow, tail);
  return fma(e, base.twoHigh, f + low);
}

/// The values at and outside the borders of the domain.
Expr finish(Expr x, Expr result) {
  Expr upper = select(x < kInfinity, result, x);
  return select(x > 0.0, upper,
                select(x == x.like(0.0), x.like(-kInfinity), kNaN));
}

Expr logarithm(Expr x, const Base &base) {
  return finish(x, combine(splitLog(x), base));
}
} // namespace

LogParts splitLog(Expr x) {
  int bits = x.mantissaBits();
  Expr denormal = x < choose(x, 0x1p-126, 0x1p-1022);
  Expr scaled =
      select(denormal, x * static_cast<double>(int64_t(1) << bits), x);
  auto [field, m] = splitNormal(scaled);
  Expr e = exponentToFloat(field, x.element());
  Expr lifted = e - static_cast<double>(bits);
  return {select(denormal, lifted, e), m - 1.0};
}

Expr expandLog(Expr x) {
  return logarithm(x, x.isF64() ? kNaturalF64 : kNaturalF32);
}
Expr expandLog2(Expr x) {
  return logarithm(x, x.isF64() ? kBinaryF64 : kBinaryF32);
}
Expr expandLog10(Expr x) {
  return logarithm(x, x.isF64() ? kDecimalF64 : kDecimalF32);
}

Expr expandLog1p(Expr x) {
  Expr u = x + 1.0;
  auto [field, m] = splitNormal(u);
  // f = (1 + x) 2^-e - 1 from x itself, for the sum u has lost x's low bits.
  // For x too large to matter beside 1, u has them all and 2^-e might
  // underflow.
  Expr one = x.like(1.0).bits();
  Expr inverse = (one - field).asFloat(x.element());
  Expr f = fma(x, inverse, inverse - 1.0);
  f = select(x > choose(x, 0x1p60, 0x1p60), m - 1.0, f);
  LogParts parts{exponentToFloat(field, x.element()), f};
  Expr result =
      finish(u, combine(parts, x.isF64() ? kNaturalF64 : kNaturalF32));
  return select(x == x.like(0.0), x, result);
}

} // namespace terrazzo::expand
