//===- Link.cpp - Code objects: made by LLD, read back --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace terrazzo;

namespace {
/// A folder of this user alone that lives as long as this: the linker opens
/// its files by name.
class TemporaryFolder {
public:
  std::error_code create() {
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, path);
    llvm::sys::path::append(path, "terrazzo-XXXXXX");
    path.c_str(); // writes the zero at the end
    if (::mkdtemp(path.data()))
      return {};
    path.clear();
    return {errno, std::generic_category()};
  }
  ~TemporaryFolder() {
    if (path.empty())
      return;
    // Nothing can be done about one that stays.
    [[maybe_unused]] std::error_code code =
        llvm::sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<64> result = path;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

private:
  llvm::SmallString<64> path;
};
} // namespace

llvm::FailureOr<std::string> amdgpu::link(llvm::StringRef object,
                                          std::string &error) {
  TemporaryFolder folder;
  std::error_code code = folder.create();
  std::string input = folder.file("kernel.o"),
              output = folder.file("kernel.hsaco");
  if (!code) {
    llvm::raw_fd_ostream stream(input, code);
    if (!code) {
      stream << object;
      stream.close();
      code = stream.error();
    }
    stream.clear_error();
  }
  if (code) {
    error = "cannot write a temporary file for the linker: " + code.message();
    return llvm::failure();
  }

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  bool linked;
  {
    // LLD's state is global to the process.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    linked =
        lld::elf::link({"ld.lld", "-shared", "--threads=1", "--no-undefined",
                        input.c_str(), "-o", output.c_str()},
                       stream, stream, /*exitEarly=*/false,
                       /*disableOutput=*/false);
    lld::CommonLinkerContext::destroy();
  }
  if (!linked) {
    error = "the linker failed: " + llvm::StringRef(messages).trim().str();
    return llvm::failure();
  }
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer) {
    error = "cannot read what the linker wrote: " + buffer.getError().message();
    return llvm::failure();
  }
  return (*buffer)->getBuffer().str();
}

/// The note that describes the kernels, in MessagePack.
static llvm::Expected<llvm::StringRef>
findMetadata(const llvm::object::ELF64LEFile &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto note : file.notes(header, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::consumeError(std::move(error));
      return note.getDescAsStringRef(header.p_align);
    }
    if (error)
      return std::move(error);
  }
  return llvm::createStringError("it has no note with metadata");
}

bool amdgpu::readResources(llvm::StringRef codeObject, Artifact &artifact,
                           std::string &error) {
  auto fail = [&](llvm::Error reason) {
    error = "cannot read back the code object: " +
            llvm::toString(std::move(reason));
    return false;
  };
  auto file = llvm::object::ELF64LEFile::create(codeObject);
  if (!file)
    return fail(file.takeError());
  llvm::Expected<llvm::StringRef> note = findMetadata(*file);
  if (!note)
    return fail(note.takeError());
  llvm::msgpack::Document document;
  if (!document.readFromBlob(*note, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return fail(llvm::createStringError("its metadata is no map"));
  auto kernels = document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray() || kernels.getArray().size() != 1 ||
      !kernels.getArray()[0].isMap())
    return fail(llvm::createStringError("it has not exactly one kernel"));
  auto kernel = kernels.getArray()[0].getMap();
  auto number = [&](llvm::StringRef key) -> uint32_t {
    auto it = kernel.find(key);
    if (it == kernel.end() || it->second.getKind() != llvm::msgpack::Type::UInt)
      return 0;
    return static_cast<uint32_t>(it->second.getUInt());
  };
  artifact.registers = number(".vgpr_count");
  artifact.spills = number(".vgpr_spill_count") + number(".sgpr_spill_count");
  artifact.metadata["scalar_registers"] = std::to_string(number(".sgpr_count"));
  artifact.metadata["accumulation_registers"] =
      std::to_string(number(".agpr_count"));
  artifact.metadata["scratch_bytes"] =
      std::to_string(number(".private_segment_fixed_size"));
  return true;
}
