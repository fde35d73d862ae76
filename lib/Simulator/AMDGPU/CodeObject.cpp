//===- CodeObject.cpp - Code objects: segments, functions, lines ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every offset and size is from the file, so none is believed: what does not
// lie in the bytes that are there is an error.
//===----------------------------------------------------------------------===//

#include "CodeObjectReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace terrazzo::amdsim;
using llvm::StringRef;

/// More than any kernel has; what asks for more is damaged.
static constexpr uint64_t kLongestImage = uint64_t(1) << 28;
static constexpr uint64_t kImageAlignment = 4096;

void CodeObjectReader::fail(const llvm::Twine &text) {
  throw Error(ErrorKind::Object, text.str());
}

void CodeObjectReader::checkHeader(StringRef chip) {
  const auto &header = file->getHeader();
  if (header.e_machine != llvm::ELF::EM_AMDGPU)
    fail("expected an ELF file for AMD GPUs (machine 224), found machine " +
         llvm::Twine(header.e_machine));
  if (header.e_ident[llvm::ELF::EI_OSABI] != llvm::ELF::ELFOSABI_AMDGPU_HSA)
    fail("expected the ABI amdhsa (64), found " +
         llvm::Twine(header.e_ident[llvm::ELF::EI_OSABI]));
  if (header.e_ident[llvm::ELF::EI_ABIVERSION] !=
      llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V5)
    fail("expected code object version 5, found ABI version " +
         llvm::Twine(header.e_ident[llvm::ELF::EI_ABIVERSION]) +
         " (version 5 has 3)");
  if (header.e_type != llvm::ELF::ET_DYN)
    fail("expected a linked code object (ELF type 3), found ELF type " +
         llvm::Twine(header.e_type));
  unsigned machine = header.e_flags & llvm::ELF::EF_AMDGPU_MACH;
  object->chipName = findChipName(machine);
  object->chipFeatures = findChip(object->chipName);
  if (!object->chipFeatures)
    fail("expected code for one of the chips " + listChips() +
         ", found code for number " + llvm::Twine(machine) +
         " (EF_AMDGPU_MACH)");
  if (!chip.empty() && chip != object->chipName)
    fail("expected code for " + chip + ", found code for " + object->chipName);
}

void CodeObjectReader::mapSegments() {
  auto headers = take(file->program_headers());
  uint64_t end = 0;
  for (const auto &header : headers) {
    if (header.p_type != llvm::ELF::PT_LOAD)
      continue;
    if (header.p_filesz > header.p_memsz || header.p_offset > bytes.size() ||
        header.p_filesz > bytes.size() - header.p_offset)
      fail("expected a segment of at most " + llvm::Twine(bytes.size()) +
           " bytes in the file, found one of " + llvm::Twine(header.p_filesz) +
           " at offset " + llvm::Twine(header.p_offset));
    if (header.p_vaddr > kLongestImage || header.p_memsz > kLongestImage)
      fail("expected addresses below " + llvm::Twine(kLongestImage) +
           ", found a segment at " + llvm::Twine(header.p_vaddr) + " of " +
           llvm::Twine(header.p_memsz) + " bytes");
    end = std::max<uint64_t>(end, header.p_vaddr + header.p_memsz);
  }
  if (end == 0)
    fail("expected segments to load, found none");
  object->imageSize = end;
  object->image = static_cast<uint8_t *>(
      ::operator new(end, std::align_val_t(kImageAlignment)));
  std::memset(object->image, 0, end);
  for (const auto &header : headers) {
    if (header.p_type != llvm::ELF::PT_LOAD || header.p_memsz == 0)
      continue;
    std::memcpy(object->image + header.p_vaddr, bytes.data() + header.p_offset,
                header.p_filesz);
    object->allSegments.push_back({header.p_vaddr, header.p_memsz,
                                   (header.p_flags & llvm::ELF::PF_W) != 0,
                                   (header.p_flags & llvm::ELF::PF_X) != 0});
  }
}

