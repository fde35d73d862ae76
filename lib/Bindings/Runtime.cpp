//===- Runtime.cpp - Python's view of artifacts, drivers and the cache ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thin classes over terrazzo-c/Runtime.h. A status becomes a StatusError,
// except that a launch which an interrupt stopped lets Python's own handler
// raise first. Kernel.launch here is for tools and tests: kernels are launched
// through Dispatcher.cpp.
//===----------------------------------------------------------------------===//

#include "terrazzo-c/Runtime.h"
#include "Modules.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace py = pybind11;

namespace {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

PyObject *statusErrorType = nullptr;

[[noreturn]] void raiseLastError() {
  const TzErrorInfo *info = tzLastError();
  if (info->status == TzStatusCancelled) {
    if (PyErr_CheckSignals() == 0)
      PyErr_SetString(PyExc_KeyboardInterrupt, info->message);
    throw py::error_already_set();
  }
  py::object type = py::reinterpret_borrow<py::object>(statusErrorType);
  py::object error = type(info->message);
  error.attr("status") = tzStatusName(info->status);
  if (info->status == TzStatusAssertionFailed) {
    error.attr("kernel") = info->kernel;
    error.attr("file") = info->file;
    error.attr("line") = info->line;
    error.attr("column") = info->column;
    error.attr("text") = info->text;
    error.attr("program_id") =
        py::make_tuple(info->pid[0], info->pid[1], info->pid[2]);
  }
  PyErr_SetObject(statusErrorType, error.ptr());
  throw py::error_already_set();
}

void check(TzStatus status) {
  if (status != TzStatusOk)
    raiseLastError();
}

/// Calls into the runtime without Python's lock.
template <typename Action>
TzStatus unlocked(Action action) {
  py::gil_scoped_release release;
  return action();
}

void *asStream(uintptr_t stream) { return reinterpret_cast<void *>(stream); }

void appendTo(const char *data, size_t size, void *out) {
  static_cast<std::string *>(out)->append(data, size);
}

template <typename T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *handle) const { destroy(handle); }
};
template <typename T, void (*destroy)(T *)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;

using ArtifactHandle = Handle<TzArtifact, tzArtifactDestroy>;
using DriverHandle = Handle<TzDriver, tzDriverRelease>;
using KernelHandle = Handle<TzKernel, tzKernelRelease>;
using EventHandle = Handle<TzEvent, tzEventDestroy>;
using CacheHandle = Handle<TzCache, tzCacheClose>;
using DispatcherHandle = Handle<TzDispatcher, tzDispatcherDestroy>;

//===----------------------------------------------------------------------===//
// Artifact
//===----------------------------------------------------------------------===//

class Artifact {
public:
  explicit Artifact(const py::bytes &bytes) {
    std::string_view view = bytes;
    TzArtifact *read = nullptr;
    check(tzArtifactParse(view.data(), view.size(), &read));
    handle.reset(read);
  }
  Artifact(const std::string &target, const std::string &chip,
           const std::string &entry, const py::bytes &code) {
    std::string_view view = code;
    TzArtifact *made = nullptr;
    check(tzArtifactCreate(target.c_str(), chip.c_str(), entry.c_str(),
                           view.data(), view.size(), &made));
    handle.reset(made);
  }

  void addArg(const std::string &kind, int bytes, const std::string &name,
              const std::string &dtype, bool written) {
    static const std::map<std::string, TzArgKind> kinds{
        {"pointer", TzArgPointer}, {"int", TzArgInt}, {"float", TzArgFloat}};
    auto found = kinds.find(kind);
    if (found == kinds.end())
      throw py::value_error("expected the kind 'pointer', 'int' or 'float', "
                            "found '" +
                            kind + "'");
    if (bytes < 1 || bytes > 8)
      throw py::value_error("expected an argument of 1 to 8 bytes, found " +
                            std::to_string(bytes));
    check(tzArtifactAddArg(handle.get(), found->second, uint8_t(bytes),
                           name.c_str(), dtype.c_str(), written));
  }

