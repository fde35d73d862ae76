//===- Expr.cpp - Formulas that emit arith ops ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expr.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace terrazzo::expand;

Value Emitter::constant(Type type, Attribute element) {
  auto make = [&]() -> Value {
    auto shaped = dyn_cast<ShapedType>(type);
    auto value = shaped
                     ? cast<TypedAttr>(DenseElementsAttr::get(shaped, element))
                     : cast<TypedAttr>(element);
    return arith::ConstantOp::create(builder, value);
  };
  if (!shareConstants)
    return make();
  Value &known = constants[{builder.getInsertionBlock(), type, element}];
  if (!known)
    known = make();
  return known;
}

int Expr::mantissaBits() const { return isF64() ? 52 : 23; }
int64_t Expr::bias() const { return isF64() ? 1023 : 127; }

Expr Expr::like(Literal literal) const {
  Type scalar = element();
  Attribute attribute;
  if (isFloat())
    attribute = builder().getFloatAttr(
        scalar,
        literal.isFloat ? literal.real : static_cast<double>(literal.integer));
  else
    attribute = builder().getIntegerAttr(
        scalar, APInt(width(), static_cast<uint64_t>(literal.integer),
                      /*isSigned=*/true, /*implicitTrunc=*/true));
  return Expr(*emit, emit->constant(type(), attribute));
}

Type Expr::typeWith(Type element) const {
  if (auto shaped = dyn_cast<ShapedType>(type()))
    return shaped.clone(element);
  return element;
}

Type Expr::typeWithWidth(unsigned bits) const {
  return typeWith(builder().getIntegerType(bits));
}

namespace {
template <typename Op>
Expr cast(const Expr &from, Type type) {
  if (from.type() == type)
    return from;
  return Expr(from.emitter(), Op::create(from.builder(), type, from.get()));
}
template <typename Op>
Expr binary(const Expr &a, const Expr &b) {
  assert(a.type() == b.type() && "operands of one type");
  return Expr(a.emitter(), Op::create(a.builder(), a.get(), b.get()));
}
template <typename FloatOp, typename IntOp>
Expr binary(const Expr &a, const Expr &b) {
  return a.isFloat() ? binary<FloatOp>(a, b) : binary<IntOp>(a, b);
}
Expr compare(const Expr &a, const Expr &b, arith::CmpFPredicate forFloat,
             arith::CmpIPredicate forInt) {
  if (a.isFloat())
    return Expr(a.emitter(),
                arith::CmpFOp::create(a.builder(), forFloat, a.get(), b.get()));
  return Expr(a.emitter(),
              arith::CmpIOp::create(a.builder(), forInt, a.get(), b.get()));
}
template <typename Op>
Expr unary(const Expr &a) {
  return Expr(a.emitter(), Op::create(a.builder(), a.get()));
}
} // namespace

Expr Expr::bits() const {
  return cast<arith::BitcastOp>(*this, typeWithWidth(width()));
}
Expr Expr::asFloat(Type element) const {
  return cast<arith::BitcastOp>(*this, typeWith(element));
}
Expr Expr::resizeUnsigned(unsigned bits) const {
  return bits > width() ? cast<arith::ExtUIOp>(*this, typeWithWidth(bits))
                        : cast<arith::TruncIOp>(*this, typeWithWidth(bits));
}
Expr Expr::resizeSigned(unsigned bits) const {
  return bits > width() ? cast<arith::ExtSIOp>(*this, typeWithWidth(bits))
                        : cast<arith::TruncIOp>(*this, typeWithWidth(bits));
}
Expr Expr::extendTo(Type element) const {
  return cast<arith::ExtFOp>(*this, typeWith(element));
}
Expr Expr::truncateTo(Type element) const {
  return cast<arith::TruncFOp>(*this, typeWith(element));
}
Expr Expr::signedTo(Type element) const {
  return cast<arith::SIToFPOp>(*this, typeWith(element));
}
Expr Expr::unsignedTo(Type element) const {
  return cast<arith::UIToFPOp>(*this, typeWith(element));
}

namespace terrazzo::expand {

Expr operator+(Expr a, Expr b) {
  return binary<arith::AddFOp, arith::AddIOp>(a, b);
}
Expr operator-(Expr a, Expr b) {
  return binary<arith::SubFOp, arith::SubIOp>(a, b);
}
Expr operator*(Expr a, Expr b) {
  return binary<arith::MulFOp, arith::MulIOp>(a, b);
}
Expr operator/(Expr a, Expr b) { return binary<arith::DivFOp>(a, b); }
Expr operator&(Expr a, Expr b) { return binary<arith::AndIOp>(a, b); }
Expr operator|(Expr a, Expr b) { return binary<arith::OrIOp>(a, b); }
Expr operator^(Expr a, Expr b) { return binary<arith::XOrIOp>(a, b); }
Expr operator<<(Expr a, Expr b) { return binary<arith::ShLIOp>(a, b); }
Expr operator>>(Expr a, Expr b) { return binary<arith::ShRSIOp>(a, b); }
Expr operator-(Expr a) {
  return a.isFloat() ? unary<arith::NegFOp>(a) : a.like(0) - a;
}
Expr operator!(Expr a) { return a ^ a.like(1); }

Expr operator<(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Expr operator<=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Expr operator>(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Expr operator>=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Expr operator==(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Expr operator!=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}

Expr shiftRightUnsigned(Expr a, Expr b) { return binary<arith::ShRUIOp>(a, b); }
Expr lessUnsigned(Expr a, Expr b) {
  return Expr(a.emitter(),
              arith::CmpIOp::create(a.builder(), arith::CmpIPredicate::ult,
                                    a.get(), b.get()));
}
std::pair<Expr, Expr> multiplyExtended(Expr a, Expr b) {
  auto op = arith::MulUIExtendedOp::create(a.builder(), a.get(), b.get());
  return {Expr(a.emitter(), op.getLow()), Expr(a.emitter(), op.getHigh())};
}

Expr countLeadingZeros(Expr a) { return unary<math::CountLeadingZerosOp>(a); }

Expr select(Expr condition, Expr a, Expr b) {
  return Expr(a.emitter(), arith::SelectOp::create(a.builder(), condition.get(),
                                                   a.get(), b.get()));
}
Expr isNaN(Expr a) {
  return Expr(a.emitter(),
              arith::CmpFOp::create(a.builder(), arith::CmpFPredicate::UNO,
                                    a.get(), a.get()));
}

Expr fma(Expr a, Expr b, Expr c) {
  return Expr(a.emitter(),
              math::FmaOp::create(a.builder(), a.get(), b.get(), c.get()));
}
Expr absolute(Expr a) { return unary<math::AbsFOp>(a); }
Expr squareRoot(Expr a) { return unary<math::SqrtOp>(a); }
Expr truncate(Expr a) { return unary<math::TruncOp>(a); }

Expr withSignOf(Expr magnitude, Expr sign) {
  Expr mask = sign.bits() & (uint64_t(1) << (sign.width() - 1));
  return (magnitude.bits() | mask).asFloat(magnitude.element());
}

Expr polynomial(Expr x, ArrayRef<double> coefficients) {
  assert(coefficients.size() >= 2 && "a polynomial of degree 1 or more");
  Expr sum = x.like(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c);
  return sum;
}

} // namespace terrazzo::expand
