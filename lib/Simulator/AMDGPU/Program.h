//===- Program.h - A kernel, decoded ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_PROGRAM_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_PROGRAM_H

#include "Instruction.h"
#include "terrazzo/Simulator/AMDGPU/CodeObject.h"

#include <vector>

namespace terrazzo::amdsim {

/// All instructions that a kernel may reach: its own function and the others of
/// its object. Not changed by running it.
class Program {
public:
  Program(const CodeObject &object, const KernelInfo &kernel);

  /// The instruction at an address of the object; kNowhere if none begins
  /// there.
  uint32_t indexOf(uint64_t address) const;
  static constexpr uint32_t kNowhere = ~0u;

  const CodeObject &object;
  const KernelInfo &kernel;
  std::vector<Instruction> code;
  uint32_t entry = 0;

private:
  friend class Decoder;
  /// By address / 4, from `first` on.
  std::vector<uint32_t> indices;
  uint64_t first = 0;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_PROGRAM_H
