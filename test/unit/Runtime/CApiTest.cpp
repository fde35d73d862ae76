//===- CApiTest.cpp - The C API of the runtime ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemporaryDirectory.h"
#include "TestKernels.h"
#include "terrazzo-c/Runtime.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace terrazzo;
using namespace terrazzo::test;

static void appendTo(const char *data, size_t size, void *out) {
  static_cast<std::string *>(out)->append(data, size);
}

static std::string serialized(const Artifact &artifact) {
  std::vector<uint8_t> bytes = serializeArtifact(artifact);
  return {bytes.begin(), bytes.end()};
}

TEST(CApi, artifacts) {
  TzArtifact *made = nullptr, *read = nullptr;
  ASSERT_EQ(tzArtifactCreate("null", "any", "f", "code", 4, &made), TzStatusOk);
  ASSERT_EQ(tzArtifactAddArg(made, TzArgFloat, 2, "x", "bf16", false),
            TzStatusOk);
  ASSERT_EQ(tzArtifactAddArg(made, 9, 2, "x", "bf16", false),
            TzStatusInvalidArgument);
  ASSERT_EQ(tzArtifactSetMetadata(made, "name", "F"), TzStatusOk);
  std::string bytes;
  ASSERT_EQ(tzArtifactSerialize(made, appendTo, &bytes), TzStatusOk);
  tzArtifactDestroy(made);
  ASSERT_EQ(tzArtifactParse(bytes.data(), bytes.size(), &read), TzStatusOk);
  EXPECT_STREQ(tzArtifactTarget(read), "null");
  EXPECT_STREQ(tzArtifactChip(read), "any");
  EXPECT_STREQ(tzArtifactEntry(read), "f");
  size_t size = 0;
  EXPECT_EQ(std::memcmp(tzArtifactCode(read, &size), "code", 4), 0);
  EXPECT_EQ(size, 4u);
  ASSERT_EQ(tzArtifactArgCount(read), 1u);
  TzArgInfo arg;
  ASSERT_EQ(tzArtifactArg(read, 0, &arg), TzStatusOk);
  EXPECT_EQ(arg.kind, TzArgFloat);
  EXPECT_STREQ(arg.dtype, "bf16");
  EXPECT_EQ(tzArtifactArg(read, 1, &arg), TzStatusInvalidArgument);
  EXPECT_STREQ(tzLastError()->message, "expected an index below 1, found 1");
  const char *key, *value;
  ASSERT_EQ(tzArtifactMetadataCount(read), 1u);
  ASSERT_EQ(tzArtifactMetadata(read, 0, &key, &value), TzStatusOk);
  EXPECT_STREQ(value, "F");
  EXPECT_EQ(tzArtifactStageCount(read), 0u);
  EXPECT_EQ(tzArtifactStage(read, 0, &key, &value, &size),
            TzStatusInvalidArgument);
  TzLineInfo line;
  EXPECT_EQ(tzArtifactLine(read, 0, &line), TzStatusInvalidArgument);
  TzResources resources;
  tzArtifactResources(read, &resources);
  EXPECT_EQ(resources.stackBytes, 0u);
  tzArtifactDestroy(read);
  bytes[40] ^= 1;
  EXPECT_EQ(tzArtifactParse(bytes.data(), bytes.size(), &read),
            TzStatusCorrupt);
}

TEST(CApi, errors) {
  TzDriver *driver = nullptr;
  EXPECT_EQ(tzDriverOpen("abacus", &driver), TzStatusNotFound);
  EXPECT_EQ(tzLastError()->status, TzStatusNotFound);
  EXPECT_STRNE(tzLastError()->message, "");
  EXPECT_STREQ(tzLastError()->kernel, "");
  EXPECT_EQ(tzDriverOpen(nullptr, &driver), TzStatusInvalidArgument);
  EXPECT_STREQ(tzStatusName(TzStatusOutOfResources), "out of resources");
  // Each thread has its own.
  std::thread([] { EXPECT_EQ(tzLastError()->status, TzStatusOk); }).join();
}

