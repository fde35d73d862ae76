//===- VectorFloat.cpp - f32 and f64 --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormulas.h"
#include "Lanes.h"

using namespace terrazzo::amdsim;

#if defined(__x86_64__)
/// Where the processor has the instruction, a hundred calls less.
[[gnu::target("avx2,fma")]] static void fmaByHardware(const LaneArgs &args) {
  const auto *a = static_cast<const float *>(args.in[0]);
  const auto *b = static_cast<const float *>(args.in[1]);
  const auto *c = static_cast<const float *>(args.in[2]);
  auto *out = static_cast<float *>(args.out);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
}

[[gnu::target("avx2,fma")]] static void fma64ByHardware(const LaneArgs &args) {
  const auto *a = static_cast<const double *>(args.in[0]);
  const auto *b = static_cast<const double *>(args.in[1]);
  const auto *c = static_cast<const double *>(args.in[2]);
  auto *out = static_cast<double *>(args.out);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
}
#endif

static bool hasFma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

template <class T>
static OpInfo fusedMultiplyAdd() {
  OpInfo info = vector<[](T a, T b, T c) { return T(std::fma(a, b, c)); }>();
#if defined(__x86_64__)
  if (hasFma())
    info.lanes = sizeof(T) == 4 ? fmaByHardware : fma64ByHardware;
#endif
  return info;
}

/// What f32 and f64 have in common.
template <class T>
static void addBasics(OpTable &table, const std::string &type) {
  auto name = [&](const char *text) { return "v_" + (text + type); };
  table.add(name("add"), vector<[](T a, T b) { return a + b; }>());
  table.add(name("sub"), vector<[](T a, T b) { return a - b; }>());
  table.add(name("subrev"), vector<[](T a, T b) { return b - a; }>());
  table.add(name("mul"), vector<[](T a, T b) { return a * b; }>());
  for (const char *suffix : {"", "_num"}) {
    std::string end = suffix + type;
    table.add("v_min" + end, vector<[](T a, T b) { return minNum(a, b); }>());
    table.add("v_max" + end, vector<[](T a, T b) { return maxNum(a, b); }>());
  }
  table.add(name("minimum"), vector<[](T a, T b) { return minimum(a, b); }>());
  table.add(name("maximum"), vector<[](T a, T b) { return maximum(a, b); }>());
  OpInfo fma = fusedMultiplyAdd<T>();
  for (const char *op : {"fma", "fmamk", "fmaak", "mad", "madmk", "madak"})
    table.add(name(op), fma);
  table.add(name("fmac"), fma.accumulating());
  table.add(name("mac"), fma.accumulating());
  table.add(name("trunc"), vector<[](T a) { return T(std::trunc(a)); }>());
  table.add(name("ceil"), vector<[](T a) { return T(std::ceil(a)); }>());
  table.add(name("floor"), vector<[](T a) { return T(std::floor(a)); }>());
  table.add(name("rndne"), vector<[](T a) { return T(std::nearbyint(a)); }>());
  table.add(name("fract"), vector<[](T a) { return fraction(a); }>());
  table.add(name("frexp_mant"), vector<[](T a) { return frexpMantissa(a); }>());
  table.add("v_frexp_exp_i32" + type,
            vector<[](T a) { return frexpExponent(a); }>());
  table.add(name("ldexp"),
            vector<[](T a, int32_t b) { return T(std::ldexp(a, b)); }>());
  table.add(name("sqrt"), vector<[](T a) { return T(std::sqrt(a)); }>());
  table.add(name("div_scale"), vector<[](T a, T b, T c) {
              WithBit<T> result;
              result.value = divScale(a, b, c, result.bit);
              return result;
            }>());
  table.add(name("div_fmas"), vector<[](T a, T b, T c, Bit bit) {
              return divFmas(a, b, c, bit.set);
            }>());
  table.add(name("div_fixup"),
            vector<[](T a, T b, T c) { return divFixup(a, b, c); }>());
}

static void addThreeOperands(OpTable &table) {
  using F = float;
  for (const char *suffix : {"_f32", "_num_f32"}) {
    std::string end = suffix;
    table.add("v_min3" + end,
              vector<[](F a, F b, F c) { return minNum(minNum(a, b), c); }>());
    table.add("v_max3" + end,
              vector<[](F a, F b, F c) { return maxNum(maxNum(a, b), c); }>());
    table.add("v_med3" + end,
              vector<[](F a, F b, F c) { return median(a, b, c); }>());
    table.add("v_minmax" + end,
              vector<[](F a, F b, F c) { return maxNum(minNum(a, b), c); }>());
    table.add("v_maxmin" + end,
              vector<[](F a, F b, F c) { return minNum(maxNum(a, b), c); }>());
  }
  table.add("v_minimum3_f32",
            vector<[](F a, F b, F c) { return minimum(minimum(a, b), c); }>());
  table.add("v_maximum3_f32",
            vector<[](F a, F b, F c) { return maximum(maximum(a, b), c); }>());
  table.add("v_maximumminimum_f32",
            vector<[](F a, F b, F c) { return minimum(maximum(a, b), c); }>());
  table.add("v_minimummaximum_f32",
            vector<[](F a, F b, F c) { return maximum(minimum(a, b), c); }>());
}

/// Approximations of one unit in the last place on hardware: the nearest value
/// is as good. None of these keeps denormals of 32 bits.
static void addTranscendental(OpTable &table) {
  table.add("v_rcp_f32",
            vector<[](float a) { return flushed(1.0f / flushed(a)); }>());
  table.add("v_rcp_iflag_f32",
            vector<[](float a) { return flushed(1.0f / flushed(a)); }>());
  table.add("v_rsq_f32", vector<[](float a) {
              return static_cast<float>(1.0 / std::sqrt(double(flushed(a))));
            }>());
  table.add("v_exp_f32",
            vector<[](float a) { return flushed(std::exp2(a)); }>());
  table.add("v_log_f32",
            vector<[](float a) { return std::log2(flushed(a)); }>());
  table.add("v_sin_f32", vector<[](float a) { return sinOfTurns(a); }>());
  table.add("v_cos_f32", vector<[](float a) { return cosOfTurns(a); }>());
  table.add("v_rcp_f64", vector<[](double a) { return 1.0 / a; }>());
  table.add("v_rsq_f64", vector<[](double a) { return 1.0 / std::sqrt(a); }>());
}

void terrazzo::amdsim::addVectorFloat(OpTable &table) {
  addBasics<float>(table, "_f32");
  addBasics<double>(table, "_f64");
  addThreeOperands(table);
  addTranscendental(table);
  // 0 times anything is 0.
  auto legacy = vector<[](float a, float b) {
    return a == 0.0f || b == 0.0f ? 0.0f : a * b;
  }>();
  table.add("v_mul_legacy_f32", legacy);
  table.add("v_mul_dx9_zero_f32", legacy);
}
