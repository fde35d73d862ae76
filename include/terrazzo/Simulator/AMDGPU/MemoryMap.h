//===- MemoryMap.h - The memory that kernels may access ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SIMULATOR_AMDGPU_MEMORYMAP_H
#define TERRAZZO_SIMULATOR_AMDGPU_MEMORYMAP_H

#include <cstdint>
#include <map>
#include <string>

namespace terrazzo::amdsim {

/// A range of this process's memory.
struct Allocation {
  uint64_t base = 0, size = 0;
  std::string name;
  bool isWritable = true;

  /// Whether `bytes` bytes from `address` on lie in it.
  bool contains(uint64_t address, uint64_t bytes) const {
    return address - base < size && bytes <= size - (address - base);
  }
};

/// All ranges that a kernel may access, by address. Not changed during a
/// launch.
class MemoryMap {
public:
  /// Ranges do not overlap: throws Error of the kind Launch otherwise.
  void add(const void *base, uint64_t size, std::string name,
           bool isWritable = true);
  void remove(const void *base);
  /// The range that holds the address, or null.
  const Allocation *find(uint64_t address) const;
  /// The address in words: the nearest range and the distance to it.
  std::string describe(uint64_t address) const;

private:
  std::map<uint64_t, Allocation> ranges;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_SIMULATOR_AMDGPU_MEMORYMAP_H
