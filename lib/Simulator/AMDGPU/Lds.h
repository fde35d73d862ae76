//===- Lds.h - Local data share, and who touched it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beside each byte lies who accessed it since the last barrier. Waves run one
// after another, so a race is seen whatever the order: the later one finds the
// traces of the earlier.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_LDS_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_LDS_H

#include <cstdint>
#include <vector>

namespace terrazzo::amdsim {

class Lds {
public:
  void reset(uint32_t bytes, bool tracksRaces);
  uint32_t size() const { return static_cast<uint32_t>(bytes.size()); }
  uint8_t *data() { return bytes.data(); }
  /// Begins the time behind a barrier.
  void passBarrier() { ++epoch; }

  enum class Access : uint8_t { Read, Write, Atomic };
  /// Notes an access of bytes that exist. `value` is what a write puts there
  /// (null: unknown): to write what another wave has written is no race.
  /// Throws Fault for a race.
  void note(uint32_t address, unsigned count, Access access, unsigned wave,
            int lane, const uint8_t *value);
  /// Throws Fault if a byte was never written.
  void checkWritten(uint32_t address, unsigned count, int lane) const;
  void markWritten(uint32_t address, unsigned count);

private:
  struct Trace {
    uint32_t writeEpoch = 0, readEpoch = 0;
    /// Waves that read, as bits; a workgroup has at most 32.
    uint32_t readers = 0;
    uint8_t writer = 0;
    bool isAtomic = false;
  };
  void noteRead(Trace &trace, uint32_t address, Access access, unsigned wave,
                int lane);

  std::vector<uint8_t> bytes, written;
  std::vector<Trace> traces;
  uint32_t epoch = 1;
  bool tracksRaces = true;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_LDS_H