  py::bytes serialize() const {
    std::string bytes;
    check(tzArtifactSerialize(handle.get(), appendTo, &bytes));
    return py::bytes(bytes);
  }
  py::bytes code() const {
    size_t size = 0;
    const void *code = tzArtifactCode(handle.get(), &size);
    return py::bytes(static_cast<const char *>(code), size);
  }
  py::dict stages() const {
    py::dict stages;
    for (size_t i = 0, n = tzArtifactStageCount(handle.get()); i < n; ++i) {
      const char *name, *text;
      size_t size;
      check(tzArtifactStage(handle.get(), i, &name, &text, &size));
      stages[name] = py::str(text, size);
    }
    return stages;
  }
  py::dict metadata() const {
    py::dict metadata;
    for (size_t i = 0, n = tzArtifactMetadataCount(handle.get()); i < n; ++i) {
      const char *key, *value;
      check(tzArtifactMetadata(handle.get(), i, &key, &value));
      metadata[key] = value;
    }
    return metadata;
  }
  py::list args() const {
    static constexpr const char *kinds[] = {"pointer", "int", "float"};
    py::list args;
    for (size_t i = 0, n = tzArtifactArgCount(handle.get()); i < n; ++i) {
      TzArgInfo info;
      check(tzArtifactArg(handle.get(), i, &info));
      py::dict arg;
      arg["kind"] = kinds[info.kind];
      arg["bytes"] = info.bytes;
      arg["name"] = info.name;
      arg["dtype"] = info.dtype;
      arg["written"] = info.written;
      args.append(arg);
    }
    return args;
  }
  py::list lines() const {
    py::list lines;
    for (size_t i = 0, n = tzArtifactLineCount(handle.get()); i < n; ++i) {
      TzLineInfo info;
      check(tzArtifactLine(handle.get(), i, &info));
      py::dict line;
      line["id"] = info.id;
      line["file"] = info.file;
      line["line"] = info.line;
      line["column"] = info.column;
      line["text"] = info.text;
      lines.append(line);
    }
    return lines;
  }
  std::string tensorMaps() const {
    std::string text;
    check(tzArtifactTensorMaps(handle.get(), appendTo, &text));
    return text;
  }
  TzResources resources() const {
    TzResources resources;
    tzArtifactResources(handle.get(), &resources);
    return resources;
  }

  ArtifactHandle handle;
};

//===----------------------------------------------------------------------===//
// Driver, kernel, event
//===----------------------------------------------------------------------===//

/// A kernel with a plan that takes its parameters in order.
class Kernel {
public:
  explicit Kernel(TzKernel *loaded) : handle(loaded) {
    const TzArtifact *artifact = tzKernelArtifact(loaded);
    std::vector<uint32_t> slots(tzArtifactArgCount(artifact));
    for (size_t i = 0; i < slots.size(); ++i) {
      TzArgInfo info;
      check(tzArtifactArg(artifact, i, &info));
      kinds.push_back(info.kind);
      slots[i] = uint32_t(i);
    }
    TzDispatcher *made = nullptr;
    check(tzDispatcherCreate(&made));
    dispatcher.reset(made);
    check(tzDispatcherInsert(made, nullptr, 0, loaded, slots.data(),
                             slots.size(), &plan));
  }

  void launch(const std::vector<int64_t> &grid, const py::sequence &args,
              uintptr_t stream) {
    if (grid.size() != 3)
      throw py::value_error("expected a grid of 3 numbers, found " +
                            std::to_string(grid.size()));
    std::vector<TzValue> values(args.size());
    for (size_t i = 0; i < values.size() && i < kinds.size(); ++i) {
      py::object arg = args[i];
      if (kinds[i] == TzArgFloat)
        values[i].f = arg.cast<double>();
      else
        // Also unsigned ones: the bits are what counts.
        values[i].i = int64_t(PyLong_AsUnsignedLongLongMask(arg.ptr()));
      if (PyErr_Occurred())
        throw py::error_already_set();
    }
    check(unlocked([&] {
      return tzPlanLaunch(plan, grid.data(), asStream(stream), values.data(),
                          values.size());
    }));
  }

private:
  KernelHandle handle;
  DispatcherHandle dispatcher;
  const TzPlan *plan = nullptr;
  std::vector<TzArgKind> kinds;
};

