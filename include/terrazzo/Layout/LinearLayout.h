//===- LinearLayout.h - Where the elements of a tile live -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout answers: which element of the tile does register r of lane l of warp
// w hold? Write r, l and w in binary. In every layout that hardware likes, each
// of their bits moves the element by a fixed amount, and the amounts add up by
// XOR. So the answer is a linear map over GF(2), the field of the two numbers 0
// and 1, and it is enough to write down where each single bit goes: its basis.
//
// Example: a tile of 4 x 8, a warp of 8 lanes, two elements next to each other
// in each lane, two warps.
//
//     register = [[0,1]]                  bit 0 of r steps by (0,1)
//     lane     = [[0,2], [0,4], [1,0]]    bits of l step by (0,2), (0,4), (1,0)
//     warp     = [[2,0]]                  the bit of w steps by (2,0)
//
// Register 1 of lane 5 = 0b101 of warp 1 holds (0,1) ^ (0,2) ^ (1,0) ^ (2,0) =
// (3,3). Sums without a carry look no different from a blocked layout's. A
// swizzle is a basis with several bits set: with lane = [[0,2], [0,4], [1,2]],
// lane 5 holds (0,2) ^ (1,2) = (1,0) and the odd rows come in another order.
//
// What the algebra gives:
// * copies: a basis that is the XOR of others (most often zero) means that the
//   bit picks one of several holders of the same element (freeMasks);
// * conversions: the element that (r,l,w) needs is found in the source layout
// at
//   dst.invertAndCompose(src) of (r,l,w). If that map leaves l and w alone, the
//   conversion renames registers; if it leaves w alone, lanes shuffle;
//   otherwise it goes through shared memory (classify in Swizzle.h);
// * the layout of a buffer is the same thing with one input, "offset".
//
// Sizes are powers of two. A tile of another size is padded to one; the caller
// masks. The reasons: docs/Rationale/Layout.md.
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LAYOUT_LINEARLAYOUT_H
#define TERRAZZO_LAYOUT_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::layout {

/// Input dimensions with a meaning.
inline constexpr llvm::StringLiteral kRegister = "register";
inline constexpr llvm::StringLiteral kLane = "lane";
inline constexpr llvm::StringLiteral kWarp = "warp";
inline constexpr llvm::StringLiteral kOffset = "offset";

/// "dim0", "dim1", ...: the name of a tile dimension. It lives for ever.
llvm::StringRef dimName(unsigned index);

/// A dimension of 2^bits values. Names are interned: equal names have equal
/// pointers, and they live for ever.
struct Dim {
  llvm::StringRef name;
  int32_t bits = 0;

  int32_t size() const { return int32_t(1) << bits; }
  bool operator==(const Dim &other) const {
    return name.data() == other.name.data() && bits == other.bits;
  }
};

/// A linear map over GF(2) from named input dimensions to named output
/// dimensions. A value type; all operations return a new layout. At most 63
/// input bits and 63 output bits, 30 a dimension.
class LinearLayout {
public:
  /// One coordinate an output dimension.
  using Basis = llvm::SmallVector<int32_t, 4>;
  /// An input dimension: its name, the bases of its bits (lowest first).
  using InSpec = std::pair<llvm::StringRef, std::vector<Basis>>;
  /// An output dimension: its name, the logarithm of its size.
  using OutSpec = std::pair<llvm::StringRef, int32_t>;

  /// No inputs, no outputs.
  LinearLayout() = default;
  static LinearLayout empty() { return LinearLayout(); }

  /// What tryCreate accepts; anything else is a programmer's error.
  LinearLayout(llvm::ArrayRef<InSpec> ins, llvm::ArrayRef<OutSpec> outs);

  /// Checks names, sizes and coordinates. On failure, `error` says what is
  /// wrong.
  static std::optional<LinearLayout> tryCreate(llvm::ArrayRef<InSpec> ins,
                                               llvm::ArrayRef<OutSpec> outs,
                                               std::string &error);

  /// From packed bases, one an input bit, in the order of flat inputs; see
  /// packedBases().
  static LinearLayout fromPacked(llvm::ArrayRef<Dim> ins,
                                 llvm::ArrayRef<Dim> outs,
                                 llvm::ArrayRef<uint64_t> bases);

