//===- Arrays.cpp - Addresses of numpy arrays, tensors and the like -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only the address, the dtype, and whether writing is allowed are taken from an
// array: kernels get strides as arguments of their own. torch is never
// imported; its tensors are recognised once the program has imported it.
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Dlpack.h"
#include "ObjectKind.h"

#include <pybind11/numpy.h>

#include <unordered_map>

using namespace terrazzo::bindings;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeName {
  const char *name;
  DType type;
};
} // namespace

static const char *const kNames[kTypeCount] = {
    "int1",     "int8",     "int16",  "int32",   "int64", "uint8",
    "uint16",   "uint32",   "uint64", "fp8e4nv", "fp8e5", "fp8e4b8",
    "fp8e5b16", "fp8e4b15", "fp16",   "bf16",    "fp32",  "fp64"};

// Other spellings: numpy's, torch's, ml_dtypes'.
static const TypeName kSpellings[] = {{"bool", kI1},
                                      {"bool_", kI1},
                                      {"float16", kF16},
                                      {"bfloat16", kBF16},
                                      {"float32", kF32},
                                      {"float64", kF64},
                                      {"half", kF16},
                                      {"double", kF64},
                                      {"float8_e4m3fn", kF8E4NV},
                                      {"float8_e5m2", kF8E5},
                                      {"float8_e4m3fnuz", kF8E4B8},
                                      {"float8_e5m2fnuz", kF8E5B16},
                                      {"float8e4nv", kF8E4NV},
                                      {"float8e5", kF8E5},
                                      {"float8e4b8", kF8E4B8},
                                      {"float8e5b16", kF8E5B16},
                                      {"float8e4b15", kF8E4B15}};

const char *terrazzo::bindings::dtypeName(DType type) {
  return type < kTypeCount ? kNames[type] : "?";
}

DType terrazzo::bindings::dtypeByName(const char *name) {
  if (const char *dot = std::strrchr(name, '.'))
    name = dot + 1;
  for (int i = 0; i < kTypeCount; ++i)
    if (std::strcmp(name, kNames[i]) == 0)
      return static_cast<DType>(i);
  for (const TypeName &spelling : kSpellings)
    if (std::strcmp(name, spelling.name) == 0)
      return spelling.type;
  return kNoType;
}

/// dtype objects seen so far: numpy descriptors, torch and language dtypes. The
/// keys are references. Touched under Python's lock only.
static std::unordered_map<PyObject *, DType> &seenTypes() {
  static auto *seen = new std::unordered_map<PyObject *, DType>;
  return *seen;
}

static DType remember(PyObject *dtype, DType type) {
  auto &seen = seenTypes();
  if (type != kNoType && seen.size() < 1024) {
    Py_INCREF(dtype);
    seen.emplace(dtype, type);
  }
  return type;
}

/// The type that a dtype object of any library means, by its name.
static DType dtypeOf(PyObject *dtype) {
  auto &seen = seenTypes();
  auto found = seen.find(dtype);
  if (found != seen.end())
    return found->second;
  PyObject *name = PyObject_HasAttrString(dtype, "name")
                       ? PyObject_GetAttrString(dtype, "name")
                       : PyObject_Str(dtype);
  const char *text =
      name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  DType type = text ? dtypeByName(text) : kNoType;
  Py_XDECREF(name);
  PyErr_Clear();
  return remember(dtype, type);
}

static std::string textOf(PyObject *object) {
  PyObject *text = PyObject_Str(object);
  const char *bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string copy = bytes ? bytes : "?";
  Py_XDECREF(text);
  PyErr_Clear();
  return copy;
}

/// The text of the exception that is set, which is cleared.
static std::string pendingError() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  std::string text = value ? textOf(value) : "unknown error";
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return text;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

bool Call::failNull(const char *what) {
  return fail("ArgumentError",
              "%s has no memory (its address is null), expected one whose "
              "elements a kernel can access",
              what);
}

bool Call::failNull(PyObject *value) {
  return failNull(
      ("an array of type '" + std::string(Py_TYPE(value)->tp_name) + "'")
          .c_str());
}

/// Whether an object says that it has no elements. One that does not say how
/// many it has is taken to have some.
static bool isEmpty(PyObject *value) {
  PyObject *count = nullptr;
  if (PyObject_HasAttrString(value, "numel")) {
    count = PyObject_CallMethod(value, "numel", nullptr);
  } else if (PyObject *shape = PyObject_GetAttrString(value, "shape")) {
    bool found = hasNoElements(shape);
    Py_DECREF(shape);
    return found;
  }
  bool found = count && PyLong_Check(count) && PyLong_AsLongLong(count) == 0;
  Py_XDECREF(count);
  PyErr_Clear();
  return found;
}

