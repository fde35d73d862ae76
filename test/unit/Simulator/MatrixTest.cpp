//===- MatrixTest.cpp - Layouts of matrix instructions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small integers, which all element types hold, lie in the registers as the ISA
// documents say; the product is compared element by element.
//===----------------------------------------------------------------------===//

#include "LaneKernel.h"

#include <functional>
#include <gtest/gtest.h>

using namespace terrazzo::amdsim::test;

namespace {
/// A place in a factor (row or column, k) or in the product (row, column).
struct At {
  unsigned first, second;
};
struct Layout {
  const char *chip, *text;
  unsigned size, depth;
  /// Registers of a factor and of the product; elements of a factor's word.
  unsigned factorWords, resultWords, perWord;
  uint32_t (*encode)(int value);
  At (*factor)(unsigned lane, unsigned element);
  At (*result)(unsigned lane, unsigned element);
  bool isInteger = false;
};
} // namespace

static uint32_t asHalf(int value) {
  // Integers up to 8.
  if (value == 0)
    return 0;
  uint32_t sign = value < 0 ? 0x8000 : 0, magnitude = uint32_t(std::abs(value));
  uint32_t exponent = 31 - uint32_t(std::countl_zero(magnitude));
  return sign | (15 + exponent) << 10 |
         ((magnitude << (10 - exponent)) & 0x3ff);
}
static uint32_t asBFloat(int value) { return asBits(float(value)) >> 16; }
static uint32_t asByte(int value) { return uint32_t(value) & 255; }
static uint32_t asWord(int value) { return asBits(float(value)); }

static At rows32(unsigned l, unsigned r) {
  return {8 * (r / 4) + 4 * (l / 32) + r % 4, l % 32};
}
static At rows16(unsigned l, unsigned r) { return {4 * (l / 16) + r, l % 16}; }

static const Layout kLayouts[] = {
    {"gfx942", "v_mfma_f32_32x32x8_f16", 32, 8, 2, 16, 2, asHalf,
     [](unsigned l, unsigned e) { return At{l % 32, 4 * (l / 32) + e}; },
     rows32},
    {"gfx942", "v_mfma_f32_16x16x16_f16", 16, 16, 2, 4, 2, asHalf,
     [](unsigned l, unsigned e) { return At{l % 16, 4 * (l / 16) + e}; },
     rows16},
    {"gfx90a", "v_mfma_f32_16x16x16bf16_1k", 16, 16, 2, 4, 2, asBFloat,
     [](unsigned l, unsigned e) { return At{l % 16, 4 * (l / 16) + e}; },
     rows16},
    {"gfx90a", "v_mfma_f32_32x32x2f32", 32, 2, 1, 16, 1, asWord,
     [](unsigned l, unsigned) { return At{l % 32, l / 32}; }, rows32},
    {"gfx942", "v_mfma_f32_16x16x4_f32", 16, 4, 1, 4, 1, asWord,
     [](unsigned l, unsigned) { return At{l % 16, l / 16}; }, rows16},
    {"gfx942", "v_mfma_i32_16x16x32_i8", 16, 32, 2, 4, 4, asByte,
     [](unsigned l, unsigned e) { return At{l % 16, 8 * (l / 16) + e}; },
     rows16, true},
    {"gfx942", "v_mfma_i32_32x32x16_i8", 32, 16, 2, 16, 4, asByte,
     [](unsigned l, unsigned e) { return At{l % 32, 8 * (l / 32) + e}; },
     rows32, true},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16, 32, 4, 4, 2, asBFloat,
     [](unsigned l, unsigned e) { return At{l % 16, 8 * (l / 16) + e}; },
     rows16},
    {"gfx950", "v_mfma_f32_32x32x16_f16", 32, 16, 4, 16, 2, asHalf,
     [](unsigned l, unsigned e) { return At{l % 32, 8 * (l / 32) + e}; },
     rows32},
    {"gfx1100", "v_wmma_f32_16x16x16_f16", 16, 16, 8, 8, 2, asHalf,
     [](unsigned l, unsigned e) { return At{l % 16, e}; },
     [](unsigned l, unsigned r) { return At{2 * r + l / 16, l % 16}; }},
    {"gfx1100", "v_wmma_f32_16x16x16_bf16", 16, 16, 8, 8, 2, asBFloat,
     [](unsigned l, unsigned e) { return At{l % 16, e}; },
     [](unsigned l, unsigned r) { return At{2 * r + l / 16, l % 16}; }},
    {"gfx1201", "v_wmma_f32_16x16x16_f16", 16, 16, 4, 8, 2, asHalf,
     [](unsigned l, unsigned e) { return At{l % 16, 8 * (l / 16) + e}; },
     [](unsigned l, unsigned r) { return At{8 * (l / 16) + r, l % 16}; }},
    {"gfx1201", "v_wmma_f32_16x16x16_bf16", 16, 16, 4, 8, 2, asBFloat,
     [](unsigned l, unsigned e) { return At{l % 16, 8 * (l / 16) + e}; },
     [](unsigned l, unsigned r) { return At{8 * (l / 16) + r, l % 16}; }},
};

