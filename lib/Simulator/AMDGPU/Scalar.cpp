//===- Scalar.cpp - Scalar arithmetic -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written as functions of values, as vector instructions are; one that takes
// `bool &` reads or writes SCC by it.
//===----------------------------------------------------------------------===//

#include "FloatFormulas.h"
#include "OpTable.h"
#include "Wave.h"

#include <algorithm>
#include <bit>
#include <type_traits>

using namespace terrazzo::amdsim;

using U = uint32_t;
using I = int32_t;
using U64 = uint64_t;
using I64 = int64_t;

template <class T>
static T readAs(Wave &wave, const Operand &operand) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(wave.readScalar64(operand));
  else
    return std::bit_cast<T>(wave.readScalar(operand));
}

template <class T>
static void writeAs(Wave &wave, const Operand &operand, T value) {
  if constexpr (sizeof(T) == 8)
    wave.writeScalar64(operand, std::bit_cast<U64>(value));
  else
    wave.writeScalar(operand, std::bit_cast<U>(value));
}

template <class T>
static constexpr Type kScalarType = std::is_same_v<T, float> ? Type::F32
                                    : sizeof(T) == 8         ? Type::B64
                                                             : Type::B32;

template <auto F, class R, class A>
static OpInfo describe(R (*)(A)) {
  OpInfo info;
  info.numSources = 1;
  info.src = {kScalarType<A>};
  info.run = [](Wave &wave, const Instruction &i) {
    writeAs(wave, i.dst, F(readAs<A>(wave, i.src[0])));
  };
  return info;
}

template <auto F, class R, class A>
static OpInfo describe(R (*)(A, bool &)) {
  OpInfo info;
  info.numSources = 1;
  info.src = {kScalarType<A>};
  info.run = [](Wave &wave, const Instruction &i) {
    writeAs(wave, i.dst, F(readAs<A>(wave, i.src[0]), wave.scc));
  };
  return info;
}

template <auto F, class R, class A, class B>
static OpInfo describe(R (*)(A, B)) {
  OpInfo info;
  info.numSources = 2;
  info.src = {kScalarType<A>, kScalarType<B>};
  info.run = [](Wave &wave, const Instruction &i) {
    writeAs(wave, i.dst,
            F(readAs<A>(wave, i.src[0]), readAs<B>(wave, i.src[1])));
  };
  return info;
}

template <auto F, class R, class A, class B>
static OpInfo describe(R (*)(A, B, bool &)) {
  OpInfo info;
  info.numSources = 2;
  info.src = {kScalarType<A>, kScalarType<B>};
  if constexpr (std::is_void_v<R>) {
    info.form = OpForm::NoResult;
    info.run = [](Wave &wave, const Instruction &i) {
      F(readAs<A>(wave, i.src[0]), readAs<B>(wave, i.src[1]), wave.scc);
    };
  } else {
    info.run = [](Wave &wave, const Instruction &i) {
      A a = readAs<A>(wave, i.src[0]);
      B b = readAs<B>(wave, i.src[1]);
      writeAs(wave, i.dst, F(a, b, wave.scc));
    };
  }
  return info;
}

template <auto F>
static OpInfo scalar() {
  return describe<F>(+F);
}

