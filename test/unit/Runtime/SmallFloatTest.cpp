//===- SmallFloatTest.cpp - f16 and bf16 against the processor ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference rounds by value: of the two neighbours of x in the small format
// it takes the nearer one, and of two equally near ones that with an even last
// bit.
//===----------------------------------------------------------------------===//

#include "Runtime/SmallFloat.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace terrazzo::runtime;

namespace {

struct Format {
  uint16_t (*round)(double);
  float (*extend)(uint16_t);
  uint16_t infinity;
};
const Format kF16{roundToF16, extendF16, 0x7C00};
const Format kBF16{roundToBF16, extendBF16, 0x7F80};

/// By bisection over all finite values, which are ordered as their bits are.
uint16_t reference(const Format &format, double x) {
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  double magnitude = std::fabs(x);
  uint16_t low = 0, high = format.infinity;
  while (high - low > 1) {
    uint16_t middle = (low + high) / 2;
    (double(format.extend(middle)) <= magnitude ? low : high) = middle;
  }
  double below = format.extend(low);
  // The format would go on with the step that led to its largest value.
  double above = high == format.infinity
                     ? 2 * below - format.extend(uint16_t(low - 1))
                     : format.extend(high);
  double toBelow = magnitude - below, toAbove = above - magnitude;
  bool isUp = toAbove < toBelow || (toAbove == toBelow && (low & 1));
  return sign | (isUp ? high : low);
}

void checkFormat(const Format &format) {
  for (uint32_t bits = 0; bits < format.infinity; ++bits) {
    double x = format.extend(uint16_t(bits));
    ASSERT_EQ(format.round(x), bits);
    ASSERT_EQ(format.round(-x), bits | 0x8000);
    // The middle between two neighbours, and what lies next to it.
    if (bits + 1 == format.infinity)
      continue;
    double middle = (x + format.extend(uint16_t(bits + 1))) / 2;
    for (double near :
         {middle, std::nextafter(middle, 0), std::nextafter(middle, INFINITY)})
      ASSERT_EQ(format.round(near), reference(format, near)) << near;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    double x = std::bit_cast<double>(random());
    float y = std::bit_cast<float>(uint32_t(random()));
    if (!std::isnan(x)) {
      ASSERT_EQ(format.round(x), reference(format, x)) << x;
    }
    if (!std::isnan(y)) {
      ASSERT_EQ(format.round(y), reference(format, y)) << y;
    }
  }
  uint16_t nan = format.round(std::nan(""));
  EXPECT_TRUE(std::isnan(format.extend(nan)));
  EXPECT_EQ(format.round(INFINITY), format.infinity);
  EXPECT_EQ(format.round(-INFINITY), format.infinity | 0x8000);
  EXPECT_EQ(format.round(1e300), format.infinity);
  EXPECT_EQ(format.round(5e-324), 0);
}

TEST(SmallFloat, f16) { checkFormat(kF16); }
TEST(SmallFloat, bf16) { checkFormat(kBF16); }

TEST(SmallFloat, knownValues) {
  EXPECT_EQ(extendF16(0x3C00), 1.0f);
  EXPECT_EQ(extendF16(0x7BFF), 65504.0f);
  EXPECT_EQ(extendF16(0x0001), 0x1p-24f);
  EXPECT_EQ(extendF16(0xFC00), -INFINITY);
  EXPECT_EQ(roundToF16(65519), 0x7BFF);
  EXPECT_EQ(roundToF16(65520), 0x7C00);
  EXPECT_EQ(roundToBF16(1.00390625), 0x3F80);
  // Rounding to f32 first would turn this into a tie and go down.
  EXPECT_EQ(roundToBF16(1.00390625 + 0x1p-40), 0x3F81);
}

} // namespace
