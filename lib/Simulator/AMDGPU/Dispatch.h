//===- Dispatch.h - Runs the workgroups of a launch -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_DISPATCH_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_DISPATCH_H

#include "Wave.h"

#include <random>

namespace terrazzo::amdsim {

/// What a launch passes to its kernel in memory.
struct DispatchMemory {
  DispatchMemory(const KernelInfo &kernel, const Launch &launch);
  /// The kernel's arguments, hidden ones too.
  std::vector<uint8_t> arguments;
  /// The packet that a queue would hold (`hsa_kernel_dispatch_packet_t`).
  std::array<uint8_t, 64> packet = {};
};

/// Runs workgroups, one after another, on one thread.
class WorkgroupRunner {
public:
  WorkgroupRunner(const Program &program, const MemoryMap &memory,
                  const Launch &launch, const DispatchMemory &dispatch);
  /// Throws Error.
  void run(const std::array<uint32_t, 3> &id);

  Tally tally;

private:
  void start(Wave &wave);
  void startScalars(Wave &wave);
  void runWave(Wave &wave);
  void runToBarrier();
  void passBarrier();
  [[noreturn]] void report(const Wave &wave, const Fault &fault) const;

  const Launch &launch;
  const DispatchMemory &dispatch;
  Workgroup group;
  std::vector<Wave> waves;
  std::vector<unsigned> order;
  std::mt19937_64 random;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_DISPATCH_H
