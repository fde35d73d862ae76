//===- Host.cpp - What the processor and the system offer -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Loader.h"
#include "terrazzo/Support/TileRegisters.h"

terrazzo::runtime::CpuHost &terrazzo::runtime::cpuHost() {
  static CpuHost host{hostHasFeature, terrazzo::requestTileRegisters};
  return host;
}
