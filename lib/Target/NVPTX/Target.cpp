//===- Target.cpp - The NVPTX target: chips, pipeline ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/NVPTX/Target.h"

#include "Emit.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/SimtPipeline.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace terrazzo;

namespace {

/// CUDA C++ Programming Guide, "Compute Capabilities"; shared memory is the
/// most that one block may opt in to. The PTX version is the oldest one that
/// knows the chip (PTX ISA, "Release Notes"), so that old drivers take the
/// code, but at least 7.4, which brought eviction priorities, and 8.4 where
/// 8-bit floats are multiplied.
struct CudaChip {
  llvm::StringLiteral name;
  int32_t capability, ptxVersion, sharedKiB;
  tile::MatrixUnit matrix;
};
constexpr CudaChip kChips[] = {
    {"sm_80", 80, 74, 163, tile::MatrixUnit::MmaSm80},
    {"sm_86", 86, 74, 99, tile::MatrixUnit::MmaSm80},
    {"sm_89", 89, 84, 99, tile::MatrixUnit::MmaSm89},
    {"sm_90", 90, 84, 227, tile::MatrixUnit::MmaSm80},
    {"sm_90a", 90, 84, 227, tile::MatrixUnit::WgmmaSm90},
    {"sm_100", 100, 86, 227, tile::MatrixUnit::MmaSm80},
    {"sm_100a", 100, 86, 227, tile::MatrixUnit::MmaSm80},
    {"sm_120", 120, 87, 99, tile::MatrixUnit::MmaSm89},
};

class NvptxTarget : public Target {
public:
  llvm::StringRef getName() const override { return "cuda"; }

  SmallVector<llvm::StringRef> getChips() const override {
    return llvm::map_to_vector(
        kChips,
        [](const CudaChip &chip) -> llvm::StringRef { return chip.name; });
  }

  tile::TargetAttr describe(MLIRContext &context,
                            llvm::StringRef name) const override {
    const CudaChip *chip = llvm::find_if(
        kChips, [&](const CudaChip &chip) { return chip.name == name; });
    if (chip == std::end(kChips))
      return {};
    // ex2, lg2, rsqrt and div.full; cvt.rn.bf16.f32 came with sm_80.
    constexpr tile::Units kUnits = tile::Units::Fma | tile::Units::Rounding |
                                   tile::Units::Approximate | tile::Units::F16 |
                                   tile::Units::Bf16;
    tile::Units units = kUnits;
    if (chip->capability >= 90)
      units = units | tile::Units::TensorCopy;
    return tile::TargetAttr::get(
        &context, getName(), chip->name, /*warp_size=*/32, /*max_threads=*/1024,
        /*shared_bytes=*/chip->sharedKiB * 1024, /*registers=*/255,
        /*vector_bytes=*/16, chip->capability, chip->ptxVersion,
        /*private_space=*/0, units, chip->matrix);
  }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<NVVM::NVVMDialect>();
    registerNVVMDialectTranslation(registry);
  }

  void buildPipeline(OpPassManager &manager) const override {
    buildSimtPipeline(manager);
    manager.addPass(createSimtToNVVM());
    device::buildLLVMPipeline(manager);
  }

  FailureOr<std::unique_ptr<CodeGen>>
  translate(ModuleOp module) const override {
    return nvptx::translateKernel(module);
  }

  FailureOr<Artifact> emit(ModuleOp module, bool wantsStages) const override {
    return nvptx::emitPtx(module, wantsStages);
  }
};

} // namespace

void nvptx::registerNVPTXTarget() {
  registerTarget(std::make_unique<NvptxTarget>());
}