class Event {
public:
  explicit Event(TzEvent *event) : handle(event) {}
  void record(uintptr_t stream) {
    check(tzEventRecord(handle.get(), asStream(stream)));
  }
  void wait(uintptr_t stream) {
    check(tzEventWait(handle.get(), asStream(stream)));
  }
  bool isDone() {
    bool done = false;
    check(tzEventQuery(handle.get(), &done));
    return done;
  }
  void synchronize() {
    check(unlocked([&] { return tzEventSynchronize(handle.get()); }));
  }
  double elapsed(Event &stop) {
    double milliseconds = 0;
    check(unlocked([&] {
      return tzEventElapsed(handle.get(), stop.handle.get(), &milliseconds);
    }));
    return milliseconds;
  }

private:
  EventHandle handle;
};

class Driver {
public:
  explicit Driver(const std::string &name) {
    TzDriver *driver = nullptr;
    check(tzDriverOpen(name.c_str(), &driver));
    handle.reset(driver);
  }
  std::string name() const { return tzDriverName(handle.get()); }
  size_t deviceCount() const { return tzDriverDeviceCount(handle.get()); }
  py::dict properties(int32_t device) const {
    TzDeviceProperties facts;
    check(tzDriverProperties(handle.get(), device, &facts));
    py::dict result;
    result["name"] = facts.name;
    result["chip"] = facts.chip;
    result["memory_bytes"] = facts.memoryBytes;
    result["shared_bytes"] = facts.sharedBytes;
    result["stack_bytes"] = facts.stackBytes;
    result["units"] = facts.units;
    result["warp_size"] = facts.warpSize;
    result["max_threads"] = facts.maxThreads;
    result["cache_line_bytes"] = facts.cacheLineBytes;
    result["cache_bytes"] = facts.cacheBytes;
    result["driver_version"] = facts.driverVersion;
    return result;
  }
  uintptr_t alloc(size_t bytes, int32_t device) {
    void *memory = nullptr;
    check(tzDriverAlloc(handle.get(), device, bytes, &memory));
    return reinterpret_cast<uintptr_t>(memory);
  }
  void free(uintptr_t memory, int32_t device) {
    check(tzDriverFree(handle.get(), device, reinterpret_cast<void *>(memory)));
  }
  void copy(uintptr_t to, uintptr_t from, size_t bytes, int32_t device,
            uintptr_t stream) {
    check(unlocked([&] {
      return tzDriverCopy(handle.get(), device, reinterpret_cast<void *>(to),
                          reinterpret_cast<const void *>(from), bytes,
                          asStream(stream));
    }));
  }
  void copyAsync(uintptr_t to, uintptr_t from, size_t bytes, int32_t device,
                 uintptr_t stream) {
    check(unlocked([&] {
      return tzDriverCopyAsync(
          handle.get(), device, reinterpret_cast<void *>(to),
          reinterpret_cast<const void *>(from), bytes, asStream(stream));
    }));
  }
  void fill(uintptr_t memory, uint8_t value, size_t bytes, int32_t device,
            uintptr_t stream) {
    check(unlocked([&] {
      return tzDriverFill(handle.get(), device,
                          reinterpret_cast<void *>(memory), value, bytes,
                          asStream(stream));
    }));
  }
  void synchronize(int32_t device, uintptr_t stream) {
    check(unlocked([&] {
      return tzDriverSynchronize(handle.get(), device, asStream(stream));
    }));
  }
  void poll(int32_t device) {
    check(unlocked([&] { return tzDriverPoll(handle.get(), device); }));
  }
  std::pair<uint64_t, uint64_t> memory(int32_t device) {
    uint64_t freeBytes = 0, totalBytes = 0;
    check(tzDriverMemory(handle.get(), device, &freeBytes, &totalBytes));
    return {freeBytes, totalBytes};
  }
  uintptr_t createStream(int32_t device) {
    void *stream = nullptr;
    check(tzStreamCreate(handle.get(), device, &stream));
    return reinterpret_cast<uintptr_t>(stream);
  }
  void destroyStream(uintptr_t stream, int32_t device) {
    check(tzStreamDestroy(handle.get(), device, asStream(stream)));
  }
  std::unique_ptr<Kernel> load(const py::bytes &artifact, int32_t device) {
    std::string_view view = artifact;
    TzKernel *kernel = nullptr;
    check(unlocked([&] {
      return tzKernelLoad(handle.get(), device, view.data(), view.size(),
                          &kernel);
    }));
    return std::make_unique<Kernel>(kernel);
  }
  std::unique_ptr<Event> event(int32_t device) {
    TzEvent *event = nullptr;
    check(tzEventCreate(handle.get(), device, &event));
    return std::make_unique<Event>(event);
  }

private:
  DriverHandle handle;
};

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

