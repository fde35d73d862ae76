//===- Registration.cpp - Everything that the tools know ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Compiler/Registration.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Simt/IR/Simt.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"
#include "terrazzo/Target/AMDGPU/Target.h"
#include "terrazzo/Target/CPU/Target.h"
#include "terrazzo/Target/NVPTX/Target.h"
#include "terrazzo/Target/Target.h"

#include <mutex>

using namespace mlir;

void terrazzo::registerDialects(DialectRegistry &registry) {
  registry.insert<simt::SimtDialect, tile::TileDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  vector::VectorDialect, amx::AMXDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerConvertAMXToLLVMInterface(registry);
  func::registerInlinerExtension(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerTargets();
  for (llvm::StringRef name : targetNames())
    findTarget(name)->registerDialects(registry);
}

void terrazzo::registerTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    amdgpu::registerAMDGPUTarget();
    cpu::registerCpuTarget();
    nvptx::registerNVPTXTarget();
  });
}

void terrazzo::registerPasses() {
  registerTransformsPasses();
  registerConvertToLLVMPass();
  registerSCFToControlFlowPass();
  registerReconcileUnrealizedCastsPass();
  registerConvertVectorToLLVMPass();
  registerConversionPasses();
  registerTilePasses();
  registerTargetAMDGPUPasses();
  registerTargetNVPTXPasses();
  registerAttachTargetPass();
  registerSimtPasses();
  registerTargets();
  // `--tz-pipeline-cpu`: exactly what the JIT runs.
  static SmallVector<std::unique_ptr<PassPipelineRegistration<>>> pipelines;
  for (llvm::StringRef name : targetNames()) {
    const Target *target = findTarget(name);
    pipelines.push_back(std::make_unique<PassPipelineRegistration<>>(
        ("tz-pipeline-" + name).str(),
        ("everything that runs for " + name).str(),
        [target](OpPassManager &manager) { target->buildPipeline(manager); }));
  }
}
