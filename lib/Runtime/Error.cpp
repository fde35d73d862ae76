//===- Error.cpp - Errors of the runtime ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Error.h"

#include <cstring>

namespace terrazzo::runtime {

const char *statusName(Status status) {
  switch (status) {
  case Status::Ok:
    return "ok";
  case Status::InvalidArgument:
    return "invalid argument";
  case Status::NotFound:
    return "not found";
  case Status::Corrupt:
    return "corrupt";
  case Status::WrongArchitecture:
    return "wrong architecture";
  case Status::OutOfMemory:
    return "out of memory";
  case Status::OutOfResources:
    return "out of resources";
  case Status::AssertionFailed:
    return "assertion failed";
  case Status::Cancelled:
    return "cancelled";
  case Status::Unavailable:
    return "unavailable";
  case Status::Internal:
    return "internal error";
  case Status::NoLibrary:
    return "no library";
  case Status::NoDevice:
    return "no device";
  case Status::DriverTooOld:
    return "driver too old";
  case Status::LaunchFailed:
    return "launch failed";
  }
  return "unknown status";
}

std::string errnoText(int code) {
  const char *text = strerrordesc_np(code);
  const char *name = strerrorname_np(code);
  if (!text || !name)
    return "error " + std::to_string(code);
  return std::string(text) + " (" + name + ")";
}

} // namespace terrazzo::runtime
