//===- Library.cpp - A vendor's library, errors, names --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "Codes.h"

#include <algorithm>
#include <dlfcn.h>
#include <mutex>
#include <set>

namespace terrazzo::runtime::gpu {

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

Library::Library(std::string_view driver, std::string_view option,
                 std::span<const char *const> names, std::string_view remedy)
    : driver(driver) {
  std::string operation = "open driver '" + this->driver + "': ";
  if (!option.empty()) {
    if (option.find('/') == std::string_view::npos)
      throw Error(Status::InvalidArgument,
                  operation +
                      "expected no option or the path of a library, found '" +
                      std::string(option) + "'");
    path = option;
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw Error(Status::NoLibrary,
                  operation + "cannot open the library: " + dlerror());
    return;
  }
  std::string reasons;
  for (const char *name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      path = name;
      return;
    }
    const char *reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason);
  }
  throw Error(Status::NoLibrary,
              operation + "no library: expected " + names.front() +
                  (names.size() > 1 ? " or a version of it" : "") +
                  ", the system says: " + reasons + "; " + std::string(remedy));
}

void *Library::addressOrNull(const char *symbol) const {
  return dlsym(handle, symbol);
}

void *Library::address(const char *symbol) const {
  if (void *found = addressOrNull(symbol))
    return found;
  throw Error(Status::DriverTooOld, "open driver '" + driver + "': " + path +
                                        " has no function '" + symbol +
                                        "'; install a newer driver");
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

Status statusOf(int code) {
  switch (code) {
  case kOutOfMemory:
    return Status::OutOfMemory;
  case kStubLibrary:
    return Status::NoLibrary;
  case kNoDevice:
    return Status::NoDevice;
  case kInvalidImage:
  case kNoBinaryForGpu:
    return Status::WrongArchitecture;
  case kCallRequiresNewerDriver:
  case kUnsupportedPtxVersion:
  case kSystemDriverMismatch:
    return Status::DriverTooOld;
  case kLaunchOutOfResources:
    return Status::OutOfResources;
  case kInvalidValue:
    return Status::InvalidArgument;
  default:
    return losesContext(code) ? Status::LaunchFailed : Status::Unavailable;
  }
}

bool losesContext(int code) {
  return code == kIllegalAddress || code == kLaunchTimeout || code == kAssert ||
         code == kEccUncorrectable || code == kLaunchFailure ||
         (code >= kHardwareStackError && code <= kInvalidProgramCounter);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string kernelText(const Artifact &artifact) {
  auto get = [&](const char *key) {
    auto found = artifact.metadata.find(key);
    return found == artifact.metadata.end() ? std::string() : found->second;
  };
  std::string name = get("name"), file = get("file"), line = get("line");
  std::string text = "'" + (name.empty() ? artifact.entry : name) + "'";
  if (!file.empty() && !line.empty())
    text += " (" + file + ":" + line + ")";
  return text;
}

std::string cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string RecentKernels::text() const {
  std::string text;
  std::set<const std::string *> named;
  uint32_t last = next.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i <= entries.size(); ++i) {
    const std::string *entry =
        entries[(last - i) % entries.size()].load(std::memory_order_relaxed);
    if (entry && named.insert(entry).second)
      text += (text.empty() ? "" : ", ") + *entry;
  }
  return text;
}

const std::string *internText(const std::string &text) {
  static std::mutex &mutex = *new std::mutex;
  static auto &texts = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return &*texts.insert(text).first;
}

void rejectResources(const std::string &operation, const std::string &what,
                     uint64_t needed, uint64_t limit, const char *remedy) {
  throw Error(Status::OutOfResources,
              operation + ": a block needs " + std::to_string(needed) + " " +
                  what + ", there are at most " + std::to_string(limit) + "; " +
                  remedy);
}

void rejectGrid(const Grid &grid, const Grid &limit,
                const std::string &operation) {
  const int64_t axes[] = {grid.x, grid.y, grid.z};
  const int64_t limits[] = {limit.x, limit.y, limit.z};
  for (int axis = 0; axis < 3; ++axis)
    if (axes[axis] < 0 || axes[axis] > limits[axis])
      throw Error(Status::InvalidArgument,
                  operation + ": expected axis " + std::to_string(axis) +
                      " of the grid from 0 to " + std::to_string(limits[axis]) +
                      ", found " + std::to_string(axes[axis]));
}

} // namespace terrazzo::runtime::gpu
