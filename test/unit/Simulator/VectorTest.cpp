//===- VectorTest.cpp - Vector instructions against their formulas --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row has an instruction and, written anew, what the ISA documents say of
// a lane. Words are special ones and random ones.
//===----------------------------------------------------------------------===//

#include "LaneKernel.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace terrazzo::amdsim::test;

namespace {
using Words3 = std::array<uint32_t, 3>;
struct Case {
  const char *text;
  uint32_t (*expected)(const Words3 &in);
  /// Results are floats: any NaN is as good as another, and the distance may be
  /// one unit in the last place.
  bool isFloat = false;
  unsigned ulps = 0;
};
} // namespace

static float f(uint32_t bits) { return asFloat(bits); }

/// The value of a half, by its definition.
static double half(uint32_t bits) {
  int exponent = int(bits >> 10 & 31), mantissa = int(bits & 1023);
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return exponent ? sign * std::ldexp(1024 + mantissa, exponent - 25)
                  : sign * std::ldexp(mantissa, -24);
}

/// The half nearest to a value, by search: halves grow with their bits.
static uint32_t nearestHalf(double value) {
  uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7e00;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7c00;
  uint32_t low = 0;
  for (uint32_t bit = 0x4000; bit; bit >>= 1)
    if ((low | bit) < 0x7c00 && half(low | bit) <= magnitude)
      low |= bit;
  double above = (low == 0x7bff ? 65536 : half(low + 1)) - magnitude;
  double below = magnitude - half(low);
  return sign | (above < below || (above == below && low % 2) ? low + 1 : low);
}

