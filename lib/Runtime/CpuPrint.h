//===- CpuPrint.h - Output of device prints ----------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_CPUPRINT_H
#define TERRAZZO_LIB_RUNTIME_CPUPRINT_H

#include "terrazzo/Support/Artifact.h"

#include <array>
#include <cstdint>
#include <string>

namespace terrazzo::runtime {

/// The lines of one operand of a device print: see KernelContext::print.
/// Damaged metadata gives a line that says so.
std::string formatPrint(const Artifact &artifact, uint32_t line,
                        std::array<int32_t, 3> pid, int32_t operand,
                        int32_t count, const void *data);

/// Writes text to file descriptor 1, not interleaved with other such text.
void writeToStandardOutput(const std::string &text);

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_CPUPRINT_H
