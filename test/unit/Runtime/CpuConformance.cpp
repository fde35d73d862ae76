//===- CpuConformance.cpp - The drivers that every machine has ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverConformance.h"

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

INSTANTIATE_TEST_SUITE_P(
    Host, DriverConformance,
    testing::Values(Subject{"cpu", "cpu", true,
                            [] { return makeArtifact("add", "pppi"); }},
                    Subject{"null", "null", false,
                            [] { return makeArtifact("add", "pppi"); }}),
    labelOf);

TEST(DriverRegistry, namesWhatItKnows) {
  Error error = errorOf([] { openDriver("abacus"); });
  EXPECT_EQ(error.status(), Status::NotFound);
  EXPECT_EQ(error.message(), "open driver: expected one of 'cpu', 'cuda', "
                             "'hip', 'null', found 'abacus'");
}

TEST(DriverRegistry, refusesOptionsThatADriverDoesNotTake) {
  EXPECT_EQ(errorOf([] { openDriver("cpu:fast"); }).status(),
            Status::InvalidArgument);
  EXPECT_EQ(errorOf([] { openDriver("null:fast"); }).status(),
            Status::InvalidArgument);
}
