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
#include <thread>

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

  /// Waits for the default stream as a program does that knows nothing of the
  /// driver here.
  void waitByTheLibrary() {
    if (!isCuda) {
      EXPECT_EQ(find<int(void *)>("hipStreamSynchronize")(nullptr), 0);
      return;
    }
    auto *makeCurrent = find<int(void *)>("cuCtxSetCurrent");
    void *context = nullptr;
    EXPECT_EQ(find<int(void **, int)>("cuDevicePrimaryCtxRetain")(&context, 0),
              0);
    makeCurrent(context);
    EXPECT_EQ(find<int(void *)>("cuStreamSynchronize")(nullptr), 0);
    makeCurrent(nullptr);
    EXPECT_EQ(find<int(int)>("cuDevicePrimaryCtxRelease_v2")(0), 0);
  }

  bool isCuda = false;
  void *library = nullptr;
  long alive = 0;
  /// What a launch of a program shows.
  const std::string printed = "pid (0, 0, 0) idx (0) value: 0\n"
                              "pid (0, 0, 0) idx (1) value: 1\n"
                              "pid (0, 0, 0) idx (2) value: 2\n"
                              "pid (0, 0, 0) idx (3) value: 3\n";
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
        {"cuEventRecord", "hipEventRecord"},
        {"cuStreamIsCapturing", "hipStreamIsCapturing"},
        {"cuLaunchHostFunc", "hipLaunchHostFunc"},
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
  EXPECT_EQ(count("cuStreamSynchronize", "hipStreamSynchronize"), 0);
  set("capturing", 0);
  // A graph may run at any time, so code and buffer stay: two objects more are
  // alive.
  kernel.reset();
  alive += 2;
}

TEST_P(GpuStubTest, showsPrintsBeforeAnyWaitReturns) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 99;
  set("busy", 1);
  testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i)
    launch(*kernel, {1, 1, 1}, failing);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  testing::internal::CaptureStdout();
  waitByTheLibrary();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            printed + printed + printed);
  // It is shown once.
  testing::internal::CaptureStdout();
  driver->synchronize(0, nullptr);
  kernel.reset();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_P(GpuStubTest, raisesAnAssertionAtTheNextLaunch) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 0, well = 99;
  for (const char *way : {"launch", "poll", "synchronize"}) {
    set("busy", 1);
    testing::internal::CaptureStdout();
    launch(*kernel, {1, 1, 1}, failing);
    driver->poll(0);
    waitByTheLibrary();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), printed) << way;
    Error error = errorOf([&] {
      if (way == std::string("launch"))
        launch(*kernel, {1, 1, 1}, well);
      else if (way == std::string("poll"))
        driver->poll(0);
      else
        driver->synchronize(0, nullptr);
    });
    EXPECT_EQ(error.status(), Status::AssertionFailed) << way;
    // It is raised once, and instead of the launch.
    testing::internal::CaptureStdout();
    driver->synchronize(0, nullptr);
    launch(*kernel, {1, 1, 1}, well);
    driver->synchronize(0, nullptr);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), printed) << way;
  }
}

TEST_P(GpuStubTest, waitsForAFailingLaunchThatStillRuns) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 0;
  testing::internal::CaptureStdout();
  // The first launch has run when the second still waits.
  set("drop host functions", 1);
  launch(*kernel, {1, 1, 1}, failing);
  set("drop host functions", 0);
  set("busy", 1);
  Error error = errorOf([&] { launch(*kernel, {1, 1, 1}, failing); });
  EXPECT_EQ(error.status(), Status::Ok);
  EXPECT_GE(count("cuEventSynchronize", "hipEventSynchronize"), 1);
  // The end of the first was never told, as in a context that is lost.
  fail("cuStreamSynchronize", "hipStreamSynchronize", 719);
  set("busy", 0);
  error = errorOf([&] { driver->synchronize(0, nullptr); });
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed + printed);
  set("lost", 0);
  // A host function might still come, so the buffer stays.
  kernel.reset();
  alive += 1;
}

TEST_P(GpuStubTest, showsWhatGraphsPrintWheneverTheyRun) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t well = 99, failing = 0;
  auto *replay = find<void()>("stubReplay");
  set("capturing", 1);
  launch(*kernel, {1, 1, 1}, well);
  set("capturing", 0);
  set("busy", 1);
  testing::internal::CaptureStdout();
  replay();
  // A launch beside it.
  launch(*kernel, {1, 1, 1}, well);
  replay();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  testing::internal::CaptureStdout();
  waitByTheLibrary();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            printed + printed + printed);

  // Of a graph with an assertion that fails.
  set("busy", 0);
  set("capturing", 1);
  launch(*kernel, {1, 1, 1}, failing);
  set("capturing", 0);
  testing::internal::CaptureStdout();
  replay();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed + printed);
  Error error = errorOf([&] { launch(*kernel, {1, 1, 1}, well); });
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  testing::internal::CaptureStdout();
  replay();
  testing::internal::GetCapturedStdout();
  error = errorOf([&] { driver->synchronize(0, nullptr); });
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  driver->synchronize(0, nullptr);

  // And when the kernel is gone: nobody raises the assertion any more.
  kernel.reset();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  replay();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed + printed);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("too large"),
            std::string::npos);
  alive += 2;
}

TEST_P(GpuStubTest, showsOutputAfterAHostFunctionThatFailed) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t well = 99;
  testing::internal::CaptureStdout();
  fail("cuLaunchHostFunc", "hipLaunchHostFunc", 2);
  Error error = errorOf([&] { launch(*kernel, {1, 1, 1}, well); });
  EXPECT_EQ(error.status(), Status::OutOfMemory);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed);
  // And after a launch that did.
  testing::internal::CaptureStdout();
  fail("cuLaunchKernel", "hipModuleLaunchKernel", 2);
  error = errorOf([&] { launch(*kernel, {1, 1, 1}, well); });
  EXPECT_EQ(error.status(), Status::OutOfMemory);
  launch(*kernel, {1, 1, 1}, well);
  waitByTheLibrary();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed);
}

TEST_P(GpuStubTest, launchesFromManyThreadsShowAll) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  constexpr int kThreads = 4, kLaunches = 200;
  testing::internal::CaptureStdout();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&] {
      uint32_t well = 99;
      for (int i = 0; i < kLaunches; ++i)
        launch(*kernel, {1, 1, 1}, well);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            4 * kThreads * kLaunches);
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
  testing::internal::CaptureStdout();
  set("busy", 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed + printed);
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

// As HIP 5.2: what a graph prints could not be told from a launch that runs.
TEST(GpuLibrary, capturesNoPrintsWithoutHostFunctions) {
  const std::string path = TERRAZZO_GPU_STUBS "/libOldHipStub.so";
  std::shared_ptr<Driver> driver = openHip(path);
  std::shared_ptr<Kernel> kernel = driver->load(0, hipStubPrints());
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  auto *set =
      reinterpret_cast<void (*)(const char *, long)>(dlsym(library, "stubSet"));
  uint32_t well = 99;
  void *args[] = {&well};
  set("capturing", 1);
  Error error = errorOf([&] { kernel->launch({1, 1, 1}, nullptr, args, 1); });
  EXPECT_EQ(error.status(), Status::DriverTooOld);
  EXPECT_EQ(error.message(),
            "launch of kernel 'prints': a kernel that prints or asserts is not "
            "captured into a graph, as hipLaunchHostFunc is missing; install a "
            "newer driver");
  set("capturing", 0);
  testing::internal::CaptureStdout();
  kernel->launch({1, 1, 1}, nullptr, args, 1);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  dlclose(library);
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
