//===- Dispatcher.cpp - kernel[grid](...) from Python ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The base class of JITFunction, and the object that kernel[grid] gives. They
// are plain CPython types with vectorcall: a launch that was seen before binds
// its arguments, derives the key, and runs, all without a Python object being
// made. What is rare (a first launch, hooks, errors) calls methods of the
// Python class: _refresh_guards, _miss, _run_hooks.
//
// Everything here runs under Python's lock except the kernel itself.
//===----------------------------------------------------------------------===//

#include "Dispatcher.h"
#include "Bindings/Arguments/Dlpack.h"
#include "Bindings/Arguments/ObjectKind.h"
#include "Bindings/Modules.h"
#include "Grid.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <pythread.h>
#include <structmember.h>

using namespace terrazzo::bindings;

namespace {
struct PyDispatcher {
  PyObject_HEAD Dispatcher *state;
};
struct PyLauncher {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyDispatcher *dispatcher;
  PyObject *grid;
};

/// What is the same for all kernels of the process.
struct Process {
  uint64_t configuration = 0; ///< part of every key: target, debug switches
  PyObject *enterHook = nullptr, *exitHook = nullptr;
  unsigned long mainThread = 0;
};
} // namespace

static Process process;
static PyTypeObject *launcherType = nullptr;

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

static PyObject *asObject(PyDispatcher *self) {
  return reinterpret_cast<PyObject *>(self);
}

/// The dictionary of all arguments by name, for a grid function. Options that
/// are neither given nor have a default stay out.
static PyObject *metaOf(const Dispatcher &state, const Bound &bound) {
  PyObject *meta = PyDict_New();
  for (size_t i = 0; meta && i < state.slotCount(); ++i) {
    PyObject *value = bound[i];
    if (!value && i >= state.parameters.size())
      value =
          PyTuple_GET_ITEM(state.optionDefaults, i - state.parameters.size());
    if (value == Py_None && !bound[i])
      continue;
    if (PyDict_SetItem(meta, state.nameOf(i), value) < 0)
      Py_CLEAR(meta);
  }
  return meta;
}

static bool resolveGrid(const Dispatcher &state, const Bound &bound,
                        PyObject *grid, int64_t extents[3]) {
  if (PyTuple_Check(grid) || !PyCallable_Check(grid))
    return parseGrid(grid, extents);
  PyObject *meta = metaOf(state, bound);
  PyObject *result = meta ? PyObject_CallOneArg(grid, meta) : nullptr;
  Py_XDECREF(meta);
  bool done = result && parseGrid(result, extents);
  Py_XDECREF(result);
  return done;
}

static PyObject *keyBytes(const Call &call) {
  return PyBytes_FromStringAndSize(
      reinterpret_cast<const char *>(call.key.data()),
      static_cast<Py_ssize_t>(call.key.size() * sizeof(uint64_t)));
}

/// Brings what the key says about global variables up to date.
static bool checkGuards(PyDispatcher *self) {
  if (self->state->guardsHold())
    return true;
  PyObject *done =
      PyObject_CallMethod(asObject(self), "_refresh_guards", nullptr);
  Py_XDECREF(done);
  return done != nullptr;
}

/// Compiles what `call` asks for, or waits for the thread that does.
static const TzPlan *compileMiss(PyDispatcher *self, const Bound &bound,
                                 const Call &call) {
  Dispatcher &state = *self->state;
  PyObject *key = keyBytes(call);
  PyObject *specs = describeAll(state, bound, call);
  PyObject *options = givenOptions(state, bound);
  PyObject *done =
      key && specs && options
          ? PyObject_CallMethod(asObject(self), "_miss", "(OOOsi)", key, specs,
                                options, backendName(call.place.backend),
                                static_cast<int>(call.place.device))
          : nullptr;
  Py_XDECREF(key);
  Py_XDECREF(specs);
  Py_XDECREF(options);
  Py_XDECREF(done);
  if (!done)
    return nullptr;
  const TzPlan *plan =
      tzDispatcherFind(state.plans, call.key.data(), call.key.size());
  if (!plan)
    raise("LaunchError", "the compiled kernel was dropped before its launch");
  return plan;
}

