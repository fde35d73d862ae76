//===- GpuStub.h - A GPU of host memory, for tests ---------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CudaStub.cpp and HipStub.cpp, libraries that stand in for the vendors',
// have in common. Memory is the host's, and every call is checked: handles,
// sizes, pointers, the current context, use after destruction. What is wrong is
// kept for the test to read. A launch runs a function of this file that has the
// kernel's name, or what the library made of its code. Launches and host
// functions are run, in their order, when they are queued; while the test plans
// "busy", when something waits; while it plans "capturing", by each stubReplay.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_GPUSTUB_H
#define TERRAZZO_TEST_UNIT_RUNTIME_GPUSTUB_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stub {

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
};

constexpr size_t kTotalMemory = size_t(1) << 30;
constexpr unsigned kMaxShared = 100 << 10, kFreeShared = 48 << 10;
constexpr unsigned kMaxThreads = 1024;

struct Launch {
  unsigned grid[3], threads, sharedBytes;
  void *const *arguments;
};

struct Function {
  std::string name;
  std::vector<size_t> sizes; ///< of the parameters
  std::function<void(const Launch &)> run;
  int allowedShared = kFreeShared;
};
struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
};
struct Event {
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
};
struct Stream {};

/// What a tensor map of the stub says; the fastest dimension first.
struct TensorMapWords {
  uint64_t base, extents[5], strideBytes[4];
  uint32_t kind; ///< type, rank, swizzle, fill: 8 bits each
  uint32_t box[5];
  uint64_t unused[3];
};

template <typename T>
T argument(const Launch &launch, size_t index) {
  T value;
  std::memcpy(&value, launch.arguments[index], sizeof(T));
  return value;
}

/// add(x, y, out, n)
inline void add(const Launch &launch) {
  auto *x = argument<const float *>(launch, 0);
  auto *y = argument<const float *>(launch, 1);
  auto *out = argument<float *>(launch, 2);
  auto n = argument<int32_t>(launch, 3);
  for (unsigned i = 0; i < launch.grid[0] * launch.threads; ++i)
    if (int32_t(i) < n)
      out[i] = x[i] + y[i];
}

/// prints(failing, buffer): two threads of each program print two elements
/// each; the program `failing` fails the assertion of line id 1.
inline void prints(const Launch &launch) {
  auto failing = argument<uint32_t>(launch, 0);
  auto *buffer = argument<uint32_t *>(launch, 1);
  for (uint32_t pid = 0; pid < launch.grid[0]; ++pid) {
    // Not in the order of the elements, as on a device.
    for (uint32_t thread : {1u, 0u}) {
      uint32_t at = buffer[0];
      buffer[0] += 10;
      if (at + 10 > buffer[1])
        continue;
      uint32_t value = 100 * pid + 2 * thread;
      uint32_t record[] = {0, 0, pid, 0, 0, 2 * thread, 2, 4, value, value + 1};
      std::memcpy(buffer + at, record, sizeof(record));
    }
    if (pid == failing && buffer[2] == 0) {
      buffer[2] = 2;
      buffer[3] = pid;
    }
  }
}

/// first(x, rows, columns, stride, out, map): the words of the map, and the
/// element that its tensor begins with.
inline void first(const Launch &launch) {
  auto map = argument<TensorMapWords>(launch, 5);
  auto *out = argument<uint64_t *>(launch, 4);
  std::memcpy(out, &map, sizeof(map));
  std::memcpy(out + 16, reinterpret_cast<const void *>(map.base), 4);
}

inline const std::map<std::string, std::function<void(const Launch &)>>
    kKernels{{"add", add},
             {"nothing", [](const Launch &) {}},
             {"prints", prints},
             {"first", first}};

/// The function of this file that a kernel's name means when it is launched.
inline std::function<void(const Launch &)> functionNamed(std::string name) {
  return [name = std::move(name)](const Launch &launch) {
    kKernels.at(name)(launch);
  };
}

/// All state; one lock for every call.
class Gpu {
public:
  static Gpu &get() {
    static Gpu &gpu = *new Gpu;
    return gpu;
  }

  std::recursive_mutex mutex;
  bool isInitialized = false;
  std::map<std::string, long> settings;
  std::vector<std::string> violations;
  std::map<std::string, long> counts; ///< calls by name
  size_t used = 0;

  long setting(const std::string &key, long otherwise) {
    auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
  }
  int wrong(const std::string &call, const std::string &what, int code) {
    violations.push_back(call + ": " + what);
    return code;
  }

