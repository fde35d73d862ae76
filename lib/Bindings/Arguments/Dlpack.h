//===- Dlpack.h - Arrays of other libraries by DLPack -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_ARGUMENTS_DLPACK_H
#define TERRAZZO_BINDINGS_ARGUMENTS_DLPACK_H

#include "Place.h"

#include <vector>

namespace terrazzo::bindings {

/// What __dlpack_device__() of an object says; asks for no memory and waits for
/// nothing. False, without an exception, if it does not say.
bool dlpackDevice(PyObject *value, int32_t &type, int32_t &device);
/// The kind of a device of DLPack; None if no target is for it.
Backend dlpackBackend(int32_t type);
/// Behind the last byte of a tensor of torch whose address is `begin`; 0 if its
/// class does not say so without being asked in Python.
uintptr_t dlpackEnd(PyObject *tensor, uintptr_t begin);
/// A capsule "dltensor" of contiguous memory that `owner` keeps. Null: an
/// exception is set.
PyObject *makeDlpack(PyObject *owner, uintptr_t address, int code, int bits,
                     const std::vector<int64_t> &shape, Place place);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_ARGUMENTS_DLPACK_H
