//===- HipStub.cpp - A library in the place of libamdhip64.so -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code is and how it is run: HipCode.h.
//===----------------------------------------------------------------------===//

#include "HipCode.h"

using namespace stub;

#define HIP_TYPE(name, type) using name = type;
#include "Runtime/Gpu/HipSymbols.def"

#define HIP_CALL(member, symbol, parameters)                                   \
  extern "C"                                                                   \
      __attribute__((visibility("default"))) hipError_t symbol parameters;
#ifndef TERRAZZO_OLD_HIP_STUB
#define HIP_OPTIONAL_CALL HIP_CALL
#endif
#define HIP_TEXT_CALL(member, symbol, parameters)                              \
  extern "C" __attribute__((visibility("default")))                            \
  const char *symbol parameters;
#include "Runtime/Gpu/HipSymbols.def"

static thread_local int current = 0;
static bool hasContext() { return current == 0; }

#define ENTER(name) STUB_ENTER(name, hasContext())
#define ENTER_ANYWHERE(name) STUB_ENTER(name, true)

hipError_t hipInit(unsigned flags) {
  Gpu &gpu = Gpu::get();
  std::lock_guard lock(gpu.mutex);
  if (flags)
    return gpu.wrong("hipInit", "flags", kInvalidValue);
  gpu.isInitialized = true;
  return gpu.enter("hipInit");
}
hipError_t hipDriverGetVersion(int *version) {
  *version = int(Gpu::get().setting("version", 12040));
  return kSuccess;
}
const char *hipGetErrorName(hipError_t code) {
  switch (code) {
  case kOutOfMemory:
    return "hipErrorOutOfMemory";
  case kNoDevice:
    return "hipErrorNoDevice";
  case 700:
    return "hipErrorIllegalAddress";
  }
  return "hipErrorOther";
}
const char *hipGetErrorString(hipError_t) {
  const char *failure = lastFailure();
  return failure ? failure : "the text of the code";
}

hipError_t hipGetDeviceCount(int *count) {
  ENTER_ANYWHERE(hipGetDeviceCount);
  *count = int(gpu.setting("devices", 1));
  return kSuccess;
}
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  ENTER_ANYWHERE(hipDeviceGet);
  *device = ordinal;
  return ordinal ? kInvalidDevice : kSuccess;
}
hipError_t hipDeviceGetName(char *name, int size, hipDevice_t) {
  ENTER_ANYWHERE(hipDeviceGetName);
  std::strncpy(name, "a GPU of host memory", size);
  return kSuccess;
}
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t) {
  ENTER_ANYWHERE(hipDeviceTotalMem);
  *bytes = kTotalMemory;
  return kSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which,
                                 hipDevice_t) {
  ENTER_ANYWHERE(hipDeviceGetAttribute);
  static const std::map<int, int> values{{19, 1 << 20},
                                         {29, 0x7FFFFFFF},
                                         {30, 65535},
                                         {31, 65535},
                                         {56, kMaxThreads},
                                         {63, 4},
                                         {74, int(sharedBytes())},
                                         {87, waveSize()}};
  auto found = values.find(which);
  if (found == values.end())
    return gpu.wrong(call, "an attribute that is not known", kInvalidValue);
  *value = found->second;
  return kSuccess;
}

/// Writes the name at an offset, as one of the versions of the struct has it.
static hipError_t describe(void *properties, size_t offset) {
  std::memcpy(static_cast<char *>(properties), "a GPU, not a gfx", 17);
  const std::string &chip = chipText();
  std::memcpy(static_cast<char *>(properties) + offset, chip.c_str(),
              chip.size() + 1);
  return kSuccess;
}
extern "C" __attribute__((visibility("default"))) hipError_t
hipGetDevicePropertiesR0600(void *properties, int) {
  ENTER_ANYWHERE(hipGetDevicePropertiesR0600);
  return describe(properties, 1160);
}
extern "C" __attribute__((visibility("default"))) hipError_t
hipGetDeviceProperties(void *properties, int) {
  ENTER_ANYWHERE(hipGetDeviceProperties);
  return describe(properties, 396);
}

hipError_t hipGetDevice(int *device) {
  *device = current;
  return kSuccess;
}
hipError_t hipSetDevice(int device) {
  current = device;
  return kSuccess;
}

