//===- MatrixUnits.cpp - What matrix instructions read and write ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts as products: each factor says which input's next bits go along
// which dimension. The tests compare with the formulas of the ISA documents.
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Builders.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::StringRef;

namespace terrazzo::layout {

static LinearLayout along(StringRef in, int32_t size, unsigned dim) {
  return LinearLayout::identity1D(size, in, dimName(dim));
}

/// The inputs and outputs in their usual order, whatever the product began
/// with.
static LinearLayout inOrder(const LinearLayout &layout) {
  Dim ins[] = {{kRegister, 0}, {kLane, 0}, {kWarp, 0}};
  Dim outs[] = {{dimName(0), 0}, {dimName(1), 0}};
  return LinearLayout::fromPacked(ins, outs, {}) * layout;
}

LinearLayout nvidiaMma(MatrixRole role, int32_t elementBits) {
  if (role == MatrixRole::Accumulator)
    return inOrder(along(kRegister, 2, 1) * along(kLane, 4, 1) *
                   along(kLane, 8, 0) * along(kRegister, 2, 0));
  assert((elementBits == 8 || elementBits == 16 || elementBits == 32) &&
         "expected elements of 8, 16 or 32 bits");
  // Four lanes hold a 32-bit register each along K, eight go along M or N.
  unsigned k = role == MatrixRole::A ? 1 : 0, other = 1 - k;
  LinearLayout core = along(kRegister, 32 / elementBits, k) *
                      along(kLane, 4, k) * along(kLane, 8, other);
  if (role == MatrixRole::A)
    core *= along(kRegister, 2, other);
  return inOrder(core * along(kRegister, 2, k));
}

LinearLayout wgmmaAccumulator(int32_t n) {
  assert(n >= 8 && n <= 256 && "expected n from 8 to 256");
  return nvidiaMma(MatrixRole::Accumulator, 32) * along(kWarp, 4, 0) *
         along(kRegister, n / 8, 1);
}

LinearLayout wgmmaA(int32_t elementBits) {
  return nvidiaMma(MatrixRole::A, elementBits) * along(kWarp, 4, 0);
}

LinearLayout mfma(MatrixRole role, int32_t size, int32_t kPerLane) {
  assert((size == 16 || size == 32) && "expected 16x16 or 32x32");
  int32_t groups = 64 / size;
  if (role == MatrixRole::Accumulator)
    return inOrder(along(kLane, size, 1) * along(kRegister, 4, 0) *
                   along(kLane, groups, 0) *
                   along(kRegister, size / (4 * groups), 0));
  unsigned k = role == MatrixRole::A ? 1 : 0;
  return inOrder(along(kLane, size, 1 - k) * along(kRegister, kPerLane, k) *
                 along(kLane, groups, k));
}

LinearLayout wmma(MatrixRole role, int32_t gfx) {
  assert((gfx == 11 || gfx == 12) && "expected gfx11 or gfx12");
  if (role == MatrixRole::Accumulator) {
    LinearLayout columns = along(kLane, 16, 1);
    return inOrder(gfx == 11
                       ? columns * along(kLane, 2, 0) * along(kRegister, 8, 0)
                       : columns * along(kRegister, 8, 0) * along(kLane, 2, 0));
  }
  unsigned k = role == MatrixRole::A ? 1 : 0;
  LinearLayout rows = along(kLane, 16, 1 - k);
  return inOrder(gfx == 11
                     ? rows * along(kRegister, 16, k) *
                           LinearLayout::zeros1D(2, kLane, dimName(k))
                     : rows * along(kRegister, 8, k) * along(kLane, 2, k));
}

LinearLayout tiled(const LinearLayout &instruction, ArrayRef<int32_t> shape,
                   ArrayRef<int32_t> warpDims, ArrayRef<int32_t> order) {
  assert(shape.size() == instruction.numOuts() &&
         order.size() == shape.size() && "expected one value a dimension");
  LinearLayout result = instruction;
  auto left = [&](int32_t dim) {
    int32_t covered = result.outDims()[dim].size();
    assert(shape[dim] >= covered && "expected room for an instruction");
    return shape[dim] / covered;
  };
  for (int32_t dim : warpDims)
    result *= dim >= 0 && left(dim) > 1
                  ? along(kWarp, 2, dim)
                  : LinearLayout::zeros1D(2, kWarp, dimName(0));
  for (int32_t dim : order)
    result *= along(kRegister, left(dim), dim);
  return result;
}

} // namespace terrazzo::layout
