//===- Words.h - Values as untyped registers --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of inline PTX are untyped words: `h` of 16, `r` of 32 and `l` of 64
// bits.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_TARGET_NVPTX_WORDS_H
#define TERRAZZO_LIB_TARGET_NVPTX_WORDS_H

#include "mlir/IR/PatternMatch.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

namespace terrazzo::nvptx {

/// How a value travels through registers.
struct Words {
  unsigned count;
  /// Bits of one: 16, 32 or 64.
  unsigned bits;
};

/// The fewest words for a value of up to 16 bytes, or for a vector of words. A
/// byte travels in 16 bits.
Words wordsOf(mlir::Type type);

/// The registers that hold `value`.
llvm::SmallVector<mlir::Value>
splitIntoWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The value of `type` in the registers `words`.
mlir::Value fromWords(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> words, mlir::Type type);

/// Adds the patterns for matrix instructions of `unit`.
void populateMatrixPatterns(mlir::RewritePatternSet &patterns,
                            tile::MatrixUnit unit);

/// Adds the patterns for copies by the copy engine and for their barriers.
void populateTensorCopyPatterns(mlir::RewritePatternSet &patterns);

/// Has the kernel take its tensor maps by value. Emission adds that they are
/// constants of the grid, which keeps the copy engine's pointer in the
/// parameters.
void passTensorMaps(mlir::ModuleOp module);

} // namespace terrazzo::nvptx

#endif // TERRAZZO_LIB_TARGET_NVPTX_WORDS_H
