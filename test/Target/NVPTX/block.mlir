// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit
// REDEFINE: %{chip} = sm_80
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = sm_90
// RUN: %{emit} | FileCheck %s

// What a thread knows of its place, in the order of the stores; barriers keep them in it.
// CHECK-LABEL: .visible .entry kernel(
// CHECK: .reqntid 128
// CHECK: .maxnreg 64
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32, simt.shared_bytes = 4096 : i64, tile.maxnreg = 64 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %v: i32) {
    // A warp is 32 threads.
    // CHECK: mov.u32 %r[[T:[0-9]+]], %tid.x;
    // CHECK: shr.u32 %r[[W:[0-9]+]], %r[[T]], 5;
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w = simt.warp_id

    // A program is a block of the grid.
    // CHECK: mov.u32 %r[[I0:[0-9]+]], %ctaid.x;
    // CHECK: mov.u32 %r[[I1:[0-9]+]], %ctaid.y;
    // CHECK: mov.u32 %r[[I2:[0-9]+]], %ctaid.z;
    // CHECK: mov.u32 %r[[N0:[0-9]+]], %nctaid.x;
    // CHECK: mov.u32 %r[[N1:[0-9]+]], %nctaid.y;
    // CHECK: mov.u32 %r[[N2:[0-9]+]], %nctaid.z;
    %i0 = tile.program_id 0
    %i1 = tile.program_id 1
    %i2 = tile.program_id 2
    %n0 = tile.num_programs 0
    %n1 = tile.num_programs 1
    %n2 = tile.num_programs 2

    // A barrier holds all of the block.
    // CHECK: st.global.b32 [%rd[[P:[0-9]+]]], %r[[W]];
    // CHECK: bar.sync 0;
    // CHECK: st.global.b32 [%rd[[P]]], %r[[I0]];
    simt.thread_store %p, %w : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i0 : !llvm.ptr<1>, i32
    simt.barrier

    // Each number is the one that was asked for.
    // CHECK: st.global.b32 [%rd[[P]]], %r[[I1]];
    // CHECK: st.global.b32 [%rd[[P]]], %r[[I2]];
    // CHECK: st.global.b32 [%rd[[P]]], %r[[N0]];
    // CHECK: st.global.b32 [%rd[[P]]], %r[[N1]];
    // CHECK: st.global.b32 [%rd[[P]]], %r[[N2]];
    simt.thread_store %p, %i1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %i2 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n0 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n1 : !llvm.ptr<1>, i32
    simt.barrier
    simt.thread_store %p, %n2 : !llvm.ptr<1>, i32

    // Fences by scope; a relaxed one is none.
    // CHECK: fence.acq_rel.cta;
    // CHECK: fence.acq_rel.gpu;
    // CHECK: fence.acq_rel.sys;
    // CHECK-NOT: fence
    // CHECK: st.global.b32
    simt.thread_fence acquire cta
    simt.thread_fence release gpu
    simt.thread_fence acq_rel sys
    simt.thread_fence relaxed sys
    simt.thread_store %p, %n1 : !llvm.ptr<1>, i32
    return
  }
}
