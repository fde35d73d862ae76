//===- Passes.td - Passes of the AMDGPU target ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_TARGET_AMDGPU_PASSES
#define TERRAZZO_TARGET_AMDGPU_PASSES

include "mlir/Pass/PassBase.td"

def SimtToROCDL : Pass<"tz-simt-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "Turns what one thread does into the rocdl dialect";
  let description = [{
    Expects: a module with `tile.target` (of an AMD chip) and `tile.entry`, whose kernel is a `func.func` over scf, arith,
    math, llvm, `tile.program_id`, `tile.num_programs` and the simt ops that say what one thread does.

    Ensures: no simt or tile op is left. A masked access is one in an `scf.if`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif
