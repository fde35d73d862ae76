//===- SimtPipeline.h - From tiles to what one thread does ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_SIMTPIPELINE_H
#define TERRAZZO_TARGET_SIMTPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace terrazzo {

/// The part of the pipeline that all GPU targets share: from the tile dialect
/// through simt to scalar code with `simt.thread_*` ops, which the target's own
/// patterns lower next.
void buildSimtPipeline(mlir::OpPassManager &manager);

} // namespace terrazzo

#endif // TERRAZZO_TARGET_SIMTPIPELINE_H