static const TzPlan *findByKey(PyDispatcher *self, const Bound &bound,
                               const Call &call) {
  const TzPlan *plan =
      tzDispatcherFind(self->state->plans, call.key.data(), call.key.size());
  return plan ? plan : compileMiss(self, bound, call);
}

/// Derives the key of `call`.
static bool encodeCall(PyDispatcher *self, const Bound &bound, Call &call) {
  return checkGuards(self) &&
         encodeAll(*self->state, bound, process.configuration, call);
}

static bool checkReadOnly(const PlanInfo &info, const Call &call) {
  for (size_t i = 0; i < call.readOnly.size(); ++i) {
    auto [index, parameter] = call.readOnly[i];
    if (!info.written[index])
      continue;
    raise("ArgumentError",
          "argument '" + std::string(PyUnicode_AsUTF8(parameter->name)) +
              "': the array is read-only and the kernel stores to it");
    return false;
  }
  return true;
}

static bool callHook(PyObject *hook, PyObject *compiled,
                     const int64_t extents[3]) {
  PyObject *done = PyObject_CallFunction(
      hook, "O(LLL)", compiled, static_cast<long long>(extents[0]),
      static_cast<long long>(extents[1]), static_cast<long long>(extents[2]));
  Py_XDECREF(done);
  return done != nullptr;
}

static bool runPlan(const TzPlan *plan, const PlanInfo &info,
                    const int64_t extents[3], const Call &call) {
  if (info.written.size() != call.values.size()) {
    raise("LaunchError",
          "the kernel takes " + std::to_string(info.written.size()) +
              " run-time values, found " + std::to_string(call.values.size()));
    return false;
  }
  if (!checkReadOnly(info, call))
    return false;
  if (process.enterHook && !callHook(process.enterHook, info.compiled, extents))
    return false;
  void *stream = call.stream;
  if (isGpu(call.place.backend)) {
    if (!call.hasStream && !currentStream(call.place, call.usesTorch, stream))
      return false;
    ++places().gpuLaunches;
    places().last = call.place;
    places().lastStream = stream;
  } else if (PyThread_get_thread_ident() == process.mainThread) {
    tzInterruptInstall();
  }
  PyThreadState *thread = PyEval_SaveThread();
  TzStatus status = tzPlanLaunch(plan, extents, stream, call.values.data(),
                                 call.values.size());
  PyEval_RestoreThread(thread);
  if (status != TzStatusOk) {
    raiseStatus(status);
    return false;
  }
  return !process.exitHook ||
         callHook(process.exitHook, info.compiled, extents);
}

/// kernel[grid](*args, **kwargs): gives the compiled kernel.
static PyObject *launch(PyObject *object, PyObject *const *args, size_t flags,
                        PyObject *keywords) {
  auto *launcher = reinterpret_cast<PyLauncher *>(object);
  PyDispatcher *self = launcher->dispatcher;
  Dispatcher &state = *self->state;
  Bound bound;
  if (!bindArguments(state, args, PyVectorcall_NARGS(flags), keywords, bound))
    return nullptr;
  if (state.hooks) {
    PyObject *meta = metaOf(state, bound);
    PyObject *done =
        meta ? PyObject_CallMethod(asObject(self), "_run_hooks", "(O)", meta)
             : nullptr;
    Py_XDECREF(meta);
    Py_XDECREF(done);
    if (!done)
      return nullptr;
  }
  int64_t extents[3];
  if (!resolveGrid(state, bound, launcher->grid, extents))
    return nullptr;
  Call call(state.interner);
  const TzPlan *plan =
      encodeCall(self, bound, call) ? findByKey(self, bound, call) : nullptr;
  if (!plan)
    return nullptr;
  const PlanInfo *info = &state.infos.at(plan);
  // Only the compiled kernel says what it writes.
  if (info->assumesApart && info->written.size() == call.values.size() &&
      call.markOverlaps(info->written)) {
    plan = findByKey(self, bound, call);
    if (!plan)
      return nullptr;
    info = &state.infos.at(plan);
  }
  if (extents[0] && extents[1] && extents[2] &&
      !runPlan(plan, *info, extents, call))
    return nullptr;
  Py_INCREF(info->compiled);
  return info->compiled;
}

