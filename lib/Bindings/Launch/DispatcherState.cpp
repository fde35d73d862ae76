//===- DispatcherState.cpp - What a kernel function remembers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dispatcher.h"
#include "Guards.h"

using namespace terrazzo::bindings;

Dispatcher::~Dispatcher() {
  dropReferences();
  for (Parameter &parameter : parameters)
    Py_XDECREF(parameter.name);
  for (PyObject *option : options)
    Py_DECREF(option);
  tzDispatcherDestroy(plans);
}

bool Dispatcher::guardsHold() const {
  if (!guardsReady)
    return false;
  for (const Guard &guard : guards)
    if (!holds(guard))
      return false;
  return true;
}

int Dispatcher::traverse(visitproc visit, void *arg) const {
  for (const Parameter &parameter : parameters)
    Py_VISIT(parameter.fallback);
  for (const auto &[plan, info] : infos)
    Py_VISIT(info.compiled);
  for (const Guard &guard : guards) {
    Py_VISIT(guard.holder);
    Py_VISIT(guard.value);
  }
  Py_VISIT(optionDefaults);
  return const_cast<Interner &>(interner).traverse(visit, arg);
}

void Dispatcher::dropReferences() {
  for (Parameter &parameter : parameters)
    Py_CLEAR(parameter.fallback);
  for (auto &[plan, info] : infos)
    Py_CLEAR(info.compiled);
  guardsReady = false;
  dropGuards(guards);
  Py_CLEAR(optionDefaults);
  interner.clear();
}

/// A parameter is (name, default, has default, is constexpr, specialise value,
/// specialise alignment, dtype name or None, is pointer).
static bool readParameter(PyObject *tuple, Parameter &parameter) {
  PyObject *name, *fallback;
  int hasDefault, isConstexpr, value, alignment, isPointer;
  const char *type;
  if (!PyArg_ParseTuple(tuple, "UOppppzp", &name, &fallback, &hasDefault,
                        &isConstexpr, &value, &alignment, &type, &isPointer))
    return false;
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  parameter.name = name;
  if (hasDefault) {
    Py_INCREF(fallback);
    parameter.fallback = fallback;
  }
  parameter.isConstexpr = isConstexpr;
  parameter.specializeValue = value;
  parameter.specializeAlignment = alignment;
  parameter.fixedIsPointer = isPointer;
  parameter.fixedType = type ? dtypeByName(type) : kNoType;
  return true;
}

static void indexNames(Dispatcher &state) {
  size_t capacity = 8;
  while (capacity < state.slotCount() * 2 + 1)
    capacity *= 2;
  state.byName.assign(capacity, {nullptr, 0});
  for (size_t i = 0; i < state.slotCount(); ++i) {
    PyObject *name = state.nameOf(i);
    size_t at = (reinterpret_cast<uintptr_t>(name) >> 4) & (capacity - 1);
    while (state.byName[at].first && state.byName[at].first != name)
      at = (at + 1) & (capacity - 1);
    if (!state.byName[at].first) // a parameter hides an option of its name
      state.byName[at] = {name, static_cast<uint32_t>(i)};
  }
}

PyObject *terrazzo::bindings::setupDispatcher(Dispatcher &state,
                                              PyObject *arguments) {
  const char *name;
  PyObject *parameters, *options, *defaults;
  if (!PyArg_ParseTuple(arguments, "sO!O!O!", &name, &PyTuple_Type, &parameters,
                        &PyTuple_Type, &options, &PyTuple_Type, &defaults))
    return nullptr;
  if (!state.byName.empty() ||
      PyTuple_GET_SIZE(options) != PyTuple_GET_SIZE(defaults)) {
    PyErr_SetString(PyExc_ValueError, "a dispatcher is set up once, with a "
                                      "default for each option");
    return nullptr;
  }
  state.name = name;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parameters); ++i) {
    Parameter parameter;
    if (!readParameter(PyTuple_GET_ITEM(parameters, i), parameter))
      return nullptr;
    state.parameters.push_back(parameter);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(options); ++i) {
    PyObject *option = PyTuple_GET_ITEM(options, i);
    Py_INCREF(option);
    PyUnicode_InternInPlace(&option);
    state.options.push_back(option);
  }
  Py_INCREF(defaults);
  state.optionDefaults = defaults;
  indexNames(state);
  const std::pair<const char *, size_t *> placing[] = {
      {"target", &state.targetSlot},
      {"device", &state.deviceSlot},
      {"stream", &state.streamSlot}};
  for (size_t i = state.parameters.size(); i < state.slotCount(); ++i)
    for (auto [text, slot] : placing)
      if (PyUnicode_CompareWithASCIIString(state.nameOf(i), text) == 0)
        *slot = i;
  Py_RETURN_NONE;
}

