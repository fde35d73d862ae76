//===- Fingerprint.cpp - Which build of the compiler this is --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of its own, so that a changed hash recompiles nothing else.
//===----------------------------------------------------------------------===//

#include "BuildId.h"
#include "terrazzo/Compiler/Compiler.h"

#include "llvm/Config/llvm-config.h"

std::string terrazzo::compilerFingerprint() {
  return "llvm-" LLVM_VERSION_STRING "-" TERRAZZO_BUILD_ID;
}
