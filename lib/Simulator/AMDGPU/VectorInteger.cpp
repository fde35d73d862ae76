//===- VectorInteger.cpp - Integers and bits ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <bit>

using namespace terrazzo::amdsim;

using U = uint32_t;
using I = int32_t;
using U16 = uint16_t;
using I16 = int16_t;
using U64 = uint64_t;
using I64 = int64_t;

static constexpr I low24(I value) { return I(U(value) << 8) >> 8; }

static void addSums(OpTable &table) {
  auto add = vector<[](U a, U b) { return a + b; }>();
  auto sub = vector<[](U a, U b) { return a - b; }>();
  auto subrev = vector<[](U a, U b) { return b - a; }>();
  for (const char *infix : {"_u32", "_nc_u32", "_i32", "_nc_i32"}) {
    std::string end = infix;
    table.add("v_add" + end, add);
    table.add("v_sub" + end, sub);
    table.add("v_subrev" + end, subrev);
  }
  table.add("v_add_co_u32",
            vector<[](U a, U b) { return WithBit<U>{a + b, a + b < a}; }>());
  table.add("v_sub_co_u32",
            vector<[](U a, U b) { return WithBit<U>{a - b, a < b}; }>());
  table.add("v_subrev_co_u32",
            vector<[](U a, U b) { return WithBit<U>{b - a, b < a}; }>());
  auto addCarry = vector<[](U a, U b, Bit carry) {
    U64 sum = U64(a) + b + carry.set;
    return WithBit<U>{U(sum), sum >> 32 != 0};
  }>();
  auto subCarry = vector<[](U a, U b, Bit carry) {
    return WithBit<U>{a - b - carry.set, U64(b) + carry.set > a};
  }>();
  auto subrevCarry = vector<[](U a, U b, Bit carry) {
    return WithBit<U>{b - a - carry.set, U64(a) + carry.set > b};
  }>();
  for (const char *name : {"v_addc_co_u32", "v_add_co_ci_u32"})
    table.add(name, addCarry);
  for (const char *name : {"v_subb_co_u32", "v_sub_co_ci_u32"})
    table.add(name, subCarry);
  for (const char *name : {"v_subbrev_co_u32", "v_subrev_co_ci_u32"})
    table.add(name, subrevCarry);
  table.add("v_add3_u32", vector<[](U a, U b, U c) { return a + b + c; }>());
  table.add("v_lshl_add_u32",
            vector<[](U a, U b, U c) { return (a << (b & 31)) + c; }>());
  table.add("v_add_lshl_u32",
            vector<[](U a, U b, U c) { return (a + b) << (c & 31); }>());
  table.add("v_xad_u32", vector<[](U a, U b, U c) { return (a ^ b) + c; }>());
  table.add(
      "v_lshl_add_u64",
      OpInfo(vector<[](U64 a, U b, U64 c) { return (a << (b & 7)) + c; }>())
          .withOwnLow());
}