//===----------------------------------------------------------------------===//
// Methods that the Python class uses
//===----------------------------------------------------------------------===//

static Dispatcher &stateOf(PyObject *self) {
  return *reinterpret_cast<PyDispatcher *>(self)->state;
}

/// Binds the pair (args, kwargs), which holds what `bound` points at.
static bool bindPair(Dispatcher &state, PyObject *pair, Bound &bound) {
  PyObject *args, *kwargs;
  if (!PyArg_ParseTuple(pair, "O!O!", &PyTuple_Type, &args, &PyDict_Type,
                        &kwargs) ||
      !bindArguments(state, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args),
                     nullptr, bound, /*complete=*/false))
    return false;
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(kwargs, &position, &name, &value))
    if (!bindKeyword(state, name, value, bound))
      return false;
  return bindDefaults(state, bound);
}

namespace {
/// A call that is bound and has a key, and that launches nothing.
struct Warmup {
  explicit Warmup(PyObject *object)
      : self(reinterpret_cast<PyDispatcher *>(object)),
        call(self->state->interner) {
    call.isWarmup = true;
  }
  bool encode(PyObject *pair) {
    return bindPair(*self->state, pair, bound) && encodeCall(self, bound, call);
  }

  PyDispatcher *self;
  Bound bound;
  Call call;
};
} // namespace

/// _prepare(args, kwargs) -> compiled kernel; launches nothing.
static PyObject *prepare(PyObject *self, PyObject *pair) {
  Warmup warmup(self);
  const TzPlan *plan = warmup.encode(pair)
                           ? findByKey(warmup.self, warmup.bound, warmup.call)
                           : nullptr;
  if (!plan)
    return nullptr;
  PyObject *compiled = stateOf(self).infos.at(plan).compiled;
  Py_INCREF(compiled);
  return compiled;
}

/// _specialization(args, kwargs) -> (key, descriptions, options, target name).
static PyObject *specialization(PyObject *self, PyObject *pair) {
  Warmup warmup(self);
  if (!warmup.encode(pair))
    return nullptr;
  const auto &[dispatcher, bound, call] = warmup;
  return Py_BuildValue(
      "(NNNs)", keyBytes(call), describeAll(*dispatcher->state, bound, call),
      givenOptions(*dispatcher->state, bound), backendName(call.place.backend));
}

/// _bind(args, kwargs) -> {name: value} with defaults, options included.
static PyObject *bindToDict(PyObject *self, PyObject *pair) {
  Bound bound;
  return bindPair(stateOf(self), pair, bound) ? metaOf(stateOf(self), bound)
                                              : nullptr;
}

static PyObject *setup(PyObject *self, PyObject *arguments) {
  return setupDispatcher(stateOf(self), arguments);
}
static PyObject *setGuards(PyObject *self, PyObject *arguments) {
  return setDispatcherGuards(stateOf(self), arguments);
}
static PyObject *insert(PyObject *self, PyObject *arguments) {
  return insertPlan(stateOf(self), arguments);
}
static PyObject *find(PyObject *self, PyObject *key) {
  return findCompiled(stateOf(self), key);
}

static PyObject *guardsHold(PyObject *self, PyObject *) {
  return PyBool_FromLong(stateOf(self).guardsHold());
}

static PyObject *setHooked(PyObject *self, PyObject *value) {
  stateOf(self).hooks = PyObject_IsTrue(value) == 1;
  Py_RETURN_NONE;
}

static PyObject *clearPlans(PyObject *self, PyObject *) {
  tzDispatcherClear(stateOf(self).plans);
  stateOf(self).guardsReady = false;
  Py_RETURN_NONE;
}

static PyObject *planCount(PyObject *self, PyObject *) {
  return PyLong_FromSize_t(tzDispatcherSize(stateOf(self).plans));
}

//===----------------------------------------------------------------------===//
// The types
//===----------------------------------------------------------------------===//

static PyObject *newDispatcher(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (!self)
    return nullptr;
  auto state = std::make_unique<Dispatcher>();
  if (tzDispatcherCreate(&state->plans) != TzStatusOk) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  reinterpret_cast<PyDispatcher *>(self)->state = state.release();
  return self;
}