static const Case kCases[] = {
    {"v_add_u32 v32, v16, v17", [](const Words3 &w) { return w[0] + w[1]; }},
    {"v_sub_u32 v32, v16, v17", [](const Words3 &w) { return w[0] - w[1]; }},
    {"v_subrev_u32 v32, v16, v17", [](const Words3 &w) { return w[1] - w[0]; }},
    {"v_mul_lo_u32 v32, v16, v17", [](const Words3 &w) { return w[0] * w[1]; }},
    {"v_mul_hi_u32 v32, v16, v17",
     [](const Words3 &w) {
       return uint32_t((unsigned __int128)w[0] * w[1] >> 32);
     }},
    {"v_mul_hi_i32 v32, v16, v17",
     [](const Words3 &w) {
       return uint32_t(uint64_t((__int128)int32_t(w[0]) * int32_t(w[1])) >> 32);
     }},
    {"v_mul_i32_i24 v32, v16, v17",
     [](const Words3 &w) {
       auto low = [](uint32_t x) {
         return int64_t(x % 0x1000000) - (x & 0x800000 ? 0x1000000 : 0);
       };
       return uint32_t(low(w[0]) * low(w[1]));
     }},
    {"v_lshlrev_b32 v32, v16, v17",
     [](const Words3 &w) { return w[1] << w[0] % 32; }},
    {"v_ashrrev_i32 v32, v16, v17",
     [](const Words3 &w) {
       return uint32_t(
           std::floor(std::ldexp(double(int32_t(w[1])), -int(w[0] % 32))) +
           4294967296.0 * (int32_t(w[1]) < 0));
     }},
    {"v_bfi_b32 v32, v16, v17, v18",
     [](const Words3 &w) { return w[2] ^ ((w[1] ^ w[2]) & w[0]); }},
    {"v_bfe_i32 v32, v16, 7, 9",
     [](const Words3 &w) { return uint32_t(int32_t(w[0] << 16) >> 23); }},
    {"v_perm_b32 v32, v16, v17, v18",
     [](const Words3 &w) {
       uint32_t result = 0;
       for (int i = 3; i >= 0; --i) {
         uint32_t pick = w[2] >> 8 * i & 255, byte;
         uint32_t words[2] = {w[1], w[0]};
         if (pick > 12)
           byte = 255;
         else if (pick == 12)
           byte = 0;
         else if (pick >= 8)
           byte = words[(pick - 8) / 2] >> (pick % 2 ? 31 : 15) & 1 ? 255 : 0;
         else
           byte = words[pick / 4] >> 8 * (pick % 4) & 255;
         result = result * 256 + byte;
       }
       return result;
     }},
    {"v_alignbit_b32 v32, v16, v17, 11",
     [](const Words3 &w) { return w[0] << 21 | w[1] >> 11; }},
    {"v_med3_i32 v32, v16, v17, v18",
     [](const Words3 &w) {
       std::array<int32_t, 3> sorted = {int32_t(w[0]), int32_t(w[1]),
                                        int32_t(w[2])};
       std::sort(sorted.begin(), sorted.end());
       return uint32_t(sorted[1]);
     }},
    {"v_bcnt_u32_b32 v32, v16, v17",
     [](const Words3 &w) {
       uint32_t count = w[1];
       for (int i = 0; i < 32; ++i)
         count += w[0] >> i & 1;
       return count;
     }},
    {"v_ffbh_u32 v32, v16",
     [](const Words3 &w) {
       for (uint32_t i = 0; i < 32; ++i)
         if (w[0] >> (31 - i) & 1)
           return i;
       return 0xffffffffu;
     }},
    {"v_and_b32 v32, 0xf0f0, v16",
     [](const Words3 &w) { return w[0] & 0xf0f0; }},
    {"v_add_f32 v32, v16, v17",
     [](const Words3 &w) { return asBits(f(w[0]) + f(w[1])); }, true},
    {"v_sub_f32 v32, -v16, |v17|",
     [](const Words3 &w) { return asBits(-f(w[0]) - std::fabs(f(w[1]))); },
     true},
    {"v_mul_f32 v32, v16, 0.5 clamp",
     [](const Words3 &w) {
       // A NaN becomes 0: the descriptor asks for DX10's clamp.
       double value = double(f(w[0])) * 0.5;
       return asBits(std::isnan(value)
                         ? 0.0f
                         : float(std::fmin(std::fmax(value, 0.0), 1.0)));
     },
     true},
    {"v_fma_f32 v32, v16, v17, v18",
     [](const Words3 &w) {
       return asBits(float((__float128)f(w[0]) * f(w[1]) + f(w[2])));
     },
     true, 0},
    {"v_min_f32 v32, v16, v17",
     [](const Words3 &w) { return asBits(std::fmin(f(w[0]), f(w[1]))); }, true},
    {"v_max_f32 v32, v16, v17",
     [](const Words3 &w) { return asBits(std::fmax(f(w[0]), f(w[1]))); }, true},
    {"v_rndne_f32 v32, v16",
     [](const Words3 &w) {
       double x = f(w[0]), down = std::floor(x);
       if (!(std::fabs(x) < 1e9))
         return w[0];
       double pick = x - down > 0.5 || (x - down == 0.5 && std::fmod(down, 2))
                         ? down + 1
                         : down;
       return asBits(float(std::copysign(pick, x)));
     },
     true},
    {"v_cvt_i32_f32 v32, v16",
     [](const Words3 &w) {
       float x = f(w[0]);
       if (std::isnan(x))
         return 0u;
       return x >= 0x1p31f    ? 0x7fffffffu
              : x <= -0x1p31f ? 0x80000000u
                              : uint32_t(int32_t(x));
     }},
    {"v_cvt_u32_f32 v32, v16",
     [](const Words3 &w) {
       float x = f(w[0]);
       return x >= 0x1p32f ? 0xffffffffu : x > 0 ? uint32_t(x) : 0u;
     }},
    {"v_cvt_f32_u32 v32, v16",
     [](const Words3 &w) { return asBits(float(double(w[0]))); }, true},
    {"v_cvt_f16_f32 v32, v16",
     [](const Words3 &w) { return nearestHalf(f(w[0])); }},
    {"v_cvt_f32_f16 v32, v16",
     [](const Words3 &w) { return asBits(float(half(w[0]))); }, true},
    {"v_exp_f32 v32, v16",
     [](const Words3 &w) {
       double value = std::exp2(double(f(w[0])));
       return asBits(value < 0x1p-126 ? 0.0f : float(value));
     },
     true, 1},
    {"v_ldexp_f32 v32, v16, 3",
     [](const Words3 &w) { return asBits(float(f(w[0]) * 8.0)); }, true},
    {"v_cndmask_b32 v32, v16, v17, s[10:11]",
     [](const Words3 &w) { return w[0]; }},
};

static bool isNan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

static bool agrees(uint32_t found, uint32_t expected, const Case &test) {
  if (found == expected)
    return true;
  // NaNs of halves, in the lower 16 bits.
  bool halfNan = (found & 0x7fff) > 0x7c00 && (expected & 0x7fff) > 0x7c00 &&
                 !test.isFloat && found < 0x10000 && expected < 0x10000;
  if (halfNan || (test.isFloat && isNan(found) && isNan(expected)))
    return true;
  if (test.isFloat && f(found) == 0.0f && f(expected) == 0.0f)
    return true;
  return test.isFloat && test.ulps &&
         (found > expected ? found - expected : expected - found) <= test.ulps;
}

TEST(Vector, FormulasOfOneLane) {
  Words words(42);
  for (const Case &test : kCases)
    for (int round = 0; round < 8; ++round) {
      LaneWords in = {words.lanes(64), words.lanes(64), words.lanes(64)};
      std::string text = std::string("s_mov_b64 s[10:11], 0\n") + test.text;
      LaneWords out = runLanes({.body = text}, in);
      for (unsigned lane = 0; lane < 64; ++lane) {
        Words3 lanes = {in[0][lane], in[1][lane], in[2][lane]};
        uint32_t expected = test.expected(lanes);
        ASSERT_TRUE(agrees(out[0][lane], expected, test))
            << test.text << std::hex << ": of " << lanes[0] << ", " << lanes[1]
            << ", " << lanes[2] << " expected " << expected << ", found "
            << out[0][lane];
      }
    }
}