static void addProducts(OpTable &table) {
  table.add("v_mul_lo_u32", vector<[](U a, U b) { return a * b; }>());
  table.add("v_mul_hi_u32",
            vector<[](U a, U b) { return U(U64(a) * b >> 32); }>());
  table.add("v_mul_hi_i32",
            vector<[](I a, I b) { return I(I64(a) * b >> 32); }>());
  table.add("v_mul_i32_i24",
            vector<[](I a, I b) { return U(low24(a)) * U(low24(b)); }>());
  table.add("v_mul_u32_u24",
            vector<[](U a, U b) { return (a & 0xffffff) * (b & 0xffffff); }>());
  table.add("v_mul_hi_u32_u24", vector<[](U a, U b) {
              return U(U64(a & 0xffffff) * (b & 0xffffff) >> 32);
            }>());
  table.add(
      "v_mul_hi_i32_i24",
      vector<[](I a, I b) { return I(I64(low24(a)) * low24(b) >> 32); }>());
  table.add(
      "v_mad_i32_i24",
      vector<[](I a, I b, U c) { return U(low24(a)) * U(low24(b)) + c; }>());
  table.add("v_mad_u32_u24", vector<[](U a, U b, U c) {
              return (a & 0xffffff) * (b & 0xffffff) + c;
            }>());
  OpInfo wide = vector<[](U a, U b, U64 c) {
    U64 sum = U64(a) * b + c;
    return WithBit<U64>{sum, sum < c};
  }>();
  OpInfo wideSigned = vector<[](I a, I b, I64 c) {
    auto sum = static_cast<I64>(U64(I64(a) * b) + U64(c));
    bool overflows = ((I64(a) * b ^ sum) & (c ^ sum)) < 0;
    return WithBit<I64>{sum, overflows};
  }>();
  for (const char *prefix : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    table.add(prefix, wide.withOwnLow());
  for (const char *prefix : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    table.add(prefix, wideSigned.withOwnLow());
}

static void addShifts(OpTable &table) {
  table.add("v_lshlrev_b32", vector<[](U a, U b) { return b << (a & 31); }>());
  table.add("v_lshrrev_b32", vector<[](U a, U b) { return b >> (a & 31); }>());
  table.add("v_ashrrev_i32", vector<[](U a, I b) { return b >> (a & 31); }>());
  table.add(
      "v_lshlrev_b64",
      OpInfo(vector<[](U a, U64 b) { return b << (a & 63); }>()).withOwnLow());
  table.add("v_lshrrev_b64",
            vector<[](U a, U64 b) { return b >> (a & 63); }>());
  table.add("v_ashrrev_i64",
            vector<[](U a, I64 b) { return b >> (a & 63); }>());
  table.add("v_alignbit_b32", vector<[](U a, U b, U c) {
              return U(((U64(a) << 32) | b) >> (c & 31));
            }>());
  table.add("v_alignbyte_b32", vector<[](U a, U b, U c) {
              return U(((U64(a) << 32) | b) >> (8 * (c & 3)));
            }>());
  table.add("v_bfe_u32", vector<[](U a, U b, U c) {
              U width = c & 31;
              return (a >> (b & 31)) & ((1u << width) - 1);
            }>());
  table.add("v_bfe_i32", vector<[](I a, U b, U c) {
              U width = c & 31;
              U field = U(a) >> (b & 31) & ((1u << width) - 1);
              U sign = width ? 1u << (width - 1) : 0;
              return I((field ^ sign) - sign);
            }>());
  table.add("v_bfi_b32",
            vector<[](U a, U b, U c) { return (a & b) | (~a & c); }>());
  table.add(
      "v_bfm_b32",
      vector<[](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }>());
  table.add(
      "v_perm_b32", vector<[](U a, U b, U c) {
        U64 bytes = U64(a) << 32 | b;
        U result = 0;
        for (unsigned i = 0; i < 4; ++i) {
          U pick = c >> (8 * i) & 0xff;
          U byte = U(bytes >> (8 * (pick & 7))) & 0xff;
          // 8 to 11: the sign of a word; 12: 0; above: 0xff.
          U sign = bytes >> (16 * (pick & 3) + 15) & 1 ? 0xff : 0;
          byte = pick >= 13 ? 0xff : pick == 12 ? 0 : pick >= 8 ? sign : byte;
          result |= byte << (8 * i);
        }
        return result;
      }>());
}

/// Any function of three bits: bit 4a + 2b + c of the instruction's table.
template <class T>
static OpInfo tableOfBits() {
  OpInfo info = vector<[](T a, T b, T c) { return T(a ^ b ^ c); }>();
  info.lanes = [](const LaneArgs &args) {
    const auto *a = static_cast<const T *>(args.in[0]);
    const auto *b = static_cast<const T *>(args.in[1]);
    const auto *c = static_cast<const T *>(args.in[2]);
    auto *out = static_cast<T *>(args.out);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      T result = 0;
      for (unsigned row = 0; row < 8; ++row) {
        T isRow = T((row & 4 ? a[lane] : T(~a[lane])) &
                    (row & 2 ? b[lane] : T(~b[lane])) &
                    (row & 1 ? c[lane] : T(~c[lane])));
        result = T(result | (args.immediate >> row & 1 ? isRow : T(0)));
      }
      out[lane] = result;
    }
  };
  return info;
}

static void addLogic(OpTable &table) {
  table.add("v_and_b32", vector<[](U a, U b) { return a & b; }>());
  table.add("v_or_b32", vector<[](U a, U b) { return a | b; }>());
  table.add("v_xor_b32", vector<[](U a, U b) { return a ^ b; }>());
  table.add("v_xnor_b32", vector<[](U a, U b) { return ~(a ^ b); }>());
  table.add("v_not_b32", vector<[](U a) { return ~a; }>());
  table.add("v_mov_b32", vector<[](U a) { return a; }>());
  table.add("v_mov_b64", vector<[](U64 a) { return a; }>());
  for (const char *name :
       {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
    table.alias(name, "v_mov_b32");
  table.add("v_and_or_b32",
            vector<[](U a, U b, U c) { return (a & b) | c; }>());
  table.add("v_or3_b32", vector<[](U a, U b, U c) { return a | b | c; }>());
  table.add("v_xor3_b32", vector<[](U a, U b, U c) { return a ^ b ^ c; }>());
  table.add("v_lshl_or_b32",
            vector<[](U a, U b, U c) { return (a << (b & 31)) | c; }>());
  table.add("v_cndmask_b32",
            vector<[](U a, U b, Bit bit) { return bit.set ? b : a; }>());
  table.add("v_bitop3_b32", tableOfBits<U>());
  table.add("v_bitop3_b16", tableOfBits<U16>());
  table.add("v_bfrev_b32",
            vector<[](U a) { return U(__builtin_bitreverse32(a)); }>());
  table.add("v_bcnt_u32_b32",
            vector<[](U a, U b) { return U(std::popcount(a)) + b; }>());
  auto leading = vector<[](U a) { return a ? U(std::countl_zero(a)) : ~0u; }>();
  auto trailing =
      vector<[](U a) { return a ? U(std::countr_zero(a)) : ~0u; }>();
  auto signBits = vector<[](I a) {
    U folded = U(a < 0 ? ~a : a);
    return folded ? U(std::countl_zero(folded)) : ~0u;
  }>();
  table.add("v_ffbh_u32", leading);
  table.add("v_clz_i32_u32", leading);
  table.add("v_ffbl_b32", trailing);
  table.add("v_ctz_i32_b32", trailing);
  table.add("v_ffbh_i32", signBits);
  table.add("v_cls_i32", signBits);
}

static void addOrder(OpTable &table) {
  table.add("v_min_u32", vector<[](U a, U b) { return std::min(a, b); }>());
  table.add("v_max_u32", vector<[](U a, U b) { return std::max(a, b); }>());
  table.add("v_min_i32", vector<[](I a, I b) { return std::min(a, b); }>());
  table.add("v_max_i32", vector<[](I a, I b) { return std::max(a, b); }>());
  table.add(
      "v_min3_u32",
      vector<[](U a, U b, U c) { return std::min(std::min(a, b), c); }>());
  table.add(
      "v_max3_u32",
      vector<[](U a, U b, U c) { return std::max(std::max(a, b), c); }>());
  table.add(
      "v_min3_i32",
      vector<[](I a, I b, I c) { return std::min(std::min(a, b), c); }>());
  table.add(
      "v_max3_i32",
      vector<[](I a, I b, I c) { return std::max(std::max(a, b), c); }>());
  table.add("v_med3_i32", vector<[](I a, I b, I c) {
              return std::max(std::min(a, b), std::min(std::max(a, b), c));
            }>());
  table.add("v_med3_u32", vector<[](U a, U b, U c) {
              return std::max(std::min(a, b), std::min(std::max(a, b), c));
            }>());
  table.add(
      "v_maxmin_i32",
      vector<[](I a, I b, I c) { return std::min(std::max(a, b), c); }>());
  table.add(
      "v_minmax_i32",
      vector<[](I a, I b, I c) { return std::max(std::min(a, b), c); }>());
  table.add(
      "v_maxmin_u32",
      vector<[](U a, U b, U c) { return std::min(std::max(a, b), c); }>());
  table.add(
      "v_minmax_u32",
      vector<[](U a, U b, U c) { return std::max(std::min(a, b), c); }>());
  table.add(
      "v_sad_u32",
      vector<[](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }>());
}

static void addShort(OpTable &table) {
  auto add = vector<[](U16 a, U16 b) { return U16(a + b); }>();
  auto sub = vector<[](U16 a, U16 b) { return U16(a - b); }>();
  table.add("v_min3_u16",
            vector<[](U16 a, U16 b, U16 c) { return std::min({a, b, c}); }>());
  table.add("v_max3_u16",
            vector<[](U16 a, U16 b, U16 c) { return std::max({a, b, c}); }>());
  table.add("v_med3_u16", vector<[](U16 a, U16 b, U16 c) {
              return std::max(std::min(a, b), std::min(std::max(a, b), c));
            }>());
  table.add("v_min3_i16",
            vector<[](I16 a, I16 b, I16 c) { return std::min({a, b, c}); }>());
  table.add("v_max3_i16",
            vector<[](I16 a, I16 b, I16 c) { return std::max({a, b, c}); }>());
  table.add("v_med3_i16", vector<[](I16 a, I16 b, I16 c) {
              return std::max(std::min(a, b), std::min(std::max(a, b), c));
            }>());
  for (const char *infix : {"_u16", "_nc_u16", "_i16", "_nc_i16"}) {
    std::string end = infix;
    table.add("v_add" + end, add);
    table.add("v_sub" + end, sub);
  }
  table.add("v_subrev_u16", vector<[](U16 a, U16 b) { return U16(b - a); }>());
  table.add("v_mul_lo_u16",
            vector<[](U16 a, U16 b) { return U16(U(a) * b); }>());
  OpInfo mad = vector<[](U16 a, U16 b, U16 c) { return U16(U(a) * b + c); }>();
  mad.keepsHigh = true;
  table.add("v_mad_u16", mad);
  table.add("v_mad_i16", mad);
  table.add("v_mad_legacy_u16", mad);
  table.add("v_lshlrev_b16",
            vector<[](U16 a, U16 b) { return U16(U(b) << (a & 15)); }>());
  table.add("v_lshrrev_b16",
            vector<[](U16 a, U16 b) { return U16(b >> (a & 15)); }>());
  table.add("v_ashrrev_i16",
            vector<[](U16 a, I16 b) { return I16(b >> (a & 15)); }>());
  table.add("v_min_u16", vector<[](U16 a, U16 b) { return std::min(a, b); }>());
  table.add("v_max_u16", vector<[](U16 a, U16 b) { return std::max(a, b); }>());
  table.add("v_min_i16", vector<[](I16 a, I16 b) { return std::min(a, b); }>());
  table.add("v_max_i16", vector<[](I16 a, I16 b) { return std::max(a, b); }>());
  table.add("v_and_b16", vector<[](U16 a, U16 b) { return U16(a & b); }>());
  table.add("v_or_b16", vector<[](U16 a, U16 b) { return U16(a | b); }>());
  table.add("v_xor_b16", vector<[](U16 a, U16 b) { return U16(a ^ b); }>());
  table.add("v_not_b16", vector<[](U16 a) { return U16(~a); }>());
  table.add("v_mov_b16", vector<[](U16 a) { return a; }>());
  table.add(
      "v_cndmask_b16",
      vector<[](U16 a, U16 b, Bit bit) { return U16(bit.set ? b : a); }>());
  table.add("v_mad_u32_u16",
            vector<[](U16 a, U16 b, U c) { return U(a) * b + c; }>());
  table.add("v_mad_i32_i16",
            vector<[](I16 a, I16 b, U c) { return U(I(a) * b) + c; }>());
}

void terrazzo::amdsim::addVectorInteger(OpTable &table) {
  addSums(table);
  addProducts(table);
  addShifts(table);
  addLogic(table);
  addOrder(table);
  addShort(table);
}
