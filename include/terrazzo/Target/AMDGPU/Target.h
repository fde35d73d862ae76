//===- Target.h - The AMDGPU target ------------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_AMDGPU_TARGET_H
#define TERRAZZO_TARGET_AMDGPU_TARGET_H

#include "mlir/Pass/Pass.h"

namespace terrazzo {

#define GEN_PASS_DECL
#include "terrazzo/Target/AMDGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "terrazzo/Target/AMDGPU/Passes.h.inc"

namespace amdgpu {

/// Adds the target "hip" to the registry.
void registerAMDGPUTarget();

} // namespace amdgpu
} // namespace terrazzo

#endif // TERRAZZO_TARGET_AMDGPU_TARGET_H
