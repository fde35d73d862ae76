//===- DataShareTest.cpp - LDS, atomics and other lanes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneKernel.h"

#include <gtest/gtest.h>

using namespace terrazzo::amdsim;
using namespace terrazzo::amdsim::test;

static std::vector<uint32_t> numbers(uint32_t factor = 1) {
  std::vector<uint32_t> result;
  for (uint32_t lane = 0; lane < 64; ++lane)
    result.push_back(lane * factor);
  return result;
}

/// Each width is written and read again, at offsets of both kinds.
TEST(DataShare, WidthsAndSigns) {
  Words words(1);
  LaneWords in = {numbers(16)};
  for (int i = 0; i < 5; ++i)
    in.push_back(words.lanes(64));
  LaneWords out = runLanes({.body = R"(
    ds_write_b128 v16, v[18:21]
    v_mov_b32 v38, -1
    ds_read_b64 v[32:33], v16 offset:8
    ds_read2_b32 v[34:35], v16 offset0:3 offset1:1
    ds_read_u8 v36, v16 offset:5
    ds_read_i16 v37, v16 offset:2
    ds_read_u16_d16_hi v38, v16 offset:4
    s_waitcnt lgkmcnt(0)
  )",
                            .outputs = 7,
                            .ldsBytes = 1024},
                           in);
  for (unsigned lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(out[0][lane], in[4][lane]);
    ASSERT_EQ(out[1][lane], in[5][lane]);
    ASSERT_EQ(out[2][lane], in[5][lane]);
    ASSERT_EQ(out[3][lane], in[3][lane]);
    ASSERT_EQ(out[4][lane], in[3][lane] / 256 % 256);
    ASSERT_EQ(int32_t(out[5][lane]), int16_t(in[2][lane] / 65536));
    ASSERT_EQ(out[6][lane], in[3][lane] % 65536 * 65536 + 65535);
  }
}

/// Lanes that meet in a word are applied one after another; each sees what the
/// ones before it left.
TEST(DataShare, AtomicsReturnWhatWasThere) {
  LaneWords out = runLanes({.body = R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, 0
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    ds_add_rtn_u32 v32, v1, v16
    ds_add_u32 v1, v16
    ds_read_b32 v33, v1
    s_waitcnt lgkmcnt(0)
  )",
                            .outputs = 2,
                            .ldsBytes = 16},
                           {numbers()});
  uint32_t sum = 0;
  for (uint32_t lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(out[0][lane], sum);
    sum += lane;
  }
  EXPECT_EQ(out[1][0], 2 * sum);
}

/// Global atomics of all workgroups come together, whatever the threads.
TEST(DataShare, GlobalAtomicsOfManyWorkgroups) {
  TestLaunch launch({.body = R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_mov_b32 v3, 1.0
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[4:5]
    global_atomic_add_f32 v1, v3, s[4:5] offset:4
    global_atomic_smax v1, v2, s[4:5] offset:8
    global_atomic_pk_add_f16 v1, v3, s[4:5] offset:12
  )",
                     .pointers = 1});
  std::vector<uint32_t> data = {0, 0, 0x80000000, 0};
  launch.buffer(data);
  launch.launch.grid = {16, 2, 1};
  launch.launch.threads = 4;
  launch.run();
  EXPECT_EQ(data[0], 2048u);
  EXPECT_EQ(asFloat(data[1]), 2048.0f);
  EXPECT_EQ(data[2], 1u);
  // 1.0 in f32 is 1.875 in its upper half: sums stay where a half's steps are
  // larger than that.
  EXPECT_EQ(data[3] % 65536, 0u);
  EXPECT_NE(data[3], 0u);
}

/// A comparison stores the second register where memory equals the first, or
/// the other way about, as the generations have it.
TEST(DataShare, CompareAndSwap) {
  for (const char *chip : {"gfx942", "gfx1100"}) {
    bool isCdna = std::string(chip) == "gfx942";
    std::string text = isCdna ? "ds_cmpst_rtn_b32 v32, v1, v3, v4\n"
                              : "ds_cmpstore_rtn_b32 v32, v1, v4, v3\n";
    LaneWords out = runLanes(
        {.chip = chip,
         .body = "v_mov_b32 v1, 0\nv_mov_b32 v2, 5\nds_write_b32 v1, v2\n"
                 "v_mov_b32 v3, 5\nv_mov_b32 v4, 9\n" +
                 text + "ds_read_b32 v33, v1\ns_waitcnt lgkmcnt(0)",
         .outputs = 2,
         .ldsBytes = 16},
        {});
    EXPECT_EQ(out[0][0], 5u) << chip;
    EXPECT_EQ(out[0][1], 9u) << chip;
    EXPECT_EQ(out[1][0], 9u) << chip;
  }
}

TEST(DataShare, PermutationsOfLanes) {
  LaneWords out = runLanes({.body = R"(
    v_xor_b32 v1, 5, v16
    v_lshlrev_b32 v1, 2, v1
    ds_bpermute_b32 v32, v1, v16
    ds_permute_b32 v33, v1, v16
    ds_swizzle_b32 v34, v16 offset:swizzle(SWAP,16)
    ds_swizzle_b32 v35, v16 offset:swizzle(QUAD_PERM,3,2,1,0)
    ds_swizzle_b32 v36, v16 offset:swizzle(BROADCAST,8,3)
    ds_swizzle_b32 v37, v16 offset:swizzle(BITMASK_PERM,"01pi0")
    s_waitcnt lgkmcnt(0)
  )",
                            .outputs = 6},
                           {numbers()});
  for (uint32_t lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(out[0][lane], lane ^ 5);
    ASSERT_EQ(out[1][lane], lane ^ 5);
    ASSERT_EQ(out[2][lane], lane ^ 16);
    ASSERT_EQ(out[3][lane], lane ^ 3);
    ASSERT_EQ(out[4][lane], lane / 8 * 8 + 3);
    uint32_t bits = lane % 32;
    uint32_t mapped = 8 + (bits & 4) + ((bits & 2) ^ 2);
    ASSERT_EQ(out[5][lane], lane / 32 * 32 + mapped);
  }
}

