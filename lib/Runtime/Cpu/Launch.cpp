//===- Launch.cpp - Running the programs of a grid ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread that takes part has a Participant: a KernelContext of its own and
// the place that stop and fail jump back to. They jump over frames of generated
// code only, where nothing needs clean-up.
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Pool.h"
#include "Runtime/Output/DeviceOutput.h"
#include "terrazzo/Runtime/Cpu.h"
#include "terrazzo/Runtime/Interrupt.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <cstdio>
#include <limits>
#include <mutex>
#include <new>
#include <pthread.h>

namespace terrazzo::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// A launch that takes less than this stays on the calling thread.
constexpr std::chrono::nanoseconds kWorthWaking{10000};

/// Stack that callbacks (print) may need below the programs.
constexpr uint64_t kCallbackStack = 64 << 10;

/// The default floating-point mode while it lives: a caller that flushes
/// denormals must not make results depend on which thread computed them.
class FloatMode {
public:
#if defined(__x86_64__)
  FloatMode() : saved(__builtin_ia32_stmxcsr()) {
    if (saved != kDefault)
      __builtin_ia32_ldmxcsr(kDefault);
  }
  ~FloatMode() {
    if (saved != kDefault)
      __builtin_ia32_ldmxcsr(saved);
  }

private:
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved;
#else
  FloatMode() {}
  ~FloatMode() {}
#endif
};

struct Launch : Job {
  Launch(CpuProgram &program, const Grid &grid, void *const *args,
         int64_t total, std::atomic<int32_t> &cancel)
      : Job(total,
            [](Job &job) noexcept {
              static_cast<Launch &>(job).participate();
            }),
        program(program), grid(grid), args(args), cancel(cancel) {}

  /// Runs chunks until there are none left or, if given, the time is over.
  void participate(const Clock::time_point *until = nullptr) noexcept;
  void recordFailure(uint32_t line, const int32_t (&pid)[3]);
  /// Makes all threads stop as soon as they look.
  void stopAll() {
    abandon();
    cancel.store(1, std::memory_order_relaxed);
  }
  void throwIfStopped();

  CpuProgram &program;
  const Grid grid;
  void *const *const args;
  std::atomic<int32_t> &cancel;
  std::atomic<bool> isCancelled{false};
  std::atomic<int64_t> nanoseconds{0}, programsTimed{0};

  std::mutex failureMutex;
  bool hasFailed = false;
  uint32_t failedLine = 0;
  std::array<int32_t, 3> failedPid{};
};

struct Participant {
  KernelContext context;
  Launch &launch;
  // _setjmp: without saving the signal mask, which would be a system call.
  jmp_buf escape;

  explicit Participant(Launch &launch);
  static Participant &of(KernelContext *context) {
    return *static_cast<Participant *>(context->runtime);
  }
};

void onStop(KernelContext *context) {
  Participant &self = Participant::of(context);
  self.launch.isCancelled.store(true, std::memory_order_relaxed);
  self.launch.stopAll();
  _longjmp(self.escape, 1);
}

void onFail(KernelContext *context, uint32_t line, int32_t pid0, int32_t pid1,
            int32_t pid2) {
  Participant &self = Participant::of(context);
  self.launch.recordFailure(line, {pid0, pid1, pid2});
  self.launch.stopAll();
  _longjmp(self.escape, 1);
}

void onPrint(KernelContext *context, uint32_t line, int32_t pid0, int32_t pid1,
             int32_t pid2, int32_t operand, int32_t count, const void *data) {
  // Nothing may be thrown through generated code.
  try {
    const Artifact &artifact =
        *Participant::of(context).launch.program.artifact;
    writeToStandardOutput(
        formatPrint(artifact, line, {pid0, pid1, pid2}, operand, count, data));
  } catch (const std::bad_alloc &) {
    std::fputs(
        "terrazzo: a device print was lost, the host has no memory left\n",
        stderr);
  }
}

Participant::Participant(Launch &launch) : launch(launch) {
  const Grid &grid = launch.grid;
  context = {{int32_t(grid.x), int32_t(grid.y), int32_t(grid.z)},
             reinterpret_cast<volatile int32_t *>(&launch.cancel),
             onStop,
             onFail,
             onPrint,
             this};
}

void runChunks(Participant &self, const Clock::time_point *until) {
  Launch &launch = self.launch;
  KernelEntry entry = launch.program.entry;
  int64_t programs = 0, begin, end;
  if (launch.total == 1) {
    if (launch.claim(begin, end))
      entry(launch.args, &self.context, begin, end);
    return;
  }
  auto start = Clock::now();
  while (launch.claim(begin, end)) {
    if (launch.cancel.load(std::memory_order_relaxed))
      onStop(&self.context);
    entry(launch.args, &self.context, begin, end);
    programs += end - begin;
    if (until && Clock::now() > *until)
      break;
  }
  launch.nanoseconds.fetch_add((Clock::now() - start).count(),
                               std::memory_order_relaxed);
  launch.programsTimed.fetch_add(programs, std::memory_order_relaxed);
}

