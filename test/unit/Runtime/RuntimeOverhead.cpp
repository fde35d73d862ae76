//===- RuntimeOverhead.cpp - What loads, launches and lookups cost --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "terrazzo/Runtime/Cpu.h"
#include "terrazzo/Runtime/Dispatcher.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

/// The median over rounds of the time that one of `count` actions takes.
template <typename Action>
static void measure(const char *what, int count, Action action) {
  std::vector<double> rounds;
  for (int round = 0; round < 15; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
      action();
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    rounds.push_back(time.count() / count);
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-44s %10.1f ns (fastest %.1f)\n", what, rounds[7], rounds[0]);
}

int main() {
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<Kernel> empty = loadKernel("empty", "");
  std::chrono::duration<double, std::milli> first =
      std::chrono::steady_clock::now() - start;
  std::printf("%-44s %10.3f ms\n", "open the driver and load the first kernel",
              first.count());
  measure("load and unload a kernel", 20, [] { loadKernel("empty", ""); });
  measure("launch an empty kernel, 1 program", 100000,
          [&] { launch(*empty, {1, 1, 1}); });
  measure("launch an empty kernel, 64 programs", 10000,
          [&] { launch(*empty, {64, 1, 1}); });
  std::shared_ptr<Kernel> nothing = loadKernel("empty", "", "null");
  measure("launch on the null driver", 100000,
          [&] { launch(*nothing, {1, 1, 1}); });

  std::shared_ptr<Kernel> work = loadKernel("work", "pl");
  std::vector<float> out(64);
  float *data = out.data();
  int64_t steps = 20000;
  for (int threads : {1, cpuThreads()}) {
    Threads setting(threads);
    char what[64];
    std::snprintf(what, sizeof(what), "64 programs of work, %d threads",
                  threads);
    measure(what, 20, [&] { launch(*work, {64, 1, 1}, data, steps); });
  }

  Dispatcher dispatcher;
  std::vector<uint64_t> key{1, 2, 3, 4};
  std::shared_ptr<Kernel> add = loadKernel("add", "pppi", "null");
  std::vector<uint32_t> slots{0, 1, 2, 3};
  for (key[0] = 0; key[0] < 10; ++key[0])
    dispatcher.insert(key, std::make_unique<LaunchPlan>(add, slots));
  key[0] = 5;
  std::vector<Value> values(4);
  measure("find a plan and launch it (null, 4 arguments)", 100000,
          [&] { dispatcher.find(key)->launch({1, 1, 1}, nullptr, values); });
}