static int traverseDispatcher(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  auto *state = reinterpret_cast<PyDispatcher *>(self)->state;
  return state ? state->traverse(visit, arg) : 0;
}

static int clearDispatcher(PyObject *self) {
  if (auto *state = reinterpret_cast<PyDispatcher *>(self)->state)
    state->dropReferences();
  return 0;
}

static void deallocDispatcher(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clearDispatcher(self);
  delete reinterpret_cast<PyDispatcher *>(self)->state;
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *subscript(PyObject *self, PyObject *grid) {
  auto *launcher = PyObject_GC_New(PyLauncher, launcherType);
  if (!launcher)
    return nullptr;
  Py_INCREF(self);
  Py_INCREF(grid);
  launcher->vectorcall = launch;
  launcher->dispatcher = reinterpret_cast<PyDispatcher *>(self);
  launcher->grid = grid;
  PyObject_GC_Track(launcher);
  return reinterpret_cast<PyObject *>(launcher);
}

static int traverseLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<PyLauncher *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject *>(launcher->dispatcher));
  Py_VISIT(launcher->grid);
  return 0;
}

static void deallocLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<PyLauncher *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->dispatcher);
  Py_DECREF(launcher->grid);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef dispatcherMethods[] = {
    {"_setup", setup, METH_VARARGS,
     "_setup(name, parameters, options, option_defaults)"},
    {"_set_guards", setGuards, METH_VARARGS, "_set_guards(guards, word)"},
    {"_guards_hold", guardsHold, METH_NOARGS,
     "_guards_hold() -> whether nothing changed since they were set"},
    {"_insert", insert, METH_VARARGS,
     "_insert(key, artifact, driver, device, compiled) -> (registers, spills) "
     "as "
     "the driver says"},
    {"_find", find, METH_O, "_find(key) -> compiled kernel or None"},
    {"_prepare", prepare, METH_VARARGS, "_prepare(args, kwargs) -> compiled"},
    {"_specialization", specialization, METH_VARARGS,
     "_specialization(args, kwargs) -> (key, descriptions, options, target)"},
    {"_bind", bindToDict, METH_VARARGS, "_bind(args, kwargs) -> dict"},
    {"_set_hooked", setHooked, METH_O, "_set_hooked(bool)"},
    {"_clear_plans", clearPlans, METH_NOARGS, "Forgets all compiled kernels."},
    {"_plan_count", planCount, METH_NOARGS, "How many kernels are known."},
    {nullptr, nullptr, 0, nullptr}};

static PyType_Slot dispatcherSlots[] = {
    {Py_tp_doc, const_cast<char *>("A kernel function: binds, dispatches, "
                                   "launches. Base class of JITFunction.")},
    {Py_tp_new, reinterpret_cast<void *>(newDispatcher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocDispatcher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseDispatcher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearDispatcher)},
    {Py_tp_methods, dispatcherMethods},
    {Py_mp_subscript, reinterpret_cast<void *>(subscript)},
    {0, nullptr}};

static PyMemberDef launcherMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyLauncher, vectorcall),
     READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(PyLauncher, dispatcher), READONLY,
     "The kernel function."},
    {"grid", T_OBJECT, offsetof(PyLauncher, grid), READONLY, "The grid."},
    {nullptr, 0, 0, 0, nullptr}};

static PyType_Slot launcherSlots[] = {
    {Py_tp_doc,
     const_cast<char *>("A kernel with its grid; call it to launch.")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, launcherMembers},
    {0, nullptr}};

static PyType_Spec dispatcherSpec = {
    "terrazzo._terrazzo.runtime.Dispatcher", sizeof(PyDispatcher), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    dispatcherSlots};
static PyType_Spec launcherSpec = {
    "terrazzo._terrazzo.runtime.Launcher", sizeof(PyLauncher), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    launcherSlots};

static void setHook(PyObject *&hook, const pybind11::object &value) {
  Py_XDECREF(hook);
  hook = value.is_none() ? nullptr : pybind11::object(value).release().ptr();
}

