//===- Wave.cpp - The state of a wave -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wave.h"

#include <algorithm>
#include <bit>

using namespace terrazzo::amdsim;

Wave::Wave(Workgroup &group, unsigned number)
    : group(group), number(number), waveSize(group.program.kernel.waveSize),
      allLanes(waveSize == 32 ? 0xffffffffull : ~0ull),
      scratchBytes(group.program.kernel.scratchBytes),
      vgprs(size_t(kVgprs) * kLanes) {
  scratch.resize(size_t(scratchBytes) * kLanes);
  scratchWritten.resize(scratch.size());
}

void Wave::reset() {
  written.fill(0);
  pending.fill(0);
  sgprs.fill(0xdeadbeef);
  scalarPending.reset();
  queue.clear();
  lateLds.clear();
  std::fill(scratchWritten.begin(), scratchWritten.end(), 0);
  status = WaveStatus::Running;
  scc = false;
  steps = 0;
  barriersSignalled = 0;
  mode = group.program.kernel.floatMode;
  pc = group.program.entry;
}

/// What operands that are no registers read as; 32 bits of it for some.
static uint64_t readSpecial(Wave &wave, const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Integer:
  case OperandKind::Float:
    return operand.value;
  case OperandKind::Scc:
    return wave.scc;
  case OperandKind::Vccz:
    return wave.readVcc() == 0;
  case OperandKind::Execz:
    return wave.exec() == 0;
  case OperandKind::SharedBase:
    return kSharedAperture;
  case OperandKind::PrivateBase:
    return kPrivateAperture;
  case OperandKind::SharedLimit:
    return kSharedAperture + 0xffffffff;
  case OperandKind::PrivateLimit:
    return kPrivateAperture + 0xffffffff;
  case OperandKind::Null:
  case OperandKind::Off:
    return 0;
  default:
    fault(ErrorKind::Unsupported, "an operand that no scalar can be read from");
  }
}

uint32_t Wave::readScalar(const Operand &operand) {
  if (operand.kind != OperandKind::Sgpr) {
    uint64_t value = readSpecial(*this, operand);
    // The bases are the upper halves: `s_mov_b32 s0, src_shared_base` and the
    // 64-bit form of it both find the address in the upper word.
    bool isBase = operand.kind >= OperandKind::SharedBase &&
                  operand.kind <= OperandKind::PrivateLimit;
    return static_cast<uint32_t>(isBase ? value >> 32 : value);
  }
  checkScalarArrived(operand.index, 1);
  return sgprs[operand.index];
}

uint64_t Wave::readScalar64(const Operand &operand) {
  if (operand.kind != OperandKind::Sgpr)
    return readSpecial(*this, operand);
  checkScalarArrived(operand.index, 2);
  uint64_t value;
  std::memcpy(&value, &sgprs[operand.index], sizeof(value));
  return value;
}

void Wave::writeScalar(const Operand &operand, uint32_t value) {
  if (operand.kind != OperandKind::Sgpr)
    return;
  checkScalarArrived(operand.index, 1);
  sgprs[operand.index] = value;
  if (waveSize == 32 && operand.index == kExec)
    sgprs[kExec + 1] = 0;
}

void Wave::writeScalar64(const Operand &operand, uint64_t value) {
  if (operand.kind != OperandKind::Sgpr)
    return;
  checkScalarArrived(operand.index, 2);
  writeScalar64(operand.index, value);
}

void Wave::reportPending(unsigned index, bool isVector) const {
  std::string name = isVector ? (index >= kFirstAccumulator ? "a" : "v") : "s";
  unsigned shown = isVector ? index % kFirstAccumulator : index;
  for (const PendingAccess &access : queue.all()) {
    auto kind = isVector ? PendingAccess::Vgprs : PendingAccess::Sgprs;
    if (access.kind != kind || index < access.first ||
        index >= unsigned(access.first) + access.count)
      continue;
    const Instruction &load = group.program.code[access.instruction];
    SourceLine line = group.program.object.lineOf(load.address);
    std::string where =
        line.line ? " of line " + std::to_string(line.line) : std::string();
    name += std::to_string(shown);
    name.append(" is used before a wait covers '").append(load.text);
    name.append("'").append(where).append(" that fills it");
    fault(ErrorKind::MissingWait, name);
  }
  fault(ErrorKind::MissingWait, name + std::to_string(shown) +
                                    " is used while a load may still fill it");
}

void Wave::reportUnwritten(unsigned vgpr, uint64_t lanes) const {
  bool isAccumulator = vgpr >= kFirstAccumulator;
  fault(ErrorKind::Uninitialized,
        (isAccumulator ? "a" : "v") + std::to_string(vgpr % kFirstAccumulator) +
            " is used, which nothing has written",
        std::countr_zero(lanes));
}

PendingAccess &Wave::startAccess() {
  PendingAccess &access = queue.push();
  access.instruction = current;
  return access;
}

void Wave::deliver(PendingAccess &access) {
  switch (access.kind) {
  case PendingAccess::Store:
    return;
  case PendingAccess::Sgprs:
    for (unsigned i = 0; i < access.count; ++i) {
      sgprs[access.first + i] = access.data[i];
      scalarPending.reset(access.first + i);
    }
    return;
  case PendingAccess::LdsWrite:
    for (size_t i = 0; i < access.addresses.size(); ++i) {
      std::memcpy(group.lds.data() + access.addresses[i], &access.data[i], 4);
      group.lds.markWritten(access.addresses[i], 4);
    }
    return;
  case PendingAccess::Vgprs:
    break;
  }
  for (unsigned i = 0; i < access.count; ++i) {
    unsigned vgpr = access.first + i;
    uint32_t *to = row(vgpr);
    const uint32_t *from = &access.data[size_t(i) * kLanes];
    uint32_t keep = access.isLow ? 0xffff0000 : access.isHigh ? 0xffff : 0;
    unsigned shift = access.isHigh ? 16 : 0;
    if (access.lanes == ~0ull && keep == 0)
      std::memcpy(to, from, sizeof(uint32_t) * kLanes);
    else
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (access.lanes >> lane & 1)
          to[lane] = (to[lane] & keep) | (from[lane] << shift);
    pending[vgpr] &= ~access.lanes;
    written[vgpr] |= access.lanes;
  }
}

bool Wave::isFilledInOrder(unsigned vgpr, Counter counter) const {
  return std::ranges::all_of(queue.all(), [&](const PendingAccess &access) {
    bool fills = access.kind == PendingAccess::Vgprs && vgpr >= access.first &&
                 vgpr < unsigned(access.first) + access.count;
    return !fills || (access.isOrdered && access.counters == 1u << counter);
  });
}

void Wave::waitFor(Counter counter, unsigned count) {
  bool hasFilled = false;
  queue.wait(counter, count, [&](PendingAccess &access) {
    hasFilled |= access.kind == PendingAccess::Vgprs;
    deliver(access);
  });
  if (!hasFilled)
    return;
  // A later load may fill the same register.
  for (const PendingAccess &access : queue.all())
    if (access.kind == PendingAccess::Vgprs)
      for (unsigned i = 0; i < access.count; ++i)
        pending[access.first + i] |= access.lanes;
}

void Wave::finishAll() {
  for (unsigned counter = 0; counter < kCounters; ++counter)
    waitFor(static_cast<Counter>(counter), 0);
}
