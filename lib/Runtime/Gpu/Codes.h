//===- Codes.h - Numbers that CUDA and HIP share ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP copied CUDA's numbers. The *Symbols.def files say which constant of the
// vendor's header each is, and a test compares them.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_CODES_H
#define TERRAZZO_LIB_RUNTIME_GPU_CODES_H

#include <cstdint>

namespace terrazzo::runtime::gpu {

enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kCallRequiresNewerDriver = 36,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kInvalidProgramCounter = 718,
  kLaunchFailure = 719,
  kSystemDriverMismatch = 803,
};

enum FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kStaticSharedBytes = 1,
  kLocalBytes = 3,
  kRegisters = 4,
};

enum Flag : unsigned {
  kStreamNonBlocking = 1,
  kEventDefault = 0,
  kEventDisableTiming = 2,
  kHostPortable = 1,
  kHostMapped = 2,
  kCaptureModeRelaxed = 2,
  kNotCapturing = 0,
};

/// A CUtensorMap: what the copy engine reads.
struct alignas(64) TensorMapBytes {
  uint64_t words[16];
};

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_CODES_H
