//===- Swizzle.cpp - Moving tiles between layouts -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a swizzle is found. Offsets are, from the lowest bit: the elements of a
// vector (V), the rest of a row over all banks (B), the row (S). In terms of
// the tile, each is a subspace, and together they are all of it. An access
// touches, in one pass, the elements of a subspace A: V and some lanes. Two of
// them meet in a bank, in different words, exactly if their difference is a
// nonzero vector of S (up to what lies within a word). So the writes A and the
// reads D are free of conflicts if S meets neither. Let I = A ∩ D, let a and d
// complete it to A and D, and E all of it to the tile. Then E and the sums a_i
// + d_i meet neither, and they are enough if A and D are no larger than a row.
//
// Two more wishes: V should lie in registers of both sides, or at least of one;
// and no lane or warp may change the order within a vector, so B and S are
// chosen inside a complement K of V that holds the lanes and warps.
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Swizzle.h"
#include "Bits.h"
#include "terrazzo/Layout/Gf2.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <tuple>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace terrazzo::layout {

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// The output `name` of `map` equals the input `name`.
static bool staysInPlace(const LinearLayout &map, llvm::StringRef name) {
  if (!map.hasOut(name))
    return true;
  for (const Dim &in : map.inDims())
    for (int32_t bit = 0; bit < in.bits; ++bit)
      if (map.basis(in.name, bit, name) != (in.name == name ? 1 << bit : 0))
        return false;
  return true;
}

