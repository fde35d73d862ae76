//===- Waiting.cpp - Long work that Ctrl-C can leave ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single pass of LLVM may take seconds and can't be stopped in its middle, so
// polling alone would make Ctrl-C wait for it. Here the thread that asked goes
// on at once; the work ends by itself, at the next point where it polls.
//
// Work that still runs while the process takes itself apart would find LLVM's
// globals gone. At exit it gets a moment to end; after that the process ends
// without taking itself apart.
//===----------------------------------------------------------------------===//

#include "Waiting.h"

#include <pybind11/pybind11.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <set>
#include <system_error>
#include <unistd.h>

namespace py = pybind11;
using namespace terrazzo::bindings;

namespace {

/// How long a pending signal may wait: well below what a person notices.
constexpr std::chrono::milliseconds kPoll{20};
/// How long an exit may wait for work that nobody waits for.
constexpr std::chrono::milliseconds kLastMoment{200};
constexpr size_t kStackBytes = size_t{512} << 20;

struct Job {
  StopFlag stop{0};
  bool isDone = false;
};

/// All work that runs now.
struct Running {
  std::mutex mutex;
  std::condition_variable ended;
  std::set<Job *> jobs;
};

/// Never destroyed: threads and the handler below outlive it.
Running &running() {
  static auto &all = *new Running;
  return all;
}

void leaveAtExit(int status, void *) {
  Running &all = running();
  std::unique_lock lock(all.mutex);
  for (Job *job : all.jobs)
    job->stop = 1;
  if (all.ended.wait_for(lock, kLastMoment, [&] { return all.jobs.empty(); }))
    return;
  std::fflush(nullptr);
  _exit(status);
}

/// Work and where to say that it is done.
struct Task {
  std::function<void(const StopFlag &)> work;
  std::shared_ptr<Job> job;
};

void *run(void *given) {
  std::unique_ptr<Task> task(static_cast<Task *>(given));
  task->work(task->job->stop);
  task->work = nullptr; // What it owns is freed before anybody is told.
  Running &all = running();
  std::lock_guard lock(all.mutex);
  task->job->isDone = true;
  all.jobs.erase(task->job.get());
  all.ended.notify_all();
  return nullptr;
}

/// Recursion over expressions goes as deep as users write them: a large stack,
/// the system's own size where memory is limited.
pthread_t start(std::unique_ptr<Task> task) {
  static std::once_flag once;
  std::call_once(once, [] { on_exit(leaveAtExit, nullptr); });
  Running &all = running();
  std::lock_guard lock(all.mutex);
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  int problem = pthread_create(&thread, &attributes, run, task.get());
  pthread_attr_destroy(&attributes);
  if (problem != 0)
    problem = pthread_create(&thread, nullptr, run, task.get());
  if (problem != 0)
    throw std::system_error(problem, std::generic_category(),
                            "cannot start a thread to compile on");
  // Whoever runs now owns it.
  all.jobs.insert(task.release()->job.get());
  return thread;
}

/// Python runs signal handlers in its main thread only.
bool isMainThread() {
  py::object main = py::module_::import("threading").attr("main_thread")();
  return main.attr("ident").cast<unsigned long>() ==
         PyThread_get_thread_ident();
}

} // namespace

void terrazzo::bindings::interruptibly(
    std::function<void(const StopFlag &)> work) {
  bool polls = isMainThread();
  auto job = std::make_shared<Job>();
  Running &all = running();
  pthread_t thread = start(std::make_unique<Task>(Task{std::move(work), job}));
  bool isDone = false;
  while (!isDone) {
    // By hand: the end of the interpreter may end this thread, a daemon, where
    // it takes the lock again, and destructors must not be left that way.
    PyThreadState *state = PyEval_SaveThread();
    if (polls) {
      std::unique_lock lock(all.mutex);
      isDone = all.ended.wait_for(lock, kPoll, [&] { return job->isDone; });
    }
    if (isDone || !polls) {
      pthread_join(thread, nullptr);
      isDone = true;
    }
    PyEval_RestoreThread(state);
    if (isDone || PyErr_CheckSignals() == 0)
      continue;
    job->stop = 1;
    // Once more each time, so that it runs before the destructors of whatever
    // was made since.
    on_exit(leaveAtExit, nullptr);
    pthread_detach(thread);
    throw py::error_already_set();
  }
}
