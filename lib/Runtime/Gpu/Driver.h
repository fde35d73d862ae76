//===- Driver.h - The driver of a vendor's GPUs -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA's and HIP's driver interfaces agree in almost everything, so the driver
// is a template over `Api`: the functions of the library (see *Symbols.def)
// and what differs. Cuda.cpp and Hip.cpp each have one.
//
// All work goes to the device's primary context, which the vendor's runtime and
// torch use too: their memory and streams are valid here. A thread's current
// context is as before when a call returns.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_DRIVER_H
#define TERRAZZO_LIB_RUNTIME_GPU_DRIVER_H

#include "Kernel.h"

#include <limits>

namespace terrazzo::runtime::gpu {

template <typename Api>
class GpuDriver final : public Driver {
public:
  explicit GpuDriver(std::string_view option) : api(option) {
    int count = countDevices();
    for (int ordinal = 0; ordinal < count; ++ordinal)
      devices.push_back(describe(ordinal));
  }

  ~GpuDriver() override {
    for (const auto &device : devices)
      if (device->hasContext)
        api.release(device->handle);
  }

  const std::string &name() const override { return ownName; }
  int deviceCount() const override { return int(devices.size()); }
  DeviceProperties properties(int device) const override {
    checkDevice(device);
    return devices[device]->properties;
  }

  void *alloc(int device, size_t bytes) override {
    Device<Api> &on = use(device);
    Scope<Api> scope(api, on.context);
    typename Api::Pointer memory{};
    if (int code = api.alloc(&memory, std::max<size_t>(bytes, 1)))
      failAlloc(on, bytes, code);
    return Api::toHost(memory);
  }
  void free(int device, void *memory) override {
    Device<Api> &on = use(device);
    if (!memory)
      return;
    Scope<Api> scope(api, on.context);
    check("free", &on, api.free, Api::toDevice(memory));
  }
  void copy(int device, void *to, const void *from, size_t bytes,
            void *stream) override {
    copyAsync(device, to, from, bytes, stream);
    if (bytes == 0)
      return;
    Device<Api> &on = use(device);
    Scope<Api> scope(api, on.context);
    check("copy", &on, api.streamSynchronize, streamOf(stream));
  }
  void copyAsync(int device, void *to, const void *from, size_t bytes,
                 void *stream) override {
    Device<Api> &on = use(device);
    if (bytes == 0)
      return;
    Scope<Api> scope(api, on.context);
    if (int code = api.copy(to, from, bytes, streamOf(stream)))
      check.fail("copy of " + std::to_string(bytes) + " bytes on driver '" +
                     ownName + "'",
                 api.copyAsync.name, code, &on);
  }
  void fill(int device, void *memory, uint8_t value, size_t bytes,
            void *stream) override {
    Device<Api> &on = use(device);
    if (bytes == 0)
      return;
    Scope<Api> scope(api, on.context);
    check("fill", &on, api.fillAsync, Api::toDevice(memory), value, bytes,
          streamOf(stream));
  }
  void synchronize(int device, void *stream) override {
    Device<Api> &on = use(device);
    Scope<Api> scope(api, on.context);
    int code = api.streamSynchronize(streamOf(stream));
    if (on.pendingOutputs.load(std::memory_order_relaxed))
      takeOutputs(on, losesContext(code));
    if (code)
      check.fail("synchronise on driver '" + ownName + "'",
                 api.streamSynchronize.name, code, &on);
  }
  void poll(int device) override {
    Device<Api> &on = use(device);
    if (on.pendingOutputs.load(std::memory_order_relaxed) == 0)
      return;
    Scope<Api> scope(api, on.context);
    takeOutputs(on, /*isLost=*/false);
  }
  DeviceMemory memory(int device) override {
    Device<Api> &on = use(device);
    Scope<Api> scope(api, on.context);
    size_t free = 0, total = 0;
    check("query of memory", &on, api.memoryInfo, &free, &total);
    return {free, total};
  }
  int currentDevice() const override { return api.currentDevice(); }

  void *createStream(int device) override {
    Device<Api> &on = use(device);
    Scope<Api> scope(api, on.context);
    typename Api::Stream stream{};
    check("creation of a stream", &on, api.streamCreate, &stream,
          kStreamNonBlocking);
    return stream;
  }
  void destroyStream(int device, void *stream) override {
    Device<Api> &on = use(device);
    if (!stream)
      return;
    Scope<Api> scope(api, on.context);
    check("destruction of a stream", &on, api.streamDestroy, streamOf(stream));
  }

