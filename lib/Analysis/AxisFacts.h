//===- AxisFacts.h - What AxisInfo is computed with -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_ANALYSIS_AXISFACTS_H
#define TERRAZZO_LIB_ANALYSIS_AXISFACTS_H

#include "terrazzo/Analysis/AxisInfo.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace terrazzo::axis {

/// The divisibility of 0, and the most that is claimed.
inline constexpr int64_t kAll = int64_t(1) << 62;

/// The largest power of two that divides `value`; kAll for 0.
int64_t powerOfTwoIn(const llvm::APInt &value);
int64_t powerOfTwoIn(int64_t value);

/// a * b of two powers of two, at most kAll.
int64_t product(int64_t a, int64_t b);

/// The extents of a type as AxisInfo counts axes: {1} for a scalar.
llvm::SmallVector<int64_t> extentsOf(mlir::Type type);

/// Bytes of a pointee.
int64_t pointeeBytes(tile::PtrType type);

/// AxisInfo, and what else its computation needs.
struct Facts : AxisInfo {
  /// How much a contiguous group steps by, as far as divisibility sees it: the
  /// power of two in the pointee's size for pointers, 1 for integers.
  int64_t unit = 1;
  /// Bits of an element, 64 for pointers.
  unsigned width = 64;
  /// Bounds of all elements, for integers.
  std::optional<mlir::ConstantIntRanges> range;
  /// A place that programs are numbered by: program ids, and what is made of
  /// them and numbers that are not negative by +, *, / and %. None is negative,
  /// unless such a sum has overflowed, which is a mistake of the kernel.
  bool isPlace = false;

  /// Nothing is known of a value of this type.
  static Facts unknown(mlir::Type type);

  unsigned rank() const { return contiguity.size(); }
  /// Divides the first element of each group of `group` elements.
  int64_t starts(unsigned dim, int64_t group) const;
  /// Divides each element.
  int64_t every(unsigned dim) const { return starts(dim, 1); }
  /// Divides each element, by what is known along any axis.
  int64_t everyElement() const;
  /// The length of groups that are contiguous, start at a multiple of their
  /// length, and so neither wrap around nor change sign.
  int64_t aligned(unsigned dim) const;
  /// In groups of so many elements all are one multiple of that number.
  int64_t uniformMultiple(unsigned dim) const;
  /// No element is negative as a signed number.
  bool isNonNegative() const;
  /// All elements are above 0 as signed numbers.
  bool isPositive() const;

  /// Claims shorter contiguous groups.
  void shorten(unsigned dim, int64_t group);
  /// Takes over what is known along an axis of another value.
  void copyAxis(unsigned dim, const Facts &from, unsigned fromDim);
  /// The same for every axis.
  void copyAxes(const Facts &from);

  bool operator==(const Facts &other) const;
};

/// Cuts claims to the extents of `type` and draws conclusions from one field to
/// the other. To be called on all that was computed.
void settle(Facts &facts, mlir::Type type);

/// What holds of either.
Facts join(const Facts &a, const Facts &b);

/// A tile of these extents, all of whose elements are one scalar.
Facts splat(const Facts &scalar, llvm::ArrayRef<int64_t> extents);

/// How far to trust.
enum class Trust {
  /// Claim what is proved.
  Proven,
  /// Take for granted that nothing overflows and that clamps and remainders
  /// seldom cut: for contiguity as a preference.
  Likely
};

using FactsOf = llvm::function_ref<const Facts &(mlir::Value)>;
/// One entry a result, not settled.
using Results = llvm::SmallVectorImpl<Facts>;

/// The results of an operation on scalars or, element by element, on tiles.
/// False if it is none.
bool inferElementwise(mlir::Operation *op, FactsOf of, Trust trust,
                      Results &results);

/// The results of an operation of the tile dialect that makes, moves or reads
/// elements. False if there is no rule for it.
bool inferTile(mlir::Operation *op, FactsOf of, Trust trust, Results &results);

/// The results of arith.constant.
Facts inferConstant(mlir::Attribute value, mlir::Type type);

/// `facts`, of 32 bits say, extended to more: groups that may wrap around are
/// cut to those that cannot.
Facts extended(Facts facts, bool isSigned, Trust trust);

} // namespace terrazzo::axis

#endif // TERRAZZO_LIB_ANALYSIS_AXISFACTS_H