static void addSums(OpTable &table) {
  auto add = scalar<[](U a, U b, bool &scc) {
    scc = a + b < a;
    return a + b;
  }>();
  auto sub = scalar<[](U a, U b, bool &scc) {
    scc = a < b;
    return a - b;
  }>();
  auto addSigned = scalar<[](U a, U b, bool &scc) {
    scc = I(~(a ^ b) & (a ^ (a + b))) < 0;
    return a + b;
  }>();
  auto subSigned = scalar<[](U a, U b, bool &scc) {
    scc = I((a ^ b) & (a ^ (a - b))) < 0;
    return a - b;
  }>();
  auto addCarry = scalar<[](U a, U b, bool &scc) {
    U64 sum = U64(a) + b + scc;
    scc = sum >> 32 != 0;
    return U(sum);
  }>();
  auto subCarry = scalar<[](U a, U b, bool &scc) {
    U result = a - b - scc;
    scc = U64(b) + scc > a;
    return result;
  }>();
  table.add("s_add_u32", add);
  table.add("s_add_co_u32", add);
  table.add("s_sub_u32", sub);
  table.add("s_sub_co_u32", sub);
  table.add("s_add_i32", addSigned);
  table.add("s_add_co_i32", addSigned);
  table.add("s_sub_i32", subSigned);
  table.add("s_sub_co_i32", subSigned);
  table.add("s_addc_u32", addCarry);
  table.add("s_add_co_ci_u32", addCarry);
  table.add("s_subb_u32", subCarry);
  table.add("s_sub_co_ci_u32", subCarry);
  table.add("s_add_nc_u64", scalar<[](U64 a, U64 b) { return a + b; }>());
  table.add("s_sub_nc_u64", scalar<[](U64 a, U64 b) { return a - b; }>());
  table.add("s_mul_u64", scalar<[](U64 a, U64 b) { return a * b; }>());
  table.add("s_mul_i32", scalar<[](U a, U b) { return a * b; }>());
  table.add("s_mul_hi_u32",
            scalar<[](U a, U b) { return U(U64(a) * b >> 32); }>());
  table.add("s_mul_hi_i32",
            scalar<[](I a, I b) { return I(I64(a) * b >> 32); }>());
  table.add("s_abs_i32", scalar<[](I a, bool &scc) {
              U result = a < 0 ? 0u - U(a) : U(a);
              scc = result != 0;
              return result;
            }>());
  table.add("s_absdiff_i32", scalar<[](I a, I b, bool &scc) {
              U result = a > b ? U(a) - U(b) : U(b) - U(a);
              scc = result != 0;
              return result;
            }>());
}

template <unsigned N>
static constexpr auto kShiftAdd = [](U a, U b, bool &scc) {
  U64 sum = (U64(a) << N) + b;
  scc = sum >> 32 != 0;
  return U(sum);
};

/// A result of bits: SCC says whether it is not 0.
template <class T, auto F>
static constexpr auto kWithScc = [](T a, T b, bool &scc) {
  T result = F(a, b);
  scc = result != 0;
  return result;
};

template <class T>
static void addLogic(OpTable &table, const std::string &type) {
  auto add = [&](const char *name, OpInfo info) {
    table.add("s_" + (name + type), info);
  };
  add("and", scalar<kWithScc<T, [](T a, T b) { return T(a & b); }>>());
  add("or", scalar<kWithScc<T, [](T a, T b) { return T(a | b); }>>());
  add("xor", scalar<kWithScc<T, [](T a, T b) { return T(a ^ b); }>>());
  auto andNot = scalar<kWithScc<T, [](T a, T b) { return T(a & ~b); }>>();
  auto orNot = scalar<kWithScc<T, [](T a, T b) { return T(a | ~b); }>>();
  add("andn2", andNot);
  add("and_not1", andNot);
  add("orn2", orNot);
  add("or_not1", orNot);
  add("nand", scalar<kWithScc<T, [](T a, T b) { return T(~(a & b)); }>>());
  add("nor", scalar<kWithScc<T, [](T a, T b) { return T(~(a | b)); }>>());
  add("xnor", scalar<kWithScc<T, [](T a, T b) { return T(~(a ^ b)); }>>());
  table.add("s_not" + type, scalar<[](T a, bool &scc) {
              T result = ~a;
              scc = result != 0;
              return result;
            }>());
  table.add("s_mov" + type, scalar<[](T a) { return a; }>());
  OpInfo conditional = scalar<[](T a) { return a; }>();
  conditional.run = [](Wave &wave, const Instruction &i) {
    if (wave.scc)
      writeAs(wave, i.dst, readAs<T>(wave, i.src[0]));
  };
  table.add("s_cmov" + type, conditional);
  add("cselect", scalar<[](T a, T b, bool &scc) { return scc ? a : b; }>());
  table.add("s_brev" + type, scalar<[](T a) {
              if constexpr (sizeof(T) == 8)
                return T(__builtin_bitreverse64(a));
              else
                return T(__builtin_bitreverse32(a));
            }>());
  auto whole = scalar<[](T a, bool &scc) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); i += 4)
      if (a >> i & 15)
        result |= T(15) << i;
    scc = result != 0;
    return result;
  }>();
  table.add("s_wqm" + type, whole);
}

