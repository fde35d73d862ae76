//===- ScalarTest.cpp - Scalar instructions against their formulas --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneKernel.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace terrazzo::amdsim::test;

namespace {
struct Outcome {
  uint64_t value;
  bool scc;
};
/// Finds 64 bits in s[20:21] and s[22:23], leaves 64 in s[24:25].
struct Case {
  const char *text;
  Outcome (*expected)(uint64_t a, uint64_t b);
};
} // namespace

static uint32_t low(uint64_t value) { return uint32_t(value); }
static int64_t signedLow(uint64_t value) { return int32_t(low(value)); }

/// A 32-bit result: the upper word stays 0. SCC is set if it is not 0.
static Outcome bits32(uint64_t value) { return {low(value), low(value) != 0}; }
static Outcome bits64(uint64_t value) { return {value, value != 0}; }

static const Case kCases[] = {
    {"s_add_u32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       uint64_t sum = uint64_t(low(a)) + low(b);
       return Outcome{low(sum), sum > 0xffffffff};
     }},
    {"s_sub_u32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       return Outcome{low(a - b), low(b) > low(a)};
     }},
    {"s_add_i32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       int64_t sum = signedLow(a) + signedLow(b);
       return Outcome{low(uint64_t(sum)), sum != int32_t(sum)};
     }},
    {"s_sub_i32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       int64_t difference = signedLow(a) - signedLow(b);
       return Outcome{low(uint64_t(difference)),
                      difference != int32_t(difference)};
     }},
    {"s_add_u32 s24, s20, s22\ns_addc_u32 s25, s21, s23",
     [](uint64_t a, uint64_t b) {
       return Outcome{a + b, ((unsigned __int128)a + b) >> 64 != 0};
     }},
    {"s_sub_u32 s24, s20, s22\ns_subb_u32 s25, s21, s23",
     [](uint64_t a, uint64_t b) { return Outcome{a - b, b > a}; }},
    {"s_and_b64 s[24:25], s[20:21], s[22:23]",
     [](uint64_t a, uint64_t b) { return bits64(a & b); }},
    {"s_andn2_b64 s[24:25], s[20:21], s[22:23]",
     [](uint64_t a, uint64_t b) { return bits64(a & ~b); }},
    {"s_nor_b32 s24, s20, s22",
     [](uint64_t a, uint64_t b) { return bits32(~(a | b)); }},
    {"s_xnor_b32 s24, s20, s22",
     [](uint64_t a, uint64_t b) { return bits32(~(a ^ b)); }},
    {"s_lshl_b64 s[24:25], s[20:21], s22",
     [](uint64_t a, uint64_t b) { return bits64(a << b % 64); }},
    {"s_ashr_i32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       int64_t divisor = int64_t(1) << b % 32;
       int64_t value = signedLow(a);
       int64_t quotient = value / divisor - (value % divisor < 0);
       return bits32(uint64_t(quotient));
     }},
    {"s_bfe_u32 s24, s20, 0x80004",
     [](uint64_t a, uint64_t) { return bits32(low(a) / 16 % 256); }},
    {"s_bfe_i32 s24, s20, 0x80004",
     [](uint64_t a, uint64_t) {
       return bits32(uint64_t(int64_t(int8_t(low(a) / 16 % 256))));
     }},
    {"s_bfm_b32 s24, s20, s22\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t b) {
       return bits32(((uint64_t(1) << a % 32) - 1) << b % 32);
     }},
    {"s_mul_hi_u32 s24, s20, s22\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t b) {
       return bits32(uint64_t(low(a)) * low(b) / 0x100000000);
     }},
    {"s_mul_hi_i32 s24, s20, s22\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t b) {
       return bits32(uint64_t(signedLow(a) * signedLow(b)) >> 32);
     }},
    {"s_min_i32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       bool first = signedLow(a) < signedLow(b);
       return Outcome{first ? low(a) : low(b), first};
     }},
    {"s_max_u32 s24, s20, s22",
     [](uint64_t a, uint64_t b) {
       bool first = low(a) > low(b);
       return Outcome{first ? low(a) : low(b), first};
     }},
    {"s_cmp_lt_i32 s20, s22\ns_cselect_b64 s[24:25], s[20:21], s[22:23]",
     [](uint64_t a, uint64_t b) {
       bool isLess = signedLow(a) < signedLow(b);
       return Outcome{isLess ? a : b, isLess};
     }},
    {"s_bcnt1_i32_b64 s24, s[20:21]",
     [](uint64_t a, uint64_t) {
       uint64_t count = 0;
       for (; a; a &= a - 1)
         ++count;
       return bits32(count);
     }},
    {"s_ff1_i32_b64 s24, s[20:21]\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t) {
       for (uint32_t i = 0; i < 64; ++i)
         if (a >> i & 1)
           return bits32(i);
       return bits32(0xffffffff);
     }},
    {"s_flbit_i32_b32 s24, s20\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t) {
       for (uint32_t i = 0; i < 32; ++i)
         if (low(a) >> (31 - i) & 1)
           return bits32(i);
       return bits32(0xffffffff);
     }},
    {"s_brev_b32 s24, s20\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t) {
       uint64_t result = 0;
       for (int i = 0; i < 32; ++i)
         result |= (a >> i & 1) << (31 - i);
       return bits32(result);
     }},
    {"s_sext_i32_i8 s24, s20\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t) {
       uint64_t byte = a % 256;
       return bits32(byte < 128 ? byte : byte - 256);
     }},
    {"s_pack_lh_b32_b16 s24, s20, s22\ns_cmp_lg_u32 s24, 0",
     [](uint64_t a, uint64_t b) {
       return bits32(low(a) % 65536 + low(b) / 65536 * 65536ull);
     }},
    {"s_movk_i32 s24, 0xfffe\ns_cmp_lg_u32 s24, 0",
     [](uint64_t, uint64_t) { return bits32(0xfffffffe); }},
    {"s_mov_b32 s24, s20\ns_addk_i32 s24, 0x8000",
     [](uint64_t a, uint64_t) {
       int64_t sum = signedLow(a) - 32768;
       return Outcome{low(uint64_t(sum)), sum != int32_t(sum)};
     }},
    {"s_abs_i32 s24, s20",
     [](uint64_t a, uint64_t) {
       return bits32(uint64_t(std::abs(signedLow(a))));
     }},
    {"s_bitcmp1_b32 s20, s22\ns_cselect_b32 s24, 7, 9",
     [](uint64_t a, uint64_t b) {
       bool isSet = low(a) >> low(b) % 32 & 1;
       return Outcome{isSet ? 7u : 9u, isSet};
     }},
    {"s_cmpk_gt_i32 s20, 0xff00\ns_cselect_b32 s24, 1, 2",
     [](uint64_t a, uint64_t) {
       bool isMore = signedLow(a) > -256;
       return Outcome{isMore ? 1u : 2u, isMore};
     }},
};

