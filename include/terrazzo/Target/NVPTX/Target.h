//===- Target.h - The NVPTX target -------------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_NVPTX_TARGET_H
#define TERRAZZO_TARGET_NVPTX_TARGET_H

#include "mlir/Pass/Pass.h"

namespace terrazzo {

#define GEN_PASS_DECL
#include "terrazzo/Target/NVPTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "terrazzo/Target/NVPTX/Passes.h.inc"

namespace nvptx {

/// Adds the target "cuda" to the registry.
void registerNVPTXTarget();

} // namespace nvptx
} // namespace terrazzo

#endif // TERRAZZO_TARGET_NVPTX_TARGET_H