  std::unique_ptr<Kernel> load(int device, Artifact artifact) override {
    Device<Api> &on = use(device);
    checkTarget(artifact, Api::kDriver);
    std::string operation = "load of kernel " + kernelText(artifact) +
                            " by driver '" + ownName + "'";
    checkNeeds(on, artifact, operation);
    api.checkChip(artifact, on.properties, operation);
    Scope<Api> scope(api, on.context);
    RelaxedCapture<Api> relaxed(api);
    typename Api::Module module{};
    std::string log;
    if (int code = api.load(&module, artifact, log))
      failLoad(on, artifact, operation, code, log);
    try {
      typename Api::Function function =
          findFunction(on, artifact, module, operation);
      if (!log.empty())
        artifact.metadata["jit.log"] = log;
      return std::make_unique<GpuKernel<Api>>(
          shared_from_this(), api, on, std::move(artifact), module, function);
    } catch (...) {
      api.moduleUnload(module);
      throw;
    }
  }
  std::unique_ptr<Event> createEvent(int device) override {
    return std::make_unique<GpuEvent<Api>>(shared_from_this(), api,
                                           use(device));
  }

private:
  static typename Api::Stream streamOf(void *stream) {
    return static_cast<typename Api::Stream>(stream);
  }

  int countDevices() const {
    int count = 0;
    int code = api.init(0);
    const char *call = api.init.name;
    // Without a device HIP's init reports an invalid one; the count says why.
    if (code == kSuccess || code == kInvalidDevice) {
      code = api.deviceCount(&count);
      call = api.deviceCount.name;
    }
    if (code != kSuccess || count == 0) {
      std::string reason = code == kSuccess ? std::string(call) + " counts 0"
                                            : check.text(call, code);
      throw Error(code == kSuccess ? Status::NoDevice : statusOf(code),
                  "open driver '" + ownName + "': no device: " + reason + "; " +
                      Api::kNoDeviceRemedy);
    }
    return count;
  }

  int attribute(const Device<Api> &device, int which) const {
    int value = 0;
    check("query of a device", &device, api.deviceAttribute, &value,
          static_cast<typename Api::Attribute>(which), device.handle);
    return value;
  }

  std::unique_ptr<Device<Api>> describe(int ordinal) const {
    auto device = std::make_unique<Device<Api>>();
    device->ordinal = ordinal;
    check("query of a device", device.get(), api.deviceGet, &device->handle,
          ordinal);
    auto get = [&](int which) { return attribute(*device, which); };
    DeviceProperties &facts = device->properties;
    char text[256] = "";
    check("query of a device", device.get(), api.deviceName, text,
          int(sizeof(text) - 1), device->handle);
    facts.name = text;
    size_t bytes = 0;
    check("query of a device", device.get(), api.deviceMemory, &bytes,
          device->handle);
    facts.memoryBytes = bytes;
    facts.sharedBytes = get(Api::kSharedBytes);
    facts.units = get(Api::kUnits);
    facts.warpSize = get(Api::kWarpSize);
    facts.maxThreads = get(Api::kMaxThreads);
    facts.cacheBytes = get(Api::kCacheBytes);
    facts.cacheLineBytes = 128;
    facts.driverVersion = api.version;
    facts.chip = api.chipOf(device->ordinal, get);
    if (facts.name.empty())
      facts.name = facts.chip;
    device->gridLimit = {get(Api::kMaxGridX), get(Api::kMaxGridY),
                         get(Api::kMaxGridZ)};
    return device;
  }

  /// The device with its context.
  Device<Api> &use(int ordinal) {
    if (unsigned(ordinal) >= devices.size())
      checkDevice(ordinal);
    Device<Api> &device = *devices[ordinal];
    std::call_once(device.once, [&] {
      if (int code = api.retain(&device.context, device.handle))
        check.fail("use of device " + std::to_string(ordinal) + " by driver '" +
                       ownName + "'",
                   Api::kRetainName, code, &device);
      device.hasContext = true;
    });
    return device;
  }

  [[noreturn]] void failAlloc(Device<Api> &device, size_t bytes,
                              int code) const {
    size_t free = 0, total = device.properties.memoryBytes;
    api.memoryInfo(&free, &total);
    std::string operation =
        "alloc on driver '" + ownName + "': expected " + std::to_string(bytes) +
        " bytes on device " + std::to_string(device.ordinal) + ", " +
        std::to_string(free) + " of " + std::to_string(total) + " are free";
    if (!losesContext(code) && bytes > total)
      throw Error(Status::OutOfMemory,
                  operation + ": " + check.text(api.alloc.name, code));
    check.fail(operation, api.alloc.name, code, &device);
  }

