//===- Metadata.cpp - Kernel descriptors and metadata ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats: "Code Object V5 Metadata" and "Kernel Descriptor" in LLVM's "User
// Guide for AMDGPU Backend".
//===----------------------------------------------------------------------===//

#include "CodeObjectReader.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"

#include <algorithm>
#include <cstring>

using namespace terrazzo::amdsim;
using namespace llvm::amdhsa;
using llvm::StringRef;
using llvm::msgpack::DocNode;

/// More than the metadata of any object needs.
static constexpr size_t kDeepestMetadata = 16;
static constexpr size_t kLongestMetadata = size_t(1) << 24;
static constexpr uint32_t kMostScratch = 1u << 20;
static constexpr uint32_t kMostArguments = 1u << 16;

StringRef CodeObjectReader::findMetadata() {
  for (const auto &header : take(file->program_headers())) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto note : file->notes(header, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::consumeError(std::move(error));
      // (0 and 1 mean the least that notes have.)
      return note.getDescAsStringRef(std::max<uint64_t>(header.p_align, 4));
    }
    if (error)
      fail("cannot read the ELF file's notes: " +
           llvm::toString(std::move(error)));
  }
  fail("expected a note with the metadata of kernels, found none");
}

static const DocNode *find(DocNode &map, StringRef key) {
  auto it = map.getMap().find(key);
  return it == map.getMap().end() ? nullptr : &it->second;
}

static uint64_t number(DocNode &map, StringRef key) {
  const DocNode *node = find(map, key);
  return node && node->getKind() == llvm::msgpack::Type::UInt ? node->getUInt()
                                                              : 0;
}

static std::string text(DocNode &map, StringRef key) {
  const DocNode *node = find(map, key);
  return node && node->isString() ? node->getString().str() : std::string();
}

static void readArguments(DocNode &kernel, KernelInfo &info) {
  DocNode arguments = kernel.getMap()[".args"];
  if (!arguments.isArray())
    return;
  for (DocNode argument : arguments.getArray()) {
    if (!argument.isMap())
      continue;
    KernelArgument read;
    read.name = text(argument, ".name");
    read.valueKind = text(argument, ".value_kind");
    read.offset = static_cast<uint32_t>(number(argument, ".offset"));
    read.bytes = static_cast<uint32_t>(number(argument, ".size"));
    // (Sizes and offsets that do not fit are found by comparison with
    // kernargBytes when arguments are laid out.)
    info.arguments.push_back(std::move(read));
  }
}

static void readBlock(DocNode &kernel, KernelInfo &info) {
  if (uint64_t largest = number(kernel, ".max_flat_workgroup_size"))
    info.largestBlock =
        static_cast<uint32_t>(std::min<uint64_t>(largest, 1024));
  DocNode required = kernel.getMap()[".reqd_workgroup_size"];
  if (!required.isArray() || required.getArray().size() != 3)
    return;
  for (size_t axis = 0; axis < 3; ++axis) {
    DocNode &extent = required.getArray()[axis];
    if (extent.getKind() == llvm::msgpack::Type::UInt)
      info.requiredBlock[axis] = static_cast<uint32_t>(extent.getUInt());
  }
}

/// Whether the bytes are one object in MessagePack whose maps have strings as
/// keys: LLVM's documents take other keys to be impossible. Nothing is nested
/// deeper than metadata is.
static bool isWellFormed(StringRef blob) {
  struct Level {
    bool isMap;
    uint64_t left;
  };
  std::vector<Level> levels;
  llvm::msgpack::Reader reader(blob);
  do {
    llvm::msgpack::Object object;
    auto hasRead = reader.read(object);
    if (!hasRead) {
      llvm::consumeError(hasRead.takeError());
      return false;
    }
    bool isMap = object.Kind == llvm::msgpack::Type::Map;
    bool isArray = object.Kind == llvm::msgpack::Type::Array;
    if (!*hasRead || levels.size() > kDeepestMetadata)
      return false;
    if (!levels.empty()) {
      bool isKey = levels.back().isMap && levels.back().left % 2 == 0;
      if (isKey && object.Kind != llvm::msgpack::Type::String)
        return false;
      --levels.back().left;
    }
    if (isMap || isArray)
      levels.push_back({isMap, uint64_t(object.Length) * (isMap ? 2 : 1)});
    while (!levels.empty() && levels.back().left == 0)
      levels.pop_back();
  } while (!levels.empty());
  return true;
}