TEST(Scalar, Formulas) {
  Words words(21);
  for (const Case &test : kCases)
    for (int round = 0; round < 24; ++round) {
      LaneWords in;
      for (int i = 0; i < 4; ++i)
        in.push_back(words.lanes(64));
      std::string body;
      for (int i = 0; i < 4; ++i)
        body += "v_readfirstlane_b32 s" + std::to_string(20 + i) + ", v" +
                std::to_string(16 + i) + "\n";
      body += std::string("s_mov_b64 s[24:25], 0\n") + test.text +
              "\ns_cselect_b32 s26, 1, 0\n"
              "v_mov_b32 v32, s24\nv_mov_b32 v33, s25\nv_mov_b32 v34, s26";
      LaneWords out = runLanes({.body = body, .outputs = 3}, in);
      uint64_t a = in[0][0] | uint64_t(in[1][0]) << 32;
      uint64_t b = in[2][0] | uint64_t(in[3][0]) << 32;
      Outcome expected = test.expected(a, b);
      ASSERT_EQ(out[0][0] | uint64_t(out[1][0]) << 32, expected.value)
          << test.text << std::hex << " of " << a << ", " << b;
      ASSERT_EQ(out[2][0], uint32_t(expected.scc))
          << test.text << std::hex << " of " << a << ", " << b;
    }
}

/// EXEC is narrowed and given back, and what it excludes stays as it was.
TEST(Scalar, ExecMasksBothSidesOfABranch) {
  std::vector<uint32_t> numbers;
  for (uint32_t lane = 0; lane < 64; ++lane)
    numbers.push_back(lane);
  LaneWords out = runLanes({.body = R"(
    v_mov_b32 v32, 0
    v_cmp_gt_u32 vcc, 10, v16
    s_and_saveexec_b64 s[10:11], vcc
    v_add_u32 v32, 100, v16
    s_xor_b64 exec, exec, s[10:11]
    v_add_u32 v32, 200, v16
    s_mov_b64 exec, s[10:11]
    v_add_u32 v32, 1, v32
  )"},
                           {numbers});
  for (uint32_t lane = 0; lane < 64; ++lane)
    ASSERT_EQ(out[0][lane], lane + (lane < 10 ? 101 : 201));
}

/// A loop counts, a call returns behind itself.
TEST(Scalar, LoopsAndCalls) {
  LaneWords out = runLanes({.body = R"(
    s_mov_b32 s20, 0
    s_mov_b32 s21, 0
  .Lloop:
    s_add_u32 s21, s21, s20
    s_add_u32 s20, s20, 1
    s_cmp_lt_u32 s20, 10
    s_cbranch_scc1 .Lloop
    s_getpc_b64 s[10:11]
    s_add_u32 s10, s10, 16
    s_addc_u32 s11, s11, 0
    s_swappc_b64 s[12:13], s[10:11]
    s_branch .Ldone
    s_add_u32 s21, s21, 1000
    s_setpc_b64 s[12:13]
  .Ldone:
    v_mov_b32 v32, s21
  )"},
                           {});
  EXPECT_EQ(out[0][0], 1045u);
}