/// Half arithmetic against doubles, which hold sums and products of halves.
TEST(Vector, Halves) {
  struct HalfCase {
    const char *text;
    double (*expected)(double, double, double);
  };
  static const HalfCase kHalves[] = {
      {"v_add_f16 v32, v16, v17",
       [](double a, double b, double) { return a + b; }},
      {"v_mul_f16 v32, v16, v17",
       [](double a, double b, double) { return a * b; }},
      {"v_max_f16 v32, v16, v17",
       [](double a, double b, double) { return std::fmax(a, b); }},
      {"v_sqrt_f16 v32, |v16|",
       [](double a, double, double) { return std::sqrt(std::fabs(a)); }},
  };
  Words words(7);
  for (const HalfCase &test : kHalves)
    for (int round = 0; round < 8; ++round) {
      LaneWords in = {words.lanes(64), words.lanes(64)};
      LaneWords out = runLanes({.body = test.text}, in);
      for (unsigned lane = 0; lane < 64; ++lane) {
        double a = half(in[0][lane]), b = half(in[1][lane]);
        uint32_t expected = nearestHalf(test.expected(a, b, 0));
        double found = half(out[0][lane]);
        bool bothNan = std::isnan(found) && std::isnan(half(expected));
        ASSERT_TRUE(bothNan || found == half(expected))
            << test.text << " of " << a << ", " << b << " expected "
            << half(expected) << ", found " << found;
        ASSERT_EQ(out[0][lane] >> 16, 0u) << test.text;
      }
    }
}

/// The product and sum of halves are rounded once: the sum needs more bits than
/// a double has, so it is formed in 128 bits here.
TEST(Vector, HalfFmaRoundsOnce) {
  Words words(8);
  auto exact = [](double value) {
    return static_cast<__int128>(std::ldexp(value, 48));
  };
  for (int round = 0; round < 16; ++round) {
    LaneWords in = {words.lanes(64), words.lanes(64), words.lanes(64)};
    LaneWords out = runLanes({.body = "v_fma_f16 v32, v16, v17, v18"}, in);
    for (unsigned lane = 0; lane < 64; ++lane) {
      double a = half(in[0][lane]), b = half(in[1][lane]),
             c = half(in[2][lane]);
      if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
        continue;
      __int128 sum = exact(a * b) + exact(c);
      double found = half(out[0][lane] & 0xffff);
      if (std::isinf(found)) {
        ASSERT_GE(std::fabs(a * b + c), 65519.0);
        continue;
      }
      // Nothing that a half can be is nearer.
      __int128 error = exact(found) - sum;
      error = error < 0 ? -error : error;
      for (int step : {-1, 1}) {
        double other = half((out[0][lane] & 0xffff) + uint32_t(step));
        if (!std::isfinite(other))
          continue;
        __int128 distance = exact(other) - sum;
        distance = distance < 0 ? -distance : distance;
        ASSERT_LE(error, distance) << a << " * " << b << " + " << c;
      }
    }
  }
}

/// a / b by the sequence that compilers emit is the nearest quotient, whatever
/// the operands.
TEST(Vector, DivisionSequence) {
  const char *body = R"(
    v_div_scale_f32 v20, s[12:13], v17, v17, v16
    v_rcp_f32 v21, v20
    v_div_scale_f32 v22, vcc, v16, v17, v16
    v_fma_f32 v23, -v20, v21, 1.0
    v_fmac_f32 v21, v23, v21
    v_mul_f32 v23, v22, v21
    v_fma_f32 v24, -v20, v23, v22
    v_fmac_f32 v23, v24, v21
    v_fma_f32 v20, -v20, v23, v22
    v_div_fmas_f32 v20, v20, v21, v23
    v_div_fixup_f32 v32, v20, v17, v16
  )";
  Words words(3);
  for (int round = 0; round < 64; ++round) {
    LaneWords in = {words.lanes(64), words.lanes(64)};
    LaneWords out = runLanes({.body = body}, in);
    for (unsigned lane = 0; lane < 64; ++lane) {
      float a = f(in[0][lane]), b = f(in[1][lane]), expected = a / b;
      float found = f(out[0][lane]);
      ASSERT_TRUE(found == expected ||
                  (std::isnan(found) && std::isnan(expected)))
          << a << " / " << b << " expected " << expected << ", found " << found;
    }
  }
}

