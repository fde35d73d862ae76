//===- CudaStub.cpp - A library in the place of libcuda.so.1 --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of PTX what it needs: the version, the entries and their parameters.
//===----------------------------------------------------------------------===//

#include "GpuStub.h"

#include "Runtime/Gpu/Codes.h"

using namespace stub;

#define CUDA_TYPE(name, type) using name = type;
#include "Runtime/Gpu/CudaSymbols.def"

#define CUDA_CALL(member, symbol, parameters)                                  \
  extern "C" __attribute__((visibility("default"))) CUresult symbol parameters;
#define CUDA_OPTIONAL_CALL CUDA_CALL
#include "Runtime/Gpu/CudaSymbols.def"

static int primary, retained;
static thread_local CUcontext current;

static CUcontext theContext() { return reinterpret_cast<CUcontext>(&primary); }
static bool hasContext() { return current == theContext() && retained > 0; }
static void *pointer(CUdeviceptr memory) {
  return reinterpret_cast<void *>(memory);
}

#define ENTER(name) STUB_ENTER(name, hasContext())
#define ENTER_ANYWHERE(name) STUB_ENTER(name, true)

CUresult cuInit(unsigned flags) {
  Gpu &gpu = Gpu::get();
  std::lock_guard lock(gpu.mutex);
  if (flags)
    return gpu.wrong("cuInit", "flags", kInvalidValue);
  gpu.isInitialized = true;
  return gpu.enter("cuInit");
}
CUresult cuDriverGetVersion(int *version) {
  *version = int(Gpu::get().setting("version", 12040));
  return kSuccess;
}
CUresult cuGetErrorName(CUresult code, const char **name) {
  static const std::map<int, const char *> names{
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return *name ? kSuccess : kInvalidValue;
}
CUresult cuGetErrorString(CUresult code, const char **text) {
  const char *name;
  int result = cuGetErrorName(code, &name);
  *text = result ? nullptr : "the text of the code";
  return result;
}

CUresult cuDeviceGetCount(int *count) {
  ENTER_ANYWHERE(cuDeviceGetCount);
  *count = int(gpu.setting("devices", 1));
  return kSuccess;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER_ANYWHERE(cuDeviceGet);
  *device = ordinal;
  return ordinal ? kInvalidDevice : kSuccess;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  ENTER_ANYWHERE(cuDeviceGetName);
  std::strncpy(name, "a GPU of host memory", size);
  return kSuccess;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  ENTER_ANYWHERE(cuDeviceTotalMem);
  *bytes = kTotalMemory;
  return kSuccess;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice) {
  ENTER_ANYWHERE(cuDeviceGetAttribute);
  static const std::map<int, int> values{
      {1, kMaxThreads}, {5, 0x7FFFFFFF}, {6, 65535},    {7, 65535},
      {10, 32},         {16, 4},         {38, 1 << 20}, {97, kMaxShared}};
  if (which == 75 || which == 76) {
    long capability = gpu.setting("capability", 90);
    *value = int(which == 75 ? capability / 10 : capability % 10);
    return kSuccess;
  }
  auto found = values.find(which);
  if (found == values.end())
    return gpu.wrong(call, "an attribute that is not known", kInvalidValue);
  *value = found->second;
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  ENTER_ANYWHERE(cuDevicePrimaryCtxRetain);
  ++retained;
  *context = theContext();
  return kSuccess;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  ENTER_ANYWHERE(cuDevicePrimaryCtxRelease);
  return retained-- > 0 ? kSuccess
                        : gpu.wrong(call, "not retained", kInvalidContext);
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = current;
  return kSuccess;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return kSuccess;
}
CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER(cuCtxGetDevice);
  *device = 0;
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
  ENTER(cuMemAlloc);
  return gpu.alloc(call, gpu.device, reinterpret_cast<void **>(memory), bytes);
}
CUresult cuMemFree_v2(CUdeviceptr memory) {
  ENTER(cuMemFree);
  return gpu.release(call, gpu.device, pointer(memory));
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER(cuMemGetInfo);
  *free = kTotalMemory - gpu.used;
  *total = kTotalMemory;
  return kSuccess;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  ENTER(cuMemcpyAsync);
  if (int code = gpu.checkStream(call, stream))
    return code;
  return gpu.copy(call, pointer(to), pointer(from), bytes);
}
CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes,
                         CUstream stream) {
  ENTER(cuMemsetD8Async);
  if (int code = gpu.checkStream(call, stream))
    return code;
  return gpu.fill(call, pointer(memory), value, bytes);
}
CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  ENTER(cuMemHostAlloc);
  if (flags != 3)
    return gpu.wrong(call, "flags", kInvalidValue);
  return gpu.alloc(call, gpu.host, memory, bytes);
}
CUresult cuMemFreeHost(void *memory) {
  ENTER(cuMemFreeHost);
  return gpu.release(call, gpu.host, memory);
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory,
                                      unsigned flags) {
  ENTER(cuMemHostGetDevicePointer);
  if (flags || !Gpu::isInside(gpu.host, memory, 1))
    return gpu.wrong(call, "memory that is not the host's", kInvalidValue);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return kSuccess;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER(cuStreamCreate);
  if (flags != 1)
    return gpu.wrong(call, "flags", kInvalidValue);
  *stream = reinterpret_cast<CUstream>(Gpu::make<Stream>(gpu.streams));
  return kSuccess;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER(cuStreamDestroy);
  return gpu.destroy<Stream>(call, gpu.streams, stream);
}
CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(cuStreamSynchronize);
  gpu.finish();
  return gpu.checkStream(call, stream);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  ENTER(cuStreamWaitEvent);
  int code = gpu.checkStream(call, stream);
  return code ? code : gpu.checkEvent(call, event);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  ENTER(cuStreamIsCapturing);
  *status = gpu.setting("capturing", 0) != 0;
  return gpu.checkStream(call, stream);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  static thread_local CUstreamCaptureMode now = 0;
  std::swap(now, *mode);
  return kSuccess;
}

