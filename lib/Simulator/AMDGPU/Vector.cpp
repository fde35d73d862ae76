//===- Vector.cpp - Runs instructions lane by lane ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Operands.h"

#include <algorithm>

using namespace terrazzo::amdsim;

namespace {
/// What a vector instruction computed, not yet written.
struct Outcome {
  Sources sources;
  LaneBuffer result;
  alignas(64) uint8_t bits[kLanes];
};
} // namespace

/// MODE has two bits for floats of 32 bits (4, 5) and two for the others: the
/// lower keeps denormal sources, the upper denormal results.
static bool keepsDenormals(uint32_t mode, Type type, bool isResult) {
  unsigned first = type == Type::F32 ? 4 : 6;
  return mode >> (first + isResult) & 1;
}

template <class T>
static void flush(T *lanes, T exponent) {
  constexpr T kSign = T(T(1) << (8 * sizeof(T) - 1));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    lanes[lane] = (lanes[lane] & exponent) ? lanes[lane] : lanes[lane] & kSign;
}

static void flushDenormals(Type type, LaneBuffer &buffer) {
  switch (type) {
  case Type::F16:
    return flush<uint16_t>(buffer.as<uint16_t>(), 0x7c00);
  case Type::F32:
    return flush<uint32_t>(buffer.as<uint32_t>(), 0x7f800000);
  case Type::F64:
    return flush<uint64_t>(buffer.as<uint64_t>(), 0x7ff0000000000000);
  default:
    return;
  }
}

static void flushSources(Wave &wave, const Instruction &instruction,
                         Sources &sources) {
  for (unsigned i = 0; i < instruction.numSources; ++i) {
    Type type = instruction.types[i];
    if (!isFloat(type) || keepsDenormals(wave.mode, type, false))
      continue;
    if (sources.lanes[i] != sources.buffers[i].words) {
      std::copy_n(static_cast<const uint32_t *>(sources.lanes[i]), kLanes,
                  sources.buffers[i].as<uint32_t>());
      sources.lanes[i] = sources.buffers[i].words;
    }
    flushDenormals(type, sources.buffers[i]);
  }
}

static float scaleOf(unsigned modifier) {
  return modifier == 1 ? 2.0f : modifier == 2 ? 4.0f : modifier == 3 ? 0.5f : 1;
}

template <class Value, class T, class Load, class Store>
static void modifyLanes(T *lanes, float scale, bool clamp, bool keepsNan,
                        Load load, Store store) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Value value = load(lanes[lane]) * Value(scale);
    if (clamp) {
      bool isNan = std::isnan(value);
      Value inside = value > Value(0) ? value : Value(0);
      inside = inside < Value(1) ? inside : Value(1);
      value = isNan && keepsNan ? value : inside;
    }
    lanes[lane] = store(value);
  }
}

/// The multiplication and the clamp that follow a result.
static void modifyResult(Wave &wave, const Instruction &instruction,
                         LaneBuffer &result) {
  float scale = scaleOf(instruction.outputModifier);
  bool clamp = instruction.clamp;
  const KernelInfo &kernel = wave.group.program.kernel;
  bool keepsNan =
      !kernel.dx10Clamp && wave.group.program.object.features().generation < 12;
  auto same = [](auto value) { return value; };
  auto fromHalf = [](Half value) { return toFloat(value); };
  switch (instruction.dstType) {
  case Type::F16:
    return modifyLanes<float>(result.as<Half>(), scale, clamp, keepsNan,
                              fromHalf, [](float v) { return toHalf(v); });
  case Type::F64:
    return modifyLanes<double>(result.as<double>(), scale, clamp, keepsNan,
                               same, same);
  case Type::PackedF32:
    modifyLanes<float>(result.as<float>() + kLanes, scale, clamp, keepsNan,
                       same, same);
    [[fallthrough]];
  case Type::F32:
    return modifyLanes<float>(result.as<float>(), scale, clamp, keepsNan, same,
                              same);
  case Type::PackedF16:
    modifyLanes<float>(result.as<Half>() + kLanes, scale, clamp, keepsNan,
                       fromHalf, [](float v) { return toHalf(v); });
    return modifyLanes<float>(result.as<Half>(), scale, clamp, keepsNan,
                              fromHalf, [](float v) { return toHalf(v); });
  default:
    return;
  }
}

static void compute(Wave &wave, const Instruction &instruction,
                    Outcome &outcome) {
  readSources(wave, instruction, outcome.sources);
  if ((wave.mode & 0xf0) != 0xf0)
    flushSources(wave, instruction, outcome.sources);
  LaneArgs args{outcome.result.words,
                outcome.bits,
                {},
                static_cast<uint32_t>(instruction.offset)};
  std::copy_n(outcome.sources.lanes, 4, args.in);
  instruction.lanes(args);
  if (instruction.outputModifier || instruction.clamp)
    modifyResult(wave, instruction, outcome.result);
  if ((wave.mode & 0xf0) != 0xf0 && isFloat(instruction.dstType) &&
      !keepsDenormals(wave.mode, instruction.dstType, true))
    flushDenormals(instruction.dstType, outcome.result);
}

/// Writes bits of lanes beside or in place of a result. Those outside of EXEC
/// are 0, as are those that DPP leaves out.
static void writeBits(Wave &wave, const Instruction &instruction,
                      const Outcome &outcome) {
  uint64_t mask = packMask(outcome.bits) & outcome.sources.enabled;
  if (instruction.writesExec)
    wave.setExec(mask);
  if (instruction.scalarDst.kind == OperandKind::Sgpr)
    wave.writeMask(instruction.scalarDst, mask);
}

static void finish(Wave &wave, const Instruction &instruction,
                   Outcome &outcome) {
  if (instruction.dstType != Type::None)
    writeResult(wave, instruction, outcome.result, outcome.sources);
  if (instruction.scalarDst.kind != OperandKind::None || instruction.writesExec)
    writeBits(wave, instruction, outcome);
}

void terrazzo::amdsim::runVector(Wave &wave, const Instruction &instruction) {
  Outcome outcome;
  compute(wave, instruction, outcome);
  finish(wave, instruction, outcome);
}

/// Both halves read before either writes.
void terrazzo::amdsim::runDual(Wave &wave, const Instruction &instruction) {
  Outcome first, second;
  compute(wave, instruction, first);
  compute(wave, *instruction.second, second);
  finish(wave, instruction, first);
  finish(wave, *instruction.second, second);
}
