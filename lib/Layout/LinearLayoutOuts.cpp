//===- LinearLayoutOuts.cpp - Parts of layouts, tile operations on them ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Bits.h"
#include "terrazzo/Layout/Gf2.h"
#include "terrazzo/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace terrazzo::layout {

//===----------------------------------------------------------------------===//
// Selecting dimensions
//===----------------------------------------------------------------------===//

/// The outputs at `indices`, in that order, under their names.
LinearLayout LinearLayout::selectOuts(ArrayRef<int> indices) const {
  LinearLayout result;
  result.ins = ins;
  SmallVector<int32_t, 4> shifts;
  for (int index : indices) {
    result.outs.push_back(outs[index]);
    shifts.push_back(outShift(index));
  }
  for (uint64_t basis : bases) {
    uint64_t word = 0;
    for (unsigned i = 0; i < indices.size(); ++i)
      if (int32_t bits = result.outs[i].bits)
        word = word << bits | (basis >> shifts[i] & lowMask(bits));
    result.bases.push_back(word);
  }
  return result;
}

/// Outputs renamed dim0, dim1, ... by position.
LinearLayout LinearLayout::numbered() const {
  LinearLayout result = *this;
  for (unsigned i = 0; i < outs.size(); ++i)
    result.outs[i].name = dimName(i);
  return result;
}

LinearLayout LinearLayout::sublayout(ArrayRef<StringRef> inNames,
                                     ArrayRef<StringRef> outNames) const {
  LinearLayout kept;
  kept.outs = outs;
  for (StringRef name : inNames) {
    int index = inIndex(name);
    assert(index >= 0 && "no such input");
    kept.ins.push_back(ins[index]);
    llvm::append_range(kept.bases, packedBases(name));
  }
  SmallVector<int, 4> indices;
  for (StringRef name : outNames) {
    indices.push_back(outIndex(name));
    assert(indices.back() >= 0 && "no such output");
  }
  return kept.selectOuts(indices);
}

bool LinearLayout::sublayoutIsZero(ArrayRef<StringRef> inNames,
                                   ArrayRef<StringRef> outNames) const {
  uint64_t mask = 0;
  for (StringRef name : outNames) {
    int index = outIndex(name);
    if (index >= 0 && outs[index].bits)
      mask |= lowMask(outs[index].bits) << outShift(index);
  }
  for (StringRef name : inNames)
    for (uint64_t basis : packedBases(name))
      if (basis & mask)
        return false;
  return true;
}

LinearLayout LinearLayout::dropOut(StringRef name) const {
  SmallVector<int, 4> indices;
  for (unsigned i = 0; i < outs.size(); ++i)
    if (outs[i].name != name)
      indices.push_back(i);
  return selectOuts(indices);
}

LinearLayout LinearLayout::dropIn(StringRef name) const {
  LinearLayout result;
  result.outs = outs;
  for (const Dim &dim : ins)
    if (dim.name != name) {
      result.ins.push_back(dim);
      llvm::append_range(result.bases, packedBases(dim.name));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// What tile operations do to a layout
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::transposeOuts(ArrayRef<int32_t> order) const {
  assert(order.size() == outs.size() && "expected a permutation");
  return selectOuts(order).numbered();
}

LinearLayout LinearLayout::insertOut(unsigned axis) const {
  assert(axis <= outs.size() && "expected an axis of the result");
  // No bits: the words stay as they are.
  LinearLayout result = *this;
  result.outs.insert(result.outs.begin() + axis, Dim{dimName(axis), 0});
  return result.numbered();
}

LinearLayout LinearLayout::removeOut(unsigned axis) const {
  assert(axis < outs.size() && "expected an axis");
  SmallVector<int, 4> indices;
  for (unsigned i = 0; i < outs.size(); ++i)
    if (i != axis)
      indices.push_back(i);
  return selectOuts(indices).numbered();
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<int32_t> sizes) const {
  // A word is the row-major index of its element, which a reshape keeps.
  LinearLayout result = *this;
  result.outs.clear();
  for (unsigned i = 0; i < sizes.size(); ++i)
    result.outs.push_back({dimName(i), exactLog2(sizes[i])});
  assert(result.totalOutBits() == totalOutBits() &&
         "expected as many elements as before");
  return result;
}

LinearLayout LinearLayout::zeroOuts(ArrayRef<int32_t> axes) const {
  LinearLayout result = *this;
  for (int32_t axis : axes) {
    int32_t shift = result.outShift(axis), bits = result.outs[axis].bits;
    for (uint64_t &basis : result.bases)
      basis = basis >> bits >> shift << shift | (basis & lowMask(shift));
    result.outs[axis].bits = 0;
  }
  return result;
}

LinearLayout LinearLayout::broadcastOuts(ArrayRef<int32_t> sizes) const {
  assert(sizes.size() == outs.size() && "expected a size an output");
  SmallVector<int32_t, 4> axes;
  for (unsigned i = 0; i < sizes.size(); ++i) {
    assert((sizes[i] == 1 || sizes[i] == outs[i].size()) &&
           "expected size 1 or that of the result");
    if (sizes[i] == 1)
      axes.push_back(i);
  }
  return zeroOuts(axes);
}

LinearLayout LinearLayout::withoutZeroRegisters() const {
  int index = inIndex(kRegister);
  if (index < 0)
    return *this;
  LinearLayout result;
  result.ins = ins;
  result.outs = outs;
  for (const Dim &dim : ins) {
    if (dim.name != kRegister) {
      llvm::append_range(result.bases, packedBases(dim.name));
      continue;
    }
    Span span;
    int32_t kept = 0;
    for (uint64_t basis : packedBases(kRegister))
      if (span.insert(basis)) {
        result.bases.push_back(basis);
        ++kept;
      }
    result.ins[index].bits = kept;
  }
  return result;
}

int32_t LinearLayout::numConsecutive(StringRef in, StringRef out) const {
  int index = outIndex(out), inputIndex = inIndex(in);
  if (index < 0 || inputIndex < 0)
    return 1;
  int32_t shift = outShift(index), first = inShift(inputIndex), count = 0;
  while (count < ins[inputIndex].bits && count < outs[index].bits) {
    uint64_t step = uint64_t(1) << (shift + count);
    bool alone = true;
    for (int32_t bit = 0; bit < totalInBits() && alone; ++bit)
      alone = bit == first + count ? bases[bit] == step : !(bases[bit] & step);
    if (!alone)
      break;
    ++count;
  }
  return 1 << count;
}

} // namespace terrazzo::layout
