//===- Place.cpp - Where a launch runs, and on which stream ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Place.h"
#include "Arguments.h"

#include <cstdlib>
#include <cstring>

using namespace terrazzo::bindings;

static const char *const kNames[] = {"", "cpu", "cuda", "hip"};

const char *terrazzo::bindings::backendName(Backend backend) {
  return kNames[static_cast<int>(backend)];
}

Backend terrazzo::bindings::backendOf(const char *text) {
  size_t length = std::strcspn(text, ":");
  for (int i = 1; i < 4; ++i)
    if (std::strlen(kNames[i]) == length &&
        std::strncmp(text, kNames[i], length) == 0)
      return static_cast<Backend>(i);
  return Backend::None;
}

std::string Place::text() const {
  std::string name = backendName(backend);
  if (isGpu(backend) && device >= 0)
    name += ":" + std::to_string(device);
  return name;
}

Places &terrazzo::bindings::places() {
  static Places places;
  return places;
}

//===----------------------------------------------------------------------===//
// torch
//===----------------------------------------------------------------------===//

static PyObject *interned(const char *text) {
  return PyUnicode_InternFromString(text);
}

/// torch's module if the program has imported it; borrowed, no exception.
static PyObject *torchModule() {
  static PyObject *name = interned("torch");
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *torch = PyDict_GetItemWithError(modules, name);
  PyErr_Clear();
  return torch;
}

/// torch.A.B, or null without an exception; a new reference.
static PyObject *ofTorch(const char *first, const char *second) {
  PyObject *torch = torchModule();
  PyObject *outer = torch ? PyObject_GetAttrString(torch, first) : nullptr;
  PyObject *inner = outer ? PyObject_GetAttrString(outer, second) : nullptr;
  Py_XDECREF(outer);
  PyErr_Clear();
  return inner;
}

Backend terrazzo::bindings::torchBackend() {
  static Backend known = Backend::None;
  if (known == Backend::None) {
    PyObject *hip = ofTorch("version", "hip");
    if (torchModule())
      known = hip && hip != Py_None ? Backend::Hip : Backend::Cuda;
    Py_XDECREF(hip);
  }
  return known == Backend::None ? Backend::Cuda : known;
}

/// Whether torch has a device in use, so that its current stream counts.
static bool torchUsesGpu() {
  static PyObject *isInitialized = nullptr;
  if (!isInitialized && torchModule())
    isInitialized = ofTorch("cuda", "is_initialized");
  PyObject *answer =
      isInitialized ? PyObject_CallNoArgs(isInitialized) : nullptr;
  bool does = answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear();
  return does;
}

static bool torchStream(int32_t device, void *&stream) {
  static PyObject *current = nullptr;
  if (!current)
    current = ofTorch("_C", "_cuda_getCurrentRawStream");
  if (!current) // a torch without GPUs, of which no tensor is there
    return true;
  PyObject *index = PyLong_FromLong(device);
  PyObject *address = index ? PyObject_CallOneArg(current, index) : nullptr;
  Py_XDECREF(index);
  if (!address)
    return false;
  stream = PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  return stream || !PyErr_Occurred();
}

bool terrazzo::bindings::currentStream(Place place, bool usesTorch,
                                       void *&stream) {
  stream = nullptr;
  if (!usesTorch && (place.backend != torchBackend() || !torchUsesGpu()))
    return true;
  return torchStream(place.device, stream);
}

int32_t terrazzo::bindings::currentDevice(Backend backend) {
  if (backend == torchBackend() && torchUsesGpu()) {
    PyObject *get = ofTorch("_C", "_cuda_getDevice");
    PyObject *index = get ? PyObject_CallNoArgs(get) : nullptr;
    long device = index ? PyLong_AsLong(index) : -1;
    Py_XDECREF(index);
    Py_XDECREF(get);
    PyErr_Clear();
    if (device >= 0)
      return static_cast<int32_t>(device);
  }
  return places().currentDevice;
}

