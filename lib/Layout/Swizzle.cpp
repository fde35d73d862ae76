//===- Swizzle.cpp - Moving tiles between layouts -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Swizzle.h"

using namespace terrazzo::layout;

Conversion terrazzo::layout::classify(const LinearLayout &src,
                                      const LinearLayout &dst) {
  if (src == dst)
    return Conversion::None;
  // Where each place of dst finds its element, as a place of src.
  LinearLayout from = dst.invertAndCompose(src);
  // Whether that is in the same warp, or lane, whatever the place.
  auto stays = [&](llvm::StringRef name) {
    for (const Dim &in : from.inDims())
      for (int32_t bit = 0; bit < in.bits; ++bit) {
        int32_t moved = from.basis(in.name, bit, name);
        if (moved == (in.name == name ? 1 << bit : 0))
          continue;
        // src has a copy in the place itself.
        bool isCopy = in.name == name && moved == 0 && bit < src.inBits(name) &&
                      src.packedBases(name)[bit] == 0;
        if (!isCopy)
          return false;
      }
    return true;
  };
  if (!stays("warp"))
    return Conversion::Shared;
  return stays("lane") ? Conversion::Registers : Conversion::Lanes;
}