bool terrazzo::bindings::hasNoElements(PyObject *shape) {
  bool found = false;
  PyObject *items = PySequence_Fast(shape, "");
  for (Py_ssize_t i = 0; items && i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject *extent = PySequence_Fast_GET_ITEM(items, i);
    found |= PyLong_Check(extent) && PyLong_AsLongLong(extent) == 0;
  }
  Py_XDECREF(items);
  PyErr_Clear();
  return found;
}

bool Call::pushPointer(DType type, const void *address, bool isReadOnly,
                       PyObject *object, uintptr_t reach, uintptr_t end) {
  uint64_t facts = 0;
  if (parameter->specializeAlignment &&
      (reinterpret_cast<uintptr_t>(address) & 15) == 0)
    facts = kDivisible;
  key.push(static_cast<uint64_t>(Tag::Pointer) |
           static_cast<uint64_t>(type) << 8 | facts);
  if (isReadOnly)
    readOnly.push({static_cast<uint32_t>(values.size()), parameter});
  pointers.push({static_cast<uint32_t>(values.size()),
                 static_cast<uint32_t>(key.size() - 1), object, reach, end});
  TzValue slot;
  slot.p = address;
  values.push(slot);
  return true;
}

/// The type of a numpy descriptor in native byte order.
static DType numpyType(PyObject *descriptor) {
  auto &seen = seenTypes();
  auto found = seen.find(descriptor);
  if (found != seen.end())
    return found->second;
  auto *proxy = pybind11::detail::array_descriptor_proxy(descriptor);
  if (proxy->byteorder == '>')
    return kNoType;
  return dtypeOf(descriptor);
}

bool Call::encodeArray(PyObject *value) {
  auto *array = pybind11::detail::array_proxy(value);
  DType type = numpyType(array->descr);
  if (type == kNoType) {
    auto *proxy = pybind11::detail::array_descriptor_proxy(array->descr);
    if (proxy->byteorder == '>')
      return fail("ArgumentError",
                  "a big-endian array (dtype %s), expected native byte order",
                  textOf(array->descr).c_str());
    return fail("ArgumentError", "arrays of dtype %s cannot be used in kernels",
                textOf(array->descr).c_str());
  }
  if (!seePlace({Backend::Cpu}, value))
    return false;
  if (!array->data && !isWarmup && !isEmpty(value))
    return failNull(value);
  constexpr int writeable = pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  // In host memory, where nothing is assumed.
  return pushPointer(type, array->data, !(array->flags & writeable), nullptr);
}

static PyObject *interned(const char *text) {
  return PyUnicode_InternFromString(text);
}

/// Whether the storage of a tensor of torch was freed under it: the tensor's
/// address is then its offset in the storage, which may be any small number.
static bool isFreed(PyObject *tensor) {
  PyObject *storage = PyObject_CallMethod(tensor, "untyped_storage", nullptr);
  PyObject *address =
      storage ? PyObject_CallMethod(storage, "data_ptr", nullptr) : nullptr;
  bool found = address && PyLong_Check(address) && !PyLong_AsVoidPtr(address);
  Py_XDECREF(address);
  Py_XDECREF(storage);
  PyErr_Clear();
  return found;
}

