//===- Target.cpp - The AMDGPU target: chips, pipeline --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/AMDGPU/Target.h"

#include "Emit.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/Simt.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

using namespace mlir;
using namespace terrazzo;

namespace {

/// LLVM's "User Guide for AMDGPU Backend" (processors, wavefront sizes) and the
/// instruction set guides of CDNA 2 to 4 and RDNA 3 and 4 (LDS, registers a
/// lane can have: 256, and as many accumulation registers on CDNA).
struct Chip {
  llvm::StringLiteral name;
  int32_t warpSize, sharedKiB, registers;
  /// v_cvt_pk_bf16_f32.
  bool bf16;
};
constexpr Chip kChips[] = {
    {"gfx90a", 64, 64, 512, false},  {"gfx942", 64, 64, 512, false},
    {"gfx950", 64, 160, 512, true},  {"gfx1100", 32, 64, 256, false},
    {"gfx1201", 32, 64, 256, false},
};

class AmdgpuTarget : public Target {
public:
  llvm::StringRef getName() const override { return "hip"; }

  SmallVector<llvm::StringRef> getChips() const override {
    return llvm::map_to_vector(
        kChips, [](const Chip &chip) -> llvm::StringRef { return chip.name; });
  }

  DictionaryAttr describe(MLIRContext &context,
                          llvm::StringRef name) const override {
    const Chip *chip = llvm::find_if(
        kChips, [&](const Chip &chip) { return chip.name == name; });
    if (chip == std::end(kChips))
      return {};
    Builder b(&context);
    auto number = [&](llvm::StringRef fact, int32_t value) {
      return b.getNamedAttr(fact, b.getI32IntegerAttr(value));
    };
    auto has = [&](llvm::StringRef fact) {
      return b.getNamedAttr(fact, b.getUnitAttr());
    };
    SmallVector<NamedAttribute> facts = {
        b.getNamedAttr("name", b.getStringAttr("hip")),
        b.getNamedAttr("chip", b.getStringAttr(chip->name)),
        number("warp_size", chip->warpSize),
        number("max_threads", 1024),
        number("shared_bytes", chip->sharedKiB * 1024),
        number("registers", chip->registers),
        number("vector_bytes", 16),
        has("fma"),
        has("f16"),
        // v_exp_f32, v_log_f32, v_rsq_f32 and division by v_rcp_f32.
        has("approximate"),
    };
    if (chip->bf16)
      facts.push_back(has("bf16"));
    return b.getDictionaryAttr(facts);
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
