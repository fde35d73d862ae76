//===- AxisFacts.cpp - What AxisInfo is computed with ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::axis;

int64_t axis::powerOfTwoIn(const APInt &value) {
  if (value.isZero())
    return kAll;
  return int64_t(1) << std::min(value.countr_zero(), 62u);
}

int64_t axis::powerOfTwoIn(int64_t value) {
  return powerOfTwoIn(APInt(64, static_cast<uint64_t>(value)));
}

int64_t axis::product(int64_t a, int64_t b) {
  return a > kAll / b ? kAll : a * b;
}

SmallVector<int64_t> axis::extentsOf(Type type) {
  SmallVector<int64_t> extents(tile::getShape(type));
  if (extents.empty())
    extents.push_back(1);
  return extents;
}

int64_t axis::pointeeBytes(tile::PtrType type) {
  Type pointee = type.getPointeeType();
  if (isa<tile::PtrType>(pointee))
    return 8;
  return pointee.getIntOrFloatBitWidth() / 8;
}

Facts Facts::unknown(Type type) {
  Facts facts;
  size_t rank = extentsOf(type).size();
  facts.contiguity.assign(rank, 1);
  facts.divisibility.assign(rank, 1);
  facts.constancy.assign(rank, 1);
  Type element = getElementTypeOrSelf(type);
  if (auto ptr = dyn_cast<tile::PtrType>(element)) {
    facts.unit = powerOfTwoIn(pointeeBytes(ptr));
  } else if (isa<IntegerType, IndexType>(element)) {
    facts.width = ConstantIntRanges::getStorageBitwidth(element);
    facts.range = ConstantIntRanges::maxRange(facts.width);
  }
  return facts;
}

int64_t Facts::starts(unsigned dim, int64_t group) const {
  if (group >= contiguity[dim])
    return divisibility[dim];
  return std::min(divisibility[dim], product(group, unit));
}

int64_t Facts::everyElement() const {
  int64_t most = 1;
  for (unsigned dim = 0; dim < rank(); ++dim)
    most = std::max(most, every(dim));
  return most;
}

int64_t Facts::aligned(unsigned dim) const {
  int64_t half = width > 62 ? kAll : int64_t(1) << (width - 1);
  return std::min({contiguity[dim], divisibility[dim], half});
}

int64_t Facts::uniformMultiple(unsigned dim) const {
  return std::min(constancy[dim], every(dim));
}

bool Facts::isNonNegative() const {
  return range && range->smin().isNonNegative();
}

bool Facts::isPositive() const {
  return range && range->smin().isStrictlyPositive();
}

void Facts::shorten(unsigned dim, int64_t group) {
  if (group >= contiguity[dim])
    return;
  divisibility[dim] = starts(dim, group);
  contiguity[dim] = group;
}

void Facts::copyAxis(unsigned dim, const Facts &from, unsigned fromDim) {
  contiguity[dim] = from.contiguity[fromDim];
  divisibility[dim] = from.divisibility[fromDim];
  constancy[dim] = from.constancy[fromDim];
}

void Facts::copyAxes(const Facts &from) {
  for (unsigned dim = 0; dim < rank(); ++dim)
    copyAxis(dim, from, dim);
}

bool Facts::operator==(const Facts &other) const {
  return contiguity == other.contiguity && divisibility == other.divisibility &&
         constancy == other.constancy && constant == other.constant &&
         range == other.range && isPlace == other.isPlace;
}

/// Bounds that leave one value.
static void settleConstant(Facts &facts, ArrayRef<int64_t> extents) {
  facts.constant.reset();
  if (!facts.range)
    return;
  std::optional<APInt> value = facts.range->getConstantValue();
  if (!value)
    return;
  if (facts.width <= 64)
    facts.constant =
        facts.width == 1 ? value->getZExtValue() : value->getSExtValue();
  for (unsigned dim = 0; dim < facts.rank(); ++dim) {
    facts.contiguity[dim] = 1;
    facts.divisibility[dim] = powerOfTwoIn(*value);
    facts.constancy[dim] = powerOfTwoIn(extents[dim]);
  }
}

