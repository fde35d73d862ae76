//===- MemoryModel.h - Who may touch what another has touched ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one model of memory effects that barriers follow from. A program instance
// behaves as if its ops ran one after the other, but its threads run each for
// itself: a barrier is due between two accesses of the same memory, one of them
// a write, unless each thread touches only what it touched itself.
//
// Shared memory is known to the byte. Global memory is told apart by the kernel
// argument that an address derives from; arrays passed as different arguments
// are taken not to overlap as far as one program's own order goes, unless they
// carry `tile.overlaps`.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_MEMORYMODEL_H
#define TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_MEMORYMODEL_H

#include "terrazzo/Dialect/Simt/IR/Simt.h"

namespace terrazzo::simt {

/// One access of memory by an op.
struct Access {
  mlir::Operation *op = nullptr;
  bool isWrite = false;
  bool isShared = false;
  /// Shared memory: bytes [begin, end).
  int64_t begin = 0, end = 0;
  /// Global memory: the kernel argument, null if unknown; and the address.
  mlir::Value root, address;
  /// It happened in an earlier iteration of a loop.
  bool isEarlier = false;
  /// It lasts until a wait: no barrier ends it.
  bool isInFlight = false;

  bool operator==(const Access &) const = default;
};

/// The kernel argument that an address derives from, null if it is not known.
/// Arguments that may overlap are one root, the first of them.
mlir::Value rootOf(mlir::Value pointer);

/// Whether no access of global memory may move over `op`, whatever it accesses:
/// `op`, or one in its regions, has effects on memory that it does not name, or
/// none that are known. Barriers are such, and atomics that are not relaxed.
bool ordersMemory(mlir::Operation *op);

/// Calls `visit` with each pointer that `op` itself writes global memory
/// through.
void forEachWrite(mlir::Operation *op,
                  llvm::function_ref<void(mlir::Value pointer)> visit);

/// What a kernel writes of global memory.
class Writes {
public:
  explicit Writes(mlir::func::FuncOp kernel);
  /// Whether it may write what an address derives from.
  bool mayChange(mlir::Value pointer) const;

private:
  llvm::DenseSet<mlir::Value> roots;
  bool isUnknown = false;
};

/// What an op itself accesses, not what ops in its regions do.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);

/// Whether a barrier is due between an access and a later one.
bool conflict(const Access &earlier, const Access &later);

/// Follows all paths through a kernel. `onHazard` is called for each op that
/// conflicts with an access before it; it returns whether it put a barrier
/// before the op. With `mayMove` that may be a loop around such an op.
void followAccesses(
    mlir::func::FuncOp kernel,
    llvm::function_ref<bool(mlir::Operation *op, const Access &earlier)>
        onHazard,
    bool mayMove);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_MEMORYMODEL_H
