//===- VectorHalf.cpp - f16, and f32 from f16 -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum, product, quotient or root of halves that is computed as a float and
// rounded again is rounded right: a float has two bits more than twice those of
// a half. That does not hold for fused operations, which go by doubles.
//===----------------------------------------------------------------------===//

#include "HalfFormulas.h"
#include "Lanes.h"

#include <algorithm>

using namespace terrazzo::amdsim;

template <auto F>
static OpInfo unary() {
  return vector<[](Half a) { return toHalf(float(F(toFloat(a)))); }>();
}

template <auto F>
static OpInfo binary() {
  return vector<[](Half a, Half b) {
    return toHalf(float(F(toFloat(a), toFloat(b))));
  }>();
}

template <auto F>
static OpInfo ternary() {
  return vector<[](Half a, Half b, Half c) {
    return toHalf(float(F(toFloat(a), toFloat(b), toFloat(c))));
  }>();
}

static void addArithmetic(OpTable &table) {
  table.add("v_add_f16", binary<[](float a, float b) { return a + b; }>());
  table.add("v_sub_f16", binary<[](float a, float b) { return a - b; }>());
  table.add("v_subrev_f16", binary<[](float a, float b) { return b - a; }>());
  table.add("v_mul_f16", binary<[](float a, float b) { return a * b; }>());
  OpInfo fma =
      vector<[](Half a, Half b, Half c) { return fmaHalf(a, b, c); }>();
  for (const char *name :
       {"v_fmamk_f16", "v_fmaak_f16", "v_madmk_f16", "v_madak_f16"})
    table.add(name, fma);
  table.add("v_fmac_f16", fma.accumulating());
  table.add("v_mac_f16", fma.accumulating());
  fma.keepsHigh = true;
  table.add("v_fma_f16", fma);
  table.add("v_mad_f16", fma);
  OpInfo fixup =
      ternary<[](float a, float b, float c) { return divFixup(a, b, c); }>();
  fixup.keepsHigh = true;
  table.add("v_div_fixup_f16", fixup);
  table.add("v_ldexp_f16", vector<[](Half a, int16_t b) {
              return toHalf(std::ldexp(double(toFloat(a)), b));
            }>());
  table.add(
      "v_frexp_exp_i16_f16",
      vector<[](Half a) { return int16_t(frexpExponent(toFloat(a))); }>());
}

static void addOrder(OpTable &table) {
  using F = float;
  for (const char *suffix : {"_f16", "_num_f16"}) {
    std::string end = suffix;
    table.add("v_min" + end, binary<[](F a, F b) { return minNum(a, b); }>());
    table.add("v_max" + end, binary<[](F a, F b) { return maxNum(a, b); }>());
    table.add("v_min3" + end,
              ternary<[](F a, F b, F c) { return minNum(minNum(a, b), c); }>());
    table.add("v_max3" + end,
              ternary<[](F a, F b, F c) { return maxNum(maxNum(a, b), c); }>());
    table.add("v_med3" + end,
              ternary<[](F a, F b, F c) { return median(a, b, c); }>());
    table.add("v_minmax" + end,
              ternary<[](F a, F b, F c) { return maxNum(minNum(a, b), c); }>());
    table.add("v_maxmin" + end,
              ternary<[](F a, F b, F c) { return minNum(maxNum(a, b), c); }>());
  }
  table.add("v_minimum_f16", binary<[](F a, F b) { return minimum(a, b); }>());
  table.add("v_maximum_f16", binary<[](F a, F b) { return maximum(a, b); }>());
}

static void addUnary(OpTable &table) {
  table.add("v_rcp_f16", unary<[](float a) { return 1.0f / a; }>());
  table.add("v_sqrt_f16", unary<[](float a) { return std::sqrt(a); }>());
  table.add("v_rsq_f16", unary<[](float a) { return 1.0f / std::sqrt(a); }>());
  table.add("v_exp_f16", unary<[](float a) { return std::exp2(a); }>());
  table.add("v_log_f16", unary<[](float a) { return std::log2(a); }>());
  table.add("v_sin_f16", unary<[](float a) { return sinOfTurns(a); }>());
  table.add("v_cos_f16", unary<[](float a) { return cosOfTurns(a); }>());
  table.add("v_trunc_f16", unary<[](float a) { return std::trunc(a); }>());
  table.add("v_ceil_f16", unary<[](float a) { return std::ceil(a); }>());
  table.add("v_floor_f16", unary<[](float a) { return std::floor(a); }>());
  table.add("v_rndne_f16", unary<[](float a) { return std::nearbyint(a); }>());
  table.add("v_fract_f16", unary<[](float a) { return a - std::floor(a); }>());
  table.add("v_frexp_mant_f16",
            unary<[](float a) { return frexpMantissa(a); }>());
}

/// Sums of products of a register's halves.
static void addDots(OpTable &table) {
  using P = Packed<Half>;
  using Q = Packed<BFloat>;
  auto dot = vector<[](P a, P b, float c) { return dot2(a, b, c); }>();
  auto dotBf = vector<[](Q a, Q b, float c) { return dot2(a, b, c); }>();
  table.add("v_dot2_f32_f16", dot);
  table.add("v_dot2c_f32_f16", dot.accumulating());
  table.add("v_dot2acc_f32_f16", dot.accumulating());
  table.add("v_dot2_f32_bf16", dotBf);
  table.add("v_dot2c_f32_bf16", dotBf.accumulating());
  table.add("v_dot2acc_f32_bf16", dotBf.accumulating());
  auto bytes = vector<[](uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8)
      c += uint32_t(int8_t(a >> i) * int8_t(b >> i));
    return c;
  }>();
  table.add("v_dot4_i32_i8", bytes);
  table.add("v_dot4c_i32_i8", bytes.accumulating());
  table.add("v_dot4_u32_u8", vector<[](uint32_t a, uint32_t b, uint32_t c) {
              for (unsigned i = 0; i < 32; i += 8)
                c += (a >> i & 255) * (b >> i & 255);
              return c;
            }>());
}

void terrazzo::amdsim::addVectorHalf(OpTable &table) {
  addArithmetic(table);
  addOrder(table);
  addUnary(table);
  addDots(table);
}
