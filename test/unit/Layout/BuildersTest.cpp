//===- BuildersTest.cpp - Builders against formulas -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Builders.h"
#include "RandomLayout.h"
#include "terrazzo/Layout/Swizzle.h"

#include <algorithm>
#include <numeric>

using llvm::SmallVector;

namespace terrazzo::layout {
namespace {

using Values = SmallVector<int32_t, 4>;

//===----------------------------------------------------------------------===//
// Blocked
//===----------------------------------------------------------------------===//

TEST(Blocked, Known) {
  EXPECT_EQ(blocked({4, 8}, {1, 2}, {2, 4}, {2, 1}, {1, 0}).toString(),
            "register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0]], "
            "warp = [[2, 0]], dims [4, 8]");
  // The rest of the shape goes to registers, surplus lanes and warps hold
  // copies.
  EXPECT_EQ(blocked({2, 16}, {1, 2}, {2, 4}, {2, 1}, {1, 0}).toString(),
            "register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0]], "
            "warp = [[0, 0]], dims [2, 16]");
}

TEST(Blocked, ByIndexArithmetic) {
  forSeeds(200, [](std::mt19937 &random) {
    SmallVector<int32_t> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    SmallVector<int32_t> thread, lanes, warps, shape;
    for (int dim = 0; dim < 3; ++dim) {
      thread.push_back(1 << pick(random, 0, 1));
      lanes.push_back(1 << pick(random, 0, 1));
      warps.push_back(1 << pick(random, 0, 1));
      shape.push_back(thread[dim] * lanes[dim] * warps[dim]
                      << pick(random, 0, 1));
    }
    LinearLayout layout = blocked(shape, thread, lanes, warps, order);
    ASSERT_TRUE(layout.isInvertible());
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat) {
      Values in = layout.unflattenInputs(flat), expected(3, 0);
      int32_t reg = in[0], lane = in[1], warp = in[2];
      for (int32_t dim : order) {
        expected[dim] += reg % thread[dim];
        reg /= thread[dim];
        expected[dim] += lane % lanes[dim] * thread[dim];
        lane /= lanes[dim];
        expected[dim] += warp % warps[dim] * thread[dim] * lanes[dim];
        warp /= warps[dim];
      }
      for (int32_t dim : order) {
        int32_t tile = thread[dim] * lanes[dim] * warps[dim];
        expected[dim] += reg % (shape[dim] / tile) * tile;
        reg /= shape[dim] / tile;
      }
      ASSERT_EQ(layout.apply(in), expected);
    }
  });
}

TEST(Coalesced, Known) {
  EXPECT_EQ(coalesced({16, 64}, {1, 0}, 4, 4, 32),
            blocked({16, 64}, {1, 4}, {2, 16}, {4, 1}, {1, 0}));
  EXPECT_EQ(coalesced({8}, {0}, 4, 2, 4).toString(),
            "register = [[1], [2]], lane = [[4], [0]], warp = [[0]], dims [8]");
  EXPECT_EQ(coalesced({}, {}, 4, 2, 4).toString(),
            "register = [], lane = [[], []], warp = [[]], dims []");
}

TEST(Coalesced, Properties) {
  forSeeds(300, [](std::mt19937 &random) {
    SmallVector<int32_t> shape, order(pick(random, 1, 3));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < order.size(); ++i)
      shape.push_back(1 << pick(random, 0, 5));
    int32_t vector = 1 << pick(random, 0, 4),
            numWarps = 1 << pick(random, 0, 3),
            warpSize = 32 << pick(random, 0, 1);
    LinearLayout layout = coalesced(shape, order, vector, numWarps, warpSize);
    ASSERT_TRUE(layout.isSurjective());
    ASSERT_EQ(layout.inSize(kLane), warpSize);
    ASSERT_EQ(layout.inSize(kWarp), numWarps);
    ASSERT_EQ(layout.withoutZeroRegisters(), layout);
    ASSERT_GE(layout.numConsecutive(kRegister, dimName(order[0])),
              std::min(vector, shape[order[0]]));
    // One register at a time for as long as there are lanes without work.
    int64_t elements = 1;
    for (int32_t size : shape)
      elements *= size;
    int32_t held = std::min(vector, shape[order[0]]);
    ASSERT_EQ(layout.inSize(kRegister),
              std::max<int64_t>(held, elements / numWarps / warpSize));
  });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

TEST(LinearBuffer, Order) {
  LinearLayout rows = linearBuffer({4, 8}, {1, 0});
  LinearLayout columns = linearBuffer({4, 8}, {0, 1});
  for (int32_t offset = 0; offset < 32; ++offset) {
    EXPECT_EQ(rows.apply({offset}), (Values{offset / 8, offset % 8}));
    EXPECT_EQ(columns.apply({offset}), (Values{offset % 4, offset / 4}));
  }
}

TEST(SwizzledBuffer, ByAddress) {
  for (int32_t swizzle : {32, 64, 128})
    for (int32_t elementBytes : {1, 2, 4})
      for (bool turned : {false, true}) {
        SmallVector<int32_t> shape = {16, 128}, order = {1, 0};
        if (turned) {
          std::swap(shape[0], shape[1]);
          std::swap(order[0], order[1]);
        }
        LinearLayout layout =
            swizzledBuffer(shape, order, elementBytes, swizzle);
        ASSERT_TRUE(layout.isInvertible());
        int32_t perRow = swizzle / elementBytes;
        for (int32_t row = 0; row < 16; ++row)
          for (int32_t column = 0; column < 128; ++column) {
            int32_t block = column / perRow;
            int32_t byte =
                ((block * 16 + row) * perRow + column % perRow) * elementBytes;
            int32_t mask = swizzle / 16 - 1;
            byte ^= (byte >> 7 & mask) << 4;
            Values expected = {row, column};
            if (turned)
              std::swap(expected[0], expected[1]);
            ASSERT_EQ(layout.apply({byte / elementBytes}), expected)
                << swizzle << " " << elementBytes;
          }
      }
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

/// Compares with `expected(register, lane, warp)`, all places.
template <typename Expected>
void expectPlaces(const LinearLayout &layout, const Values &sizes,
                  const Values &shape, Expected expected) {
  ASSERT_EQ(layout.inSize(kRegister), sizes[0]);
  ASSERT_EQ(layout.inSize(kLane), sizes[1]);
  ASSERT_EQ(layout.inSize(kWarp), sizes[2]);
  ASSERT_EQ(layout.outShape(), shape);
  for (int32_t reg = 0; reg < sizes[0]; ++reg)
    for (int32_t lane = 0; lane < sizes[1]; ++lane)
      for (int32_t warp = 0; warp < sizes[2]; ++warp)
        ASSERT_EQ(layout.apply({reg, lane, warp}), expected(reg, lane, warp))
            << reg << " " << lane << " " << warp;
}

// The formulas are those of the PTX ISA: groupID = lane >> 2, threadID_in_group
// = lane % 4.

TEST(NvidiaMma, Accumulator) {
  expectPlaces(nvidiaMma(MatrixRole::Accumulator, 32), {4, 32, 1}, {16, 8},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{(lane >> 2) + (i < 2 ? 0 : 8),
                               lane % 4 * 2 + (i & 1)};
               });
}

TEST(NvidiaMma, Bits16) {
  expectPlaces(nvidiaMma(MatrixRole::A, 16), {8, 32, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 bool upper = i < 2 || (i >= 4 && i < 6);
                 return Values{(lane >> 2) + (upper ? 0 : 8),
                               lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)};
               });
  expectPlaces(nvidiaMma(MatrixRole::B, 16), {4, 32, 1}, {16, 8},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8),
                               lane >> 2};
               });
}