bool Call::encodeTensor(PyObject *value, bool isTorch) {
  static PyObject *dtypeAttr = interned("dtype"),
                  *dataPtr = interned("data_ptr");
  bool isMock = kindOf(value) == ObjectKind::Mock;
  if (isMock && !isWarmup)
    return fail("ArgumentError",
                "a '%s' stands for an array without memory, "
                "which only warmup() takes",
                Py_TYPE(value)->tp_name);
  Place found;
  if (isTorch && !placeOfTensor(value, found))
    return false;
  if (!isTorch && !isMock) {
    found.backend = Backend::Cpu;
    placeOfDeviceAttribute(value, found);
  }
  if (!isMock && !seePlace(found, value))
    return false;
  usesTorch |= isTorch && isGpu(found.backend);
  PyObject *dtype = PyObject_GetAttr(value, dtypeAttr);
  if (!dtype)
    return fail("ArgumentError",
                "an object of type '%s' with data_ptr() but "
                "without a dtype",
                Py_TYPE(value)->tp_name);
  DType type = dtypeOf(dtype);
  std::string name = type == kNoType ? textOf(dtype) : "";
  Py_DECREF(dtype);
  if (type == kNoType)
    return fail("ArgumentError",
                "tensors of dtype %s cannot be used in kernels", name.c_str());
  PyObject *address = PyObject_CallMethodNoArgs(value, dataPtr);
  if (!address)
    return fail("ArgumentError", "data_ptr() failed: %s",
                pendingError().c_str());
  void *pointer = PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  if (!pointer && PyErr_Occurred())
    return fail("ArgumentError", "data_ptr() gave no address");
  // Memory is almost never below this address; only there it pays to ask.
  constexpr uintptr_t low = 1ULL << 40;
  if (!isWarmup && !isMock && reinterpret_cast<uintptr_t>(pointer) < low &&
      (!pointer || (isTorch && isFreed(value))) && !isEmpty(value))
    return failNull(value);
  return pushPointer(type, pointer, false, value);
}

//===----------------------------------------------------------------------===//
// Array protocols
//===----------------------------------------------------------------------===//

/// The bytes of an array by its `shape`, and its `strides` if it has any. What
/// does not say so is left to be one byte.
static void extentOf(PyObject *interface, int64_t itemsize, uintptr_t address,
                     uintptr_t &reach, uintptr_t &end) {
  PyObject *shape = PyDict_GetItemString(interface, "shape");
  PyObject *strides = PyDict_GetItemString(interface, "strides");
  bool isStrided = strides && PyTuple_Check(strides);
  if (!shape || !PyTuple_Check(shape) ||
      (isStrided && PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(shape)))
    return;
  int64_t below = 0, above = itemsize, dense = itemsize;
  for (Py_ssize_t i = PyTuple_GET_SIZE(shape); i-- > 0;) {
    int64_t extent = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
    int64_t step =
        isStrided ? PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i)) : dense;
    int64_t span = (extent - 1) * step;
    dense *= extent;
    (span < 0 ? below : above) += span;
  }
  if (PyErr_Occurred() || dense <= 0) {
    PyErr_Clear();
    return;
  }
  reach = static_cast<uintptr_t>(-below);
  end = address + static_cast<uintptr_t>(above);
}

bool Call::encodeArrayInterface(PyObject *interface, const char *protocol) {
  PyObject *data = nullptr, *typestr = nullptr;
  if (PyDict_Check(interface)) {
    data = PyDict_GetItemString(interface, "data");
    typestr = PyDict_GetItemString(interface, "typestr");
  }
  const char *text =
      typestr && PyUnicode_Check(typestr) ? PyUnicode_AsUTF8(typestr) : nullptr;
  if (!text || !data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2)
    return fail("ArgumentError", "its %s does not give an address and a type",
                protocol);
  if (text[0] == '>' && std::strcmp(text + 2, "1") != 0)
    return fail("ArgumentError",
                "a big-endian array (%s), expected native "
                "byte order",
                text);
  static const TypeName types[] = {{"b1", kI1},  {"i1", kI8},  {"i2", kI16},
                                   {"i4", kI32}, {"i8", kI64}, {"u1", kU8},
                                   {"u2", kU16}, {"u4", kU32}, {"u8", kU64},
                                   {"f2", kF16}, {"f4", kF32}, {"f8", kF64}};
  DType type = kNoType;
  for (const TypeName &known : types)
    if (*text && std::strcmp(text + 1, known.name) == 0)
      type = known.type;
  if (type == kNoType)
    return fail("ArgumentError", "arrays of type %s cannot be used in kernels",
                text);
  void *pointer = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  if (!pointer && PyErr_Occurred())
    return fail("ArgumentError", "its %s gives no address", protocol);
  PyObject *shape = PyDict_GetItemString(interface, "shape");
  if (!pointer && !isWarmup && !(shape && hasNoElements(shape)))
    return failNull("the array");
  uintptr_t reach = 0, end = 0;
  extentOf(interface, text[2] - '0', reinterpret_cast<uintptr_t>(pointer),
           reach, end);
  return pushPointer(type, pointer,
                     PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1, nullptr,
                     reach, end);
}

