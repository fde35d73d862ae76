//===- Operands.cpp - Sources and results of vector instructions ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "SmallFloats.h"

#include <algorithm>

using namespace terrazzo::amdsim;

void terrazzo::amdsim::expandMask(uint64_t mask, uint8_t *bytes) {
  for (unsigned i = 0; i < kLanes / 8; ++i) {
    // Each byte of the product holds all eight bits; its own one is kept.
    uint64_t spread = (mask >> (8 * i) & 0xff) * 0x0101010101010101ull;
    spread &= 0x8040201008040201ull;
    spread = ((spread + 0x7f7f7f7f7f7f7f7full) >> 7) & 0x0101010101010101ull;
    // (The sum carries into no other byte: bit 7 is set alone or the rest is
    // at most 0x7f + 0x40.)
    std::memcpy(bytes + 8 * size_t(i), &spread, sizeof(spread));
  }
}

uint64_t terrazzo::amdsim::packMask(const uint8_t *bytes) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < kLanes / 8; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * size_t(i), sizeof(word));
    mask |= (word * 0x0102040810204080ull >> 56) << (8 * i);
  }
  return mask;
}

static void broadcast32(uint32_t value, uint32_t *lanes) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    lanes[lane] = value;
}

const uint32_t *terrazzo::amdsim::readLanes(Wave &wave, const Operand &operand,
                                            unsigned part, LaneBuffer &buffer) {
  if (operand.kind == OperandKind::Vgpr) {
    wave.checkArrived(operand.index + part, wave.exec());
    return wave.row(operand.index + part);
  }
  uint32_t value = 0;
  if (operand.kind == OperandKind::Sgpr) {
    Operand word = operand;
    word.index += part;
    value = wave.readScalar(word);
  } else if (operand.count == 2 && operand.kind != OperandKind::Null) {
    value = static_cast<uint32_t>(wave.readScalar64(operand) >> (32 * part));
  } else {
    // An integer constant of 64 bits is extended by its sign.
    value = operand.isConstant()
                ? static_cast<uint32_t>(operand.value >> (32 * part))
                : (part ? 0 : wave.readScalar(operand));
  }
  broadcast32(value, buffer.as<uint32_t>());
  return buffer.as<uint32_t>();
}

namespace {

/// Reads one source of an instruction.
class SourceReader {
public:
  SourceReader(Wave &wave, const Instruction &instruction, Sources &sources,
               unsigned number)
      : wave(wave), instruction(instruction), sources(sources), number(number),
        operand(instruction.src[number]), type(instruction.types[number]),
        buffer(sources.buffers[number]) {}

  const void *read();

private:
  const uint32_t *word(unsigned part, LaneBuffer &room);
  const uint32_t *permuted(const uint32_t *lanes, LaneBuffer &room);
  void select(uint32_t *lanes) const;
  void read16(const uint32_t *lanes);
  void readPacked16(const uint32_t *lanes);
  void readPackedFloat();
  void modify();

  Wave &wave;
  const Instruction &instruction;
  Sources &sources;
  unsigned number;
  const Operand &operand;
  Type type;
  LaneBuffer &buffer;
  LaneBuffer room;
};

} // namespace

/// Lanes of a source by way of DPP; lanes without a source read 0.
const uint32_t *SourceReader::permuted(const uint32_t *lanes,
                                       LaneBuffer &result) {
  const DppControl &dpp = *instruction.dpp;
  uint64_t exec = wave.exec();
  auto *out = result.as<uint32_t>();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    int from = int{dpp.source[lane]};
    bool isValid = from >= 0 && (dpp.fetchesInactive || exec >> from & 1);
    out[lane] = isValid ? lanes[from] : 0;
  }
  return out;
}

const uint32_t *SourceReader::word(unsigned part, LaneBuffer &result) {
  const uint32_t *lanes = readLanes(wave, operand, part, result);
  if (operand.kind != OperandKind::Vgpr)
    return lanes;
  uint64_t defined = wave.written[operand.index + part];
  if (!instruction.dpp || number != 0) {
    sources.defined &= defined;
    if (part == 0)
      sources.definedLow &= defined;
    return lanes;
  }
  wave.checkArrived(operand.index + part, wave.allLanes);
  if (~defined & wave.exec())
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      int from = int{instruction.dpp->source[lane]};
      if (from >= 0 && (wave.exec() >> from & 1) && !(defined >> from & 1))
        sources.defined &= ~(1ull << lane);
    }
  sources.definedLow &= sources.defined;
  return permuted(lanes, result);
}