hipError_t hipMalloc(void **memory, size_t bytes) {
  ENTER(hipMalloc);
  return gpu.alloc(call, gpu.device, memory, bytes);
}
hipError_t hipFree(void *memory) {
  ENTER(hipFree);
  return gpu.release(call, gpu.device, memory);
}
hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  ENTER(hipMemGetInfo);
  *free = kTotalMemory - gpu.used;
  *total = kTotalMemory;
  return kSuccess;
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream) {
  ENTER(hipMemcpyAsync);
  if (kind != 4)
    return gpu.wrong(call, "kind", kInvalidValue);
  if (int code = gpu.checkStream(call, stream))
    return code;
  return gpu.copy(call, to, from, bytes);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t memory, unsigned char value,
                            size_t bytes, hipStream_t stream) {
  ENTER(hipMemsetD8Async);
  if (int code = gpu.checkStream(call, stream))
    return code;
  return gpu.fill(call, memory, value, bytes);
}
hipError_t hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
  ENTER(hipHostMalloc);
  if (flags != 0x40000003)
    return gpu.wrong(call, "flags", kInvalidValue);
  return gpu.alloc(call, gpu.host, memory, bytes);
}
hipError_t hipHostFree(void *memory) {
  ENTER(hipHostFree);
  return gpu.release(call, gpu.host, memory);
}
hipError_t hipHostGetDevicePointer(void **address, void *memory,
                                   unsigned flags) {
  ENTER(hipHostGetDevicePointer);
  if (flags || !Gpu::isInside(gpu.host, memory, 1))
    return gpu.wrong(call, "memory that is not the host's", kInvalidValue);
  *address = memory;
  return kSuccess;
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  ENTER(hipStreamCreateWithFlags);
  if (flags != 1)
    return gpu.wrong(call, "flags", kInvalidValue);
  *stream = reinterpret_cast<hipStream_t>(Gpu::make<Stream>(gpu.streams));
  return kSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  ENTER(hipStreamDestroy);
  return gpu.destroy<Stream>(call, gpu.streams, stream);
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  ENTER(hipStreamSynchronize);
  gpu.finish();
  return gpu.checkStream(call, stream);
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  ENTER(hipStreamWaitEvent);
  int code = gpu.checkStream(call, stream);
  return code ? code : gpu.checkEvent(call, event);
}
hipError_t hipStreamIsCapturing(hipStream_t stream,
                                hipStreamCaptureStatus *status) {
  ENTER(hipStreamIsCapturing);
  *status = gpu.setting("capturing", 0) != 0;
  return gpu.checkStream(call, stream);
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  static thread_local hipStreamCaptureMode now = 0;
  std::swap(now, *mode);
  return kSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned) {
  ENTER(hipEventCreateWithFlags);
  *event = reinterpret_cast<hipEvent_t>(Gpu::make<Event>(gpu.events));
  return kSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  ENTER(hipEventDestroy);
  return gpu.destroy<Event>(call, gpu.events, event);
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  ENTER(hipEventRecord);
  return gpu.record(call, event, stream);
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  ENTER(hipEventSynchronize);
  gpu.finish();
  return gpu.checkEvent(call, event);
}
hipError_t hipEventQuery(hipEvent_t event) {
  ENTER(hipEventQuery);
  if (int code = gpu.checkEvent(call, event))
    return code;
  return gpu.setting("busy", 0) ? kNotReady : kSuccess;
}
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start,
                               hipEvent_t stop) {
  ENTER(hipEventElapsedTime);
  return gpu.elapsed(call, milliseconds, start, stop);
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  ENTER(hipModuleLoadData);
  auto *made = Gpu::make<Module>(gpu.modules);
  if (!loadCode(gpu, *made, image)) {
    gpu.destroy<Module>(call, gpu.modules, made);
    return kInvalidImage;
  }
  *module = reinterpret_cast<hipModule_t>(made);
  return kSuccess;
}
hipError_t hipModuleUnload(hipModule_t module) {
  ENTER(hipModuleUnload);
  return gpu.unload(call, module);
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *name) {
  ENTER(hipModuleGetFunction);
  return gpu.find(call, reinterpret_cast<void **>(function), module, name);
}
hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which,
                               hipFunction_t function) {
  ENTER(hipFuncGetAttribute);
  return gpu.attribute(call, value, which, function);
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX,
                                 unsigned gridY, unsigned gridZ,
                                 unsigned blockX, unsigned blockY,
                                 unsigned blockZ, unsigned sharedBytes,
                                 hipStream_t stream, void **parameters,
                                 void **extra) {
  ENTER(hipModuleLaunchKernel);
  const unsigned block[] = {blockX, blockY, blockZ};
  // All that a block may have is there without asking.
  if (gpu.functions.count(function))
    reinterpret_cast<Function *>(function)->allowedShared =
        int(stub::sharedBytes());
  return gpu.launch(call, function,
                    {{gridX, gridY, gridZ}, blockX, sharedBytes, parameters},
                    block, stream, extra);
}
#ifndef TERRAZZO_OLD_HIP_STUB
hipError_t hipLaunchHostFunc(hipStream_t stream, void (*function)(void *),
                             void *data) {
  ENTER(hipLaunchHostFunc);
  if (!function)
    return gpu.wrong(call, "no function", kInvalidValue);
  return gpu.launchHost(call, stream, data, [=] { function(data); });
}
#endif
hipError_t hipStreamAddCallback(hipStream_t stream,
                                void (*function)(hipStream_t, hipError_t,
                                                 void *),
                                void *data, unsigned flags) {
  ENTER(hipStreamAddCallback);
  if (!function || flags || gpu.setting("capturing", 0))
    return gpu.wrong(call, "no function, flags or a stream that is captured",
                     kInvalidValue);
  return gpu.launchHost(call, stream, data,
                        [=] { function(stream, kSuccess, data); });
}
