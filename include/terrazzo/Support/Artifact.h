//===- Artifact.h - What the compiler hands to the runtime -------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This is all that compiler and runtime share, so it depends on nothing but the
// standard library and throws nothing of its own.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SUPPORT_ARTIFACT_H
#define TERRAZZO_SUPPORT_ARTIFACT_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace terrazzo {

/// One run-time parameter of a kernel.
struct ArgInfo {
  enum Kind : uint8_t { Pointer, Int, Float };
  Kind kind = Pointer;
  /// Size of the value: a pointer has 8, an i1 has 1.
  uint8_t bytes = 8;
  std::string name;
  std::string dtype;
  /// The kernel stores through this pointer.
  bool written = false;
};

/// A number that a launch computes: `factor` times integer arguments, wrapping
/// around in `bytes` bytes.
struct ArgProduct {
  int64_t factor = 1;
  std::vector<uint32_t> args;
  uint8_t bytes = 8;
};

/// What the device's copy engine has to know of a tensor whose blocks it
/// copies. A launch makes it and passes it behind the arguments.
struct TensorMap {
  /// The argument that points to the tensor.
  uint32_t base = 0;
  /// Of the elements.
  std::string dtype;
  /// In elements. The last dimension has a stride of 1, which is not listed.
  std::vector<ArgProduct> shape, strides;
  /// The shape of a copy.
  std::vector<uint32_t> box;
  /// The bytes of shared memory in which 16-byte words change places: 0, 32, 64
  /// or 128.
  uint32_t swizzleBytes = 0;
  /// What lies outside of the tensor reads as NaN, not as 0.
  bool isNanOutside = false;
};

/// An assert or print of the kernel: generated code names it by `id`.
struct LineEntry {
  uint32_t id = 0;
  std::string file;
  uint32_t line = 0, column = 0;
  /// The assertion's message or the print's prefix.
  std::string text;
};

/// A compiled kernel.
struct Artifact {
  /// The driver that can load it: "cpu".
  std::string target;
  /// What the code needs of the device: "name+feature+feature..." on a CPU.
  std::string chip;
  /// The symbol to call.
  std::string entry;
  /// Device code: an ELF relocatable object for the CPU.
  std::vector<uint8_t> code;
  /// Intermediate stages that were asked for, by name.
  std::map<std::string, std::string> stages;
  uint32_t sharedBytes = 0;
  uint32_t threadsPerBlock = 0;
  uint32_t registers = 0;
  uint32_t spills = 0;
  /// Stack that one program needs (CPU).
  uint64_t stackBytes = 0;
  std::vector<ArgInfo> args;
  std::vector<TensorMap> tensorMaps;
  std::vector<LineEntry> lines;
  std::map<std::string, std::string> metadata;
};

/// The artifact as bytes: magic, version, checksum over everything, fields.
std::vector<uint8_t> serializeArtifact(const Artifact &artifact);

/// Reads bytes that serializeArtifact wrote. Accepts nothing else: on any doubt
/// it returns false and says in `error` what was expected and found; `artifact`
/// is then unspecified.
bool deserializeArtifact(const void *bytes, size_t size, Artifact &artifact,
                         std::string &error);

} // namespace terrazzo

#endif // TERRAZZO_SUPPORT_ARTIFACT_H
