//===- Factors.h - Factors in shared memory ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_FACTORS_H
#define TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_FACTORS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

namespace terrazzo::simt {

/// The dimension along which a thread holds the longest run.
int fastestDim(const LinearLayout &layout);

/// A factor in shared memory as a matrix unit reads it.
struct StoredFactor {
  mlir::Value buffer;
  LayoutAttr swizzle;
};

/// A buffer with room for `slots` factors with this swizzle, of a ring or not
/// (`simt.alloc`).
mlir::Value allocFactor(mlir::ImplicitLocOpBuilder &b,
                        const LinearLayout &swizzle, int64_t elementBytes,
                        int64_t slots = 1,
                        std::optional<int64_t> ring = std::nullopt);

/// Stores factor 0 or 1 of a product to a buffer of its own.
StoredFactor storeFactor(mlir::ImplicitLocOpBuilder &b, MmaOp mma,
                         unsigned factor);

/// Makes a product one of what is in shared memory: each factor there, from an
/// offset on, or, without a buffer, as it is.
void replaceMma(MmaOp mma, const StoredFactor (&factors)[2],
                mlir::ValueRange offsets);

/// Whether only the loop's next iteration reads the result, so that the product
/// may run on until then.
bool runsOn(mlir::Operation *product);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_FACTORS_H
