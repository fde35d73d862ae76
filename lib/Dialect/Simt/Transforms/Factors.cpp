//===- Factors.cpp - Factors in shared memory -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

int simt::fastestDim(const LinearLayout &layout) {
  int best = static_cast<int>(layout.outDims().size()) - 1;
  for (int dim = best; dim-- > 0;)
    if (layout.numConsecutive(kRegister, layout::dimName(dim)) >
        layout.numConsecutive(kRegister, layout::dimName(best)))
      best = dim;
  return best;
}

Value simt::allocFactor(ImplicitLocOpBuilder &b, const LinearLayout &swizzle,
                        int64_t elementBytes, int64_t slots) {
  int64_t row = unitSwizzle(swizzle, elementBytes)->bytes;
  return AllocOp::create(
      b, BufferType::get(b.getContext()),
      b.getI64IntegerAttr(slots * swizzle.inSize(kOffset) * elementBytes),
      IntegerAttr(), b.getI64IntegerAttr(8 * row),
      slots > 1 ? b.getUnitAttr() : UnitAttr());
}

StoredFactor simt::storeFactor(ImplicitLocOpBuilder &b, Value factor) {
  auto type = cast<RankedTensorType>(factor.getType());
  int64_t bytes = elementBytes(type.getElementType());
  // Either dimension may be innermost: the one whose runs threads hold.
  LinearLayout swizzle = factorBuffer(
      type.getShape(), fastestDim(getLayout(type).getLayout()), bytes);
  StoredFactor stored{allocFactor(b, swizzle, bytes),
                      LayoutAttr::get(b.getContext(), swizzle)};
  LocalStoreOp::create(b, factor, stored.buffer, /*offset=*/Value(),
                       b.getI32IntegerAttr(0), b.getDenseI32ArrayAttr({}),
                       stored.swizzle, /*disjoint=*/UnitAttr(),
                       /*within=*/IntegerAttr());
  return stored;
}
