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
    docs/adr/0006 says how tiles are evaluated. The module's `tile.target` tells the width of the vector
    registers (`vector_bytes`, default 32) and whether multiply-add is an instruction (`fma`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def SplitFunctions : Pass<"tz-split-functions", "::mlir::ModuleOp"> {
  let summary = "Cuts long functions into short ones (CPU)";
  let description = [{
    Expects: functions over scf and whatever needs no layout: scalars, vectors, memory.

    Ensures: no block holds more than `limit` operations, nested ones counted, unless one of them is longer alone. What is
    cut out is a run of operations of a block; it becomes a private function that is called in its place, never inlined and
    optimised for size: loops of a long kernel are not unrolled. Stack memory stays where it is.

    LLVM has passes whose time grows with the square of a function's length or of its number of loops. So its time grows
    with the length of the kernel and no faster.
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"4000", "operations that a block may hold">,
                 Option<"part", "part", "int64_t", /*default=*/"750", "operations of what is cut out, about">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def TileToSimt : Pass<"tz-tile-to-simt", "::mlir::ModuleOp"> {
  let summary = "Gives every tile a layout (GPU)";
  let description = [{
    Expects: a module of kernels over tile, arith, math and scf. `tile.num_warps` (default 4) and the `warp_size` of
    `tile.target` (default 32) say what a block is.

    Ensures: every tile type carries a `#simt.layout`; elementwise operands and results of an op share theirs;
    `simt.convert_layout` stands wherever two layouts meet. Memory accesses carry `simt.vector`: how many consecutive
    elements one access may cover. The choice is made once, for all tiles of the kernel, by cost.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::terrazzo::simt::SimtDialect"];
}

def SimtToLLVM : Pass<"tz-simt-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turns tiles with layouts into what one thread does (GPU)";
  let description = [{
    Expects: a module of kernels over tile, simt, arith, math and scf in which every tile has a layout, conversions and
    reductions stay within a warp, and buffers have offsets. `tile.num_warps` (default 4), the `warp_size` of
    `tile.target` (default 32) and `tile.strict` are read.

    Ensures: no tile is left: each became one scalar for every register of its layout. What remains is arith, math and scf on
    scalars, llvm for pointers, `tile.program_id`, `tile.num_programs` and the `simt` ops of one thread. Kernels are
    functions of `!llvm.ptr<1>`, integers (an i1 is an i8) and floats; one that prints or asserts has a debug buffer as
    one more argument, and `tile.lines` says what its numbers of lines mean.

    Of a kernel that is longer than `limit`, ops on at least `fewest` registers are loops, `turn` registers in each turn. A
    tile between two of them lies in memory of the thread, whose address space is the fact `private_space`.
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"8000", "instructions, about, of a kernel without loops">,
                 Option<"fewest", "fewest", "int64_t", /*default=*/"64", "registers that are worth a loop">,
                 Option<"turn", "turn", "int64_t", /*default=*/"16", "registers of a turn">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::terrazzo::simt::SimtDialect"];
}

def ExpandMath : Pass<"tz-expand-math"> {
  let summary = "Turns elementary functions and missing float formats into arithmetic";
  let description = [{
    Expects: `math` and `arith` ops on scalars, rank-1 vectors or tensors of floats. Structured control flow must still
    be allowed: rare cases (huge angles, long float divisions) are `scf` regions on scalars and vectors.

    Ensures: what is left of `math` is native on the target (sqrt, fma, abs, copysign, rounding to integers,
    classification and bit counts). Conversions from and to 8- and 16-bit floats are integer code unless the target has
    them; arithmetic on such floats is done in f32 and rounded once. `arith.remf` is gone. No fast-math flag is set on
    the new ops. docs/Rationale/Math.md lists the error bounds.

    What the target has is said by the options and, where there is one, by the `units` in `tile.target` of an enclosing
    op: without `f16` in it f16 conversions are code, without `rounding` and `fma` these are: an fma of f32 by
    f64, one of f64 as a call of a private function of the module; with `bf16` or `f16_arithmetic` those are native. With `approximate`,
    and without `tile.strict` on the module, f32 exp2, log2 and rsqrt stay, exp and log become these, and f32 divisions
    without `tile.exact` are marked `tile.approximate`.
  }];
  let options = [
    Option<"bf16Conversions", "bf16-native", "bool", "false", "f32 -> bf16 conversion is an instruction">,
    Option<"f16Conversions", "f16-native", "bool", "true", "f16 <-> f32 conversions are instructions (F16C)">,
    Option<"f16Arithmetic", "f16-arithmetic", "bool", "false", "f16 arithmetic is native">,
    Option<"fma", "fma", "bool", "true", "fma is an instruction">,
    Option<"rounding", "rounding", "bool", "true", "rounding to integers is an instruction">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CarryBrainFloats : Pass<"tz-carry-brain-floats"> {
  let summary = "Carries brain floats as their bits (CPU)";
  let description = [{
    Expects: what tz-expand-math leaves, scalars and vectors; no function has a bf16 in its type.

    Ensures: no value is a bf16, unless the module's `tile.target` multiplies vectors of them (`vector_bf16`), for then
    there are registers of this type: LLVM would carry scalars as f32, call a library to round that, and take vectors
    apart.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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
