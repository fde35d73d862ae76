//===- GpuTest.cpp - Output, errors and launches of the drivers of GPUs ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTestKernels.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

namespace {

/// All drivers of GPUs, the real one among them.
class GpuTest : public DriverConformance {
protected:
  Artifact prints() const {
    return driver->name() == "cuda" ? cudaPrints() : hipStubPrints();
  }
};

TEST_P(GpuTest, showsWhatKernelsPrint) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 99;
  testing::internal::CaptureStdout();
  launch(*kernel, {1, 1, 1}, failing);
  launch(*kernel, {1, 1, 1}, failing);
  driver->synchronize(0, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "pid (0, 0, 0) idx (0) value: 0\n"
            "pid (0, 0, 0) idx (1) value: 1\n"
            "pid (0, 0, 0) idx (2) value: 2\n"
            "pid (0, 0, 0) idx (3) value: 3\n"
            "pid (0, 0, 0) idx (0) value: 0\n"
            "pid (0, 0, 0) idx (1) value: 1\n"
            "pid (0, 0, 0) idx (2) value: 2\n"
            "pid (0, 0, 0) idx (3) value: 3\n");
}

TEST_P(GpuTest, showsItOnceByPollToo) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 99;
  testing::internal::CaptureStdout();
  launch(*kernel, {1, 1, 1}, failing);
  std::unique_ptr<Event> event = driver->createEvent(0);
  event->record(nullptr);
  event->synchronize();
  driver->poll(0);
  driver->poll(0);
  driver->synchronize(0, nullptr);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_P(GpuTest, showsItWhenTheKernelGoes) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 1;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  launch(*kernel, {2, 1, 1}, failing);
  kernel.reset();
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("too large"),
            std::string::npos);
}

TEST_P(GpuTest, raisesAssertions) {
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  uint32_t failing = 1;
  testing::internal::CaptureStdout();
  launch(*kernel, {2, 1, 1}, failing);
  Error error = errorOf([&] { driver->synchronize(0, nullptr); });
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  EXPECT_EQ(error.message(), "launch of kernel 'prints': device assertion "
                             "failed at k.py:4: too large (program 1, 0, 0)");
  ASSERT_NE(error.assertion(), nullptr);
  EXPECT_EQ(error.assertion()->line, 4u);
  EXPECT_EQ(error.assertion()->pid[0], 1);
  // It was raised, and the device is well.
  driver->synchronize(0, nullptr);
}

TEST_P(GpuTest, saysThatOutputWasLost) {
  setenv("TERRAZZO_PRINT_BUFFER", "4096", 1);
  std::shared_ptr<Kernel> kernel = driver->load(0, prints());
  unsetenv("TERRAZZO_PRINT_BUFFER");
  uint32_t failing = 999;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  launch(*kernel, {100, 1, 1}, failing);
  driver->synchronize(0, nullptr);
  std::string text = testing::internal::GetCapturedStdout();
  // 1024 words, 8 of them the head's, 10 a record: 101 records of 2 elements.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 202);
  std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("3960 bytes of what kernel 'prints' printed"),
            std::string::npos)
      << warning;
  // The buffer works again.
  testing::internal::CaptureStdout();
  launch(*kernel, {1, 1, 1}, failing);
  driver->synchronize(0, nullptr);
  text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_P(GpuTest, refusesASettingThatIsNoSize) {
  setenv("TERRAZZO_PRINT_BUFFER", "lots", 1);
  Error error = errorOf([&] { driver->load(0, prints()); });
  unsetenv("TERRAZZO_PRINT_BUFFER");
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_EQ(error.message(), "TERRAZZO_PRINT_BUFFER: expected a number of "
                             "bytes from 4096 to 1073741824, found 'lots'");
}

TEST_P(GpuTest, tellsRegistersOfKernels) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  EXPECT_GT(kernel->artifact().registers, 0u);
  EXPECT_EQ(kernel->artifact().spills, 0u);
  EXPECT_NE(kernel->handle(), nullptr);
}

TEST_P(GpuTest, launchesOnAStreamOfItsOwn) {
  void *stream = driver->createStream(0);
  EXPECT_NE(stream, nullptr);
  float *x = upload(std::vector<float>{1, 2}),
        *out = upload(std::vector<float>(2));
  int32_t n = 2;
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  void *args[] = {&x, &x, &out, &n};
  kernel->launch({1, 1, 1}, stream, args, 4);
  driver->synchronize(0, stream);
  EXPECT_EQ(download(out, 2), (std::vector<float>{2, 4}));
  driver->free(0, x);
  driver->free(0, out);
  driver->destroyStream(0, stream);
}

