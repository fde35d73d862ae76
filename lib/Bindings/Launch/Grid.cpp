//===- Grid.cpp - From a Python grid to three extents ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "Bindings/Arguments/Arguments.h"

using namespace terrazzo::bindings;

static bool isInteger(PyObject *value) {
  return PyLong_Check(value) ||
         (PyIndex_Check(value) && !PySequence_Check(value)) ||
         // numpy and torch scalars are indices and claim to be sequences.
         (PyIndex_Check(value) && PySequence_Size(value) < 0);
}

static bool failGrid(const std::string &text) {
  PyErr_Clear();
  raise("ArgumentError", "grid " + text);
  return false;
}

static bool parseExtent(PyObject *value, int axis, int64_t &extent) {
  std::string which = "extent " + std::to_string(axis);
  bool isIndex = isInteger(value);
  PyErr_Clear();
  if (!isIndex)
    return failGrid(which + " is of type '" + Py_TYPE(value)->tp_name +
                    "', expected an integer");
  PyObject *index = PyNumber_Index(value);
  if (!index)
    return failGrid(which + " is not an integer");
  int overflow = 0;
  extent = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (overflow < 0 || (overflow == 0 && extent < 0))
    return failGrid(which + " is " +
                    (overflow ? "negative" : std::to_string(extent)) +
                    ", expected 0 or more");
  if (overflow > 0 || extent > INT32_MAX)
    return failGrid(which + " is " +
                    (overflow ? "huge" : std::to_string(extent)) +
                    ", expected at most 2147483647");
  return true;
}

bool terrazzo::bindings::parseGrid(PyObject *grid, int64_t extents[3]) {
  extents[0] = extents[1] = extents[2] = 1;
  if (!PyTuple_Check(grid) && !PyList_Check(grid)) {
    bool isIndex = isInteger(grid);
    PyErr_Clear();
    if (isIndex)
      return parseExtent(grid, 0, extents[0]);
    return failGrid(std::string("of type '") + Py_TYPE(grid)->tp_name +
                    "', expected a tuple, a list, an integer, or a function of "
                    "the arguments that returns one of these");
  }
  Py_ssize_t size = PySequence_Fast_GET_SIZE(grid);
  if (size < 1 || size > 3)
    return failGrid("has " + std::to_string(size) +
                    " extents, expected 1 to 3");
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!parseExtent(PySequence_Fast_GET_ITEM(grid, i), i, extents[i]))
      return false;
  // Programs are numbered by an int64.
  if (extents[0] && extents[1] && extents[2] &&
      extents[0] * extents[1] > INT64_MAX / extents[2])
    return failGrid("has more than 2^63 programs");
  return true;
}
