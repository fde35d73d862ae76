//===- Cpu.h - Threads of the CPU driver -------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_CPU_H
#define TERRAZZO_RUNTIME_CPU_H

#include <cstdint>

namespace terrazzo::runtime {

/// Most stack that one program may need.
inline constexpr uint64_t kMaxProgramStack = uint64_t(1) << 30;

/// How many threads a launch may use, the caller among them. At first
/// TERRAZZO_NUM_THREADS or else the processors that affinity and quota leave to
/// the process.
int cpuThreads();

/// Sets it, from 1 to 1024; 0 restores the default. Throws on other values.
void setCpuThreads(int count);

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_CPU_H
