// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit
// REDEFINE: %{chip} = sm_90a
// RUN: %{emit} | FileCheck %s

// The mask of an exclusive-or is an operand of the instruction, so three stand for all; then any lane.
// CHECK-LABEL: .visible .entry kernel(
// CHECK: shfl.sync.bfly.b32 %r[[A:[0-9]+]], %r[[V:[0-9]+]], 1, 31, -1;
// CHECK: add.s32 %r[[SUM:[0-9]+]], %r[[A]], %r[[V]];
// CHECK: shfl.sync.bfly.b32 %r[[B:[0-9]+]], %r[[SUM]], 22, 31, -1;
// CHECK: shfl.sync.bfly.b32 %r[[C:[0-9]+]], %r[[B]], 31, 31, -1;
// CHECK: shfl.sync.idx.b32 %r{{[0-9]+}}, %r[[C]], %r{{[0-9]+}}, 31, -1;
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %l: i32) {
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = simt.thread_load %p : !llvm.ptr<1> -> i32
    %a = simt.shuffle_xor %v, 1
    %sum = arith.addi %a, %v : i32
    %b = simt.shuffle_xor %sum, 22
    %c = simt.shuffle_xor %b, 31
    %z = simt.shuffle_index %c, %l
    simt.thread_store %p, %z : !llvm.ptr<1>, i32
    return
  }
}
