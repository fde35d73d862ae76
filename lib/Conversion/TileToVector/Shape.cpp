//===- Shape.cpp - Shape operations that move elements --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Renamings (broadcast, transpose, slice, ...) are evaluated in place; these
// need a buffer of their own.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

LogicalResult Lowering::lowerShapeRoot(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t rank = type.getRank();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    Buffer source = materialize(reshape.getSource(), /*contiguous=*/true);
    SmallVector<int64_t> strides(rank, 1);
    for (int64_t dim = rank - 2; dim >= 0; --dim)
      strides[dim] = strides[dim + 1] * shape[dim + 1];
    source.strides.assign(strides.begin(), strides.end());
    buffers[result] = source;
    return success();
  }
  Buffer out = allocate(type.getElementType(), shape, rank - 1, false);
  if (auto join = dyn_cast<tile::JoinOp>(op)) {
    ArrayRef<int64_t> outer = ArrayRef(out.strides).drop_back();
    copyInto(join.getLhs(), part(out, index(0), outer));
    copyInto(join.getRhs(), part(out, index(1), outer));
  } else if (auto concat = dyn_cast<tile::ConcatOp>(op)) {
    int64_t axis = concat.getAxis();
    int64_t first = tile::getShape(concat.getLhs().getType())[axis];
    copyInto(concat.getLhs(), out);
    copyInto(concat.getRhs(),
             part(out, index(first * out.strides[axis]), out.strides));
  } else {
    auto insert = cast<tile::InsertOp>(op);
    copyInto(insert.getDest(), out);
    Value offset = index(0);
    for (auto [dim, start] : llvm::enumerate(insert.getOffsets())) {
      Value wide =
          b.createOrFold<arith::ExtSIOp>(b.getI64Type(), scalar(start));
      offset = addIndex(offset, mulIndex(wide, out.strides[dim]));
    }
    SmallVector<int64_t> strides;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(insert.getDropped(), static_cast<int32_t>(dim)))
        strides.push_back(out.strides[dim]);
    Buffer inner = part(out, offset, strides);
    if (isa<RankedTensorType>(insert.getSource().getType())) {
      copyInto(insert.getSource(), inner);
    } else {
      lanes = 1;
      storeBuffer(inner, {}, {scalar(insert.getSource()), 0, false});
    }
  }
  buffers[result] = out;
  return success();
}
