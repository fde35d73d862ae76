//===- Passes.td - Passes on the tile dialect -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES
#define TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TileContractProducts : Pass<"tz-tile-contract-products", "::mlir::ModuleOp"> {
  let summary = "Fuses products with the sums that they go into (CPU)";
  let description = [{
    Expects: any tile module. Sums and products of f32 and f64 that may be contracted carry the fast-math flag `contract`.
    Ensures: where the `tile.target` has `fma`, a product whose one use is a sum in its block is a `math.fma`; the right one
    of two. No sum is left for a later pass to contract, but the sums of `tile.reduce`, whose products are the elements.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileExpandDescriptors : Pass<"tz-tile-expand-descriptors", "::mlir::ModuleOp"> {
  let summary = "Turns blocks of described tensors into pointers and masks";
  let description = [{
    Expects: any tile module. Ensures: no descriptor is left. A block is a scalar pointer to its first element, a tile of
    small steps from there, and a mask of what lies in the tensor, in i64. Where the chip has a copy engine, the factors of
    products in loops whose descriptors follow from the kernel's arguments get a `tile.block_hint`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::terrazzo::tile::TileDialect"];
}

def TileExpandSort : Pass<"tz-tile-expand-sort", "::mlir::ModuleOp"> {
  let summary = "Turns sorts into exchanges of halves (GPU)";
  let description = [{
    Expects: any tile module; `tile.num_warps` (default 4) and the `warp_size` of `tile.target` (default 32) are read.
    Ensures: no `tile.sort` is left but those with more than `most` exchanges in each thread, and these have a row for each
    warp: a longer row is made of parts, every other one turned, and merged. Each other stage of the network is a reshape that makes partners the two halves of a dimension, a comparison and two selections, so
    that layouts and exchanges between threads follow as for everything else.
  }];
  let options = [Option<"most", "most", "int64_t", /*default=*/"1024", "exchanges of a thread that are written out">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::terrazzo::tile::TileDialect"];
}

def PrintAxisInfo : Pass<"tz-print-axis-info", "::mlir::ModuleOp"> {
  let summary = "Says what is known of integers, booleans and pointers along each axis";
  let description = [{
    Expects: any tile module. Ensures: nothing changes. Each result of an operation gets a remark with its contiguity,
    divisibility and constancy, and pointers one with the widest access and the order of their axes, too.
  }];
}

#endif
