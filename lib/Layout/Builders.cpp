//===- Builders.cpp - The layouts that tiles start from -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Builders.h"
#include "Bits.h"

#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace terrazzo::layout {
namespace {

/// Hands out the bits of a tile, each dimension from its lowest, to the bits of
/// registers, lanes and warps.
class Filler {
public:
  explicit Filler(ArrayRef<int32_t> shape) {
    for (unsigned i = 0; i < shape.size(); ++i)
      dims.push_back({dimName(i), exactLog2(shape[i])});
    used.assign(shape.size(), 0);
    int32_t shift = 0;
    shifts.resize(shape.size());
    for (unsigned i = shape.size(); i-- > 0; shift += dims[i].bits)
      shifts[i] = shift;
  }

  int32_t left(int32_t dim) const { return dims[dim].bits - used[dim]; }

  /// The next `bits` of `dim`; zeros when it is used up.
  void take(SmallVector<uint64_t, 16> &bases, int32_t dim, int32_t bits) {
    for (; bits > 0; --bits)
      bases.push_back(left(dim) ? uint64_t(1) << (shifts[dim] + used[dim]++)
                                : 0);
  }

  /// As many bits as there are, at most `bits`, dimension by dimension; the
  /// number of bits left over.
  int32_t takeInOrder(SmallVector<uint64_t, 16> &bases, ArrayRef<int32_t> order,
                      int32_t bits) {
    for (int32_t dim : order) {
      int32_t part = std::min(bits, left(dim));
      take(bases, dim, part);
      bits -= part;
    }
    return bits;
  }

  LinearLayout build(SmallVector<uint64_t, 16> registers,
                     ArrayRef<uint64_t> lanes, ArrayRef<uint64_t> warps,
                     ArrayRef<int32_t> order) {
    takeInOrder(registers, order, 64);
    Dim ins[] = {{kRegister, static_cast<int32_t>(registers.size())},
                 {kLane, static_cast<int32_t>(lanes.size())},
                 {kWarp, static_cast<int32_t>(warps.size())}};
    registers.append(lanes.begin(), lanes.end());
    registers.append(warps.begin(), warps.end());
    return LinearLayout::fromPacked(ins, dims, registers);
  }

  LinearLayout buildBuffer(ArrayRef<uint64_t> offset) const {
    Dim in = {kOffset, static_cast<int32_t>(offset.size())};
    return LinearLayout::fromPacked({in}, dims, offset);
  }

private:
  SmallVector<Dim, 4> dims;
  SmallVector<int32_t, 4> used, shifts;
};

} // namespace

LinearLayout blocked(ArrayRef<int32_t> shape, ArrayRef<int32_t> sizePerThread,
                     ArrayRef<int32_t> threadsPerWarp, ArrayRef<int32_t> warps,
                     ArrayRef<int32_t> order) {
  assert(sizePerThread.size() == shape.size() &&
         threadsPerWarp.size() == shape.size() &&
         warps.size() == shape.size() && order.size() == shape.size() &&
         "expected one value a dimension");
  Filler filler(shape);
  SmallVector<uint64_t, 16> registers, lanes, warpBases;
  for (int32_t dim : order)
    filler.take(registers, dim, exactLog2(sizePerThread[dim]));
  for (int32_t dim : order)
    filler.take(lanes, dim, exactLog2(threadsPerWarp[dim]));
  for (int32_t dim : order)
    filler.take(warpBases, dim, exactLog2(warps[dim]));
  return filler.build(registers, lanes, warpBases, order);
}

LinearLayout coalesced(ArrayRef<int32_t> shape, ArrayRef<int32_t> order,
                       int32_t vector, int32_t numWarps, int32_t warpSize) {
  assert(order.size() == shape.size() && "expected one value a dimension");
  Filler filler(shape);
  SmallVector<uint64_t, 16> registers, lanes, warps;
  if (!order.empty())
    filler.takeInOrder(registers, order.take_front(), exactLog2(vector));
  lanes.append(filler.takeInOrder(lanes, order, exactLog2(warpSize)), 0);
  warps.append(filler.takeInOrder(warps, order, exactLog2(numWarps)), 0);
  return filler.build(registers, lanes, warps, order);
}

LinearLayout linearBuffer(ArrayRef<int32_t> shape, ArrayRef<int32_t> order) {
  assert(order.size() == shape.size() && "expected one value a dimension");
  Filler filler(shape);
  SmallVector<uint64_t, 16> offset;
  filler.takeInOrder(offset, order, 64);
  return filler.buildBuffer(offset);
}

LinearLayout swizzledBuffer(ArrayRef<int32_t> shape, ArrayRef<int32_t> order,
                            int32_t elementBytes, int32_t swizzleBytes) {
  assert(shape.size() == 2 && order.size() == 2 && "expected rank 2");
  assert((swizzleBytes == 32 || swizzleBytes == 64 || swizzleBytes == 128) &&
         "expected a swizzle of 32, 64 or 128 bytes");
  assert(elementBytes <= 16 && shape[order[0]] * elementBytes >= swizzleBytes &&
         "expected at least one row");
  Filler filler(shape);
  SmallVector<uint64_t, 16> offset;
  filler.take(offset, order[0],
              exactLog2(swizzleBytes) - exactLog2(elementBytes));
  filler.takeInOrder(offset, {order[1], order[0]}, 64);
  // Byte bit 7 + i flips byte bit 4 + i. What is there is an element of a row.
  for (int32_t i = 0; i < exactLog2(swizzleBytes) - 4; ++i) {
    size_t high = 7 + i - exactLog2(elementBytes),
           low = 4 + i - exactLog2(elementBytes);
    if (high < offset.size())
      offset[high] ^= offset[low];
  }
  return filler.buildBuffer(offset);
}

} // namespace terrazzo::layout