void CodeObjectReader::readFunctions() {
  for (const auto &section : take(file->sections())) {
    if (section.sh_type != llvm::ELF::SHT_SYMTAB &&
        section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    StringRef names = take(file->getStringTableForSymtab(section));
    for (const auto &symbol : take(file->symbols(&section))) {
      bool isFunction = symbol.getType() == llvm::ELF::STT_FUNC;
      if (!isFunction && symbol.getType() != llvm::ELF::STT_OBJECT)
        continue;
      StringRef name = take(symbol.getName(names));
      if (symbol.st_shndx == llvm::ELF::SHN_UNDEF)
        fail("expected all symbols to be defined, found that '" + name +
             "' is not");
      if (!isFunction) {
        symbols[name.str()] = symbol.st_value;
        continue;
      }
      if (!object->at(symbol.st_value, symbol.st_size))
        fail("expected the function '" + name +
             "' in a segment, found it at address " +
             llvm::Twine(symbol.st_value));
      auto &functions = object->allFunctions;
      bool isKnown = std::any_of(functions.begin(), functions.end(),
                                 [&](const CodeRange &known) {
                                   return known.address == symbol.st_value;
                                 });
      if (!isKnown)
        functions.push_back({symbol.st_value, symbol.st_size, name.str()});
    }
  }
}

/// Relocations that are left to whoever loads the object.
void CodeObjectReader::relocate() {
  for (const auto &section : take(file->sections())) {
    if (section.sh_type != llvm::ELF::SHT_RELA ||
        !(section.sh_flags & llvm::ELF::SHF_ALLOC))
      continue;
    for (const auto &relocation : take(file->relas(section))) {
      uint32_t type = relocation.getType(/*isMips64EL=*/false);
      if (type != llvm::ELF::R_AMDGPU_RELATIVE64)
        fail("expected relocations of type R_AMDGPU_RELATIVE64, found type " +
             llvm::Twine(type));
      if (!object->at(relocation.r_offset, 8))
        fail("expected a relocation in a segment, found one at address " +
             llvm::Twine(relocation.r_offset));
      uint64_t value =
          object->bias() + static_cast<uint64_t>(relocation.r_addend);
      std::memcpy(object->image + relocation.r_offset, &value, sizeof(value));
    }
  }
}

/// The sections of the line table, by their names without the point. What
/// cannot be read of them is left out, as is what is compressed: its size is
/// whatever the file claims.
llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>>
CodeObjectReader::findLineSections() {
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> result;
  for (const auto &section : take(file->sections())) {
    auto name = file->getSectionName(section);
    auto contents = file->getSectionContents(section);
    bool isWanted = name && contents &&
                    !(section.sh_flags & llvm::ELF::SHF_COMPRESSED) &&
                    (*name == ".debug_line" || *name == ".debug_line_str" ||
                     *name == ".debug_str");
    if (isWanted)
      result[name->drop_front()] = llvm::MemoryBuffer::getMemBuffer(
          llvm::toStringRef(*contents), "", /*RequiresNullTerminator=*/false);
    if (!name)
      llvm::consumeError(name.takeError());
    if (!contents)
      llvm::consumeError(contents.takeError());
  }
  return result;
}

/// Debug information is a help, not a condition.
void CodeObjectReader::readLines() {
  auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  auto sections = findLineSections();
  auto context =
      llvm::DWARFContext::create(sections, /*AddrSize=*/8,
                                 /*isLittleEndian=*/true, ignore, ignore);
  llvm::DWARFDataExtractor data(context->getDWARFObj(),
                                context->getDWARFObj().getLineSection(),
                                /*IsLittleEndian=*/true, /*AddressSize=*/8);
  llvm::DWARFDebugLine::SectionParser parser(data, *context,
                                             context->normal_units());
  while (!parser.done())
    addLines(parser.parseNext(ignore, ignore));
}

void CodeObjectReader::addLines(const llvm::DWARFDebugLine::LineTable &table) {
  for (const auto &row : table.Rows) {
    SourceLine line;
    // An end that another sequence begins at says nothing.
    if (row.EndSequence) {
      object->lines.emplace(row.Address.Address, std::move(line));
      continue;
    }
    line.line = row.Line;
    table.getFileNameByIndex(
        row.File, "",
        llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
        line.file);
    object->lines.insert_or_assign(row.Address.Address, std::move(line));
  }
}

std::shared_ptr<const CodeObject> CodeObjectReader::read(StringRef chip) {
  if (!bytes.starts_with(llvm::ELF::ElfMagic))
    fail("expected an ELF file, found " + llvm::Twine(bytes.size()) +
         " bytes that do not begin as one");
  if (bytes.size() <= llvm::ELF::EI_CLASS ||
      bytes[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64)
    fail("expected an ELF file of 64 bits, found another class");
  auto made = llvm::object::ELF64LEFile::create(bytes);
  if (!made)
    fail("cannot read the ELF file: " + llvm::toString(made.takeError()));
  file.emplace(std::move(*made));
  checkHeader(chip);
  mapSegments();
  readFunctions();
  relocate();
  readKernels();
  readLines();
  return object;
}

std::shared_ptr<const CodeObject> CodeObject::load(std::string_view bytes,
                                                   std::string_view chip) {
  return CodeObjectReader(StringRef(bytes.data(), bytes.size()))
      .read(StringRef(chip.data(), chip.size()));
}

CodeObject::~CodeObject() {
  ::operator delete(image, std::align_val_t(kImageAlignment));
}

const KernelInfo &CodeObject::kernel(std::string_view name) const {
  std::string known;
  for (const KernelInfo &info : allKernels) {
    if (info.name == name)
      return info;
    known += (known.empty() ? "'" : ", '") + info.name + "'";
  }
  throw Error(ErrorKind::Object, "expected a kernel named '" +
                                     std::string(name) + "', found " +
                                     (known.empty() ? "none" : known));
}

const uint8_t *CodeObject::at(uint64_t address, uint64_t size) const {
  for (const Segment &segment : allSegments)
    if (address - segment.address < segment.size &&
        size <= segment.size - (address - segment.address))
      return image + address;
  return nullptr;
}

SourceLine CodeObject::lineOf(uint64_t address) const {
  auto next = lines.upper_bound(address);
  return next == lines.begin() ? SourceLine() : std::prev(next)->second;
}
