//===- Counters.h - Accesses that are under way -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware counts what is under way, and code waits until a count is low
// enough. Here the data of a load arrives no earlier than at a wait that covers
// it; until then its registers must not be touched.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_COUNTERS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_COUNTERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::amdsim {

enum Counter : uint8_t {
  /// vmcnt, loadcnt.
  kLoadCounter,
  /// vscnt, storecnt; gfx9 counts stores as loads.
  kStoreCounter,
  /// lgkmcnt, dscnt.
  kDsCounter,
  /// kmcnt of gfx12: scalar loads. Before, they are counted with LDS.
  kScalarCounter,
  kExportCounter,
  kCounters,
};

/// An access under way.
struct PendingAccess {
  enum Kind : uint8_t { Store, Vgprs, Sgprs, LdsWrite } kind = Store;
  /// Bits of the counters that it still occupies.
  uint8_t counters = 0;
  /// Scalar loads return in any order.
  bool isOrdered = true;
  /// The instruction that made it.
  uint32_t instruction = 0;
  uint16_t first = 0, count = 0;
  bool isLow = false, isHigh = false;
  uint64_t lanes = 0;
  /// For registers of lanes: 64 words each.
  std::vector<uint32_t> data;
  /// For LdsWrite: where the data goes, in order.
  std::vector<uint32_t> addresses;
  /// An access of LDS, which may be seen by others until it is waited for.
  struct LdsRange {
    uint32_t address;
    uint8_t bytes;
    bool isWrite, isAtomic;
  };
  std::vector<LdsRange> lds;
};

/// The accesses of one wave, oldest first.
class PendingQueue {
public:
  PendingAccess &push();
  /// Moves what is certainly complete when the counter is at most `count` to
  /// the end of `done`, in order.
  template <class Deliver>
  void wait(Counter counter, unsigned count, Deliver &&deliver);
  bool isEmpty() const { return accesses.empty(); }
  const std::vector<PendingAccess> &all() const { return accesses; }
  unsigned count(Counter counter) const { return counts[counter]; }
  void occupy(PendingAccess &access, Counter counter) {
    access.counters |= 1u << counter;
    ++counts[counter];
  }
  void clear() {
    accesses.clear();
    counts = {};
  }

private:
  std::vector<PendingAccess> accesses;
  /// Buffers of finished accesses, kept.
  std::vector<PendingAccess> spare;
  std::array<unsigned, kCounters> counts = {};
};

inline PendingAccess &PendingQueue::push() {
  if (spare.empty()) {
    accesses.emplace_back();
    return accesses.back();
  }
  accesses.push_back(std::move(spare.back()));
  spare.pop_back();
  PendingAccess &access = accesses.back();
  access.kind = PendingAccess::Store;
  access.counters = 0;
  access.isOrdered = true;
  access.isLow = access.isHigh = false;
  access.first = access.count = 0;
  access.lanes = 0;
  access.addresses.clear();
  access.lds.clear();
  return access;
}

template <class Deliver>
void PendingQueue::wait(Counter counter, unsigned count, Deliver &&deliver) {
  if (counts[counter] <= count)
    return;
  uint8_t bit = uint8_t(1u << counter);
  // While an access is under way, so are all later ones that keep its order:
  // it is complete once they are more than the counter says.
  unsigned ordered = 0;
  for (const PendingAccess &access : accesses)
    ordered += (access.counters & bit) && access.isOrdered;
  size_t kept = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    PendingAccess &access = accesses[i];
    if (access.counters & bit) {
      unsigned atLeast = access.isOrdered ? ordered-- : 1;
      if (atLeast > count) {
        access.counters &= uint8_t(~bit);
        --counts[counter];
      }
    }
    if (access.counters == 0) {
      deliver(access);
      spare.push_back(std::move(access));
      continue;
    }
    if (kept != i)
      accesses[kept] = std::move(access);
    ++kept;
  }
  accesses.resize(kept);
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_COUNTERS_H
