//===- Runtime.cpp - C API of the runtime ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Driver, kernel, dispatcher, files. Artifacts are in Artifact.cpp.
//===----------------------------------------------------------------------===//

#include "Status.h"
#include "terrazzo/Runtime/Cache.h"
#include "terrazzo/Runtime/Cpu.h"
#include "terrazzo/Runtime/Dispatcher.h"
#include "terrazzo/Runtime/Driver.h"
#include "terrazzo/Runtime/Interrupt.h"

#include <map>
#include <mutex>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::capi;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct TzDriver {
  std::shared_ptr<Driver> driver;
  DeviceProperties properties;
};

struct TzEvent {
  std::shared_ptr<Driver> driver;
  std::unique_ptr<Event> event;
};

/// Counts references itself: plans keep the Kernel, callers the handle.
struct TzKernel {
  std::shared_ptr<Kernel> kernel;
  std::atomic<int64_t> references{1};
};

struct TzDispatcher {
  Dispatcher dispatcher;
};

/// A plan is handed out as a pointer to the C++ object, which owns a handle for
/// tzPlanKernel.
struct TzPlan : LaunchPlan {
  TzPlan(TzKernel *handle, std::span<const uint32_t> slots)
      : LaunchPlan(handle->kernel, slots), handle(tzKernelRetain(handle)) {}
  ~TzPlan() override { tzKernelRelease(handle); }
  TzKernel *handle;
};

struct TzCache {
  TzCache(const char *directory, CacheOptions options)
      : cache(directory, options) {}
  Cache cache;
};

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

// Registered names live as long as the process, as callers keep the pointers.
static const std::vector<std::string> &driverNames() {
  static const auto &names = *new std::vector(registeredDrivers());
  return names;
}

size_t tzDriverRegisteredCount(void) { return driverNames().size(); }

const char *tzDriverRegisteredName(size_t index) {
  return index < driverNames().size() ? driverNames()[index].c_str() : nullptr;
}

TzStatus tzDriverOpen(const char *name, TzDriver **out) {
  return guard([&] {
    *out = new TzDriver{openDriver(checkText(name, "a driver name")), {}};
  });
}

void tzDriverRelease(TzDriver *driver) { delete driver; }

const char *tzDriverName(const TzDriver *driver) {
  return driver->driver->name().c_str();
}

size_t tzDriverDeviceCount(const TzDriver *driver) {
  return driver->driver->deviceCount();
}

TzStatus tzDriverProperties(const TzDriver *driver, int32_t device,
                            TzDeviceProperties *out) {
  return guard([&] {
    DeviceProperties facts = driver->driver->properties(device);
    // Interned: the strings must outlive this call, whichever device it is for.
    static std::mutex mutex;
    static auto &texts = *new std::map<std::string, int>;
    std::lock_guard lock(mutex);
    auto intern = [&](const std::string &text) {
      return texts.emplace(text, 0).first->first.c_str();
    };
    *out = {intern(facts.name), intern(facts.chip), facts.memoryBytes,
            facts.sharedBytes,  facts.stackBytes,   facts.units,
            facts.warpSize,     facts.maxThreads,   facts.cacheLineBytes,
            facts.cacheBytes,   facts.driverVersion};
  });
}

TzStatus tzDriverAlloc(TzDriver *driver, int32_t device, size_t bytes,
                       void **out) {
  return guard([&] { *out = driver->driver->alloc(device, bytes); });
}

TzStatus tzDriverFree(TzDriver *driver, int32_t device, void *memory) {
  return guard([&] { driver->driver->free(device, memory); });
}

TzStatus tzDriverCopy(TzDriver *driver, int32_t device, void *to,
                      const void *from, size_t bytes, void *stream) {
  return guard([&] { driver->driver->copy(device, to, from, bytes, stream); });
}

TzStatus tzDriverSynchronize(TzDriver *driver, int32_t device, void *stream) {
  return guard([&] { driver->driver->synchronize(device, stream); });
}

TzStatus tzDriverCopyAsync(TzDriver *driver, int32_t device, void *to,
                           const void *from, size_t bytes, void *stream) {
  return guard(
      [&] { driver->driver->copyAsync(device, to, from, bytes, stream); });
}