  /// in value i -> out value i.
  static LinearLayout identity1D(int32_t size, llvm::StringRef in,
                                 llvm::StringRef out);
  /// Every in value -> out value 0.
  static LinearLayout zeros1D(int32_t size, llvm::StringRef in,
                              llvm::StringRef out, int32_t outSize = 1);

  /// The direct sum: dimensions of the same name are concatenated, the bits of
  /// `hi` above ours, in inputs and outputs. Our dimensions come first.
  LinearLayout operator*(const LinearLayout &hi) const;
  LinearLayout &operator*=(const LinearLayout &hi) {
    return *this = *this * hi;
  }

  //===--- Shape
  //-----------------------------------------------------------===//

  llvm::ArrayRef<Dim> inDims() const { return ins; }
  llvm::ArrayRef<Dim> outDims() const { return outs; }
  unsigned numIns() const { return ins.size(); }
  unsigned numOuts() const { return outs.size(); }
  bool hasIn(llvm::StringRef name) const { return inIndex(name) >= 0; }
  bool hasOut(llvm::StringRef name) const { return outIndex(name) >= 0; }
  /// Zero bits (size 1) for a dimension that is not there.
  int32_t inBits(llvm::StringRef name) const;
  int32_t outBits(llvm::StringRef name) const;
  int32_t inSize(llvm::StringRef name) const { return 1 << inBits(name); }
  int32_t outSize(llvm::StringRef name) const { return 1 << outBits(name); }
  int32_t totalInBits() const { return static_cast<int32_t>(bases.size()); }
  int32_t totalOutBits() const;
  /// The sizes of the outputs, in order.
  llvm::SmallVector<int32_t, 4> outShape() const;
  /// Indices in inDims() and outDims(), -1 if absent.
  int inIndex(llvm::StringRef name) const;
  int outIndex(llvm::StringRef name) const;

  //===--- Values
  //----------------------------------------------------------===//

  Basis basis(llvm::StringRef in, int32_t bit) const;
  int32_t basis(llvm::StringRef in, int32_t bit, llvm::StringRef out) const;
  /// Inputs in the order of inDims(), results in the order of outDims().
  llvm::SmallVector<int32_t, 4> apply(llvm::ArrayRef<int32_t> inputs) const;

  /// The packed form. A packed output holds the last dimension in its lowest
  /// bits: it is the row-major index of the element. A flat input holds the
  /// first dimension in its lowest bits: register, then lane, then warp.
  llvm::ArrayRef<uint64_t> packedBases() const { return bases; }
  /// The packed bases of one input dimension.
  llvm::ArrayRef<uint64_t> packedBases(llvm::StringRef in) const;
  uint64_t applyPacked(uint64_t flatInput) const;
  uint64_t packOut(llvm::ArrayRef<int32_t> coordinates) const;
  Basis unpackOut(uint64_t packed) const;
  uint64_t flattenInputs(llvm::ArrayRef<int32_t> inputs) const;
  llvm::SmallVector<int32_t, 4> unflattenInputs(uint64_t flat) const;
  /// The lowest bit of an input dimension in a flat input, of an output
  /// dimension in a packed output.
  int32_t inShift(unsigned index) const;
  int32_t outShift(unsigned index) const;

  //===--- Algebra
  //---------------------------------------------------------===//

  /// This, then `outer`, whose inputs are our outputs by name and size.
  LinearLayout compose(const LinearLayout &outer) const;
  bool isSurjective() const;
  bool isInjective() const;
  bool isInvertible() const;
  /// Expects isInvertible().
  LinearLayout invert() const;
  /// A right inverse r: r, then this, is the identity. Zero for free input
  /// bits. Expects isSurjective().
  LinearLayout pseudoinvert() const;
  /// X: our inputs -> inputs of `dst`, so that X, then `dst`, is this. `dst`
  /// has the same outputs and covers what we reach. Among the solutions: a bit
  /// of ours that `dst` also has stays in place, if nothing more or only inputs
  /// before it (for a lane: registers) are needed besides; so "nothing to do"
  /// is recognised and copies are read from where one is. Other free bits of
  /// `dst` are 0.
  LinearLayout invertAndCompose(const LinearLayout &dst) const;
  /// For each input dimension the bits that depend on bits before them (inputs
  /// in order): holders of copies.
  llvm::SmallVector<int32_t, 4> freeMasks() const;
  /// Every bit of our inputs goes to the same bit of the output of the same
  /// name, and nothing else is there.
  bool isIdentity() const;
  /// q with `divisor * q` == this up to the order of dimensions. Keeps all our
  /// dimensions, those used up with no bits.
  std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;

