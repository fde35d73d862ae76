//===- Threads.cpp - How many threads a launch may use --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "terrazzo/Runtime/Cpu.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <thread>

namespace terrazzo::runtime {

static constexpr int kMaxThreads = 1024;
static constexpr const char *kVariable = "TERRAZZO_NUM_THREADS";

/// Processors that a container's quota pays for; without a quota, very many.
/// More threads than that would only use it up faster, then all stand still.
static int quotaProcessors() {
  double quota = 0, period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file) {
    file >> quota >> period; // "max 100000" leaves quota at zero
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0 || quota / period > kMaxThreads)
    return kMaxThreads;
  return int(std::ceil(quota / period));
}

static int processorCount() {
  cpu_set_t allowed;
  int count = int(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    count = CPU_COUNT(&allowed);
  return std::clamp(std::min(count, quotaProcessors()), 1, kMaxThreads);
}

/// The variable's value, 0 if it is not set, -1 if it makes no sense.
static int variableValue() {
  const char *text = std::getenv(kVariable);
  if (!text || !*text)
    return 0;
  int value = 0;
  const char *end = text + std::strlen(text);
  auto [stop, error] = std::from_chars(text, end, value);
  bool isValid =
      error == std::errc() && stop == end && value >= 1 && value <= kMaxThreads;
  return isValid ? value : -1;
}

static int defaultThreads() {
  int value = variableValue();
  return value > 0 ? value : processorCount();
}

static std::atomic<int> &setting() {
  static std::atomic<int> value{defaultThreads()};
  return value;
}

void checkThreadSetting() {
  if (variableValue() < 0)
    throw Error(Status::InvalidArgument,
                std::string("open driver 'cpu': expected ") + kVariable +
                    " to be a number from 1 to " + std::to_string(kMaxThreads) +
                    ", found '" + std::getenv(kVariable) + "'");
}

int cpuThreads() { return setting().load(std::memory_order_relaxed); }

void setCpuThreads(int count) {
  if (count < 0 || count > kMaxThreads)
    throw Error(Status::InvalidArgument,
                "set the number of threads: expected 1 to " +
                    std::to_string(kMaxThreads) +
                    ", or 0 for the default, found " + std::to_string(count));
  setting().store(count ? count : defaultThreads(), std::memory_order_relaxed);
}

} // namespace terrazzo::runtime
