//===- Cuda.cpp - The driver of NVIDIA's GPUs -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads libcuda.so.1, which comes with the kernel's driver; no toolkit is
// needed. An artifact's code is PTX, which the driver compiles, or a cubin.
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace terrazzo::runtime {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and types.
#define CUDA_TYPE(name, type) using name = type;
#define CUDA_CONSTANT(vendor, ours) constexpr int vendor = ours;
#include "CudaSymbols.def"

struct CudaApi {
  using Context = CUcontext;
  using Device = CUdevice;
  using Stream = CUstream;
  using Event = CUevent;
  using Module = CUmodule;
  using Function = CUfunction;
  using Pointer = CUdeviceptr;
  using Attribute = CUdevice_attribute;
  using FunctionAttribute = CUfunction_attribute;
  using CaptureMode = CUstreamCaptureMode;
  using CaptureStatus = CUstreamCaptureStatus;

  static constexpr const char *kDriver = "cuda";
  static constexpr const char *kNoDeviceRemedy =
      "see whether nvidia-smi lists a GPU and CUDA_VISIBLE_DEVICES hides none";
  static constexpr const char *kRetainName = "cuDevicePrimaryCtxRetain";
  static constexpr bool kHasTensorMaps = true;
  static constexpr unsigned kOutputFlags =
      gpu::kHostPortable | gpu::kHostMapped;
  static constexpr int
      kSharedBytes = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      kUnits = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      kWarpSize = CU_DEVICE_ATTRIBUTE_WARP_SIZE,
      kMaxThreads = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      kCacheBytes = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
      kMaxGridX = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
      kMaxGridY = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
      kMaxGridZ = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z;

#define CUDA_CALL(member, symbol, parameters)                                  \
  gpu::Call<CUresult parameters> member{#symbol};
#define CUDA_OPTIONAL_CALL CUDA_CALL
#include "CudaSymbols.def"
  // NOLINTEND(bugprone-macro-parentheses)
  int version = 0;

  explicit CudaApi(std::string_view option);

  std::string nameOf(int code) const {
    const char *name = nullptr;
    errorName(code, &name);
    return name ? name : "a code that the driver does not know";
  }
  std::string textOf(int code) const {
    const char *text = nullptr;
    errorString(code, &text);
    return text ? text : "no text";
  }

  int retain(Context *context, Device device) const {
    return contextRetain(context, device);
  }
  void release(Device device) const { contextRelease(device); }
  int currentDevice() const {
    CUdevice device = 0;
    return contextDevice(&device) == gpu::kSuccess ? device : 0;
  }

  static void *toHost(Pointer memory) {
    return reinterpret_cast<void *>(memory);
  }
  static Pointer toDevice(const void *memory) {
    return reinterpret_cast<Pointer>(memory);
  }
  int copy(void *to, const void *from, size_t bytes, Stream stream) const {
    return copyAsync(toDevice(to), toDevice(from), bytes, stream);
  }
  /// Queues a call of a function of the host.
  int callHost(Stream stream, void (*called)(void *), void *data) const {
    return launchHost(stream, called, data);
  }
  static bool capturesHostCalls() { return true; }
  static int64_t maxBlocks(unsigned) {
    return std::numeric_limits<int64_t>::max();
  }

  template <typename Get>
  std::string chipOf(int ordinal, Get get) const;
  void checkChip(const Artifact &artifact, const DeviceProperties &facts,
                 const std::string &operation) const;
  int load(Module *module, const Artifact &artifact, std::string &log) const;
  std::string explainLoad(const Artifact &artifact,
                          const DeviceProperties &facts, int code) const;
  int prepare(Function function, const Artifact &artifact,
              const char *&call) const;
  void checkHasTensorMaps(const std::string &operation) const;
  int makeTensorMap(const TensorMap &map, const gpu::MappedTensor &tensor,
                    gpu::TensorMapBytes &bytes) const;
  static void setUsage(Artifact &artifact, int registers, int localBytes) {
    artifact.registers = registers;
    artifact.spills = (localBytes + 3) / 4;
  }
};

CudaApi::CudaApi(std::string_view option) {
  constexpr const char *kNames[] = {"libcuda.so.1"};
  gpu::Library library(
      kDriver, option, kNames,
      "install NVIDIA's driver, or give a container access to the GPU");
#define CUDA_CALL(member, symbol, parameters) library.find(member);
#define CUDA_OPTIONAL_CALL(member, symbol, parameters)                         \
  library.findOptional(member);
#include "CudaSymbols.def"
  driverVersion(&version);
}

//===----------------------------------------------------------------------===//
// Architectures
//===----------------------------------------------------------------------===//

/// "sm_90a": the compute capability and what may follow it.
struct Architecture {
  int capability = 0; ///< 90
  char family = 0;    ///< 'a': only this chip; 'f': this family
};

std::optional<Architecture> parseArchitecture(std::string_view text) {
  text = text.substr(0, text.find('+'));
  constexpr std::string_view kPrefix = "sm_";
  if (!text.starts_with(kPrefix))
    return std::nullopt;
  text.remove_prefix(kPrefix.size());
  Architecture found;
  const char *begin = text.data(), *end = begin + text.size();
  auto [next, error] = std::from_chars(begin, end, found.capability);
  if (error != std::errc() || end - next > 1 ||
      (next != end && *next != 'a' && *next != 'f'))
    return std::nullopt;
  if (next != end)
    found.family = *next;
  return found;
}

bool isCubin(const Artifact &artifact) {
  constexpr uint8_t kMagic[4] = {0x7F, 'E', 'L', 'F'};
  return artifact.code.size() > sizeof(kMagic) &&
         std::memcmp(artifact.code.data(), kMagic, sizeof(kMagic)) == 0;
}

/// Whether a device runs code for a chip. PTX is compiled for newer chips, a
/// cubin runs on those of its major version.
bool canRun(const Architecture &device, const Architecture &code,
            bool isBinary) {
  bool isSameMajor = device.capability / 10 == code.capability / 10;
  if (code.family == 'a')
    return device.capability == code.capability;
  if (code.family == 'f' || isBinary)
    return isSameMajor && device.capability >= code.capability;
  return device.capability >= code.capability;
}

/// From 9.0 on with the suffix of code for exactly this chip, which is what may
/// use all its instructions.
template <typename Get>
std::string CudaApi::chipOf(int, Get get) const {
  int capability = 10 * get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                   get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return "sm_" + std::to_string(capability) + (capability >= 90 ? "a" : "");
}

void CudaApi::checkChip(const Artifact &artifact, const DeviceProperties &facts,
                        const std::string &operation) const {
  std::optional<Architecture> code = parseArchitecture(artifact.chip);
  if (!code)
    throw Error(Status::InvalidArgument,
                operation +
                    ": expected a chip such as sm_90 or sm_90a, found '" +
                    artifact.chip + "'");
  std::optional<Architecture> device = parseArchitecture(facts.chip);
  if (!device || !canRun(*device, *code, isCubin(artifact)))
    throw Error(Status::WrongArchitecture,
                operation + ": wrong architecture: the code is " +
                    (isCubin(artifact) ? "a cubin" : "PTX") + " for " +
                    artifact.chip + ", the device '" + facts.name + "' is " +
                    facts.chip + "; compile the kernel for this device");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The text without what follows its end or a line's.
std::string trimmed(const std::vector<char> &log) {
  std::string text(log.data(), strnlen(log.data(), log.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

int CudaApi::load(Module *module, const Artifact &artifact,
                  std::string &log) const {
  if (isCubin(artifact))
    return moduleLoad(module, artifact.code.data(), 0, nullptr, nullptr);
  // PTX is a text with a NUL at its end.
  std::string text(artifact.code.begin(), artifact.code.end());
  std::vector<char> errors(16 << 10), notes(16 << 10);
  // The assembler's own default; 4 takes a third longer for large kernels.
  uintptr_t level = 3;
  if (auto found = artifact.metadata.find("jit.level");
      found != artifact.metadata.end() && found->second.size() == 1)
    level = std::clamp(found->second[0] - '0', 0, 4);
  CUjit_option options[] = {
      CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_LOG_VERBOSE,
      CU_JIT_ERROR_LOG_BUFFER,   CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_INFO_LOG_BUFFER,    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {reinterpret_cast<void *>(level),
                    reinterpret_cast<void *>(uintptr_t(1)),
                    errors.data(),
                    reinterpret_cast<void *>(errors.size()),
                    notes.data(),
                    reinterpret_cast<void *>(notes.size())};
  int code =
      moduleLoad(module, text.c_str(), std::size(options), options, values);
  log = trimmed(code ? errors : notes);
  return code;
}

std::string CudaApi::explainLoad(const Artifact &artifact,
                                 const DeviceProperties &facts,
                                 int code) const {
  if (code == gpu::kUnsupportedPtxVersion) {
    std::string_view text(reinterpret_cast<const char *>(artifact.code.data()),
                          artifact.code.size());
    constexpr std::string_view kDirective = ".version ";
    size_t at = text.find(kDirective);
    std::string found = "of unknown version";
    if (at != std::string_view::npos) {
      text.remove_prefix(at + kDirective.size());
      found = text.substr(0, text.find_first_not_of("0123456789."));
    }
    return "the PTX is " + found + ", the driver is that of CUDA " +
           gpu::cudaVersionText(version) +
           " and knows no PTX that is newer; install a newer driver or compile "
           "for an older PTX version";
  }
  if (code == gpu::kJitCompilerNotFound)
    return "the driver's PTX compiler, libnvidia-ptxjitcompiler.so.1, is "
           "missing: install all of the driver";
  if (gpu::statusOf(code) == Status::WrongArchitecture)
    return "the code is for " + artifact.chip + ", the device is " + facts.chip;
  return "";
}

int CudaApi::prepare(Function function, const Artifact &artifact,
                     const char *&call) const {
  // So much needs no leave.
  constexpr uint32_t kAlways = 48 << 10;
  if (artifact.sharedBytes > kAlways) {
    call = functionSetAttribute.name;
    if (int code = functionSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            int(artifact.sharedBytes)))
      return code;
  }
  // With lazy loading the first launch would load the function, which it may
  // not while its stream is being captured.
  call = functionLoad.name;
  return functionLoad.function ? functionLoad(function) : gpu::kSuccess;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

void CudaApi::checkHasTensorMaps(const std::string &operation) const {
  if (!tensorMapEncode.function)
    throw Error(Status::DriverTooOld,
                operation + ": the kernel copies blocks of tensors, and " +
                    tensorMapEncode.name +
                    " is missing; install a driver of CUDA 12 or newer");
}

/// By what the copy engine does with elements outside of the tensor, the type
/// counts; else its size alone does.
unsigned tensorMapType(const TensorMap &map) {
  if (map.isNanOutside) {
    if (map.dtype == "f16")
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    if (map.dtype == "bf16")
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return map.dtype == "f32" ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                              : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  }
  switch (gpu::elementBytes(map.dtype)) {
  case 1:
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  case 2:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  case 4:
    return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  default:
    return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  }
}

unsigned tensorMapSwizzle(unsigned bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

int CudaApi::makeTensorMap(const TensorMap &map,
                           const gpu::MappedTensor &tensor,
                           gpu::TensorMapBytes &bytes) const {
  size_t rank = map.box.size();
  cuuint64_t extents[gpu::kMaxMapRank], strides[gpu::kMaxMapRank];
  cuuint32_t box[gpu::kMaxMapRank], steps[gpu::kMaxMapRank];
  for (size_t i = 0; i < rank; ++i) {
    extents[i] = static_cast<cuuint64_t>(tensor.extents[i]);
    box[i] = map.box[rank - 1 - i];
    steps[i] = 1;
    if (i == 0)
      continue;
    strides[i - 1] = static_cast<cuuint64_t>(tensor.strides[i - 1]) *
                     gpu::elementBytes(map.dtype);
    // Nothing is a stride away.
    if (tensor.extents[i] == 1)
      strides[i - 1] = 16;
  }
  return tensorMapEncode(
      &bytes, tensorMapType(map), static_cast<cuuint32_t>(rank),
      toHost(tensor.base), extents, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, tensorMapSwizzle(map.swizzleBytes),
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      map.isNanOutside ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                       : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

} // namespace

std::shared_ptr<Driver> openCuda(std::string_view option) {
  return std::make_shared<gpu::GpuDriver<CudaApi>>(option);
}

} // namespace terrazzo::runtime