static std::string range(unsigned first, unsigned count) {
  return count == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

/// The words of a factor whose element (index, k) is `value(index, k)`.
static LaneWords pack(const Layout &layout,
                      const std::function<int(unsigned, unsigned)> &value) {
  unsigned lanes = lanesOf(layout.chip), bits = 32 / layout.perWord;
  LaneWords words(layout.factorWords, std::vector<uint32_t>(lanes));
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < layout.factorWords * layout.perWord; ++e) {
      At at = layout.factor(lane, e);
      uint32_t encoded = layout.encode(value(at.first, at.second));
      words[e / layout.perWord][lane] |= encoded << bits * (e % layout.perWord);
    }
  return words;
}

static void check(const Layout &layout, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> a(size_t(layout.size) * layout.depth), b(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = int(random() % 15) - 7;
    b[i] = int(random() % 15) - 7;
  }
  auto of = [&](const std::vector<int> &matrix) {
    return [&](unsigned index, unsigned k) {
      return matrix[size_t(index) * layout.depth + k];
    };
  };
  LaneWords in = pack(layout, of(a)), second = pack(layout, of(b));
  in.insert(in.end(), second.begin(), second.end());
  unsigned words = layout.factorWords;
  LaneWords out = runLanes({.chip = layout.chip,
                            .body = std::string(layout.text) + " " +
                                    range(32, layout.resultWords) + ", " +
                                    range(16, words) + ", " +
                                    range(16 + words, words) + ", 0",
                            .outputs = layout.resultWords},
                           in);
  for (unsigned lane = 0; lane < lanesOf(layout.chip); ++lane)
    for (unsigned r = 0; r < layout.resultWords; ++r) {
      At at = layout.result(lane, r);
      int expected = 0;
      for (unsigned k = 0; k < layout.depth; ++k)
        expected += of(a)(at.first, k) * of(b)(at.second, k);
      double found = layout.isInteger ? double(int32_t(out[r][lane]))
                                      : double(asFloat(out[r][lane]));
      ASSERT_EQ(found, expected)
          << layout.chip << " " << layout.text << ", row " << at.first
          << ", column " << at.second;
    }
}

TEST(Matrix, LayoutsElementByElement) {
  for (const Layout &layout : kLayouts)
    for (uint64_t seed = 1; seed <= 3; ++seed)
      check(layout, seed);
}

/// Several small products side by side: 4 x 4 in 16 blocks of lanes.
TEST(Matrix, Blocks) {
  Words words(11);
  std::vector<uint32_t> a = words.moderate(64), b = words.moderate(64);
  LaneWords out =
      runLanes({.body = "v_mfma_f32_4x4x1_16b_f32 v[32:35], v16, v17, 1.0",
                .outputs = 4},
               {a, b});
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned r = 0; r < 4; ++r)
      ASSERT_EQ(asFloat(out[r][lane]),
                asFloat(a[lane / 4 * 4 + r]) * asFloat(b[lane]) + 1.0f);
}

/// Doubles: rows of the product go with the register, not with the lane.
TEST(Matrix, Doubles) {
  std::mt19937_64 random(12);
  double a[16][4], b[4][16];
  LaneWords in(4, std::vector<uint32_t>(64));
  for (unsigned lane = 0; lane < 64; ++lane) {
    double x = a[lane % 16][lane / 16] = double(random() % 1000) / 8;
    double y = b[lane / 16][lane % 16] = double(random() % 1000) / 8;
    uint64_t bits[] = {std::bit_cast<uint64_t>(x), std::bit_cast<uint64_t>(y)};
    for (unsigned w = 0; w < 4; ++w)
      in[w][lane] = uint32_t(bits[w / 2] >> (32 * (w % 2)));
  }
  LaneWords out = runLanes(
      {.body = "v_mfma_f64_16x16x4_f64 v[32:39], v[16:17], v[18:19], 0",
       .outputs = 8},
      in);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      double expected = 0;
      for (unsigned k = 0; k < 4; ++k)
        expected += a[lane / 16 + 4 * r][k] * b[k][lane % 16];
      uint64_t bits = out[2 * r][lane] | uint64_t(out[2 * r + 1][lane]) << 32;
      ASSERT_EQ(std::bit_cast<double>(bits), expected);
    }
}

/// gfx942's 8-bit floats have a bias of 8 and no infinity; gfx950's are OCP's.
TEST(Matrix, EightBitFloatsByChip) {
  for (const char *chip : {"gfx942", "gfx950"}) {
    // 0x38 is 1 with a bias of 7, a half with one of 8.
    std::vector<uint32_t> ones(64, 0x38383838);
    LaneWords out = runLanes(
        {.chip = chip,
         .body = "v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[16:17], v[16:17], 0",
         .outputs = 4},
        {ones, ones});
    float expected = std::string(chip) == "gfx942" ? 32 * 0.25f : 32.0f;
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(asFloat(out[0][lane]), expected) << chip;
  }
}