TEST(DataShare, RowsOfWave32) {
  std::vector<uint32_t> lanes;
  for (uint32_t lane = 0; lane < 32; ++lane)
    lanes.push_back(lane);
  LaneWords out =
      runLanes({.chip = "gfx1100",
                .body = "s_mov_b32 s10, 0x76543210\ns_mov_b32 s11, 0xfedcba98\n"
                        "v_permlanex16_b32 v32, v16, s10, s11\n"
                        "v_permlane16_b32 v33, v16, s11, s10\n"
                        "v_mbcnt_lo_u32_b32 v34, -1, 0\n"
                        "v_readlane_b32 s12, v16, 17\nv_mov_b32 v35, s12",
                .outputs = 4},
               {lanes});
  for (uint32_t lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(out[0][lane], lane ^ 16);
    ASSERT_EQ(out[1][lane], lane ^ 8);
    ASSERT_EQ(out[2][lane], lane);
    ASSERT_EQ(out[3][lane], 17u);
  }
}

/// Waves meet at a barrier, in any order: each finds what the others wrote.
TEST(DataShare, BarriersInEveryOrder) {
  for (const char *chip : {"gfx942", "gfx1201"}) {
    bool isCdna = std::string(chip) == "gfx942";
    unsigned wave = isCdna ? 64 : 32;
    std::string wait = isCdna ? "s_waitcnt lgkmcnt(0)\n"
                              : "s_wait_dscnt 0x0\ns_wait_kmcnt 0x0\n";
    std::string barrier =
        isCdna ? "s_barrier\n" : "s_barrier_signal -1\ns_barrier_wait -1\n";
    std::string body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                       "v_and_b32 v0, 0x3ff, v0\n"
                       "v_lshlrev_b32 v0, 2, v0\n" +
                       wait + "ds_write_b32 v0, v0\n" + wait + barrier +
                       "v_xor_b32 v1, " + std::to_string(4 * 3 * wave) +
                       ", v0\nds_read_b32 v1, v1\n" + wait +
                       "global_store_dword v0, v1, s[4:5]";
    for (uint64_t seed = 0; seed < 8; ++seed)
      for (WaveOrder order :
           {WaveOrder::Random, WaveOrder::FirstFirst, WaveOrder::LastFirst}) {
        TestLaunch launch(
            {.chip = chip, .body = body, .pointers = 1, .ldsBytes = 16 * wave});
        std::vector<uint32_t> data(size_t(4) * wave);
        launch.buffer(data);
        launch.launch.block = {4 * wave, 1, 1};
        launch.launch.seed = seed;
        launch.launch.order = order;
        launch.run();
        for (uint32_t i = 0; i < data.size(); ++i)
          ASSERT_EQ(data[i], 4 * (i ^ (3 * wave)));
      }
  }
}

/// Lanes 32 words apart need the same bank.
TEST(DataShare, BankConflictsAreCounted) {
  for (auto [factor, conflicts] : {std::pair(4u, 0u), {8u, 2u}, {128u, 62u}}) {
    TestLaunch launch({.body = "v_and_b32 v0, 0x3ff, v0\n"
                               "v_mul_u32_u24 v1, " +
                               std::to_string(factor) +
                               ", v0\nds_write_b32 v1, v0\n"
                               "s_waitcnt lgkmcnt(0)",
                       .pointers = 0,
                       .ldsBytes = 8192});
    Statistics statistics = launch.run();
    EXPECT_EQ(statistics.ldsAccesses, 1u);
    EXPECT_EQ(statistics.ldsConflicts, conflicts) << factor;
  }
}

/// Raw buffers read 0 and write nothing beyond their last record.
TEST(DataShare, BuffersAreBounded) {
  std::vector<uint32_t> data(64);
  for (uint32_t i = 0; i < 64; ++i)
    data[i] = i + 1;
  TestLaunch launch({.body = R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v0, 2, v0
    s_mov_b32 s6, 128
    s_mov_b32 s7, 0x27000
    s_waitcnt lgkmcnt(0)
    buffer_load_dword v1, v0, s[4:7], 0 offen offset:4
    s_waitcnt vmcnt(0)
    buffer_store_dword v1, v0, s[4:7], 0 offen
  )",
                     .pointers = 1});
  launch.buffer(data);
  launch.run();
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(data[i], i < 31 ? i + 2 : i == 31 ? 0 : i + 1) << i;
}

/// Scratch belongs to each lane.
TEST(DataShare, ScratchOfEachLane) {
  TestLaunch launch({.body = R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_and_b32 v0, 0x3ff, v0
    scratch_store_dword off, v0, off offset:4
    v_mov_b32 v2, 4
    scratch_load_dword v1, v2, off
    v_lshlrev_b32 v0, 2, v0
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_dword v0, v1, s[4:5]
  )",
                     .pointers = 1,
                     .scratchBytes = 16});
  std::vector<uint32_t> data(64);
  launch.buffer(data);
  launch.run();
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(data[i], i);
}
