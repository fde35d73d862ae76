//===- MachineCode.h - Machine code beside its LLVM IR ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TOOLS_TZ_CHECK_ORDER_MACHINECODE_H
#define TERRAZZO_TOOLS_TZ_CHECK_ORDER_MACHINECODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <string>

namespace terrazzo::order {

struct Findings {
  unsigned accesses = 0, barriers = 0;
  /// A sentence for each access that moved or that nobody knows.
  llvm::SmallVector<std::string> faults;
};

/// Generates code from a module, which changes it, up to the printer, and
/// compares where accesses of memory stand in both. False: there is no code
/// generator.
bool checkMachineCode(llvm::Module &module, llvm::TargetMachine &machine,
                      Findings &findings);

} // namespace terrazzo::order

#endif // TERRAZZO_TOOLS_TZ_CHECK_ORDER_MACHINECODE_H