/// Where launches go.
static void bindPlaces(pybind11::module_ &module) {
  namespace py = pybind11;
  module.def(
      "set_target",
      [](const std::string &target, uint32_t word) {
        places().wanted = {backendOf(target.c_str()), -1};
        places().wantedWord = word;
        places().fallback = {};
      },
      "Sets the target of all launches by its name, or by '' that arrays say "
      "it; `word` tells texts with one name apart.");
  module.def(
      "set_current_device",
      [](int32_t device) { places().currentDevice = device; },
      "Sets the device of launches without arrays on a GPU.");
  module.def(
      "current_device",
      [](const std::string &target) {
        return currentDevice(backendOf(target.c_str()));
      },
      "The device of launches without arrays on a GPU.");
  module.def(
      "current_stream",
      [](const std::string &target, int32_t device) {
        void *stream;
        if (!currentStream({backendOf(target.c_str()), device}, false, stream))
          throw py::error_already_set();
        return reinterpret_cast<uintptr_t>(stream);
      },
      "The address of the stream that launches go to; 0: the default one.");
  module.def(
      "last_gpu_launch",
      [] {
        const Places &now = places();
        return py::make_tuple(now.gpuLaunches, backendName(now.last.backend),
                              now.last.device,
                              reinterpret_cast<uintptr_t>(now.lastStream));
      },
      "(how many launches there were on GPUs, target, device and stream of "
      "the last one).");
}

void bindDispatcher(pybind11::module_ &module) {
  namespace py = pybind11;
  launcherType =
      reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&launcherSpec));
  PyObject *dispatcherType = PyType_FromSpec(&dispatcherSpec);
  if (!launcherType || !dispatcherType)
    throw py::error_already_set();
  module.attr("Dispatcher") = py::reinterpret_steal<py::object>(dispatcherType);
  module.attr("Launcher") = py::reinterpret_borrow<py::object>(
      reinterpret_cast<PyObject *>(launcherType));
  py::object main = py::module_::import("threading").attr("main_thread")();
  process.mainThread = main.attr("ident").cast<unsigned long>();
  module.def(
      "check_array",
      [](const std::string &name, const py::object &value) {
        Interner constants;
        Call call(constants);
        Parameter parameter;
        py::str text(name);
        parameter.name = text.ptr();
        bool fits = call.encode(parameter, value.ptr());
        constants.clear();
        if (!fits)
          throw py::error_already_set();
      },
      "An error unless a launch takes `value` as its argument `name`: an array "
      "without memory, for one.");
  module.def(
      "type_version",
      [](const py::type &type) {
        return typeVersion(reinterpret_cast<PyTypeObject *>(type.ptr()));
      },
      "The number of a class's present state, for a guard; 0 if it has none.");
  module.def(
      "set_configuration", [](uint64_t word) { process.configuration = word; },
      "Sets the word that is part of every key.");
  bindPlaces(module);
  module.def(
      "make_dlpack",
      [](const py::object &owner, uintptr_t address, int code, int bits,
         const std::vector<int64_t> &shape, const std::string &target,
         int32_t device) {
        PyObject *capsule = makeDlpack(owner.ptr(), address, code, bits, shape,
                                       {backendOf(target.c_str()), device});
        if (!capsule)
          throw py::error_already_set();
        return py::reinterpret_steal<py::object>(capsule);
      },
      "A DLPack capsule of contiguous memory that `owner` keeps.");
  module.def(
      "set_launch_hooks",
      [](const py::object &enter, const py::object &leave) {
        setHook(process.enterHook, enter);
        setHook(process.exitHook, leave);
      },
      "Sets what is called as hook(compiled, grid) around each launch, or "
      "None.");
  module.def(
      "set_language_types",
      [](const py::object &constexprType, const py::object &dtypeType) {
        setLanguageTypes(constexprType.ptr(), dtypeType.ptr());
      },
      "Tells which classes are terrazzo.language's constexpr and dtype.");
  module.def(
      "dtype_by_name",
      [](const std::string &name) -> py::object {
        DType type = dtypeByName(name.c_str());
        if (type == kNoType)
          return py::none();
        return py::str(dtypeName(type));
      },
      "The language's name of the dtype that a name of numpy or torch means.");
}
