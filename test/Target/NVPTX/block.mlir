// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit
// REDEFINE: %{chip} = sm_80
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = sm_90
// RUN: %{emit} | FileCheck %s

// All that a thread knows of its place, barriers and fences.
// CHECK-LABEL: .visible .entry kernel(
// CHECK: .reqntid 128
// CHECK: .maxnreg 64
// CHECK: mov.u32 %r{{[0-9]+}}, %tid.x;
// CHECK: shr.u32 %r{{[0-9]+}}, %r{{[0-9]+}}, 5;
// CHECK: mov.u32 %r{{[0-9]+}}, %ctaid.x;
// CHECK: mov.u32 %r{{[0-9]+}}, %ctaid.y;
// CHECK: mov.u32 %r{{[0-9]+}}, %ctaid.z;
// CHECK: mov.u32 %r{{[0-9]+}}, %nctaid.x;
// CHECK: mov.u32 %r{{[0-9]+}}, %nctaid.y;
// CHECK: mov.u32 %r{{[0-9]+}}, %nctaid.z;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: bar.sync 0;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: fence.acq_rel.cta;
// CHECK: fence.acq_rel.gpu;
// CHECK: fence.acq_rel.sys;
// CHECK: st.global.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
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