TEST(NvidiaMma, Bits8) {
  expectPlaces(nvidiaMma(MatrixRole::A, 8), {16, 32, 1}, {16, 32},
               [](int32_t i, int32_t lane, int32_t) {
                 bool upper = i < 4 || (i >= 8 && i < 12);
                 return Values{(lane >> 2) + (upper ? 0 : 8),
                               lane % 4 * 4 + (i & 3) + (i < 8 ? 0 : 16)};
               });
  expectPlaces(nvidiaMma(MatrixRole::B, 8), {8, 32, 1}, {32, 8},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{lane % 4 * 4 + (i & 3) + (i < 4 ? 0 : 16),
                               lane >> 2};
               });
}

TEST(NvidiaMma, Tf32) {
  expectPlaces(nvidiaMma(MatrixRole::A, 32), {4, 32, 1}, {16, 8},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{(lane >> 2) + (i % 2 == 0 ? 0 : 8),
                               lane % 4 + (i < 2 ? 0 : 4)};
               });
  expectPlaces(nvidiaMma(MatrixRole::B, 32), {2, 32, 1}, {8, 8},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{lane % 4 + (i == 0 ? 0 : 4), lane >> 2};
               });
}

TEST(Wgmma, Fragments) {
  for (int32_t n : {8, 64, 256})
    expectPlaces(wgmmaAccumulator(n), {n / 2, 32, 4}, {64, n},
                 [](int32_t i, int32_t lane, int32_t warp) {
                   return Values{16 * warp + lane / 4 + 8 * (i / 2 % 2),
                                 8 * (i / 4) + 2 * (lane % 4) + i % 2};
                 });
  expectPlaces(wgmmaA(16), {8, 32, 4}, {64, 16},
               [](int32_t i, int32_t lane, int32_t warp) {
                 return Values{16 * warp + lane / 4 + 8 * (i / 2 % 2),
                               8 * (i / 4) + 2 * (lane % 4) + i % 2};
               });
}

TEST(Mfma, Accumulators) {
  expectPlaces(mfma(MatrixRole::Accumulator, 32, 4), {16, 64, 1}, {32, 32},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{8 * (i / 4) + 4 * (lane / 32) + i % 4,
                               lane % 32};
               });
  expectPlaces(mfma(MatrixRole::Accumulator, 16, 4), {4, 64, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{4 * (lane / 16) + i, lane % 16};
               });
}