TEST(CApi, drivers) {
  ASSERT_EQ(tzDriverRegisteredCount(), 4u);
  EXPECT_STREQ(tzDriverRegisteredName(0), "cpu");
  EXPECT_STREQ(tzDriverRegisteredName(1), "cuda");
  EXPECT_EQ(tzDriverRegisteredName(4), nullptr);
  TzDriver *driver = nullptr;
  ASSERT_EQ(tzDriverOpen("cpu", &driver), TzStatusOk);
  EXPECT_STREQ(tzDriverName(driver), "cpu");
  EXPECT_EQ(tzDriverDeviceCount(driver), 1u);
  TzDeviceProperties properties;
  ASSERT_EQ(tzDriverProperties(driver, 0, &properties), TzStatusOk);
  EXPECT_STRNE(properties.chip, "");
  void *memory = nullptr;
  ASSERT_EQ(tzDriverAlloc(driver, 0, 4, &memory), TzStatusOk);
  int value = 5, back = 0;
  EXPECT_EQ(tzDriverCopy(driver, 0, memory, &value, 4, nullptr), TzStatusOk);
  EXPECT_EQ(tzDriverCopy(driver, 0, &back, memory, 4, nullptr), TzStatusOk);
  EXPECT_EQ(back, 5);
  void *stream = nullptr;
  ASSERT_EQ(tzStreamCreate(driver, 0, &stream), TzStatusOk);
  EXPECT_EQ(tzDriverFill(driver, 0, memory, 1, 4, stream), TzStatusOk);
  EXPECT_EQ(tzDriverCopyAsync(driver, 0, &back, memory, 4, stream), TzStatusOk);
  EXPECT_EQ(tzDriverSynchronize(driver, 0, stream), TzStatusOk);
  EXPECT_EQ(back, 0x01010101);
  EXPECT_EQ(tzStreamDestroy(driver, 0, stream), TzStatusOk);
  EXPECT_EQ(tzDriverPoll(driver, 0), TzStatusOk);
  EXPECT_EQ(tzDriverPoll(driver, 1), TzStatusNotFound);
  uint64_t freeBytes = 0, totalBytes = 0;
  EXPECT_EQ(tzDriverMemory(driver, 0, &freeBytes, &totalBytes), TzStatusOk);
  EXPECT_EQ(totalBytes, properties.memoryBytes);
  int32_t device = -1;
  EXPECT_EQ(tzDriverCurrentDevice(driver, &device), TzStatusOk);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(tzDriverFree(driver, 0, memory), TzStatusOk);
  EXPECT_EQ(tzDriverSynchronize(driver, 0, nullptr), TzStatusOk);
  TzEvent *start = nullptr, *stop = nullptr;
  ASSERT_EQ(tzEventCreate(driver, 0, &start), TzStatusOk);
  ASSERT_EQ(tzEventCreate(driver, 0, &stop), TzStatusOk);
  bool isDone = false;
  EXPECT_EQ(tzEventQuery(start, &isDone), TzStatusOk);
  EXPECT_TRUE(isDone);
  EXPECT_EQ(tzEventWait(start, nullptr), TzStatusOk);
  double milliseconds = -1;
  EXPECT_EQ(tzEventElapsed(start, stop, &milliseconds),
            TzStatusInvalidArgument);
  tzEventRecord(start, nullptr);
  tzEventRecord(stop, nullptr);
  EXPECT_EQ(tzEventSynchronize(stop), TzStatusOk);
  EXPECT_EQ(tzEventElapsed(start, stop, &milliseconds), TzStatusOk);
  EXPECT_GE(milliseconds, 0);
  tzEventDestroy(start);
  tzEventDestroy(stop);
  tzDriverRelease(driver);
}

TEST(CApi, dispatch) {
  TzDriver *driver = nullptr;
  ASSERT_EQ(tzDriverOpen("cpu", &driver), TzStatusOk);
  std::string bytes = serialized(makeArtifact("add", "pppi"));
  TzKernel *kernel = nullptr;
  ASSERT_EQ(tzKernelLoad(driver, 0, bytes.data(), bytes.size(), &kernel),
            TzStatusOk);
  EXPECT_EQ(tzArtifactArgCount(tzKernelArtifact(kernel)), 4u);
  TzDispatcher *dispatcher = nullptr;
  ASSERT_EQ(tzDispatcherCreate(&dispatcher), TzStatusOk);
  uint64_t key[2] = {3, 4};
  EXPECT_EQ(tzDispatcherFind(dispatcher, key, 2), nullptr);
  uint32_t slots[4] = {0, 1, 2, 3};
  const TzPlan *plan = nullptr, *same = nullptr;
  EXPECT_EQ(tzDispatcherInsert(dispatcher, key, 2, kernel, slots, 3, &plan),
            TzStatusInvalidArgument);
  ASSERT_EQ(tzDispatcherInsert(dispatcher, key, 2, kernel, slots, 4, &plan),
            TzStatusOk);
  ASSERT_EQ(tzDispatcherInsert(dispatcher, key, 2, kernel, slots, 4, &same),
            TzStatusOk);
  EXPECT_EQ(plan, same);
  EXPECT_EQ(tzDispatcherFind(dispatcher, key, 2), plan);
  EXPECT_EQ(tzDispatcherSize(dispatcher), 1u);
  EXPECT_EQ(tzPlanKernel(plan), kernel);
  EXPECT_EQ(tzPlanSlotCount(plan), 4u);
  tzKernelRelease(kernel); // the plan keeps it
  tzDriverRelease(driver);
  std::vector<float> x(64, 1), y(64, 2), out(64);
  TzValue values[4];
  values[0].p = x.data();
  values[1].p = y.data();
  values[2].p = out.data();
  values[3].i = 64;
  int64_t grid[3] = {1, 1, 1};
  EXPECT_EQ(tzPlanLaunch(plan, grid, nullptr, values, 4), TzStatusOk);
  EXPECT_EQ(out, std::vector<float>(64, 3));
  EXPECT_EQ(tzPlanLaunch(plan, grid, nullptr, values, 3),
            TzStatusInvalidArgument);
  grid[1] = -1;
  EXPECT_EQ(tzPlanLaunch(plan, grid, nullptr, values, 4),
            TzStatusInvalidArgument);
  tzDispatcherClear(dispatcher);
  EXPECT_EQ(tzDispatcherSize(dispatcher), 0u);
  tzDispatcherDestroy(dispatcher);
}

