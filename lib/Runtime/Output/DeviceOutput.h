//===- DeviceOutput.h - Device prints and assertions ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_OUTPUT_DEVICEOUTPUT_H
#define TERRAZZO_LIB_RUNTIME_OUTPUT_DEVICEOUTPUT_H

#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Artifact.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::runtime {

/// The lines of one operand of a device print: see KernelContext::print.
/// Damaged metadata gives a line that says so.
std::string formatPrint(const Artifact &artifact, uint32_t line,
                        std::array<int32_t, 3> pid, int32_t operand,
                        int32_t count, const void *data);

/// The same of the elements `present` of an operand; data holds all of them.
std::string formatPrint(const Artifact &artifact, uint32_t line,
                        std::array<int32_t, 3> pid, int32_t operand,
                        const std::vector<bool> &present, const void *data);

/// How many elements an operand has and how many bytes each; zero bytes if the
/// metadata is missing or damaged.
struct OperandSize {
  int64_t count = 0;
  int64_t bytes = 0;
};
OperandSize operandSize(const Artifact &artifact, uint32_t line,
                        int32_t operand);

/// The error of a failed device assertion; `line` is the id in the line table.
Error assertionError(const Artifact &artifact, const std::string &kernel,
                     uint32_t line, std::array<int32_t, 3> pid);

/// Writes text to file descriptor 1, not interleaved with other such text.
void writeToStandardOutput(const std::string &text);

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_OUTPUT_DEVICEOUTPUT_H
