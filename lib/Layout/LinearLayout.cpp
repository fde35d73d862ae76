//===- LinearLayout.cpp - Linear maps over GF(2) --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A basis is one 64-bit word, the last output dimension in its lowest bits, so
// that applying, composing and eliminating are XORs of words, and a reshape of
// the outputs changes no word at all.
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/LinearLayout.h"
#include "Bits.h"
#include "terrazzo/Layout/Gf2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <mutex>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace terrazzo::layout {

static constexpr int kMaxBits = 63, kMaxDimBits = 30;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kDimNames[] = {
    "dim0", "dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7"};

/// The one copy of a name. The usual names need no lock.
static StringRef intern(StringRef name) {
  for (StringRef known : {StringRef(kRegister), StringRef(kLane),
                          StringRef(kWarp), StringRef(kOffset)})
    if (known.data() == name.data() || known == name)
      return known;
  for (StringRef known : kDimNames)
    if (known.data() == name.data() || known == name)
      return known;
  // Never freed: layouts may outlive any static destructor.
  static std::mutex &mutex = *new std::mutex;
  static llvm::StringSet<> &names = *new llvm::StringSet<>;
  std::lock_guard<std::mutex> lock(mutex);
  return names.insert(name).first->getKey();
}

StringRef dimName(unsigned index) {
  if (index < std::size(kDimNames))
    return kDimNames[index];
  return intern("dim" + std::to_string(index));
}

