//===- AxisInfo.h - Runs, equal elements and alignment ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about the elements of a tile along each of its axes, which is
// what decides how wide a memory access may be and along which axis threads lie
// best. For `%p` with 8 x 64 pointers to f32, `base + 256 * i + 4 * j` bytes:
//
//   axis 0: contiguity  1, constancy 1, divisibility  4
//   axis 1: contiguity 64, constancy 1, divisibility 16   (base is aligned so)
//
// so that a thread may read four elements along axis 1 by one access.
//
// Every claim is proved from the IR: arithmetic wraps around, sums may
// overflow, and signed division rounds towards zero. The only things believed
// are promises in the IR: `tile.hint`, `tile.assume`, `tile.divisibility` and
// flags such as `overflow<nsw>`; and that a sum or product of program ids, what
// a kernel finds its place by, does not overflow where it is the dividend of a
// remainder: `(program * 64 + arange) % n` is contiguous as `% n` of numbers
// that are not negative is.
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_ANALYSIS_AXISINFO_H
#define TERRAZZO_ANALYSIS_AXISINFO_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace terrazzo {

/// What is known of a value, one entry an axis; a scalar and a tile of rank 0
/// have one axis of extent 1. All entries are powers of two; contiguity and
/// constancy divide the extent. A group is elements `k * n .. k * n + n - 1`
/// along the axis, all other indices being equal.
struct AxisInfo {
  /// In groups of so many elements each is its predecessor plus 1 (in the
  /// element type, which wraps around). A pointer steps by one pointee.
  llvm::SmallVector<int64_t> contiguity;
  /// Divides the first element of each group of `contiguity` elements; of a
  /// pointer, its address in bytes. At most 2^62, which is that of 0.
  llvm::SmallVector<int64_t> divisibility;
  /// In groups of so many elements all are equal.
  llvm::SmallVector<int64_t> constancy;
  /// The value of all elements: sign-extended, for i1 0 or 1.
  std::optional<int64_t> constant;
};

/// AxisInfo of all values in a function of the `tile` dialect, of `arith`,
/// `math` and `scf`. Encodings of tiles do not matter. It describes the
/// function as it was when the analysis was made.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::func::FuncOp func);

  /// What is known of a value of the function. Nothing (all entries 1) is known
  /// of a value that was created since, or that is never computed.
  AxisInfo get(mlir::Value value) const;

  /// How many elements one access through `ptr` may cover: a power of two of
  /// elements that lie side by side along the fastest axis (the first of
  /// `getOrder`) and whose address is a multiple of the size of the access,
  /// which is at most 16 bytes. A mask must be asked separately.
  int64_t getPointerVector(mlir::Value ptr) const;

  /// In groups of so many elements along `dim` the mask is the same.
  int64_t getMaskAlignment(mlir::Value mask, unsigned dim) const;

  /// The axes of a tile, fastest first: by falling contiguity, later axes first
  /// where it is equal. It is a preference, not a fact: unlike `get` it takes
  /// for granted that no sum overflows and no operand of `%` is negative.
  llvm::SmallVector<unsigned> getOrder(mlir::Value ptr) const;

private:
  llvm::DenseMap<mlir::Value, AxisInfo> proven;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> likelyContiguity;
};

} // namespace terrazzo

#endif // TERRAZZO_ANALYSIS_AXISINFO_H
