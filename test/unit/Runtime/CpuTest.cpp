//===- CpuTest.cpp - How the CPU driver runs programs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Cpu.h"
#include "TestKernels.h"
#include "terrazzo/Runtime/Interrupt.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

TEST(Cpu, runsEachProgramOnce) {
  auto kernel = loadKernel("count", "p");
  for (int threads : {1, 2, 3, 8}) {
    Threads setting(threads);
    for (int64_t total : {1, 2, 3, 7, 64, 1000, 100003}) {
      std::vector<int32_t> counts(total + 1);
      int32_t *data = counts.data();
      launch(*kernel, {total, 1, 1}, data);
      EXPECT_EQ(counts.back(), 0);
      counts.pop_back();
      EXPECT_EQ(counts, std::vector<int32_t>(total, 1)) << threads;
    }
  }
}

TEST(Cpu, countsXFastest) {
  auto kernel = loadKernel("identify", "p");
  std::vector<int32_t> out(3 * 5 * 7);
  int32_t *data = out.data();
  launch(*kernel, {3, 5, 7}, data);
  for (int p = 0; p < 3 * 5 * 7; ++p)
    EXPECT_EQ(out[p], p % 3 + 1000 * (p / 3 % 5) + 1000000 * (p / 15));
}

TEST(Cpu, givesTheSameBitsForEveryNumberOfThreads) {
  auto kernel = loadKernel("work", "pl");
  auto run = [&](int threads) {
    Threads setting(threads);
    std::vector<float> out(500);
    float *data = out.data();
    int64_t steps = 2000;
    launch(*kernel, {500, 1, 1}, data, steps);
    return out;
  };
  std::vector<float> expected = run(1);
  for (int threads : {2, 3, 7, 16})
    EXPECT_EQ(std::memcmp(run(threads).data(), expected.data(), 2000), 0);
}

TEST(Cpu, ignoresTheCallersFloatingPointMode) {
  auto kernel = loadKernel("denormal", "pp");
  float x = 1e-38f, out = 0;
  float *px = &x, *pout = &out;
#if defined(__x86_64__)
  unsigned saved = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(saved | 0x8040); // flush denormals
  launch(*kernel, {1, 1, 1}, px, pout);
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040, 0x8040u);
  __builtin_ia32_ldmxcsr(saved);
#else
  launch(*kernel, {1, 1, 1}, px, pout);
#endif
  EXPECT_NE(out, 0);
}

TEST(Cpu, launchesFromManyThreadsShareThePool) {
  auto kernel = loadKernel("count", "p");
  Threads setting(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        std::vector<int32_t> counts(300);
        int32_t *data = counts.data();
        launch(*kernel, {300, 1, 1}, data);
        ASSERT_EQ(counts, std::vector<int32_t>(300, 1));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Stack
//===----------------------------------------------------------------------===//

static void runDeep(int64_t stackBytes, int64_t programs) {
  Artifact artifact = makeArtifact("deep", "pl");
  artifact.stackBytes = stackBytes;
  std::shared_ptr<Kernel> kernel = openDriver("cpu")->load(0, artifact);
  std::vector<uint64_t> out(programs, 1);
  uint64_t *data = out.data();
  launch(*kernel, {programs, 1, 1}, data, stackBytes);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out.back(), uint64_t(stackBytes + 4095) / 4096 * (programs - 1));
}

TEST(CpuStack, fitsOnTheCaller) { runDeep(1 << 20, 4); }
TEST(CpuStack, movesToThePool) {
  runDeep(32 << 20, 1);
  runDeep(32 << 20, 4);
}
TEST(CpuStack, growsThePool) {
  runDeep(200 << 20, 2);
  runDeep(1 << 10, 16);
}

TEST(CpuStack, knowsTheStackOfSmallThreads) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  auto body = [](void *) -> void * {
    runDeep(2 << 20, 1);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
  pthread_join(thread, nullptr);
}

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

/// Runs the endless kernel; calls `stop` when all its programs have started.
template <typename Stop>
static Error spinUntil(int programs, Stop stop) {
  auto kernel = loadKernel("spin", "p");
  std::atomic<int32_t> started{0};
  std::thread stopper([&] {
    while (started < std::min(programs, cpuThreads()))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop();
  });
  auto *data = &started;
  Error error = errorOf([&] { launch(*kernel, {programs, 1, 1}, data); });
  stopper.join();
  return error;
}

TEST(CpuInterrupt, stopsAllThreadsOfALaunch) {
  for (int programs : {1, 2, 1000}) {
    Error error = spinUntil(programs, cancelLaunches);
    EXPECT_EQ(error.status(), Status::Cancelled);
    EXPECT_EQ(error.message(),
              "launch of kernel 'spin': cancelled by an interrupt");
  }
}

TEST(CpuInterrupt, leavesLaterLaunchesAlone) {
  cancelLaunches();
  auto kernel = loadKernel("count", "p");
  std::vector<int32_t> counts(100);
  int32_t *data = counts.data();
  launch(*kernel, {100, 1, 1}, data);
  EXPECT_EQ(counts, std::vector<int32_t>(100, 1));
}

static std::atomic<int> handled{0};

TEST(CpuInterrupt, signalStopsAndCallsTheOldHandler) {
  struct sigaction mine = {}, saved;
  mine.sa_handler = [](int) { ++handled; };
  sigaction(SIGINT, &mine, &saved);
  installInterruptHandler();
  installInterruptHandler();
  handled = 0;
  Error error = spinUntil(4, [] { kill(getpid(), SIGINT); });
  EXPECT_EQ(error.status(), Status::Cancelled);
  EXPECT_EQ(handled, 1);
  // Somebody else takes over; installing again chains to them.
  sigaction(SIGINT, &mine, nullptr);
  installInterruptHandler();
  error = spinUntil(4, [] { kill(getpid(), SIGINT); });
  EXPECT_EQ(error.status(), Status::Cancelled);
  EXPECT_EQ(handled, 2);
  sigaction(SIGINT, &saved, nullptr);
}

TEST(CpuInterrupt, keepsAnIgnoredSignalIgnored) {
  struct sigaction ignore = {}, saved, now;
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &saved);
  installInterruptHandler();
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  sigaction(SIGINT, &saved, nullptr);
}

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

TEST(CpuFork, theChildMakesThreadsOfItsOwn) {
  Threads setting(3);
  auto kernel = loadKernel("count", "p");
  auto isRight = [&] {
    std::vector<int32_t> counts(1000);
    int32_t *data = counts.data();
    launch(*kernel, {1000, 1, 1}, data);
    return counts == std::vector<int32_t>(1000, 1);
  };
  EXPECT_TRUE(isRight());
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    runDeep(100 << 20, 2);
    _exit(isRight() && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(isRight());
}