  void checkNeeds(const Device<Api> &device, const Artifact &artifact,
                  const std::string &operation) const {
    const DeviceProperties &facts = device.properties;
    if (artifact.threadsPerBlock == 0 || artifact.code.empty())
      throw Error(
          Status::InvalidArgument,
          operation + ": expected code and a number of threads, found " +
              std::to_string(artifact.code.size()) + " bytes of code and " +
              std::to_string(artifact.threadsPerBlock) + " threads");
    size_t parameters = artifact.args.size() + artifact.tensorMaps.size();
    if (parameters >= kMaxParameters)
      throw Error(Status::InvalidArgument,
                  operation + ": expected fewer than " +
                      std::to_string(kMaxParameters) + " parameters, found " +
                      std::to_string(parameters));
    if (!artifact.tensorMaps.empty()) {
      checkTensorMaps(artifact, operation);
      api.checkHasTensorMaps(operation);
    }
    if (artifact.threadsPerBlock > facts.maxThreads)
      rejectResources(operation, "threads", artifact.threadsPerBlock,
                      facts.maxThreads, "use fewer warps");
    if (artifact.sharedBytes > facts.sharedBytes)
      rejectShared(artifact.sharedBytes, facts, operation);
  }

  [[noreturn]] void rejectShared(uint64_t bytes, const DeviceProperties &facts,
                                 const std::string &operation) const {
    rejectResources(operation, "bytes of shared memory", bytes,
                    facts.sharedBytes, "use smaller tiles or fewer stages");
  }

  [[noreturn]] void failLoad(const Device<Api> &device,
                             const Artifact &artifact,
                             const std::string &operation, int code,
                             const std::string &log) const {
    std::string message =
        operation + ": " + check.text(api.moduleLoad.name, code);
    std::string more = api.explainLoad(artifact, device.properties, code);
    if (!more.empty())
      message += "; " + more;
    if (losesContext(code))
      check.fail(operation, api.moduleLoad.name, code, &device);
    if (!log.empty())
      message += "\n" + log;
    Status status = code == kInvalidPtx ? Status::Internal : statusOf(code);
    throw Error(status, std::move(message));
  }

  /// Finds the kernel's function, makes it ready to launch and reads back what
  /// it takes.
  typename Api::Function findFunction(const Device<Api> &device,
                                      Artifact &artifact,
                                      typename Api::Module module,
                                      const std::string &operation) const {
    typename Api::Function function{};
    if (int code =
            api.moduleFunction(&function, module, artifact.entry.c_str()))
      check.fail(operation + ": no function '" + artifact.entry + "'",
                 api.moduleFunction.name, code, &device);
    auto get = [&](FunctionAttribute which) {
      int value = 0;
      if (int code = api.functionAttribute(
              &value, static_cast<typename Api::FunctionAttribute>(which),
              function))
        check.fail(operation, api.functionAttribute.name, code, &device);
      return value;
    };
    int registers = get(kRegisters);
    api.setUsage(artifact, registers, get(kLocalBytes));
    uint32_t maxThreads = get(kMaxThreadsPerBlock);
    if (artifact.threadsPerBlock > maxThreads)
      rejectResources(operation,
                      "threads of " + std::to_string(registers) + " registers",
                      artifact.threadsPerBlock, maxThreads,
                      "use smaller tiles or fewer warps");
    uint64_t shared = uint64_t(artifact.sharedBytes) + get(kStaticSharedBytes);
    if (shared > device.properties.sharedBytes)
      rejectShared(shared, device.properties, operation);
    const char *call = "";
    if (int code = api.prepare(function, artifact, call))
      check.fail(operation, call, code, &device);
    return function;
  }

  /// Throws the first assertion that failed in a finished launch.
  void takeOutputs(Device<Api> &device, bool isLost) {
    std::optional<Error> first;
    {
      std::lock_guard lock(device.outputMutex);
      for (OutputBuffer<Api> *output : device.outputs) {
        std::optional<Error> failure = output->drain(isLost);
        if (!first)
          first = std::move(failure);
      }
    }
    if (first)
      throw Error(std::move(*first));
  }

  std::string ownName = Api::kDriver;
  Api api;
  Checker<Api> check{api};
  std::vector<std::unique_ptr<Device<Api>>> devices;
};

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_DRIVER_H
