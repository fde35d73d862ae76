//===- Pool.cpp - The threads of the CPU driver ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mutex guards the list of jobs; programs are claimed without it. Threads
// spin for a moment before they sleep, because launches come in bursts and a
// wake-up costs more than a small kernel.
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "terrazzo/Runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <pthread.h>
#include <string>

namespace terrazzo::runtime {

static constexpr std::chrono::microseconds kSpin{20};

/// Spins until `done` or until it is time to sleep. True if `done`.
template <typename Done>
static bool spin(Done done) {
  auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 16; ++i) {
      if (done())
        return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (std::chrono::steady_clock::now() - start < kSpin);
  return done();
}

// Never destroyed: workers may still sleep in it when the process exits.
static std::atomic<Pool *> instance{nullptr};

Pool &Pool::get() {
  static const bool initialized = [] {
    instance.store(new Pool);
    installForkHandlers();
    return true;
  }();
  (void)initialized;
  return *instance.load(std::memory_order_acquire);
}

void Pool::installForkHandlers() {
  // A child has none of the threads: it leaves the old pool behind.
  pthread_atfork(nullptr, nullptr, [] { instance.store(new Pool); });
}

void Pool::run(Job &job, int workers, bool callerJoins, uint64_t stackBytes) {
  std::unique_lock lock(mutex);
  ensureWorkers(workers, stackBytes);
  if (!callerJoins && alive == 0)
    throw Error(Status::OutOfResources,
                "launch: expected to start a thread with a stack of " +
                    std::to_string(workerStack) +
                    " bytes, the system refused; raise the limits on memory "
                    "and threads (ulimit -v, ulimit -u)");
  job.maxWorkers = workers;
  job.stackBytes = stackBytes;
  jobs.push_back(&job);
  arrivals.fetch_add(1, std::memory_order_relaxed);
  wake(workers);
  if (callerJoins) {
    lock.unlock();
    job.work(job);
    spin([&] { return job.workers.load(std::memory_order_relaxed) == 0; });
    lock.lock();
  }
  waitFor(job, lock);
  jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
}

void Pool::waitFor(Job &job, std::unique_lock<std::mutex> &lock) {
  job.finished.wait(lock, [&] {
    return job.isExhausted() &&
           job.workers.load(std::memory_order_relaxed) == 0;
  });
}

void Pool::wake(int count) {
  if (count >= sleeping) {
    available.notify_all();
    return;
  }
  for (int i = 0; i < count; ++i)
    available.notify_one();
}

void Pool::ensureWorkers(int count, uint64_t stackBytes) {
  if (stackBytes + kReservedStack > workerStack) {
    // Threads with too little stack leave when they next look for work.
    constexpr uint64_t kUnit = 1 << 20;
    workerStack = (stackBytes + kReservedStack + kUnit - 1) / kUnit * kUnit;
    alive = 0;
    available.notify_all();
  }
  while (alive < count && startWorker(workerStack))
    ++alive;
}

bool Pool::startWorker(uint64_t stackBytes) {
  struct Start {
    Pool *pool;
    uint64_t stackBytes;
  };
  auto *start = new Start{this, stackBytes}; // the thread deletes it
  // Signals are the business of the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  // What an instruction raises goes to its own thread; blocked, it would pass
  // by the process's handlers.
  for (int raised : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP})
    sigdelset(&all, raised);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int result = pthread_attr_setstacksize(&attributes, stackBytes);
  if (result == 0)
    result = pthread_create(
        &thread, &attributes,
        [](void *data) -> void * {
          std::unique_ptr<Start> start(static_cast<Start *>(data));
          pthread_setname_np(pthread_self(), "terrazzo");
          start->pool->runWorker(start->stackBytes);
          return nullptr;
        },
        start);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (result != 0)
    delete start;
  return result == 0;
}

Job *Pool::pick(uint64_t stackBytes) {
  for (Job *job : jobs)
    if (!job->isExhausted() &&
        job->workers.load(std::memory_order_relaxed) < job->maxWorkers &&
        job->stackBytes + kReservedStack <= stackBytes)
      return job;
  return nullptr;
}

void Pool::runWorker(uint64_t stackBytes) {
  std::unique_lock lock(mutex);
  for (;;) {
    if (Job *job = pick(stackBytes)) {
      job->workers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      job->work(*job);
      lock.lock();
      // The caller cannot return before it gets the lock.
      if (job->workers.fetch_sub(1, std::memory_order_release) == 1)
        job->finished.notify_all();
      continue;
    }
    if (stackBytes < workerStack)
      return;
    uint64_t seen = arrivals.load(std::memory_order_relaxed);
    auto arrived = [&] {
      return arrivals.load(std::memory_order_relaxed) != seen;
    };
    lock.unlock();
    bool isBusy = spin(arrived);
    lock.lock();
    if (isBusy || arrived())
      continue;
    ++sleeping;
    available.wait(lock);
    --sleeping;
  }
}

} // namespace terrazzo::runtime
