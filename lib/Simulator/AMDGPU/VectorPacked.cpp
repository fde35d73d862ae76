//===- VectorPacked.cpp - Two values in a register ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalfFormulas.h"
#include "Lanes.h"
#include "Operands.h"

#include <algorithm>

using namespace terrazzo::amdsim;

template <class T, auto F>
static OpInfo pairs2() {
  return vector<[](Packed<T> a, Packed<T> b) {
    return Packed<T>{F(a.lo, b.lo), F(a.hi, b.hi)};
  }>();
}

template <class T, auto F>
static OpInfo pairs3() {
  return vector<[](Packed<T> a, Packed<T> b, Packed<T> c) {
    return Packed<T>{F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)};
  }>();
}

template <auto F>
static OpInfo halves2() {
  return pairs2<Half, [](Half a, Half b) {
    return toHalf(float(F(toFloat(a), toFloat(b))));
  }>();
}

static void addHalves(OpTable &table) {
  using F = float;
  table.add("v_pk_add_f16", halves2<[](F a, F b) { return a + b; }>());
  table.add("v_pk_mul_f16", halves2<[](F a, F b) { return a * b; }>());
  for (const char *suffix : {"_f16", "_num_f16"}) {
    table.add(std::string("v_pk_min") + suffix,
              halves2<[](F a, F b) { return minNum(a, b); }>());
    table.add(std::string("v_pk_max") + suffix,
              halves2<[](F a, F b) { return maxNum(a, b); }>());
  }
  table.add("v_pk_minimum_f16",
            halves2<[](F a, F b) { return minimum(a, b); }>());
  table.add("v_pk_maximum_f16",
            halves2<[](F a, F b) { return maximum(a, b); }>());
  auto fma =
      pairs3<Half, [](Half a, Half b, Half c) { return fmaHalf(a, b, c); }>();
  table.add("v_pk_fma_f16", fma);
  table.add("v_pk_fmac_f16", fma.accumulating());
}

static void addFloats(OpTable &table) {
  using F = float;
  table.add("v_pk_add_f32", pairs2<F, [](F a, F b) { return a + b; }>());
  table.add("v_pk_mul_f32", pairs2<F, [](F a, F b) { return a * b; }>());
  table.add("v_pk_fma_f32",
            pairs3<F, [](F a, F b, F c) { return std::fma(a, b, c); }>());
  // The first of one register pair and the first of another, as op_sel says.
  table.add(
      "v_pk_mov_b32",
      vector<[](Packed<F> a, Packed<F> b) { return Packed<F>{a.lo, b.lo}; }>());
}

static void addShorts(OpTable &table) {
  using U = uint16_t;
  using I = int16_t;
  auto add = pairs2<U, [](U a, U b) { return U(a + b); }>();
  auto sub = pairs2<U, [](U a, U b) { return U(a - b); }>();
  auto mad = pairs3<U, [](U a, U b, U c) { return U(uint32_t(a) * b + c); }>();
  table.add("v_pk_add_u16", add);
  table.add("v_pk_add_i16", add);
  table.add("v_pk_sub_u16", sub);
  table.add("v_pk_sub_i16", sub);
  table.add("v_pk_mad_u16", mad);
  table.add("v_pk_mad_i16", mad);
  table.add("v_pk_mul_lo_u16",
            pairs2<U, [](U a, U b) { return U(uint32_t(a) * b); }>());
  table.add("v_pk_min_u16",
            pairs2<U, [](U a, U b) { return std::min(a, b); }>());
  table.add("v_pk_max_u16",
            pairs2<U, [](U a, U b) { return std::max(a, b); }>());
  table.add("v_pk_min_i16",
            pairs2<I, [](I a, I b) { return std::min(a, b); }>());
  table.add("v_pk_max_i16",
            pairs2<I, [](I a, I b) { return std::max(a, b); }>());
  table.add("v_pk_lshlrev_b16",
            pairs2<U, [](U a, U b) { return U(uint32_t(b) << (a & 15)); }>());
  table.add("v_pk_lshrrev_b16",
            pairs2<U, [](U a, U b) { return U(b >> (a & 15)); }>());
  table.add("v_pk_ashrrev_i16",
            pairs2<I, [](I a, I b) { return I(b >> (a & 15)); }>());
}

/// v_fma_mix: each source is a float, or the half of a register that op_sel
/// chooses where op_sel_hi says so. neg_hi stands for the absolute value.
static void readMixed(Wave &wave, const Instruction &i, unsigned number,
                      float *out, uint64_t &defined) {
  const Operand &operand = i.src[number];
  LaneBuffer room;
  const uint32_t *lanes = readLanes(wave, operand, 0, room);
  if (operand.kind == OperandKind::Vgpr)
    defined &= wave.written[operand.index];
  bool isHalf = i.packed.opSelHi >> number & 1;
  unsigned shift = i.packed.opSel >> number & 1 ? 16 : 0;
  bool absolute = operand.absolute || (i.packed.negHi >> number & 1);
  bool negate = operand.negate || (i.packed.negLo >> number & 1);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    float value = isHalf ? toFloat(Half{uint16_t(lanes[lane] >> shift)})
                         : std::bit_cast<float>(lanes[lane]);
    value = absolute ? std::fabs(value) : value;
    out[lane] = negate ? -value : value;
  }
}

