//===- Swizzle.h - Moving tiles between layouts -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a conversion between two layouts has to do, and, if it goes through
// shared memory, in which order the elements lie there. A buffer's layout maps
// "offset", counted in elements, to the tile.
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LAYOUT_SWIZZLE_H
#define TERRAZZO_LAYOUT_SWIZZLE_H

#include "terrazzo/Layout/LinearLayout.h"

namespace terrazzo::layout {

/// What a conversion between two distributed layouts has to do.
enum class Conversion {
  None,      ///< every place holds the right element already
  Registers, ///< threads rename their registers, all in the same way
  Lanes,     ///< lanes of one warp exchange registers
  Shared,    ///< warps exchange data
};

/// Classifies by algebra: m = dst.invertAndCompose(src) says in which place of
/// `src` each place of `dst` finds its element. For Lanes the register to read
/// may depend on the lane and the warp that read it.
Conversion classify(const LinearLayout &src, const LinearLayout &dst);

/// Shared memory, as far as its speed depends on addresses: `banks` words of
/// `bankBytes` are served in one pass, one a bank. An access of a warp takes as
/// many passes as its bytes need; each pass serves consecutive lanes. Lanes
/// that read the same word share it.
struct Banks {
  int32_t banks = 32;
  int32_t bankBytes = 4;
  int32_t maxVectorBytes = 16; ///< the widest access of one lane

  int32_t rowBytes() const { return banks * bankBytes; }
};

/// How many elements one access of a thread can cover: aligned, consecutive
/// offsets that are all in registers of the thread and in the same registers in
/// every thread. `offsets` is invertible.
int32_t vectorElements(const LinearLayout &layout, const LinearLayout &offsets,
                       int32_t elementBytes, const Banks &banks = {});

/// Passes that a warp needs on top of each it would need without conflicts,
/// when it accesses the buffer with vectors of vectorElements(). 0: no
/// conflicts; 31: every lane waits for all others.
int32_t bankConflicts(const LinearLayout &layout, const LinearLayout &offsets,
                      int32_t elementBytes, const Banks &banks = {});

/// The registers in the order of access: each `vector` values in a row lie at
/// consecutive offsets, the first aligned. Registers that hold copies of
/// earlier ones are left out. `vector` is at most vectorElements().
llvm::SmallVector<int32_t> accessOrder(const LinearLayout &layout,
                                       const LinearLayout &offsets,
                                       int32_t vector);

/// A buffer between two layouts.
struct SharedLayout {
  LinearLayout layout;        ///< offset -> tile, invertible
  int32_t writeVector = 1;    ///< elements an access
  int32_t readVector = 1;     ///< elements an access
  int32_t writeConflicts = 0; ///< as bankConflicts counts
  int32_t readConflicts = 0;  ///< as bankConflicts counts
};

/// Orders the elements so that `write` and `read` take the fewest passes and
/// then the fewest instructions. Both cover the same tile. Without conflicts
/// wherever the vectors allow it.
SharedLayout chooseSwizzle(const LinearLayout &write, const LinearLayout &read,
                           int32_t elementBytes, const Banks &banks = {});

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_SWIZZLE_H
