//===- Kernel.h - Kernels and events of a GPU -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_KERNEL_H
#define TERRAZZO_LIB_RUNTIME_GPU_KERNEL_H

#include "Device.h"
#include "Runtime/Output/GpuOutput.h"
#include "TensorMaps.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace terrazzo::runtime::gpu {

/// Parameters of a kernel, tensor maps and the buffer of its prints included.
inline constexpr size_t kMaxParameters = 257;

//===----------------------------------------------------------------------===//
// Output of kernels
//===----------------------------------------------------------------------===//

/// The buffer that one kernel writes prints and failed assertions to: memory of
/// the host that the device sees, so it can be read after a failed launch too.
/// A host function behind each launch, in the same stream, shows what it wrote
/// (see LaunchOutput): before a wait for the stream returns, whoever waits.
template <typename Api>
class OutputBuffer {
public:
  OutputBuffer(const Api &api, Device<Api> &device, const Artifact &artifact,
               const std::string &kernel)
      : api(api), device(device), kernel(kernel) {
    Checker<Api> check{api};
    const uint32_t words = outputWords();
    check("alloc of a print buffer", &device, api.hostAlloc, &memory,
          size_t(words) * sizeof(uint32_t), Api::kOutputFlags);
    if (int code = api.hostAddress(&address, memory, 0)) {
      api.hostFree(memory);
      check.fail("alloc of a print buffer", api.hostAddress.name, code,
                 &device);
    }
    output = std::make_unique<LaunchOutput>(
        artifact, kernel, static_cast<volatile uint32_t *>(memory), words);
    std::lock_guard lock(device.outputMutex);
    device.outputs.push_back(this);
  }

  /// Waits for the kernel's launches, which show what they still had to say.
  ~OutputBuffer() {
    {
      std::lock_guard lock(device.outputMutex);
      std::erase(device.outputs, this);
    }
    std::lock_guard lock(mutex);
    for (const Use &use : uses) {
      api.eventSynchronize(use.event);
      api.eventDestroy(use.event);
    }
    setPending(false);
    output->abandon();
    // Memory and counter stay if a graph may still run a captured launch, or if
    // the context was lost before the end of a launch was told.
    if (!wasCaptured && output->isIdle()) {
      api.hostFree(memory);
    } else {
      [[maybe_unused]] LaunchOutput *kept = output.release();
    }
  }

  /// Launches by `action`, which is given the address for the last parameter
  /// and returns a code.
  template <typename Action>
  int launch(typename Api::Stream stream, Action action) {
    RelaxedCapture<Api> relaxed(api);
    typename Api::CaptureStatus status{};
    bool isCapturing =
        api.streamIsCapturing(stream, &status) == kSuccess &&
        status != static_cast<typename Api::CaptureStatus>(kNotCapturing);
    std::lock_guard lock(mutex);
    if (isCapturing)
      return capture(stream, action);
    // A failed assertion is worth a wait; it is seen while the kernel runs.
    if (output->hasFailed())
      for (const Use &use : uses)
        api.eventSynchronize(use.event);
    if (std::optional<Error> failure = output->take(/*allDone=*/false))
      throw Error(std::move(*failure));
    return enqueue(stream, action);
  }

  /// Takes the assertion that failed in a finished launch. `isLost`: so is the
  /// context, nothing runs any more.
  std::optional<Error> drain(bool isLost) {
    std::lock_guard lock(mutex);
    if (!isPending)
      return std::nullopt;
    // A graph may run a captured launch at any time.
    if (!wasCaptured && (isLost || output->isIdle()))
      setPending(false);
    return output->take(isLost);
  }

  bool isCaptured() const { return wasCaptured; }

private:
  struct Use {
    typename Api::Stream stream;
    typename Api::Event event;
  };

  template <typename Action>
  int enqueue(typename Api::Stream stream, Action action) {
    output->begin();
    if (int code = action(&address)) {
      output->end();
      return code;
    }
    setPending(true);
    if (int code = api.callHost(stream, &LaunchOutput::onEnd, output.get())) {
      // Nobody will tell its end.
      api.streamSynchronize(stream);
      output->end();
      return code;
    }
    return recordUse(stream);
  }

