//===- SimtPipeline.cpp - From tiles to what one thread does --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/SimtPipeline.h"

#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;

void terrazzo::buildSimtPipeline(OpPassManager &manager) {
  // Clean-up stands at the borders: before layouts, where equal tiles become
  // one and dead ones cost nothing; before memory is laid out; before the
  // target's patterns.
  manager.addPass(createTileExpandDescriptors());
  manager.addPass(createTileExpandSort());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createChooseMatrixUnits());
  manager.addPass(createTileToSimt());
  manager.addPass(createSimtSchedule());
  manager.addPass(createSimtChannels());
  manager.addPass(createSimtPrefetch());
  manager.addPass(createSimtDecompose());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFitShared());
  manager.addPass(createInsertMmaWaits());
  manager.addPass(createAllocateShared());
  manager.addPass(createInsertBarriers());
  manager.addPass(createSimtToLLVM());
  manager.addPass(createGuardDivision());
  manager.addPass(createExpandMath());
  // Bottom-up: top-down takes quadratic time over loops that carry hundreds of
  // registers.
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false);
  manager.addPass(createCanonicalizerPass(config));
  manager.addPass(createCSEPass());
}
