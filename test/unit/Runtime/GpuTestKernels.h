//===- GpuTestKernels.h - Kernels for the drivers of GPUs --------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_GPUTESTKERNELS_H
#define TERRAZZO_TEST_UNIT_RUNTIME_GPUTESTKERNELS_H

#include "DriverConformance.h"

namespace terrazzo::test {

/// add(x, y, out, n), in blocks of 64 threads.
Artifact cudaAdd();
Artifact hipStubAdd();

/// prints(failing): program p prints {100 p, 100 p + 1, ..} of shape 4 by two
/// threads; the program `failing` fails an assertion.
Artifact cudaPrints();
Artifact hipStubPrints();

/// fault(): writes to an address that is none. PTX only.
Artifact cudaFault();

/// The device of this machine, and those that the build's stubs pretend.
Subject realCuda();
#ifdef TERRAZZO_GPU_STUBS
Subject stubCuda();
Subject stubHip();
Subject stubOldHip(); ///< without hipLaunchHostFunc
#endif

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_RUNTIME_GPUTESTKERNELS_H
