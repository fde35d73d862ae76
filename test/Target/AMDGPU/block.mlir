// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX11
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX12

// What a thread knows of its place, in the order of the stores; barriers keep them in it.
// CHECK-LABEL: kernel:
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32, simt.shared_bytes = 4096 : i64, tile.maxnreg = 64 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %v: i32) {
    // How many work-groups there are is in the hidden arguments, which begin at 16 here.
    // GFX9-DAG: s_load_dwordx2 {{.*}}, 0x10
    // GFX9-DAG: s_load_dword {{.*}}, 0x18
    // GFX11-DAG: s_load_b64 {{.*}}, 0x10
    // GFX11-DAG: s_load_b32 {{.*}}, 0x18
    // GFX12-DAG: s_load_b96 {{.*}}, 0x10
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %i0 = tile.program_id 0
    %i1 = tile.program_id 1
    %n0 = tile.num_programs 0
    %n1 = tile.num_programs 1
    %n2 = tile.num_programs 2

    // The number of a warp is the same for all of its lanes: 64 of them, or 32.
    // CHECK-DAG: v_readfirstlane_b32 [[FIRST:s[0-9]+]], v{{[0-9]+}}
    // GFX9-DAG: s_lshr_b32 s{{[0-9]+}}, [[FIRST]], 6
    // GFX11-DAG: s_lshr_b32 s{{[0-9]+}}, [[FIRST]], 5
    // GFX12-DAG: s_lshr_b32 s{{[0-9]+}}, [[FIRST]], 5
    %w = simt.warp_id

    // A barrier is two instructions from GFX12 on. What it lets in must not be read from a stale cache.
    // GFX9: s_barrier
    // GFX11: s_barrier
    // GFX11: buffer_gl0_inv
    // GFX12: s_barrier_signal -1
    // GFX12: s_barrier_wait -1
    // GFX12: global_inv scope:SCOPE_SE
    simt.thread_store %p, %w : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i0 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n0 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n2 : !llvm.ptr<1>, i32

    // A fence writes back for a release and invalidates for an acquire, as far as its scope reaches.
    // GFX9: buffer_wbl2 sc1
    // GFX9: buffer_wbl2 sc0 sc1
    // GFX9: buffer_inv sc0 sc1
    // GFX11: buffer_gl1_inv
    // GFX11: buffer_gl0_inv
    // GFX12: global_wb scope:SCOPE_SYS
    // GFX12: global_inv scope:SCOPE_SYS
    // CHECK: global_store_
    simt.thread_fence acquire cta
    simt.thread_fence release gpu
    simt.thread_fence acq_rel sys
    simt.thread_fence relaxed sys
    simt.thread_store %p, %n0 : !llvm.ptr<1>, i32
    return
  }
}
