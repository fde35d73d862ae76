//===- Passes.td - Conversions between dialects ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_CONVERSION_PASSES
#define TERRAZZO_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def TileToVector : Pass<"tz-tile-to-vector", "::mlir::ModuleOp"> {
  let summary = "Lowers tiles to strip-mined loops over vectors (CPU)";
  let description = [{
    Expects: a module of kernels (`func.func` with `tile.kernel`) over tile, arith, math and scf.

    Ensures: no tile op and no tensor is left. Each kernel is a function of pointers, scalars, program indices and a
    kernel context; tiles live in stack buffers, and every vector has rank 1 and at most 64 lanes.
    docs/adr/0006 says how tiles are evaluated. The module's `tile.target` dictionary tells the width of the vector
    registers (`vector_bytes`, default 32) and whether multiply-add is an instruction (`fma`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"tz-expand-math"> {
  let summary = "Turns elementary functions and missing float formats into arithmetic";
  let description = [{
    Expects: `math` and `arith` ops on scalars, rank-1 vectors or tensors of floats. Structured control flow must still
    be allowed: rare cases (huge angles, long float divisions) are `scf` regions on scalars and vectors.

    Ensures: what is left of `math` is native on every target (sqrt, fma, abs, copysign, rounding to integers,
    classification and bit counts). Conversions from and to 8- and 16-bit floats are integer code unless the target has
    them; arithmetic on such floats is done in f32 and rounded once. `arith.remf` is gone. No fast-math flag is set on
    the new ops. docs/Rationale/Math.md lists the error bounds.

    What the target has is said by the options and, where there is one, by the `tile.target` dictionary of an enclosing
    op: without `f16` in it f16 conversions are code, with `bf16` or `f16_arithmetic` those are native.
  }];
  let options = [
    Option<"bf16Conversions", "bf16-native", "bool", "false", "f32 -> bf16 conversion is an instruction">,
    Option<"f16Conversions", "f16-native", "bool", "true", "f16 <-> f32 conversions are instructions (F16C)">,
    Option<"f16Arithmetic", "f16-arithmetic", "bool", "false", "f16 arithmetic is native">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def GuardDivision : Pass<"tz-guard-division"> {
  let summary = "Keeps integer division from trapping";
  let description = [{
    Ensures: no integer division or remainder sees a divisor of zero, nor the smallest integer divided by -1. Defined
    instead: `x / 0` is all ones, `x % 0` is `x`, `INT_MIN / -1` wraps to `INT_MIN` with remainder 0. Divisions by
    constants that cannot trap are left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
