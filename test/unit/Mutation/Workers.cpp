//===- Workers.cpp - Numbered jobs that may crash -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace terrazzo::mutation;

/// Processor time, not the clock's: other work on the machine does not count.
static constexpr int kMostSeconds = 20;

static void copyText(char *to, size_t size, const std::string &text) {
  size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

void Note::setInput(const std::string &text) {
  copyText(input, sizeof(input), text);
}
void Note::setFailure(const std::string &text) {
  copyText(failure, sizeof(failure), text);
}

namespace {

/// Of one process, shared with the parent.
struct Slot {
  size_t job; ///< the one that is being done
  Note note;
};

class Pool {
public:
  Pool(size_t count, size_t processes, const std::string &folder,
       const std::function<void(size_t, Note &)> &job)
      : count(count), processes(processes), folder(folder), job(job) {
    void *memory =
        mmap(nullptr, processes * sizeof(Slot), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    slots = static_cast<Slot *>(memory);
  }
  ~Pool() { munmap(slots, processes * sizeof(Slot)); }
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  Outcome run() {
    std::map<pid_t, size_t> running;
    for (size_t number = 0; number < processes; ++number)
      running[start(number, number)] = number;
    while (!running.empty()) {
      int status = 0;
      pid_t pid = wait(&status);
      auto it = running.find(pid);
      if (it == running.end())
        continue;
      size_t number = it->second;
      running.erase(it);
      Slot &slot = slots[number];
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        continue;
      std::string what = slot.note.failure;
      if (what.empty())
        what = describe(status) + lastWords(number);
      outcome.failures.push_back({slot.job, what, slot.note.input});
      if (slot.job + processes < count)
        running[start(number, slot.job + processes)] = number;
    }
    for (size_t number = 0; number < processes; ++number) {
      outcome.counts.resize(std::size(slots[number].note.counts));
      for (size_t i = 0; i < outcome.counts.size(); ++i)
        outcome.counts[i] += slots[number].note.counts[i];
    }
    std::sort(outcome.failures.begin(), outcome.failures.end(),
              [](const Failure &a, const Failure &b) { return a.job < b.job; });
    return std::move(outcome);
  }

private:
  /// Where a process writes what it has to say as it dies.
  std::string errorFile(size_t number) const {
    return folder + "/" + std::to_string(parent) + "-" +
           std::to_string(number) + ".stderr";
  }

  pid_t start(size_t number, size_t first) {
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid < 0)
      std::abort();
    if (pid == 0)
      work(number, first);
    return pid;
  }

  [[noreturn]] void work(size_t number, size_t first);
  static std::string describe(int status);
  std::string lastWords(size_t number);

  size_t count, processes;
  std::string folder;
  const std::function<void(size_t, Note &)> &job;
  Slot *slots = nullptr;
  pid_t parent = getpid();
  Outcome outcome;
};

} // namespace

void Pool::work(size_t number, size_t first) {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
    int file = standard == STDOUT_FILENO
                   ? open("/dev/null", O_WRONLY)
                   : open(errorFile(number).c_str(), flags, 0600);
    dup2(file, standard);
    close(file);
  }
  Slot &slot = slots[number];
  for (size_t next = first; next < count; next += processes) {
    slot.job = next;
    slot.note.input[0] = slot.note.failure[0] = 0;
    itimerval limit = {{0, 0}, {kMostSeconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    job(next, slot.note);
    // A new process goes on: this one may have taken harm.
    if (slot.note.failure[0])
      _exit(1);
  }
  unlink(errorFile(number).c_str());
  _exit(0);
}

std::string Pool::describe(int status) {
  if (!WIFSIGNALED(status))
    return "ended its process with status " +
           std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGPROF)
    return "took more than " + std::to_string(kMostSeconds) +
           " s of processor time";
  return std::string("died of ") + strsignal(WTERMSIG(status));
}

/// The last line that the process wrote.
std::string Pool::lastWords(size_t number) {
  std::string name = errorFile(number), text;
  if (FILE *file = std::fopen(name.c_str(), "r")) {
    char buffer[4096];
    size_t size = std::fread(buffer, 1, sizeof(buffer), file);
    text.assign(buffer, size);
    std::fclose(file);
  }
  unlink(name.c_str());
  return text.empty() ? text : ": " + text;
}

Outcome
terrazzo::mutation::runJobs(size_t count, size_t processes,
                            const std::string &folder,
                            const std::function<void(size_t, Note &)> &job) {
  std::filesystem::create_directories(folder);
  processes = std::clamp<size_t>(processes, 1, std::max<size_t>(1, count));
  return Pool(count, processes, folder, job).run();
}
