//===- DriverConformance.cpp - What every driver must do ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One suite for all drivers. A driver that runs kernels brings an artifact of
// `add` (x, y, out, n; blocks of 64); the null driver only proves the contract
// around it.
//===----------------------------------------------------------------------===//

#include "TestKernels.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

namespace {

struct Subject {
  const char *driver;
  /// It executes; otherwise launches have no effect.
  bool runs;
  Artifact (*add)();
};

class DriverConformance : public testing::TestWithParam<Subject> {
protected:
  std::shared_ptr<Driver> driver = openDriver(GetParam().driver);

  /// Device memory with these values.
  template <typename T>
  T *upload(const std::vector<T> &values) {
    void *memory = driver->alloc(0, values.size() * sizeof(T));
    driver->copy(0, memory, values.data(), values.size() * sizeof(T), nullptr);
    return static_cast<T *>(memory);
  }
  template <typename T>
  std::vector<T> download(const T *memory, size_t count) {
    std::vector<T> values(count);
    driver->copy(0, values.data(), memory, count * sizeof(T), nullptr);
    return values;
  }
};

TEST_P(DriverConformance, opensTheSameDriverAgain) {
  EXPECT_EQ(openDriver(GetParam().driver), driver);
  EXPECT_EQ(driver->name(), GetParam().driver);
}

TEST_P(DriverConformance, isRegistered) {
  std::vector<std::string> names = registeredDrivers();
  EXPECT_NE(std::find(names.begin(), names.end(), GetParam().driver),
            names.end());
}

TEST_P(DriverConformance, describesItsDevices) {
  ASSERT_GE(driver->deviceCount(), 1);
  DeviceProperties properties = driver->properties(0);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.chip.empty());
  EXPECT_GE(properties.units, 1u);
  EXPECT_GE(properties.warpSize, 1u);
}

TEST_P(DriverConformance, refusesDevicesThatAreNotThere) {
  for (int device : {-1, driver->deviceCount()}) {
    EXPECT_EQ(errorOf([&] { driver->properties(device); }).status(),
              Status::NotFound);
    EXPECT_EQ(errorOf([&] { driver->alloc(device, 8); }).status(),
              Status::NotFound);
    EXPECT_EQ(errorOf([&] { driver->load(device, GetParam().add()); }).status(),
              Status::NotFound);
    EXPECT_EQ(errorOf([&] { driver->createEvent(device); }).status(),
              Status::NotFound);
  }
}

TEST_P(DriverConformance, copiesThroughItsMemory) {
  std::vector<int> values{1, 2, 3, 4, 5};
  int *first = upload(values);
  int *second = static_cast<int *>(driver->alloc(0, sizeof(int) * 5));
  driver->copy(0, second, first, sizeof(int) * 5, nullptr);
  EXPECT_EQ(download(second, 5), values);
  driver->free(0, first);
  driver->free(0, second);
}

TEST_P(DriverConformance, allocatesAlignedAndEmptyMemory) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(100)}) {
    void *memory = driver->alloc(0, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    driver->copy(0, memory, memory, 0, nullptr);
    driver->free(0, memory);
  }
  driver->free(0, nullptr);
}

TEST_P(DriverConformance, reportsThatMemoryIsOut) {
  Error error = errorOf([&] { driver->alloc(0, size_t(1) << 60); });
  EXPECT_EQ(error.status(), Status::OutOfMemory);
  EXPECT_NE(error.message().find("1152921504606846976"), std::string::npos)
      << error.message();
}

TEST_P(DriverConformance, launches) {
  std::vector<float> x(200), y(200);
  for (int i = 0; i < 200; ++i) {
    x[i] = i;
    y[i] = 1000 * i;
  }
  float *dx = upload(x), *dy = upload(y),
        *out = upload(std::vector<float>(200));
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  int32_t n = 199;
  launch(*kernel, {4, 1, 1}, dx, dy, out, n);
  driver->synchronize(0, nullptr);
  std::vector<float> result = download(out, 200);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(result[i], GetParam().runs && i < n ? 1001 * i : 0) << i;
  for (float *memory : {dx, dy, out})
    driver->free(0, memory);
}