CUresult cuEventCreate(CUevent *event, unsigned) {
  ENTER(cuEventCreate);
  *event = reinterpret_cast<CUevent>(Gpu::make<Event>(gpu.events));
  return kSuccess;
}
CUresult cuEventDestroy_v2(CUevent event) {
  ENTER(cuEventDestroy);
  return gpu.destroy<Event>(call, gpu.events, event);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(cuEventRecord);
  return gpu.record(call, event, stream);
}
CUresult cuEventSynchronize(CUevent event) {
  ENTER(cuEventSynchronize);
  gpu.finish();
  return gpu.checkEvent(call, event);
}
CUresult cuEventQuery(CUevent event) {
  ENTER(cuEventQuery);
  if (int code = gpu.checkEvent(call, event))
    return code;
  return gpu.setting("busy", 0) ? kNotReady : kSuccess;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
  ENTER(cuEventElapsedTime);
  return gpu.elapsed(call, milliseconds, start, stop);
}

/// The entries of a PTX text; false: it has none.
static bool readPtx(Gpu &gpu, Module &module, const std::string &text) {
  for (size_t at = text.find(".entry "); at != std::string::npos;
       at = text.find(".entry ", at + 1)) {
    size_t open = text.find('(', at), close = text.find(')', at);
    if (close == std::string::npos)
      return false;
    std::string name = text.substr(at + 7, open - at - 7);
    std::vector<size_t> sizes;
    for (size_t p = text.find(".param .", open); p < close;
         p = text.find(".param .", p + 1)) {
      // ".u32 n", or ".align 64 .b8 map[128]".
      bool isArray = text.compare(p + 8, 5, "align") == 0;
      sizes.push_back(isArray ? std::stoul(text.substr(text.find('[', p) + 1))
                              : std::stoul(text.substr(p + 9)) / 8);
    }
    gpu.addFunction(module, name, sizes, functionNamed(name));
  }
  return !module.functions.empty();
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  ENTER(cuModuleLoadDataEx);
  std::map<int, void *> given;
  for (unsigned i = 0; i < count; ++i)
    given[options[i]] = values[i];
  // What the other buffers are is checked by what is written to them.
  if (given.size() != 6 || reinterpret_cast<uintptr_t>(given[7]) > 4)
    return gpu.wrong(call, "options", kInvalidValue);
  auto write = [&](int buffer, int size, const char *text) {
    std::strncpy(static_cast<char *>(given[buffer]), text,
                 reinterpret_cast<size_t>(given[size]));
  };
  std::string text = static_cast<const char *>(image);
  size_t at = text.find(".version ");
  if (at != std::string::npos &&
      std::stod(text.substr(at + 9)) > double(gpu.setting("ptx", 84)) / 10)
    return kUnsupportedPtxVersion;
  auto *made = Gpu::make<Module>(gpu.modules);
  if (!readPtx(gpu, *made, text)) {
    write(5, 6, "ptxas application ptx input, line 1; fatal: no entry\n");
    gpu.unload(call, made);
    return kInvalidPtx;
  }
  write(3, 4, "ptxas info: compiled\n");
  *module = reinterpret_cast<CUmodule>(made);
  return kSuccess;
}
CUresult cuModuleUnload(CUmodule module) {
  ENTER(cuModuleUnload);
  return gpu.unload(call, module);
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  ENTER(cuModuleGetFunction);
  return gpu.find(call, reinterpret_cast<void **>(function), module, name);
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which,
                            CUfunction function) {
  ENTER(cuFuncGetAttribute);
  return gpu.attribute(call, value, which, function);
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value) {
  ENTER(cuFuncSetAttribute);
  if (!gpu.functions.count(function) || which != 8 || value < 0 ||
      unsigned(value) > kMaxShared)
    return gpu.wrong(call, "an attribute or a value", kInvalidValue);
  reinterpret_cast<Function *>(function)->allowedShared = value;
  return kSuccess;
}
CUresult cuFuncLoad(CUfunction function) {
  ENTER(cuFuncLoad);
  return gpu.functions.count(function) ? kSuccess : kInvalidHandle;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **parameters, void **extra) {
  ENTER(cuLaunchKernel);
  const unsigned block[] = {blockX, blockY, blockZ};
  return gpu.launch(call, function,
                    {{gridX, gridY, gridZ}, blockX, sharedBytes, parameters},
                    block, stream, extra);
}
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *),
                          void *data) {
  ENTER(cuLaunchHostFunc);
  if (!function)
    return gpu.wrong(call, "no function", kInvalidValue);
  return gpu.launchHost(call, stream, data, [=] { function(data); });
}