  /// Begins a call: counts it, and gives the code that a test planned for it.
  /// A planned code from 700 on stays, as a lost context does.
  int enter(const std::string &call) {
    ++counts[call];
    if (isInHostFunction)
      return wrong(call, "in a host function", kInvalidValue);
    if (!isInitialized)
      return wrong(call, "before init", kNotInitialized);
    if (long lost = setting("lost", 0))
      return int(lost);
    auto planned = settings.find("fail " + call);
    if (planned == settings.end())
      return kSuccess;
    int code = int(planned->second);
    settings.erase(planned);
    if (code >= 700 && code < 800 && code != 701)
      settings["lost"] = code;
    return code;
  }

  //===--- Memory ---------------------------------------------------------===//
  int alloc(const char *call, std::map<uintptr_t, size_t> &where, void **memory,
            size_t bytes) {
    if (!memory || bytes == 0)
      return wrong(call, "no place or no bytes", kInvalidValue);
    if (used + bytes > kTotalMemory)
      return kOutOfMemory;
    *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    where[reinterpret_cast<uintptr_t>(*memory)] = bytes;
    used += bytes;
    return kSuccess;
  }
  int release(const char *call, std::map<uintptr_t, size_t> &where,
              void *memory) {
    auto found = where.find(reinterpret_cast<uintptr_t>(memory));
    if (found == where.end())
      return wrong(call, "memory that was not allocated", kInvalidValue);
    used -= found->second;
    where.erase(found);
    std::free(memory);
    return kSuccess;
  }
  /// Whether bytes lie inside one allocation.
  static bool isInside(const std::map<uintptr_t, size_t> &where,
                       const void *memory, size_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(memory);
    auto next = where.upper_bound(address);
    if (next == where.begin())
      return false;
    auto [start, size] = *std::prev(next);
    return address + bytes <= start + size;
  }
  /// A pointer into device memory must not leave its allocation.
  bool isSound(const void *memory, size_t bytes) const {
    return isInside(device, memory, bytes) || !isInside(device, memory, 1);
  }
  int copy(const char *call, void *to, const void *from, size_t bytes) {
    if (bytes == 0 || !to || !from)
      return wrong(call, "an empty copy", kInvalidValue);
    if (!isSound(to, bytes) || !isSound(from, bytes))
      return wrong(call, "outside of an allocation", kInvalidValue);
    std::memmove(to, from, bytes);
    return kSuccess;
  }
  int fill(const char *call, void *memory, uint8_t value, size_t bytes) {
    if (!isInside(device, memory, bytes))
      return wrong(call, "outside of an allocation", kInvalidValue);
    std::memset(memory, value, bytes);
    return kSuccess;
  }
  std::map<uintptr_t, size_t> device, host;

  //===--- Streams and events ---------------------------------------------===//
  std::set<void *> streams, events, modules, functions;

  bool isStream(void *stream) const { return !stream || streams.count(stream); }
  int checkStream(const char *call, void *stream) {
    return isStream(stream) ? kSuccess
                            : wrong(call, "no such stream", kInvalidHandle);
  }
  int checkEvent(const char *call, void *event) {
    return events.count(event) ? kSuccess
                               : wrong(call, "no such event", kInvalidHandle);
  }
  template <typename T>
  static T *make(std::set<void *> &where) {
    T *object = new T;
    where.insert(object);
    return object;
  }
  template <typename T>
  int destroy(const char *call, std::set<void *> &where, void *object) {
    if (!where.erase(object))
      return wrong(call, "no such object", kInvalidHandle);
    delete static_cast<T *>(object);
    return kSuccess;
  }
  int elapsed(const char *call, float *milliseconds, void *start, void *stop) {
    if (int code = checkEvent(call, start) + checkEvent(call, stop))
      return code;
    auto *first = static_cast<Event *>(start),
         *last = static_cast<Event *>(stop);
    if (!first->isRecorded || !last->isRecorded)
      return wrong(call, "an event that was not recorded", kInvalidHandle);
    *milliseconds =
        std::chrono::duration<float, std::milli>(last->time - first->time)
            .count();
    return kSuccess;
  }
  int record(const char *call, void *event, void *stream) {
    if (int code = checkEvent(call, event) + checkStream(call, stream))
      return code;
    if (setting("capturing", 0))
      return wrong(call, "while its stream is being captured", kInvalidValue);
    *static_cast<Event *>(event) = {true, std::chrono::steady_clock::now()};
    return kSuccess;
  }

