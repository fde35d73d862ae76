//===- Error.h - What the simulator reports ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One type for all that can be wrong: an object that cannot be loaded, an
// instruction that is not modelled, and each fault of a kernel that runs.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SIMULATOR_AMDGPU_ERROR_H
#define TERRAZZO_SIMULATOR_AMDGPU_ERROR_H

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace terrazzo::amdsim {

enum class ErrorKind : uint8_t {
  /// The bytes are no code object that can be executed here.
  Object,
  /// The launch does not fit the kernel.
  Launch,
  /// An instruction, or a form of it, that is not modelled.
  Unsupported,
  OutOfBounds,
  Misaligned,
  ReadOnly,
  /// A value is used that nothing has written.
  Uninitialized,
  /// A register is used while an access to memory may still fill or read it.
  MissingWait,
  /// Two waves access the same bytes without a barrier between them.
  Race,
  /// No wave can go on, or the limit of steps is reached.
  Hang,
  Trap,
};

const char *toString(ErrorKind kind);

/// Where in a launch something went wrong. What is not known is empty or -1.
struct ErrorLocation {
  std::string kernel;
  std::string file;
  uint32_t line = 0;
  /// Offset in the code object and text of the instruction.
  uint64_t address = 0;
  std::string instruction;
  std::array<uint32_t, 3> workgroup = {};
  int wave = -1;
  int lane = -1;
};

class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &text);
  Error(ErrorKind kind, const std::string &text, ErrorLocation location);

  ErrorKind kind;
  ErrorLocation location;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_SIMULATOR_AMDGPU_ERROR_H
