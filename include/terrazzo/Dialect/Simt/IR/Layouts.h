//===- Layouts.h - Layouts that ops would like best -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions from a tile's shape and the block's size to a linear layout, and
// what an op that changes the shape does to one.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_SIMT_IR_LAYOUTS_H
#define TERRAZZO_DIALECT_SIMT_IR_LAYOUTS_H

#include "terrazzo/Dialect/Simt/IR/Simt.h"

namespace terrazzo::simt {

using layout::LinearLayout;

/// An input dimension with the bases of its bits.
using LayoutInput =
    std::pair<llvm::StringRef, llvm::SmallVector<LinearLayout::Basis>>;

/// A layout of a tile whose extents are 2^bits.
LinearLayout makeLayout(llvm::ArrayRef<LayoutInput> inputs,
                        llvm::ArrayRef<int> bits);

/// The bases of an input dimension, lowest bit first.
llvm::SmallVector<LinearLayout::Basis> basesOf(const LinearLayout &layout,
                                               llvm::StringRef in);

/// The number of bits of each output dimension.
llvm::SmallVector<int> outBits(const LinearLayout &layout);

/// The block that a kernel runs as; both are powers of two.
struct BlockShape {
  int32_t numWarps = 4;
  int32_t warpSize = 32;
  int64_t threads() const { return int64_t{numWarps} * warpSize; }
};

/// The block that the module's attributes ask for.
BlockShape blockShape(mlir::ModuleOp module);

/// Whether all tiles of a kernel have a layout for this block; says which one
/// has not.
llvm::LogicalResult checkLayouts(mlir::Operation *kernel, BlockShape block);

/// Hands out the bits of a tile's dimensions, lowest first, to hardware bits.
class LayoutBuilder {
public:
  LayoutBuilder(llvm::ArrayRef<int64_t> shape, BlockShape block);

  /// The next `bits` bits of tile dimension `dim`, or as many as the dimension
  /// and the hardware dimension have left, go to registers, lanes or warps.
  LayoutBuilder &registers(int dim, int bits);
  LayoutBuilder &lanes(int dim, int bits = 31);
  LayoutBuilder &warps(int dim, int bits = 31);
  int bitsLeft(int dim) const { return extentBits[dim] - used[dim]; }
  int lanesLeft() const { return laneBits - static_cast<int>(lane.size()); }

  /// What is left of the tile goes to registers, dimensions in `order` (fastest
  /// first); what is left of lanes and warps holds copies.
  LinearLayout finish(llvm::ArrayRef<unsigned> order);

private:
  void give(llvm::SmallVectorImpl<LinearLayout::Basis> &bases, int limit,
            int dim, int bits);
  LinearLayout::Basis zero() const {
    return LinearLayout::Basis(extentBits.size(), 0);
  }

  llvm::SmallVector<int> extentBits, used;
  int laneBits, warpBits;
  llvm::SmallVector<LinearLayout::Basis> reg, lane, warp;
};

/// Consecutive elements of order[0] to one thread (`vector` of them), then to
/// lanes, then to warps.
LinearLayout coalescedLayout(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<unsigned> order, int64_t vector,
                             BlockShape block);

/// Up to `most` elements of `axis` in each thread.
LinearLayout axisInThread(llvm::ArrayRef<int64_t> shape, int axis, int64_t most,
                          BlockShape block);

/// For scans: `axis` in contiguous runs of registers, then lanes, never warps.
LinearLayout scanLayout(llvm::ArrayRef<int64_t> shape, int axis,
                        BlockShape block);
/// Each row along `axis` in one warp, as many lanes along it as there are.
LinearLayout sortLayout(llvm::ArrayRef<int64_t> shape, int axis,
                        BlockShape block);
/// Whether a sort can run in a layout: an axis in one warp, no more than a few
/// registers of it in each lane, or as many as it must have.
bool isSortable(const LinearLayout &layout, int axis);

/// For products by fused multiply-add: square blocks of registers.
LinearLayout dotLayout(llvm::ArrayRef<int64_t> shape, BlockShape block);

/// For what a recurrence carries: `axis` is reduced in each step.
LinearLayout carryLayout(llvm::ArrayRef<int64_t> shape, int axis,
                         BlockShape block);

/// Bytes that a thread holds of a tile or scalar.
int64_t bytesInThread(mlir::Type type);

/// Dimensions from the last to the first.
llvm::SmallVector<unsigned> rowMajor(size_t rank);

/// The layout that the operand of a shape op must have for the result to have
/// `result` without data moving; nothing if there is none.
std::optional<LinearLayout> operandLayout(mlir::Operation *op,
                                          const LinearLayout &result);

/// The other direction.
std::optional<LinearLayout> resultLayout(mlir::Operation *op,
                                         const LinearLayout &operand);

/// Whether `bit`s of this input dimension move along `dim`.
int bitsAlong(const LinearLayout &layout, llvm::StringRef in, int dim);

/// Whether each bit of an axis is one bit of a register, lane or warp, which
/// moves along nothing else: what reductions and scans combine along.
bool hasOwnBits(const LinearLayout &layout, int axis);

/// The layout of a simt.warp_reduce's result, which see.
LinearLayout warpReduceLayout(const LinearLayout &layout, int axis);

/// How many places of warps along an axis hold any of its `extent` elements: a
/// prefix, as their bits are in order.
int64_t warpsAlong(const LinearLayout &layout, int axis, int64_t extent);

/// Whether several threads hold one element of a value; all hold a scalar.
bool hasCopies(mlir::Type type);

/// Whether a reshape only renames elements of padded tiles: all extents are
/// powers of two.
bool isLinearReshape(mlir::Operation *op);

} // namespace terrazzo::simt

#endif // TERRAZZO_DIALECT_SIMT_IR_LAYOUTS_H
