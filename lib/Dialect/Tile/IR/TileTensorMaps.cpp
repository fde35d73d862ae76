//===- TileTensorMaps.cpp - Descriptors that a launch can make ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::tile;

/// What the engine needs of addresses and distances (CUDA Driver API,
/// cuTensorMapEncodeTiled).
static constexpr int64_t kAlignment = 16;
static constexpr size_t kMostDimensions = 5;

namespace {
/// A product of constants and arguments of the kernel.
struct Product {
  uint64_t factor = 1;
  SmallVector<int32_t> args;
  int64_t divisor = 1; ///< a power of two that divides the arguments' part

  ArgProductAttr get(MLIRContext *context, int32_t bytes) const {
    DenseI32ArrayAttr list;
    if (!args.empty())
      list = DenseI32ArrayAttr::get(context, args);
    return ArgProductAttr::get(context, static_cast<int64_t>(factor), list,
                               bytes);
  }
};
} // namespace

/// The number of the kernel's argument that a value is.
static std::optional<unsigned> argumentOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

/// A power of two that divides an argument.
static int64_t divisorOf(BlockArgument argument) {
  auto kernel = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto divisibility = kernel.getArgAttrOfType<IntegerAttr>(
      argument.getArgNumber(), kDivisibilityAttr);
  int64_t value = divisibility ? divisibility.getInt() : 1;
  return value & -value;
}

/// Multiplies `product` by a value. What is wider than its own type only has
/// its sign extended; a product that is would wrap around before that.
static bool multiply(Product &product, Value value) {
  if (auto mul = value.getDefiningOp<arith::MulIOp>())
    return multiply(product, mul.getLhs()) && multiply(product, mul.getRhs());
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>())
    value = wide.getIn();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    product.factor *= static_cast<uint64_t>(constant.getSExtValue());
    return true;
  }
  std::optional<unsigned> argument = argumentOf(value);
  if (!argument || value.getType().isInteger(1))
    return false;
  product.args.push_back(static_cast<int32_t>(*argument));
  product.divisor *= divisorOf(cast<BlockArgument>(value));
  product.divisor = std::min(product.divisor, kAlignment);
  return true;
}

/// A length as a product, which is a multiple of `divisor`.
static ArgProductAttr productOf(Value length, int64_t divisor) {
  // A product of narrow integers is as narrow.
  int32_t bytes = 8;
  if (auto wide = length.getDefiningOp<arith::ExtSIOp>()) {
    length = wide.getIn();
    bytes = static_cast<int32_t>(length.getType().getIntOrFloatBitWidth() / 8);
  }
  Product product;
  if (bytes == 0 || !multiply(product, length) ||
      product.factor * static_cast<uint64_t>(product.divisor) %
              static_cast<uint64_t>(divisor) !=
          0)
    return {};
  return product.get(length.getContext(), bytes);
}

TensorMapAttr tile::tensorMapOf(MakeDescriptorOp descriptor) {
  MLIRContext *context = descriptor.getContext();
  DescriptorType type = descriptor.getType();
  Type element = type.getElementType();
  std::optional<unsigned> base = argumentOf(descriptor.getBase());
  size_t rank = type.getShape().size();
  // The engine's NaN is one that matrix units take for zero.
  if (!base || !element.isIntOrFloat() || rank > kMostDimensions ||
      type.getPadding() != Padding::Zero ||
      divisorOf(cast<BlockArgument>(descriptor.getBase())) < kAlignment ||
      !matchPattern(descriptor.getStrides().back(), m_One()))
    return {};
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  SmallVector<Attribute> shape, strides;
  for (Value extent : descriptor.getShape())
    shape.push_back(productOf(extent, /*divisor=*/1));
  for (Value stride : descriptor.getStrides().drop_back())
    strides.push_back(productOf(stride, kAlignment / bytes));
  if (llvm::is_contained(shape, Attribute()) ||
      llvm::is_contained(strides, Attribute()))
    return {};
  return TensorMapAttr::get(context, static_cast<int32_t>(*base), element,
                            ArrayAttr::get(context, shape),
                            ArrayAttr::get(context, strides),
                            DenseI32ArrayAttr::get(context, {}),
                            /*swizzle_bytes=*/0, type.getPadding());
}
