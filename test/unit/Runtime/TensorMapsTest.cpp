//===- TensorMapsTest.cpp - Tensor maps that launches make ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stub of CUDA checks what it is asked to encode as the vendor's
// documentation says, and its kernel `first` gives back the map it was passed.
//===----------------------------------------------------------------------===//

#include "GpuStub.h"
#include "GpuTestKernels.h"

#include <dlfcn.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

namespace {

constexpr std::string_view kPtx =
    ".version 8.0\n.target sm_90\n"
    ".entry first(.param .u64 x, .param .u32 rows, .param .u64 columns, "
    ".param .u32 stride, .param .u64 out, .param .align 64 .b8 map[128]) {}\n";

/// Blocks of 8 x 64 elements of x[rows, columns], rows 4 * stride apart.
Artifact firstArtifact() {
  Artifact artifact;
  artifact.target = "cuda";
  artifact.chip = "sm_90";
  artifact.entry = "first";
  artifact.code.assign(kPtx.begin(), kPtx.end());
  artifact.threadsPerBlock = 64;
  artifact.metadata = {{"name", "first"}, {"file", "k.py"}, {"line", "2"}};
  artifact.args = {{ArgInfo::Pointer, 8, "x", "f16", false},
                   {ArgInfo::Int, 4, "rows", "i32", false},
                   {ArgInfo::Int, 8, "columns", "i64", false},
                   {ArgInfo::Int, 4, "stride", "i32", false},
                   {ArgInfo::Pointer, 8, "out", "i64", true}};
  TensorMap map;
  map.base = 0;
  map.dtype = "f16";
  map.shape = {{1, {1}, 8}, {1, {2}, 8}};
  map.strides = {{4, {3}, 4}};
  map.box = {8, 64};
  map.swizzleBytes = 128;
  artifact.tensorMaps = {map};
  return artifact;
}

class TensorMapsTest : public testing::Test {
protected:
  void SetUp() override {
    driver = openCuda(TERRAZZO_GPU_STUBS "/libCudaStub.so");
    library =
        dlopen(TERRAZZO_GPU_STUBS "/libCudaStub.so", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    find<void()>("stubReset")();
    alive = find<long()>("stubAlive")();
    x = static_cast<uint16_t *>(driver->alloc(0, 1 << 16));
    out = static_cast<uint64_t *>(driver->alloc(0, 256));
  }
  void TearDown() override {
    driver->free(0, x);
    driver->free(0, out);
    const char *violation = find<const char *()>("stubViolation")();
    EXPECT_EQ(violation ? std::string(violation) : "", "");
    EXPECT_EQ(find<long()>("stubAlive")(), alive);
    dlclose(library);
  }
  template <typename Type>
  Type *find(const char *name) {
    return reinterpret_cast<Type *>(dlsym(library, name));
  }
  long encodings() {
    return find<long(const char *)>("stubCount")("cuTensorMapEncodeTiled");
  }
  /// What the kernel finds in its map.
  stub::TensorMapWords run(Kernel &kernel, void *base, int32_t rows,
                           int64_t columns, int32_t stride) {
    void *args[] = {&base, &rows, &columns, &stride, &out};
    kernel.launch({1, 1, 1}, nullptr, args, 5);
    stub::TensorMapWords words;
    std::memcpy(&words, out, sizeof(words));
    return words;
  }

  std::shared_ptr<Driver> driver;
  void *library = nullptr;
  long alive = 0;
  uint16_t *x = nullptr;
  uint64_t *out = nullptr;
};

TEST_F(TensorMapsTest, followFromTheArguments) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  stub::TensorMapWords words = run(*kernel, x, 5, 100, 32);
  EXPECT_EQ(words.base, reinterpret_cast<uintptr_t>(x));
  EXPECT_EQ(words.extents[0], 100u);
  EXPECT_EQ(words.extents[1], 5u);
  EXPECT_EQ(words.strideBytes[0], 256u);
  EXPECT_EQ(words.box[0], 64u);
  EXPECT_EQ(words.box[1], 8u);
  // 2-byte integers, 2 dimensions, 128 bytes, zeros outside.
  EXPECT_EQ(words.kind, 1u | 2u << 8 | 3u << 16);
}

TEST_F(TensorMapsTest, areMadeOnceForTheSameTensor) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  for (int32_t rows : {5, 5, 6, 5, 6})
    EXPECT_EQ(run(*kernel, x, rows, 100, 32).extents[1], unsigned(rows));
  EXPECT_EQ(encodings(), 2);
  run(*kernel, x + 8, 5, 100, 32);
  EXPECT_EQ(encodings(), 3);
}

