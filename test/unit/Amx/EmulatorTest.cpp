//===- EmulatorTest.cpp - The AMX emulator, or the processor itself -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each instruction beside what the manual says in plain loops. On a processor
// with AMX the same checks say whether the loops are right.
//===----------------------------------------------------------------------===//

#include "AmxHost.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace terrazzo::test;

namespace {

struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};

/// Tiles 0 (sums, 5 rows of 7), 1 (5 rows of 3 groups), 2 (3 rows of 7 groups)
/// and 3, whole.
TileConfig oddConfig() {
  TileConfig config;
  const int shapes[4][2] = {{5, 28}, {5, 12}, {3, 28}, {16, 64}};
  for (int tile = 0; tile < 4; ++tile) {
    config.rows[tile] = shapes[tile][0];
    config.rowBytes[tile] = shapes[tile][1];
  }
  return config;
}

constexpr int kRows = 5, kColumns = 7, kGroups = 3;
constexpr long kStride = 80;

struct Operands {
  uint8_t a[kRows][kStride], b[kGroups][kStride];
  int32_t sums[kRows][kStride / 4];
};

void fill(void *memory, size_t bytes, uint32_t seed) {
  auto *at = static_cast<uint8_t *>(memory);
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    at[i] = seed >> 24;
  }
}

/// Loads the operands, multiplies by `INSTRUCTION tmm2, tmm1, tmm0`, stores.
#define MULTIPLY(instruction, operands)                                        \
  asm volatile("tileloadd (%0,%3,1), %%tmm1\n\t"                               \
               "tileloaddt1 (%1,%3,1), %%tmm2\n\t"                             \
               "tileloadd (%2,%3,1), %%tmm0\n\t" instruction                   \
               " %%tmm2, %%tmm1, %%tmm0\n\t"                                   \
               "tilestored %%tmm0, (%2,%3,1)"                                  \
               :                                                               \
               : "r"((operands).a), "r"((operands).b), "r"((operands).sums),   \
                 "r"(kStride)                                                  \
               : "memory")

template <typename A, typename B>
void checkBytes(const Operands &before, const Operands &after) {
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      int64_t sum = before.sums[row][column];
      for (int k = 0; k < 4 * kGroups; ++k)
        sum += int64_t(A(before.a[row][k])) *
               B(before.b[k / 4][4 * column + k % 4]);
      EXPECT_EQ(after.sums[row][column], int32_t(sum)) << row << ", " << column;
    }
  // What is not of the tile is as it was.
  EXPECT_EQ(after.sums[0][kColumns], before.sums[0][kColumns]);
}

class Emulator : public testing::Test {
protected:
  void SetUp() override {
    TileConfig config = oddConfig();
    asm volatile("ldtilecfg %0" : : "m"(config));
  }
  void TearDown() override { asm volatile("tilerelease"); }

  AmxHost host;
};

} // namespace

TEST_F(Emulator, bytes) {
  Operands before;
  fill(&before, sizeof(before), 1);
  Operands after = before;
  MULTIPLY("tdpbssd", after);
  checkBytes<int8_t, int8_t>(before, after);
  after = before;
  MULTIPLY("tdpbsud", after);
  checkBytes<int8_t, uint8_t>(before, after);
  after = before;
  MULTIPLY("tdpbusd", after);
  checkBytes<uint8_t, int8_t>(before, after);
  after = before;
  MULTIPLY("tdpbuud", after);
  checkBytes<uint8_t, uint8_t>(before, after);
}

TEST_F(Emulator, pairs) {
  auto bits = [](float value) {
    uint32_t raw;
    std::memcpy(&raw, &value, sizeof(raw));
    return raw;
  };
  Operands before = {};
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < 2 * kGroups; ++k) {
      uint16_t value = bits(float(row * 7 - k * 3)) >> 16;
      std::memcpy(before.a[row] + 2 * k, &value, 2);
    }
  for (int k = 0; k < kGroups; ++k)
    for (int i = 0; i < 2 * kColumns; ++i) {
      uint16_t value = bits(0.5f * float(k - i)) >> 16;
      std::memcpy(before.b[k] + 2 * i, &value, 2);
    }
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column)
      before.sums[row][column] = bits(float(row + column));
  Operands after = before;
  MULTIPLY("tdpbf16ps", after);
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      double sum = row + column;
      for (int k = 0; k < 2 * kGroups; ++k)
        sum += double(row * 7 - k * 3) * 0.5 * (k / 2 - (2 * column + k % 2));
      EXPECT_EQ(uint32_t(after.sums[row][column]), bits(float(sum)));
    }
}

TEST_F(Emulator, denormalsAreZeros) {
  Operands data = {};
  uint16_t denormal = 0x0040, large = 0x7F00; // 2^-127, 2^127
  std::memcpy(data.a[0], &denormal, 2);
  std::memcpy(data.b[0], &large, 2);
  data.sums[0][1] = 0x00400000; // a sum that is denormal
  MULTIPLY("tdpbf16ps", data);
  EXPECT_EQ(data.sums[0][0], 0);
  EXPECT_EQ(data.sums[0][1], 0);
}

TEST_F(Emulator, configurationAndZero) {
  TileConfig expected = oddConfig(), found;
  asm volatile("sttilecfg %0" : "=m"(found));
  EXPECT_EQ(std::memcmp(&found, &expected, sizeof(found)), 0);

  alignas(64) uint8_t from[16][64], to[16][64];
  fill(from, sizeof(from), 2);
  std::memset(to, 0xAA, sizeof(to));
  // A stride by a scaled index, a displacement.
  asm volatile("tileloadd 64(%0,%1,8), %%tmm3\n\t"
               "tilestored %%tmm3, (%2,%1,8)"
               :
               : "r"(&from[-1]), "r"(8L), "r"(to)
               : "memory");
  EXPECT_EQ(std::memcmp(from, to, sizeof(to)), 0);
  asm volatile("tilezero %%tmm3\n\t"
               "tilestored %%tmm3, (%1,%0,8)"
               :
               : "r"(8L), "r"(to)
               : "memory");
  EXPECT_EQ(to[0][0] | to[15][63], 0);
}

TEST_F(Emulator, otherIllegalInstructionsStillEndTheProcess) {
  EXPECT_EXIT(asm volatile("ud2"), testing::KilledBySignal(SIGILL), "");
}