template <class T>
static void addShifts(OpTable &table, const std::string &bits) {
  constexpr U kMask = 8 * sizeof(T) - 1;
  using S = std::make_signed_t<T>;
  table.add("s_lshl_b" + bits, scalar<[](T a, U b, bool &scc) {
              T result = a << (b & kMask);
              scc = result != 0;
              return result;
            }>());
  table.add("s_lshr_b" + bits, scalar<[](T a, U b, bool &scc) {
              T result = a >> (b & kMask);
              scc = result != 0;
              return result;
            }>());
  table.add("s_ashr_i" + bits, scalar<[](T a, U b, bool &scc) {
              T result = T(S(a) >> (b & kMask));
              scc = result != 0;
              return result;
            }>());
  // Bits 4:0 (5:0) are the offset, 22:16 the width.
  table.add("s_bfe_u" + bits, scalar<[](T a, U b, bool &scc) {
              U width = std::min<U>(b >> 16 & 0x7f, kMask + 1);
              T field = a >> (b & kMask);
              if (width <= kMask)
                field &= (T(1) << width) - 1;
              scc = field != 0;
              return field;
            }>());
  table.add("s_bfe_i" + bits, scalar<[](T a, U b, bool &scc) {
              U width = std::min<U>(b >> 16 & 0x7f, kMask + 1);
              T field = T(S(a) >> (b & kMask));
              if (width == 0)
                field = 0;
              else if (width <= kMask)
                field =
                    T(S(field << (kMask + 1 - width)) >> (kMask + 1 - width));
              scc = field != 0;
              return field;
            }>());
  table.add("s_bfm_b" + bits, scalar<[](U a, U b) {
              return T(((T(1) << (a & kMask)) - 1) << (b & kMask));
            }>());
  auto trailing =
      scalar<[](T a) { return a ? U(std::countr_zero(a)) : ~0u; }>();
  auto leading = scalar<[](T a) { return a ? U(std::countl_zero(a)) : ~0u; }>();
  auto signBits = scalar<[](T a) {
    T folded = S(a) < 0 ? T(~a) : a;
    return folded ? U(std::countl_zero(folded)) : ~0u;
  }>();
  table.add("s_ff1_i32_b" + bits, trailing);
  table.add("s_ctz_i32_b" + bits, trailing);
  table.add("s_flbit_i32_b" + bits, leading);
  table.add("s_clz_i32_u" + bits, leading);
  table.add(bits == "32" ? "s_flbit_i32" : "s_flbit_i32_i64", signBits);
  table.add(bits == "32" ? "s_cls_i32" : "s_cls_i32_i64", signBits);
  table.add("s_bcnt1_i32_b" + bits, scalar<[](T a, bool &scc) {
              scc = a != 0;
              return U(std::popcount(a));
            }>());
  table.add("s_bcnt0_i32_b" + bits, scalar<[](T a, bool &scc) {
              scc = T(~a) != 0;
              return U(std::popcount(T(~a)));
            }>());
  table.add("s_bitcmp0_b" + bits, scalar<[](T a, U b, bool &scc) -> void {
              scc = !(a >> (b & kMask) & 1);
            }>());
  table.add("s_bitcmp1_b" + bits, scalar<[](T a, U b, bool &scc) -> void {
              scc = a >> (b & kMask) & 1;
            }>());
}

template <class T>
static void addCompares(OpTable &table, const std::string &type) {
  auto add = [&](const char *name, OpInfo info) {
    table.add("s_cmp_" + (name + type), info);
  };
  add("eq", scalar<[](T a, T b, bool &scc) -> void { scc = a == b; }>());
  add("lg", scalar<[](T a, T b, bool &scc) -> void { scc = a != b; }>());
  add("lt", scalar<[](T a, T b, bool &scc) -> void { scc = a < b; }>());
  add("le", scalar<[](T a, T b, bool &scc) -> void { scc = a <= b; }>());
  add("gt", scalar<[](T a, T b, bool &scc) -> void { scc = a > b; }>());
  add("ge", scalar<[](T a, T b, bool &scc) -> void { scc = a >= b; }>());
  if constexpr (std::is_floating_point_v<T>) {
    add("neq", scalar<[](T a, T b, bool &scc) -> void { scc = !(a == b); }>());
    add("nlt", scalar<[](T a, T b, bool &scc) -> void { scc = !(a < b); }>());
    add("nle", scalar<[](T a, T b, bool &scc) -> void { scc = !(a <= b); }>());
    add("ngt", scalar<[](T a, T b, bool &scc) -> void { scc = !(a > b); }>());
    add("nge", scalar<[](T a, T b, bool &scc) -> void { scc = !(a >= b); }>());
    add("nlg",
        scalar<[](T a, T b, bool &scc) -> void { scc = !(a < b || a > b); }>());
    add("u", scalar<[](T a, T b, bool &scc) -> void {
          scc = std::isunordered(a, b);
        }>());
    add("o", scalar<[](T a, T b, bool &scc) -> void {
          scc = !std::isunordered(a, b);
        }>());
  }
}