// What an i32 product would be in the kernel.
TEST_F(TensorMapsTest, wrapAsTheKernelDoes) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  EXPECT_EQ(run(*kernel, x, 5, 100, (1 << 30) + 32).strideBytes[0], 256u);
}

// There is no map of it, so it becomes an element of padding.
TEST_F(TensorMapsTest, ofEmptyTensorsReadPadding) {
  for (bool isNan : {false, true}) {
    Artifact artifact = firstArtifact();
    artifact.tensorMaps[0].isNanOutside = isNan;
    std::shared_ptr<Kernel> kernel = driver->load(0, artifact);
    for (auto [rows, columns] : {std::pair(0, 100), std::pair(5, -1)}) {
      stub::TensorMapWords words = run(*kernel, nullptr, rows, columns, 7);
      EXPECT_EQ(words.extents[0], 1u);
      EXPECT_EQ(words.extents[1], 1u);
      EXPECT_EQ(static_cast<uint32_t>(out[16]), isNan ? ~uint32_t(0) : 0u);
      EXPECT_EQ(words.kind >> 24, isNan ? 1u : 0u);
    }
  }
}

TEST_F(TensorMapsTest, ofOneRowNeedNoStride) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  EXPECT_EQ(run(*kernel, x, 1, 100, 1).strideBytes[0], 16u);
}

TEST_F(TensorMapsTest, refuseWhatTheyCannotHold) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  auto fails = [&](void *base, int64_t columns, int32_t stride) {
    Error error = errorOf([&] { run(*kernel, base, 5, columns, stride); });
    EXPECT_EQ(error.status(), Status::InvalidArgument);
    std::string start = "launch of kernel 'first' (k.py:2): the tensor "
                        "descriptor of argument 'x': expected ";
    std::string end = "; with num_stages=1 there are no such bounds";
    std::string text = error.message();
    EXPECT_TRUE(text.starts_with(start) && text.ends_with(end)) << text;
    return text.substr(start.size(), text.size() - start.size() - end.size());
  };
  auto *odd = reinterpret_cast<void *>(uintptr_t(24));
  EXPECT_EQ(fails(odd, 100, 32), "a base that is a multiple of 16, found 24");
  EXPECT_EQ(fails(x, (int64_t(1) << 32) + 1, 32),
            "an extent of dimension 1 of at most 2^32, found 4294967297");
  for (int32_t stride : {-32, 1})
    EXPECT_EQ(
        fails(x, 100, stride),
        "a stride of dimension 0 of 0 to 2^40 bytes that is a multiple of "
        "16 bytes, found " +
            std::to_string(4 * stride) + " elements of 2 bytes");
  EXPECT_EQ(encodings(), 0);
}

TEST_F(TensorMapsTest, sayWhenTheLibraryFails) {
  std::shared_ptr<Kernel> kernel = driver->load(0, firstArtifact());
  find<void(const char *, long)>("stubSet")("fail cuTensorMapEncodeTiled", 1);
  Error error = errorOf([&] { run(*kernel, x, 5, 100, 32); });
  EXPECT_NE(error.message().find("the tensor map of argument 'x'"),
            std::string::npos)
      << error.message();
  // What failed was not kept.
  EXPECT_EQ(run(*kernel, x, 5, 100, 32).extents[0], 100u);
}

TEST_F(TensorMapsTest, refuseArtifactsThatAreNone) {
  auto fails = [&](auto change) {
    Artifact artifact = firstArtifact();
    change(artifact.tensorMaps[0]);
    Error error = errorOf([&] { driver->load(0, artifact); });
    EXPECT_EQ(error.status(), Status::InvalidArgument) << error.message();
  };
  fails([](TensorMap &map) { map.base = 1; });
  fails([](TensorMap &map) { map.dtype = "f128"; });
  fails([](TensorMap &map) { map.box.pop_back(); });
  fails([](TensorMap &map) { map.strides.clear(); });
  fails([](TensorMap &map) { map.shape[0].args = {7}; });
  fails([](TensorMap &map) { map.strides[0].bytes = 9; });
  Artifact hip = firstArtifact();
  hip.target = "hip";
  hip.chip = "gfx942";
  Error error = errorOf(
      [&] { openHip(TERRAZZO_GPU_STUBS "/libHipStub.so")->load(0, hip); });
  EXPECT_NE(error.message().find("expected no tensor maps"), std::string::npos)
      << error.message();
}

} // namespace