class Cache {
public:
  Cache(const std::string &directory, uint64_t maxBytes) {
    TzCache *cache = nullptr;
    check(unlocked(
        [&] { return tzCacheOpen(directory.c_str(), maxBytes, &cache); }));
    handle.reset(cache);
  }
  std::optional<py::bytes> get(const std::string &key) {
    std::string bytes;
    TzStatus status = unlocked([&] {
      return tzCacheGet(handle.get(), key.c_str(), appendTo, &bytes);
    });
    if (status == TzStatusNotFound)
      return std::nullopt;
    check(status);
    return py::bytes(bytes);
  }
  void put(const std::string &key, const py::bytes &bytes) {
    std::string_view view = bytes;
    check(unlocked([&] {
      return tzCachePut(handle.get(), key.c_str(), view.data(), view.size());
    }));
  }
  py::dict stats() {
    TzCacheStats stats{};
    check(unlocked([&] { return tzCacheStats(handle.get(), &stats); }));
    py::dict result;
    result["entries"] = stats.entries;
    result["bytes"] = stats.bytes;
    result["hits"] = stats.hits;
    result["misses"] = stats.misses;
    result["rejected"] = stats.rejected;
    result["puts"] = stats.puts;
    result["evicted"] = stats.evicted;
    return result;
  }
  void clear() {
    check(unlocked([&] { return tzCacheClear(handle.get()); }));
  }

private:
  CacheHandle handle;
};

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

void bindArtifact(py::module_ &m) {
  auto resource = [](auto TzResources::*field) {
    return [field](const Artifact &a) { return a.resources().*field; };
  };
  py::class_<Artifact>(m, "Artifact", "A compiled kernel.")
      .def(py::init<const py::bytes &>(), py::arg("data"),
           "Reads serialized bytes; any doubt about them is a StatusError.")
      .def(py::init<const std::string &, const std::string &,
                    const std::string &, const py::bytes &>(),
           py::arg("target"), py::arg("chip"), py::arg("entry"),
           py::arg("code"), "Makes an artifact, for tools and tests.")
      .def("add_arg", &Artifact::addArg, py::arg("kind"), py::arg("bytes"),
           py::arg("name"), py::arg("dtype"), py::arg("written") = false)
      .def("set_metadata",
           [](Artifact &a, const std::string &key, const std::string &value) {
             check(tzArtifactSetMetadata(a.handle.get(), key.c_str(),
                                         value.c_str()));
           })
      .def("serialize", &Artifact::serialize)
      .def_property_readonly(
          "target",
          [](const Artifact &a) { return tzArtifactTarget(a.handle.get()); })
      .def_property_readonly(
          "chip",
          [](const Artifact &a) { return tzArtifactChip(a.handle.get()); })
      .def_property_readonly(
          "entry",
          [](const Artifact &a) { return tzArtifactEntry(a.handle.get()); })
      .def_property_readonly("code", &Artifact::code)
      .def_property_readonly("stages", &Artifact::stages)
      .def_property_readonly("metadata", &Artifact::metadata)
      .def_property_readonly("args", &Artifact::args)
      .def_property_readonly("lines", &Artifact::lines)
      .def_property_readonly("tensor_maps", &Artifact::tensorMaps)
      .def_property_readonly("shared_bytes",
                             resource(&TzResources::sharedBytes))
      .def_property_readonly("threads_per_block",
                             resource(&TzResources::threadsPerBlock))
      .def_property_readonly("registers", resource(&TzResources::registers))
      .def_property_readonly("spills", resource(&TzResources::spills))
      .def_property_readonly("stack_bytes", resource(&TzResources::stackBytes));
}

