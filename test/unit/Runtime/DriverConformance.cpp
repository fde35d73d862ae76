//===- DriverConformance.cpp - What every driver must do ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverConformance.h"

#include <algorithm>
#include <thread>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

TEST_P(DriverConformance, opensTheSameDriverAgain) {
  EXPECT_EQ(openDriver(GetParam().driver), driver);
  EXPECT_EQ(driver->name(),
            GetParam().driver.substr(0, GetParam().driver.find(':')));
}

TEST_P(DriverConformance, isRegistered) {
  std::vector<std::string> names = registeredDrivers();
  EXPECT_NE(std::find(names.begin(), names.end(), driver->name()), names.end());
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

TEST_P(DriverConformance, fillsAndCopiesOnAStream) {
  void *stream = driver->createStream(0);
  auto *memory = static_cast<uint8_t *>(driver->alloc(0, 1000));
  driver->fill(0, memory, 7, 1000, stream);
  driver->fill(0, memory + 1, 9, 998, stream);
  driver->fill(0, memory, 1, 0, stream);
  std::vector<uint8_t> values(1000);
  driver->copyAsync(0, values.data(), memory, 1000, stream);
  driver->copyAsync(0, values.data(), memory, 0, stream);
  driver->synchronize(0, stream);
  EXPECT_EQ(values.front(), 7);
  EXPECT_EQ(values.back(), 7);
  EXPECT_EQ(std::vector<uint8_t>(values.begin() + 1, values.end() - 1),
            std::vector<uint8_t>(998, 9));
  driver->free(0, memory);
  driver->destroyStream(0, stream);
}

TEST_P(DriverConformance, ordersStreamsByEvents) {
  void *first = driver->createStream(0), *second = driver->createStream(0);
  std::unique_ptr<Event> event = driver->createEvent(0);
  EXPECT_TRUE(event->isDone());
  event->record(first);
  event->wait(second);
  driver->synchronize(0, second);
  EXPECT_TRUE(event->isDone());
  driver->destroyStream(0, first);
  driver->destroyStream(0, second);
}

TEST_P(DriverConformance, tellsItsMemory) {
  DeviceMemory memory = driver->memory(0);
  EXPECT_LE(memory.freeBytes, memory.totalBytes);
  EXPECT_EQ(driver->currentDevice(), 0);
}

TEST_P(DriverConformance, hasNothingToReportAtFirst) {
  driver->poll(0);
  driver->synchronize(0, nullptr);
}
