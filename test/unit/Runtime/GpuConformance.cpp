//===- GpuConformance.cpp - The drivers of GPUs ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTestKernels.h"

using namespace terrazzo::test;

INSTANTIATE_TEST_SUITE_P(Gpu, DriverConformance, testing::Values(realCuda()),
                         labelOf);
#ifdef TERRAZZO_GPU_STUBS
INSTANTIATE_TEST_SUITE_P(Stub, DriverConformance,
                         testing::Values(stubCuda(), stubHip()), labelOf);
#endif
