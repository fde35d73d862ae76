//===- Passes.h - Passes on the simt dialect --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_DIALECT_SIMT_TRANSFORMS_PASSES_H
#define TERRAZZO_DIALECT_SIMT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace terrazzo {

#define GEN_PASS_DECL
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

} // namespace terrazzo

#endif // TERRAZZO_DIALECT_SIMT_TRANSFORMS_PASSES_H