TEST(CApi, launchErrors) {
  TzDriver *driver = nullptr;
  ASSERT_EQ(tzDriverOpen("cpu", &driver), TzStatusOk);
  Artifact artifact = makeArtifact("check", "l");
  artifact.lines = {{7, "kernel.py", 42, 5, "x must be positive"}};
  std::string bytes = serialized(artifact);
  TzKernel *kernel = nullptr;
  EXPECT_EQ(tzKernelLoad(driver, 0, bytes.data(), bytes.size() - 1, &kernel),
            TzStatusCorrupt);
  ASSERT_EQ(tzKernelLoad(driver, 0, bytes.data(), bytes.size(), &kernel),
            TzStatusOk);
  int64_t bad = 2, grid[3] = {4, 1, 1};
  void *args[1] = {&bad};
  EXPECT_EQ(tzKernelLaunch(kernel, grid, nullptr, args, 0),
            TzStatusInvalidArgument);
  EXPECT_EQ(tzKernelLaunch(kernel, grid, nullptr, args, 1),
            TzStatusAssertionFailed);
  const TzErrorInfo *info = tzLastError();
  EXPECT_EQ(info->status, TzStatusAssertionFailed);
  EXPECT_STREQ(info->kernel, "check");
  EXPECT_STREQ(info->file, "kernel.py");
  EXPECT_EQ(info->line, 42u);
  EXPECT_EQ(info->column, 5u);
  EXPECT_STREQ(info->text, "x must be positive");
  EXPECT_EQ(info->pid[0], 2);
  tzKernelRelease(kernel);
  tzDriverRelease(driver);
}

TEST(CApi, threads) {
  int32_t before = tzCpuThreads();
  EXPECT_EQ(tzCpuSetThreads(3), TzStatusOk);
  EXPECT_EQ(tzCpuThreads(), 3);
  EXPECT_EQ(tzCpuSetThreads(-3), TzStatusInvalidArgument);
  EXPECT_EQ(tzCpuSetThreads(0), TzStatusOk);
  EXPECT_EQ(tzCpuThreads(), before);
  EXPECT_EQ(tzInterruptInstall(), TzStatusOk);
  tzInterruptRaise();
}

TEST(CApi, cache) {
  TemporaryDirectory directory;
  TzCache *cache = nullptr;
  EXPECT_EQ(tzCacheOpen("/dev/null/x", 0, &cache), TzStatusUnavailable);
  ASSERT_EQ(tzCacheOpen((directory / "c").c_str(), 0, &cache), TzStatusOk);
  std::string bytes;
  const char *key = "0123456789abcdef";
  EXPECT_EQ(tzCacheGet(cache, key, appendTo, &bytes), TzStatusNotFound);
  EXPECT_EQ(tzCacheGet(cache, "x", appendTo, &bytes), TzStatusInvalidArgument);
  EXPECT_EQ(tzCachePut(cache, key, "bytes", 5), TzStatusOk);
  EXPECT_EQ(tzCacheGet(cache, key, appendTo, &bytes), TzStatusOk);
  EXPECT_EQ(bytes, "bytes");
  std::filesystem::resize_file(directory / "c/0123456789abcdef.tz", 34);
  EXPECT_EQ(tzCacheGet(cache, key, appendTo, &bytes), TzStatusCorrupt);
  TzCacheStats stats;
  EXPECT_EQ(tzCacheStats(cache, &stats), TzStatusOk);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.rejected, 1u);
  EXPECT_EQ(tzCacheClear(cache), TzStatusOk);
  tzCacheClose(cache);
}
