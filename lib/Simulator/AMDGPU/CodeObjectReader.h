//===- CodeObjectReader.h - Reads ELF files into CodeObjects ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_CODEOBJECTREADER_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_CODEOBJECTREADER_H

#include "terrazzo/Simulator/AMDGPU/CodeObject.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Object/ELFObjectFile.h"

#include <optional>

namespace terrazzo::amdsim {

class CodeObjectReader {
public:
  explicit CodeObjectReader(llvm::StringRef bytes)
      : bytes(bytes), object(new CodeObject()) {}
  std::shared_ptr<const CodeObject> read(llvm::StringRef chip);

private:
  [[noreturn]] static void fail(const llvm::Twine &text);
  /// The value, or an error of ours with LLVM's words.
  template <class T>
  static T take(llvm::Expected<T> value) {
    if (!value)
      fail("cannot read the ELF file: " + llvm::toString(value.takeError()));
    return std::move(*value);
  }
  void checkHeader(llvm::StringRef chip);
  void mapSegments();
  void readFunctions();
  void relocate();
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> findLineSections();
  void readLines();
  void addLines(const llvm::DWARFDebugLine::LineTable &table);
  // In Metadata.cpp:
  void readKernels();
  llvm::StringRef findMetadata();
  void readDescriptor(KernelInfo &info, llvm::StringRef symbol);

  llvm::StringRef bytes;
  std::shared_ptr<CodeObject> object;
  std::optional<llvm::object::ELF64LEFile> file;
  /// Objects by name: the kernel descriptors are among them.
  std::map<std::string, uint64_t> symbols;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_CODEOBJECTREADER_H