  /// Each run of a captured launch tells its begin too, as nobody else does.
  template <typename Action>
  int capture(typename Api::Stream stream, Action action) {
    if (!api.capturesHostCalls())
      throw Error(Status::DriverTooOld,
                  "launch of kernel '" + kernel +
                      "': a kernel that prints or asserts is not captured into "
                      "a graph, as " +
                      api.launchHost.name +
                      " is missing; install a newer driver");
    wasCaptured = true;
    setPending(true);
    if (int code = api.callHost(stream, &LaunchOutput::onBegin, output.get()))
      return code;
    int launched = action(&address);
    int told = api.callHost(stream, &LaunchOutput::onEnd, output.get());
    return launched ? launched : told;
  }

  int recordUse(typename Api::Stream stream) {
    auto found = std::ranges::find(uses, stream, &Use::stream);
    if (found == uses.end()) {
      typename Api::Event event{};
      if (int code = api.eventCreate(&event, kEventDisableTiming))
        return code;
      uses.push_back({stream, event});
      found = uses.end() - 1;
    }
    return api.eventRecord(found->event, stream);
  }

  void setPending(bool value) {
    if (isPending != value)
      device.pendingOutputs += value ? 1 : -1;
    isPending = value;
  }

  const Api &api;
  Device<Api> &device;
  const std::string &kernel;
  void *memory = nullptr;
  typename Api::Pointer address{};
  /// Host functions use it, so no call of the driver may need its lock.
  std::unique_ptr<LaunchOutput> output;
  /// Held by launches, which may wait until the driver's queue has room.
  std::mutex mutex;
  std::vector<Use> uses;
  bool isPending = false;
  std::atomic<bool> wasCaptured = false;
};

//===----------------------------------------------------------------------===//
// Kernel and event
//===----------------------------------------------------------------------===//

template <typename Api>
class GpuKernel final : public Kernel {
public:
  GpuKernel(std::shared_ptr<Driver> owner, const Api &api, Device<Api> &device,
            Artifact content, typename Api::Module module,
            typename Api::Function function)
      : Kernel(std::move(content)), owner(std::move(owner)), api(api),
        device(device), module(module), function(function),
        argCount(artifact().args.size()), sharedBytes(artifact().sharedBytes),
        threads(artifact().threadsPerBlock), limit(device.gridLimit),
        text(internText(kernelText(artifact()))) {
    limit.x = std::min(limit.x, Api::maxBlocks(threads));
    if constexpr (Api::kHasTensorMaps)
      if (!artifact().tensorMaps.empty())
        maps = std::make_unique<TensorMaps<Api>>(api, device, artifact());
    if (!artifact().lines.empty())
      output =
          std::make_unique<OutputBuffer<Api>>(api, device, artifact(), name());
  }

  ~GpuKernel() override {
    Scope<Api> scope(api, device.context);
    RelaxedCapture<Api> relaxed(api);
    bool wasCaptured = output && output->isCaptured();
    output.reset();
    maps.reset();
    if (!wasCaptured)
      api.moduleUnload(module);
  }

  // Nothing here may allocate, build text or wait, except on the way to an
  // error.
  void launch(const Grid &grid, void *stream, void *const *args,
              size_t count) override {
    if (count != argCount)
      checkArgCount(count);
    // Negative ones are large without their sign.
    if (uint64_t(grid.x) > uint64_t(limit.x) ||
        uint64_t(grid.y) > uint64_t(limit.y) ||
        uint64_t(grid.z) > uint64_t(limit.z))
      rejectGrid(grid, limit, "launch of kernel '" + name() + "'");
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
      return;
    Scope<Api> scope(api, device.context);
    auto queue = static_cast<typename Api::Stream>(stream);
    if (maps) {
      TensorMapBytes bytes[kMaxTensorMaps];
      void *all[kMaxParameters];
      addMaps(args, bytes, all);
      return submit(grid, queue, all, count + maps->size());
    }
    submit(grid, queue, args, count);
  }