TzStatus tzDriverFill(TzDriver *driver, int32_t device, void *memory,
                      uint8_t value, size_t bytes, void *stream) {
  return guard(
      [&] { driver->driver->fill(device, memory, value, bytes, stream); });
}

TzStatus tzDriverPoll(TzDriver *driver, int32_t device) {
  return guard([&] { driver->driver->poll(device); });
}

TzStatus tzDriverMemory(TzDriver *driver, int32_t device, uint64_t *freeBytes,
                        uint64_t *totalBytes) {
  return guard([&] {
    DeviceMemory memory = driver->driver->memory(device);
    *freeBytes = memory.freeBytes;
    *totalBytes = memory.totalBytes;
  });
}

TzStatus tzDriverCurrentDevice(const TzDriver *driver, int32_t *out) {
  return guard([&] { *out = driver->driver->currentDevice(); });
}

TzStatus tzStreamCreate(TzDriver *driver, int32_t device, void **out) {
  return guard([&] { *out = driver->driver->createStream(device); });
}

TzStatus tzStreamDestroy(TzDriver *driver, int32_t device, void *stream) {
  return guard([&] { driver->driver->destroyStream(device, stream); });
}

TzStatus tzEventCreate(TzDriver *driver, int32_t device, TzEvent **out) {
  return guard([&] {
    *out = new TzEvent{driver->driver, driver->driver->createEvent(device)};
  });
}

void tzEventDestroy(TzEvent *event) { delete event; }

TzStatus tzEventRecord(TzEvent *event, void *stream) {
  return guard([&] { event->event->record(stream); });
}

TzStatus tzEventSynchronize(TzEvent *event) {
  return guard([&] { event->event->synchronize(); });
}

TzStatus tzEventQuery(TzEvent *event, bool *out) {
  return guard([&] { *out = event->event->isDone(); });
}

TzStatus tzEventWait(TzEvent *event, void *stream) {
  return guard([&] { event->event->wait(stream); });
}

