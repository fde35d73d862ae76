// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX11
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX12

// A barrier at the head of a loop awaits what the end of its body has read: LLVM comes by the head first, when nothing is under way.
// CHECK-LABEL: kernel:
// GFX9: s_waitcnt lgkmcnt(0)
// GFX9: s_barrier
// GFX11: s_waitcnt vmcnt(0) lgkmcnt(0)
// GFX11-NEXT: s_waitcnt_vscnt null, 0x0
// GFX11: s_barrier
// GFX12: s_wait_loadcnt 0x0
// GFX12-NEXT: s_wait_storecnt 0x0
// GFX12-NEXT: s_wait_dscnt 0x0
// GFX12: s_barrier_signal
module attributes {tile.entry = "kernel", tile.num_warps = 8 : i32, simt.shared_bytes = 4096 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = simt.thread_id
    %s = simt.shared_base : !llvm.ptr<3>
    %own = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%v = %t) -> i32 : i32 {
      simt.barrier
      simt.thread_store %own, %v : !llvm.ptr<3>, i32
      simt.barrier
      %place = arith.xori %t, %i : i32
      %other = llvm.getelementptr %s[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %next = simt.thread_load %other : !llvm.ptr<3> -> i32
      scf.yield %next : i32
    }
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    simt.thread_store %p, %last : !llvm.ptr<1>, i32
    return
  }
}
