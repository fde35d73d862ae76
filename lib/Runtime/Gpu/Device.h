//===- Device.h - A GPU's context and its errors ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The templates of Device.h, Kernel.h and Driver.h are over `Api`: see
// Driver.h.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_DEVICE_H
#define TERRAZZO_LIB_RUNTIME_GPU_DEVICE_H

#include "Codes.h"
#include "Library.h"

#include <mutex>
#include <vector>

namespace terrazzo::runtime::gpu {

/// Makes a context current while it lives.
template <typename Api>
class Scope {
public:
  using Context = typename Api::Context;
  Scope(const Api &api, Context context) : api(api) {
    isForeign = api.contextGet(&before) != kSuccess || before != context;
    // If this fails, so does what follows, and says why.
    if (isForeign)
      api.contextSet(context);
  }
  ~Scope() {
    if (isForeign)
      api.contextSet(before);
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  const Api &api;
  Context before{};
  bool isForeign;
};

/// Lets this thread make calls that are refused while some stream is being
/// captured into a graph; none of them touches such a stream.
template <typename Api>
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Api &api) : api(api) { api.captureMode(&mode); }
  ~RelaxedCapture() { api.captureMode(&mode); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  const Api &api;
  typename Api::CaptureMode mode =
      static_cast<typename Api::CaptureMode>(kCaptureModeRelaxed);
};

template <typename Api>
class OutputBuffer;

/// A device and what has to be known of it.
template <typename Api>
struct Device {
  int ordinal = 0;
  typename Api::Device handle{};
  DeviceProperties properties;
  Grid gridLimit;
  RecentKernels recent;

  std::once_flag once;
  bool hasContext = false;
  typename Api::Context context{};

  /// Buffers of the kernels that print, and how many may hold something.
  std::mutex outputMutex;
  std::vector<OutputBuffer<Api> *> outputs;
  std::atomic<int> pendingOutputs{0};
};

/// Checks codes and says what they mean.
template <typename Api>
struct Checker {
  const Api &api;

  /// "cuMemAlloc failed with 2 (CUDA_ERROR_OUT_OF_MEMORY): out of memory".
  std::string text(const char *call, int code) const {
    return std::string(call) + " failed with " + std::to_string(code) + " (" +
           api.nameOf(code) + "): " + api.textOf(code);
  }

  [[noreturn]] void fail(const std::string &operation, const char *call,
                         int code, const Device<Api> *device) const {
    std::string message = operation + ": " + text(call, code);
    if (losesContext(code) && device) {
      if (std::string recent = device->recent.text(); !recent.empty())
        message +=
            "; a kernel broke off, one of those launched last: " + recent;
      message += "; the context of device " + std::to_string(device->ordinal) +
                 " is lost: this process cannot use the device any more";
    }
    throw Error(statusOf(code), std::move(message));
  }

  /// Makes a call; `operation` begins the message if it fails.
  template <typename Type, typename... Arguments>
  void operator()(const char *operation, const Device<Api> *device,
                  const Call<Type> &call, Arguments... arguments) const {
    if (int code = call(arguments...))
      fail(std::string(operation) + " on driver '" + Api::kDriver + "'",
           call.name, code, device);
  }
};

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_DEVICE_H