void axis::settle(Facts &facts, Type type) {
  SmallVector<int64_t> extents = extentsOf(type);
  settleConstant(facts, extents);
  for (unsigned dim = 0; dim < facts.rank(); ++dim) {
    int64_t most = powerOfTwoIn(extents[dim]);
    facts.constancy[dim] = std::min(facts.constancy[dim], most);
    // Steps of a boolean mean nothing.
    facts.shorten(dim, facts.width == 1 ? 1 : most);
  }
  // What divides all elements divides those that start a group.
  int64_t every = facts.everyElement();
  for (int64_t &divisibility : facts.divisibility)
    divisibility = std::max(divisibility, every);
}

Facts axis::join(const Facts &a, const Facts &b) {
  Facts both = a;
  both.isPlace = a.isPlace && b.isPlace;
  for (unsigned dim = 0; dim < a.rank(); ++dim) {
    int64_t group = std::min(a.contiguity[dim], b.contiguity[dim]);
    both.contiguity[dim] = group;
    both.divisibility[dim] =
        std::min(a.starts(dim, group), b.starts(dim, group));
    both.constancy[dim] = std::min(a.constancy[dim], b.constancy[dim]);
  }
  if (a.range && b.range)
    both.range = a.range->rangeUnion(*b.range);
  if (a.constant != b.constant)
    both.constant.reset();
  return both;
}

Facts axis::splat(const Facts &scalar, ArrayRef<int64_t> extents) {
  Facts tile = scalar;
  tile.contiguity.assign(extents.size(), 1);
  tile.divisibility.assign(extents.size(), scalar.everyElement());
  tile.constancy.clear();
  for (int64_t extent : extents)
    tile.constancy.push_back(powerOfTwoIn(extent));
  return tile;
}

Facts axis::extended(Facts facts, bool isSigned, Trust trust) {
  bool safe = trust == Trust::Likely;
  // A group that wraps around holds both the largest and the smallest value.
  if (facts.range && isSigned)
    safe |= !facts.range->smax().isMaxSignedValue() ||
            !facts.range->smin().isMinSignedValue();
  else if (facts.range)
    safe |= !facts.range->umax().isMaxValue() || !facts.range->umin().isZero();
  for (unsigned dim = 0; !safe && dim < facts.rank(); ++dim)
    facts.shorten(dim, facts.aligned(dim));
  return facts;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Elements that are not all equal: counted.
static void countAxis(Facts &facts, ArrayRef<APInt> values, unsigned dim,
                      int64_t extent, int64_t stride) {
  int64_t contiguity = powerOfTwoIn(extent), constancy = contiguity;
  auto indexOf = [&](size_t at) { return int64_t(at) / stride % extent; };
  for (size_t at = 0; at < values.size(); ++at) {
    int64_t index = indexOf(at);
    if (index == 0)
      continue;
    // Groups longer than the power of two in `index` hold both elements.
    const APInt &before = values[at - stride];
    if (values[at] != before)
      constancy = std::min(constancy, powerOfTwoIn(index));
    if (values[at] != before + 1)
      contiguity = std::min(contiguity, powerOfTwoIn(index));
  }
  int64_t divisibility = kAll;
  for (size_t at = 0; at < values.size(); ++at)
    if (indexOf(at) % contiguity == 0)
      divisibility = std::min(divisibility, powerOfTwoIn(values[at]));
  facts.contiguity[dim] = contiguity;
  facts.divisibility[dim] = divisibility;
  facts.constancy[dim] = constancy;
}

Facts axis::inferConstant(Attribute value, Type type) {
  Facts facts = Facts::unknown(type);
  SmallVector<int64_t> extents = extentsOf(type);
  if (auto scalar = dyn_cast<IntegerAttr>(value)) {
    facts.range = ConstantIntRanges::constant(scalar.getValue());
    return facts;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat()) {
    for (auto [dim, extent] : llvm::enumerate(extents))
      facts.constancy[dim] = powerOfTwoIn(extent);
    if (isa<DenseIntElementsAttr>(dense))
      facts.range = ConstantIntRanges::constant(dense.getSplatValue<APInt>());
    return facts;
  }
  auto integers = dyn_cast<DenseIntElementsAttr>(value);
  if (!integers || integers.empty())
    return facts;
  SmallVector<APInt> values = llvm::to_vector(integers.getValues<APInt>());
  int64_t stride = values.size();
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    stride /= extent;
    countAxis(facts, values, dim, extent, stride);
  }
  facts.range = ConstantIntRanges::constant(values.front());
  for (const APInt &each : values)
    facts.range = facts.range->rangeUnion(ConstantIntRanges::constant(each));
  return facts;
}
