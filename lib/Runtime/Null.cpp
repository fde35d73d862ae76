//===- Null.cpp - The driver that runs nothing ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For measuring what a launch costs and for testing all that happens before
// it. Its memory is host memory; it loads artifacts of every target.
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Driver.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace terrazzo::runtime {
namespace {

class NullEvent final : public Event {
public:
  void record(void *) override { recorded = true; }
  void synchronize() override {}
  double elapsedTo(Event &stop) override {
    if (!recorded || !static_cast<NullEvent &>(stop).recorded)
      throw Error(Status::InvalidArgument,
                  "elapsed time between events: expected two recorded events, "
                  "found one that was not recorded");
    return 0;
  }

private:
  bool recorded = false;
};

class NullKernel final : public Kernel {
public:
  NullKernel(std::shared_ptr<Driver> owner, Artifact artifact)
      : Kernel(std::move(artifact)), owner(std::move(owner)) {}

  void launch(const Grid &grid, void *, void *const *,
              size_t argCount) override {
    checkArgCount(argCount);
    if ((grid.x | grid.y | grid.z) >> 31)
      countPrograms(grid, std::numeric_limits<int32_t>::max(),
                    "launch of kernel '" + name() + "'");
  }

private:
  std::shared_ptr<Driver> owner;
};

class NullDriver final : public Driver {
public:
  const std::string &name() const override { return ownName; }
  int deviceCount() const override { return 1; }
  DeviceProperties properties(int device) const override {
    checkDevice(device);
    DeviceProperties properties;
    properties.name = "null device";
    properties.chip = "null";
    return properties;
  }
  void *alloc(int device, size_t bytes) override {
    checkDevice(device);
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, bytes ? bytes : 1) != 0)
      throw Error(Status::OutOfMemory, "alloc on driver 'null': expected " +
                                           std::to_string(bytes) +
                                           " bytes, the system has no memory");
    return memory;
  }
  void free(int device, void *memory) override {
    checkDevice(device);
    std::free(memory);
  }
  void copy(int device, void *to, const void *from, size_t bytes,
            void *) override {
    checkDevice(device);
    if (bytes)
      std::memmove(to, from, bytes);
  }
  void synchronize(int device, void *) override { checkDevice(device); }
  std::unique_ptr<Kernel> load(int device, Artifact artifact) override {
    checkDevice(device);
    return std::make_unique<NullKernel>(shared_from_this(),
                                        std::move(artifact));
  }
  std::unique_ptr<Event> createEvent(int device) override {
    checkDevice(device);
    return std::make_unique<NullEvent>();
  }

private:
  std::string ownName = "null";
};

} // namespace

std::shared_ptr<Driver> openNull(std::string_view option) {
  if (!option.empty())
    throw Error(Status::InvalidArgument,
                "open driver 'null': expected no option, found '" +
                    std::string(option) + "'");
  return std::make_shared<NullDriver>();
}

} // namespace terrazzo::runtime