//===----------------------------------------------------------------------===//
// Where an array is
//===----------------------------------------------------------------------===//

/// The place that the text of a device means: "cuda:1", "cpu". torch built for
/// AMD says cuda as well.
static Place placeOfText(const char *text, bool isTorch) {
  Place place;
  place.backend = backendOf(text);
  if (place.backend == Backend::Cuda && isTorch)
    place.backend = torchBackend();
  const char *colon = std::strchr(text, ':');
  if (isGpu(place.backend))
    place.device =
        colon ? static_cast<int32_t>(std::strtol(colon + 1, nullptr, 10)) : -1;
  return place;
}

bool terrazzo::bindings::placeOfTensor(PyObject *tensor, Place &place) {
  static PyObject *isCpu = interned("is_cpu"), *isCuda = interned("is_cuda"),
                  *getDevice = interned("get_device");
  PyObject *answer = PyObject_GetAttr(tensor, isCpu);
  if (!answer)
    return false;
  Py_DECREF(answer); // True and False outlive it
  if (answer == Py_True) {
    place.backend = Backend::Cpu;
    return true;
  }
  answer = PyObject_GetAttr(tensor, isCuda);
  if (!answer)
    return false;
  Py_DECREF(answer);
  if (answer != Py_True)
    return true; // on a device that no target is for
  PyObject *index = PyObject_CallMethodNoArgs(tensor, getDevice);
  if (!index)
    return false;
  place.device = static_cast<int32_t>(PyLong_AsLong(index));
  place.backend = torchBackend();
  Py_DECREF(index);
  return !PyErr_Occurred();
}

void terrazzo::bindings::placeOfDeviceAttribute(PyObject *array, Place &place) {
  static PyObject *device = interned("device"), *id = interned("id");
  PyObject *where = PyObject_GetAttr(array, device);
  PyErr_Clear();
  if (!where)
    return;
  PyObject *number = PyObject_GetAttr(where, id); // CuPy's devices
  PyErr_Clear();
  if (number && PyLong_Check(number)) {
    place.device = static_cast<int32_t>(PyLong_AsLong(number));
  } else {
    PyObject *text = PyObject_Str(where);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
    if (bytes) {
      Place found = placeOfText(
          bytes, std::strcmp(Py_TYPE(where)->tp_name, "torch.device") == 0);
      if (found.backend != Backend::None)
        place = found;
    }
    Py_XDECREF(text);
  }
  PyErr_Clear();
  Py_XDECREF(number);
  Py_DECREF(where);
}

Place terrazzo::bindings::fallbackPlace() {
  Place &fallback = places().fallback;
  if (fallback.backend != Backend::None)
    return fallback;
  PyObject *module = PyImport_ImportModule("terrazzo.devices");
  PyObject *text =
      module ? PyObject_CallMethod(module, "default_name", nullptr) : nullptr;
  const char *bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (bytes)
    fallback.backend = backendOf(bytes);
  Py_XDECREF(text);
  Py_XDECREF(module);
  return fallback;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool terrazzo::bindings::streamOf(PyObject *object, void *&stream) {
  stream = nullptr;
  if (object == Py_None)
    return true;
  PyObject *address = nullptr;
  if (PyLong_Check(object)) {
    address = object;
    Py_INCREF(address);
  }
  for (const char *name : {"cuda_stream", "ptr"}) {
    if (!address)
      address = PyObject_GetAttrString(object, name);
    PyErr_Clear();
  }
  if (address && PyLong_Check(address))
    stream = PyLong_AsVoidPtr(address);
  bool done = address && PyLong_Check(address) && !PyErr_Occurred();
  Py_XDECREF(address);
  PyErr_Clear();
  if (!done)
    raise("ArgumentError",
          std::string("option 'stream' is an object of type '") +
              Py_TYPE(object)->tp_name +
              "', expected the address of a stream, or a stream of torch or "
              "CuPy");
  return done;
}
