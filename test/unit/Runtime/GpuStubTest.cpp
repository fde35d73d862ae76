//===- GpuStubTest.cpp - What the drivers of GPUs ask of their libraries --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Here the libraries are stubs that check each call and fail on demand.
//===----------------------------------------------------------------------===//

#include "GpuTestKernels.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

namespace {

class GpuStubTest : public DriverConformance {
protected:
  void SetUp() override {
    DriverConformance::SetUp();
    const std::string &name = GetParam().driver;
    isCuda = driver->name() == "cuda";
    library =
        dlopen(name.substr(name.find(':') + 1).c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    find<void()>("stubReset")();
    alive = find<long()>("stubAlive")();
  }
  void TearDown() override {
    const char *violation = find<const char *()>("stubViolation")();
    EXPECT_EQ(violation ? std::string(violation) : "", "");
    find<void()>("stubReset")();
    EXPECT_EQ(find<long()>("stubAlive")(), alive);
    dlclose(library);
  }

  template <typename Type>
  Type *find(const char *name) {
    return reinterpret_cast<Type *>(dlsym(library, name));
  }
  void set(const std::string &key, long value) {
    find<void(const char *, long)>("stubSet")(key.c_str(), value);
  }
  long count(const char *cuda, const char *hip) {
    return find<long(const char *)>("stubCount")(isCuda ? cuda : hip);
  }
  void fail(const char *cuda, const char *hip, int code) {
    set(std::string("fail ") + (isCuda ? cuda : hip), code);
  }
  /// A driver of its own, whose opening the test controls.
  std::shared_ptr<Driver> open() {
    std::string_view path = GetParam().driver;
    path = path.substr(path.find(':') + 1);
    return isCuda ? openCuda(path) : openHip(path);
  }
  std::shared_ptr<Kernel> loadAdd() {
    return driver->load(0, GetParam().add());
  }
  Artifact prints() const { return isCuda ? cudaPrints() : hipStubPrints(); }
  void launchAdd(Kernel &kernel) {
    float *none = nullptr;
    int32_t n = 0;
    launch(kernel, {1, 1, 1}, none, none, none, n);
  }

  bool isCuda = false;
  void *library = nullptr;
  long alive = 0;
};

TEST_P(GpuStubTest, describesTheDevice) {
  DeviceProperties facts = driver->properties(0);
  EXPECT_EQ(facts.name, "a GPU of host memory");
  EXPECT_EQ(facts.chip, isCuda ? "sm_90a" : "gfx942:sramecc+:xnack-");
  EXPECT_EQ(facts.memoryBytes, uint64_t(1) << 30);
  EXPECT_EQ(facts.sharedBytes, 100u << 10);
  EXPECT_EQ(facts.units, 4u);
  EXPECT_EQ(facts.warpSize, isCuda ? 32u : 64u);
  EXPECT_EQ(facts.maxThreads, 1024u);
  EXPECT_EQ(facts.cacheBytes, 1u << 20);
  EXPECT_EQ(facts.driverVersion, 12040u);
}

TEST_P(GpuStubTest, saysThatThereIsNoDevice) {
  set("devices", 0);
  Error error = errorOf([&] { open(); });
  EXPECT_EQ(error.status(), Status::NoDevice);
  EXPECT_NE(error.message().find("no device"), std::string::npos);
  fail("cuInit", "hipInit", 100);
  error = errorOf([&] { open(); });
  EXPECT_EQ(error.status(), Status::NoDevice);
  EXPECT_NE(error.message().find(isCuda ? "cuInit failed with 100 "
                                          "(CUDA_ERROR_NO_DEVICE)"
                                        : "hipInit failed with 100 "
                                          "(hipErrorNoDevice)"),
            std::string::npos)
      << error.message();
}

TEST_P(GpuStubTest, saysHowMuchMemoryThereIs) {
  fail("cuMemAlloc", "hipMalloc", 2);
  Error error = errorOf([&] { driver->alloc(0, 1000); });
  EXPECT_EQ(error.status(), Status::OutOfMemory);
  EXPECT_EQ(error.message(),
            "alloc on driver '" + driver->name() +
                "': expected 1000 bytes on device 0, 1073741824 of 1073741824 "
                "are free: " +
                (isCuda
                     ? "cuMemAlloc_v2 failed with 2 (CUDA_ERROR_OUT_OF_MEMORY)"
                     : "hipMalloc failed with 2 (hipErrorOutOfMemory)") +
                ": the text of the code");
}

TEST_P(GpuStubTest, namesTheKernelsOfALostContext) {
  std::shared_ptr<Kernel> add = loadAdd();
  launchAdd(*add);
  fail("cuStreamSynchronize", "hipStreamSynchronize", 700);
  Error error = errorOf([&] { driver->synchronize(0, nullptr); });
  EXPECT_EQ(error.status(), Status::LaunchFailed);
  EXPECT_NE(error.message().find("Synchronize failed with 700"),
            std::string::npos);
  EXPECT_NE(error.message().find("one of those launched last: 'add'"),
            std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("the context of device 0 is lost"),
            std::string::npos);
  // The next launch says it again.
  error = errorOf([&] { launchAdd(*add); });
  EXPECT_EQ(error.status(), Status::LaunchFailed);
  EXPECT_EQ(error.message().find("launch of kernel 'add': "), 0u);
  set("lost", 0);
}

TEST_P(GpuStubTest, raisesTheAssertionOfALostContext) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 0;
  testing::internal::CaptureStdout();
  launch(*kernel, {1, 1, 1}, failing);
  fail("cuStreamSynchronize", "hipStreamSynchronize", 719);
  Error error = errorOf([&] { driver->synchronize(0, nullptr); });
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  set("lost", 0);
}

TEST_P(GpuStubTest, saysWhatALaunchNeeded) {
  std::shared_ptr<Kernel> add = loadAdd();
  fail("cuLaunchKernel", "hipModuleLaunchKernel", 701);
  Error error = errorOf([&] { launchAdd(*add); });
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_NE(error.message().find("with 64 threads of 24 registers and 0 bytes"),
            std::string::npos)
      << error.message();
}

TEST_P(GpuStubTest, saysWhatAFunctionNeeds) {
  set("function threads", 32);
  Error error = errorOf([&] { loadAdd(); });
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_NE(error.message().find("a block needs 64 threads of 24 registers, "
                                 "there are at most 32"),
            std::string::npos)
      << error.message();
  find<void()>("stubReset")();
  set("static shared", 100 << 10);
  Artifact artifact = GetParam().add();
  artifact.sharedBytes = 16;
  error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_NE(error.message().find("102416 bytes of shared memory"),
            std::string::npos)
      << error.message();
}

TEST_P(GpuStubTest, readsUsageBack) {
  set("registers", 77);
  set("local bytes", 10);
  std::shared_ptr<Kernel> kernel = loadAdd();
  EXPECT_EQ(kernel->artifact().registers, 77u);
  EXPECT_EQ(kernel->artifact().spills, 3u);
}

TEST_P(GpuStubTest, doesNothingElseToLaunch) {
  std::shared_ptr<Kernel> add = loadAdd();
  find<void()>("stubReset")();
  for (int i = 0; i < 3; ++i)
    launchAdd(*add);
  EXPECT_EQ(count("cuLaunchKernel", "hipModuleLaunchKernel"), 3);
  for (auto [cuda, hip] :
       {std::pair{"cuStreamSynchronize", "hipStreamSynchronize"},
        {"cuCtxSynchronize", "hipDeviceSynchronize"},
        {"cuEventRecord", "hipEventRecord"},
        {"cuStreamIsCapturing", "hipStreamIsCapturing"},
        {"cuMemAlloc", "hipMalloc"}})
    EXPECT_EQ(count(cuda, hip), 0) << cuda;
}

TEST_P(GpuStubTest, waitsForNothingWhileAStreamIsCaptured) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 99;
  set("capturing", 1);
  launch(*kernel, {1, 1, 1}, failing);
  launch(*kernel, {1, 1, 1}, failing);
  EXPECT_EQ(count("cuEventRecord", "hipEventRecord"), 0);
  EXPECT_EQ(count("cuEventQuery", "hipEventQuery"), 0);
  driver->poll(0);
  EXPECT_EQ(count("cuCtxSynchronize", "hipDeviceSynchronize"), 0);
  // A graph may run at any time: a wait is for all of the device.
  set("capturing", 0);
  driver->synchronize(0, nullptr);
  EXPECT_EQ(count("cuCtxSynchronize", "hipDeviceSynchronize"), 1);
  // And its code and buffer stay: two objects more are alive.
  kernel.reset();
  alive += 2;
}

