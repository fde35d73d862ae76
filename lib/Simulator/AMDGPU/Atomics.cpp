//===- Atomics.cpp - Atomic operations on memory --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormulas.h"
#include "Memory.h"

#include <algorithm>

using namespace terrazzo::amdsim;

namespace {
/// The new value of memory. `bits` is 32 or 64.
using Formula = uint64_t (*)(uint64_t memory, uint64_t data, uint64_t compare,
                             unsigned bits);
struct Atomic {
  std::string_view name;
  Formula formula;
};
} // namespace

static int64_t asSigned(uint64_t value, unsigned bits) {
  return bits == 32 ? int64_t(int32_t(value)) : int64_t(value);
}

template <auto F>
static uint64_t onFloats(uint64_t memory, uint64_t data, unsigned bits) {
  if (bits == 64)
    return std::bit_cast<uint64_t>(
        F(std::bit_cast<double>(memory), std::bit_cast<double>(data)));
  return std::bit_cast<uint32_t>(F(std::bit_cast<float>(uint32_t(memory)),
                                   std::bit_cast<float>(uint32_t(data))));
}

template <class T, class Round>
static uint64_t addPacked(uint64_t memory, uint64_t data, Round round) {
  auto half = [&](unsigned shift) {
    T a{uint16_t(memory >> shift)}, b{uint16_t(data >> shift)};
    return uint64_t(round(toFloat(a) + toFloat(b)).bits) << shift;
  };
  return half(0) | half(16);
}

static constexpr Atomic kAtomics[] = {
    {"swap", [](uint64_t, uint64_t d, uint64_t, unsigned) { return d; }},
    {"cmpswap", [](uint64_t m, uint64_t d, uint64_t c,
                   unsigned) { return m == c ? d : m; }},
    {"add", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return m + d; }},
    {"sub", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return m - d; }},
    {"rsub", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return d - m; }},
    {"smin",
     [](uint64_t m, uint64_t d, uint64_t, unsigned bits) {
       return asSigned(m, bits) < asSigned(d, bits) ? m : d;
     }},
    {"smax",
     [](uint64_t m, uint64_t d, uint64_t, unsigned bits) {
       return asSigned(m, bits) > asSigned(d, bits) ? m : d;
     }},
    {"umin",
     [](uint64_t m, uint64_t d, uint64_t, unsigned) { return std::min(m, d); }},
    {"umax",
     [](uint64_t m, uint64_t d, uint64_t, unsigned) { return std::max(m, d); }},
    {"and", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return m & d; }},
    {"or", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return m | d; }},
    {"xor", [](uint64_t m, uint64_t d, uint64_t, unsigned) { return m ^ d; }},
    {"inc", [](uint64_t m, uint64_t d, uint64_t,
               unsigned) { return m >= d ? 0 : m + 1; }},
    {"dec", [](uint64_t m, uint64_t d, uint64_t,
               unsigned) { return m == 0 || m > d ? d : m - 1; }},
    {"add_f",
     [](uint64_t m, uint64_t d, uint64_t, unsigned bits) {
       return onFloats<[](auto a, auto b) { return a + b; }>(m, d, bits);
     }},
    {"min_f",
     [](uint64_t m, uint64_t d, uint64_t, unsigned bits) {
       return onFloats<[](auto a, auto b) { return minNum(a, b); }>(m, d, bits);
     }},
    {"max_f",
     [](uint64_t m, uint64_t d, uint64_t, unsigned bits) {
       return onFloats<[](auto a, auto b) { return maxNum(a, b); }>(m, d, bits);
     }},
    {"pk_add_f16",
     [](uint64_t m, uint64_t d, uint64_t, unsigned) {
       return addPacked<Half>(m, d, [](float v) { return toHalf(v); });
     }},
    {"pk_add_bf16",
     [](uint64_t m, uint64_t d, uint64_t, unsigned) {
       return addPacked<BFloat>(m, d, [](float v) { return toBFloat(v); });
     }},
};

int terrazzo::amdsim::findAtomic(std::string_view name) {
  for (size_t i = 0; i < std::size(kAtomics); ++i)
    if (kAtomics[i].name == name)
      return static_cast<int>(i);
  return -1;
}

template <class T>
static uint64_t exchange(uint8_t *place, Formula formula, uint64_t data,
                         uint64_t compare, bool isShared) {
  auto *memory = reinterpret_cast<T *>(place);
  constexpr unsigned kBits = 8 * sizeof(T);
  T old;
  std::memcpy(&old, place, sizeof(T));
  if (!isShared) {
    T value = static_cast<T>(formula(old, data, compare, kBits));
    std::memcpy(place, &value, sizeof(T));
    return old;
  }
  T value;
  do
    value = static_cast<T>(formula(old, data, compare, kBits));
  while (!__atomic_compare_exchange_n(memory, &old, value, /*weak=*/false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}

uint64_t terrazzo::amdsim::applyAtomic(uint8_t *place, unsigned operation,
                                       unsigned bytes, uint64_t data,
                                       uint64_t compare, bool isShared) {
  Formula formula = kAtomics[operation].formula;
  if (bytes == 8)
    return exchange<uint64_t>(place, formula, data, compare, isShared);
  return exchange<uint32_t>(place, formula, data, compare, isShared);
}
