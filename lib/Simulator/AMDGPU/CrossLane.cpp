//===- CrossLane.cpp - Values from other lanes ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "Memory.h"

#include <bit>

using namespace terrazzo::amdsim;

//===----------------------------------------------------------------------===//
// Lanes and scalars
//===----------------------------------------------------------------------===//

/// A lane's value for a scalar: it must be there.
static uint32_t readLane(Wave &wave, const Operand &operand, unsigned lane) {
  checkRead(wave, operand, 1, 1ull << lane);
  return wave.row(operand.index)[lane];
}

static void readFirstLane(Wave &wave, const Instruction &i) {
  if (i.src[0].kind != OperandKind::Vgpr)
    return wave.writeScalar(i.dst, wave.readScalar(i.src[0]));
  uint64_t exec = wave.exec();
  unsigned lane = exec ? static_cast<unsigned>(std::countr_zero(exec)) : 0;
  wave.writeScalar(i.dst, readLane(wave, i.src[0], lane));
}

static void readLaneByNumber(Wave &wave, const Instruction &i) {
  unsigned lane = wave.readScalar(i.src[1]) & (wave.waveSize - 1);
  wave.writeScalar(i.dst, readLane(wave, i.src[0], lane));
}

/// Writes its lane whatever EXEC is.
static void writeLane(Wave &wave, const Instruction &i) {
  unsigned lane = wave.readScalar(i.src[1]) & (wave.waveSize - 1);
  uint32_t value = wave.readScalar(i.src[0]);
  wave.checkArrived(i.dst.index, 1ull << lane);
  wave.row(i.dst.index)[lane] = value;
  wave.written[i.dst.index] |= 1ull << lane;
}

/// Lanes below this one that a mask has set, counted in halves.
template <bool isHigh>
static void countBelow(Wave &wave, const Instruction &i) {
  LaneBuffer maskRoom, sumRoom, result;
  const uint32_t *mask = readLanes(wave, i.src[0], 0, maskRoom);
  const uint32_t *sum = readLanes(wave, i.src[1], 0, sumRoom);
  auto *out = result.as<uint32_t>();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned inHalf =
        isHigh ? (lane >= 32 ? lane - 32 : 0) : std::min(lane, 32u);
    uint32_t below = inHalf >= 32 ? ~0u : (1u << inHalf) - 1;
    out[lane] =
        static_cast<uint32_t>(std::popcount(mask[lane] & below)) + sum[lane];
  }
  writeLanes(wave, i.dst.index, out, wave.exec(), ~0ull);
}

//===----------------------------------------------------------------------===//
// Permutations in registers
//===----------------------------------------------------------------------===//

/// Each lane reads lane `from(lane)` of src[0]; from less than 0: it is not
/// written, or 0 with `zeroes`.
template <class From>
static void permute(Wave &wave, const Instruction &i, bool fetchesInactive,
                    bool zeroes, From from) {
  const Operand &source = i.src[0];
  wave.checkArrived(source.index, wave.allLanes);
  uint64_t exec = wave.exec(), enabled = exec, defined = 0;
  const uint32_t *lanes = wave.row(source.index);
  LaneBuffer result;
  auto *out = result.as<uint32_t>();
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    unsigned other = from(lane);
    uint64_t bit = 1ull << lane;
    if (!fetchesInactive && !(exec >> other & 1)) {
      out[lane] = 0;
      defined |= bit;
      if (!zeroes)
        enabled &= ~bit;
      continue;
    }
    out[lane] = lanes[other];
    if (wave.written[source.index] >> other & 1)
      defined |= bit;
  }
  writeLanes(wave, i.dst.index, out, enabled, defined);
}