TEST_P(GpuStubTest, leavesOutputOfRunningKernelsAlone) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 99;
  set("busy", 1);
  testing::internal::CaptureStdout();
  launch(*kernel, {1, 1, 1}, failing);
  launch(*kernel, {1, 1, 1}, failing);
  driver->poll(0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  set("busy", 0);
  testing::internal::CaptureStdout();
  driver->poll(0);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
}

TEST_P(GpuStubTest, leavesTheCurrentContextAsItWas) {
  if (isCuda) {
    auto *get = find<int(void **)>("cuCtxGetCurrent");
    auto *set = find<int(void *)>("cuCtxSetCurrent");
    int other;
    void *now = nullptr;
    set(&other);
    launchAdd(*loadAdd());
    get(&now);
    EXPECT_EQ(now, &other);
    set(nullptr);
    launchAdd(*loadAdd());
    get(&now);
    EXPECT_EQ(now, nullptr);
  } else {
    auto *get = find<int(int *)>("hipGetDevice");
    auto *set = find<int(int)>("hipSetDevice");
    int now = 0;
    set(5);
    launchAdd(*loadAdd());
    get(&now);
    EXPECT_EQ(now, 5);
    EXPECT_EQ(driver->currentDevice(), 5);
    set(0);
  }
}

TEST_P(GpuStubTest, giveBackAllTheyTook) {
  // TearDown compares what is alive.
  std::shared_ptr<Driver> own = open();
  void *memory = own->alloc(0, 100);
  std::shared_ptr<Kernel> kernel = own->load(0, prints());
  std::unique_ptr<Event> event = own->createEvent(0);
  own->free(0, memory);
}

