//===- SimtDialect.td - The simt dialect ----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMTDIALECT
#define TERRAZZO_DIALECT_SIMT_IR_SIMTDIALECT

include "mlir/IR/OpBase.td"

def Simt_Dialect : Dialect {
  let name = "simt";
  let cppNamespace = "::terrazzo::simt";
  let summary = "Where the elements of tiles live on a GPU: layouts, shared memory, barriers";
  let description = [{
    After `tz-tile-to-simt`, every tile type carries one `#simt.layout` as its encoding, and `tile`, `arith`, `math`
    and `scf` ops keep their meaning on such tiles: an op's elementwise operands and results share one layout. This
    dialect adds what has a place: conversions between layouts, buffers in shared memory, accesses of them, barriers,
    and reductions inside one warp.

    Below that, `simt.thread_*` and a few more are what one thread does, on scalars and `!llvm.ptr`: what
    `tz-simt-to-llvm` leaves for a target's own patterns. Address space 1 is global memory, 3 shared memory.

    A program instance is a block of `num_warps` warps of `warp_size` lanes; thread `t` is lane `t % warp_size` of warp
    `t / warp_size`. Scalars are uniform: every thread of the block computes the same.
    The rationale is docs/Rationale/Simt.md.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::terrazzo::tile::TileDialect"];
}

#endif