static int findDim(ArrayRef<Dim> dims, StringRef name) {
  for (unsigned i = 0; i < dims.size(); ++i)
    if (dims[i].name.data() == name.data() || dims[i].name == name)
      return static_cast<int>(i);
  return -1;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static int32_t totalBits(ArrayRef<Dim> dims) {
  int32_t bits = 0;
  for (const Dim &dim : dims)
    bits += dim.bits;
  return bits;
}

static std::string quoted(StringRef name) { return "'" + name.str() + "'"; }

/// What is wrong with a basis; empty if nothing.
static std::string checkBasis(ArrayRef<int32_t> basis, ArrayRef<Dim> outs,
                              StringRef in, unsigned bit) {
  auto where = [&] {
    return " of bit " + std::to_string(bit) + " of input " + quoted(in);
  };
  if (basis.size() != outs.size())
    return "expected a basis of " + std::to_string(outs.size()) +
           " coordinates, found " + std::to_string(basis.size()) + where();
  for (unsigned i = 0; i < basis.size(); ++i)
    if (basis[i] < 0 || basis[i] >= outs[i].size())
      return "expected a coordinate in [0, " + std::to_string(outs[i].size()) +
             "), found " + std::to_string(basis[i]) + " in output " +
             quoted(outs[i].name) + where();
  return "";
}

/// The same for a dimension that joins `dims`; `what` is "input" or "output".
static std::string checkDim(StringRef name, int64_t bits, ArrayRef<Dim> dims,
                            const std::string &what) {
  if (findDim(dims, name) >= 0)
    return "expected distinct " + what + "s, found " + quoted(name) + " twice";
  if (bits < 0 || bits > kMaxDimBits)
    return "expected " + what + " " + quoted(name) +
           " to have 0 to 30 bits, found " + std::to_string(bits);
  int64_t total = totalBits(dims) + bits;
  if (total > kMaxBits)
    return "expected at most 63 " + what + " bits, found " +
           std::to_string(total) + " up to " + what + " " + quoted(name);
  return "";
}

std::optional<LinearLayout> LinearLayout::tryCreate(ArrayRef<InSpec> inSpecs,
                                                    ArrayRef<OutSpec> outSpecs,
                                                    std::string &error) {
  LinearLayout result;
  for (const auto &[name, bits] : outSpecs) {
    error = checkDim(name, bits, result.outs, "output");
    if (!error.empty())
      return std::nullopt;
    result.outs.push_back({intern(name), bits});
  }
  for (const auto &[name, inBases] : inSpecs) {
    auto bits = static_cast<int64_t>(inBases.size());
    error = checkDim(name, bits, result.ins, "input");
    if (!error.empty())
      return std::nullopt;
    for (unsigned bit = 0; bit < inBases.size(); ++bit) {
      error = checkBasis(inBases[bit], result.outs, name, bit);
      if (!error.empty())
        return std::nullopt;
      result.bases.push_back(result.packOut(inBases[bit]));
    }
    result.ins.push_back({intern(name), static_cast<int32_t>(bits)});
  }
  return result;
}

LinearLayout::LinearLayout(ArrayRef<InSpec> inSpecs,
                           ArrayRef<OutSpec> outSpecs) {
  std::string error;
  std::optional<LinearLayout> created = tryCreate(inSpecs, outSpecs, error);
  assert(created && "not a layout; tryCreate says why");
  *this = std::move(*created);
}

LinearLayout LinearLayout::fromPacked(ArrayRef<Dim> inDims,
                                      ArrayRef<Dim> outDims,
                                      ArrayRef<uint64_t> packed) {
  assert(totalBits(inDims) == static_cast<int32_t>(packed.size()) &&
         packed.size() <= kMaxBits && "expected one basis an input bit");
  assert(totalBits(outDims) <= kMaxBits && "expected at most 63 output bits");
  LinearLayout result;
  for (const Dim &dim : inDims)
    result.ins.push_back({intern(dim.name), dim.bits});
  for (const Dim &dim : outDims)
    result.outs.push_back({intern(dim.name), dim.bits});
  result.bases.assign(packed.begin(), packed.end());
  assert(llvm::all_of(packed,
                      [&](uint64_t basis) {
                        return !(basis & ~lowMask(totalBits(outDims)));
                      }) &&
         "expected bases inside the outputs");
  return result;
}

LinearLayout LinearLayout::identity1D(int32_t size, StringRef in,
                                      StringRef out) {
  int32_t bits = exactLog2(size);
  SmallVector<uint64_t, 16> packed;
  for (int32_t bit = 0; bit < bits; ++bit)
    packed.push_back(uint64_t(1) << bit);
  return fromPacked({{in, bits}}, {{out, bits}}, packed);
}

LinearLayout LinearLayout::zeros1D(int32_t size, StringRef in, StringRef out,
                                   int32_t outSize) {
  int32_t bits = exactLog2(size);
  SmallVector<uint64_t, 16> packed(bits, 0);
  return fromPacked({{in, bits}}, {{out, exactLog2(outSize)}}, packed);
}

/// Appends the dimensions of `hi` to `dims`, those of the same name on top.
static SmallVector<Dim, 4> concatenate(ArrayRef<Dim> lo, ArrayRef<Dim> hi) {
  SmallVector<Dim, 4> dims(lo.begin(), lo.end());
  for (const Dim &dim : hi) {
    int index = findDim(dims, dim.name);
    if (index < 0)
      dims.push_back(dim);
    else
      dims[index].bits += dim.bits;
  }
  return dims;
}

/// An output of `from`, each coordinate moved to the output of the same name
/// here, times the size of that output in `below`.
uint64_t LinearLayout::embed(uint64_t packed, const LinearLayout &from,
                             const LinearLayout *below) const {
  uint64_t moved = 0;
  for (unsigned i = 0; i < from.outs.size(); ++i) {
    uint64_t part = packed >> from.outShift(i) & lowMask(from.outs[i].bits);
    if (!part)
      continue;
    StringRef name = from.outs[i].name;
    moved |=
        part << (outShift(outIndex(name)) + (below ? below->outBits(name) : 0));
  }
  return moved;
}

LinearLayout LinearLayout::operator*(const LinearLayout &hi) const {
  LinearLayout result;
  result.ins = concatenate(ins, hi.ins);
  result.outs = concatenate(outs, hi.outs);
  assert(totalBits(result.ins) <= kMaxBits &&
         totalBits(result.outs) <= kMaxBits && "expected at most 63 bits");
  for (const Dim &dim : result.ins) {
    for (uint64_t basis : packedBases(dim.name))
      result.bases.push_back(result.embed(basis, *this));
    for (uint64_t basis : hi.packedBases(dim.name))
      result.bases.push_back(result.embed(basis, hi, this));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Shape and values
//===----------------------------------------------------------------------===//

int LinearLayout::inIndex(StringRef name) const { return findDim(ins, name); }
int LinearLayout::outIndex(StringRef name) const { return findDim(outs, name); }

int32_t LinearLayout::inBits(StringRef name) const {
  int index = inIndex(name);
  return index < 0 ? 0 : ins[index].bits;
}

int32_t LinearLayout::outBits(StringRef name) const {
  int index = outIndex(name);
  return index < 0 ? 0 : outs[index].bits;
}

int32_t LinearLayout::totalOutBits() const { return totalBits(outs); }

SmallVector<int32_t, 4> LinearLayout::outShape() const {
  return llvm::map_to_vector<4>(outs,
                                [](const Dim &dim) { return dim.size(); });
}

int32_t LinearLayout::inShift(unsigned index) const {
  return totalBits(ArrayRef(ins).take_front(index));
}

int32_t LinearLayout::outShift(unsigned index) const {
  return totalBits(ArrayRef(outs).drop_front(index + 1));
}

ArrayRef<uint64_t> LinearLayout::packedBases(StringRef in) const {
  int index = inIndex(in);
  if (index < 0)
    return {};
  return ArrayRef(bases).slice(inShift(index), ins[index].bits);
}

uint64_t LinearLayout::packOut(ArrayRef<int32_t> coordinates) const {
  assert(coordinates.size() == outs.size() && "expected one an output");
  uint64_t packed = 0;
  for (unsigned i = 0; i < outs.size(); ++i) {
    assert(coordinates[i] >= 0 && coordinates[i] < outs[i].size() &&
           "expected coordinates inside the outputs");
    packed = packed << outs[i].bits | static_cast<uint64_t>(coordinates[i]);
  }
  return packed;
}

LinearLayout::Basis LinearLayout::unpackOut(uint64_t packed) const {
  Basis coordinates(outs.size());
  for (unsigned i = outs.size(); i-- > 0;) {
    coordinates[i] = static_cast<int32_t>(packed & lowMask(outs[i].bits));
    packed >>= outs[i].bits;
  }
  return coordinates;
}

uint64_t LinearLayout::flattenInputs(ArrayRef<int32_t> inputs) const {
  assert(inputs.size() == ins.size() && "expected one an input");
  uint64_t flat = 0;
  for (unsigned i = ins.size(); i-- > 0;) {
    assert(inputs[i] >= 0 && inputs[i] < ins[i].size() &&
           "expected values inside the inputs");
    flat = flat << ins[i].bits | static_cast<uint64_t>(inputs[i]);
  }
  return flat;
}

SmallVector<int32_t, 4> LinearLayout::unflattenInputs(uint64_t flat) const {
  SmallVector<int32_t, 4> inputs;
  for (const Dim &dim : ins) {
    inputs.push_back(static_cast<int32_t>(flat & lowMask(dim.bits)));
    flat >>= dim.bits;
  }
  return inputs;
}

uint64_t LinearLayout::applyPacked(uint64_t flatInput) const {
  uint64_t result = 0;
  for (; flatInput; flatInput &= flatInput - 1)
    result ^= bases[std::countr_zero(flatInput)];
  return result;
}

SmallVector<int32_t, 4> LinearLayout::apply(ArrayRef<int32_t> inputs) const {
  return unpackOut(applyPacked(flattenInputs(inputs)));
}

LinearLayout::Basis LinearLayout::basis(StringRef in, int32_t bit) const {
  return unpackOut(packedBases(in)[bit]);
}

int32_t LinearLayout::basis(StringRef in, int32_t bit, StringRef out) const {
  int index = outIndex(out);
  assert(index >= 0 && "no such output");
  return static_cast<int32_t>(packedBases(in)[bit] >> outShift(index) &
                              lowMask(outs[index].bits));
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

/// The layout whose basis for input bit i of `ins` is the flat input flats[i]
/// of `target`: the outputs of the result are the inputs of `target`.
static LinearLayout fromFlatInputs(ArrayRef<Dim> ins,
                                   const LinearLayout &target,
                                   ArrayRef<uint64_t> flats) {
  // A flat input has the first dimension lowest, a packed output the last.
  ArrayRef<Dim> outs = target.inDims();
  SmallVector<uint64_t, 16> packed;
  for (uint64_t flat : flats) {
    uint64_t word = 0;
    for (const Dim &dim : outs) {
      word = word << dim.bits | (flat & lowMask(dim.bits));
      flat >>= dim.bits;
    }
    packed.push_back(word);
  }
  return LinearLayout::fromPacked(ins, outs, packed);
}

/// The packed outputs of `layout` as flat inputs of dimensions `ins`, which are
/// the same in another order.
static SmallVector<uint64_t, 16> asFlatInputs(const LinearLayout &layout,
                                              const LinearLayout &outer) {
  assert(layout.numOuts() == outer.numIns() && "expected the same dimensions");
  SmallVector<int32_t, 4> shifts;
  for (const Dim &dim : layout.outDims()) {
    int index = outer.inIndex(dim.name);
    assert(index >= 0 && outer.inDims()[index].bits == dim.bits &&
           "expected the inputs of the outer layout to be our outputs");
    shifts.push_back(outer.inShift(index));
  }
  SmallVector<uint64_t, 16> flats;
  for (uint64_t basis : layout.packedBases()) {
    uint64_t flat = 0;
    for (unsigned i = layout.numOuts(); i-- > 0;) {
      int32_t bits = layout.outDims()[i].bits;
      if (bits)
        flat |= (basis & lowMask(bits)) << shifts[i];
      basis >>= bits;
    }
    flats.push_back(flat);
  }
  return flats;
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  LinearLayout result;
  result.ins = ins;
  result.outs = outer.outs;
  for (uint64_t flat : asFlatInputs(*this, outer))
    result.bases.push_back(outer.applyPacked(flat));
  return result;
}

bool LinearLayout::isSurjective() const {
  return Span(bases).rank() == totalOutBits();
}

bool LinearLayout::isInjective() const {
  return Span(bases).rank() == totalInBits();
}

bool LinearLayout::isInvertible() const {
  return totalInBits() == totalOutBits() && isInjective();
}

/// The echelon of all bases; the tag of each is the flat input it comes from.
/// Dependent bits add nothing, so that no solution uses them.
static Span spanOfInputs(ArrayRef<uint64_t> bases) {
  Span span;
  for (unsigned bit = 0; bit < bases.size(); ++bit)
    span.insert(bases[bit], uint64_t(1) << bit);
  return span;
}

LinearLayout LinearLayout::invert() const {
  assert(isInvertible() && "expected an invertible layout");
  return pseudoinvert();
}

LinearLayout LinearLayout::pseudoinvert() const {
  Span span = spanOfInputs(bases);
  SmallVector<uint64_t, 16> flats;
  // The result's input bits: our outputs in order, each from its lowest bit.
  for (unsigned i = 0; i < outs.size(); ++i)
    for (int32_t bit = 0; bit < outs[i].bits; ++bit) {
      uint64_t unit = uint64_t(1) << (outShift(i) + bit), flat = 0;
      bool solved = span.reduce(unit, flat);
      assert(solved && "expected a surjective layout");
      (void)solved;
      flats.push_back(flat);
    }
  return fromFlatInputs(outs, *this, flats);
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &dst) const {
  if (outs != dst.outs) {
    // The same outputs in another order.
    SmallVector<StringRef, 4> order, all;
    for (const Dim &dim : outs)
      order.push_back(dim.name);
    for (const Dim &dim : dst.ins)
      all.push_back(dim.name);
    LinearLayout sorted = dst.sublayout(all, order);
    assert(outs == sorted.outs && outs.size() == dst.outs.size() &&
           "expected the same outputs");
    return invertAndCompose(sorted);
  }
  Span span = spanOfInputs(dst.bases);
  auto solve = [&](uint64_t vector) {
    uint64_t flat = 0;
    bool solved = span.reduce(vector, flat);
    assert(solved && "expected dst to cover the source");
    (void)solved;
    return flat;
  };
  SmallVector<uint64_t, 16> flats;
  unsigned flatBit = 0;
  for (const Dim &dim : ins) {
    int same = dst.inIndex(dim.name);
    for (int32_t bit = 0; bit < dim.bits; ++bit, ++flatBit) {
      uint64_t vector = bases[flatBit];
      if (same >= 0 && bit < dst.ins[same].bits) {
        // Stay in place, if dimensions further in can make up the difference.
        int32_t sameBit = dst.inShift(same) + bit;
        uint64_t rest = vector ^ dst.bases[sameBit], flat = 0;
        if (span.reduce(rest, flat) && !(flat >> dst.inShift(same))) {
          flats.push_back(flat | uint64_t(1) << sameBit);
          continue;
        }
      }
      flats.push_back(solve(vector));
    }
  }
  return fromFlatInputs(ins, dst, flats);
}

SmallVector<int32_t, 4> LinearLayout::freeMasks() const {
  Span span;
  SmallVector<int32_t, 4> masks;
  unsigned flatBit = 0;
  for (const Dim &dim : ins) {
    int32_t mask = 0;
    for (int32_t bit = 0; bit < dim.bits; ++bit)
      if (!span.insert(bases[flatBit++]))
        mask |= 1 << bit;
    masks.push_back(mask);
  }
  return masks;
}

bool LinearLayout::isIdentity() const {
  if (ins.size() != outs.size())
    return false;
  for (const Dim &dim : ins) {
    int out = outIndex(dim.name);
    if (out < 0 || outs[out].bits != dim.bits)
      return false;
    ArrayRef<uint64_t> mine = packedBases(dim.name);
    for (unsigned bit = 0; bit < mine.size(); ++bit)
      if (mine[bit] != uint64_t(1) << (outShift(out) + bit))
        return false;
  }
  return true;
}

std::optional<LinearLayout>
LinearLayout::divideLeft(const LinearLayout &divisor) const {
  auto isLarger = [](ArrayRef<Dim> dims, const Dim &dim) {
    int index = findDim(dims, dim.name);
    return index < 0 || dims[index].bits < dim.bits;
  };
  for (const Dim &dim : divisor.ins)
    if (isLarger(ins, dim))
      return std::nullopt;
  for (const Dim &dim : divisor.outs)
    if (isLarger(outs, dim))
      return std::nullopt;

  LinearLayout quotient;
  uint64_t lowOuts = 0; // the bits of a word that the divisor covers
  for (unsigned i = 0; i < outs.size(); ++i) {
    int32_t lowBits = divisor.outBits(outs[i].name);
    lowOuts |= lowMask(lowBits) << outShift(i);
    quotient.outs.push_back({outs[i].name, outs[i].bits - lowBits});
  }
  for (const Dim &dim : ins) {
    ArrayRef<uint64_t> mine = packedBases(dim.name);
    ArrayRef<uint64_t> low = divisor.packedBases(dim.name);
    for (unsigned bit = 0; bit < low.size(); ++bit)
      if (mine[bit] != embed(low[bit], divisor))
        return std::nullopt;
    for (uint64_t basis : mine.drop_front(low.size())) {
      if (basis & lowOuts)
        return std::nullopt;
      uint64_t word = 0;
      for (unsigned i = 0; i < outs.size(); ++i) {
        uint64_t part = basis >> outShift(i) & lowMask(outs[i].bits);
        int32_t bits = quotient.outs[i].bits;
        word = word << bits | part >> (outs[i].bits - bits);
      }
      quotient.bases.push_back(word);
    }
    quotient.ins.push_back(
        {dim.name, dim.bits - static_cast<int32_t>(low.size())});
  }
  return quotient;
}

//===----------------------------------------------------------------------===//
// Renaming dimensions
//===----------------------------------------------------------------------===//

static void rename(llvm::MutableArrayRef<Dim> dims, StringRef from,
                   StringRef to) {
  int index = findDim(dims, from);
  assert(index >= 0 && "no such dimension");
  assert((from == to || findDim(dims, to) < 0) && "the name is taken");
  dims[index].name = intern(to);
}

LinearLayout LinearLayout::renameOut(StringRef from, StringRef to) const {
  LinearLayout result = *this;
  rename(result.outs, from, to);
  return result;
}

LinearLayout LinearLayout::renameIn(StringRef from, StringRef to) const {
  LinearLayout result = *this;
  rename(result.ins, from, to);
  return result;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code code =
      llvm::hash_combine_range(layout.bases.begin(), layout.bases.end());
  // By content, not by pointer: the same from run to run.
  for (const Dim &dim : layout.ins)
    code = llvm::hash_combine(code, dim.name, dim.bits);
  for (const Dim &dim : layout.outs)
    code = llvm::hash_combine(code, dim.name, dim.bits);
  return code;
}

size_t LinearLayout::hash() const { return hash_value(*this); }

} // namespace terrazzo::layout
