//===- ObjectKind.cpp - What a Python object is to a launch ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectKind.h"
#include "Arguments.h"

#include <pybind11/numpy.h>

#include <unordered_map>

using namespace terrazzo::bindings;

namespace {
/// The classes that objects are compared with. Only ever touched under
/// Python's lock, and never torn down: launches may happen while the
/// interpreter shuts down.
struct KnownTypes {
  PyObject *ndarray = nullptr, *numpyBool = nullptr, *numpyInteger = nullptr,
           *numpyFloating = nullptr, *numpyGeneric = nullptr;
  PyObject *constexprType = nullptr, *dtypeType = nullptr;
  PyObject *enumType = nullptr, *tensor = nullptr;
  std::unordered_map<PyTypeObject *, ObjectKind> kinds;
};
} // namespace

static KnownTypes &known() {
  static auto *types = new KnownTypes;
  return *types;
}

static PyObject *attribute(const char *module, const char *name) {
  PyObject *imported = PyImport_ImportModule(module);
  PyObject *found = imported ? PyObject_GetAttrString(imported, name) : nullptr;
  Py_XDECREF(imported);
  PyErr_Clear();
  return found;
}

static void loadNumpy(KnownTypes &types) {
  if (types.ndarray)
    return;
  types.ndarray = attribute("numpy", "ndarray");
  types.numpyBool = attribute("numpy", "bool_");
  types.numpyInteger = attribute("numpy", "integer");
  types.numpyFloating = attribute("numpy", "floating");
  types.numpyGeneric = attribute("numpy", "generic");
  types.enumType = attribute("enum", "Enum");
}

/// torch.Tensor if the program has imported torch, without importing it.
static PyObject *torchTensor(KnownTypes &types) {
  if (types.tensor)
    return types.tensor;
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *torch = PyDict_GetItemString(modules, "torch");
  if (torch)
    types.tensor = PyObject_GetAttrString(torch, "Tensor");
  PyErr_Clear();
  return types.tensor;
}

static bool has(PyTypeObject *type, const char *name) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject *>(type), name);
}

static bool derives(PyTypeObject *type, PyObject *base) {
  return base && PyType_Check(base) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(base));
}

static ObjectKind decide(PyTypeObject *type, KnownTypes &types) {
  if (type == Py_TYPE(Py_None))
    return ObjectKind::None;
  if (derives(type, types.ndarray))
    return ObjectKind::Array;
  if (derives(type, torchTensor(types)))
    return ObjectKind::Torch;
  if (derives(type, types.numpyBool))
    return ObjectKind::NumpyBool;
  if (derives(type, types.numpyInteger))
    return ObjectKind::NumpyInt;
  if (PyType_IsSubtype(type, &PyLong_Type))
    return ObjectKind::Int;
  if (PyType_IsSubtype(type, &PyFloat_Type) &&
      !derives(type, types.numpyGeneric))
    return ObjectKind::Float;
  // Extension scalars (ml_dtypes.bfloat16) derive from numpy.generic alone.
  if (derives(type, types.numpyFloating) ||
      (derives(type, types.numpyGeneric) &&
       std::strcmp(type->tp_name, "numpy.complex64") != 0 &&
       dtypeByName(type->tp_name) != kNoType))
    return ObjectKind::NumpyFloat;
  if (PyType_IsSubtype(type, &PyTuple_Type))
    return ObjectKind::Tuple;
  if (PyType_IsSubtype(type, &PyList_Type))
    return ObjectKind::List;
  if (derives(type, types.constexprType))
    return ObjectKind::Constexpr;
  if (PyType_IsSubtype(type, &PyUnicode_Type) ||
      derives(type, types.dtypeType) || derives(type, types.enumType) ||
      type == &PyFunction_Type || type == &PyCFunction_Type ||
      PyType_IsSubtype(type, &PyType_Type) || has(type, "__tz_jit__") ||
      has(type, "__tz_constant__"))
    return ObjectKind::Constant;
  if (has(type, "__tz_flatten__"))
    return ObjectKind::Aggregate;
  if (has(type, "data_ptr"))
    return has(type, "__tz_mock__") ? ObjectKind::Mock : ObjectKind::DataPtr;
  return ObjectKind::Foreign;
}

ObjectKind terrazzo::bindings::classifyType(PyTypeObject *type) {
  KnownTypes &types = known();
  auto found = types.kinds.find(type);
  if (found != types.kinds.end())
    return found->second;
  loadNumpy(types);
  ObjectKind kind = decide(type, types);
  // Programs that make classes without end must not be kept from freeing them.
  if (types.kinds.size() < 1024) {
    Py_INCREF(type);
    types.kinds.emplace(type, kind);
  }
  return kind;
}

void terrazzo::bindings::setLanguageTypes(PyObject *constexprType,
                                          PyObject *dtypeType) {
  KnownTypes &types = known();
  Py_XINCREF(constexprType);
  Py_XINCREF(dtypeType);
  types.constexprType = constexprType;
  types.dtypeType = dtypeType;
  types.kinds.clear();
}