/// What generated code does at its end, for programs that left before: tile
/// registers in use are saved in every switch of threads.
void releaseTiles(const Artifact &artifact) {
#if defined(__x86_64__)
  if (artifact.chip.find("+amx-tile") != std::string::npos)
    asm volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0" ::: "memory");
#endif
}

void Launch::participate(const Clock::time_point *until) noexcept {
  FloatMode mode;
  Participant self(*this);
  if (_setjmp(self.escape) == 0)
    runChunks(self, until);
  else
    releaseTiles(*program.artifact);
}

void Launch::recordFailure(uint32_t line, const int32_t (&pid)[3]) {
  std::array<int32_t, 3> id{pid[0], pid[1], pid[2]};
  std::lock_guard lock(failureMutex);
  // Of those that were seen the first program, for stabler messages.
  if (hasFailed &&
      std::lexicographical_compare(failedPid.rbegin(), failedPid.rend(),
                                   id.rbegin(), id.rend()))
    return;
  hasFailed = true;
  failedLine = line;
  failedPid = id;
}

void Launch::throwIfStopped() {
  if (hasFailed)
    throw assertionError(*program.artifact, *program.name, failedLine,
                         failedPid);
  if (isCancelled.load(std::memory_order_relaxed))
    throw Error(Status::Cancelled, "launch of kernel '" + *program.name +
                                       "': cancelled by an interrupt");
}

/// The lowest address of this thread's stack.
const char *stackLow() {
  thread_local const char *low = [] {
    void *address = nullptr;
    size_t size = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &address, &size);
      pthread_attr_destroy(&attributes);
    }
    // Unknown: none is left, and the pool's threads do the work.
    return size ? static_cast<const char *>(address)
                : reinterpret_cast<const char *>(UINTPTR_MAX);
  }();
  return low;
}

bool callerHasStack(uint64_t bytes) {
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  auto low = reinterpret_cast<uintptr_t>(stackLow());
  return here > low && here - low > bytes + kCallbackStack;
}

/// Runs a launch of more than one program.
void runMany(Launch &launch) {
  CpuProgram &program = launch.program;
  uint64_t stackBytes = program.artifact->stackBytes;
  bool callerJoins = callerHasStack(stackBytes);
  int threads = int(std::min<int64_t>(cpuThreads(), launch.total));
  bool isAlone = callerJoins && threads == 1;
  if (callerJoins && !isAlone) {
    // Wakes nobody for less than a wake-up costs; if that was a bad guess, only
    // one chunk is late.
    int64_t guess = program.nanoseconds.load(std::memory_order_relaxed);
    if (guess && guess < kWorthWaking.count() / launch.total) {
      launch.chunk = std::max<int64_t>(1, launch.total / 8);
      auto until = Clock::now() + kWorthWaking;
      launch.participate(&until);
    }
  }
  launch.chunk = std::max<int64_t>(1, launch.total / (threads * int64_t(16)));
  if (isAlone)
    launch.participate();
  else if (!launch.isExhausted())
    Pool::get().run(launch, callerJoins ? threads - 1 : threads, callerJoins,
                    stackBytes);
  if (int64_t programs = launch.programsTimed.load()) {
    int64_t each = launch.nanoseconds.load() / programs;
    int64_t most = std::numeric_limits<uint32_t>::max();
    program.nanoseconds.store(uint32_t(std::clamp<int64_t>(each, 1, most)),
                              std::memory_order_relaxed);
  }
}

} // namespace

void runPrograms(CpuProgram &program, const Grid &grid, void *const *args) {
  constexpr int64_t kMaxAxis = std::numeric_limits<int32_t>::max();
  int64_t total;
  // The usual case without the text that an error needs.
  if (((grid.x | grid.y | grid.z) >> 20) == 0)
    total = grid.x * grid.y * grid.z;
  else
    total = countPrograms(grid, kMaxAxis,
                          "launch of kernel '" + *program.name + "'");
  if (total == 0)
    return;
  CancelScope scope;
  Launch launch(program, grid, args, total, scope.flag());
  if (total > 1)
    runMany(launch);
  else if (callerHasStack(program.artifact->stackBytes))
    launch.participate();
  else
    Pool::get().run(launch, 1, false, program.artifact->stackBytes);
  launch.throwIfStopped();
}

} // namespace terrazzo::runtime
