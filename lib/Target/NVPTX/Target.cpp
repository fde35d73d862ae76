//===- Target.cpp - The NVPTX target: chips, pipeline ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/NVPTX/Target.h"

#include "Emit.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/Simt.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace terrazzo;

namespace {

/// CUDA C++ Programming Guide, "Compute Capabilities"; shared memory is the
/// most that one block may opt in to. The PTX version is the oldest one that
/// knows the chip (PTX ISA, "Release Notes"), so that old drivers take the
/// code, but at least 7.4, which brought eviction priorities.
struct Chip {
  llvm::StringLiteral name;
  int32_t capability, ptxVersion, sharedKiB;
};
constexpr Chip kChips[] = {
    {"sm_80", 80, 74, 163},    {"sm_86", 86, 74, 99},
    {"sm_89", 89, 78, 99},     {"sm_90", 90, 78, 227},
    {"sm_90a", 90, 80, 227},   {"sm_100", 100, 86, 227},
    {"sm_100a", 100, 86, 227}, {"sm_120", 120, 87, 99},
};

class NvptxTarget : public Target {
public:
  llvm::StringRef getName() const override { return "cuda"; }

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
    return b.getDictionaryAttr({
        b.getNamedAttr("name", b.getStringAttr("cuda")),
        b.getNamedAttr("chip", b.getStringAttr(chip->name)),
        number("compute_capability", chip->capability),
        number("ptx_version", chip->ptxVersion),
        number("warp_size", 32),
        number("max_threads", 1024),
        number("shared_bytes", chip->sharedKiB * 1024),
        number("registers", 255),
        number("vector_bytes", 16),
        has("fma"),
        // ex2, lg2, rsqrt and div.full.
        has("approximate"),
        has("f16"),
        // cvt.rn.bf16.f32 came with sm_80.
        has("bf16"),
    });
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
