//===- Emit.cpp - From the llvm dialect to PTX ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "terrazzo/Target/CodeGen.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/Target.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace terrazzo;

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // 32 bits for addresses of shared memory. It is an option of LLVM's command
    // line alone; as its default, because LLD resets options.
    auto &options = llvm::cl::getRegisteredOptions();
    auto option = options.find("nvptx-short-ptr");
    if (option != options.end())
      static_cast<llvm::cl::opt<bool> *>(option->second)->setInitialValue(true);
  });
}

static FailureOr<std::unique_ptr<CodeGen>> translate(ModuleOp module,
                                                     const Artifact &artifact) {
  int32_t version = tile::TargetAttr::of(module).getPtxVersion();
  if (version == 0)
    return module.emitError("'")
           << kTargetAttr << "' needs a 'ptx_version' to be emitted as PTX";
  initialize();
  CodeGen::Machine machine;
  machine.triple = "nvptx64-nvidia-cuda";
  machine.cpu = artifact.chip;
  machine.features = "+ptx" + std::to_string(version);
  FailureOr<std::unique_ptr<CodeGen>> codegen =
      CodeGen::create(module, artifact.entry, machine);
  if (failed(codegen))
    return failure();
  llvm::Function *kernel = (*codegen)->getModule().getFunction(artifact.entry);
  if (!kernel)
    return module.emitError("has no function '") << artifact.entry << "'";
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel->addFnAttr("nvvm.reqntid", std::to_string(artifact.threadsPerBlock));
  if (auto registers = module->getAttrOfType<IntegerAttr>("tile.maxnreg"))
    kernel->addFnAttr("nvvm.maxnreg", std::to_string(registers.getInt()));
  for (llvm::Argument &argument : kernel->args())
    if (argument.hasByValAttr())
      argument.addAttr(
          llvm::Attribute::get(kernel->getContext(), "nvvm.grid_constant"));
  if (failed((*codegen)->optimize(llvm::OptimizationLevel::O3)))
    return failure();
  return codegen;
}

FailureOr<std::unique_ptr<CodeGen>> nvptx::translateKernel(ModuleOp module) {
  FailureOr<Artifact> artifact = device::beginArtifact(module, "cuda");
  if (failed(artifact))
    return failure();
  return translate(module, *artifact);
}

FailureOr<Artifact> nvptx::emitPtx(ModuleOp module, bool wantsStages) {
  FailureOr<Artifact> artifact = device::beginArtifact(module, "cuda");
  if (failed(artifact))
    return failure();
  FailureOr<std::unique_ptr<CodeGen>> codegen = translate(module, *artifact);
  if (failed(codegen))
    return failure();
  if (wantsStages)
    artifact->stages["llir"] = (*codegen)->text();
  FailureOr<std::string> ptx =
      (*codegen)->generate(llvm::CodeGenFileType::AssemblyFile);
  if (failed(ptx))
    return failure();
  artifact->code.assign(ptx->begin(), ptx->end());
  if (wantsStages)
    artifact->stages["ptx"] = std::move(*ptx);
  return artifact;
}
