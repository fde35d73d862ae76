//===- Overlap.cpp - Arrays of a launch that share memory -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for GPUs are compiled as if arrays that are passed as different
// arguments were apart. A launch looks whether they are: where one that the
// kernel writes shares memory with another, both are marked in the key, and the
// kernel for that key is compiled without the assumption.
//
// Arrays with different addresses are asked how far the lower one reaches, and
// no others. What cannot say so counts as one byte: plain addresses, and
// objects with data_ptr() and nothing else.
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Dlpack.h"
#include "ObjectKind.h"

using namespace terrazzo::bindings;

static PyObject *attribute(PyObject *object, PyObject *name) {
  PyObject *found = PyObject_GetAttr(object, name);
  if (!found)
    PyErr_Clear();
  return found;
}

/// The number that an attribute or a method gives; -1 if there is none.
static int64_t numberOf(PyObject *result) {
  int64_t number = result ? PyLong_AsLongLong(result) : -1;
  PyErr_Clear();
  Py_XDECREF(result);
  return number;
}

/// The end of an array with `shape`, stride() and element_size(), as tensors
/// have them; 0 if it has not.
static uintptr_t endByStrides(PyObject *object, uintptr_t begin) {
  int64_t size = numberOf(PyObject_CallMethod(object, "element_size", nullptr));
  PyObject *shape = PyObject_GetAttrString(object, "shape");
  PyObject *extents = shape ? PySequence_Tuple(shape) : nullptr;
  PyObject *strides = PyObject_CallMethod(object, "stride", nullptr);
  PyObject *steps = strides ? PySequence_Tuple(strides) : nullptr;
  uintptr_t end = 0;
  if (size > 0 && extents && steps &&
      PyTuple_GET_SIZE(extents) == PyTuple_GET_SIZE(steps)) {
    int64_t last = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(steps); ++i)
      last += (PyLong_AsLongLong(PyTuple_GET_ITEM(extents, i)) - 1) *
              PyLong_AsLongLong(PyTuple_GET_ITEM(steps, i));
    if (!PyErr_Occurred() && last >= 0)
      end = begin + static_cast<uintptr_t>((last + 1) * size);
  }
  PyErr_Clear();
  for (PyObject *each : {shape, extents, strides, steps})
    Py_XDECREF(each);
  return end;
}

uintptr_t Call::endOf(PointerArgument &argument) {
  if (argument.end)
    return argument.end;
  auto begin = reinterpret_cast<uintptr_t>(values[argument.value].p);
  argument.end = begin + 1;
  if (!argument.object)
    return argument.end;
  uintptr_t end = 0;
  if (kindOf(argument.object) == ObjectKind::Torch) {
    end = dlpackEnd(argument.object, begin);
  } else {
    static PyObject *bytes = PyUnicode_InternFromString("__tz_bytes__");
    int64_t size = numberOf(attribute(argument.object, bytes));
    end = size > 0 ? begin + static_cast<uintptr_t>(size) : 0;
  }
  if (!end)
    end = endByStrides(argument.object, begin);
  if (end > begin)
    argument.end = end;
  return argument.end;
}

bool Call::share(PointerArgument &a, PointerArgument &b) {
  auto begin = [&](const PointerArgument &argument) {
    return reinterpret_cast<uintptr_t>(values[argument.value].p) -
           argument.reach;
  };
  uintptr_t first = begin(a), second = begin(b);
  if (!first || !second)
    return false;
  return first == second ||
         (first < second ? endOf(a) > second : endOf(b) > first);
}

bool Call::markOverlaps(const std::vector<bool> &written) {
  bool found = false;
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (!written[pointers[i].value])
      continue;
    for (size_t j = 0; j < pointers.size(); ++j) {
      if (i == j || !share(pointers[i], pointers[j]))
        continue;
      key[pointers[i].word] |= kOverlaps;
      key[pointers[j].word] |= kOverlaps;
      found = true;
    }
  }
  return found;
}
