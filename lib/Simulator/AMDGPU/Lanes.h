//===- Lanes.h - From a formula to a loop over lanes ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector instructions are written as functions of one lane. Types of their
// parameters say how sources are read, that of their result how it is written:
//
//     {"v_add_f32", vector<[](float a, float b) { return a + b; }>()}
//
// The loop over lanes has a constant count and no branch, so that the compiler
// makes vectors of it; lanes outside of EXEC are computed and thrown away.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_LANES_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_LANES_H

#include "Instruction.h"
#include "OpTable.h"
#include "SmallFloats.h"

#include <cstddef>
#include <utility>

namespace terrazzo::amdsim {

/// Sources and results of an instruction: an array of kLanes elements each.
struct LaneArgs {
  void *out;
  /// A bit a lane beside the result (carry, comparison), as bytes.
  uint8_t *bits;
  const void *in[4];
  /// A number in the instruction that is no operand.
  uint32_t immediate;
};

template <class T>
struct Packed {
  T lo, hi;
};
/// A lane of a mask.
struct Bit {
  uint8_t set;
};
/// A result and a bit beside it.
template <class T>
struct WithBit {
  T value;
  bool bit;
};

template <class T>
constexpr Type kTypeOf = Type::None;
template <>
inline constexpr Type kTypeOf<uint16_t> = Type::B16;
template <>
inline constexpr Type kTypeOf<int16_t> = Type::B16;
template <>
inline constexpr Type kTypeOf<Half> = Type::F16;
template <>
inline constexpr Type kTypeOf<BFloat> = Type::BF16;
template <>
inline constexpr Type kTypeOf<uint32_t> = Type::B32;
template <>
inline constexpr Type kTypeOf<int32_t> = Type::B32;
template <>
inline constexpr Type kTypeOf<float> = Type::F32;
template <>
inline constexpr Type kTypeOf<uint64_t> = Type::B64;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::B64;
template <>
inline constexpr Type kTypeOf<double> = Type::F64;
template <>
inline constexpr Type kTypeOf<Packed<uint16_t>> = Type::PackedB16;
template <>
inline constexpr Type kTypeOf<Packed<int16_t>> = Type::PackedB16;
template <>
inline constexpr Type kTypeOf<Packed<Half>> = Type::PackedF16;
template <>
inline constexpr Type kTypeOf<Packed<BFloat>> = Type::PackedBF16;
template <>
inline constexpr Type kTypeOf<Packed<float>> = Type::PackedF32;
template <>
inline constexpr Type kTypeOf<Bit> = Type::Mask;
template <class T>
inline constexpr Type kTypeOf<WithBit<T>> = kTypeOf<T>;

template <class T>
inline constexpr bool kHasBit = false;
template <class T>
inline constexpr bool kHasBit<WithBit<T>> = true;

template <auto F, class R, class... A, size_t... I>
void runLanes(const LaneArgs &args, std::index_sequence<I...>) {
  auto *out = static_cast<R *>(args.out);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = F(static_cast<const A *>(args.in[I])[lane]...);
}

template <auto F, class R, class... A, size_t... I>
void runLanesWithBit(const LaneArgs &args, std::index_sequence<I...>) {
  using Value = decltype(R::value);
  auto *out = static_cast<Value *>(args.out);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    R result = F(static_cast<const A *>(args.in[I])[lane]...);
    out[lane] = result.value;
    args.bits[lane] = result.bit;
  }
}

template <auto F, class... A, size_t... I>
void compareLanes(const LaneArgs &args, std::index_sequence<I...>) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    args.bits[lane] = F(static_cast<const A *>(args.in[I])[lane]...);
}

template <auto F, class R, class... A>
OpInfo describeLanes(R (*)(A...)) {
  OpInfo info;
  info.numSources = sizeof...(A);
  info.src = {kTypeOf<A>...};
  constexpr std::index_sequence_for<A...> indices;
  (void)indices;
  if constexpr (std::is_same_v<R, bool>) {
    info.form = OpForm::Compare;
    info.lanes = [](const LaneArgs &args) {
      compareLanes<F, A...>(args, std::index_sequence_for<A...>());
    };
  } else if constexpr (kHasBit<R>) {
    info.form = OpForm::VectorWithBit;
    info.dst = kTypeOf<R>;
    info.lanes = [](const LaneArgs &args) {
      runLanesWithBit<F, R, A...>(args, std::index_sequence_for<A...>());
    };
  } else {
    info.form = OpForm::Vector;
    info.dst = kTypeOf<R>;
    info.lanes = [](const LaneArgs &args) {
      runLanes<F, R, A...>(args, std::index_sequence_for<A...>());
    };
  }
  return info;
}

/// A vector instruction by what it does in a lane.
template <auto F>
OpInfo vector() {
  return describeLanes<F>(+F);
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_LANES_H