TEST_P(GpuTest, refusesWhatNoBlockHas) {
  DeviceProperties facts = driver->properties(0);
  Artifact artifact = GetParam().add();
  artifact.threadsPerBlock = facts.maxThreads + 32;
  Error error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_NE(error.message().find("a block needs " +
                                 std::to_string(facts.maxThreads + 32) +
                                 " threads, there are at most " +
                                 std::to_string(facts.maxThreads)),
            std::string::npos)
      << error.message();

  artifact = GetParam().add();
  artifact.sharedBytes = facts.sharedBytes + 1;
  error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_NE(error.message().find(std::to_string(facts.sharedBytes + 1) +
                                 " bytes of shared memory"),
            std::string::npos)
      << error.message();

  artifact = GetParam().add();
  artifact.threadsPerBlock = 0;
  EXPECT_EQ(errorOf([&] { driver->load(0, artifact); }).status(),
            Status::InvalidArgument);
}

TEST_P(GpuTest, takesAllSharedMemoryThatThereIs) {
  Artifact artifact = GetParam().add();
  artifact.sharedBytes = driver->properties(0).sharedBytes;
  std::shared_ptr<Kernel> kernel = driver->load(0, artifact);
  float *none = nullptr;
  int32_t n = 0;
  launch(*kernel, {1, 1, 1}, none, none, none, n);
  driver->synchronize(0, nullptr);
}

TEST_P(GpuTest, namesTheAxisOfABadGrid) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  float *none = nullptr;
  int32_t n = 0;
  Error error =
      errorOf([&] { launch(*kernel, {1, 70000, 1}, none, none, none, n); });
  EXPECT_EQ(error.message(), "launch of kernel 'add': expected axis 1 of the "
                             "grid from 0 to 65535, found 70000");
}

TEST_P(GpuTest, refusesOtherTargetsAndEntries) {
  Artifact artifact = GetParam().add();
  artifact.target = "cpu";
  EXPECT_EQ(errorOf([&] { driver->load(0, artifact); }).status(),
            Status::InvalidArgument);
  artifact = GetParam().add();
  artifact.entry = "missing";
  Error error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_NE(error.message().find("no function 'missing'"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuTest, testing::Values(realCuda()), labelOf);
#ifdef TERRAZZO_GPU_STUBS
INSTANTIATE_TEST_SUITE_P(Stub, GpuTest,
                         testing::Values(stubCuda(), stubHip(), stubOldHip()),
                         labelOf);
#endif

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

/// The device of this machine.
class CudaTest : public GpuTest {};

TEST_P(CudaTest, refusesCodeForAnotherChip) {
  for (const char *chip : {"sm_70a", "sm_999", "sm_70f"}) {
    Artifact artifact = cudaAdd();
    artifact.chip = chip;
    Error error = errorOf([&] { driver->load(0, artifact); });
    EXPECT_EQ(error.status(), Status::WrongArchitecture) << chip;
    EXPECT_NE(error.message().find(std::string("PTX for ") + chip),
              std::string::npos)
        << error.message();
    EXPECT_NE(error.message().find(driver->properties(0).chip),
              std::string::npos)
        << error.message();
  }
  Artifact artifact = cudaAdd();
  artifact.chip = "gfx942";
  EXPECT_EQ(errorOf([&] { driver->load(0, artifact); }).status(),
            Status::InvalidArgument);
}

TEST_P(CudaTest, showsTheCompilersText) {
  Artifact artifact = cudaAdd();
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\nnonsense\n";
  artifact.code.assign(text.begin(), text.end());
  Error error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_EQ(error.status(), Status::Internal);
  EXPECT_NE(error.message().find("cuModuleLoadDataEx failed with 218 "
                                 "(CUDA_ERROR_INVALID_PTX)"),
            std::string::npos);
  EXPECT_NE(error.message().find("ptxas"), std::string::npos)
      << error.message();
}

TEST_P(CudaTest, saysThatTheDriverIsTooOld) {
  Artifact artifact = cudaAdd();
  std::string text(artifact.code.begin(), artifact.code.end());
  text.replace(text.find("7.0"), 3, "99.1");
  artifact.code.assign(text.begin(), text.end());
  Error error = errorOf([&] { driver->load(0, artifact); });
  EXPECT_EQ(error.status(), Status::DriverTooOld);
  EXPECT_NE(
      error.message().find("the PTX is 99.1, the driver is that of CUDA "),
      std::string::npos)
      << error.message();
}

/// Of what only a device does, as a stub executes no instructions.
class CudaDeviceTest : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped())
      return;
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    ASSERT_EQ(find<int(void **, int)>("cuDevicePrimaryCtxRetain")(&context, 0),
              0);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(find<int(int)>("cuDevicePrimaryCtxRelease_v2")(0), 0);
      makeCurrent(nullptr);
    }
  }

  template <typename Type>
  Type *find(const char *name) {
    return reinterpret_cast<Type *>(dlsym(library, name));
  }
  void makeCurrent(void *which) {
    EXPECT_EQ(find<int(void *)>("cuCtxSetCurrent")(which), 0);
  }

  void *library = nullptr, *context = nullptr;
};