bool Call::encodeCudaInterface(PyObject *value, PyObject *interface) {
  Place found;
  found.backend = place.backend == Backend::Hip ? Backend::Hip : Backend::Cuda;
  int32_t type, device;
  if (dlpackDevice(value, type, device) && isGpu(dlpackBackend(type)))
    found = {dlpackBackend(type), device};
  else
    placeOfDeviceAttribute(value, found);
  return seePlace(found, value) &&
         encodeArrayInterface(interface, "__cuda_array_interface__");
}

bool Call::encodeForeign(PyObject *value) {
  if (PyCapsule_CheckExact(value))
    return encodeCapsule(value);
  PyObject *interface = PyObject_GetAttrString(value, "__array_interface__");
  if (interface) {
    keep.push(interface);
    return seePlace({Backend::Cpu}, value) &&
           encodeArrayInterface(interface, "__array_interface__");
  }
  PyErr_Clear();
  interface = PyObject_GetAttrString(value, "__cuda_array_interface__");
  if (interface) {
    keep.push(interface);
    return encodeCudaInterface(value, interface);
  }
  PyErr_Clear();
  if (PyObject_HasAttrString(value, "__dlpack__"))
    return encodeDlpack(value);
  if (PyObject_HasAttrString(value, "data_ptr"))
    return encodeTensor(value, false);
  return fail("ArgumentError",
              "an object of type '%s', expected an array, a "
              "number, None, a tuple of these, or a compile-time constant",
              Py_TYPE(value)->tp_name);
}

//===----------------------------------------------------------------------===//
// Where arrays are
//===----------------------------------------------------------------------===//

/// The message of an array that is where the launch cannot use it.
bool Call::failPlace(Place found, PyObject *value) {
  const char *type = Py_TYPE(value)->tp_name;
  std::string here = found.text();
  if (found.backend == Backend::None) {
    found.backend = Backend::Cuda; // for its text alone
    PyObject *device = PyObject_GetAttrString(value, "device");
    here = device ? textOf(device) : "another device";
    Py_XDECREF(device);
    PyErr_Clear();
  }
  if (!placedBy && place.backend != Backend::None) {
    if (found.backend == Backend::Cpu)
      return fail("ArgumentError",
                  "an array of type '%s' in host memory, expected %s, which "
                  "the target is; nothing is copied silently: move it there "
                  "first, by tensor.to(...) of torch or "
                  "terrazzo.testing.to_device(array)",
                  type, place.text().c_str());
    return fail("ArgumentError",
                "an array of type '%s' on device %s, expected %s, which the "
                "target is",
                type, here.c_str(), place.text().c_str());
  }
  if (place.backend == Backend::None)
    return fail("ArgumentError",
                "an array of type '%s' on device %s, which no target is for; "
                "expected cpu, cuda or hip",
                type, here.c_str());
  const char *other = PyUnicode_AsUTF8(placedBy->name);
  std::string there = place.text();
  if (found.backend == Backend::Cpu)
    return fail("ArgumentError",
                "an array of type '%s' in host memory, but argument '%s' is on "
                "%s; move it there first, by tensor.to(...) of torch or "
                "terrazzo.testing.to_device(array)",
                type, other, there.c_str());
  if (place.backend == Backend::Cpu) {
    const char *own = PyUnicode_AsUTF8(parameter->name);
    parameter = placedBy;
    path.clear();
    return fail("ArgumentError",
                "an array in host memory, but argument '%s' is on %s; move it "
                "there first, by tensor.to(...) of torch or "
                "terrazzo.testing.to_device(array)",
                own, here.c_str());
  }
  return fail("ArgumentError",
              "an array of type '%s' on %s, but argument '%s' is on %s; the "
              "arrays of a launch have to be on one device",
              type, here.c_str(), other, there.c_str());
}

bool Call::seePlace(Place found, PyObject *value) {
  if (found.backend == Backend::None)
    return failPlace(found, value);
  if (place.backend == Backend::None) {
    place = found;
    placedBy = parameter;
    return true;
  }
  if (found.backend != place.backend)
    return failPlace(found, value);
  if (place.device < 0 && found.device >= 0) {
    place.device = found.device;
    placedBy = parameter;
    return true;
  }
  return found.device == place.device || found.device < 0 ||
         failPlace(found, value);
}

bool Call::settlePlace() {
  if (place.backend == Backend::None) {
    place = sawShared ? Place{Backend::Cpu} : fallbackPlace();
    if (place.backend == Backend::None)
      return false;
  }
  if (isGpu(place.backend) && place.device < 0)
    place.device = isWarmup ? 0 : currentDevice(place.backend);
  return true;
}
