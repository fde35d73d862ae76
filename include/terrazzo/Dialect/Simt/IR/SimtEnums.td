//===- SimtEnums.td - Enumerations of the simt dialect --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a file of their own: the generator takes all enumerations that it sees, and those of the tile dialect have been made.
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMTENUMS
#define TERRAZZO_DIALECT_SIMT_IR_SIMTENUMS

include "mlir/IR/EnumAttr.td"

def Simt_MatrixFamily : I32EnumAttr<"MatrixFamily", "how a matrix instruction lays out what it reads and writes", [
  I32EnumAttrCase<"Mma", 0, "mma">, I32EnumAttrCase<"Mfma", 1, "mfma">,
  I32EnumAttrCase<"Wgmma", 4, "wgmma">, I32EnumAttrCase<"WmmaGfx11", 2, "wmma_gfx11">, I32EnumAttrCase<"WmmaGfx12", 3, "wmma_gfx12">]> {
  let cppNamespace = "::terrazzo::simt";
}

#endif
