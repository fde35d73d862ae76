//===- SimtAttrs.td - Attributes of the simt dialect ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMTATTRS
#define TERRAZZO_DIALECT_SIMT_IR_SIMTATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "terrazzo/Dialect/Simt/IR/SimtDialect.td"
include "terrazzo/Dialect/Simt/IR/SimtEnums.td"

def Simt_LayoutAttr : AttrDef<Simt_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "A linear layout: which element each register of each lane of each warp holds";
  let description = [{
    Written as the images of the powers of two of each input dimension, and the padded extents of the tile:
    `#simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2]], warp = [[1, 0]], dims = [16, 4]>`. As the encoding of a
    tile its inputs are `register`, `lane` and `warp`, and its outputs the dimensions of the tile, each padded to a power
    of two; elements beyond the tile's shape are undefined and never leave a thread. As the swizzle of a buffer its one input is
    `offset`, counted in elements.
  }];
  let parameters = (ins "::terrazzo::layout::LinearLayout":$layout);
  let hasCustomAssemblyFormat = 1;
}

def Simt_InstructionAttr : AttrDef<Simt_Dialect, "Instruction"> {
  let mnemonic = "instruction";
  let summary = "A matrix instruction of a warp: acc + lhs @ rhs of m x k and k x n elements";
  let description = [{
    `#simt.instruction<family = mma, m = 16, n = 8, k = 16, lhs = bf16, rhs = bf16, acc = f32>`. `tf32` elements come as
    f32. `wgmma` is executed by four warps together and reads its factors from shared memory. MatrixUnits.h has what each chip
    can execute, and the layouts.

    Verified: the shape is one of the family's, the types are floats with a float accumulator or 8-bit integers with i32.
  }];
  let parameters = (ins
    EnumParameter<Simt_MatrixFamily>:$family,
    "int32_t":$m, "int32_t":$n, "int32_t":$k,
    "::mlir::Type":$lhs, "::mlir::Type":$rhs, "::mlir::Type":$acc);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif
