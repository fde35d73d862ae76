//===- MemoryMap.cpp - The memory that kernels may access -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Simulator/AMDGPU/MemoryMap.h"

#include "terrazzo/Simulator/AMDGPU/Error.h"

#include <cstdio>
#include <iterator>
#include <utility>

using namespace terrazzo::amdsim;

void MemoryMap::add(const void *base, uint64_t size, std::string name,
                    bool isWritable) {
  uint64_t first = reinterpret_cast<uint64_t>(base);
  if (size == 0)
    return;
  auto next = ranges.lower_bound(first);
  const Allocation *clash = find(first);
  if (!clash && next != ranges.end() && next->first - first < size)
    clash = &next->second;
  if (clash)
    throw Error(ErrorKind::Launch,
                "expected ranges of memory that do not overlap, found that '" +
                    name + "' lies in part in '" + clash->name + "'");
  ranges.emplace(first, Allocation{first, size, std::move(name), isWritable});
}

void MemoryMap::remove(const void *base) {
  ranges.erase(reinterpret_cast<uint64_t>(base));
}

const Allocation *MemoryMap::find(uint64_t address) const {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin())
    return nullptr;
  const Allocation &candidate = std::prev(next)->second;
  return candidate.contains(address, 1) ? &candidate : nullptr;
}

std::string MemoryMap::describe(uint64_t address) const {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(address));
  std::string result = text;
  auto next = ranges.upper_bound(address);
  const Allocation *nearest = nullptr;
  if (next != ranges.begin())
    nearest = &std::prev(next)->second;
  if (nearest && nearest->contains(address, 1))
    return result + ", " + std::to_string(address - nearest->base) +
           " bytes into '" + nearest->name + "' of " +
           std::to_string(nearest->size) + " bytes";
  uint64_t below = nearest ? address - nearest->base - nearest->size : ~0ull;
  if (next != ranges.end() && next->first - address < below)
    return result + ", " + std::to_string(next->first - address) +
           " bytes below '" + next->second.name + "' of " +
           std::to_string(next->second.size) + " bytes";
  if (nearest)
    return result + ", " + std::to_string(below) + " bytes behind '" +
           nearest->name + "' of " + std::to_string(nearest->size) + " bytes";
  return result + ", with no memory near";
}
