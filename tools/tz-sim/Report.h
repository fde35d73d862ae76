//===- Report.h - What a kernel's instructions are and did ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TOOLS_TZ_SIM_REPORT_H
#define TERRAZZO_TOOLS_TZ_SIM_REPORT_H

#include "terrazzo/Simulator/AMDGPU/Simulator.h"

#include "llvm/Support/raw_ostream.h"

namespace terrazzo::amdsim {

/// Registers, memory and the instruction mix of a kernel as it is compiled.
void reportCode(const Simulator &simulator, llvm::raw_ostream &out);

/// What a launch executed: the mix, counts by source line, bytes moved. Never a
/// time: the model has none.
void reportLaunch(const Statistics &statistics, llvm::raw_ostream &out);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_TOOLS_TZ_SIM_REPORT_H
