//===- Target.cpp - The AMDGPU target: chips, pipeline --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/AMDGPU/Target.h"

#include "Emit.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/SimtPipeline.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

using namespace mlir;
using namespace terrazzo;

namespace {

/// LLVM's "User Guide for AMDGPU Backend" (processors, wavefront sizes) and the
/// instruction set guides of CDNA 2 to 4 and RDNA 3 and 4 (LDS, registers a
/// lane can have: 256, and as many accumulation registers on CDNA).
struct HipChip {
  llvm::StringLiteral name;
  int32_t warpSize, sharedKiB, registers;
  /// v_cvt_pk_bf16_f32.
  bool bf16;
  tile::MatrixUnit matrix;
};
constexpr HipChip kChips[] = {
    {"gfx90a", 64, 64, 512, false, tile::MatrixUnit::MfmaGfx90a},
    {"gfx942", 64, 64, 512, false, tile::MatrixUnit::MfmaGfx942},
    {"gfx950", 64, 160, 512, true, tile::MatrixUnit::MfmaGfx950},
    {"gfx1100", 32, 64, 256, false, tile::MatrixUnit::WmmaGfx11},
    {"gfx1201", 32, 64, 256, false, tile::MatrixUnit::WmmaGfx12},
};

class AmdgpuTarget : public Target {
public:
  llvm::StringRef getName() const override { return "hip"; }

  SmallVector<llvm::StringRef> getChips() const override {
    return llvm::map_to_vector(
        kChips,
        [](const HipChip &chip) -> llvm::StringRef { return chip.name; });
  }

  tile::TargetAttr describe(MLIRContext &context,
                            llvm::StringRef name) const override {
    const HipChip *chip = llvm::find_if(
        kChips, [&](const HipChip &chip) { return chip.name == name; });
    if (chip == std::end(kChips))
      return {};
    // v_exp_f32, v_log_f32, v_rsq_f32 and division by v_rcp_f32.
    tile::Units units = tile::Units::Fma | tile::Units::Rounding |
                        tile::Units::Approximate | tile::Units::F16;
    if (chip->bf16)
      units = units | tile::Units::Bf16;
    return tile::TargetAttr::get(
        &context, getName(), chip->name, chip->warpSize, /*max_threads=*/1024,
        /*shared_bytes=*/chip->sharedKiB * 1024, chip->registers,
        /*vector_bytes=*/16, /*capability=*/0, /*ptx_version=*/0,
        /*private_space=*/5, units, chip->matrix);
  }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<ROCDL::ROCDLDialect>();
    registerROCDLDialectTranslation(registry);
  }

  void buildPipeline(OpPassManager &manager) const override {
    buildSimtPipeline(manager);
    manager.addPass(createSimtToROCDL());
    device::buildLLVMPipeline(manager);
  }

  FailureOr<std::unique_ptr<CodeGen>>
  translate(ModuleOp module) const override {
    return amdgpu::translateKernel(module);
  }

  FailureOr<Artifact> emit(ModuleOp module, bool wantsStages) const override {
    return amdgpu::emitCodeObject(module, wantsStages);
  }
};

} // namespace

void amdgpu::registerAMDGPUTarget() {
  registerTarget(std::make_unique<AmdgpuTarget>());
}
