//===- Expr.h - Formulas that emit arith ops --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Lets an expansion read like its formula: `fma(n, -kLn2High, x)` emits one
// math.fma on whatever shape x has (scalar, vector or tensor), and literals
// become (splat) constants of the same type. No fast-math flag is ever set:
// error-free transformations in the formulas must survive the backend.
#ifndef TERRAZZO_LIB_CONVERSION_MATHTOARITH_EXPR_H
#define TERRAZZO_LIB_CONVERSION_MATHTOARITH_EXPR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "terrazzo/Conversion/MathToArith.h"

namespace terrazzo::expand {

/// Where an expansion emits, and the constants it has emitted so far. Constants
/// are shared within a block: blocks are walked in order, so an earlier
/// constant dominates.
struct Emitter {
  Emitter(mlir::ImplicitLocOpBuilder builder, const ExpandMathTarget &target)
      : builder(builder), target(target) {}

  mlir::Value constant(mlir::Type type, mlir::Attribute element);

  mlir::ImplicitLocOpBuilder builder;
  const ExpandMathTarget &target;
  /// Only for a walk in block order; patterns may run in any order.
  bool shareConstants = false;

private:
  llvm::DenseMap<std::tuple<mlir::Block *, mlir::Type, mlir::Attribute>,
                 mlir::Value>
      constants;
};

/// A literal of either kind; it takes the element type of its partner.
struct Literal {
  Literal(double value) : isFloat(true), real(value) {}
  Literal(int value) : isFloat(false), integer(value) {}
  Literal(int64_t value) : isFloat(false), integer(value) {}
  Literal(uint64_t value)
      : isFloat(false), integer(static_cast<int64_t>(value)) {}
  bool isFloat;
  double real = 0;
  int64_t integer = 0;
};

/// A value with the operators of its element type; integers are signless, their
/// signed operations are the operators and the unsigned ones have names.
class Expr {
public:
  Expr(Emitter &emitter, mlir::Value value) : emit(&emitter), value(value) {}

  mlir::Value get() const { return value; }
  Emitter &emitter() const { return *emit; }
  mlir::ImplicitLocOpBuilder &builder() const { return emit->builder; }
  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  bool isF64() const { return element().isF64(); }
  /// Bits of an element; an index counts as 64.
  unsigned width() const {
    return mlir::isa<mlir::IndexType>(element())
               ? 64
               : element().getIntOrFloatBitWidth();
  }
  /// Bits of the stored mantissa (23 or 52).
  int mantissaBits() const;
  /// Exponent bias (127 or 1023).
  int64_t bias() const;

  /// `literal` in this value's type.
  Expr like(Literal literal) const;
  /// This value's type with another element type.
  mlir::Type typeWith(mlir::Type element) const;
  mlir::Type typeWithWidth(unsigned bits) const;

  /// The bits of a float as an integer of the same width.
  Expr bits() const;
  /// An integer's bits as a float of `element`.
  Expr asFloat(mlir::Type element) const;
  /// Integer resize: zero extension or truncation.
  Expr resizeUnsigned(unsigned bits) const;
  Expr resizeSigned(unsigned bits) const;
  /// Float resize through arith.extf / truncf; only between native formats.
  Expr extendTo(mlir::Type element) const;
  Expr truncateTo(mlir::Type element) const;
  /// Integer to float.
  Expr signedTo(mlir::Type element) const;
  Expr unsignedTo(mlir::Type element) const;

private:
  Emitter *emit;
  mlir::Value value;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
/// Float only: integer division is never emitted.
Expr operator/(Expr a, Expr b);
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator<<(Expr a, Expr b);
/// Arithmetic shift.
Expr operator>>(Expr a, Expr b);
Expr operator-(Expr a);
/// Not, for i1.
Expr operator!(Expr a);

/// Ordered comparisons for floats, signed ones for integers.
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
/// Unordered or not equal.
Expr operator!=(Expr a, Expr b);

#define TERRAZZO_EXPR_LITERAL(op)                                              \
  inline Expr operator op(Expr a, Literal b) { return a op a.like(b); }        \
  inline Expr operator op(Literal a, Expr b) { return b.like(a) op b; }
TERRAZZO_EXPR_LITERAL(+)
TERRAZZO_EXPR_LITERAL(-)
TERRAZZO_EXPR_LITERAL(*)
TERRAZZO_EXPR_LITERAL(/)
TERRAZZO_EXPR_LITERAL(&)
TERRAZZO_EXPR_LITERAL(|)
TERRAZZO_EXPR_LITERAL(^)
TERRAZZO_EXPR_LITERAL(<<)
TERRAZZO_EXPR_LITERAL(>>)
TERRAZZO_EXPR_LITERAL(<)
TERRAZZO_EXPR_LITERAL(<=)
TERRAZZO_EXPR_LITERAL(>)
TERRAZZO_EXPR_LITERAL(>=)
TERRAZZO_EXPR_LITERAL(==)
TERRAZZO_EXPR_LITERAL(!=)
#undef TERRAZZO_EXPR_LITERAL

Expr shiftRightUnsigned(Expr a, Expr b);
inline Expr shiftRightUnsigned(Expr a, int64_t b) {
  return shiftRightUnsigned(a, a.like(b));
}
Expr lessUnsigned(Expr a, Expr b);
/// The low and the high half of the double-width unsigned product.
std::pair<Expr, Expr> multiplyExtended(Expr a, Expr b);

/// Of an integer; its width for 0.
Expr countLeadingZeros(Expr a);

Expr select(Expr condition, Expr a, Expr b);
inline Expr select(Expr condition, Expr a, Literal b) {
  return select(condition, a, a.like(b));
}
inline Expr select(Expr condition, Literal a, Expr b) {
  return select(condition, b.like(a), b);
}
Expr isNaN(Expr a);

Expr fma(Expr a, Expr b, Expr c);
inline Expr fma(Expr a, Literal b, Expr c) { return fma(a, a.like(b), c); }
inline Expr fma(Expr a, Expr b, Literal c) { return fma(a, b, a.like(c)); }
inline Expr fma(Expr a, Literal b, Literal c) {
  return fma(a, a.like(b), a.like(c));
}
Expr absolute(Expr a);
Expr squareRoot(Expr a);
Expr truncate(Expr a);
/// `magnitude` with the sign of `sign`; magnitude >= 0 is assumed, so that it
/// is one bitwise operation cheaper than math.copysign.
Expr withSignOf(Expr magnitude, Expr sign);

/// c[0] + x * (c[1] + x * ...): one FMA a coefficient.
Expr polynomial(Expr x, llvm::ArrayRef<double> coefficients);
/// The table for x's format.
inline llvm::ArrayRef<double> choose(Expr x, llvm::ArrayRef<double> f32,
                                     llvm::ArrayRef<double> f64) {
  return x.isF64() ? f64 : f32;
}
inline double choose(Expr x, double f32, double f64) {
  return x.isF64() ? f64 : f32;
}

} // namespace terrazzo::expand

#endif // TERRAZZO_LIB_CONVERSION_MATHTOARITH_EXPR_H
