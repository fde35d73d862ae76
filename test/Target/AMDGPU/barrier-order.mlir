// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX11

// A value that one warp alone needs is still loaded before the barrier behind which all may overwrite it. LLVM sees no reason to: it would
// sink the load into the branch. A uniform load behind the barrier, of memory that the kernel does not write, is a scalar one.
// CHECK-LABEL: kernel:
// GFX9: ds_write_b32
// GFX9: s_barrier
// GFX9: ds_read_b32
// GFX9: s_barrier
// GFX9-NOT: ds_read
// GFX9-DAG: s_cbranch
// GFX9-DAG: s_load_dword s
// GFX9: global_store_dword
// GFX11: ds_store_b32
// GFX11: s_barrier
// GFX11: ds_load_b32
// GFX11: s_barrier
// GFX11-NOT: ds_load
// GFX11-DAG: s_cbranch
// GFX11-DAG: s_load_b32 s
// GFX11: global_store_b32
module attributes {tile.entry = "kernel", tile.num_warps = 8 : i32, simt.shared_bytes = 4096 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) {
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %t = simt.thread_id
    %w = simt.warp_id
    %s = simt.shared_base : !llvm.ptr<3>
    %own = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %i = arith.xori %t, %c64 : i32
    %other = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    simt.thread_store %own, %t : !llvm.ptr<3>, i32
    simt.barrier
    %v = simt.thread_load %other : !llvm.ptr<3> -> i32
    simt.barrier
    %u = simt.thread_load %y : !llvm.ptr<1> -> i32
    %c = arith.cmpi ult, %w, %c2 : i32
    scf.if %c {
      %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %sum = arith.addi %u, %v : i32
      simt.thread_store %p, %sum : !llvm.ptr<1>, i32
    }
    return
  }
}
