//===- Driver.cpp - Registry and checks that all drivers share ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Driver.h"

#include <cstring>
#include <limits>
#include <map>
#include <mutex>

namespace terrazzo::runtime {

static std::string gridText(const Grid &grid) {
  return "(" + std::to_string(grid.x) + ", " + std::to_string(grid.y) + ", " +
         std::to_string(grid.z) + ")";
}

int64_t countPrograms(const Grid &grid, int64_t limit,
                      const std::string &operation) {
  for (int64_t axis : {grid.x, grid.y, grid.z})
    if (axis < 0 || axis > limit)
      throw Error(Status::InvalidArgument,
                  operation + ": expected a grid with axes from 0 to " +
                      std::to_string(limit) + ", found " + gridText(grid));
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return 0;
  int64_t total;
  if (__builtin_mul_overflow(grid.x, grid.y, &total) ||
      __builtin_mul_overflow(total, grid.z, &total))
    throw Error(Status::InvalidArgument,
                operation +
                    ": expected fewer than 2^63 programs, found the "
                    "grid " +
                    gridText(grid));
  return total;
}

const std::string &Kernel::name() const {
  auto found = content.metadata.find("name");
  return found == content.metadata.end() ? content.entry : found->second;
}

void Kernel::checkArgCount(size_t argCount) const {
  if (argCount != content.args.size())
    throw Error(Status::InvalidArgument,
                "launch of kernel '" + name() + "': expected " +
                    std::to_string(content.args.size()) +
                    " run-time arguments, found " + std::to_string(argCount));
}

void Driver::copyAsync(int device, void *to, const void *from, size_t bytes,
                       void *stream) {
  copy(device, to, from, bytes, stream);
}

void Driver::fill(int device, void *memory, uint8_t value, size_t bytes,
                  void *) {
  checkDevice(device);
  if (bytes)
    std::memset(memory, value, bytes);
}

void Driver::poll(int device) { checkDevice(device); }

DeviceMemory Driver::memory(int device) {
  uint64_t total = properties(device).memoryBytes;
  return {total, total};
}

void *Driver::createStream(int device) {
  checkDevice(device);
  return nullptr;
}

void Driver::destroyStream(int device, void *) { checkDevice(device); }

void Driver::checkDevice(int device) const {
  if (device < 0 || device >= deviceCount())
    throw Error(Status::NotFound, "driver '" + name() +
                                      "': expected a device from 0 to " +
                                      std::to_string(deviceCount() - 1) +
                                      ", found " + std::to_string(device));
}

void Driver::checkTarget(const Artifact &artifact,
                         std::string_view target) const {
  if (artifact.target != target)
    throw Error(Status::InvalidArgument,
                "load of kernel '" + artifact.entry + "' by driver '" + name() +
                    "': expected an artifact for target '" +
                    std::string(target) + "', found one for '" +
                    artifact.target + "'; compile the kernel for this driver");
}

namespace {

/// Never destroyed: kernels may still run when the process exits.
struct Registry {
  std::mutex mutex;
  std::map<std::string, DriverFactory, std::less<>> factories{
#ifndef TERRAZZO_WITHOUT_CPU_DRIVER // as in a build without LLVM
      {"cpu", openCpu},
#endif
      {"cuda", openCuda},
      {"hip", openHip},
      {"null", openNull}};
  std::map<std::string, std::shared_ptr<Driver>, std::less<>> opened;

  static Registry &get() {
    static Registry *registry = new Registry;
    return *registry;
  }
};

} // namespace

std::vector<std::string> registeredDrivers() {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  names.reserve(registry.factories.size());
  for (const auto &[name, factory] : registry.factories)
    names.push_back(name);
  return names;
}

void registerDriver(std::string_view name, DriverFactory factory) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  registry.factories.insert_or_assign(std::string(name), factory);
}

std::shared_ptr<Driver> openDriver(std::string_view text) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  if (auto found = registry.opened.find(text); found != registry.opened.end())
    return found->second;
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  std::string_view option =
      colon == std::string_view::npos ? "" : text.substr(colon + 1);
  auto factory = registry.factories.find(name);
  if (factory == registry.factories.end()) {
    std::string known;
    for (const auto &entry : registry.factories)
      known += (known.empty() ? "'" : ", '") + entry.first + "'";
    throw Error(Status::NotFound, "open driver: expected one of " + known +
                                      ", found '" + std::string(text) + "'");
  }
  std::shared_ptr<Driver> driver = factory->second(option);
  registry.opened.emplace(text, driver);
  return driver;
}

} // namespace terrazzo::runtime
