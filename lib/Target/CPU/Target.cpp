//===- Target.cpp - The CPU target: chip, pipeline ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chip is "name+feature+feature": code is generated for x86-64 plus exactly
// these features and tuned for the name. A virtual machine may hide features
// that its processor's name implies, so the host is described in that way. A
// name alone, such as "x86-64-v3", has the features that LLVM knows of it.
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/CPU/Target.h"

#include "Emit.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/Transforms/Passes.h"
#include "terrazzo/Support/TileRegisters.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Conversion/Passes.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;
using namespace terrazzo;

/// The features that decide between code paths, or that LLVM may use freely.
static constexpr llvm::StringLiteral kFeatures[] = {
    "amx-bf16", "amx-int8", "amx-tile", "avx",     "avx2",     "avx512bf16",
    "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "avx512vnni",
    "bmi",      "bmi2",     "cmov",     "cx16",    "cx8",      "f16c",
    "fma",      "fxsr",     "lzcnt",    "mmx",     "movbe",    "popcnt",
    "sahf",     "sse",      "sse2",     "sse3",    "sse4.1",   "sse4.2",
    "ssse3"};

/// What LLVM calls a processor of the host that it does not know.
static constexpr llvm::StringLiteral kUnknown = "generic";

static bool isName(llvm::StringRef name) {
  return name == kUnknown ||
         llvm::X86::parseArchX86(name, /*Only64Bit=*/true) !=
             llvm::X86::CK_None;
}

/// A name of a processor with its features; empty if LLVM does not know it.
static std::string withFeatures(llvm::StringRef name) {
  if (!isName(name))
    return {};
  if (name == kUnknown)
    return name.str();
  SmallVector<llvm::StringRef> named;
  llvm::X86::getFeaturesForCPU(name, named);
  // Those of the levels leave out what others imply: avx2 stands for avx.
  llvm::StringMap<bool> known;
  for (llvm::StringRef feature : named) {
    known[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, known);
  }
  std::string chip = name.str();
  for (llvm::StringRef feature : kFeatures)
    if (known.lookup(feature))
      chip += "+" + feature.str();
  return chip;
}

std::string cpu::hostChip() {
  std::string chip = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (llvm::StringRef feature : kFeatures) {
    if (!host.lookup(feature))
      continue;
    // A machine whose system refuses tile registers has none.
    if (feature.starts_with("amx-") && requestTileRegisters() != 0)
      continue;
    chip += "+" + feature.str();
  }
  return chip;
}

namespace {

class CpuTarget : public Target {
public:
  llvm::StringRef getName() const override { return "cpu"; }

  SmallVector<llvm::StringRef> getChips() const override {
    SmallVector<llvm::StringRef> names;
    llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
    names.push_back(kUnknown);
    return names;
  }

  ArrayRef<llvm::StringLiteral> getFeatures() const override {
    return kFeatures;
  }

  tile::TargetAttr describe(MLIRContext &context,
                            llvm::StringRef chip) const override {
    std::string full = chip.str();
    if (chip.empty())
      full = cpu::hostChip();
    else if (!chip.contains('+'))
      full = withFeatures(chip);
    chip = full;
    SmallVector<llvm::StringRef> parts;
    chip.split(parts, '+');
    if (!isName(parts.front()))
      return {};
    for (llvm::StringRef feature : ArrayRef(parts).drop_front())
      if (!llvm::is_contained(kFeatures, feature))
        return {};
    auto has = [&](llvm::StringRef feature) {
      return llvm::is_contained(ArrayRef(parts).drop_front(), feature);
    };
    int32_t vectorBytes = has("avx512f") ? 64 : has("avx") ? 32 : 16;
    tile::Units units = tile::Units::SelectMinMax;
    auto add = [&](tile::Units unit, bool isThere) {
      if (isThere)
        units = units | unit;
    };
    bool hasTiles = has("amx-tile"), hasVectors = has("avx512vl");
    add(tile::Units::Fma, has("fma"));
    add(tile::Units::Rounding, has("sse4.1"));
    add(tile::Units::F16, has("f16c"));
    add(tile::Units::TileBf16, hasTiles && has("amx-bf16"));
    add(tile::Units::TileInt8, hasTiles && has("amx-int8"));
    add(tile::Units::VectorBf16, hasVectors && has("avx512bf16"));
    add(tile::Units::VectorInt8, hasVectors && has("avx512vnni"));
    return tile::TargetAttr::get(
        &context, getName(), chip, /*warp_size=*/0, /*max_threads=*/0,
        /*shared_bytes=*/0, /*registers=*/0, vectorBytes, /*capability=*/0,
        /*ptx_version=*/0, /*private_space=*/0, units, tile::MatrixUnit::None);
  }

  void registerDialects(DialectRegistry &) const override {}

  void buildPipeline(OpPassManager &manager) const override {
    manager.addPass(createTileExpandDescriptors());
    // Borders: one clean-up before tiles are taken apart, one after.
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    // Of code that is written twice, both ways have these bits.
    manager.addPass(createTileContractProducts());
    manager.addPass(createTileToVector());
    manager.addPass(createGuardDivision());
    manager.addPass(createExpandMath());
    manager.addPass(createCarryBrainFloats());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    manager.addPass(createSplitFunctions());
    manager.addPass(createSCFToControlFlowPass());
    manager.addPass(createConvertVectorToLLVMPass());
    manager.addPass(createConvertToLLVMPass());
    manager.addPass(createReconcileUnrealizedCastsPass());
  }

  FailureOr<Artifact> emit(ModuleOp module, bool wantsStages) const override {
    return cpu::emitObject(module, wantsStages);
  }
};

} // namespace

void cpu::registerCpuTarget() { registerTarget(std::make_unique<CpuTarget>()); }