  //===--- Selecting and renaming dimensions
  //-------------------------------===//

  /// Restricted to the inputs `ins` (others 0) and the outputs `outs`, each in
  /// the order given.
  LinearLayout sublayout(llvm::ArrayRef<llvm::StringRef> ins,
                         llvm::ArrayRef<llvm::StringRef> outs) const;
  bool sublayoutIsZero(llvm::ArrayRef<llvm::StringRef> ins,
                       llvm::ArrayRef<llvm::StringRef> outs) const;
  LinearLayout dropOut(llvm::StringRef name) const;
  LinearLayout dropIn(llvm::StringRef name) const;
  LinearLayout renameOut(llvm::StringRef from, llvm::StringRef to) const;
  LinearLayout renameIn(llvm::StringRef from, llvm::StringRef to) const;

  //===--- What tile operations do to a layout
  //-----------------------------===//
  // The outputs here are tile dimensions, named dim0, dim1, ... by position.

  /// Output i of the result is our output order[i].
  LinearLayout transposeOuts(llvm::ArrayRef<int32_t> order) const;
  /// A new output of size 1 at `axis`.
  LinearLayout insertOut(unsigned axis) const;
  /// Drops the output at `axis`: the layout of a slice, or of a reduction.
  LinearLayout removeOut(unsigned axis) const;
  /// Row-major flattening, split again into `sizes` (powers of two, of the same
  /// product).
  LinearLayout reshapeOuts(llvm::ArrayRef<int32_t> sizes) const;
  /// The outputs at `axes` shrink to size 1 and lose their bases.
  LinearLayout zeroOuts(llvm::ArrayRef<int32_t> axes) const;
  /// The layout of a source of shape `sizes` whose broadcast has this layout
  /// and moves no data: where `sizes` has a 1, the output shrinks.
  LinearLayout broadcastOuts(llvm::ArrayRef<int32_t> sizes) const;
  /// Without the "register" bits that depend on earlier ones: copies inside one
  /// thread.
  LinearLayout withoutZeroRegisters() const;
  /// How many values of `in`, from 0 on, step by 1 along `out` with all other
  /// outputs unchanged, from a multiple of that number whatever the other
  /// inputs are: the width of a vector access.
  int32_t numConsecutive(llvm::StringRef in, llvm::StringRef out) const;

  //===--- Comparing and printing
  //------------------------------------------===//

  bool operator==(const LinearLayout &other) const {
    return ins == other.ins && outs == other.outs && bases == other.bases;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }
  // LLVM's containers look for this name.
  // NOLINTNEXTLINE(readability-identifier-naming)
  friend llvm::hash_code hash_value(const LinearLayout &layout);
  size_t hash() const;
  /// One line: register = [[0, 1], [0, 2]], lane = [[1, 0]], dims [2, 4].
  /// Outputs that are not named by position are named: dims [offset: 64].
  std::string toString() const;
  /// Who holds what, as a table: a row for each value of the first outputs, a
  /// column for each of the last. At most `maxCells` cells; says what it cut.
  std::string picture(int32_t maxCells = 1024) const;

private:
  LinearLayout selectOuts(llvm::ArrayRef<int> indices) const;
  LinearLayout numbered() const;
  uint64_t embed(uint64_t packed, const LinearLayout &from,
                 const LinearLayout *below = nullptr) const;

  llvm::SmallVector<Dim, 4> ins;
  llvm::SmallVector<Dim, 4> outs;
  llvm::SmallVector<uint64_t, 16> bases;
};

// NOLINTNEXTLINE(readability-identifier-naming)
llvm::hash_code hash_value(const LinearLayout &layout);

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_LINEARLAYOUT_H