  void *handle() const override { return function; }

private:
  /// The arguments and behind them the tensor maps that follow from them.
  void addMaps(void *const *args, TensorMapBytes *bytes, void **all) {
    if constexpr (Api::kHasTensorMaps) {
      maps->get(args, bytes);
      std::copy_n(args, argCount, all);
      for (size_t i = 0; i < maps->size(); ++i)
        all[argCount + i] = &bytes[i];
    }
  }

  void submit(const Grid &grid, typename Api::Stream queue, void *const *args,
              size_t count) {
    auto run = [&](void *const *parameters) {
      return int(api.launch(function, unsigned(grid.x), unsigned(grid.y),
                            unsigned(grid.z), threads, 1, 1, sharedBytes, queue,
                            const_cast<void **>(parameters), nullptr));
    };
    int code = output
                   ? output->launch(queue,
                                    [&](typename Api::Pointer *address) {
                                      void *all[kMaxParameters];
                                      std::copy_n(args, count, all);
                                      all[count] = static_cast<void *>(address);
                                      return run(all);
                                    })
                   : run(args);
    if (code != kSuccess)
      failLaunch(code);
    device.recent.add(text);
  }

  [[noreturn]] void failLaunch(int code) {
    std::string operation = "launch of kernel " + *text;
    if (code == kLaunchOutOfResources)
      operation += " with " + std::to_string(threads) + " threads of " +
                   std::to_string(artifact().registers) + " registers and " +
                   std::to_string(sharedBytes) + " bytes of shared memory";
    Checker<Api>{api}.fail(operation, api.launch.name, code, &device);
  }

  std::shared_ptr<Driver> owner;
  const Api &api;
  Device<Api> &device;
  typename Api::Module module;
  typename Api::Function function;
  const size_t argCount;
  const unsigned sharedBytes, threads;
  Grid limit;
  const std::string *text;
  std::unique_ptr<OutputBuffer<Api>> output;
  std::unique_ptr<TensorMaps<Api>> maps;
};

template <typename Api>
class GpuEvent final : public Event {
public:
  GpuEvent(std::shared_ptr<Driver> owner, const Api &api, Device<Api> &device)
      : owner(std::move(owner)), api(api), device(device), check{api} {
    Scope<Api> scope(api, device.context);
    check("creation of an event", &device, api.eventCreate, &event,
          kEventDefault);
  }
  ~GpuEvent() override {
    Scope<Api> scope(api, device.context);
    api.eventDestroy(event);
  }

  void record(void *stream) override {
    Scope<Api> scope(api, device.context);
    check("record of an event", &device, api.eventRecord, event,
          static_cast<typename Api::Stream>(stream));
    isRecorded = true;
  }
  void synchronize() override {
    Scope<Api> scope(api, device.context);
    check("wait for an event", &device, api.eventSynchronize, event);
  }
  bool isDone() override {
    Scope<Api> scope(api, device.context);
    int code = api.eventQuery(event);
    if (code == kNotReady)
      return false;
    if (code != kSuccess)
      check.fail("query of an event", api.eventQuery.name, code, &device);
    return true;
  }
  void wait(void *stream) override {
    Scope<Api> scope(api, device.context);
    check("wait of a stream for an event", &device, api.streamWaitEvent,
          static_cast<typename Api::Stream>(stream), event, 0u);
  }
  double elapsedTo(Event &stop) override {
    auto &other = static_cast<GpuEvent &>(stop);
    if (!isRecorded || !other.isRecorded)
      throw Error(Status::InvalidArgument,
                  "elapsed time between events: expected two recorded events, "
                  "found one that was not recorded");
    if (&other.device != &device)
      throw Error(Status::InvalidArgument,
                  "elapsed time between events: expected two events of one "
                  "device, found one of device " +
                      std::to_string(device.ordinal) + " and one of " +
                      std::to_string(other.device.ordinal));
    synchronize();
    other.synchronize();
    Scope<Api> scope(api, device.context);
    float milliseconds = 0;
    check("elapsed time between events", &device, api.eventElapsed,
          &milliseconds, event, other.event);
    return milliseconds;
  }

private:
  std::shared_ptr<Driver> owner;
  const Api &api;
  Device<Api> &device;
  Checker<Api> check;
  typename Api::Event event{};
  std::atomic<bool> isRecorded = false;
};

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_KERNEL_H
