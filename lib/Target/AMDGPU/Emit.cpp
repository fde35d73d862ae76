//===- Emit.cpp - From the llvm dialect to a code object ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "terrazzo/Target/CodeGen.h"
#include "terrazzo/Target/Gpu.h"

#include "llvm/IR/Constants.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace terrazzo;

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

FailureOr<Artifact> amdgpu::emitCodeObject(ModuleOp module, bool wantsStages) {
  FailureOr<Artifact> artifact = device::beginArtifact(module, "hip");
  FailureOr<device::Block> block = device::getBlock(module);
  if (failed(artifact) || failed(block))
    return failure();
  initialize();
  CodeGen::Machine machine;
  machine.triple = "amdgcn-amd-amdhsa";
  machine.cpu = artifact->chip;
  if (block->chip.starts_with("gfx1"))
    machine.features = "+wavefrontsize" + std::to_string(block->warpSize);
  FailureOr<std::unique_ptr<CodeGen>> codegen =
      CodeGen::create(module, artifact->entry, machine);
  if (failed(codegen))
    return failure();
  llvm::Function *kernel = (*codegen)->getModule().getFunction(artifact->entry);
  if (!kernel)
    return module.emitError("has no function '") << artifact->entry << "'";
  std::string threads = std::to_string(artifact->threadsPerBlock);
  kernel->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  kernel->addFnAttr("amdgpu-flat-work-group-size", threads + "," + threads);
  kernel->addFnAttr("uniform-work-group-size", "true");
  auto size = [&](uint32_t extent) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
        llvm::Type::getInt32Ty(kernel->getContext()), extent));
  };
  kernel->setMetadata(
      "reqd_work_group_size",
      llvm::MDNode::get(kernel->getContext(),
                        {size(artifact->threadsPerBlock), size(1), size(1)}));
  // Version 5: the newest one that all drivers of the last years take, and
  // the one whose hidden arguments the patterns read.
  (*codegen)->getModule().addModuleFlag(llvm::Module::Error,
                                        "amdhsa_code_object_version", 500);
  if (failed((*codegen)->optimize(llvm::OptimizationLevel::O3)))
    return failure();
  if (wantsStages) {
    artifact->stages["llir"] = (*codegen)->text();
    FailureOr<std::string> assembly =
        (*codegen)->generateFromCopy(llvm::CodeGenFileType::AssemblyFile);
    if (failed(assembly))
      return failure();
    artifact->stages["amdgcn"] = std::move(*assembly);
  }
  FailureOr<std::string> object =
      (*codegen)->generate(llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  std::string error;
  FailureOr<std::string> linked = link(*object, error);
  if (failed(linked) || !readResources(*linked, *artifact, error))
    return module.emitError(error);
  artifact->code.assign(linked->begin(), linked->end());
  return artifact;
}