TEST(Mfma, Operands) {
  for (int32_t size : {16, 32})
    for (int32_t kPerLane : {1, 4, 8}) {
      int32_t k = kPerLane * (64 / size);
      auto a = [&](int32_t i, int32_t lane, int32_t) {
        return Values{lane % size, kPerLane * (lane / size) + i};
      };
      expectPlaces(mfma(MatrixRole::A, size, kPerLane), {kPerLane, 64, 1},
                   {size, k}, a);
      ASSERT_EQ(mfma(MatrixRole::B, size, kPerLane),
                mfma(MatrixRole::A, size, kPerLane).transposeOuts({1, 0}));
    }
}

TEST(Wmma, Rdna3) {
  expectPlaces(wmma(MatrixRole::Accumulator, 11), {8, 32, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{2 * i + lane / 16, lane % 16};
               });
  expectPlaces(
      wmma(MatrixRole::A, 11), {16, 32, 1}, {16, 16},
      [](int32_t i, int32_t lane, int32_t) { return Values{lane % 16, i}; });
  expectPlaces(
      wmma(MatrixRole::B, 11), {16, 32, 1}, {16, 16},
      [](int32_t i, int32_t lane, int32_t) { return Values{i, lane % 16}; });
}

TEST(Wmma, Rdna4) {
  expectPlaces(wmma(MatrixRole::Accumulator, 12), {8, 32, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{8 * (lane / 16) + i, lane % 16};
               });
  expectPlaces(wmma(MatrixRole::A, 12), {8, 32, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{lane % 16, 8 * (lane / 16) + i};
               });
  expectPlaces(wmma(MatrixRole::B, 12), {8, 32, 1}, {16, 16},
               [](int32_t i, int32_t lane, int32_t) {
                 return Values{8 * (lane / 16) + i, lane % 16};
               });
}

TEST(Tiled, OperandsOfOneProduct) {
  // 64 x 64 x 32 by eight warps, two along M, four along N.
  LinearLayout accumulator = nvidiaMma(MatrixRole::Accumulator, 16);
  LinearLayout acc = tiled(accumulator, {64, 64}, {0, 1, 1}, {1, 0});
  LinearLayout a =
      tiled(nvidiaMma(MatrixRole::A, 16), {64, 32}, {0, -1, -1}, {1, 0});
  LinearLayout b =
      tiled(nvidiaMma(MatrixRole::B, 16), {32, 64}, {-1, 1, 1}, {1, 0});
  ASSERT_TRUE(acc.isInvertible());
  ASSERT_TRUE(a.isSurjective());
  ASSERT_TRUE(b.isSurjective());
  // Each warp has the rows of A and the columns of B that its sums need.
  for (int32_t warp = 0; warp < 8; ++warp) {
    EXPECT_EQ(acc.apply({0, 0, warp})[0], a.apply({0, 0, warp})[0]);
    EXPECT_EQ(acc.apply({0, 0, warp})[1], b.apply({0, 0, warp})[1]);
  }
  std::optional<LinearLayout> repetitions = acc.divideLeft(accumulator);
  ASSERT_TRUE(repetitions);
  EXPECT_EQ(repetitions->toString(), "register = [[0, 4], [2, 0]], lane = [], "
                                     "warp = [[1, 0], [0, 1], [0, 2]], "
                                     "dims [4, 8]");
}

TEST(Tiled, SurplusWarpsHoldCopies) {
  LinearLayout layout = tiled(nvidiaMma(MatrixRole::Accumulator, 16), {16, 16},
                              {0, 1, 1}, {1, 0});
  EXPECT_EQ(layout.sublayout({kWarp}, {"dim0", "dim1"}).toString(),
            "warp = [[0, 0], [0, 8], [0, 0]], dims [16, 16]");
}

TEST(Tiled, MatrixOperandsFromBuffers) {
  // What ldmatrix loads with: a swizzled buffer has no conflicts for A's rows,
  // and stores of eight elements a lane have none either.
  LinearLayout buffer = swizzledBuffer({64, 64}, {1, 0}, 2, 128);
  LinearLayout store = coalesced({64, 64}, {1, 0}, 8, 4, 32);
  EXPECT_EQ(vectorElements(store, buffer, 2), 8);
  EXPECT_EQ(bankConflicts(store, buffer, 2), 0);
  LinearLayout a =
      tiled(nvidiaMma(MatrixRole::A, 16), {64, 64}, {0, 0}, {1, 0});
  EXPECT_EQ(vectorElements(a, buffer, 2), 2);
  EXPECT_EQ(bankConflicts(a, buffer, 2), 0);
  EXPECT_EQ(bankConflicts(a, linearBuffer({64, 64}, {1, 0}), 2), 7);
}

} // namespace
} // namespace terrazzo::layout