TEST_P(DriverConformance, runsNothingForAnEmptyGrid) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  float *none = nullptr;
  int32_t n = 1 << 30;
  for (Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}})
    launch(*kernel, grid, none, none, none, n);
}

TEST_P(DriverConformance, refusesBadGrids) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  float *none = nullptr;
  int32_t n = 0;
  for (Grid grid : {Grid{-1, 1, 1}, Grid{1, -1, 1}, Grid{1, 1, -5},
                    Grid{int64_t(1) << 40, 1, 1}, Grid{-1, 0, 1}}) {
    Error error = errorOf([&] { launch(*kernel, grid, none, none, none, n); });
    EXPECT_EQ(error.status(), Status::InvalidArgument);
    EXPECT_NE(error.message().find("'add'"), std::string::npos);
  }
}

TEST_P(DriverConformance, refusesAWrongNumberOfArguments) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  float *none = nullptr;
  Error error = errorOf([&] { launch(*kernel, {1, 1, 1}, none); });
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_EQ(error.message(), "launch of kernel 'add': expected 4 run-time "
                             "arguments, found 1");
}

TEST_P(DriverConformance, keepsTheArtifactOfAKernel) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  EXPECT_EQ(kernel->artifact().entry, "add");
  EXPECT_EQ(kernel->artifact().args.size(), 4u);
  EXPECT_EQ(kernel->name(), "add");
}

TEST_P(DriverConformance, measuresBetweenEvents) {
  std::unique_ptr<Event> start = driver->createEvent(0);
  std::unique_ptr<Event> stop = driver->createEvent(0);
  EXPECT_EQ(errorOf([&] { start->elapsedTo(*stop); }).status(),
            Status::InvalidArgument);
  start->record(nullptr);
  if (GetParam().runs)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  stop->record(nullptr);
  stop->synchronize();
  EXPECT_GE(start->elapsedTo(*stop), 0);
  EXPECT_LT(start->elapsedTo(*stop), 10000);
}

TEST_P(DriverConformance, launchesFromManyThreads) {
  std::shared_ptr<Kernel> kernel = driver->load(0, GetParam().add());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(640, float(t)), y(640, 1);
      float *dx = upload(x), *dy = upload(y), *out = upload(y);
      int32_t n = 640;
      for (int i = 0; i < 50; ++i)
        launch(*kernel, {10, 1, 1}, dx, dy, out, n);
      driver->synchronize(0, nullptr);
      EXPECT_EQ(download(out, 640),
                std::vector<float>(640, GetParam().runs ? float(t + 1) : 1));
      for (float *memory : {dx, dy, out})
        driver->free(0, memory);
    });
  for (std::thread &thread : threads)
    thread.join();
}

INSTANTIATE_TEST_SUITE_P(
    Drivers, DriverConformance,
    testing::Values(
        Subject{"cpu", true, [] { return makeArtifact("add", "pppi"); }},
        Subject{"null", false, [] { return makeArtifact("add", "pppi"); }}),
    [](const auto &info) { return std::string(info.param.driver); });

TEST(DriverRegistry, namesWhatItKnows) {
  Error error = errorOf([] { openDriver("abacus"); });
  EXPECT_EQ(error.status(), Status::NotFound);
  EXPECT_EQ(error.message(),
            "open driver: expected one of 'cpu', 'null', found 'abacus'");
}

TEST(DriverRegistry, refusesOptionsThatADriverDoesNotTake) {
  EXPECT_EQ(errorOf([] { openDriver("cpu:fast"); }).status(),
            Status::InvalidArgument);
  EXPECT_EQ(errorOf([] { openDriver("null:fast"); }).status(),
            Status::InvalidArgument);
}

} // namespace
