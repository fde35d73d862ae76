//===- Guards.h - What compiled kernels depend on ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_LAUNCH_GUARDS_H
#define TERRAZZO_BINDINGS_LAUNCH_GUARDS_H

#include "Dispatcher.h"

namespace terrazzo::bindings {

/// Whether a guarded fact is what it was.
bool holds(const Guard &guard);

/// Releases guards and their references.
void dropGuards(std::vector<Guard> &guards);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_LAUNCH_GUARDS_H
