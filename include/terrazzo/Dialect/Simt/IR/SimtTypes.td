//===- SimtTypes.td - Types of the simt dialect ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_DIALECT_SIMT_IR_SIMTTYPES
#define TERRAZZO_DIALECT_SIMT_IR_SIMTTYPES

include "mlir/IR/AttrTypeBase.td"
include "terrazzo/Dialect/Simt/IR/SimtDialect.td"

def Simt_BufferType : TypeDef<Simt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A piece of the block's shared memory";
}

#endif
