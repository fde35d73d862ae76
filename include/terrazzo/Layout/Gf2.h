//===- Gf2.h - Subspaces over GF(2), vectors as 64-bit words ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LAYOUT_GF2_H
#define TERRAZZO_LAYOUT_GF2_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <bit>
#include <cstdint>

namespace terrazzo::layout {

using Vectors = llvm::SmallVector<uint64_t, 16>;

/// A growing subspace in echelon form: at most one vector for each highest bit.
/// Each carries a tag that is XORed along, most often which inserted vectors it
/// is the sum of.
class Span {
public:
  Span() = default;
  explicit Span(llvm::ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      insert(vector);
  }

  /// Reduces `vector` and its tag. True if the vector is in the span: then it
  /// is 0 and the tag is the sum of the tags that make it.
  bool reduce(uint64_t &vector, uint64_t &tag) const {
    while (vector) {
      int top = std::bit_width(vector) - 1;
      if (!(pivots >> top & 1))
        return false;
      vector ^= vectors[top];
      tag ^= tags[top];
    }
    return true;
  }

  bool contains(uint64_t vector) const {
    uint64_t tag = 0;
    return reduce(vector, tag);
  }

  /// False if the vector was in the span already.
  bool insert(uint64_t vector, uint64_t tag = 0) {
    if (reduce(vector, tag))
      return false;
    int top = std::bit_width(vector) - 1;
    vectors[top] = vector;
    tags[top] = tag;
    pivots |= uint64_t(1) << top;
    return true;
  }

  int rank() const { return std::popcount(pivots); }

  /// Calls `visit` with each vector and its tag, by ascending highest bits.
  template <typename Visitor>
  void forEach(Visitor visit) const {
    for (uint64_t left = pivots; left; left &= left - 1) {
      int top = std::countr_zero(left);
      visit(vectors[top], tags[top]);
    }
  }

private:
  uint64_t pivots = 0;
  uint64_t vectors[64];
  uint64_t tags[64];
};

/// A basis of span(a) ∩ span(b).
inline Vectors intersect(llvm::ArrayRef<uint64_t> a,
                         llvm::ArrayRef<uint64_t> b) {
  // The tag is the part that comes from b. A vector of b that others reduce to
  // zero gives one of the intersection: the tag, which a's part equals.
  Span both(a), found;
  Vectors result;
  for (uint64_t vector : b) {
    uint64_t rest = vector, tag = vector;
    if (!both.reduce(rest, tag))
      both.insert(vector, vector);
    else if (tag && found.insert(tag))
      result.push_back(tag);
  }
  return result;
}

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_GF2_H
