//===- Dlpack.cpp - Arrays of other libraries by DLPack -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dlpack.h"
#include "Arguments.h"

using namespace terrazzo::bindings;

namespace {
// Devices, in DLPack's numbering.
enum : int32_t {
  kDlCpu = 1,
  kDlCuda = 2,
  kDlCudaHost = 3,
  kDlRocm = 10,
  kDlRocmHost = 11,
  kDlCudaManaged = 13
};
// The layout of DLPack, which is a C ABI.
struct DlTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DlManaged {
  DlTensor tensor;
  void *context;
  void (*deleter)(DlManaged *);
};
struct DlVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(DlVersioned *);
  uint64_t flags;
  DlTensor tensor;
};
} // namespace

Backend terrazzo::bindings::dlpackBackend(int32_t type) {
  return type == kDlCpu    ? Backend::Cpu
         : type == kDlCuda ? Backend::Cuda
         : type == kDlRocm ? Backend::Hip
                           : Backend::None;
}

/// Memory that the host and the device see at one address.
static bool isShared(int32_t type) {
  return type == kDlCudaHost || type == kDlRocmHost || type == kDlCudaManaged;
}

static DType dlpackType(const DlTensor &tensor) {
  if (tensor.lanes != 1)
    return kNoType;
  int step = tensor.bits == 8    ? 0
             : tensor.bits == 16 ? 1
             : tensor.bits == 32 ? 2
             : tensor.bits == 64 ? 3
                                 : -1;
  if (step < 0)
    return kNoType;
  switch (tensor.code) {
  case 0:
    return static_cast<DType>(kI8 + step);
  case 1:
    return static_cast<DType>(kU8 + step);
  case 2:
    return step ? static_cast<DType>(step == 1 ? kF16 : kF32 + step - 2)
                : kNoType;
  case 4:
    return step == 1 ? kBF16 : kNoType;
  case 6:
    return step == 0 ? kI1 : kNoType;
  case 10:
    return kF8E4NV;
  case 11:
    return kF8E4B8;
  case 12:
    return kF8E5;
  case 13:
    return kF8E5B16;
  default:
    return kNoType;
  }
}

/// Bytes of a tensor before its address, and how many from there on.
static void extentOf(const DlTensor &tensor, uintptr_t &reach,
                     uintptr_t &length) {
  int64_t below = 0, above = 0, dense = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    int64_t step = tensor.strides ? tensor.strides[i] : dense;
    int64_t span = (tensor.shape[i] - 1) * step;
    dense *= tensor.shape[i];
    (span < 0 ? below : above) += span;
  }
  int64_t size = (tensor.bits * tensor.lanes + 7) / 8;
  reach = dense ? static_cast<uintptr_t>(-below * size) : 0;
  length = dense ? static_cast<uintptr_t>((above + 1) * size) : 0;
}

static const char *addressOf(const DlTensor &tensor) {
  return static_cast<const char *>(tensor.data) + tensor.byteOffset;
}

namespace {
/// What a class of tensors gives for launches: DLPack's functions in C.
struct DlExchange {
  uint32_t major, minor;
  DlExchange *older;
  void (*allocate)();
  void (*fromObject)();
  void (*toObject)();
  int (*view)(void *object, DlTensor *tensor); ///< may be null
};
} // namespace

/// The function of torch's tensors, or null: torch is older than it.
static auto viewOfTensors(PyObject *tensor) -> int (*)(void *, DlTensor *) {
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(tensor));
  PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  auto *exchange = capsule && PyCapsule_CheckExact(capsule)
                       ? static_cast<DlExchange *>(PyCapsule_GetPointer(
                             capsule, "dlpack_exchange_api"))
                       : nullptr;
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (exchange && exchange->major != 1)
    exchange = exchange->older;
  return exchange ? exchange->view : nullptr;
}

uintptr_t terrazzo::bindings::dlpackEnd(PyObject *tensor, uintptr_t begin) {
  static auto *view = viewOfTensors(tensor);
  DlTensor found;
  if (!view || view(tensor, &found) != 0) {
    PyErr_Clear();
    return 0;
  }
  uintptr_t reach, length;
  extentOf(found, reach, length);
  return begin + length;
}

bool terrazzo::bindings::dlpackDevice(PyObject *value, int32_t &type,
                                      int32_t &device) {
  PyObject *answer = PyObject_CallMethod(value, "__dlpack_device__", nullptr);
  bool done = answer && PyArg_ParseTuple(answer, "ii", &type, &device);
  Py_XDECREF(answer);
  PyErr_Clear();
  return done;
}

/// Calls __dlpack__ with one keyword.
static PyObject *callDlpack(PyObject *method, PyObject *keywords) {
  PyObject *none = PyTuple_New(0);
  PyObject *capsule =
      none && keywords ? PyObject_Call(method, none, keywords) : nullptr;
  Py_XDECREF(none);
  Py_XDECREF(keywords);
  return capsule;
}

