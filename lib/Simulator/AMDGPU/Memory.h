//===- Memory.h - What accesses of memory share -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_MEMORY_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_MEMORY_H

#include "OpTable.h"
#include "Operands.h"

namespace terrazzo::amdsim {

/// Where a lane's access goes.
enum class Space : uint8_t { Global, Scratch, Lds, Nowhere };

struct LaneAddress {
  uint64_t address = 0;
  Space space = Space::Global;
};

/// The addresses of all lanes in EXEC.
struct Addresses {
  uint64_t lanes = 0;
  std::array<LaneAddress, kLanes> at;
  bool mayBeLds = false;
};

/// The bytes of an access, as they lie in this process. Throws Fault for what
/// is out of bounds, misaligned or must not be written.
uint8_t *checkGlobal(Wave &wave, uint64_t address, unsigned bytes, bool writes,
                     int lane);
uint8_t *checkScratch(Wave &wave, uint64_t offset, unsigned bytes, bool writes,
                      int lane);
uint8_t *checkLds(Wave &wave, uint64_t address, unsigned bytes,
                  unsigned alignment, int lane);

/// Registers that an access reads: they have arrived and are written.
void checkRead(Wave &wave, const Operand &operand, unsigned count,
               uint64_t lanes);

/// Marks registers as filled by an access that is under way, which only
/// `counter` counts if that is known. Loads that return in order may fill one
/// register.
PendingAccess &startLoad(Wave &wave, const Operand &dst, unsigned count,
                         uint64_t lanes, bool isD16, bool isD16High,
                         Counter counter = kCounters);

/// How one element of a load fills its registers: extended or joined.
uint32_t extend(const uint8_t *from, unsigned bytes, bool isSigned);

/// An atomic operation on memory that other threads may access, too. Gives the
/// old value.
uint64_t applyAtomic(uint8_t *place, unsigned operation, unsigned bytes,
                     uint64_t data, uint64_t compare, bool isShared);
/// The operation of a name without prefix and type; -1 if it is none. "add",
/// "umin", "pk_add_f16" and so on.
int findAtomic(std::string_view name);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_MEMORY_H
