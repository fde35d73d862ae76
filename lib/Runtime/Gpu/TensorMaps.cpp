//===- TensorMaps.cpp - From arguments to described tensors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include <cstring>

namespace terrazzo::runtime::gpu {

/// An integer argument, its sign extended.
static int64_t integerOf(const ArgInfo &arg, const void *value) {
  uint64_t bits = 0;
  std::memcpy(&bits, value, arg.bytes);
  unsigned unused = 64 - 8 * arg.bytes;
  return static_cast<int64_t>(bits << unused) >> unused;
}

static int64_t valueOf(const ArgProduct &product, const Artifact &artifact,
                       void *const *args) {
  auto value = static_cast<uint64_t>(product.factor);
  for (uint32_t arg : product.args)
    value *= static_cast<uint64_t>(integerOf(artifact.args[arg], args[arg]));
  unsigned unused = 64 - 8 * product.bytes;
  return static_cast<int64_t>(value << unused) >> unused;
}

MappedTensor tensorOf(const TensorMap &map, const Artifact &artifact,
                      void *const *args) {
  MappedTensor tensor;
  std::memcpy(&tensor.base, args[map.base], sizeof(tensor.base));
  size_t rank = map.shape.size();
  for (size_t i = 0; i < rank; ++i)
    tensor.extents[i] = valueOf(map.shape[rank - 1 - i], artifact, args);
  for (size_t i = 0; i + 1 < rank; ++i)
    tensor.strides[i] = valueOf(map.strides[rank - 2 - i], artifact, args);
  return tensor;
}

bool isEmpty(const TensorMap &map, const MappedTensor &tensor) {
  for (size_t i = 0; i < map.shape.size(); ++i)
    if (tensor.extents[i] <= 0)
      return true;
  return false;
}

unsigned elementBytes(std::string_view dtype) {
  if (dtype == "f64" || dtype == "i64")
    return 8;
  if (dtype == "f32" || dtype == "i32")
    return 4;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16")
    return 2;
  return dtype == "i8" || dtype.starts_with("f8") ? 1 : 0;
}

void checkTensor(const TensorMap &map, const Artifact &artifact,
                 const MappedTensor &tensor) {
  // CUDA Driver API, cuTensorMapEncodeTiled.
  constexpr int64_t kMostExtent = int64_t(1) << 32;
  constexpr int64_t kMostStride = int64_t(1) << 40;
  constexpr int64_t kAlignment = 16;
  if (isEmpty(map, tensor))
    return;
  auto fail = [&](const std::string &text) {
    throw Error(Status::InvalidArgument,
                "launch of kernel " + kernelText(artifact) +
                    ": the tensor descriptor of argument '" +
                    artifact.args[map.base].name + "': " + text +
                    "; with num_stages=1 there are no such bounds");
  };
  size_t rank = map.shape.size();
  int64_t bytes = elementBytes(map.dtype);
  if (tensor.base % kAlignment)
    fail("expected a base that is a multiple of 16, found " +
         std::to_string(tensor.base));
  for (size_t i = 0; i < rank; ++i) {
    std::string dimension = " of dimension " + std::to_string(rank - 1 - i);
    if (tensor.extents[i] > kMostExtent)
      fail("expected an extent" + dimension + " of at most 2^32, found " +
           std::to_string(tensor.extents[i]));
    // A dimension of one element has no stride.
    if (i == 0 || tensor.extents[i] == 1)
      continue;
    int64_t stride = tensor.strides[i - 1];
    if (stride < 0 || stride >= kMostStride / bytes ||
        stride * bytes % kAlignment != 0)
      fail("expected a stride" + dimension +
           " of 0 to 2^40 bytes that is a multiple of 16 bytes, found " +
           std::to_string(stride) + " elements of " + std::to_string(bytes) +
           " bytes");
  }
}

void checkTensorMaps(const Artifact &artifact, const std::string &operation) {
  auto isProduct = [&](const ArgProduct &product) {
    for (uint32_t arg : product.args)
      if (arg >= artifact.args.size() ||
          artifact.args[arg].kind != ArgInfo::Int ||
          artifact.args[arg].bytes < 1 || artifact.args[arg].bytes > 8)
        return false;
    return product.bytes >= 1 && product.bytes <= 8;
  };
  bool isSound = artifact.tensorMaps.size() <= kMaxTensorMaps;
  for (const TensorMap &map : artifact.tensorMaps) {
    size_t rank = map.shape.size();
    isSound = isSound && rank >= 1 && rank <= kMaxMapRank &&
              map.strides.size() + 1 == rank && map.box.size() == rank &&
              map.base < artifact.args.size() &&
              artifact.args[map.base].kind == ArgInfo::Pointer &&
              elementBytes(map.dtype) != 0;
    for (const ArgProduct &product : map.shape)
      isSound = isSound && isProduct(product);
    for (const ArgProduct &product : map.strides)
      isSound = isSound && isProduct(product);
  }
  if (!isSound)
    throw Error(Status::InvalidArgument,
                operation + ": expected at most " +
                    std::to_string(kMaxTensorMaps) +
                    " tensor maps of 1 to 5 dimensions over the arguments, "
                    "found others");
}

size_t placeOf(const MappedTensor &tensor, size_t count) {
  uint64_t hash = tensor.base;
  auto add = [&](int64_t value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
  };
  for (int64_t extent : tensor.extents)
    add(extent);
  for (int64_t stride : tensor.strides)
    add(stride);
  return (hash >> 32) % count;
}

} // namespace terrazzo::runtime::gpu
