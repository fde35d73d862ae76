//===- RandomLayout.h - Random linear maps for property tests ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H
#define TERRAZZO_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H

#include "terrazzo/Layout/LinearLayout.h"

#include "gtest/gtest.h"

#include <random>

namespace terrazzo::layout {

/// Says how a layout looks when an expectation fails.
inline void PrintTo(const LinearLayout &layout, std::ostream *stream) {
  *stream << layout.toString();
}

/// Runs `body` with generators of the seeds 0, 1, ...; a failure names its
/// seed.
template <typename Body>
void forSeeds(unsigned count, Body body) {
  for (unsigned seed = 0; seed < count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    body(random);
    if (testing::Test::HasFailure())
      return;
  }
}

inline int32_t pick(std::mt19937 &random, int32_t low, int32_t high) {
  return low + static_cast<int32_t>(random() % (high - low + 1));
}

/// Random bits for each name.
inline llvm::SmallVector<Dim, 4>
randomDims(std::mt19937 &random, llvm::ArrayRef<llvm::StringRef> names,
           int32_t maxBits) {
  llvm::SmallVector<Dim, 4> dims;
  for (llvm::StringRef name : names)
    dims.push_back({name, pick(random, 0, maxBits)});
  return dims;
}

/// A map with random bases; a third of them zero or a repetition.
inline LinearLayout randomLayout(std::mt19937 &random, llvm::ArrayRef<Dim> ins,
                                 llvm::ArrayRef<Dim> outs) {
  int32_t inBits = 0, outBits = 0;
  for (const Dim &dim : ins)
    inBits += dim.bits;
  for (const Dim &dim : outs)
    outBits += dim.bits;
  std::vector<uint64_t> bases;
  for (int32_t bit = 0; bit < inBits; ++bit) {
    uint64_t basis = random() & ((uint64_t(1) << outBits) - 1);
    int32_t kind = pick(random, 0, 5);
    if (kind == 0)
      basis = 0;
    else if (kind == 1 && bit)
      basis = bases[pick(random, 0, bit - 1)];
    else if (kind < 4 && outBits)
      basis = uint64_t(1) << pick(random, 0, outBits - 1);
    bases.push_back(basis);
  }
  return LinearLayout::fromPacked(ins, outs, bases);
}

inline LinearLayout randomLayout(std::mt19937 &random) {
  return randomLayout(random,
                      randomDims(random, {"register", "lane", "warp"}, 3),
                      randomDims(random, {"dim0", "dim1", "dim2"}, 3));
}

/// A random map that reaches all of its outputs: the units in random places,
/// the rest random, then a random change of coordinates.
inline LinearLayout randomSurjective(std::mt19937 &random,
                                     llvm::ArrayRef<Dim> outs,
                                     int32_t surplusBits,
                                     bool changeCoordinates = true) {
  int32_t outBits = 0;
  for (const Dim &dim : outs)
    outBits += dim.bits;
  std::vector<uint64_t> bases;
  for (int32_t bit = 0; bit < outBits; ++bit)
    bases.push_back(uint64_t(1) << bit);
  for (int32_t bit = 0; bit < surplusBits; ++bit)
    bases.push_back(
        pick(random, 0, 1) ? 0 : random() & ((uint64_t(1) << outBits) - 1));
  std::shuffle(bases.begin(), bases.end(), random);
  if (changeCoordinates)
    for (int32_t step = 0; step < 2 * outBits; ++step) {
      // Adding one coordinate to another is invertible.
      int32_t from = pick(random, 0, outBits - 1),
              to = pick(random, 0, outBits - 1);
      if (from != to)
        for (uint64_t &basis : bases)
          basis ^= (basis >> from & 1) << to;
    }
  int32_t total = outBits + surplusBits;
  int32_t registers = pick(random, 0, total);
  int32_t lanes = pick(random, 0, total - registers);
  return LinearLayout::fromPacked({{"register", registers},
                                   {"lane", lanes},
                                   {"warp", total - registers - lanes}},
                                  outs, bases);
}

inline uint64_t numInputs(const LinearLayout &layout) {
  return uint64_t(1) << layout.totalInBits();
}

/// The outputs by the definition: XOR the bases of the bits that are set.
inline llvm::SmallVector<int32_t, 4> byDefinition(const LinearLayout &layout,
                                                  uint64_t flat) {
  llvm::SmallVector<int32_t, 4> result(layout.numOuts(), 0);
  auto inputs = layout.unflattenInputs(flat);
  for (unsigned i = 0; i < layout.numIns(); ++i)
    for (int32_t bit = 0; bit < layout.inDims()[i].bits; ++bit)
      if (inputs[i] >> bit & 1)
        for (unsigned out = 0; out < layout.numOuts(); ++out)
          result[out] ^= layout.basis(layout.inDims()[i].name, bit,
                                      layout.outDims()[out].name);
  return result;
}

} // namespace terrazzo::layout

#endif // TERRAZZO_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H