/// SDWA: a byte or a word of each lane.
void SourceReader::select(uint32_t *lanes) const {
  unsigned selection = operand.selection;
  bool isByte = selection < 4;
  unsigned shift = isByte ? 8 * selection : 16 * (selection - 4);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t value = lanes[lane] >> shift;
    if (operand.signExtend)
      value = isByte ? uint32_t(int32_t(int8_t(value)))
                     : uint32_t(int32_t(int16_t(value)));
    else
      value &= isByte ? 0xff : 0xffff;
    lanes[lane] = value;
  }
}

void SourceReader::read16(const uint32_t *lanes) {
  auto *out = buffer.as<uint16_t>();
  unsigned shift = operand.isHigh && !operand.isConstant() ? 16 : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = static_cast<uint16_t>(lanes[lane] >> shift);
}

/// Each half of the result has a half of the source of its own.
void SourceReader::readPacked16(const uint32_t *lanes) {
  const PackedControl &packed = instruction.packed;
  unsigned lowShift = packed.opSel >> number & 1 ? 16 : 0;
  unsigned highShift = packed.opSelHi >> number & 1 ? 16 : 0;
  uint32_t flip = (packed.negLo >> number & 1 ? 0x8000u : 0) |
                  (packed.negHi >> number & 1 ? 0x80000000u : 0);
  auto *out = buffer.as<uint32_t>();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t low = lanes[lane] >> lowShift & 0xffff;
    uint32_t high = lanes[lane] >> highShift << 16;
    out[lane] = (low | high) ^ flip;
  }
}

void SourceReader::readPackedFloat() {
  const PackedControl &packed = instruction.packed;
  LaneBuffer other;
  unsigned last =
      operand.kind == OperandKind::Vgpr || operand.kind == OperandKind::Sgpr
          ? operand.count - 1
          : 1;
  const uint32_t *low = word(std::min(last, packed.opSel >> number & 1u), room);
  const uint32_t *high =
      word(std::min(last, packed.opSelHi >> number & 1u), other);
  uint32_t flipLow = packed.negLo >> number & 1 ? 0x80000000u : 0;
  uint32_t flipHigh = packed.negHi >> number & 1 ? 0x80000000u : 0;
  auto *out = buffer.as<uint64_t>();
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = (low[lane] ^ flipLow) | uint64_t(high[lane] ^ flipHigh) << 32;
}

template <class T>
static void modifySigns(T *lanes, bool absolute, bool negate) {
  constexpr T kSign = T(T(1) << (8 * sizeof(T) - 1));
  T keep = absolute ? T(~kSign) : T(~T(0));
  T flip = negate ? kSign : T(0);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    lanes[lane] = T((lanes[lane] & keep) ^ flip);
}

void SourceReader::modify() {
  switch (bitsOf(type)) {
  case 16:
    return modifySigns(buffer.as<uint16_t>(), operand.absolute, operand.negate);
  case 64:
    return modifySigns(buffer.as<uint64_t>(), operand.absolute, operand.negate);
  default:
    return modifySigns(buffer.as<uint32_t>(), operand.absolute, operand.negate);
  }
}

const void *SourceReader::read() {
  if (type == Type::Mask) {
    expandMask(wave.readMask(operand), buffer.as<uint8_t>());
    return buffer.words;
  }
  if (type == Type::PackedF32) {
    readPackedFloat();
    return buffer.words;
  }
  bool hasModifiers = operand.negate || operand.absolute;
  if (bitsOf(type) == 64) {
    LaneBuffer other;
    const uint32_t *low = word(0, room), *high = word(1, other);
    auto *out = buffer.as<uint64_t>();
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out[lane] = low[lane] | uint64_t(high[lane]) << 32;
    if (hasModifiers)
      modify();
    return buffer.words;
  }
  const uint32_t *lanes = word(0, room);
  if (operand.selection != 6) {
    if (lanes != room.as<uint32_t>())
      std::copy_n(lanes, kLanes, room.as<uint32_t>());
    select(room.as<uint32_t>());
    lanes = room.as<uint32_t>();
  }
  if (isPacked(type)) {
    readPacked16(lanes);
    return buffer.words;
  }
  if (bitsOf(type) == 16) {
    read16(lanes);
  } else {
    if (!hasModifiers && operand.kind == OperandKind::Vgpr &&
        lanes != room.as<uint32_t>())
      return lanes;
    std::copy_n(lanes, kLanes, buffer.as<uint32_t>());
  }
  if (hasModifiers)
    modify();
  return buffer.words;
}