/// A map of the stub: the words are those of TensorMapWords.
CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
    const cuuint64_t *extents, const cuuint64_t *strideBytes,
    const cuuint32_t *box, const cuuint32_t *steps,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  ENTER(cuTensorMapEncodeTiled);
  bool isSound = rank >= 1 && rank <= 5 && type <= 12 && interleave == 0 &&
                 swizzle <= 3 && promotion <= 3 && fill <= 1 &&
                 reinterpret_cast<uintptr_t>(map) % 64 == 0 &&
                 reinterpret_cast<uintptr_t>(base) % 16 == 0;
  for (unsigned i = 0; isSound && i < rank; ++i) {
    isSound = extents[i] >= 1 && extents[i] <= uint64_t(1) << 32 &&
              box[i] >= 1 && box[i] <= 256 && steps[i] == 1;
    if (isSound && i + 1 < rank)
      isSound = strideBytes[i] % 16 == 0 && strideBytes[i] < uint64_t(1) << 40;
  }
  if (!isSound)
    return gpu.wrong(call, "a tensor that has no map", kInvalidValue);
  TensorMapWords words{};
  words.base = reinterpret_cast<uintptr_t>(base);
  words.kind = type | rank << 8 | swizzle << 16 | fill << 24;
  for (unsigned i = 0; i < rank; ++i) {
    words.extents[i] = extents[i];
    words.box[i] = box[i];
    if (i + 1 < rank)
      words.strideBytes[i] = strideBytes[i];
  }
  static_assert(sizeof(words) == sizeof(*map));
  std::memcpy(map, &words, sizeof(words));
  return kSuccess;
}