void bindDriver(py::module_ &m) {
  py::class_<Kernel>(m, "Kernel", "An artifact loaded on a device.")
      .def("launch", &Kernel::launch, py::arg("grid"), py::arg("args"),
           py::arg("stream") = 0,
           "Runs over a grid of 3 numbers; pointers are given as addresses.");
  py::class_<Event>(m, "Event", "A point in the work of a device.")
      .def("record", &Event::record, py::arg("stream") = 0)
      .def("wait", &Event::wait, py::arg("stream") = 0,
           "Makes a stream wait for the point, not the caller.")
      .def("is_done", &Event::isDone)
      .def("synchronize", &Event::synchronize)
      .def("elapsed", &Event::elapsed, py::arg("stop"),
           "Milliseconds from this event to another.");
  py::class_<Driver>(m, "Driver", "One kind of device.")
      .def(py::init<const std::string &>(), py::arg("name"))
      .def_property_readonly("name", &Driver::name)
      .def_property_readonly("device_count", &Driver::deviceCount)
      .def("properties", &Driver::properties, py::arg("device") = 0)
      .def("alloc", &Driver::alloc, py::arg("bytes"), py::arg("device") = 0,
           "The address of new memory.")
      .def("free", &Driver::free, py::arg("memory"), py::arg("device") = 0)
      .def("copy", &Driver::copy, py::arg("to"), py::arg("from_"),
           py::arg("bytes"), py::arg("device") = 0, py::arg("stream") = 0,
           "Copies between host and device or within either; waits.")
      .def("copy_async", &Driver::copyAsync, py::arg("to"), py::arg("from_"),
           py::arg("bytes"), py::arg("device") = 0, py::arg("stream") = 0)
      .def("fill", &Driver::fill, py::arg("memory"), py::arg("value"),
           py::arg("bytes"), py::arg("device") = 0, py::arg("stream") = 0,
           "Sets bytes, queued on the stream.")
      .def("synchronize", &Driver::synchronize, py::arg("device") = 0,
           py::arg("stream") = 0)
      .def("poll", &Driver::poll, py::arg("device") = 0,
           "Reports what finished kernels printed and failed at; waits for "
           "nothing.")
      .def("memory", &Driver::memory, py::arg("device") = 0,
           "Bytes that are free, and all.")
      .def("create_stream", &Driver::createStream, py::arg("device") = 0)
      .def("destroy_stream", &Driver::destroyStream, py::arg("stream"),
           py::arg("device") = 0)
      .def("load", &Driver::load, py::arg("artifact"), py::arg("device") = 0)
      .def("event", &Driver::event, py::arg("device") = 0);
  m.def("drivers", [] {
    py::list names;
    for (size_t i = 0; i < tzDriverRegisteredCount(); ++i)
      names.append(tzDriverRegisteredName(i));
    return names;
  });
}

} // namespace

void bindRuntime(py::module_ &m) {
  statusErrorType = PyErr_NewExceptionWithDoc(
      "terrazzo._terrazzo.runtime.StatusError",
      "What the runtime reports; `status` is its kind, such as 'out of "
      "resources'. A failed device assertion adds kernel, file, line, column, "
      "text and program_id.",
      PyExc_RuntimeError, nullptr);
  if (!statusErrorType)
    throw py::error_already_set();
  m.add_object("StatusError",
               py::reinterpret_borrow<py::object>(statusErrorType));
  bindArtifact(m);
  bindDriver(m);
  py::class_<Cache>(m, "Cache", "A byte store on disk.")
      .def(py::init<const std::string &, uint64_t>(), py::arg("directory"),
           py::arg("max_bytes") = 0, "max_bytes 0: 2 GiB.")
      .def("get", &Cache::get, py::arg("key"),
           "The bytes, or None. A damaged or foreign entry raises StatusError: "
           "treat it as None and warn.")
      .def("put", &Cache::put, py::arg("key"), py::arg("data"))
      .def("stats", &Cache::stats)
      .def("clear", &Cache::clear);
  m.def(
      "write_private",
      [](const std::string &folder, const std::string &name,
         const py::bytes &data, uint64_t keepBytes) {
        std::string_view view = data;
        check(unlocked([&] {
          return tzPrivateFileWrite(folder.c_str(), name.c_str(), view.data(),
                                    view.size(), keepBytes);
        }));
      },
      py::arg("folder"), py::arg("name"), py::arg("data"),
      py::arg("keep_bytes"),
      "Writes a file that no other user can touch or redirect; of those with "
      "its suffix, keep_bytes stay.");
  m.def("threads", &tzCpuThreads, "How many threads a CPU launch may use.");
  m.def(
      "set_threads", [](int32_t count) { check(tzCpuSetThreads(count)); },
      py::arg("count"), "0 restores the default.");
  m.def(
      "install_interrupt_handler", [] { check(tzInterruptInstall()); },
      "Lets Ctrl-C stop kernels that run; call it from the main thread.");
}
