//===- Wave.h - The state of a wave and of its workgroup --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_WAVE_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_WAVE_H

#include "Counters.h"
#include "Fault.h"
#include "Lds.h"
#include "Program.h"
#include "terrazzo/Simulator/AMDGPU/Simulator.h"

#include <bitset>
#include <cstring>

namespace terrazzo::amdsim {

/// Bases of the apertures by which flat accesses reach LDS and scratch, at
/// addresses that no process has.
constexpr uint64_t kSharedAperture = uint64_t(0x7ff1) << 48;
constexpr uint64_t kPrivateAperture = uint64_t(0x7ff2) << 48;

/// The base of the buffer by which gfx90a reaches scratch: an address that no
/// buffer of a kernel has.
constexpr uint64_t kScratchBuffer = 1;

/// What a thread of the simulator counts.
struct Tally {
  std::vector<uint64_t> executed;
  uint64_t bytesLoaded = 0, bytesStored = 0;
  uint64_t ldsAccesses = 0, ldsConflicts = 0;
};

/// What the waves of a workgroup share.
struct Workgroup {
  const Program &program;
  const MemoryMap &memory;
  const Launch &launch;
  Tally &tally;
  Lds lds;
  std::array<uint32_t, 3> id = {};
  const Allocation *lastAllocation = nullptr;
};

enum class WaveStatus : uint8_t { Running, AtBarrier, Finished };

class Wave {
public:
  Wave(Workgroup &group, unsigned number);
  /// Before the first instruction: no register is written.
  void reset();

  uint64_t exec() const {
    uint64_t mask;
    std::memcpy(&mask, &sgprs[kExec], sizeof(mask));
    return mask;
  }
  void setExec(uint64_t mask) { writeScalar64(kExec, mask & allLanes); }

  uint32_t *row(unsigned vgpr) { return &vgprs[size_t(vgpr) * kLanes]; }

  /// Reads of operands for scalar instructions.
  uint32_t readScalar(const Operand &operand);
  uint64_t readScalar64(const Operand &operand);
  /// A mask of lanes: one register in wave32, two in wave64.
  uint64_t readMask(const Operand &operand) {
    return waveSize == 32 ? readScalar(operand) : readScalar64(operand);
  }
  void writeScalar(const Operand &operand, uint32_t value);
  void writeScalar64(const Operand &operand, uint64_t value);
  void writeMask(const Operand &operand, uint64_t value) {
    if (waveSize == 32)
      writeScalar(operand, static_cast<uint32_t>(value));
    else
      writeScalar64(operand, value);
  }
  uint64_t readVcc() const {
    uint64_t mask;
    std::memcpy(&mask, &sgprs[kVcc], sizeof(mask));
    return mask & allLanes;
  }
  void writeScalar64(unsigned index, uint64_t value) {
    std::memcpy(&sgprs[index], &value, sizeof(value));
  }

  /// Throws Fault if a load may still fill one of the lanes.
  void checkArrived(unsigned vgpr, uint64_t lanes) const {
    if (pending[vgpr] & lanes)
      reportPending(vgpr, true);
  }
  void checkScalarArrived(unsigned index, unsigned count) const {
    if (scalarPending.none())
      return;
    for (unsigned i = 0; i < count; ++i)
      if (scalarPending[index + i])
        reportPending(index + i, false);
  }
  /// Whether all that may still fill a register are loads that this counter
  /// alone counts, in order: another one may follow.
  bool isFilledInOrder(unsigned vgpr, Counter counter) const;
  /// Throws Fault if one of the lanes was never written.
  void checkWritten(unsigned vgpr, uint64_t lanes) const {
    if (~written[vgpr] & lanes)
      reportUnwritten(vgpr, ~written[vgpr] & lanes);
  }
  [[noreturn]] void reportPending(unsigned index, bool isVector) const;
  [[noreturn]] void reportUnwritten(unsigned vgpr, uint64_t lanes) const;

  /// An access that occupies counters; more than a counter holds wait.
  PendingAccess &startAccess();
  void waitFor(Counter counter, unsigned count);
  void finishAll();
  void deliver(PendingAccess &access);

  Workgroup &group;
  unsigned number;
  unsigned waveSize;
  uint64_t allLanes;
  WaveStatus status = WaveStatus::Running;
  /// Index of the next instruction.
  uint32_t pc = 0;
  uint32_t current = 0;
  bool scc = false;
  /// The MODE register.
  uint32_t mode = 0;
  uint64_t steps = 0;
  alignas(8) std::array<uint32_t, kScalarRegisters> sgprs;
  std::array<uint64_t, kVgprs> written, pending;
  std::bitset<kScalarRegisters> scalarPending;
  PendingQueue queue;
  /// Accesses of LDS that were under way at the last barrier.
  std::vector<PendingAccess::LdsRange> lateLds;
  /// Of each lane, one after another.
  std::vector<uint8_t> scratch, scratchWritten;
  uint32_t scratchBytes = 0;
  uint64_t barriersSignalled = 0;

private:
  std::vector<uint32_t> vgprs;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_WAVE_H
