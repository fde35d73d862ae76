//===- Hip.cpp - The driver of AMD's GPUs ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads AMD's HIP runtime, of any version from 5.2 on. An artifact's code is a
// code object (hsaco).
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace terrazzo::runtime {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and types.
#define HIP_TYPE(name, type) using name = type;
#define HIP_CONSTANT(vendor, ours) constexpr int vendor = ours;
#include "HipSymbols.def"

struct HipApi {
  using Context = int; ///< a device has one, of its number
  using Device = hipDevice_t;
  using Stream = hipStream_t;
  using Event = hipEvent_t;
  using Module = hipModule_t;
  using Function = hipFunction_t;
  using Pointer = void *;
  using Attribute = hipDeviceAttribute_t;
  using FunctionAttribute = hipFunction_attribute;
  using CaptureMode = hipStreamCaptureMode;
  using CaptureStatus = hipStreamCaptureStatus;

  static constexpr const char *kDriver = "hip";
  static constexpr const char *kNoDeviceRemedy =
      "see whether rocminfo lists a GPU, /dev/kfd may be read and "
      "HIP_VISIBLE_DEVICES hides none";
  static constexpr const char *kRetainName = "hipSetDevice";
  static constexpr bool kHasTensorMaps = false;
  static constexpr unsigned kOutputFlags =
      gpu::kHostPortable | gpu::kHostMapped | hipHostMallocCoherent;
  static constexpr int kSharedBytes = hipDeviceAttributeMaxSharedMemoryPerBlock,
                       kUnits = hipDeviceAttributeMultiprocessorCount,
                       kWarpSize = hipDeviceAttributeWarpSize,
                       kMaxThreads = hipDeviceAttributeMaxThreadsPerBlock,
                       kCacheBytes = hipDeviceAttributeL2CacheSize,
                       kMaxGridX = hipDeviceAttributeMaxGridDimX,
                       kMaxGridY = hipDeviceAttributeMaxGridDimY,
                       kMaxGridZ = hipDeviceAttributeMaxGridDimZ;

#define HIP_CALL(member, symbol, parameters)                                   \
  gpu::Call<hipError_t parameters> member{#symbol};
#define HIP_OPTIONAL_CALL HIP_CALL
#define HIP_TEXT_CALL(member, symbol, parameters)                              \
  gpu::Call<const char *parameters> member{#symbol};
#include "HipSymbols.def"
  // NOLINTEND(bugprone-macro-parentheses)
  /// Fills in a struct whose layout depends on the version: see chipOf.
  gpu::Call<hipError_t(void *properties, int device)> getProperties{
      "hipGetDevicePropertiesR0600"},
      getOldProperties{"hipGetDeviceProperties"};
  int version = 0;

  explicit HipApi(std::string_view option);

  std::string nameOf(int code) const { return orUnknown(errorName(code)); }
  std::string textOf(int code) const { return orUnknown(errorString(code)); }

  static void checkHasTensorMaps(const std::string &operation) {
    throw Error(Status::InvalidArgument,
                operation + ": expected no tensor maps, which are of CUDA");
  }

  int retain(Context *context, Device device) const {
    *context = device;
    return gpu::kSuccess;
  }
  void release(Device) const {}
  int currentDevice() const {
    int device = 0;
    return contextGet(&device) == gpu::kSuccess ? device : 0;
  }

  static void *toHost(Pointer memory) { return memory; }
  static Pointer toDevice(void *memory) { return memory; }
  int copy(void *to, const void *from, size_t bytes, Stream stream) const {
    return copyAsync(to, from, bytes, hipMemcpyDefault, stream);
  }
  int callHost(Stream stream, void (*called)(void *), void *data) const;
  bool capturesHostCalls() const { return launchHost.function != nullptr; }
  /// A launch has fewer than 2^32 threads along an axis.
  static int64_t maxBlocks(unsigned threads) {
    return int64_t(std::numeric_limits<uint32_t>::max()) / threads;
  }

  template <typename Get>
  std::string chipOf(int ordinal, Get get) const;
  void checkChip(const Artifact &artifact, const DeviceProperties &facts,
                 const std::string &operation) const;
  int load(Module *module, const Artifact &artifact, std::string &) const {
    return moduleLoad(module, artifact.code.data());
  }
  std::string explainLoad(const Artifact &artifact,
                          const DeviceProperties &facts, int code) const;
  int prepare(Function, const Artifact &, const char *&) const {
    return gpu::kSuccess;
  }
  /// The compiler read both from the code object already, more exactly.
  static void setUsage(Artifact &artifact, int registers, int localBytes) {
    if (artifact.registers)
      return;
    artifact.registers = registers;
    artifact.spills = (localBytes + 3) / 4;
  }

private:
  static std::string orUnknown(const char *text) {
    return text ? text : "unknown";
  }
};

HipApi::HipApi(std::string_view option) {
  constexpr const char *kNames[] = {"libamdhip64.so", "libamdhip64.so.6",
                                    "libamdhip64.so.7", "libamdhip64.so.5"};
  gpu::Library library(kDriver, option, kNames, "install ROCm's HIP runtime");
#define HIP_CALL(member, symbol, parameters) library.find(member);
#define HIP_TEXT_CALL HIP_CALL
#define HIP_OPTIONAL_CALL(member, symbol, parameters)                          \
  library.findOptional(member);
#include "HipSymbols.def"
  library.findOptional(getProperties);
  library.findOptional(getOldProperties);
  driverVersion(&version);
}

/// The library of HIP 5.2 has only the older function, which no graph takes.
int HipApi::callHost(Stream stream, void (*called)(void *), void *data) const {
  if (launchHost.function)
    return launchHost(stream, called, data);
  struct HostCall {
    void (*called)(void *);
    void *data;
  };
  auto call = std::make_unique<HostCall>(called, data);
  auto run = [](hipStream_t, hipError_t, void *memory) {
    std::unique_ptr<HostCall> call(static_cast<HostCall *>(memory));
    call->called(call->data);
  };
  int code = streamAddCallback(stream, run, call.get(), 0);
  if (code == gpu::kSuccess) {
    // `run` takes it back.
    [[maybe_unused]] HostCall *lent = call.release();
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

/// The first "gfx" with hexadecimal digits in bytes, with the features that may
/// follow: "gfx90a:sramecc+:xnack-".
std::string findChip(std::string_view bytes) {
  constexpr std::string_view kPrefix = "gfx";
  for (size_t at = bytes.find(kPrefix); at != std::string_view::npos;
       at = bytes.find(kPrefix, at + 1)) {
    std::string_view text = bytes.substr(at);
    text = text.substr(0, text.find('\0'));
    size_t digits = kPrefix.size();
    while (digits < text.size() && std::isxdigit(uint8_t(text[digits])))
      ++digits;
    if (digits >= kPrefix.size() + 3 &&
        (digits == text.size() || text[digits] == ':'))
      return std::string(text);
  }
  return "";
}

/// No attribute has the chip's name: only a field of hipDeviceProp_t, which is
/// at other places in each major version (and the plain function keeps the
/// oldest layout). So the struct is not read as one: its bytes are searched for
/// the name, which has a form that nothing else in it has.
/// TERRAZZO_HIP_CHIP says the chip of all devices where that fails.
template <typename Get>
std::string HipApi::chipOf(int ordinal, Get) const {
  if (const char *text = std::getenv("TERRAZZO_HIP_CHIP"); text && *text)
    return text;
  for (const auto *call : {&getProperties, &getOldProperties}) {
    if (!call->function)
      continue;
    // Several times the largest known struct, 1472 bytes.
    std::string bytes(8192, '\0');
    if ((*call)(bytes.data(), ordinal) != gpu::kSuccess)
      continue;
    if (std::string chip = findChip(bytes); !chip.empty())
      return chip;
  }
  throw Error(Status::Unavailable,
              "open driver 'hip': " + std::string(getProperties.name) +
                  " does not tell the chip of device " +
                  std::to_string(ordinal) +
                  "; set TERRAZZO_HIP_CHIP, for example to gfx942");
}

void HipApi::checkChip(const Artifact &artifact, const DeviceProperties &facts,
                       const std::string &operation) const {
  std::string_view code = artifact.chip, device = facts.chip;
  auto nameOf = [](std::string_view chip) {
    return chip.substr(0, chip.find(':'));
  };
  // Code for a whole family names it: "gfx9-4-generic".
  bool isFamily = code.find("generic") != std::string_view::npos;
  bool fits = isFamily || nameOf(code) == nameOf(device);
  // A feature that both name must be set alike.
  for (size_t at = code.find(':'); fits && at != std::string_view::npos;) {
    size_t next = code.find(':', at + 1);
    std::string_view feature = code.substr(at, next - at);
    std::string_view plain = feature.substr(0, feature.size() - 1);
    size_t found = device.find(plain);
    if (found != std::string_view::npos &&
        found + plain.size() < device.size() &&
        device[found + plain.size()] != feature.back())
      fits = false;
    at = next;
  }
  if (!fits)
    throw Error(Status::WrongArchitecture,
                operation + ": wrong architecture: the code is for " +
                    artifact.chip + ", the device '" + facts.name + "' is " +
                    facts.chip + "; compile the kernel for this device");
}

std::string HipApi::explainLoad(const Artifact &artifact,
                                const DeviceProperties &facts, int code) const {
  if (gpu::statusOf(code) == Status::WrongArchitecture)
    return "the code is for " + artifact.chip + ", the device is " + facts.chip;
  return "";
}

} // namespace

std::shared_ptr<Driver> openHip(std::string_view option) {
  return std::make_shared<gpu::GpuDriver<HipApi>>(option);
}

} // namespace terrazzo::runtime
