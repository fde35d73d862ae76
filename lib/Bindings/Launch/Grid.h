//===- Grid.h - From a Python grid to three extents -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_LAUNCH_GRID_H
#define TERRAZZO_BINDINGS_LAUNCH_GRID_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace terrazzo::bindings {

/// Reads a tuple, list, or integer of one to three extents; missing ones are 1.
/// False: an exception is set that says what a grid has to be.
bool parseGrid(PyObject *grid, int64_t extents[3]);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_LAUNCH_GRID_H
