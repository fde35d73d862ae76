//===- ObjectKind.h - What a Python object is to a launch -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_ARGUMENTS_OBJECTKIND_H
#define TERRAZZO_BINDINGS_ARGUMENTS_OBJECTKIND_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace terrazzo::bindings {

/// How the walk over the arguments treats an object. It depends on the object's
/// type alone.
enum class ObjectKind : uint8_t {
  None,
  Bool,
  Int,   ///< int and its subclasses
  Float, ///< float and its subclasses, numpy.float64 among them
  NumpyBool,
  NumpyInt,
  NumpyFloat,
  Tuple,
  List,
  Aggregate, ///< has __tz_flatten__(), which gives its parts as a tuple
  Array,     ///< numpy.ndarray
  Torch,     ///< torch.Tensor
  DataPtr,   ///< has data_ptr() and dtype
  Mock,      ///< the same, but there is no memory behind it
  Constexpr, ///< terrazzo.language.constexpr
  Constant,  ///< str, dtypes, jit functions, functions, types, enum members
  Foreign    ///< anything else: asked for the array protocols at every launch
};

/// Finds out what a type is and remembers it.
ObjectKind classifyType(PyTypeObject *type);

/// The kind of an object; the common ones without a look-up.
inline ObjectKind kindOf(PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type)
    return ObjectKind::Int;
  if (type == &PyFloat_Type)
    return ObjectKind::Float;
  if (type == &PyBool_Type)
    return ObjectKind::Bool;
  if (value == Py_None)
    return ObjectKind::None;
  return classifyType(type);
}

/// Whether a tuple has named fields.
inline bool isNamedTuple(PyObject *value) {
  return Py_TYPE(value) != &PyTuple_Type && PyTuple_Check(value) &&
         PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(value)),
                                "_fields");
}

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_ARGUMENTS_OBJECTKIND_H
