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

/// A buffer with room for `slots` factors with this swizzle.
mlir::Value allocFactor(mlir::ImplicitLocOpBuilder &b,
                        const LinearLayout &swizzle, int64_t elementBytes,
                        int64_t slots = 1);

/// Stores a factor to a buffer of its own.
StoredFactor storeFactor(mlir::ImplicitLocOpBuilder &b, mlir::Value factor);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_FACTORS_H
