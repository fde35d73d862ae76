//===- Fault.h - What goes wrong in an instruction --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_FAULT_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_FAULT_H

#include "terrazzo/Simulator/AMDGPU/Error.h"

#include <string>

namespace terrazzo::amdsim {

/// Thrown by instructions; whoever runs the wave adds where it is.
struct Fault {
  ErrorKind kind;
  std::string text;
  int lane = -1;
};

[[noreturn]] inline void fault(ErrorKind kind, std::string text,
                               int lane = -1) {
  throw Fault{kind, std::move(text), lane};
}

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_FAULT_H
