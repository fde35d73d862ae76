//===- TileInference.cpp - Result types of tile operations ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each inference also checks the constraints that it needs, with the same words
// as a verifier: the frontend builds ops without saying result types, so these
// are the errors that it sees.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace terrazzo::tile;

static LogicalResult fail(std::optional<Location> location, const Twine &text) {
  return emitOptionalError(location, text);
}

/// Inferred types have no layout; what is there may have any.
static bool areCompatible(TypeRange inferred, TypeRange actual) {
  return inferred.size() == actual.size() &&
         llvm::all_of(llvm::zip(inferred, actual), [](auto pair) {
           auto [lhs, rhs] = pair;
           return isa<RankedTensorType>(lhs) == isa<RankedTensorType>(rhs) &&
                  getShape(lhs) == getShape(rhs) &&
                  getElementType(lhs) == getElementType(rhs);
         });
}

#define LAYOUTS_MAY_DIFFER(OP)                                                 \
  bool OP::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {     \
    return areCompatible(inferred, actual);                                    \
  }
LAYOUTS_MAY_DIFFER(ArangeOp)
LAYOUTS_MAY_DIFFER(ExpandDimsOp)
LAYOUTS_MAY_DIFFER(TransposeOp)
LAYOUTS_MAY_DIFFER(JoinOp)
LAYOUTS_MAY_DIFFER(SplitOp)
LAYOUTS_MAY_DIFFER(ConcatOp)
LAYOUTS_MAY_DIFFER(FlipOp)
LAYOUTS_MAY_DIFFER(LoadOp)
LAYOUTS_MAY_DIFFER(DescriptorLoadOp)
LAYOUTS_MAY_DIFFER(HistogramOp)
#undef LAYOUTS_MAY_DIFFER

static std::string text(Type type) {
  std::string out;
  llvm::raw_string_ostream(out) << type;
  return out;
}

LogicalResult ArangeOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t extent =
      static_cast<int64_t>(static_cast<int32_t>(adaptor.getEnd())) -
      static_cast<int32_t>(adaptor.getStart());
  if (extent <= 0) // arange_c1
    return fail(location, "'tile.arange' op start must be below end, got " +
                              Twine(static_cast<int32_t>(adaptor.getStart())) +
                              " and " +
                              Twine(static_cast<int32_t>(adaptor.getEnd())));
  types.push_back(
      RankedTensorType::get({extent}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  int32_t axis = adaptor.getAxis();
  if (axis < 0 || axis > source.getRank()) // expand_dims_c1
    return fail(location, "'tile.expand_dims' op axis must be in [0, " +
                              Twine(source.getRank()) + "], got " +
                              Twine(axis));
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + axis, 1);
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  ArrayRef<int32_t> order = adaptor.getOrder();
  SmallVector<bool> seen(source.getRank(), false);
  bool isPermutation = static_cast<int64_t>(order.size()) == source.getRank();
  for (int32_t dim : order) {
    if (!isPermutation || dim < 0 || dim >= source.getRank() || seen[dim])
      isPermutation = false;
    else
      seen[dim] = true;
  }
  if (!isPermutation) { // transpose_c1
    std::string got;
    llvm::raw_string_ostream os(got);
    llvm::interleaveComma(order, os);
    return fail(location,
                "'tile.transpose' op order must be a permutation of [0, " +
                    Twine(source.getRank()) + "), got [" + got + "]");
  }
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(source.getDimSize(dim));
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult JoinOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getLhs().getType());
  SmallVector<int64_t> shape(source.getShape());
  shape.push_back(2);
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  if (source.getRank() < 1 || source.getShape().back() != 2) // split_c1
    return fail(location,
                "'tile.split' op last dimension must have extent 2, got " +
                    text(source));
  Type half = RankedTensorType::get(source.getShape().drop_back(),
                                    source.getElementType());
  types.append({half, half});
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  int32_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= lhs.getRank()) // concat_c1
    return fail(location, "'tile.concat' op axis must be in [0, " +
                              Twine(lhs.getRank()) + "), got " + Twine(axis));
  SmallVector<int64_t> shape(lhs.getShape());
  bool agree = lhs.getRank() == rhs.getRank() &&
               lhs.getElementType() == rhs.getElementType();
  for (int64_t dim = 0; agree && dim < lhs.getRank(); ++dim)
    agree = dim == axis || lhs.getDimSize(dim) == rhs.getDimSize(dim);
  if (!agree) // concat_c2
    return fail(location,
                "'tile.concat' op operands must agree but for dimension " +
                    Twine(axis) + ", got " + text(lhs) + " and " + text(rhs));
  shape[axis] += rhs.getDimSize(axis);
  types.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult FlipOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  int32_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= source.getRank()) // flip_c1
    return fail(location, "'tile.flip' op axis must be in [0, " +
                              Twine(source.getRank()) + "), got " +
                              Twine(axis));
  types.push_back(source);
  return success();
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Type ptr = adaptor.getPtr().getType();
  Type pointee = cast<PtrType>(getElementType(ptr)).getPointeeType();
  types.push_back(withElementType(ptr, pointee));
  return success();
}

LogicalResult DescriptorLoadOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto descriptor = cast<DescriptorType>(adaptor.getDescriptor().getType());
  size_t rank = descriptor.getShape().size();
  if (adaptor.getOffsets().size() != rank) // descriptor_load_c1
    return fail(location, "'tile.descriptor_load' op needs " + Twine(rank) +
                              " offsets, got " +
                              Twine(adaptor.getOffsets().size()));
  types.push_back(descriptor.getBlockType());
  return success();
}

LogicalResult HistogramOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  int32_t bins = adaptor.getBins();
  if (bins <= 0 || source.getRank() != 1 ||
      (adaptor.getMask() &&
       getShape(adaptor.getMask().getType()) != source.getShape()))
    // histogram_c1
    return fail(location,
                "'tile.histogram' op needs a source of rank 1, a mask of its "
                "shape and at least one bin, got " +
                    text(source) + " and " + Twine(bins) + " bins");
  types.push_back(RankedTensorType::get({bins}, IntegerType::get(context, 32)));
  return success();
}
