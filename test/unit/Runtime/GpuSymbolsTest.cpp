//===- GpuSymbolsTest.cpp - The symbol tables and the vendors' headers ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares each function, type and constant of CudaSymbols.def and
// HipSymbols.def with the vendor's header, when this is compiled. Only where
// the build found the headers; which it found, the tests say.
//===----------------------------------------------------------------------===//

#include "Runtime/Gpu/Codes.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <type_traits>

namespace gpu = terrazzo::runtime::gpu;

#ifdef TERRAZZO_CUDA_HEADER
// With the functions of older versions beside those that macros name.
#define __CUDA_API_VERSION_INTERNAL 1
#include TERRAZZO_CUDA_HEADER

#define CUDA_TYPE(name, type)                                                  \
  static_assert(sizeof(name) == sizeof(type) &&                                \
                std::is_pointer_v<name> == std::is_pointer_v<type>);
#define CUDA_CALL(member, symbol, parameters)                                  \
  static_assert(static_cast<CUresult(*) parameters>(&::symbol) != nullptr);
#define CUDA_OPTIONAL_CALL CUDA_CALL
#define CUDA_CONSTANT(vendor, ours) static_assert(int(vendor) == int(ours));
#include "Runtime/Gpu/CudaSymbols.def"

TEST(GpuSymbols, cudaHeader) {
  RecordProperty("CUDA_VERSION", CUDA_VERSION);
  EXPECT_GE(CUDA_VERSION, 11000);
}
#endif

#ifdef TERRAZZO_HIP_HEADER
#define __HIP_PLATFORM_AMD__ 1
#include TERRAZZO_HIP_HEADER

#define HIP_TYPE(name, type)                                                   \
  static_assert(sizeof(name) == sizeof(type) &&                                \
                std::is_pointer_v<name> == std::is_pointer_v<type>);
#define HIP_CALL(member, symbol, parameters)                                   \
  static_assert(static_cast<hipError_t(*) parameters>(&::symbol) != nullptr);
#define HIP_OPTIONAL_CALL HIP_CALL
#define HIP_TEXT_CALL(member, symbol, parameters)                              \
  static_assert(static_cast<const char *(*)parameters>(&::symbol) != nullptr);
#define HIP_CONSTANT(vendor, ours) static_assert(int(vendor) == int(ours));
#include "Runtime/Gpu/HipSymbols.def"

TEST(GpuSymbols, hipHeader) {
  RecordProperty("HIP_VERSION", HIP_VERSION);
  EXPECT_GE(HIP_VERSION, 50200000);
}
#endif
