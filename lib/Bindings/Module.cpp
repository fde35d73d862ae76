//===- Module.cpp - The Python extension module terrazzo._terrazzo --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

PYBIND11_MODULE(_terrazzo, module) {
  module.doc() = "Terrazzo's compiler and runtime";
  py::module_ ir = module.def_submodule("ir", "Building and compiling IR");
  bindIr(ir);
  py::module_ runtime =
      module.def_submodule("runtime", "Artifacts, cache, drivers, launch");
  bindRuntime(runtime);
  bindDispatcher(runtime);
}