/// Carries go from one word to the next in wave64 and wave32.
TEST(Vector, CarriesOf64Bits) {
  struct Form {
    const char *chip, *body;
  };
  static const Form kForms[] = {
      {"gfx942", "v_add_co_u32 v32, vcc, v16, v18\n"
                 "v_addc_co_u32 v33, vcc, v17, v19, vcc"},
      {"gfx1100", "v_add_co_u32 v32, vcc_lo, v16, v18\n"
                  "v_add_co_ci_u32 v33, vcc_lo, v17, v19, vcc_lo"},
  };
  Words words(5);
  for (const Form &form : kForms) {
    unsigned lanes = lanesOf(form.chip);
    LaneWords in;
    for (int i = 0; i < 4; ++i)
      in.push_back(words.lanes(lanes));
    LaneWords out =
        runLanes({.chip = form.chip, .body = form.body, .outputs = 2}, in);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      uint64_t a = in[0][lane] | uint64_t(in[1][lane]) << 32;
      uint64_t b = in[2][lane] | uint64_t(in[3][lane]) << 32;
      ASSERT_EQ(out[0][lane] | uint64_t(out[1][lane]) << 32, a + b);
    }
  }
}

/// Lanes move within rows of 16 as the controls say; lanes without a source
/// keep what they have.
TEST(Vector, DppControls) {
  struct Control {
    const char *text;
    int (*source)(int lane);
  };
  static const Control kControls[] = {
      {"row_shr:1", [](int l) { return l % 16 ? l - 1 : -1; }},
      {"row_shl:3", [](int l) { return l % 16 < 13 ? l + 3 : -1; }},
      {"row_ror:5", [](int l) { return l / 16 * 16 + (l % 16 + 11) % 16; }},
      {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
      {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
      {"row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
      {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
      {"quad_perm:[1,0,3,2]", [](int l) { return l ^ 1; }},
  };
  std::vector<uint32_t> numbers, marks(64, 1000);
  for (uint32_t lane = 0; lane < 64; ++lane)
    numbers.push_back(lane);
  for (const Control &control : kControls) {
    std::string body = std::string("v_mov_b32 v32, v17\nv_mov_b32_dpp v32, "
                                   "v16 ") +
                       control.text + " row_mask:0xf bank_mask:0xf";
    LaneWords out = runLanes({.body = body}, {numbers, marks});
    for (int lane = 0; lane < 64; ++lane) {
      int from = control.source(lane);
      ASSERT_EQ(out[0][size_t(lane)], from < 0 ? 1000u : uint32_t(from))
          << control.text << ", lane " << lane;
    }
  }
}

/// Both halves of a dual instruction read what was there before it.
TEST(Vector, DualInstructionsExchange) {
  std::vector<uint32_t> ones(32, 1), twos(32, 2);
  LaneWords out =
      runLanes({.chip = "gfx1100",
                .body = "v_dual_mov_b32 v16, v17 :: v_dual_mov_b32 v17, v16\n"
                        "v_mov_b32 v32, v16\nv_mov_b32 v33, v17",
                .outputs = 2},
               {ones, twos});
  EXPECT_EQ(out[0], twos);
  EXPECT_EQ(out[1], ones);
}

/// The table's rows are numbered by the bits of the three sources.
TEST(Vector, TablesOfBits) {
  Words words(10);
  LaneWords in = {words.lanes(64), words.lanes(64), words.lanes(64)};
  LaneWords out =
      runLanes({.chip = "gfx950",
                .body = "v_bitop3_b32 v32, v16, v17, v18 bitop3:0xca\n"
                        "v_bitop3_b32 v33, v16, v17, v18 bitop3:0xf0",
                .outputs = 2},
               in);
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = in[0][lane], b = in[1][lane], c = in[2][lane];
    ASSERT_EQ(out[0][lane], (a & b) | (~a & c));
    ASSERT_EQ(out[1][lane], a);
  }
}

/// Packed floats take each half of each source by op_sel.
TEST(Vector, PackedFloats) {
  Words words(9);
  LaneWords in;
  for (int i = 0; i < 4; ++i)
    in.push_back(words.moderate(64));
  LaneWords out = runLanes({.body = "v_pk_mul_f32 v[32:33], v[16:17], v[18:19] "
                                    "op_sel:[1,0] op_sel_hi:[0,1]\n"
                                    "v_pk_mov_b32 v[34:35], v[16:17], v[18:19] "
                                    "op_sel:[1,0]",
                            .outputs = 4},
                           in);
  for (unsigned lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(f(out[0][lane]), f(in[1][lane]) * f(in[2][lane]));
    ASSERT_EQ(f(out[1][lane]), f(in[0][lane]) * f(in[3][lane]));
    ASSERT_EQ(out[2][lane], in[1][lane]);
    ASSERT_EQ(out[3][lane], in[2][lane]);
  }
}
