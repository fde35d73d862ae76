//===- Simt.h - The simt dialect --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMT_H
#define TERRAZZO_DIALECT_SIMT_IR_SIMT_H

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include "terrazzo/Dialect/Tile/IR/Checks.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Layout/LinearLayout.h"

#include "terrazzo/Dialect/Simt/IR/SimtDialect.h.inc"

#include "terrazzo/Dialect/Simt/IR/SimtEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtTypes.h.inc"

namespace terrazzo::simt {

/// The shared memory of a block, as a resource of side effects.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  mlir::StringRef getName() final { return "SharedMemory"; }
};

/// Module attributes.
using tile::kNumWarpsAttr;
inline constexpr llvm::StringLiteral kSharedBytesAttr = "simt.shared_bytes";
/// How many consecutive elements one access of a `tile.load` or `tile.store`
/// may cover, as far as alignment and mask go (i32).
inline constexpr llvm::StringLiteral kVectorAttr = "simt.vector";

/// Bytes of shared memory that offsets of instructions reach; chips have less.
inline constexpr int64_t kSharedEnd = int64_t{1} << 28;

/// Names of the input dimensions of a tile's layout, and of a buffer's swizzle.
inline constexpr llvm::StringLiteral kRegister = "register";
inline constexpr llvm::StringLiteral kLane = "lane";
inline constexpr llvm::StringLiteral kWarp = "warp";
inline constexpr llvm::StringLiteral kOffset = "offset";

/// The layout of a tile; null if the type has none.
LayoutAttr getLayout(mlir::Type type);

/// `type` with another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The extents of a tile, each padded to a power of two.
llvm::SmallVector<int32_t> paddedShape(llvm::ArrayRef<int64_t> shape);

/// Bytes that an element takes in memory: an i1 one, a pointer eight.
int64_t elementBytes(mlir::Type element);

} // namespace terrazzo::simt

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtOps.h.inc"

#endif // TERRAZZO_DIALECT_SIMT_IR_SIMT_H
