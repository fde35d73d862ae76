//===- Bits.h - Sizes and masks ---------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LIB_LAYOUT_BITS_H
#define TERRAZZO_LIB_LAYOUT_BITS_H

#include <bit>
#include <cassert>
#include <cstdint>

namespace terrazzo::layout {

/// Expects less than 64 bits.
inline uint64_t lowMask(int32_t bits) { return (uint64_t(1) << bits) - 1; }

/// Expects a power of two.
inline int32_t exactLog2(int32_t size) {
  assert(size > 0 && std::has_single_bit(static_cast<uint32_t>(size)) &&
         "expected a power of two");
  return std::countr_zero(static_cast<uint32_t>(size));
}

} // namespace terrazzo::layout

#endif // TERRAZZO_LIB_LAYOUT_BITS_H
