//===- ArgumentReduction.cpp - Angles modulo a quarter turn ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Moderate angles: n = round(x * 2/pi), then x - n * pi/2 with pi/2 as the sum
// of three numbers and one FMA for each (Cody and Waite); the first is exact,
// because n is short.
//
// Large angles (Payne and Hanek): x = M * 2^e with an integer M, and x * 2/pi
// is wanted modulo 4 only, so bits of 2/pi that M * 2^e shifts beyond the
// weight 4 do not matter. A window of three words of 2/pi times M gives the
// quadrant in its top two bits and below them a fraction with more good bits
// than any x can cancel. The window is found by selects rather than loads, so
// that no target needs a constant table in memory. Lanes are rarely large:
// scalars and vectors branch around it.

#include "Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace terrazzo::expand {

namespace {
constexpr double kTwoByPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPiF32[] = {0x1.921fb6p+0, -0x1.777a5cp-25,
                                 -0x1.ee59dap-50};
constexpr double kHalfPiF64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                 -0x1.f1976b7ed8fbcp-110};
// The fraction bits of 2/pi.
constexpr uint64_t kTwoByPiBits[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab};

/// A word of zeros, then the bits of 2/pi, in words of x's width.
SmallVector<Expr> paddedBits(Expr x) {
  Expr integer = x.bits();
  SmallVector<Expr> words{integer.like(0)};
  if (x.isF64()) {
    for (uint64_t word : kTwoByPiBits)
      words.push_back(integer.like(word));
    return words;
  }
  for (uint64_t word : ArrayRef(kTwoByPiBits).take_front(4)) {
    words.push_back(integer.like(word >> 32));
    words.push_back(integer.like(word & 0xffffffff));
  }
  return words;
}

/// Three words of 2/pi from bit `position` (of the padded bits) on.
SmallVector<Expr, 3> window(Expr x, Expr position) {
  int64_t width = x.width();
  SmallVector<Expr> words = paddedBits(x);
  Expr index = shiftRightUnsigned(position, llvm::Log2_64(width));
  for (int bit = x.isF64() ? 4 : 2; bit >= 0; --bit) {
    size_t step = size_t(1) << bit;
    Expr isSet = (index & static_cast<int64_t>(step)) != index.like(0);
    SmallVector<Expr> next;
    // Four words are read in the end; each smaller step may skip some more.
    for (size_t k = 0; k < 4 + step - 1 && k < words.size(); ++k)
      next.push_back(k + step < words.size()
                         ? select(isSet, words[k + step], words[k])
                         : words[k]);
    words = next;
  }
  Expr shift = position & (width - 1);
  Expr back = shift.like(width - 1) - shift;
  SmallVector<Expr, 3> result;
  for (int k = 0; k < 3; ++k)
    result.push_back(
        (words[k] << shift) |
        shiftRightUnsigned(shiftRightUnsigned(words[k + 1], 1), back));
  return result;
}

/// pi/2 * (fraction + rest / 2^width) / 2^(width-2) to the last bit.
Expr toAngle(Expr x, Expr fraction, Expr rest) {
  int width = static_cast<int>(x.width());
  Type element = x.element();
  double scale = std::ldexp(1.0, 2 - width);
  Expr high = fraction.signedTo(element);
  Expr back(x.emitter(),
            arith::FPToSIOp::create(x.builder(), fraction.type(), high.get()));
  Expr low = shiftRightUnsigned(rest, 1).signedTo(element) *
             std::ldexp(1.0, 1 - width);
  low = low + (fraction - back).signedTo(element);
  ArrayRef<double> halfPi = choose(x, kHalfPiF32, kHalfPiF64);
  Expr tail = fma(high, halfPi[1] * scale, low * (halfPi[0] * scale));
  return fma(high, halfPi[0] * scale, tail);
}

/// x where |x| is moderate, which is everywhere when `anyLarge` is false.
Quadrant reduceModerate(Expr x) {
  auto [n, bits] = roundProduct(x, kTwoByPi, 0);
  Expr r = x;
  for (double part : choose(x, kHalfPiF32, kHalfPiF64))
    r = fma(n, -part, r);
  return {r, bits};
}

Quadrant choosePerLane(Expr x, Expr large, Quadrant moderate) {
  Quadrant far = reduceLarge(x);
  return {select(large, far.rest, moderate.rest),
          select(large, far.quadrant, moderate.quadrant)};
}
} // namespace

Quadrant reduceLarge(Expr x) {
  int64_t width = x.width();
  int mantissa = x.mantissaBits();
  Expr bits = x.bits();
  int64_t hidden = int64_t(1) << mantissa;
  Expr m = (bits & (hidden - 1)) | hidden;
  Expr exponent = shiftRightUnsigned(bits, mantissa) & (2 * x.bias() + 1);
  // Position of the bit of 2/pi that M * 2^e lifts to the weight 2 * M.
  Expr position = exponent + (width - x.bias() - mantissa - 2);
  SmallVector<Expr, 3> w = window(x, position);
  Expr low1 = multiplyExtended(m, w[1]).first;
  Expr high1 = multiplyExtended(m, w[1]).second;
  Expr high2 = multiplyExtended(m, w[2]).second;
  Expr low = low1 + high2;
  Expr carry = select(lessUnsigned(low, low1), low.like(1), 0);
  Expr high = m * w[0] + high1 + carry;
  Expr quadrant =
      shiftRightUnsigned(high + (int64_t(1) << (width - 3)), width - 2);
  Expr fraction = high - (quadrant << (width - 2));
  Expr angle = toAngle(x, fraction, low);
  Expr negative = bits < bits.like(0);
  return {select(negative, -angle, angle),
          select(negative, -quadrant, quadrant)};
}

Quadrant reduceToQuadrant(Expr x) {
  Expr magnitude = absolute(x);
  // Infinities stay with the moderate formula: infinity minus infinity is NaN.
  Expr large = (magnitude >= choose(x, 0x1p17, 0x1p27)) &
               (magnitude < std::numeric_limits<double>::infinity());
  Quadrant moderate = reduceModerate(x);
  auto vector = dyn_cast<VectorType>(x.type());
  if (isa<TensorType>(x.type()) || (vector && vector.getRank() != 1))
    return choosePerLane(x, large, moderate);
  ImplicitLocOpBuilder &builder = x.builder();
  Value any = large.get();
  if (vector)
    any = vector::ReductionOp::create(builder, vector::CombiningKind::OR, any);
  std::array<Type, 2> types{x.type(), moderate.quadrant.type()};
  auto branch = scf::IfOp::create(builder, TypeRange(types), any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Quadrant chosen = choosePerLane(x, large, moderate);
  scf::YieldOp::create(builder,
                       ValueRange{chosen.rest.get(), chosen.quadrant.get()});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      builder, ValueRange{moderate.rest.get(), moderate.quadrant.get()});
  return {Expr(x.emitter(), branch.getResult(0)),
          Expr(x.emitter(), branch.getResult(1))};
}

} // namespace terrazzo::expand
