//===- Passes.td - Passes on the tile dialect -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES
#define TERRAZZO_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def PrintAxisInfo : Pass<"tz-print-axis-info", "::mlir::ModuleOp"> {
  let summary = "Says what is known of integers, booleans and pointers along each axis";
  let description = [{
    Expects: any tile module. Ensures: nothing changes. Each result of an operation gets a remark with its contiguity,
    divisibility and constancy, and pointers one with the widest access and the order of their axes, too.
  }];
}

#endif
