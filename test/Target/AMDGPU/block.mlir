// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefix=GFX9
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s --check-prefix=GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefix=GFX11
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s --check-prefix=GFX12

// All that a thread knows of its place (the numbers of work-groups are hidden arguments, at 16), barriers and fences.
// GFX9-LABEL: kernel:
// GFX9: s_load_dwordx2 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x10
// GFX9: s_load_dword s{{[0-9]+}}, s{{.[0-9:]+.}}, 0x18
// GFX9: s_load_dwordx2 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x0
// GFX9: v_readfirstlane_b32 s{{[0-9]+}}, v{{[0-9]+}}
// GFX9: s_lshr_b32 s{{[0-9]+}}, s{{[0-9]+}}, 6
// GFX9: s_barrier
// GFX9: s_barrier
// GFX9: s_barrier
// GFX9: s_barrier
// GFX9: s_barrier
// GFX9: s_barrier
// GFX9: buffer_wbl2 sc1
// GFX9: buffer_wbl2 sc0 sc1
// GFX9: buffer_inv sc0 sc1

// GFX11-LABEL: kernel:
// GFX11: s_load_b64 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x10
// GFX11: s_load_b32 s{{[0-9]+}}, s{{.[0-9:]+.}}, 0x18
// GFX11: s_load_b64 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x0
// GFX11: v_readfirstlane_b32 s{{[0-9]+}}, v{{[0-9]+}}
// GFX11: s_lshr_b32 s{{[0-9]+}}, s{{[0-9]+}}, 5
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: s_barrier
// GFX11: buffer_gl0_inv
// GFX11: buffer_gl0_inv
// GFX11: buffer_gl1_inv
// GFX11: buffer_gl0_inv

// GFX12-LABEL: kernel:
// GFX12: s_load_b96 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x10
// GFX12: s_load_b64 s{{.[0-9:]+.}}, s{{.[0-9:]+.}}, 0x0
// GFX12: v_readfirstlane_b32 s{{[0-9]+}}, v{{[0-9]+}}
// GFX12: s_lshr_b32 s{{[0-9]+}}, s{{[0-9]+}}, 5
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: global_inv scope:SCOPE_SE
// GFX12: global_inv scope:SCOPE_SE
// GFX12: global_wb scope:SCOPE_SYS
// GFX12: global_inv scope:SCOPE_SYS

module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32, simt.shared_bytes = 4096 : i64, tile.maxnreg = 64 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %v: i32) {
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w = simt.warp_id
    %i0 = tile.program_id 0
    %i1 = tile.program_id 1
    %i2 = tile.program_id 2
    %n0 = tile.num_programs 0
    %n1 = tile.num_programs 1
    %n2 = tile.num_programs 2
    simt.thread_store %p, %w : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i0 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i2 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n0 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n2 : !llvm.ptr<1>, i32
    simt.thread_fence acquire cta
    simt.thread_fence release gpu
    simt.thread_fence acq_rel sys
    simt.thread_fence relaxed sys
    simt.thread_store %p, %n1 : !llvm.ptr<1>, i32
    return
  }
}
