//===- AttachTarget.cpp - Describes a target to a module ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tz-attach-target{target=cuda:sm_90a}`: what compile() does before its
// pipeline, for pipelines that are written out.
//===----------------------------------------------------------------------===//

#include "terrazzo/Compiler/Compiler.h"
#include "terrazzo/Compiler/Registration.h"

using namespace mlir;
using namespace terrazzo;

namespace {
class AttachTarget : public PassWrapper<AttachTarget, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttachTarget)
  AttachTarget() = default;
  AttachTarget(const AttachTarget &other) : PassWrapper(other) {}
  llvm::StringRef getArgument() const override { return "tz-attach-target"; }
  llvm::StringRef getDescription() const override {
    return "Describes a target to a module";
  }
  void runOnOperation() override {
    if (failed(attachTarget(getOperation(), target)))
      signalPassFailure();
  }

private:
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("such as cuda:sm_90a")};
};
} // namespace

void terrazzo::registerAttachTargetPass() { PassRegistration<AttachTarget>(); }
