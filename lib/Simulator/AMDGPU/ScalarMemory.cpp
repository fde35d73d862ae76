//===- ScalarMemory.cpp - Scalar loads ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>

using namespace terrazzo::amdsim;

static Counter scalarCounter(const Wave &wave) {
  return wave.group.program.object.features().generation >= 12 ? kScalarCounter
                                                               : kDsCounter;
}

static void startScalarLoad(Wave &wave, const Instruction &i,
                            const uint8_t *from, unsigned available) {
  wave.checkScalarArrived(i.dst.index, i.memory.registers);
  PendingAccess &access = wave.startAccess();
  access.kind = PendingAccess::Sgprs;
  access.isOrdered = false;
  access.first = i.dst.index;
  access.count = i.memory.registers;
  access.data.assign(access.count, 0);
  for (unsigned r = 0; r < access.count; ++r) {
    uint32_t value = 0;
    unsigned bytes = i.memory.bytes < 4 ? i.memory.bytes : 4;
    if (4 * r + bytes <= available)
      value = extend(from + 4 * size_t(r), bytes, i.memory.isSigned);
    access.data[r] = value;
    wave.scalarPending.set(access.first + r);
  }
  wave.queue.occupy(access, scalarCounter(wave));
}

/// `s_load dst, base, offset`: the offset is a number, a register, or a
/// register and a number (`offset:`).
static void load(Wave &wave, const Instruction &i) {
  uint64_t base = wave.readScalar64(i.src[0]);
  uint64_t offset = i.src[1].kind == OperandKind::Sgpr
                        ? wave.readScalar(i.src[1])
                        : i.src[1].value;
  uint64_t address = base + offset + static_cast<uint64_t>(int64_t(i.offset));
  // The hardware leaves out the lowest bits of an address of words.
  if (i.memory.bytes >= 4)
    address &= ~uint64_t(3);
  const uint8_t *from = checkGlobal(wave, address, i.memory.bytes, false, -1);
  startScalarLoad(wave, i, from, i.memory.bytes);
}

/// What is out of the buffer's range reads as 0.
static void bufferLoad(Wave &wave, const Instruction &i) {
  Operand upper = i.src[0];
  upper.index += 2;
  uint64_t base = wave.readScalar64(i.src[0]) & 0xffffffffffff;
  auto records = static_cast<uint32_t>(wave.readScalar64(upper));
  uint64_t offset = i.src[1].kind == OperandKind::Sgpr
                        ? wave.readScalar(i.src[1])
                        : i.src[1].value;
  offset = (offset + static_cast<uint64_t>(int64_t(i.offset))) & ~uint64_t(3);
  uint64_t available = offset >= records ? 0 : records - offset;
  auto bytes = static_cast<unsigned>(
      std::min<uint64_t>(available, i.memory.bytes) & ~uint64_t(3));
  const uint8_t *from =
      bytes ? checkGlobal(wave, base + offset, bytes, false, -1) : nullptr;
  startScalarLoad(wave, i, from, bytes);
}

void terrazzo::amdsim::addScalarMemory(OpTable &table) {
  struct Width {
    const char *cdna, *rdna;
    uint8_t registers;
  };
  static const Width kWidths[] = {
      {"dword", "b32", 1},    {"dwordx2", "b64", 2},  {"dwordx3", "b96", 3},
      {"dwordx4", "b128", 4}, {"dwordx8", "b256", 8}, {"dwordx16", "b512", 16},
  };
  OpInfo info;
  info.form = OpForm::ScalarMemory;
  info.src = {Type::B64, Type::B32};
  for (const Width &width : kWidths) {
    info.memory.registers = width.registers;
    info.memory.bytes = static_cast<uint8_t>(4 * width.registers);
    for (const char *name : {width.cdna, width.rdna}) {
      info.run = load;
      table.add(std::string("s_load_") + name, info);
      info.run = bufferLoad;
      table.add(std::string("s_buffer_load_") + name, info);
    }
  }
  info.run = load;
  info.memory.registers = 1;
  for (uint8_t bytes : {uint8_t(1), uint8_t(2)})
    for (bool isSigned : {false, true}) {
      info.memory.bytes = bytes;
      info.memory.isSigned = isSigned;
      table.add(std::string("s_load_") + (isSigned ? "i" : "u") +
                    std::to_string(8 * bytes),
                info);
    }
}
