//===- Simulator.h - Runs kernels for AMD GPUs on the CPU -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A functional model: what a launch computes is what the instructions mean, and
// what hardware only sometimes gets wrong (a wait that is missing, waves that
// race) is reported each time. It knows nothing of time.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SIMULATOR_AMDGPU_SIMULATOR_H
#define TERRAZZO_SIMULATOR_AMDGPU_SIMULATOR_H

#include "terrazzo/Simulator/AMDGPU/CodeObject.h"
#include "terrazzo/Simulator/AMDGPU/MemoryMap.h"

#include <array>
#include <cstddef>
#include <memory>

namespace terrazzo::amdsim {

class Program;

/// Which wave runs next when several can.
enum class WaveOrder : uint8_t { Random, FirstFirst, LastFirst };

struct Launch {
  /// In workgroups.
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// In work items.
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// Beyond what the kernel declares.
  uint32_t dynamicLdsBytes = 0;
  /// The explicit arguments, laid out as the metadata says; the hidden ones are
  /// added.
  std::string_view arguments;
  WaveOrder order = WaveOrder::Random;
  uint64_t seed = 1;
  /// 0: as many as the machine has processors.
  unsigned threads = 0;
  /// Of one wave.
  uint64_t stepLimit = 1'000'000'000;
  /// Reports races in LDS.
  bool checksRaces = true;
};

/// What one instruction of the kernel did in a launch.
struct InstructionCount {
  uint64_t address = 0;
  std::string text;
  std::string mnemonic;
  SourceLine source;
  uint64_t executed = 0;
};

struct Statistics {
  std::vector<InstructionCount> instructions;
  uint64_t waveInstructions = 0;
  uint64_t bytesLoaded = 0, bytesStored = 0;
  /// Accesses of LDS, and the cycles that they take beyond one each because
  /// lanes meet in a bank.
  uint64_t ldsAccesses = 0, ldsConflicts = 0;
};

/// A kernel, decoded.
class Simulator {
public:
  Simulator(std::shared_ptr<const CodeObject> object, std::string_view kernel);
  ~Simulator();
  Simulator(Simulator &&) noexcept;

  const KernelInfo &kernel() const;
  /// Runs a launch to its end. Throws Error for the first fault.
  Statistics run(const Launch &launch, const MemoryMap &memory) const;
  /// The instructions that the code has and the model does not.
  std::vector<InstructionCount> unsupported() const;
  /// All instructions, with no counts.
  std::vector<InstructionCount> instructions() const;

private:
  std::shared_ptr<const CodeObject> object;
  std::unique_ptr<Program> program;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_SIMULATOR_AMDGPU_SIMULATOR_H
