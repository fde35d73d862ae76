//===- TileDialect.td - The tile dialect ----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_TILE_IR_TILEDIALECT
#define TERRAZZO_DIALECT_TILE_IR_TILEDIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::terrazzo::tile";
  let summary = "What a kernel computes: tiles, pointers and memory, with no threads, layouts or targets";
  let description = [{
    A tile is a ranked tensor of static shape, `tensor<128x64xbf16>`, also of pointers:
    `tensor<128x!tile.ptr<f32>>`. Elementwise arithmetic is `arith` and `math` on tiles or scalars, control flow is
    `scf`; this dialect adds what those lack. The rationale is docs/Rationale/Tile.md.

    A kernel is a `func.func` with the unit attribute `tile.kernel`. Its arguments are scalars (integers, floats) and
    pointers; a pointer or integer argument that is known to be divisible by a number carries
    `tile.divisibility = 16 : i32`. Integers are signless; signedness is in the operations, as in `arith`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
