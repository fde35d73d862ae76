//===- CodeObject.h - A code object for AMD GPUs, loaded --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF file of the amdhsa ABI, code object version 5: its segments lie in
// memory of this process, so that addresses which the code computes are real.
// The format is described in LLVM's "User Guide for AMDGPU Backend".
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SIMULATOR_AMDGPU_CODEOBJECT_H
#define TERRAZZO_SIMULATOR_AMDGPU_CODEOBJECT_H

#include "terrazzo/Simulator/AMDGPU/Error.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::amdsim {

/// What differs between chips beyond the instructions that they have.
struct ChipFeatures {
  /// 9, 11 or 12.
  unsigned generation = 0;
  /// Accumulation registers are the upper part of one file (gfx90a on).
  bool hasUnifiedRegisters = false;
  /// Scratch is addressed by the hardware: no base in SGPRs.
  bool hasArchitectedScratch = false;
  /// Ids of the workgroup lie in TTMP registers.
  bool hasArchitectedIds = false;
  /// v0 has all three coordinates of the work item, 10 bits each.
  bool hasPackedIds = false;
  /// 8-bit floats have no infinity and one zero, with NaN in its place.
  bool hasFnuz = false;
  unsigned ldsBytes = 65536;
};

/// The chips that are modelled; null for another.
const ChipFeatures *findChip(std::string_view chip);
/// The chip of a number in the flags of an ELF file; empty for another.
std::string_view findChipName(unsigned machine);
/// Their names, for messages.
std::string listChips();

/// An argument as the metadata lists it.
struct KernelArgument {
  std::string name;
  /// "global_buffer", "by_value", "hidden_block_count_x" and so on.
  std::string valueKind;
  uint32_t offset = 0, bytes = 0;
  bool isHidden() const { return valueKind.starts_with("hidden_"); }
};

/// The kernel descriptor and the metadata of one kernel.
struct KernelInfo {
  std::string name;
  /// In the object, as linked.
  uint64_t entry = 0;
  uint32_t kernargBytes = 0, ldsBytes = 0, scratchBytes = 0;
  uint32_t vgprs = 0;
  /// The first accumulation register in the unified file.
  uint32_t accumOffset = 0;
  uint32_t waveSize = 64;
  /// The set-up of user SGPRs: bits of the descriptor's properties.
  uint32_t properties = 0, userSgprs = 0;
  uint32_t preloadLength = 0, preloadOffset = 0;
  /// Which system SGPRs and VGPRs follow: COMPUTE_PGM_RSRC2.
  uint32_t resource2 = 0;
  /// The first bits of MODE: rounding and denormals.
  uint32_t floatMode = 0;
  bool ieee = false, dx10Clamp = false;
  /// The only size of workgroups that it is right for; zeros: any up to the
  /// largest.
  std::array<uint32_t, 3> requiredBlock = {};
  uint32_t largestBlock = 1024;
  std::vector<KernelArgument> arguments;
};

/// A function of the object; kernels are functions, too.
struct CodeRange {
  uint64_t address = 0, size = 0;
  std::string name;
};

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

/// A loaded code object. Throws Error of the kind Object for what it cannot
/// load.
class CodeObject {
public:
  /// `chip` may be empty: then any chip that is modelled is taken.
  static std::shared_ptr<const CodeObject> load(std::string_view bytes,
                                                std::string_view chip = {});
  ~CodeObject();

  const std::string &chip() const { return chipName; }
  const ChipFeatures &features() const { return *chipFeatures; }
  const std::vector<KernelInfo> &kernels() const { return allKernels; }
  const KernelInfo &kernel(std::string_view name) const;
  const std::vector<CodeRange> &functions() const { return allFunctions; }

  /// Bytes at an address of the object, as it lies in memory; null where less
  /// than `size` bytes are.
  const uint8_t *at(uint64_t address, uint64_t size) const;
  /// What is added to an address of the object.
  uint64_t bias() const { return reinterpret_cast<uint64_t>(image); }

  struct Segment {
    uint64_t address = 0, size = 0;
    bool isWritable = false, isCode = false;
  };
  const std::vector<Segment> &segments() const { return allSegments; }

  /// The line of the instruction at an address; line 0 if none is known.
  SourceLine lineOf(uint64_t address) const;

private:
  CodeObject() = default;
  friend class CodeObjectReader;

  std::string chipName;
  const ChipFeatures *chipFeatures = nullptr;
  std::vector<KernelInfo> allKernels;
  std::vector<CodeRange> allFunctions;
  std::vector<Segment> allSegments;
  uint8_t *image = nullptr;
  uint64_t imageSize = 0;
  /// By address; an entry holds up to the next.
  std::map<uint64_t, SourceLine> lines;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_SIMULATOR_AMDGPU_CODEOBJECT_H