TEST_P(GpuStubTest, launchesFast) {
  std::shared_ptr<Kernel> add = loadAdd();
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i)
      launchAdd(*add);
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 1000);
  }
  RecordProperty("nanoseconds", int(best));
  std::printf("launch: %.0f ns, most of them the stub's\n", best);
}

TEST_P(GpuStubTest, chipsThatFit) {
  auto statusOf = [&](const char *chip) {
    Artifact artifact = GetParam().add();
    artifact.chip = chip;
    return errorOf([&] { driver->load(0, artifact); }).status();
  };
  if (isCuda) {
    for (const char *chip :
         {"sm_90", "sm_90a", "sm_80", "sm_90f", "sm_90a+ptx80"})
      EXPECT_EQ(statusOf(chip), Status::Ok) << chip;
    for (const char *chip : {"sm_100", "sm_80a", "sm_100f", "sm_80f"})
      EXPECT_EQ(statusOf(chip), Status::WrongArchitecture) << chip;
    for (const char *chip : {"90", "sm_", "sm_90ab", "sm_90x", ""})
      EXPECT_EQ(statusOf(chip), Status::InvalidArgument) << chip;
    return;
  }
  for (const char *chip : {"gfx942", "gfx942:sramecc+", "gfx942:xnack-",
                           "gfx942:sramecc+:xnack-", "gfx9-4-generic"})
    EXPECT_EQ(statusOf(chip), Status::Ok) << chip;
  for (const char *chip : {"gfx90a", "gfx94", "gfx9421", "gfx942:xnack+",
                           "gfx942:sramecc-:xnack-", ""})
    EXPECT_EQ(statusOf(chip), Status::WrongArchitecture) << chip;
}

TEST_P(GpuStubTest, takesTheChipFromTheEnvironment) {
  if (isCuda)
    return;
  setenv("TERRAZZO_HIP_CHIP", "gfx90a", 1);
  std::shared_ptr<Driver> own = open();
  unsetenv("TERRAZZO_HIP_CHIP");
  EXPECT_EQ(own->properties(0).chip, "gfx90a");
}

INSTANTIATE_TEST_SUITE_P(Stub, GpuStubTest,
                         testing::Values(stubCuda(), stubHip()), labelOf);

TEST(GpuLibrary, saysThatItIsMissing) {
  Error error = errorOf([] { openDriver("cuda:/nowhere/libcuda.so.1"); });
  EXPECT_EQ(error.status(), Status::NoLibrary);
  EXPECT_NE(error.message().find("/nowhere/libcuda.so.1"), std::string::npos);
  error = errorOf([] { openDriver("hip:fast"); });
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_EQ(error.message(), "open driver 'hip': expected no option or the "
                             "path of a library, found 'fast'");
}

TEST(GpuLibrary, namesTheFunctionThatItLacks) {
  // A library without any of them.
  Error error =
      errorOf([] { openDriver("hip:" TERRAZZO_GPU_STUBS "/libCudaStub.so"); });
  EXPECT_EQ(error.status(), Status::DriverTooOld);
  EXPECT_NE(error.message().find("has no function 'hipInit'"),
            std::string::npos)
      << error.message();
}

// On machines with and without the vendors' libraries: a driver that opens, or
// an error of one of two kinds with a remedy.
TEST(GpuLibrary, opensOrSaysWhatIsMissing) {
  for (const char *name : {"cuda", "hip"}) {
    Error error = errorOf([&] { openDriver(name); });
    if (error.status() == Status::Ok)
      continue;
    EXPECT_TRUE(error.status() == Status::NoLibrary ||
                error.status() == Status::NoDevice)
        << error.message();
    EXPECT_NE(error.message().find(error.status() == Status::NoLibrary
                                       ? "install "
                                       : "see whether "),
              std::string::npos)
        << error.message();
    std::printf("%s\n", error.what());
  }
}

} // namespace
