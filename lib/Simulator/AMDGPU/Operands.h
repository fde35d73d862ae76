//===- Operands.h - Sources and results of vector instructions --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_OPERANDS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_OPERANDS_H

#include "Wave.h"

namespace terrazzo::amdsim {

/// Room for the lanes of one source or result.
struct alignas(64) LaneBuffer {
  uint64_t words[kLanes];
  template <class T>
  T *as() {
    return reinterpret_cast<T *>(words);
  }
};

/// A vector instruction's sources, read.
struct Sources {
  LaneBuffer buffers[4];
  const void *lanes[4];
  /// Lanes all of whose sources are defined.
  uint64_t defined = ~0ull;
  /// The same of the low halves of 64-bit sources.
  uint64_t definedLow = ~0ull;
  /// Lanes that are written: EXEC, less those that DPP leaves out.
  uint64_t enabled = 0;
};

void readSources(Wave &wave, const Instruction &instruction, Sources &sources);

/// Writes lanes of a result: 16, 32 or 64 bits each, as the instruction says.
void writeResult(Wave &wave, const Instruction &instruction, LaneBuffer &result,
                 const Sources &sources);

/// Writes 32 bits a lane to a register.
void writeLanes(Wave &wave, unsigned vgpr, const uint32_t *values,
                uint64_t enabled, uint64_t defined);

/// The lanes of a 32-bit operand: a register's own, or `buffer` filled.
const uint32_t *readLanes(Wave &wave, const Operand &operand, unsigned part,
                          LaneBuffer &buffer);

/// A byte of 0 or 1 for each bit, and back.
void expandMask(uint64_t mask, uint8_t *bytes);
uint64_t packMask(const uint8_t *bytes);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_OPERANDS_H
