//===- Error.cpp - What the simulator reports -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Simulator/AMDGPU/Error.h"

#include <cstdio>
#include <utility>

using namespace terrazzo::amdsim;

const char *terrazzo::amdsim::toString(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Object:
    return "code object";
  case ErrorKind::Launch:
    return "launch";
  case ErrorKind::Unsupported:
    return "unsupported instruction";
  case ErrorKind::OutOfBounds:
    return "out of bounds";
  case ErrorKind::Misaligned:
    return "misaligned access";
  case ErrorKind::ReadOnly:
    return "write to read-only memory";
  case ErrorKind::Uninitialized:
    return "uninitialized value";
  case ErrorKind::MissingWait:
    return "missing wait";
  case ErrorKind::Race:
    return "race";
  case ErrorKind::Hang:
    return "hang";
  case ErrorKind::Trap:
    return "trap";
  }
  return "error";
}

static std::string describe(ErrorKind kind, const std::string &text,
                            const ErrorLocation &at) {
  std::string result;
  if (at.line)
    result += at.file + ":" + std::to_string(at.line) + ": ";
  result += std::string(toString(kind)) + ": " + text;
  if (at.kernel.empty())
    return result;
  char address[32];
  std::snprintf(address, sizeof(address), "0x%llx",
                static_cast<unsigned long long>(at.address));
  result += "\n  in kernel '" + at.kernel + "' at " + address;
  if (!at.instruction.empty())
    result += ": " + at.instruction;
  if (at.wave < 0)
    return result;
  result += "\n  workgroup (" + std::to_string(at.workgroup[0]) + ", " +
            std::to_string(at.workgroup[1]) + ", " +
            std::to_string(at.workgroup[2]) + "), wave " +
            std::to_string(at.wave);
  if (at.lane >= 0)
    result += ", lane " + std::to_string(at.lane);
  return result;
}

Error::Error(ErrorKind kind, const std::string &text)
    : std::runtime_error(describe(kind, text, {})), kind(kind) {}

Error::Error(ErrorKind kind, const std::string &text, ErrorLocation location)
    : std::runtime_error(describe(kind, text, location)), kind(kind),
      location(std::move(location)) {}
