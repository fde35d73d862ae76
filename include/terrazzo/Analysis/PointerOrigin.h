//===- PointerOrigin.h - Which array an address is in -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An address is told apart from another by the kernel argument that it derives
// from: nothing that moves a pointer takes it out of its array. What may pass
// one on is known to `pointerSources` alone; of an op that it does not know,
// the result may point anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_ANALYSIS_POINTERORIGIN_H
#define TERRAZZO_ANALYSIS_POINTERORIGIN_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace terrazzo {

/// The pointers that a scalar or tile of pointers is made of in one step, by
/// an op, a loop or a branch; none if it is the argument of a function or
/// nothing is known of it.
llvm::SmallVector<mlir::Value> pointerSources(mlir::Value pointer);

/// The arguments of the kernel that a pointer may derive from, over all ways
/// through loops and branches; nothing if one of them is not known.
std::optional<llvm::SmallVector<mlir::BlockArgument>>
pointerOrigins(mlir::Value pointer);

/// The one argument that a pointer derives from; null if it is not known, or
/// one of several.
mlir::BlockArgument pointerOrigin(mlir::Value pointer);

/// Takes away what two tiles of pointers of one shape have in common: the same
/// steps, with the same offsets, whose elements are of one size. What they then
/// lead to is as far apart as they are, and equal if they are.
void stripCommonSteps(mlir::Value &first, mlir::Value &second);

} // namespace terrazzo

#endif // TERRAZZO_ANALYSIS_POINTERORIGIN_H
