//===- Passes.td - Passes on the simt dialect -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_TRANSFORMS_PASSES
#define TERRAZZO_DIALECT_SIMT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseMatrixUnits : Pass<"tz-choose-matrix-units", "::mlir::ModuleOp"> {
  let summary = "Gives products the matrix instructions that compute them";
  let description = [{
    Expects: tiles without layouts.

    Ensures: each `tile.dot` that the `matrix` unit of `tile.target` can compute exactly, and summed in 32 bits, is a `simt.mma`
    by one of its instructions; 8-bit floats that the unit does not take are made wider ones first. Others stay: fp64, f32
    unless `tf32` is asked for, tiles smaller than an instruction, all products where `tile.strict` is set.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::terrazzo::simt::SimtDialect"];
}

def SimtSchedule : Pass<"tz-simt-schedule", "::mlir::ModuleOp"> {
  let summary = "Overlaps the iterations of loops with products";
  let description = [{
    Expects: kernels whose tiles have layouts, before `tz-simt-channels`.

    Ensures: a loop whose products run beside other ops (`simt.mma` that reads shared memory) has parts of up to `stages` iterations
    in one, and no more than `tile.num_stages`, as the schedule says that `tz-print-schedule` prints. Loops with other effects than
    loads stay as they are. The default leaves all as they are: on an H200 no schedule of attention was faster yet (docs/LOG.md).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::terrazzo::simt::SimtDialect"];
  let options = [Option<"stages", "stages", "int32_t", "1", "iterations at most that overlap">];
}

def SimtPrintSchedule : Pass<"tz-print-schedule", "::mlir::ModuleOp"> {
  let summary = "Prints how iterations of loops would overlap";
  let description = [{
    Expects: as `tz-simt-schedule`. Ensures: for each loop with products that run beside other ops, standard output has the stages,
    the cycles of a step and the nodes in its order, each with its stage, its cycles and what it runs on. Nothing is changed.
  }];
  let options = [Option<"stages", "stages", "int32_t", "2", "iterations at most that overlap">];
}

def SimtChannels : Pass<"tz-simt-channels", "::mlir::ModuleOp"> {
  let summary = "Copies factors of products to shared memory some iterations ahead";
  let description = [{
    Expects: kernels whose tiles have layouts, before `tz-simt-prefetch`.

    Ensures: in a loop, what is loaded only to be a factor of a `simt.mma` that reads shared memory is copied there
    (`simt.local_copy`) by as many iterations ahead as there are slots, less one: `tile.num_stages` of them (default 3), or as many as fit
    into the `shared_bytes` of `tile.target`. Factors that do not change in the loop are stored in front of it. The waits
    and barriers between copies and products are there. A loop stays as it is if it orders memory, if the address of an
    iteration ahead is not known, or if two slots do not fit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::terrazzo::simt::SimtDialect"];
}

def SimtPrefetch : Pass<"tz-simt-prefetch", "::mlir::ModuleOp"> {
  let summary = "Starts loads early";
  let description = [{
    Expects: kernels whose tiles have layouts, before `tz-simt-decompose`.

    Ensures: a load of global memory that no store of the kernel can change, and whose address is known earlier, starts
    earlier, as long as the registers that wait for it stay within bounds: in straight code before the reductions, scans
    and the like in front of it, in a loop one iteration ahead. The loop's last iteration loads nothing ahead. No load
    moves over an op with effects on memory that it does not name, or with effects that are not known: a barrier, an
    atomic that is not relaxed, a print.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::terrazzo::tile::TileDialect"];
}

def SimtDecompose : Pass<"tz-simt-decompose", "::mlir::ModuleOp"> {
  let summary = "Spells out what crosses warps, in shared memory";
  let description = [{
    Expects: kernels whose tiles have layouts (`tz-tile-to-simt`).

    Ensures: what is left of conversions moves data within a warp at most; reductions and scans stay within a warp
    (`simt.warp_reduce`, or an axis that no warp bit moves along); products read their factors from buffers
    (`simt.local_dot`, `simt.local_mma`) or hold them in registers (`simt.mma`); gather, slice, insert, flip, concat, histogram, recurrence and reshapes that are not linear are
    accesses of buffers; results of atomics and of volatile loads reach every thread that has a copy. No barrier is there yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::terrazzo::simt::SimtDialect"];
}

def FitShared : Pass<"tz-fit-shared", "::mlir::ModuleOp"> {
  let summary = "Makes tiles go through shared memory in rounds where they do not fit";
  let description = [{
    Expects: buffers without offsets (`tz-simt-decompose`).

    Ensures: a kernel whose buffers fit into the `shared_bytes` of `tile.target` is as it was. Of others, tiles on their way from stores
    to a load, factors of products and what loops go through row by row pass through smaller buffers in as many rounds as it takes,
    and no more than 16; what does not fit then is for `tz-allocate-shared` to say.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::terrazzo::simt::SimtDialect"];
}

def InsertMmaWaits : Pass<"tz-insert-mma-waits", "::mlir::ModuleOp"> {
  let summary = "Puts waits where products in flight are needed";
  let description = [{
    Expects: `simt.local_mma` without waits (`tz-simt-decompose`), before buffers have offsets.

    Ensures: no op reads a result in flight but other `simt.local_mma`, as accumulator, and loops that carry it to one. A `simt.mma_wait`
    stands as late as can be; products that a loop only adds to are waited for behind it, and in it one iteration later, where their
    buffers last that long. No buffer that is stored to in a loop is read by a product of an earlier iteration, but rings that say so.
  }];
  let dependentDialects = ["::terrazzo::simt::SimtDialect"];
}

def AllocateShared : Pass<"tz-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer its place in shared memory";
  let description = [{
    Ensures: each `simt.alloc` has an offset, such that buffers that live at the same time do not overlap, and the module
    attribute `simt.shared_bytes` holds the block's need. An error at the largest buffer, with what was needed and what there is, if
    that is more than the `shared_bytes` of `tile.target`.
  }];
}

def InsertBarriers : Pass<"tz-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "Puts barriers where one thread may touch what another has written or read";
  let description = [{
    Expects: buffers with offsets. Ensures: between two accesses of overlapping shared memory, at least one of them a
    write, and between a write of global memory and an access through the same kernel argument, there is a
    `simt.barrier` on every path. `tile.barrier` becomes `simt.barrier`.
  }];
  let dependentDialects = ["::terrazzo::simt::SimtDialect"];
}

def CheckBarriers : Pass<"tz-check-barriers", "::mlir::ModuleOp"> {
  let summary = "Fails where a barrier is missing";
  let description = [{
    Asks the model that `tz-insert-barriers` follows whether two accesses can race; changes nothing.
  }];
}

def SimtPrintLayout : Pass<"tz-print-layout", "::mlir::ModuleOp"> {
  let summary = "Prints each layout as a picture: who holds what";
  let description = [{
    Expects: any module. Ensures: for each distinct `#simt.layout`, standard output has the attribute, the types of the
    values that have it, and a table of the elements: `r1 l5 w0` is register 1 of lane 5 of warp 0, `|` stands between
    those who hold copies, inputs of one value are left out, and of a swizzle `o3` is offset 3. Nothing is changed.
  }];
  let options = [
    Option<"cells", "cells", "int32_t", "1024", "elements of a layout that are shown at most">
  ];
}

#endif
