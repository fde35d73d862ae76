//===- Loader.h - Object file to callable code ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only part of the runtime that knows LLVM.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_CPU_LOADER_H
#define TERRAZZO_LIB_RUNTIME_CPU_LOADER_H

#include "terrazzo/Runtime/CpuAbi.h"
#include "terrazzo/Runtime/Driver.h"

#include <memory>
#include <string>
#include <string_view>

namespace terrazzo::runtime {

/// Code in memory; unloaded when destroyed.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  KernelEntry entry = nullptr;
};

class CodeLoader {
public:
  virtual ~CodeLoader() = default;
  /// Links the artifact's object. Throws Error.
  virtual std::unique_ptr<LoadedCode> load(const Artifact &artifact) = 0;

  static std::shared_ptr<CodeLoader> create();
};

/// The host's processor as LLVM calls it: "znver4".
std::string hostProcessor();

/// Whether the host has a feature by LLVM's name for it: "avx512f".
bool hostHasFeature(std::string_view feature);

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_CPU_LOADER_H
