//===- Target.h - The CPU target --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_CPU_TARGET_H
#define TERRAZZO_TARGET_CPU_TARGET_H

#include <string>

namespace terrazzo::cpu {

/// Adds the target "cpu" to the registry.
void registerCpuTarget();

/// The machine at hand as a chip: "name+feature+feature", the features being
/// those that code generation depends on, sorted.
std::string hostChip();

} // namespace terrazzo::cpu

#endif // TERRAZZO_TARGET_CPU_TARGET_H