static void addOrder(OpTable &table) {
  table.add("s_min_u32", scalar<[](U a, U b, bool &scc) {
              scc = a < b;
              return std::min(a, b);
            }>());
  table.add("s_max_u32", scalar<[](U a, U b, bool &scc) {
              scc = a > b;
              return std::max(a, b);
            }>());
  table.add("s_min_i32", scalar<[](I a, I b, bool &scc) {
              scc = a < b;
              return std::min(a, b);
            }>());
  table.add("s_max_i32", scalar<[](I a, I b, bool &scc) {
              scc = a > b;
              return std::max(a, b);
            }>());
}

static void addPacks(OpTable &table) {
  table.add("s_sext_i32_i8", scalar<[](U a) { return I(int8_t(a)); }>());
  table.add("s_sext_i32_i16", scalar<[](U a) { return I(int16_t(a)); }>());
  table.add("s_pack_ll_b32_b16",
            scalar<[](U a, U b) { return (a & 0xffff) | b << 16; }>());
  table.add("s_pack_lh_b32_b16",
            scalar<[](U a, U b) { return (a & 0xffff) | (b & 0xffff0000); }>());
  table.add("s_pack_hh_b32_b16",
            scalar<[](U a, U b) { return a >> 16 | (b & 0xffff0000); }>());
  table.add("s_pack_hl_b32_b16",
            scalar<[](U a, U b) { return a >> 16 | b << 16; }>());
}

/// Scalar floats of gfx11.5 and gfx12.
static void addFloats(OpTable &table) {
  using F = float;
  table.add("s_add_f32", scalar<[](F a, F b) { return a + b; }>());
  table.add("s_sub_f32", scalar<[](F a, F b) { return a - b; }>());
  table.add("s_mul_f32", scalar<[](F a, F b) { return a * b; }>());
  table.add("s_ceil_f32", scalar<[](F a) { return std::ceil(a); }>());
  table.add("s_floor_f32", scalar<[](F a) { return std::floor(a); }>());
  table.add("s_trunc_f32", scalar<[](F a) { return std::trunc(a); }>());
  table.add("s_rndne_f32", scalar<[](F a) { return std::nearbyint(a); }>());
  table.add("s_cvt_f32_i32", scalar<[](I a) { return F(a); }>());
  table.add("s_cvt_f32_u32", scalar<[](U a) { return F(a); }>());
  table.add("s_cvt_u32_f32", scalar<[](F a) { return truncateTo<U>(a); }>());
  table.add("s_cvt_i32_f32", scalar<[](F a) { return truncateTo<I>(a); }>());
  table.add("v_s_rcp_f32",
            scalar<[](F a) { return flushed(1.0f / flushed(a)); }>());
  table.add(
      "v_s_rsq_f32",
      scalar<[](F a) { return float(1.0 / std::sqrt(double(flushed(a)))); }>());
  table.add("v_s_sqrt_f32", scalar<[](F a) { return std::sqrt(a); }>());
  table.add("v_s_exp_f32", scalar<[](F a) { return flushed(std::exp2(a)); }>());
  table.add("v_s_log_f32", scalar<[](F a) { return std::log2(flushed(a)); }>());
  auto min = scalar<[](F a, F b) { return minNum(a, b); }>();
  auto max = scalar<[](F a, F b) { return maxNum(a, b); }>();
  table.add("s_min_f32", min);
  table.add("s_min_num_f32", min);
  table.add("s_max_f32", max);
  table.add("s_max_num_f32", max);
  addCompares<float>(table, "_f32");
}

void terrazzo::amdsim::addScalar(OpTable &table) {
  addSums(table);
  addLogic<U>(table, "_b32");
  addLogic<U64>(table, "_b64");
  addShifts<U>(table, "32");
  addShifts<U64>(table, "64");
  addCompares<U>(table, "_u32");
  addCompares<I>(table, "_i32");
  addCompares<U64>(table, "_u64");
  addOrder(table);
  addPacks(table);
  addFloats(table);
  table.add("s_lshl1_add_u32", scalar<kShiftAdd<1>>());
  table.add("s_lshl2_add_u32", scalar<kShiftAdd<2>>());
  table.add("s_lshl3_add_u32", scalar<kShiftAdd<3>>());
  table.add("s_lshl4_add_u32", scalar<kShiftAdd<4>>());
}
