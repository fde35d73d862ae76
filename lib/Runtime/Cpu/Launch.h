//===- Launch.h - Running the programs of a grid ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_CPU_LAUNCH_H
#define TERRAZZO_LIB_RUNTIME_CPU_LAUNCH_H

#include "terrazzo/Runtime/CpuAbi.h"
#include "terrazzo/Runtime/Driver.h"

#include <atomic>

namespace terrazzo::runtime {

/// What a launch needs to know of a loaded kernel.
struct CpuProgram {
  KernelEntry entry = nullptr;
  const Artifact *artifact = nullptr;
  const std::string *name = nullptr;
  /// What one program took the last time; 0: it never ran. Only decides whether
  /// waking other threads is worth it.
  std::atomic<uint32_t> nanoseconds{0};
};

/// Runs all programs of the grid and returns when they are done. Throws
/// AssertionFailed, Cancelled, OutOfResources or InvalidArgument.
void runPrograms(CpuProgram &program, const Grid &grid, void *const *args);

/// Throws if TERRAZZO_NUM_THREADS is set to something that is no number of
/// threads.
void checkThreadSetting();

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_CPU_LAUNCH_H
