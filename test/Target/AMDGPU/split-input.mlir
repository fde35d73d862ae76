// RUN: tz-opt %s --split-input-file --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx942},tz-simt-to-rocdl,convert-to-llvm)' -o %t
// RUN: tz-translate %t --split-input-file --tz-emit --tz-stage=amdgcn | FileCheck %s

// Each module is emitted as asked for, also behind one whose linking has reset LLVM's options.
// CHECK: .globl first
// CHECK: .globl second
module attributes {tile.entry = "first", tile.num_warps = 1 : i32} {
  func.func @first() {
    return
  }
}

// -----

module attributes {tile.entry = "second", tile.num_warps = 1 : i32} {
  func.func @second() {
    return
  }
}