/// Asks for a capsule that says whether the array is read-only, and on a GPU
/// for one that `stream` may use without waiting; older libraries do not know
/// these questions.
static PyObject *askForCapsule(PyObject *value, Place place, void *stream) {
  PyObject *method = PyObject_GetAttrString(value, "__dlpack__");
  if (!method)
    return nullptr;
  auto asker = reinterpret_cast<long long>(stream);
  if (!asker && place.backend == Backend::Cuda)
    asker = 1; // the default stream, in DLPack's numbering
  bool onGpu = isGpu(place.backend);
  PyObject *capsule = callDlpack(
      method, onGpu ? Py_BuildValue("{s:(ii),s:L}", "max_version", 1, 1,
                                    "stream", asker)
                    : Py_BuildValue("{s:(ii)}", "max_version", 1, 1));
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = callDlpack(method, onGpu ? Py_BuildValue("{s:L}", "stream", asker)
                                       : PyDict_New());
  }
  Py_DECREF(method);
  return capsule;
}

bool Call::encodeDlpack(PyObject *value) {
  Place where;
  int32_t type;
  void *consumer = stream;
  if (dlpackDevice(value, type, where.device)) {
    where.backend = dlpackBackend(type);
    if (isGpu(where.backend) && !hasStream &&
        !currentStream(where, usesTorch, consumer))
      return false;
  }
  PyObject *capsule = askForCapsule(value, where, consumer);
  if (!capsule) {
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    PyObject *text = error ? PyObject_Str(error) : nullptr;
    const char *bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
    fail("ArgumentError", "__dlpack__() failed: %s",
         bytes ? bytes : "unknown error");
    for (PyObject *object : {kind, error, trace, text})
      Py_XDECREF(object);
    return false;
  }
  keep.push(capsule); // the producer frees the array with it
  return encodeCapsule(capsule);
}

bool Call::encodeCapsule(PyObject *capsule) {
  const DlTensor *tensor = nullptr;
  bool isReadOnly = false;
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    tensor = static_cast<DlTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto *versioned = static_cast<DlVersioned *>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (versioned->major != 1)
      return fail("ArgumentError", "DLPack version %u, expected 1",
                  versioned->major);
    tensor = &versioned->tensor;
    isReadOnly = versioned->flags & 1;
  }
  if (!tensor)
    return fail("ArgumentError", "__dlpack__() gave no DLPack capsule");
  Place found{dlpackBackend(tensor->deviceType), tensor->deviceId};
  if (found.backend == Backend::Cpu)
    found.device = -1;
  if (isShared(tensor->deviceType))
    sawShared = true;
  else if (found.backend == Backend::None)
    return fail("ArgumentError",
                "the array is on device %d:%d (in DLPack's numbering), which "
                "no target is for; expected cpu, cuda or hip",
                tensor->deviceType, tensor->deviceId);
  else if (!seePlace(found, capsule))
    return false;
  DType type = dlpackType(*tensor);
  if (type == kNoType)
    return fail("ArgumentError",
                "arrays of DLPack type (%d, %d bits, %d lanes) "
                "cannot be used in kernels",
                tensor->code, tensor->bits, tensor->lanes);
  const int64_t *shape = tensor->shape, *end = shape + tensor->rank;
  if (!tensor->data && !isWarmup && std::find(shape, end, 0) == end)
    return failNull("the array");
  uintptr_t reach, length;
  extentOf(*tensor, reach, length);
  const char *address = addressOf(*tensor);
  return pushPointer(type, address, isReadOnly, nullptr, reach,
                     reinterpret_cast<uintptr_t>(address) + length);
}

//===----------------------------------------------------------------------===//
// Our arrays, for others
//===----------------------------------------------------------------------===//

namespace {
/// What a capsule that we make holds.
struct Exported {
  DlManaged managed;
  std::vector<int64_t> shape;
  PyObject *owner;
};
} // namespace

static void releaseExported(DlManaged *managed) {
  auto *exported = static_cast<Exported *>(managed->context);
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(exported->owner);
  PyGILState_Release(state);
  delete exported;
}

/// A capsule that nobody took over; who does, renames it.
static void destroyCapsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    releaseExported(
        static_cast<DlManaged *>(PyCapsule_GetPointer(capsule, "dltensor")));
}

PyObject *terrazzo::bindings::makeDlpack(PyObject *owner, uintptr_t address,
                                         int code, int bits,
                                         const std::vector<int64_t> &shape,
                                         Place place) {
  auto *exported = new Exported{{}, shape, owner};
  DlTensor &tensor = exported->managed.tensor;
  tensor.data = reinterpret_cast<void *>(address);
  tensor.deviceType = place.backend == Backend::Hip    ? kDlRocm
                      : place.backend == Backend::Cuda ? kDlCuda
                                                       : kDlCpu;
  tensor.deviceId = place.device < 0 ? 0 : place.device;
  tensor.rank = static_cast<int32_t>(shape.size());
  tensor.code = static_cast<uint8_t>(code);
  tensor.bits = static_cast<uint8_t>(bits);
  tensor.lanes = 1;
  tensor.shape = exported->shape.data();
  exported->managed.context = exported;
  exported->managed.deleter = releaseExported;
  PyObject *capsule =
      PyCapsule_New(&exported->managed, "dltensor", destroyCapsule);
  if (!capsule) {
    delete exported;
    return nullptr;
  }
  Py_INCREF(owner);
  return capsule;
}