Conversion classify(const LinearLayout &src, const LinearLayout &dst) {
  if (src == dst)
    return Conversion::None;
  LinearLayout from = dst.invertAndCompose(src);
  auto isInsideThread = [](llvm::StringRef name) {
    return name == kRegister || name == kLane;
  };
  for (const Dim &out : from.outDims())
    if (!isInsideThread(out.name) && !staysInPlace(from, out.name))
      return Conversion::Shared;
  if (!staysInPlace(from, kLane))
    return Conversion::Lanes;
  for (const Dim &in : from.inDims())
    if (in.name != kRegister && !from.sublayoutIsZero({in.name}, {kRegister}))
      return Conversion::Lanes;
  return src.inBits(kRegister) == dst.inBits(kRegister) &&
                 staysInPlace(from, kRegister)
             ? Conversion::None
             : Conversion::Registers;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {

/// A distributed layout as vectors: of the tile, or of offsets.
struct Places {
  Vectors registers, lanes, others;

  explicit Places(const LinearLayout &layout) {
    for (const Dim &dim : layout.inDims())
      llvm::append_range(dim.name == kRegister ? registers
                         : dim.name == kLane   ? lanes
                                               : others,
                         layout.packedBases(dim.name));
  }

  /// The lanes that one pass serves, if a lane accesses `bytes` at once.
  ArrayRef<uint64_t> passLanes(int32_t bytes, const Banks &banks) const {
    size_t bits =
        exactLog2(banks.rowBytes() / std::max(bytes, banks.bankBytes));
    return ArrayRef(lanes).take_front(std::min(bits, lanes.size()));
  }
};

/// What an access costs a warp.
struct Cost {
  int32_t vectorBits = 0;
  int32_t conflicts = 0;
  int64_t accesses = 0; ///< of one thread
  int64_t passes = 0;   ///< of one warp
};

} // namespace

static int32_t countVectorBits(const Places &places, int32_t elementBytes,
                               const Banks &banks) {
  Span registers(places.registers);
  int32_t bits = 0,
          maxBits = exactLog2(std::max(1, banks.maxVectorBytes / elementBytes));
  auto moves = [&](uint64_t vector) { return (vector >> bits & 1) != 0; };
  while (bits < maxBits && registers.contains(uint64_t(1) << bits) &&
         llvm::none_of(places.lanes, moves) &&
         llvm::none_of(places.others, moves))
    ++bits;
  return bits;
}

/// `places` are offsets.
static Cost costOf(const Places &places, int32_t elementBytes,
                   const Banks &banks) {
  Cost cost;
  cost.vectorBits = countVectorBits(places, elementBytes, banks);
  int32_t bytes = elementBytes << cost.vectorBits;
  // The offsets that one pass touches, in whole words; how many words, and in
  // how many banks.
  int32_t wordBits = exactLog2(std::max(1, banks.bankBytes / elementBytes));
  uint64_t rowMask =
      banks.rowBytes() / std::min(elementBytes, banks.rowBytes()) - 1;
  Span words, inBanks;
  auto touch = [&](uint64_t offset) {
    offset = offset >> wordBits << wordBits;
    words.insert(offset);
    inBanks.insert(offset & rowMask);
  };
  for (int32_t bit = 0; bit < cost.vectorBits; ++bit)
    touch(uint64_t(1) << bit);
  ArrayRef<uint64_t> together = places.passLanes(bytes, banks);
  for (uint64_t lane : together)
    touch(lane);
  int32_t degree = 1 << (words.rank() - inBanks.rank());
  cost.conflicts = degree - 1;
  cost.accesses = int64_t(1)
                  << (Span(places.registers).rank() - cost.vectorBits);
  cost.passes = cost.accesses * degree
                << (places.lanes.size() - together.size());
  return cost;
}

int32_t vectorElements(const LinearLayout &layout, const LinearLayout &offsets,
                       int32_t elementBytes, const Banks &banks) {
  return 1 << countVectorBits(Places(layout.invertAndCompose(offsets)),
                              elementBytes, banks);
}

int32_t bankConflicts(const LinearLayout &layout, const LinearLayout &offsets,
                      int32_t elementBytes, const Banks &banks) {
  return costOf(Places(layout.invertAndCompose(offsets)), elementBytes, banks)
      .conflicts;
}

SmallVector<int32_t> accessOrder(const LinearLayout &layout,
                                 const LinearLayout &offsets, int32_t vector) {
  LinearLayout map = layout.invertAndCompose(offsets);
  ArrayRef<uint64_t> images = map.packedBases(kRegister);
  int32_t vectorBits = exactLog2(vector);
  Span span;
  for (unsigned bit = 0; bit < images.size(); ++bit)
    span.insert(images[bit], uint64_t(1) << bit);

  // steps: the registers, as bit masks, that move by one bit of the offset
  // within a vector, then those that move from vector to vector.
  Vectors steps;
  Span chosen;
  for (int32_t bit = 0; bit < vectorBits; ++bit) {
    uint64_t unit = uint64_t(1) << bit, registers = 0;
    bool solved = span.reduce(unit, registers);
    assert(solved && "expected a vector to lie in registers");
    (void)solved;
    steps.push_back(registers);
    chosen.insert(uint64_t(1) << bit);
  }
  for (unsigned bit = 0; bit < images.size(); ++bit) {
    if (!chosen.insert(images[bit]))
      continue;
    uint64_t registers = uint64_t(1) << bit;
    for (int32_t low = 0; low < vectorBits; ++low)
      if (images[bit] >> low & 1)
        registers ^= steps[low];
    steps.push_back(registers);
  }
  SmallVector<int32_t> order = {0};
  for (uint64_t step : steps)
    for (size_t i = 0, end = order.size(); i < end; ++i)
      order.push_back(order[i] ^ static_cast<int32_t>(step));
  return order;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// Those of `candidates` that `span` does not hold yet, one by one.
static Vectors complete(Span &span, ArrayRef<uint64_t> candidates) {
  Vectors added;
  for (uint64_t vector : candidates)
    if (span.insert(vector))
      added.push_back(vector);
  return added;
}

static Vectors sum(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  Vectors all(a.begin(), a.end());
  llvm::append_range(all, b);
  return all;
}

namespace {

/// The search for one pair of layouts.
class SwizzleSearch {
public:
  SwizzleSearch(const LinearLayout &writeLayout, const LinearLayout &readLayout,
                int32_t elementBytes, const Banks &banks)
      : write(writeLayout), read(readLayout), tile(writeLayout),
        elementBytes(elementBytes), banks(banks),
        tileBits(writeLayout.totalOutBits()),
        rowBits(exactLog2(std::max(1, banks.rowBytes() / elementBytes))),
        wordBits(exactLog2(std::max(1, banks.bankBytes / elementBytes))) {
    for (int32_t bit = 0; bit < tileBits; ++bit)
      units.push_back(uint64_t(1) << bit);
  }

  SharedLayout run();

private:
  Vectors fixed(const Places &side) const {
    return sum(side.lanes, side.others);
  }
  Vectors commonVector() const;
  Vectors furtherVector(ArrayRef<uint64_t> common, const Places &wide,
                        const Places &narrow) const;
  bool tryVectors(ArrayRef<uint64_t> common, ArrayRef<uint64_t> further,
                  bool writeIsWide);
  Vectors order(ArrayRef<uint64_t> common, ArrayRef<uint64_t> further,
                const Places &wide, const Places &narrow) const;

  Places write, read;
  const LinearLayout &tile;
  int32_t elementBytes;
  Banks banks;
  int32_t tileBits, rowBits, wordBits;
  Vectors units;
  std::optional<std::tuple<int64_t, int64_t>> bestCost;
  SharedLayout best;
};

} // namespace

/// What lies in registers on both sides, and no lane or warp of either moves.
Vectors SwizzleSearch::commonVector() const {
  Vectors both = intersect(write.registers, read.registers);
  llvm::sort(both);
  Span moved(fixed(write));
  complete(moved, fixed(read));
  Vectors common = complete(moved, both);
  size_t maxBits = exactLog2(std::max(1, banks.maxVectorBytes / elementBytes));
  common.resize(std::min({common.size(), maxBits, size_t(rowBits)}));
  return common;
}

/// More for the vectors of the side `wide`, whatever `narrow` does with it.
Vectors SwizzleSearch::furtherVector(ArrayRef<uint64_t> common,
                                     const Places &wide,
                                     const Places &narrow) const {
  Vectors wideFixed = fixed(wide), candidates(wide.registers), further;
  Span wideMoved(wideFixed), allMoved(wideFixed);
  complete(wideMoved, common);
  complete(allMoved, fixed(narrow));
  llvm::sort(candidates);
  size_t maxBits = exactLog2(std::max(1, banks.maxVectorBytes / elementBytes));
  maxBits = std::min(maxBits, size_t(rowBits));
  for (uint64_t vector : candidates) {
    if (common.size() + further.size() >= maxBits)
      break;
    // `common` has to stay out of what `narrow` and the further bits move.
    Span withVector = allMoved;
    withVector.insert(vector);
    if (complete(withVector, common).size() != common.size())
      continue;
    if (!wideMoved.insert(vector))
      continue;
    allMoved.insert(vector);
    further.push_back(vector);
  }
  return further;
}

/// The bases of the offset, lowest first.
Vectors SwizzleSearch::order(ArrayRef<uint64_t> common,
                             ArrayRef<uint64_t> further, const Places &wide,
                             const Places &narrow) const {
  Vectors offset = sum(common, further);
  auto touched = [&](const Places &side, ArrayRef<uint64_t> vector) {
    int32_t bytes = elementBytes << vector.size();
    return sum(vector, side.passLanes(bytes, banks));
  };
  Vectors a = touched(wide, offset), d = touched(narrow, common);

  Span used(offset);
  Vectors inside = complete(used, fixed(wide)); // K in the head comment
  llvm::append_range(inside, complete(used, fixed(narrow)));
  llvm::append_range(inside, complete(used, units));

  // Fill up the first word: best with what both sides touch in one pass.
  if (offset.size() < size_t(wordBits)) {
    Vectors aInside = intersect(inside, sum(offset, a));
    Vectors dInside = intersect(inside, sum(offset, d));
    Vectors candidates = intersect(aInside, dInside);
    llvm::append_range(candidates, aInside);
    llvm::append_range(candidates, inside);
    Span vector(offset);
    for (uint64_t candidate : candidates)
      if (offset.size() < size_t(wordBits) && vector.insert(candidate))
        offset.push_back(candidate);
  }
  ArrayRef<uint64_t> word =
      ArrayRef(offset).take_front(std::min(size_t(wordBits), offset.size()));
  a = intersect(inside, sum(word, a));
  d = intersect(inside, sum(word, d));
  Vectors both = intersect(a, d);
  Span span(both);
  Vectors onlyA = complete(span, a), onlyD = complete(span, d);
  llvm::sort(inside);
  Vectors rest = complete(span, inside);

  Vectors candidates(rest.rbegin(), rest.rend());
  size_t pairs = std::min(onlyA.size(), onlyD.size());
  for (size_t i = 0; i < pairs; ++i)
    candidates.push_back(onlyA[i] ^ onlyD[i]);
  // From here on with conflicts.
  for (ArrayRef<uint64_t> list :
       {ArrayRef(onlyD), ArrayRef(onlyA), ArrayRef(both)})
    llvm::append_range(candidates, list);

  Span final(offset);
  Vectors rows;
  for (uint64_t candidate : candidates)
    if (rows.size() < size_t(std::max(0, tileBits - rowBits)) &&
        final.insert(candidate))
      rows.push_back(candidate);
  llvm::append_range(offset, complete(final, inside));
  llvm::sort(rows);
  llvm::append_range(offset, rows);
  return offset;
}

/// Keeps the buffer with these vectors if it is the best. True without
/// conflicts.
bool SwizzleSearch::tryVectors(ArrayRef<uint64_t> common,
                               ArrayRef<uint64_t> further, bool writeIsWide) {
  const Places &wide = writeIsWide ? write : read;
  const Places &narrow = writeIsWide ? read : write;
  Dim in = {kOffset, tileBits};
  LinearLayout offsets = LinearLayout::fromPacked(
      {in}, tile.outDims(), order(common, further, wide, narrow));
  assert(offsets.isInvertible() && "an offset a place of the tile");
  LinearLayout toOffset = offsets.invert();
  auto moved = [&](Places side) {
    for (Vectors *vectors : {&side.registers, &side.lanes, &side.others})
      for (uint64_t &vector : *vectors)
        vector = toOffset.applyPacked(
            toOffset.flattenInputs(offsets.unpackOut(vector)));
    return side;
  };
  Cost writes = costOf(moved(write), elementBytes, banks);
  Cost reads = costOf(moved(read), elementBytes, banks);
  std::tuple<int64_t, int64_t> cost = {writes.passes + reads.passes,
                                       writes.accesses + reads.accesses};
  if (!bestCost || cost < *bestCost) {
    bestCost = cost;
    best = {std::move(offsets), 1 << writes.vectorBits, 1 << reads.vectorBits,
            writes.conflicts, reads.conflicts};
  }
  return !writes.conflicts && !reads.conflicts;
}

SharedLayout SwizzleSearch::run() {
  Vectors common = commonVector();
  for (size_t size = common.size() + 1; size-- > 0;) {
    ArrayRef<uint64_t> shared = ArrayRef(common).take_front(size);
    bool isFree = false;
    for (bool writeIsWide : {true, false}) {
      Vectors further = furtherVector(shared, writeIsWide ? write : read,
                                      writeIsWide ? read : write);
      // Narrower vectors only help against conflicts.
      bool found = false;
      for (size_t more = further.size() + 1; more-- > 0 && !found;)
        found =
            tryVectors(shared, ArrayRef(further).take_front(more), writeIsWide);
      isFree |= found;
    }
    if (isFree)
      break;
  }
  return std::move(best);
}

SharedLayout chooseSwizzle(const LinearLayout &write, const LinearLayout &read,
                           int32_t elementBytes, const Banks &banks) {
  assert(write.outDims() == read.outDims() && "expected the same tile");
  return SwizzleSearch(write, read, elementBytes, banks).run();
}

} // namespace terrazzo::layout
