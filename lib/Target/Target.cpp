//===- Target.cpp - The registry of targets -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/Target.h"

#include "llvm/ADT/StringMap.h"

using namespace terrazzo;

llvm::FailureOr<std::unique_ptr<CodeGen>>
Target::translate(mlir::ModuleOp module) const {
  return module.emitError("target '") << getName() << "' has no blocks";
}

static llvm::StringMap<std::unique_ptr<Target>> &registry() {
  static llvm::StringMap<std::unique_ptr<Target>> targets;
  return targets;
}

void terrazzo::registerTarget(std::unique_ptr<Target> target) {
  llvm::StringRef name = target->getName();
  registry().try_emplace(name, std::move(target));
}

const Target *terrazzo::findTarget(llvm::StringRef name) {
  auto it = registry().find(name);
  return it == registry().end() ? nullptr : it->second.get();
}

llvm::SmallVector<llvm::StringRef> terrazzo::targetNames() {
  llvm::SmallVector<llvm::StringRef> names(registry().keys());
  llvm::sort(names);
  return names;
}
