//===- Driver.h - One kind of device -----------------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Driver -> Kernel, Event. Each driver passes the one conformance suite in
// test/unit/Runtime/DriverConformance.cpp. All methods may be called from any
// thread, also at once, and throw Error. What a base class does here suits
// drivers whose memory is the host's and whose work is done on return.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_DRIVER_H
#define TERRAZZO_RUNTIME_DRIVER_H

#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Artifact.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::runtime {

/// How many programs a launch has along each axis.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
};

/// Checks a grid and returns its number of programs: zero if an axis is zero.
/// Throws if an axis is negative or exceeds `limit`, or if the product does not
/// fit in 63 bits. `operation` begins the message.
int64_t countPrograms(const Grid &grid, int64_t limit,
                      const std::string &operation);

/// Facts about a device.
struct DeviceProperties {
  std::string name;         ///< for people
  std::string chip;         ///< for the compiler
  uint64_t memoryBytes = 0; ///< total
  uint64_t sharedBytes = 0; ///< most of one block; 0: no such thing
  uint64_t stackBytes = 0;  ///< most scratch of one program; 0: no such limit
  uint32_t units = 1;       ///< threads of the pool, SMs, CUs
  uint32_t warpSize = 1;
  uint32_t maxThreads = 1; ///< most threads of one block
  uint32_t cacheLineBytes = 64;
  uint64_t cacheBytes = 0;    ///< of the last level; 0: not known
  uint32_t driverVersion = 0; ///< CUDA 12.4: 12040; 0: there is none
};

/// Memory of a device.
struct DeviceMemory {
  uint64_t freeBytes = 0, totalBytes = 0;
};

/// A point in the work of a stream.
class Event {
public:
  virtual ~Event() = default;
  /// Marks the point where all that `stream` was given before is done.
  virtual void record(void *stream) = 0;
  /// Waits until the point is reached; at once if it was never recorded.
  virtual void synchronize() = 0;
  /// Whether it is reached; true if it was never recorded.
  virtual bool isDone() { return true; }
  /// Makes a stream wait for the point, not the caller.
  virtual void wait(void *) {}
  /// Milliseconds from this event to `stop`; both must have been recorded.
  virtual double elapsedTo(Event &stop) = 0;
};

/// An artifact loaded on a device. It keeps its driver alive.
class Kernel {
public:
  explicit Kernel(Artifact artifact) : content(std::move(artifact)) {}
  virtual ~Kernel() = default;
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  /// Runs the programs of the grid; args[i] points to the value of run-time
  /// parameter i and is read before launch returns. Work that an accelerator
  /// runs later is queued on `stream` (nullptr: the default stream).
  virtual void launch(const Grid &grid, void *stream, void *const *args,
                      size_t argCount) = 0;

  /// What it was loaded from; `registers` and `spills` are the numbers of the
  /// device's driver, where it tells them.
  const Artifact &artifact() const { return content; }
  /// The vendor's handle of the function, or nullptr.
  virtual void *handle() const { return nullptr; }
  /// The name that messages use: metadata "name", or the entry symbol.
  const std::string &name() const;

protected:
  /// Throws unless argCount is the kernel's number of parameters.
  void checkArgCount(size_t argCount) const;

private:
  Artifact content;
};

/// One kind of device.
class Driver : public std::enable_shared_from_this<Driver> {
public:
  virtual ~Driver() = default;
  virtual const std::string &name() const = 0;
  virtual int deviceCount() const = 0;
  virtual DeviceProperties properties(int device) const = 0;

  /// Zero bytes give a pointer that may be freed but not read.
  virtual void *alloc(int device, size_t bytes) = 0;
  /// Freeing nullptr does nothing.
  virtual void free(int device, void *memory) = 0;
  /// Copies between host and device memory or within either; done on return.
  virtual void copy(int device, void *to, const void *from, size_t bytes,
                    void *stream) = 0;
  /// The same, queued on the stream.
  virtual void copyAsync(int device, void *to, const void *from, size_t bytes,
                         void *stream);
  /// Sets device memory to a byte, queued on the stream.
  virtual void fill(int device, void *memory, uint8_t value, size_t bytes,
                    void *stream);
  /// Waits for a stream, or with nullptr for the default one. Then writes what
  /// the device prints of its finished kernels wrote and throws
  /// AssertionFailed or LaunchFailed for what went wrong.
  virtual void synchronize(int device, void *stream) = 0;
  /// The same for kernels that are done already; never waits.
  virtual void poll(int device);
  virtual DeviceMemory memory(int device);
  /// The calling thread's current device, as the vendor's runtime sees it.
  virtual int currentDevice() const { return 0; }

  /// A stream; nullptr, the default one, where there are no others. Any foreign
  /// stream of the device does as well.
  virtual void *createStream(int device);
  virtual void destroyStream(int device, void *stream);

  virtual std::unique_ptr<Kernel> load(int device, Artifact artifact) = 0;
  virtual std::unique_ptr<Event> createEvent(int device) = 0;

protected:
  /// Throws NotFound unless the driver has this device.
  void checkDevice(int device) const;
  /// Throws InvalidArgument unless the artifact is for `target`.
  void checkTarget(const Artifact &artifact, std::string_view target) const;
};

/// Makes a driver; `option` is what follows the ':' of the name, or empty.
using DriverFactory = std::shared_ptr<Driver> (*)(std::string_view option);

/// The names that openDriver knows, ordered.
std::vector<std::string> registeredDrivers();

/// Adds a driver, or replaces the one of that name.
void registerDriver(std::string_view name, DriverFactory factory);

/// Opens a driver by "name" or "name:option". The same text gives the same
/// driver for the life of the process.
std::shared_ptr<Driver> openDriver(std::string_view text);

std::shared_ptr<Driver> openCpu(std::string_view option);
/// NVIDIA's and AMD's GPUs; the option is the path of the library to use. Throw
/// NoLibrary or NoDevice.
std::shared_ptr<Driver> openCuda(std::string_view option);
std::shared_ptr<Driver> openHip(std::string_view option);
std::shared_ptr<Driver> openNull(std::string_view option);

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_DRIVER_H