/// v_permlane16, v_permlanex16: four bits choose a lane of the row, or of the
/// row beside it.
template <unsigned otherRow>
static void permuteRows(Wave &wave, const Instruction &i) {
  uint64_t select =
      wave.readScalar(i.src[1]) | uint64_t(wave.readScalar(i.src[2])) << 32;
  permute(wave, i, i.packed.opSel & 1, i.packed.opSel >> 1 & 1,
          [&](unsigned lane) {
            unsigned row = (lane / 16) ^ otherRow;
            return row * 16 + unsigned(select >> (4 * (lane % 16)) & 15);
          });
}

static void permuteHalves(Wave &wave, const Instruction &i) {
  permute(wave, i, true, true, [](unsigned lane) { return lane ^ 32; });
}

static void swapRegisters(Wave &wave, const Instruction &i) {
  uint64_t exec = wave.exec();
  unsigned a = i.dst.index, b = i.src[0].index;
  wave.checkArrived(a, exec);
  wave.checkArrived(b, exec);
  LaneBuffer oldA, oldB;
  std::memcpy(oldA.words, wave.row(a), size_t{kLanes} * 4);
  std::memcpy(oldB.words, wave.row(b), size_t{kLanes} * 4);
  uint64_t writtenA = wave.written[a], writtenB = wave.written[b];
  writeLanes(wave, a, oldB.as<uint32_t>(), exec, writtenB);
  writeLanes(wave, b, oldA.as<uint32_t>(), exec, writtenA);
}

/// v_permlane32_swap: the upper half of the first and the lower half of the
/// second register change places; with 16, odd rows and even rows.
template <unsigned rows>
static void swapRows(Wave &wave, const Instruction &i) {
  unsigned a = i.dst.index, b = i.src[0].index;
  wave.checkArrived(a, wave.allLanes);
  wave.checkArrived(b, wave.allLanes);
  uint32_t *upper = wave.row(a), *lower = wave.row(b);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    if (lane & rows || !(exec >> lane & 1) || !(exec >> (lane + rows) & 1))
      continue;
    std::swap(upper[lane + rows], lower[lane]);
  }
  uint64_t both = wave.written[a] & wave.written[b];
  wave.written[a] = wave.written[b] = both;
}

//===----------------------------------------------------------------------===//
// Permutations by way of LDS
//===----------------------------------------------------------------------===//

static PendingAccess &startPermutation(Wave &wave, const Instruction &i,
                                       const Operand &data) {
  // Lanes outside of EXEC give 0, so only those in it must be written.
  checkRead(wave, data, 1, wave.exec());
  PendingAccess &access = startLoad(wave, i.dst, 1, wave.exec(), false, false);
  wave.queue.occupy(access, kDsCounter);
  return access;
}

/// Each lane reads the lane that its address / 4 names.
static void permuteBackward(Wave &wave, const Instruction &i) {
  checkRead(wave, i.src[0], 1, wave.exec());
  const uint32_t *addresses = wave.row(i.src[0].index);
  const uint32_t *data = wave.row(i.src[1].index);
  PendingAccess &access = startPermutation(wave, i, i.src[1]);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    unsigned from =
        (addresses[lane] + static_cast<uint32_t>(i.offset)) / 4 % wave.waveSize;
    access.data[lane] = exec >> from & 1 ? data[from] : 0;
  }
}

/// Each lane writes to the lane that its address / 4 names; the highest wins.
static void permuteForward(Wave &wave, const Instruction &i) {
  checkRead(wave, i.src[0], 1, wave.exec());
  const uint32_t *addresses = wave.row(i.src[0].index);
  const uint32_t *data = wave.row(i.src[1].index);
  PendingAccess &access = startPermutation(wave, i, i.src[1]);
  std::fill(access.data.begin(), access.data.end(), 0);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    if (wave.exec() >> lane & 1) {
      unsigned to = (addresses[lane] + static_cast<uint32_t>(i.offset)) / 4 %
                    wave.waveSize;
      access.data[to] = data[lane];
    }
}

