//===- Numbering.h - Where accesses stand in LLVM IR ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TOOLS_TZ_CHECK_ORDER_NUMBERING_H
#define TERRAZZO_TOOLS_TZ_CHECK_ORDER_NUMBERING_H

#include "Graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <string>

namespace terrazzo::order {

/// What accesses with one number have in common.
struct Place {
  /// The barriers on their sides: in one turn through the function, and ever.
  Sides turn, ever;
  /// One of them, as text.
  std::string example;
};

/// A function of LLVM IR. Each barrier and each place where accesses stand has
/// a number, which the machine instructions carry through code generation in
/// two ways: as the line of their place in the source, and accesses also as an
/// alias scope that no other access excludes, so that it says nothing. What is
/// merged loses its scope, what is sunk its line. Accesses that stand alike
/// have one number: instructions that are merged are such.
struct Numbering {
  unsigned barrierCount = 0;
  llvm::SmallVector<Place, 0> places;
  llvm::DenseMap<const llvm::MDNode *, unsigned> scopes;

  std::optional<unsigned> barrierOf(unsigned line) const;
  std::optional<unsigned> placeOf(unsigned line,
                                  const llvm::AAMDNodes &aliases) const;
};

/// Memory that threads share, or may share: global, shared, and what may be
/// either of them; by its address space, which both targets number alike.
bool isOrdered(unsigned addressSpace);

/// Numbers the functions of a module that have bodies.
llvm::DenseMap<const llvm::Function *, Numbering>
numberAccesses(llvm::Module &module);

} // namespace terrazzo::order

#endif // TERRAZZO_TOOLS_TZ_CHECK_ORDER_NUMBERING_H
