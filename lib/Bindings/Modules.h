//===- Modules.h - Parts of the extension module ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_MODULES_H
#define TERRAZZO_BINDINGS_MODULES_H

#include <pybind11/pybind11.h>

// Each adds its classes and functions to a submodule of terrazzo._terrazzo.
void bindIr(pybind11::module_ &module);
void bindRuntime(pybind11::module_ &module);
void bindDispatcher(pybind11::module_ &module);

#endif // TERRAZZO_BINDINGS_MODULES_H
