//===- HipCode.h - What a stand-in for HIP runs ------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HipStub.cpp is linked with one of two: functions of this process
// (HipTextCode.cpp), or code objects in the simulator (HipSimulatedCode.cpp).
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_HIPCODE_H
#define TERRAZZO_TEST_UNIT_RUNTIME_HIPCODE_H

#include "GpuStub.h"

namespace stub {

/// As hipDeviceProp_t has it: "gfx942:sramecc+:xnack-".
const std::string &chipText();
int waveSize();
unsigned sharedBytes();

/// Adds the kernels of an image to a module; false if it is no code.
bool loadCode(Gpu &gpu, Module &module, const void *image);

/// What the last code that was not success was about; null: nothing is known.
const char *lastFailure();

} // namespace stub

#endif // TERRAZZO_TEST_UNIT_RUNTIME_HIPCODE_H
