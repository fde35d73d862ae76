//===- SharedPlaces.h - Who needs shared memory when ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer lives from its first access to its last, in the order of the text;
// one that is made outside a loop and used in it lives as long as the loop.
// Buffers are placed largest first, each at the lowest place where it meets no
// other that lives at the same time.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SHAREDPLACES_H
#define TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SHAREDPLACES_H

#include "terrazzo/Dialect/Simt/IR/Simt.h"

namespace terrazzo::simt {

/// A buffer, when it lives, and where.
struct Lifetime {
  AllocOp alloc;
  int64_t bytes = 0; ///< a multiple of 16
  int64_t alignment = 16;
  int64_t first = 0, last = 0;
  int64_t offset = 0;

  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The ops of a kernel in the order of its text.
class TextOrder {
public:
  explicit TextOrder(mlir::func::FuncOp kernel) { number(kernel); }

  /// The buffers' lifetimes.
  llvm::SmallVector<Lifetime> lifetimes();
  /// Makes a buffer of `bytes` that only `users` access live from the first of
  /// them to the last.
  Lifetime lifetime(AllocOp alloc, int64_t bytes,
                    llvm::ArrayRef<mlir::Operation *> users);

private:
  void number(mlir::Operation *op);

  int64_t now = 0;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> spans;
  llvm::SmallVector<AllocOp> buffers;
};

/// Gives each buffer its offset; the bytes that all need together. As long as
/// there is plenty of memory, and no less than `limit`, none is reused.
int64_t placeAll(llvm::MutableArrayRef<Lifetime> buffers,
                 std::optional<int64_t> limit);

/// The bytes that a block of the module's target may have; nothing if it does
/// not say.
std::optional<int64_t> sharedLimit(mlir::ModuleOp module);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SHAREDPLACES_H
