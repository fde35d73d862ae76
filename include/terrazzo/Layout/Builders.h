//===- Builders.h - The layouts that tiles start from ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, not kinds: what they return is a LinearLayout like any other, with
// the inputs register, lane and warp. Shapes are powers of two.
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LAYOUT_BUILDERS_H
#define TERRAZZO_LAYOUT_BUILDERS_H

#include "terrazzo/Layout/LinearLayout.h"

namespace terrazzo::layout {

/// Each thread holds a block of `sizePerThread`, the lanes of a warp are
/// arranged as `threadsPerWarp` of those, the warps as `warps` of that; `order`
/// lists the dimensions, the fastest first. Where this is larger than the
/// shape, the surplus bits are zero (copies); where it is smaller, the rest of
/// the shape goes to further registers.
LinearLayout blocked(llvm::ArrayRef<int32_t> shape,
                     llvm::ArrayRef<int32_t> sizePerThread,
                     llvm::ArrayRef<int32_t> threadsPerWarp,
                     llvm::ArrayRef<int32_t> warps,
                     llvm::ArrayRef<int32_t> order);

/// For access to global memory: `vector` elements a lane along order[0], then
/// lanes, then warps along the order, the rest of the shape in registers. Never
/// more than one copy in a thread: `vector` shrinks to the shape. Lanes and
/// warps that find no room hold copies. A shape of rank 0 is one element that
/// all hold.
LinearLayout coalesced(llvm::ArrayRef<int32_t> shape,
                       llvm::ArrayRef<int32_t> order, int32_t vector,
                       int32_t numWarps, int32_t warpSize);

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_BUILDERS_H
