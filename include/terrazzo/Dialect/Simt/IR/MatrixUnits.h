//===- MatrixUnits.h - What matrix units can do -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instructions the unit of a chip has, and how tiles are laid out for
// them. An accumulator is the instruction's own layout, repeated over warps and
// registers; the layouts of the factors follow from it.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_SIMT_IR_MATRIXUNITS_H
#define TERRAZZO_DIALECT_SIMT_IR_MATRIXUNITS_H

#include "terrazzo/Dialect/Simt/IR/Layouts.h"
#include "terrazzo/Layout/Builders.h"

#include <vector>

namespace terrazzo::simt {

/// Whether the unit executes this instruction; says that it does not. Code
/// generation aborts on one that it does not know, so targets ask before they
/// emit one.
llvm::LogicalResult checkInstruction(mlir::Operation *op,
                                     InstructionAttr instruction,
                                     tile::MatrixUnit unit);

/// All that a unit executes.
llvm::SmallVector<InstructionAttr> instructionsOf(tile::MatrixUnit unit,
                                                  mlir::MLIRContext *context);

/// Whether the factors are in shared memory rather than in registers.
bool readsSharedMemory(InstructionAttr instruction);

/// The dimension that has to be innermost in a factor's buffer, where the
/// instruction cannot read it either way: K, of factor 0 or 1.
std::optional<int> innermostDim(InstructionAttr instruction, unsigned factor);

/// What of one instruction a warp's registers and lanes hold: M x K, K x N or
/// M x N. Of factors that are in registers.
LinearLayout instructionLayout(InstructionAttr instruction,
                               layout::MatrixRole role);

/// A product: tiles of `lhs` by `rhs` elements that are added in the type
/// `acc`, of `shape` ([batch,] M, N) and depth `k`.
struct Product {
  mlir::Type lhs, rhs, acc;
  llvm::SmallVector<int64_t> shape;
  int64_t k = 0;
  tile::Precision precision = tile::Precision::Default;
  int64_t maxNumImpreciseAcc = 0; ///< of 8-bit floats
  bool isAlongK = false; ///< both factors can be stored with K innermost
};

/// The instruction for a product, run by `numWarps` warps; null if none is
/// exact enough. Elements of 8-bit floats may have to be made f16 or bf16
/// first, which is exact: the types of the instruction say so. f32 factors are
/// rounded to tf32, and 8-bit floats summed with fewer bits, only where the
/// product allows it.
InstructionAttr chooseInstruction(tile::MatrixUnit unit, const Product &product,
                                  int32_t numWarps);

/// The type that elements of an instruction's operand have in a tile: f32 for
/// tf32.
mlir::Type tileElement(mlir::Type operand);

/// Layouts of an accumulator of `shape`, one for each way to spread the warps
/// over its dimensions.
std::vector<LinearLayout> accumulatorLayouts(InstructionAttr instruction,
                                             llvm::ArrayRef<int64_t> shape,
                                             BlockShape block);

/// Whether `layout` repeats the instruction's own.
bool isAccumulatorLayout(InstructionAttr instruction,
                         const LinearLayout &layout);

/// The layout of a factor (A or B) of `shape` beside this accumulator: of the
/// registers, those of the instruction come first, then steps along K, then
/// those along M or N in the order of the accumulator's.
LinearLayout factorLayout(InstructionAttr instruction, layout::MatrixRole role,
                          const LinearLayout &accumulator,
                          llvm::ArrayRef<int64_t> shape);

/// How a factor lies in shared memory where the unit reads it there, in bytes.
struct UnitSwizzle {
  int64_t bytes = 0;     ///< of a row: 32, 64 or 128
  bool isColumn = false; ///< rows run along dim0
  int64_t stride = 0;    ///< from eight rows to the next eight
  int64_t leading = 0;   ///< from a run of `bytes` to the next
};

/// A buffer for a factor of `shape`, with dimension `fastest` innermost.
LinearLayout factorBuffer(llvm::ArrayRef<int64_t> shape, int fastest,
                          int64_t elementBytes);

/// What such a buffer's layout is; nothing if it is another.
std::optional<UnitSwizzle> unitSwizzle(const LinearLayout &buffer,
                                       int64_t elementBytes);

} // namespace terrazzo::simt

#endif // TERRAZZO_DIALECT_SIMT_IR_MATRIXUNITS_H