void terrazzo::bindings::raiseStatus(TzStatus status) {
  const TzErrorInfo *error = tzLastError();
  if (status == TzStatusCancelled) {
    if (PyErr_CheckSignals() == 0)
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    return;
  }
  PyObject *module = PyImport_ImportModule("terrazzo.statuses");
  if (!module)
    return;
  PyObject *done = PyObject_CallMethod(
      module, "raise_status", "(sssIIs(iii))", tzStatusName(status),
      error->message, error->file, error->line, error->column, error->text,
      error->pid[0], error->pid[1], error->pid[2]);
  Py_XDECREF(done);
  Py_DECREF(module);
}

/// Loads an artifact on a device of a driver.
static TzKernel *loadKernel(const char *driverName, int device,
                            const void *bytes, size_t size) {
  TzDriver *driver = nullptr;
  TzKernel *kernel = nullptr;
  TzStatus status;
  PyThreadState *thread = PyEval_SaveThread();
  status = tzDriverOpen(driverName, &driver);
  if (status == TzStatusOk) {
    status = tzKernelLoad(driver, device, bytes, size, &kernel);
    tzDriverRelease(driver);
  }
  PyEval_RestoreThread(thread);
  if (status == TzStatusOk)
    return kernel;
  raiseStatus(status);
  return nullptr;
}

PyObject *terrazzo::bindings::insertPlan(Dispatcher &state,
                                         PyObject *arguments) {
  Py_buffer key, artifact;
  const char *driver;
  int device;
  PyObject *compiled;
  if (!PyArg_ParseTuple(arguments, "y*y*siO", &key, &artifact, &driver, &device,
                        &compiled))
    return nullptr;
  TzResources needs{};
  TzKernel *kernel = loadKernel(driver, device, artifact.buf,
                                static_cast<size_t>(artifact.len));
  const TzPlan *plan = nullptr;
  if (kernel) {
    const TzArtifact *loaded = tzKernelArtifact(kernel);
    tzArtifactResources(loaded, &needs);
    PlanInfo info;
    std::vector<uint32_t> slots;
    size_t arrays = 0;
    for (size_t i = 0, n = tzArtifactArgCount(loaded); i < n; ++i) {
      TzArgInfo arg;
      tzArtifactArg(loaded, i, &arg);
      slots.push_back(static_cast<uint32_t>(i));
      info.written.push_back(arg.written);
      arrays += arg.kind == TzArgPointer;
    }
    info.assumesApart = isGpu(backendOf(driver)) && arrays > 1 &&
                        std::find(info.written.begin(), info.written.end(),
                                  true) != info.written.end();
    TzStatus status =
        tzDispatcherInsert(state.plans, static_cast<uint64_t *>(key.buf),
                           static_cast<size_t>(key.len) / sizeof(uint64_t),
                           kernel, slots.data(), slots.size(), &plan);
    if (status != TzStatusOk)
      raiseStatus(status);
    else if (state.infos.try_emplace(plan, info).second) {
      Py_INCREF(compiled);
      state.infos.at(plan).compiled = compiled;
    }
    tzKernelRelease(kernel);
  }
  PyBuffer_Release(&key);
  PyBuffer_Release(&artifact);
  if (!plan)
    return nullptr;
  return Py_BuildValue("(II)", needs.registers, needs.spills);
}

PyObject *terrazzo::bindings::findCompiled(Dispatcher &state, PyObject *key) {
  if (!PyBytes_Check(key)) {
    PyErr_SetString(PyExc_TypeError, "a key is bytes");
    return nullptr;
  }
  const TzPlan *plan = tzDispatcherFind(
      state.plans, reinterpret_cast<uint64_t *>(PyBytes_AS_STRING(key)),
      static_cast<size_t>(PyBytes_GET_SIZE(key)) / sizeof(uint64_t));
  PyObject *compiled = plan ? state.infos.at(plan).compiled : Py_None;
  Py_INCREF(compiled);
  return compiled;
}
