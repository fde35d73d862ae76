//===- Host.h - What the processor and the system offer ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_CPU_HOST_H
#define TERRAZZO_LIB_RUNTIME_CPU_HOST_H

#include <string_view>

namespace terrazzo::runtime {

struct CpuHost {
  /// Whether the processor has a feature, by LLVM's name for it: "avx512f".
  bool (*hasFeature)(std::string_view feature);
  /// Asks for the use of tile registers; returns 0, or the errno of a refusal.
  int (*requestTileRegisters)();
};

/// The host that kernels are loaded for. Tests replace it: by one whose missing
/// instructions they execute themselves, or whose system refuses.
CpuHost &cpuHost();

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_CPU_HOST_H
