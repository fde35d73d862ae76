//===- Error.h - Errors of the runtime ---------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_ERROR_H
#define TERRAZZO_RUNTIME_ERROR_H

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace terrazzo::runtime {

/// What went wrong, by what a caller may do about it. In the order of TzStatus.
enum class Status {
  Ok,
  InvalidArgument,
  NotFound,
  Corrupt,
  WrongArchitecture,
  OutOfMemory,
  OutOfResources,
  AssertionFailed,
  Cancelled,
  Unavailable,
  Internal,
  NoLibrary,
  NoDevice,
  DriverTooOld,
  LaunchFailed
};

/// A lower-case name: "out of resources".
const char *statusName(Status status);

/// Where and why a device assertion failed.
struct AssertionInfo {
  std::string kernel;
  std::string file;
  uint32_t line = 0, column = 0;
  std::string text;
  std::array<int32_t, 3> pid{};
};

/// Thrown by everything in this layer. The message names the operation, says
/// what was expected and found and, where there is one, the remedy.
class Error : public std::exception {
public:
  Error(Status status, std::string message)
      : code(status),
        content(std::make_shared<const std::string>(std::move(message))) {}
  Error(AssertionInfo info, std::string message)
      : code(Status::AssertionFailed),
        content(std::make_shared<const std::string>(std::move(message))),
        failure(std::make_shared<const AssertionInfo>(std::move(info))) {}

  Status status() const { return code; }
  const std::string &message() const { return *content; }
  const char *what() const noexcept override { return content->c_str(); }
  /// Set if the status is AssertionFailed.
  const AssertionInfo *assertion() const { return failure.get(); }

private:
  Status code;
  // Shared, so that copying an exception cannot throw.
  std::shared_ptr<const std::string> content;
  std::shared_ptr<const AssertionInfo> failure;
};

/// Text of an errno value: "permission denied (EACCES)".
std::string errnoText(int code);

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_ERROR_H
