//===- Memory.cpp - What accesses of memory share -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>

using namespace terrazzo::amdsim;

static std::string describeAccess(bool writes, unsigned bytes) {
  return (writes ? "write of " : "read of ") + std::to_string(bytes) +
         (bytes == 1 ? " byte" : " bytes");
}

uint8_t *terrazzo::amdsim::checkGlobal(Wave &wave, uint64_t address,
                                       unsigned bytes, bool writes, int lane) {
  Workgroup &group = wave.group;
  const Allocation *allocation = group.lastAllocation;
  if (!allocation || !allocation->contains(address, bytes)) {
    allocation = group.memory.find(address);
    if (!allocation || !allocation->contains(address, bytes))
      fault(ErrorKind::OutOfBounds,
            describeAccess(writes, bytes) + " at " +
                group.memory.describe(address),
            lane);
    group.lastAllocation = allocation;
  }
  if (writes && !allocation->isWritable)
    fault(ErrorKind::ReadOnly,
          describeAccess(writes, bytes) + " at " +
              group.memory.describe(address) + ", which must not be written",
          lane);
  return reinterpret_cast<uint8_t *>(address);
}

uint8_t *terrazzo::amdsim::checkScratch(Wave &wave, uint64_t offset,
                                        unsigned bytes, bool writes, int lane) {
  if (offset >= wave.scratchBytes || bytes > wave.scratchBytes - offset)
    fault(ErrorKind::OutOfBounds,
          describeAccess(writes, bytes) + " at offset " +
              std::to_string(int64_t(offset)) + " of scratch, which has " +
              std::to_string(wave.scratchBytes) + " bytes",
          lane);
  size_t at = size_t(lane) * wave.scratchBytes + offset;
  for (unsigned i = 0; i < bytes; ++i)
    if (writes)
      wave.scratchWritten[at + i] = 1;
    else if (!wave.scratchWritten[at + i])
      fault(ErrorKind::Uninitialized,
            "read of byte " + std::to_string(offset + i) +
                " of scratch, which nothing has written",
            lane);
  return &wave.scratch[at];
}

uint8_t *terrazzo::amdsim::checkLds(Wave &wave, uint64_t address,
                                    unsigned bytes, unsigned alignment,
                                    int lane) {
  Lds &lds = wave.group.lds;
  if (address >= lds.size() || bytes > lds.size() - address)
    fault(ErrorKind::OutOfBounds,
          "access of " + std::to_string(bytes) + " bytes at offset " +
              std::to_string(address) + " of LDS, of which the workgroup has " +
              std::to_string(lds.size()) + " bytes",
          lane);
  if (address & (alignment - 1))
    fault(ErrorKind::Misaligned,
          "access of " + std::to_string(bytes) + " bytes at offset " +
              std::to_string(address) + " of LDS, expected a multiple of " +
              std::to_string(alignment),
          lane);
  return lds.data() + address;
}

void terrazzo::amdsim::checkRead(Wave &wave, const Operand &operand,
                                 unsigned count, uint64_t lanes) {
  if (operand.kind != OperandKind::Vgpr)
    return;
  for (unsigned i = 0; i < count; ++i) {
    wave.checkArrived(operand.index + i, lanes);
    wave.checkWritten(operand.index + i, lanes);
  }
}

PendingAccess &terrazzo::amdsim::startLoad(Wave &wave, const Operand &dst,
                                           unsigned count, uint64_t lanes,
                                           bool isD16, bool isD16High,
                                           Counter counter) {
  for (unsigned i = 0; i < count; ++i) {
    if (wave.pending[dst.index + i] & lanes &&
        !wave.isFilledInOrder(dst.index + i, counter))
      wave.checkArrived(dst.index + i, lanes);
    wave.pending[dst.index + i] |= lanes;
  }
  PendingAccess &access = wave.startAccess();
  access.kind = PendingAccess::Vgprs;
  access.first = dst.index;
  access.count = static_cast<uint16_t>(count);
  access.lanes = lanes;
  access.isHigh = isD16High || dst.isHigh;
  access.isLow = !access.isHigh && (isD16 || dst.isLow);
  access.data.resize(size_t(count) * kLanes);
  return access;
}

uint32_t terrazzo::amdsim::extend(const uint8_t *from, unsigned bytes,
                                  bool isSigned) {
  uint32_t value = 0;
  std::memcpy(&value, from, bytes);
  if (!isSigned)
    return value;
  unsigned shift = 32 - 8 * bytes;
  return uint32_t(int32_t(value << shift) >> shift);
}
