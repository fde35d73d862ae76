//===- Lds.cpp - Local data share, and who touched it ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lds.h"

#include "Fault.h"

#include <bit>

using namespace terrazzo::amdsim;

void Lds::reset(uint32_t size, bool tracks) {
  tracksRaces = tracks;
  // Garbage that shows: what a new workgroup finds is what others left.
  bytes.assign(size, 0xa5);
  written.assign(size, 0);
  if (tracksRaces && traces.size() != size)
    traces.assign(size, Trace());
  ++epoch;
}

[[noreturn]] static void reportRace(const char *what, uint32_t address,
                                    const char *other, unsigned otherWave,
                                    int lane) {
  fault(ErrorKind::Race,
        std::string(what) + " of byte " + std::to_string(address) +
            " of LDS, which wave " + std::to_string(otherWave) + " " + other +
            " since the last barrier that both have passed",
        lane);
}

void Lds::note(uint32_t address, unsigned count, Access access, unsigned wave,
               int lane, const uint8_t *value) {
  if (!tracksRaces)
    return;
  for (unsigned i = 0; i < count; ++i) {
    Trace &trace = traces[address + i];
    if (access == Access::Read) {
      noteRead(trace, address + i, access, wave, lane);
      continue;
    }
    bool bothAtomic = access == Access::Atomic && trace.isAtomic;
    bool isSame = value && value[i] == bytes[address + i];
    if (trace.writeEpoch == epoch && trace.writer != wave && !bothAtomic &&
        !isSame)
      reportRace("write", address + i, "wrote", trace.writer, lane);
    uint32_t others = trace.readers & ~(1u << (wave & 31));
    if (trace.readEpoch == epoch && others && !bothAtomic)
      reportRace("write", address + i, "read",
                 static_cast<unsigned>(std::countr_zero(others)), lane);
    trace.writeEpoch = epoch;
    trace.writer = static_cast<uint8_t>(wave);
    trace.isAtomic = access == Access::Atomic;
  }
}

void Lds::noteRead(Trace &trace, uint32_t address, Access access, unsigned wave,
                   int lane) {
  if (trace.writeEpoch == epoch && trace.writer != wave)
    reportRace("read", address, "wrote", trace.writer, lane);
  if (trace.readEpoch != epoch) {
    trace.readEpoch = epoch;
    trace.readers = 0;
  }
  trace.readers |= 1u << (wave & 31);
}

void Lds::checkWritten(uint32_t address, unsigned count, int lane) const {
  for (unsigned i = 0; i < count; ++i)
    if (!written[address + i])
      fault(ErrorKind::Uninitialized,
            "read of byte " + std::to_string(address + i) +
                " of LDS, which nothing has written",
            lane);
}

void Lds::markWritten(uint32_t address, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    written[address + i] = 1;
}
