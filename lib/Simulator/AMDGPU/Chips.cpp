//===- Chips.cpp - What differs between chips -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Simulator/AMDGPU/CodeObject.h"

#include "llvm/BinaryFormat/ELF.h"

using namespace terrazzo::amdsim;

namespace {
struct Chip {
  std::string_view name;
  /// In the flags of ELF files.
  unsigned machine;
  ChipFeatures features;
};
} // namespace

// Generation, unified registers, architected scratch, architected ids, packed
// ids, FNUZ, bytes of LDS.
static const Chip kChips[] = {
    {"gfx90a",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A,
     {9, true, false, false, true, false, 65536}},
    {"gfx942",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942,
     {9, true, true, false, true, true, 65536}},
    {"gfx950",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950,
     {9, true, true, false, true, false, 163840}},
    {"gfx1100",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100,
     {11, false, true, false, true, false, 65536}},
    {"gfx1101",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101,
     {11, false, true, false, true, false, 65536}},
    {"gfx1102",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102,
     {11, false, true, false, true, false, 65536}},
    {"gfx1150",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1150,
     {11, false, true, false, true, false, 65536}},
    {"gfx1151",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1151,
     {11, false, true, false, true, false, 65536}},
    {"gfx1200",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200,
     {12, false, true, true, true, false, 65536}},
    {"gfx1201",
     llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201,
     {12, false, true, true, true, false, 65536}},
};

const ChipFeatures *terrazzo::amdsim::findChip(std::string_view chip) {
  for (const Chip &known : kChips)
    if (known.name == chip)
      return &known.features;
  return nullptr;
}

std::string_view terrazzo::amdsim::findChipName(unsigned machine) {
  for (const Chip &known : kChips)
    if (known.machine == machine)
      return known.name;
  return {};
}

std::string terrazzo::amdsim::listChips() {
  std::string result;
  for (const Chip &known : kChips)
    result += (result.empty() ? "" : ", ") + std::string(known.name);
  return result;
}