  //===--- Kernels --------------------------------------------------------===//
  void addFunction(Module &module, const std::string &name,
                   std::vector<size_t> sizes,
                   std::function<void(const Launch &)> run) {
    auto function = std::make_unique<Function>();
    function->name = name;
    function->sizes = std::move(sizes);
    function->run = std::move(run);
    functions.insert(function.get());
    module.functions[name] = std::move(function);
  }
  int unload(const char *call, void *module) {
    if (!modules.count(module))
      return wrong(call, "no such module", kInvalidHandle);
    for (auto &entry : static_cast<Module *>(module)->functions)
      functions.erase(entry.second.get());
    return destroy<Module>(call, modules, module);
  }
  int find(const char *call, void **function, void *module, const char *name) {
    if (!modules.count(module))
      return wrong(call, "no such module", kInvalidHandle);
    auto &known = static_cast<Module *>(module)->functions;
    auto found = known.find(name);
    if (found == known.end())
      return kNotFound;
    *function = found->second.get();
    return kSuccess;
  }
  int attribute(const char *call, int *value, int which, void *function) {
    if (!functions.count(function))
      return wrong(call, "no such function", kInvalidHandle);
    switch (which) {
    case 0:
      *value = int(setting("function threads", kMaxThreads));
      return kSuccess;
    case 1:
      *value = int(setting("static shared", 0));
      return kSuccess;
    case 3:
      *value = int(setting("local bytes", 0));
      return kSuccess;
    case 4:
      *value = int(setting("registers", 24));
      return kSuccess;
    }
    return wrong(call, "an attribute that is not known", kInvalidValue);
  }
  int launch(const char *call, void *function, Launch launch,
             const unsigned block[3], void *stream, void **extra) {
    if (int code = checkStream(call, stream))
      return code;
    if (!functions.count(function))
      return wrong(call, "no such function", kInvalidHandle);
    auto &kernel = *static_cast<Function *>(function);
    if (extra || block[1] != 1 || block[2] != 1 || !block[0] ||
        block[0] > kMaxThreads || !launch.grid[0] || !launch.grid[1] ||
        !launch.grid[2])
      return wrong(call, "a grid or block that is none", kInvalidValue);
    if (int(launch.sharedBytes) > kernel.allowedShared)
      return wrong(call, "more shared memory than was asked for",
                   kInvalidValue);
    // The bytes that the library would read.
    std::vector<std::vector<uint8_t>> values;
    for (size_t i = 0; i < kernel.sizes.size(); ++i) {
      auto *from = static_cast<const uint8_t *>(launch.arguments[i]);
      if (!from)
        return wrong(call, "an argument without a value", kInvalidValue);
      values.emplace_back(from, from + kernel.sizes[i]);
    }
    submit([launch, run = kernel.run, values = std::move(values)]() mutable {
      std::vector<void *> arguments;
      for (auto &value : values)
        arguments.push_back(value.data());
      launch.arguments = arguments.data();
      run(launch);
    });
    return int(setting("lost", 0));
  }
  int launchHost(const char *call, void *stream, void *data,
                 std::function<void()> function) {
    if (int code = checkStream(call, stream))
      return code;
    if (!data)
      return wrong(call, "nothing for the function", kInvalidValue);
    // As after an error of the context.
    if (setting("drop host functions", 0))
      return kSuccess;
    submit([this, function = std::move(function)] {
      isInHostFunction = true;
      function();
      isInHostFunction = false;
    });
    return kSuccess;
  }

  //===--- Work -----------------------------------------------------------===//
  using Work = std::function<void()>;

  void submit(Work work) {
    if (setting("capturing", 0))
      graph.push_back(std::move(work));
    else if (setting("busy", 0))
      queue.push_back(std::move(work));
    else
      work();
  }
  void finish() {
    for (const Work &work : std::exchange(queue, {}))
      work();
  }
  bool isInHostFunction = false;
  std::vector<Work> queue, graph;
};

} // namespace stub

/// Begins the body of a call that needs a context.
#define STUB_ENTER(name, isCurrent)                                            \
  stub::Gpu &gpu = stub::Gpu::get();                                           \
  std::lock_guard lock(gpu.mutex);                                             \
  constexpr const char *call = #name;                                          \
  if (int code = gpu.enter(call))                                              \
    return code;                                                               \
  if (!(isCurrent))                                                            \
    return gpu.wrong(call, "without the device's context",                     \
                     stub::kInvalidContext);                                   \
  (void)call

#endif // TERRAZZO_TEST_UNIT_RUNTIME_GPUSTUB_H
