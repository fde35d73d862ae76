//===- LaneKernel.h - One instruction, on lanes of given words --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_SIMULATOR_LANEKERNEL_H
#define TERRAZZO_TEST_UNIT_SIMULATOR_LANEKERNEL_H

#include "Assembler.h"

#include <bit>
#include <random>

namespace terrazzo::amdsim::test {

/// Words of all lanes: [word][lane].
using LaneWords = std::vector<std::vector<uint32_t>>;

struct LaneKernel {
  std::string chip = "gfx942";
  /// Finds the inputs in v[16...], leaves its results in v[32...].
  std::string body;
  unsigned outputs = 1;
  unsigned ldsBytes = 0;
};

/// Runs a wave with `inputs` in its registers.
LaneWords runLanes(const LaneKernel &kernel, const LaneWords &inputs);

/// How many lanes a wave has in these tests.
inline unsigned lanesOf(const std::string &chip) {
  return chip.starts_with("gfx9") ? 64 : 32;
}

/// Words that instructions treat in a way of their own: zeros, ones, the
/// extremes of integers, denormals, infinities and NaNs of f32 and f16; then
/// random ones.
class Words {
public:
  explicit Words(uint64_t seed) : random(seed) {}
  std::vector<uint32_t> lanes(unsigned count);
  /// Floats of moderate size, with no special value among them.
  std::vector<uint32_t> moderate(unsigned count);

private:
  std::mt19937_64 random;
};

inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }

} // namespace terrazzo::amdsim::test

#endif // TERRAZZO_TEST_UNIT_SIMULATOR_LANEKERNEL_H