void terrazzo::amdsim::readSources(Wave &wave, const Instruction &instruction,
                                   Sources &sources) {
  sources.enabled = wave.exec();
  if (instruction.dpp) {
    const DppControl &dpp = *instruction.dpp;
    sources.enabled &= dpp.enabled;
    if (!dpp.zeroesInvalid)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        int from = int{dpp.source[lane]};
        if (from < 0 || !(dpp.fetchesInactive || wave.exec() >> from & 1))
          sources.enabled &= ~(1ull << lane);
      }
  }
  for (unsigned i = 0; i < instruction.numSources; ++i)
    sources.lanes[i] = SourceReader(wave, instruction, sources, i).read();
}

void terrazzo::amdsim::writeLanes(Wave &wave, unsigned vgpr,
                                  const uint32_t *values, uint64_t enabled,
                                  uint64_t defined) {
  wave.checkArrived(vgpr, enabled);
  uint32_t *to = wave.row(vgpr);
  wave.written[vgpr] = (wave.written[vgpr] & ~enabled) | (defined & enabled);
  if (enabled == wave.allLanes) {
    std::memcpy(to, values, sizeof(uint32_t) * kLanes);
    return;
  }
  alignas(64) uint8_t bytes[kLanes];
  expandMask(enabled, bytes);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = bytes[lane] ? values[lane] : to[lane];
}

/// Joins 16 bits a lane with what the register keeps.
static void widen16(Wave &wave, const Instruction &instruction,
                    LaneBuffer &result, LaneBuffer &wide) {
  const auto *from = result.as<uint16_t>();
  auto *to = wide.as<uint32_t>();
  const uint32_t *old = wave.row(instruction.dst.index);
  bool isHigh = instruction.dst.isHigh;
  bool keeps = instruction.keepsHigh || isHigh || instruction.dst.isLow;
  uint32_t keep = keeps ? (isHigh ? 0xffff : 0xffff0000) : 0;
  unsigned shift = isHigh ? 16 : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = (uint32_t(from[lane]) << shift) | (old[lane] & keep);
}

/// SDWA: puts the result in a byte or a word of the register.
static void insertSelection(Wave &wave, const Instruction &instruction,
                            uint32_t *lanes) {
  unsigned selection = instruction.dstSelection;
  bool isByte = selection < 4;
  unsigned shift = isByte ? 8 * selection : 16 * (selection - 4);
  uint32_t mask = (isByte ? 0xffu : 0xffffu) << shift;
  const uint32_t *old = wave.row(instruction.dst.index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t value = lanes[lane] << shift & mask;
    if (instruction.dstUnused == SdwaUnused::Preserve)
      value |= old[lane] & ~mask;
    else if (instruction.dstUnused == SdwaUnused::SignExtend &&
             (value & (mask ^ (mask >> 1)) & mask))
      value |= ~(mask | (mask - 1));
    lanes[lane] = value;
  }
}

void terrazzo::amdsim::writeResult(Wave &wave, const Instruction &instruction,
                                   LaneBuffer &result, const Sources &sources) {
  uint64_t enabled = sources.enabled, defined = sources.defined;
  unsigned vgpr = instruction.dst.index;
  LaneBuffer wide, high;
  switch (bitsOf(instruction.dstType)) {
  case 16:
    wave.checkArrived(vgpr, enabled);
    widen16(wave, instruction, result, wide);
    if (instruction.dstSelection != 6)
      insertSelection(wave, instruction, wide.as<uint32_t>());
    return writeLanes(wave, vgpr, wide.as<uint32_t>(), enabled, defined);
  case 64: {
    const auto *from = result.as<uint64_t>();
    auto *low = wide.as<uint32_t>(), *upper = high.as<uint32_t>();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      low[lane] = static_cast<uint32_t>(from[lane]);
      upper[lane] = static_cast<uint32_t>(from[lane] >> 32);
    }
    writeLanes(wave, vgpr, low, enabled,
               instruction.hasOwnLow ? sources.definedLow : defined);
    return writeLanes(wave, vgpr + 1, upper, enabled, defined);
  }
  default:
    if (instruction.dstSelection != 6)
      insertSelection(wave, instruction, result.as<uint32_t>());
    return writeLanes(wave, vgpr, result.as<uint32_t>(), enabled, defined);
  }
}
