//===- Passes.td - Passes of the NVPTX target -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_TARGET_NVPTX_PASSES
#define TERRAZZO_TARGET_NVPTX_PASSES

include "mlir/Pass/PassBase.td"

def SimtToNVVM : Pass<"tz-simt-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Turns what one thread does into the nvvm dialect and inline PTX";
  let description = [{
    Expects: a module with `tile.target` (of a CUDA chip) and `tile.entry`, whose kernel is a `func.func` over scf, arith,
    math, llvm, `tile.program_id`, `tile.num_programs` and the simt ops that say what one thread does.

    Ensures: no simt or tile op is left. Accesses with a mask or with a cache or eviction hint are predicated PTX
    instructions, others `llvm.load` and `llvm.store`. Atomics that PTX has are predicated PTX instructions, others LLVM's, in
    an `scf.if` where they have a mask.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif
