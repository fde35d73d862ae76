//===- Pool.h - The threads of the CPU driver -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_CPU_POOL_H
#define TERRAZZO_LIB_RUNTIME_CPU_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace terrazzo::runtime {

/// Programs to run, claimed in chunks by whoever has time.
struct Job {
  Job(int64_t total, void (*work)(Job &) noexcept) : work(work), total(total) {}

  /// Takes the next chunk; false if there is none left.
  bool claim(int64_t &begin, int64_t &end) {
    // Looks first, so that the counter cannot run far past the end.
    if (isExhausted())
      return false;
    begin = next.fetch_add(chunk, std::memory_order_relaxed);
    end = begin + chunk < total ? begin + chunk : total;
    return begin < total;
  }
  bool isExhausted() const {
    return next.load(std::memory_order_relaxed) >= total;
  }
  /// Gives the rest up.
  void abandon() { next.store(total, std::memory_order_relaxed); }

  /// Claims chunks until there are none; runs on several threads at once.
  void (*const work)(Job &) noexcept;
  const int64_t total;
  int64_t chunk = 1;
  std::atomic<int64_t> next{0};

  // The pool's, guarded by its mutex.
  std::atomic<int> workers{0};
  int maxWorkers = 0;
  uint64_t stackBytes = 0;
  std::condition_variable finished;
};

/// Threads that are made when first needed and kept until the process ends.
/// Many threads may run jobs at once; the workers spread over them.
class Pool {
public:
  /// The pool of this process; a forked child gets one of its own.
  static Pool &get();

  /// Runs a job with up to `workers` threads of the pool and, if `callerJoins`,
  /// the caller. Every worker has at least `stackBytes` of stack. Returns when
  /// all claimed work is done. Throws OutOfResources if no thread can be had
  /// for a job that the caller may not join.
  void run(Job &job, int workers, bool callerJoins, uint64_t stackBytes);

  /// Bytes of a worker's stack that programs cannot have.
  static constexpr uint64_t kReservedStack = 512 << 10;

private:
  Pool() = default;
  static void installForkHandlers();
  void ensureWorkers(int count, uint64_t stackBytes);
  bool startWorker(uint64_t stackBytes);
  void runWorker(uint64_t stackBytes);
  Job *pick(uint64_t stackBytes);
  void wake(int count);
  void waitFor(Job &job, std::unique_lock<std::mutex> &lock);

  std::mutex mutex;
  std::condition_variable available;
  std::vector<Job *> jobs;
  int alive = 0, sleeping = 0;
  uint64_t workerStack = uint64_t(64) << 20;
  /// Changes whenever a job is added: spinning workers watch it.
  std::atomic<uint64_t> arrivals{0};
};

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_CPU_POOL_H