TzStatus tzEventElapsed(TzEvent *start, TzEvent *stop, double *milliseconds) {
  return guard([&] {
    if (start->driver != stop->driver)
      throw Error(Status::InvalidArgument,
                  "elapsed time between events: expected two events of one "
                  "driver, found one of '" +
                      start->driver->name() + "' and one of '" +
                      stop->driver->name() + "'");
    *milliseconds = start->event->elapsedTo(*stop->event);
  });
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

static Grid gridOf(const int64_t grid[3]) {
  return {grid[0], grid[1], grid[2]};
}

TzStatus tzKernelLoad(TzDriver *driver, int32_t device, const void *bytes,
                      size_t size, TzKernel **out) {
  return guard([&] {
    *out = new TzKernel{
        driver->driver->load(device, parseArtifact(bytes, size)), 1};
  });
}

TzKernel *tzKernelRetain(TzKernel *kernel) {
  kernel->references.fetch_add(1, std::memory_order_relaxed);
  return kernel;
}

void tzKernelRelease(TzKernel *kernel) {
  if (kernel && kernel->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete kernel;
}

const TzArtifact *tzKernelArtifact(const TzKernel *kernel) {
  return wrap(&kernel->kernel->artifact());
}

void *tzKernelHandle(const TzKernel *kernel) {
  return kernel->kernel->handle();
}

TzStatus tzKernelLaunch(TzKernel *kernel, const int64_t grid[3], void *stream,
                        void *const *args, size_t argCount) {
  return guard(
      [&] { kernel->kernel->launch(gridOf(grid), stream, args, argCount); });
}

//===----------------------------------------------------------------------===//
// Dispatcher
//===----------------------------------------------------------------------===//

static const TzPlan *planOf(const LaunchPlan *plan) {
  return static_cast<const TzPlan *>(plan);
}

static std::span<const Value> valuesOf(const TzValue *values, size_t count) {
  static_assert(sizeof(TzValue) == sizeof(Value));
  return {reinterpret_cast<const Value *>(values), count};
}

TzStatus tzDispatcherCreate(TzDispatcher **out) {
  return guard([&] { *out = new TzDispatcher; });
}

void tzDispatcherDestroy(TzDispatcher *dispatcher) { delete dispatcher; }

const TzPlan *tzDispatcherFind(const TzDispatcher *dispatcher,
                               const uint64_t *key, size_t keyCount) {
  return planOf(dispatcher->dispatcher.find({key, keyCount}));
}

TzStatus tzDispatcherInsert(TzDispatcher *dispatcher, const uint64_t *key,
                            size_t keyCount, TzKernel *kernel,
                            const uint32_t *slots, size_t slotCount,
                            const TzPlan **out) {
  return guard([&] {
    auto plan = std::make_unique<TzPlan>(
        kernel, std::span<const uint32_t>(slots, slotCount));
    *out =
        planOf(dispatcher->dispatcher.insert({key, keyCount}, std::move(plan)));
  });
}

void tzDispatcherClear(TzDispatcher *dispatcher) {
  guard([&] { dispatcher->dispatcher.clear(); });
}

size_t tzDispatcherSize(const TzDispatcher *dispatcher) {
  return dispatcher->dispatcher.size();
}

TzKernel *tzPlanKernel(const TzPlan *plan) { return plan->handle; }

size_t tzPlanSlotCount(const TzPlan *plan) { return plan->slotCount(); }

TzStatus tzPlanLaunch(const TzPlan *plan, const int64_t grid[3], void *stream,
                      const TzValue *values, size_t valueCount) {
  return guard([&] {
    plan->launch(gridOf(grid), stream, valuesOf(values, valueCount));
  });
}

//===----------------------------------------------------------------------===//
// Threads and interrupts
//===----------------------------------------------------------------------===//

int32_t tzCpuThreads(void) { return cpuThreads(); }

TzStatus tzCpuSetThreads(int32_t count) {
  return guard([&] { setCpuThreads(count); });
}

TzStatus tzInterruptInstall(void) {
  return guard([] { installInterruptHandler(); });
}

void tzInterruptRaise(void) { cancelLaunches(); }

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

TzStatus tzCacheOpen(const char *directory, uint64_t maxBytes, TzCache **out) {
  return guard([&] {
    CacheOptions options;
    if (maxBytes)
      options.maxBytes = maxBytes;
    *out = new TzCache(checkText(directory, "a directory"), options);
  });
}

void tzCacheClose(TzCache *cache) { delete cache; }

TzStatus tzCacheGet(TzCache *cache, const char *key, TzWrite write,
                    void *userData) {
  return guard([&] {
    std::vector<uint8_t> bytes;
    std::string reason;
    switch (cache->cache.get(checkText(key, "a key"), bytes, reason)) {
    case Cache::Lookup::Hit:
      write(reinterpret_cast<const char *>(bytes.data()), bytes.size(),
            userData);
      return;
    case Cache::Lookup::Miss:
      throw Error(Status::NotFound, "cache: no entry of this key");
    case Cache::Lookup::Rejected:
      throw Error(Status::Corrupt, reason);
    }
  });
}

TzStatus tzCachePut(TzCache *cache, const char *key, const void *bytes,
                    size_t size) {
  return guard([&] { cache->cache.put(checkText(key, "a key"), bytes, size); });
}

TzStatus tzCacheStats(TzCache *cache, TzCacheStats *out) {
  return guard([&] {
    CacheStats stats = cache->cache.stats();
    *out = {stats.entries,  stats.bytes, stats.hits,   stats.misses,
            stats.rejected, stats.puts,  stats.evicted};
  });
}

TzStatus tzCacheClear(TzCache *cache) {
  return guard([&] { cache->cache.clear(); });
}

TzStatus tzPrivateFileWrite(const char *folder, const char *name,
                            const void *bytes, size_t size,
                            uint64_t keepBytes) {
  return guard([&] {
    PrivateFolder opened(checkText(folder, "a directory"), "open folder");
    std::string file = checkText(name, "a name");
    opened.write(file, {{static_cast<const char *>(bytes), size}}, "write");
    size_t dot = file.rfind('.');
    if (dot != std::string::npos)
      opened.trim(file.substr(dot), keepBytes, CacheOptions().temporarySeconds);
  });
}