/// In a process of its own, since the context is lost.
TEST_P(CudaDeviceTest, outlivesAnIllegalAddress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [] {
    std::shared_ptr<Driver> driver = openDriver("cuda");
    std::shared_ptr<Kernel> kernel = driver->load(0, cudaFault());
    kernel->launch({1, 1, 1}, nullptr, nullptr, 0);
    Error first = errorOf([&] { driver->synchronize(0, nullptr); });
    Error second = errorOf([&] {
      for (int i = 0; i < 2; ++i)
        kernel->launch({1, 1, 1}, nullptr, nullptr, 0);
    });
    std::fprintf(stderr, "%s\n%s\n", first.what(), second.what());
    std::exit(first.status() == Status::LaunchFailed &&
                      second.status() == Status::LaunchFailed
                  ? 7
                  : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7),
              "CUDA_ERROR_ILLEGAL_ADDRESS(.|\n)*those launched last: 'fault'"
              "(.|\n)*context of device 0 is lost");
}

/// A stream is captured into a graph in the strictest mode; what the graph
/// prints when it runs is shown too.
TEST_P(CudaDeviceTest, launchesWhileAStreamIsCaptured) {
  auto *begin = find<int(void *, int)>("cuStreamBeginCapture_v2");
  auto *end = find<int(void *, void **)>("cuStreamEndCapture");
  auto *instantiate =
      find<int(void **, void *, uint64_t)>("cuGraphInstantiateWithFlags");
  auto *run = find<int(void *, void *)>("cuGraphLaunch");
  ASSERT_TRUE(begin && end && instantiate && run);
  makeCurrent(context);

  void *stream = driver->createStream(0);
  float *x = upload(std::vector<float>{1, 2}),
        *out = upload(std::vector<float>(2));
  int32_t n = 2;
  uint32_t failing = 99;
  std::shared_ptr<Kernel> add = driver->load(0, cudaAdd());
  std::shared_ptr<Kernel> printing = driver->load(0, cudaPrints());
  constexpr int kGlobal = 0;
  ASSERT_EQ(begin(stream, kGlobal), 0);
  void *args[] = {&x, &x, &out, &n}, *printArgs[] = {&failing};
  add->launch({1, 1, 1}, stream, args, 4);
  printing->launch({1, 1, 1}, stream, printArgs, 1);
  // Loading is allowed meanwhile, and a launch of what was loaded.
  std::shared_ptr<Kernel> later = driver->load(0, cudaAdd());
  later->launch({1, 1, 1}, stream, args, 4);
  driver->poll(0);
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(end(stream, &graph), 0);
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  EXPECT_EQ(download(out, 2), (std::vector<float>{0, 0}));
  testing::internal::CaptureStdout();
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(run(executable, stream), 0);
  driver->synchronize(0, stream);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_EQ(download(out, 2), (std::vector<float>{2, 4}));
  driver->destroyStream(0, stream);
  driver->free(0, x);
  driver->free(0, out);
}

