//===- Factors.cpp - Factors in shared memory -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"

#include "llvm/ADT/TypeSwitch.h"

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
                        int64_t elementBytes, int64_t slots,
                        std::optional<int64_t> ring) {
  int64_t row = unitSwizzle(swizzle, elementBytes)->bytes;
  return AllocOp::create(
      b, BufferType::get(b.getContext()),
      b.getI64IntegerAttr(slots * swizzle.inSize(kOffset) * elementBytes),
      IntegerAttr(), b.getI64IntegerAttr(8 * row),
      ring ? b.getI64IntegerAttr(*ring) : IntegerAttr());
}

StoredFactor simt::storeFactor(ImplicitLocOpBuilder &b, MmaOp mma,
                               unsigned factor) {
  Value value = mma->getOperand(factor);
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = elementBytes(type.getElementType());
  // Where either dimension may be innermost: the one whose runs threads hold.
  std::optional<int> innermost = innermostDim(mma.getInstruction(), factor);
  LinearLayout swizzle = factorBuffer(
      type.getShape(),
      innermost ? *innermost : fastestDim(getLayout(type).getLayout()), bytes);
  StoredFactor stored{allocFactor(b, swizzle, bytes),
                      LayoutAttr::get(b.getContext(), swizzle)};
  LocalStoreOp::create(b, value, stored.buffer, /*offset=*/Value(),
                       b.getI32IntegerAttr(0), b.getDenseI32ArrayAttr({}),
                       stored.swizzle, /*disjoint=*/UnitAttr(),
                       /*within=*/IntegerAttr());
  return stored;
}

void simt::replaceMma(MmaOp mma, const StoredFactor (&factors)[2],
                      ValueRange offsets) {
  ImplicitLocOpBuilder b(mma.getLoc(), mma);
  Value lhs = factors[0].buffer ? factors[0].buffer : mma.getLhs();
  int64_t depth = tile::getShape(mma.getLhs().getType()).back();
  Value result =
      LocalMmaOp::create(b, mma.getType(), lhs, offsets[0], factors[1].buffer,
                         offsets[1], mma.getAcc(), mma.getInstruction(),
                         b.getI32IntegerAttr(static_cast<int32_t>(depth)),
                         factors[0].swizzle, factors[1].swizzle);
  mma.replaceAllUsesWith(result);
  mma.erase();
}

bool simt::runsOn(Operation *product) {
  auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
  Value result = product->getResult(0);
  // A product that starts anew is read early; it would only cost registers.
  Value acc = TypeSwitch<Operation *, Value>(product).Case<MmaOp, LocalMmaOp>(
      [](auto op) { return op.getAcc(); });
  return loop && !loop.isDefinedOutsideOfLoop(acc) && result.hasOneUse() &&
         *result.user_begin() == loop.getBody()->getTerminator();
}
