//===- Passes.h - Conversions between dialects ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_CONVERSION_PASSES_H
#define TERRAZZO_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace terrazzo {

#define GEN_PASS_DECL
#include "terrazzo/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "terrazzo/Conversion/Passes.h.inc"

} // namespace terrazzo

#endif // TERRAZZO_CONVERSION_PASSES_H