/// Nothing but the library's waits: for the context, for a stream and for a
/// graph that runs.
TEST_P(CudaDeviceTest, showsPrintsBeforeTheLibrarysWaitReturns) {
  makeCurrent(context);
  void *stream = driver->createStream(0);
  std::shared_ptr<Kernel> kernel = driver->load(0, cudaPrints());
  uint32_t well = 99, failing = 0;
  void *args[] = {&well}, *failingArgs[] = {&failing};
  auto linesOf = [&](auto run, auto wait) {
    testing::internal::CaptureStdout();
    run();
    wait();
    std::string text = testing::internal::GetCapturedStdout();
    return std::count(text.begin(), text.end(), '\n');
  };
  auto waitForStream = [&] {
    EXPECT_EQ(find<int(void *)>("cuStreamSynchronize")(stream), 0);
  };
  auto waitForContext = [&] {
    EXPECT_EQ(find<int()>("cuCtxSynchronize")(), 0);
  };
  auto runs = [&] {
    for (int i = 0; i < 100; ++i)
      kernel->launch({1, 1, 1}, stream, args, 1);
  };
  EXPECT_EQ(linesOf(runs, waitForStream), 400);
  EXPECT_EQ(linesOf(runs, waitForContext), 400);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(linesOf([&] { kernel->launch({1, 1, 1}, stream, args, 1); },
                      waitForStream),
              4);
  // More launches than the driver's queue holds.
  auto manyRuns = [&] {
    for (int i = 0; i < 5000; ++i)
      kernel->launch({1, 1, 1}, stream, args, 1);
  };
  EXPECT_EQ(linesOf(manyRuns, waitForStream), 20000);

  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(find<int(void *, int)>("cuStreamBeginCapture_v2")(stream, 0), 0);
  kernel->launch({1, 1, 1}, stream, args, 1);
  ASSERT_EQ(find<int(void *, void **)>("cuStreamEndCapture")(stream, &graph),
            0);
  ASSERT_EQ(find<int(void **, void *, uint64_t)>("cuGraphInstantiateWithFlags")(
                &executable, graph, 0),
            0);
  void *other = driver->createStream(0);
  auto replays = [&] {
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(find<int(void *, void *)>("cuGraphLaunch")(executable, stream),
                0);
    kernel->launch({1, 1, 1}, other, args, 1);
  };
  EXPECT_EQ(linesOf(replays, waitForContext), 44);

  // A failed assertion is raised by the next launch.
  EXPECT_EQ(linesOf([&] { kernel->launch({1, 1, 1}, stream, failingArgs, 1); },
                    waitForStream),
            4);
  Error error = errorOf([&] { kernel->launch({1, 1, 1}, stream, args, 1); });
  EXPECT_EQ(error.status(), Status::AssertionFailed);
  driver->destroyStream(0, other);
  driver->destroyStream(0, stream);
}

/// Beside a launch by the vendor's library alone.
TEST_P(CudaDeviceTest, launchesFast) {
  std::shared_ptr<Kernel> kernel = driver->load(0, cudaAdd());
  auto *plain =
      find<int(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
               unsigned, unsigned, void *, void **, void **)>("cuLaunchKernel");
  ASSERT_NE(plain, nullptr);
  makeCurrent(context);
  float *none = nullptr;
  int32_t n = 0;
  void *args[] = {&none, &none, &none, &n};
  auto measure = [&](auto launch) {
    double best = 1e9;
    for (int round = 0; round < 30; ++round) {
      auto start = std::chrono::steady_clock::now();
      // Few enough that the queue never fills.
      for (int i = 0; i < 200; ++i)
        launch();
      std::chrono::duration<double, std::nano> time =
          std::chrono::steady_clock::now() - start;
      driver->synchronize(0, nullptr);
      best = std::min(best, time.count() / 200);
    }
    return best;
  };
  double theirs = measure([&] {
    plain(kernel->handle(), 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr);
  });
  double ours = measure([&] { kernel->launch({1, 1, 1}, nullptr, args, 4); });
  makeCurrent(nullptr);
  double switching =
      measure([&] { kernel->launch({1, 1, 1}, nullptr, args, 4); });
  std::printf("launch: %.0f ns, by the library alone %.0f ns, from a thread "
              "without a context %.0f ns\n",
              ours, theirs, switching);
  EXPECT_LT(ours - theirs, 1500);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaTest, testing::Values(realCuda()), labelOf);
INSTANTIATE_TEST_SUITE_P(Gpu, CudaDeviceTest, testing::Values(realCuda()),
                         labelOf);
#ifdef TERRAZZO_GPU_STUBS
INSTANTIATE_TEST_SUITE_P(Stub, CudaTest, testing::Values(stubCuda()), labelOf);
#endif

} // namespace
