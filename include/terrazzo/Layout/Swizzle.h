//===- Swizzle.h - Moving tiles between layouts -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LAYOUT_SWIZZLE_H
#define TERRAZZO_LAYOUT_SWIZZLE_H

#include "terrazzo/Layout/LinearLayout.h"

namespace terrazzo::layout {

/// What a conversion between two distributed layouts has to do.
enum class Conversion {
  None,      ///< every place holds the right element already
  Registers, ///< threads rename their registers
  Lanes,     ///< lanes of one warp exchange registers
  Shared,    ///< warps exchange data
};

/// Classifies by algebra: the map from places of `dst` to places of `src` moves
/// registers only, lanes, or warps.
Conversion classify(const LinearLayout &src, const LinearLayout &dst);

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_SWIZZLE_H