/// The offset of ds_swizzle. Bit 15: lanes of four are permuted by two bits
/// each. Else the lane's number is taken & and | and ^ by fields of five bits.
/// ("Swizzle patterns"; the printer names some of them.)
static unsigned swizzleOffset(const Instruction &i) {
  std::string_view text = i.text;
  size_t at = text.find("offset:");
  if (at == std::string_view::npos)
    return 0;
  text.remove_prefix(at + 7);
  auto number = [&](std::string_view field) {
    while (field.starts_with(' '))
      field.remove_prefix(1);
    return static_cast<unsigned>(parseNumber(field).value_or(0));
  };
  if (!text.starts_with("swizzle("))
    return number(text.substr(0, text.find(' ')));
  text = text.substr(8, text.find(')') - 8);
  size_t comma = text.find(',');
  std::string_view kind = text.substr(0, comma);
  std::string_view rest = text.substr(comma + 1);
  if (kind == "SWAP")
    return number(rest) << 10 | 0x1f;
  if (kind == "REVERSE")
    return (number(rest) - 1) << 10 | 0x1f;
  if (kind == "BROADCAST") {
    unsigned group = number(rest.substr(0, rest.find(',')));
    return number(rest.substr(rest.find(',') + 1)) << 5 | (32 - group);
  }
  if (kind == "QUAD_PERM") {
    unsigned offset = 0x8000;
    for (unsigned lane = 0; lane < 4; ++lane) {
      offset |= number(rest.substr(0, rest.find(','))) << (2 * lane);
      rest.remove_prefix(std::min(rest.find(',') + 1, rest.size()));
    }
    return offset;
  }
  if (kind != "BITMASK_PERM")
    fault(ErrorKind::Unsupported, "a swizzle '" + std::string(kind) + "'");
  // Five letters for the bits, the highest first: 0, 1, p(reserve), i(nvert).
  unsigned andMask = 0, orMask = 0, xorMask = 0;
  for (char c : rest) {
    if (c != '0' && c != '1' && c != 'p' && c != 'i')
      continue;
    andMask = andMask << 1 | (c == 'p' || c == 'i');
    orMask = orMask << 1 | (c == '1');
    xorMask = xorMask << 1 | (c == 'i');
  }
  return andMask | orMask << 5 | xorMask << 10;
}

static void swizzle(Wave &wave, const Instruction &i) {
  unsigned offset = swizzleOffset(i);
  const uint32_t *data = wave.row(i.src[0].index);
  PendingAccess &access = startPermutation(wave, i, i.src[0]);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    unsigned from;
    if (offset & 0x8000)
      from = (lane & ~3u) | (offset >> (2 * (lane & 3)) & 3);
    else
      from = (lane & ~31u) | ((((lane & 31) & offset) | (offset >> 5 & 31)) ^
                              (offset >> 10 & 31));
    access.data[lane] = wave.exec() >> from & 1 ? data[from] : 0;
  }
}

void terrazzo::amdsim::addCrossLane(OpTable &table) {
  auto add = [&](const char *name, Handler run, OpForm form = OpForm::Plain) {
    OpInfo info;
    info.form = form;
    info.run = run;
    info.src = {Type::B32, Type::B32, Type::B32};
    table.add(name, info);
  };
  add("v_readfirstlane_b32", readFirstLane);
  add("v_readlane_b32", readLaneByNumber);
  add("v_writelane_b32", writeLane);
  add("v_mbcnt_lo_u32_b32", countBelow<false>);
  add("v_mbcnt_hi_u32_b32", countBelow<true>);
  add("v_permlane16_b32", permuteRows<0>);
  add("v_permlanex16_b32", permuteRows<1>);
  add("v_permlane64_b32", permuteHalves);
  add("v_swap_b32", swapRegisters);
  add("v_permlane32_swap_b32", swapRows<32>);
  add("v_permlane16_swap_b32", swapRows<16>);
  add("ds_bpermute_b32", permuteBackward, OpForm::Ds);
  add("ds_permute_b32", permuteForward, OpForm::Ds);
  add("ds_swizzle_b32", swizzle, OpForm::Ds);
}
