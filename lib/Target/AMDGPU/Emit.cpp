//===- Emit.cpp - From the llvm dialect to a code object ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "terrazzo/Target/CodeGen.h"
#include "terrazzo/Target/Gpu.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
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

/// The waits that a release needs, as assembly. LLVM 22 puts them there, and
/// drops what it finds done when it first comes by: at the head of a loop that
/// is before it knows what the end of the body leaves under way, and the wait
/// is not put back (SIInsertWaitcnts relaxes "soft" waits in place). So a read
/// of LDS at a loop's end was not awaited at the barrier at its begin.
static const char *releaseWaits(llvm::StringRef chip, bool isWorkgroup) {
  if (chip.starts_with("gfx12"))
    return "s_wait_loadcnt 0x0\n\ts_wait_storecnt 0x0\n\ts_wait_dscnt 0x0";
  if (chip.starts_with("gfx11"))
    return "s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_waitcnt_vscnt null, 0x0";
  // Accesses of global memory by one workgroup keep their order.
  return isWorkgroup ? "s_waitcnt lgkmcnt(0)" : "s_waitcnt vmcnt(0) lgkmcnt(0)";
}

/// Keeps accesses of memory on their side of each fence in the machine code,
/// too. Fences and barriers of AMDGPU are machine instructions with unmodelled
/// side effects that neither load nor store, and MachineSink takes no notice of
/// such (llvm/llvm-project#181708): it sinks a load past them into the branch
/// that needs its value, which is often the one that guards what several warps
/// hold. A piece of assembly that clobbers memory counts as a store. Before a
/// release it is the waits that it needs, else empty.
///
/// It is put here, behind LLVM's own passes, so that whatever makes a fence is
/// covered and none of them sees it. To the passes over LLVM IR that follow it
/// touches no memory of the program: they know what a fence is, and uniform
/// loads behind a barrier stay scalar.
static void pinFences(llvm::Module &module, llvm::StringRef chip) {
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  llvm::SyncScope::ID workgroup = context.getOrInsertSyncScopeID("workgroup");
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *fence = dyn_cast<llvm::FenceInst>(&instruction);
      if (!fence)
        continue;
      bool releases = fence->getOrdering() != llvm::AtomicOrdering::Acquire;
      bool isWorkgroup = fence->getSyncScopeID() == workgroup;
      auto *text = llvm::InlineAsm::get(
          type, releases ? releaseWaits(chip, isWorkgroup) : "", "~{memory}",
          /*hasSideEffects=*/true);
      auto *pin =
          llvm::CallInst::Create(type, text, "", instruction.getIterator());
      pin->setDoesNotThrow();
      pin->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
      pin->setDebugLoc(instruction.getDebugLoc());
    }
}

/// What makes the kernel's function one for blocks of `threads` threads.
static void describeKernel(llvm::Function &kernel, uint32_t threadsPerBlock) {
  std::string threads = std::to_string(threadsPerBlock);
  kernel.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  kernel.addFnAttr("amdgpu-flat-work-group-size", threads + "," + threads);
  kernel.addFnAttr("uniform-work-group-size", "true");
  auto size = [&](uint32_t extent) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
        llvm::Type::getInt32Ty(kernel.getContext()), extent));
  };
  kernel.setMetadata(
      "reqd_work_group_size",
      llvm::MDNode::get(kernel.getContext(),
                        {size(threadsPerBlock), size(1), size(1)}));
}

static FailureOr<std::unique_ptr<CodeGen>> translate(ModuleOp module,
                                                     const Artifact &artifact) {
  FailureOr<device::Block> block = device::getBlock(module);
  if (failed(block))
    return failure();
  initialize();
  CodeGen::Machine machine;
  machine.triple = "amdgcn-amd-amdhsa";
  machine.cpu = artifact.chip;
  // An array that a loop goes over stays in memory: as a vector in registers it
  // is hundreds of instructions for each access, and shared memory is ours.
  machine.features = "-promote-alloca";
  if (block->chip.starts_with("gfx1"))
    machine.features += ",+wavefrontsize" + std::to_string(block->warpSize);
  FailureOr<std::unique_ptr<CodeGen>> codegen =
      CodeGen::create(module, artifact.entry, machine);
  if (failed(codegen))
    return failure();
  llvm::Function *kernel = (*codegen)->getModule().getFunction(artifact.entry);
  if (!kernel)
    return module.emitError("has no function '") << artifact.entry << "'";
  describeKernel(*kernel, artifact.threadsPerBlock);
  // Version 5: the newest one that all drivers of the last years take, and
  // the one whose hidden arguments the patterns read.
  (*codegen)->getModule().addModuleFlag(llvm::Module::Error,
                                        "amdhsa_code_object_version", 500);
  if (failed((*codegen)->optimize(llvm::OptimizationLevel::O3)))
    return failure();
  pinFences((*codegen)->getModule(), artifact.chip);
  return codegen;
}

FailureOr<std::unique_ptr<CodeGen>> amdgpu::translateKernel(ModuleOp module) {
  FailureOr<Artifact> artifact = device::beginArtifact(module, "hip");
  if (failed(artifact))
    return failure();
  return translate(module, *artifact);
}

FailureOr<Artifact> amdgpu::emitCodeObject(ModuleOp module, bool wantsStages) {
  FailureOr<Artifact> artifact = device::beginArtifact(module, "hip");
  if (failed(artifact))
    return failure();
  FailureOr<std::unique_ptr<CodeGen>> codegen = translate(module, *artifact);
  if (failed(codegen))
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