namespace {
/// The words of three sources, and the lanes in which all are defined.
struct Words {
  Words(Wave &wave, const Instruction &i) {
    for (unsigned number = 0; number < 3; ++number) {
      lanes[number] = readLanes(wave, i.src[number], 0, rooms[number]);
      if (i.src[number].kind == OperandKind::Vgpr)
        defined &= wave.written[i.src[number].index];
    }
  }

  LaneBuffer rooms[3];
  const uint32_t *lanes[3];
  uint64_t defined = ~0ull;
};
} // namespace

/// Sums of products of bytes, each source signed where neg_lo says so.
static void dotBytes(Wave &wave, const Instruction &i) {
  Words words(wave, i);
  const auto &sources = words.lanes;
  LaneBuffer result;
  auto byteOf = [&](unsigned number, unsigned lane, unsigned shift) {
    auto bits = uint8_t(sources[number][lane] >> shift);
    bool isSigned = i.packed.negLo >> number & 1;
    return isSigned ? int32_t(std::bit_cast<int8_t>(bits)) : int32_t(bits);
  };
  auto *out = result.as<uint32_t>();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    out[lane] = sources[2][lane];
    for (unsigned shift = 0; shift < 32; shift += 8)
      out[lane] += uint32_t(byteOf(0, lane, shift) * byteOf(1, lane, shift));
  }
  writeLanes(wave, i.dst.index, out, wave.exec(), words.defined);
}

static uint32_t applyTable(uint8_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t bits = 0;
  for (unsigned entry = 0; entry < 8; ++entry)
    if (table >> entry & 1)
      bits |=
          (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
  return bits;
}

/// Any function of three bits (gfx950). Of 16 bits, the upper ones stay.
template <bool isShort>
static void bitOperation(Wave &wave, const Instruction &i) {
  Words words(wave, i);
  const auto &sources = words.lanes;
  LaneBuffer result;
  auto *out = result.as<uint32_t>();
  const uint32_t *old = wave.row(i.dst.index);
  auto half = [&](unsigned number, uint32_t bits) {
    return isShort && (i.packed.opSel >> number & 1) ? bits >> 16 : bits;
  };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t bits =
        applyTable(i.truthTable, half(0, sources[0][lane]),
                   half(1, sources[1][lane]), half(2, sources[2][lane]));
    if constexpr (isShort)
      bits = i.packed.opSel & 8 ? (old[lane] & 0xffff) | bits << 16
                                : (old[lane] & 0xffff0000) | (bits & 0xffff);
    out[lane] = bits;
  }
  writeLanes(wave, i.dst.index, out, wave.exec(), words.defined);
}

namespace {
enum class MixResult : uint8_t { Float, LowHalf, HighHalf };
} // namespace

template <MixResult kind>
static void mix(Wave &wave, const Instruction &i) {
  float sources[3][kLanes];
  uint64_t defined = ~0ull;
  for (unsigned number = 0; number < 3; ++number)
    readMixed(wave, i, number, sources[number], defined);
  LaneBuffer result;
  auto *out = result.as<uint32_t>();
  const uint32_t *old = wave.row(i.dst.index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    float value =
        std::fma(sources[0][lane], sources[1][lane], sources[2][lane]);
    if (i.clamp)
      value = value > 0.0f ? std::min(value, 1.0f) : 0.0f;
    if constexpr (kind == MixResult::Float)
      out[lane] = std::bit_cast<uint32_t>(value);
    else if constexpr (kind == MixResult::LowHalf)
      out[lane] = (old[lane] & 0xffff0000) | toHalf(value).bits;
    else
      out[lane] = (old[lane] & 0xffff) | uint32_t(toHalf(value).bits) << 16;
  }
  writeLanes(wave, i.dst.index, out, wave.exec(), defined);
}

static void addMixed(OpTable &table) {
  auto addTyped = [&](const char *name, Handler run, Type type) {
    OpInfo info;
    info.run = run;
    info.numSources = 3;
    info.src = {type, type, type};
    table.add(name, info);
  };
  auto add = [&](const char *name, Handler run) {
    addTyped(name, run, Type::F32);
  };
  addTyped("v_dot4_i32_iu8", dotBytes, Type::B32);
  addTyped("v_bitop3_b32", bitOperation<false>, Type::B32);
  addTyped("v_bitop3_b16", bitOperation<true>, Type::B16);
  add("v_fma_mix_f32", mix<MixResult::Float>);
  add("v_fma_mixlo_f16", mix<MixResult::LowHalf>);
  add("v_fma_mixhi_f16", mix<MixResult::HighHalf>);
  add("v_mad_mix_f32", mix<MixResult::Float>);
  add("v_mad_mixlo_f16", mix<MixResult::LowHalf>);
  add("v_mad_mixhi_f16", mix<MixResult::HighHalf>);
}

void terrazzo::amdsim::addVectorPacked(OpTable &table) {
  addHalves(table);
  addFloats(table);
  addShorts(table);
  addMixed(table);
}
