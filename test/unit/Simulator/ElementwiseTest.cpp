//===- ElementwiseTest.cpp - Whole kernels, from load to store ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include <gtest/gtest.h>

using namespace terrazzo::amdsim;
using namespace terrazzo::amdsim::test;

/// c[i] = a[i] + b[i], 64 elements a workgroup.
static const char *const kVectorAdd = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshl_add_u32 v0, s2, 6, v0
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  global_load_dword v2, v0, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v1, v1, v2
  global_store_dword v0, v1, s[8:9]
)";

TEST(Elementwise, VectorAdd) {
  std::vector<float> a(640), b(640), c(640);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i) * 0.5f;
    b[i] = 3.0f - static_cast<float>(i);
  }
  TestLaunch launch({.body = kVectorAdd, .pointers = 3});
  launch.buffer(a).buffer(b).buffer(c);
  launch.launch.grid = {10, 1, 1};
  Statistics statistics = launch.run();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << "element " << i;
  EXPECT_EQ(statistics.waveInstructions, 10u * 12);
  EXPECT_EQ(statistics.bytesLoaded, 640u * 8);
  EXPECT_EQ(statistics.bytesStored, 640u * 4);
}

TEST(Elementwise, ReadPastTheEndNamesTheArgument) {
  std::vector<float> a(640), b(639), c(640);
  TestLaunch launch({.body = kVectorAdd, .pointers = 3});
  launch.buffer(a, "a").buffer(b, "b").buffer(c, "c");
  launch.launch.grid = {10, 1, 1};
  try {
    launch.run();
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind, ErrorKind::OutOfBounds) << error.what();
    EXPECT_EQ(error.location.lane, 63);
    EXPECT_EQ(error.location.workgroup[0], 9u);
    EXPECT_NE(std::string(error.what()).find("0 bytes behind 'b'"),
              std::string::npos)
        << error.what();
  }
}
