//===- TensorMaps.h - Tensor maps of a kernel's launches --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map is a value of 128 bytes that follows from a launch's arguments. Making
// one takes the vendor's library longer than a launch takes, so the last ones
// are kept.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_GPU_TENSORMAPS_H
#define TERRAZZO_LIB_RUNTIME_GPU_TENSORMAPS_H

#include "Device.h"

namespace terrazzo::runtime::gpu {

/// Maps of one kernel, and dimensions of one map.
inline constexpr size_t kMaxTensorMaps = 16, kMaxMapRank = 5;

/// What a launch says about a tensor, the last dimension first, as the vendor's
/// library has it. Lengths in elements.
struct MappedTensor {
  uint64_t base = 0;
  std::array<int64_t, kMaxMapRank> extents{};
  /// Of all dimensions but the first one here.
  std::array<int64_t, kMaxMapRank - 1> strides{};

  bool operator==(const MappedTensor &) const = default;
};

/// The tensor of a map in a launch with these arguments.
MappedTensor tensorOf(const TensorMap &map, const Artifact &artifact,
                      void *const *args);
/// Whether a tensor has no element.
bool isEmpty(const TensorMap &map, const MappedTensor &tensor);
/// Throws InvalidArgument for a tensor that no map can hold.
void checkTensor(const TensorMap &map, const Artifact &artifact,
                 const MappedTensor &tensor);
/// Throws InvalidArgument for maps that no launch can make.
void checkTensorMaps(const Artifact &artifact, const std::string &operation);
/// Bytes of an element of this name; 0 for one that there is not.
unsigned elementBytes(std::string_view dtype);
/// Where a tensor's map is kept among `count`.
size_t placeOf(const MappedTensor &tensor, size_t count);

/// The maps of one kernel.
template <typename Api>
class TensorMaps {
public:
  TensorMaps(const Api &api, Device<Api> &device, const Artifact &artifact)
      : api(api), device(device), artifact(artifact),
        kept(artifact.tensorMaps.size()) {
    Checker<Api> check{api};
    const char *operation = "alloc for empty tensors";
    check(operation, &device, api.alloc, &padding, kPaddingBytes);
    typename Api::Stream stream{};
    int code = api.streamCreate(&stream, kStreamNonBlocking);
    if (!code)
      code = fill(stream);
    if (code) {
      api.free(padding);
      check.fail(operation, api.fillAsync.name, code, &device);
    }
  }
  ~TensorMaps() { api.free(padding); }
  TensorMaps(const TensorMaps &) = delete;
  TensorMaps &operator=(const TensorMaps &) = delete;

  size_t size() const { return kept.size(); }

  /// Writes the maps of a launch with these arguments.
  void get(void *const *args, TensorMapBytes *out) {
    for (size_t i = 0; i < kept.size(); ++i) {
      const TensorMap &map = artifact.tensorMaps[i];
      MappedTensor tensor = tensorOf(map, artifact, args);
      // Held for the time of a copy of 128 bytes, or of making them.
      std::lock_guard lock(mutex);
      Kept &place = kept[i][placeOf(tensor, kKept)];
      if (!place.isFull || place.tensor != tensor) {
        place.isFull = false;
        make(map, tensor, place.bytes);
        place.tensor = tensor;
        place.isFull = true;
      }
      out[i] = place.bytes;
    }
  }

private:
  static constexpr size_t kKept = 32;
  static constexpr size_t kPaddingBytes = 256;
  struct Kept {
    TensorMapBytes bytes;
    MappedTensor tensor;
    bool isFull = false;
  };

  int fill(typename Api::Stream stream) {
    // Zeros, and behind them ones, which are NaN in each type.
    int code = api.fillAsync(padding, 0, kPaddingBytes / 2, stream);
    if (!code)
      code = api.fillAsync(padding + kPaddingBytes / 2, 0xFF, kPaddingBytes / 2,
                           stream);
    if (!code)
      code = api.streamSynchronize(stream);
    api.streamDestroy(stream);
    return code;
  }

  /// There is no map of an empty tensor: it becomes one element that is
  /// padding, with padding around it.
  MappedTensor emptyTensor(const TensorMap &map) const {
    MappedTensor tensor;
    tensor.base =
        uint64_t(padding) + (map.isNanOutside ? kPaddingBytes / 2 : 0);
    tensor.extents.fill(1);
    tensor.strides.fill(16);
    return tensor;
  }

  void make(const TensorMap &map, MappedTensor tensor, TensorMapBytes &bytes) {
    checkTensor(map, artifact, tensor);
    if (isEmpty(map, tensor))
      tensor = emptyTensor(map);
    if (int code = api.makeTensorMap(map, tensor, bytes))
      Checker<Api>{api}.fail("launch of kernel " + kernelText(artifact) +
                                 ": the tensor map of argument '" +
                                 artifact.args[map.base].name + "'",
                             api.tensorMapEncode.name, code, &device);
  }

  const Api &api;
  Device<Api> &device;
  const Artifact &artifact;
  std::mutex mutex;
  std::vector<std::array<Kept, kKept>> kept;
  typename Api::Pointer padding{};
};

} // namespace terrazzo::runtime::gpu

#endif // TERRAZZO_LIB_RUNTIME_GPU_TENSORMAPS_H