void CodeObjectReader::readKernels() {
  StringRef blob = findMetadata();
  llvm::msgpack::Document document;
  if (blob.size() > kLongestMetadata || !isWellFormed(blob) ||
      !document.readFromBlob(blob, /*Multi=*/false) ||
      !document.getRoot().isMap())
    fail("expected metadata in MessagePack with a map, found " +
         llvm::Twine(blob.size()) + " bytes of another form");
  DocNode kernels = document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray())
    fail("expected a list of kernels in the metadata, found none");
  for (DocNode kernel : kernels.getArray()) {
    if (!kernel.isMap())
      fail("expected each kernel of the metadata to be a map, found another "
           "form");
    KernelInfo info;
    info.name = text(kernel, ".name");
    readArguments(kernel, info);
    readBlock(kernel, info);
    readDescriptor(info, text(kernel, ".symbol"));
    object->allKernels.push_back(std::move(info));
  }
}

/// The VGPRs that a wave has: the descriptor counts in granules.
static uint32_t countVgprs(const KernelInfo &info, const ChipFeatures &chip,
                           uint32_t granules) {
  uint32_t granule = info.waveSize == 32 ? 8 : (chip.generation >= 11 ? 4 : 8);
  return (granules + 1) * granule;
}

void CodeObjectReader::readDescriptor(KernelInfo &info, StringRef symbol) {
  auto at = symbols.find(symbol.str());
  if (at == symbols.end())
    fail("expected a descriptor '" + symbol + "' of the kernel '" + info.name +
         "', found no such symbol");
  const uint8_t *place = object->at(at->second, sizeof(kernel_descriptor_t));
  if (!place)
    fail("expected the descriptor '" + symbol +
         "' in a segment, found it at address " + llvm::Twine(at->second));
  kernel_descriptor_t descriptor;
  std::memcpy(&descriptor, place, sizeof(descriptor));
  const ChipFeatures &chip = object->features();
  info.entry = at->second +
               static_cast<uint64_t>(descriptor.kernel_code_entry_byte_offset);
  if (!object->at(info.entry, 4))
    fail("expected the first instruction of '" + info.name +
         "' in a segment, found it at address " + llvm::Twine(info.entry));
  info.kernargBytes = descriptor.kernarg_size;
  info.ldsBytes = descriptor.group_segment_fixed_size;
  info.scratchBytes = descriptor.private_segment_fixed_size;
  auto checkSize = [&](const char *what, uint32_t size, uint32_t most) {
    if (size > most)
      fail("expected at most " + llvm::Twine(most) + " bytes of " + what +
           " for '" + info.name + "', found " + llvm::Twine(size));
  };
  checkSize("LDS", info.ldsBytes, chip.ldsBytes);
  checkSize("scratch", info.scratchBytes, kMostScratch);
  checkSize("arguments", info.kernargBytes, kMostArguments);
  info.properties = descriptor.kernel_code_properties;
  info.waveSize = 64;
  if (chip.generation >= 10 &&
      (info.properties & KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32))
    info.waveSize = 32;
  uint32_t resource1 = descriptor.compute_pgm_rsrc1;
  info.vgprs = countVgprs(
      info, chip,
      AMDHSA_BITS_GET(resource1,
                      COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT));
  if (chip.hasUnifiedRegisters)
    info.accumOffset =
        4 * (AMDHSA_BITS_GET(descriptor.compute_pgm_rsrc3,
                             COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET) +
             1);
  info.resource2 = descriptor.compute_pgm_rsrc2;
  info.userSgprs = AMDHSA_BITS_GET(
      info.resource2, COMPUTE_PGM_RSRC2_GFX6_GFX120_USER_SGPR_COUNT);
  info.floatMode = (resource1 >> 12) & 0xff;
  if (chip.generation < 12) {
    info.dx10Clamp = (resource1 >> 21) & 1;
    info.ieee = (resource1 >> 23) & 1;
  }
  info.preloadLength =
      AMDHSA_BITS_GET(descriptor.kernarg_preload, KERNARG_PRELOAD_SPEC_LENGTH);
  info.preloadOffset =
      AMDHSA_BITS_GET(descriptor.kernarg_preload, KERNARG_PRELOAD_SPEC_OFFSET);
}
