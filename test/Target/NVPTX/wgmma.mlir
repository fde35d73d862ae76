// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)'
// REDEFINE: %{chip} = sm_90a
// RUN: %{emit} | tz-translate --tz-emit | FileCheck %s
// REDEFINE: %{chip} = sm_90
// RUN: not %{emit} 2>&1 | FileCheck %s --check-prefix=SM90

// Writes are shown to the unit before the barrier; all products of a group in one piece. The left factor lies with
// K innermost, 128 bytes a row (2^62, 1024 to the next eight rows), the right one across, 64 bytes a row (2^63).
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar{{(rier)?}}.sync
// CHECK: or.b64 %rd[[LHS:[0-9]+]], %rd{{[0-9]+}}, 4611686293305360384;
// CHECK: or.b64 %rd[[RHS:[0-9]+]], %rd{{[0-9]+}}, -9223371899407433728;
// CHECK: wgmma.fence.sync.aligned;
// CHECK: add.s64 a, %rd[[LHS]], 0;
// CHECK: add.s64 b, %rd[[RHS]], 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[ACC:.*]]}, a, b, p, 1, 1, 0, 1;
// CHECK: add.s64 a, %rd[[LHS]], 2;
// CHECK: add.s64 b, %rd[[RHS]], 64;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[ACC]]}, a, b, p, 1, 1, 0, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK-NOT: wgmma.wait
// CHECK: wgmma.fence.sync.aligned;
// CHECK-NEXT: add.s64 b, %rd{{[0-9]+}}, 0;
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{.*}}}, {[[A:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, b, p, 1, 1, 1;
// CHECK-NEXT: add.s64 b, %rd{{[0-9]+}}, 64;
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{.*}}}, {[[A]]}, b, p, 1, 1, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {{{.*}}}, a, b, p, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{{.*}}}, b, p, 1, 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: st.global
// SM90: error: 'simt.thread_group_mma' op is no instruction of the matrix unit 'mma_sm80'
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32, simt.shared_bytes = 16384 : i64} {
  func.func @kernel(%p: !llvm.ptr<1>) {
    %a = simt.thread_load %p : !llvm.ptr<1> -> vector<4xi32>
    %s = simt.shared_base : !llvm.ptr<3>
    %t = llvm.getelementptr %s[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    simt.barrier units
    %c = simt.thread_group_mma at %s : !llvm.ptr<3>, %t, %a by <family = wgmma, m = 64, n = 8, k = 16, lhs = bf16, rhs = bf16, acc = f32>
      {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0, 32>, rhsSteps = array<i32: 0, 1024>,
       lhsSwizzle = 128 : i32, rhsSwizzle = 64 : i32, lhsStride = 1024 : i32, rhsStride = 512 : i32,
       lhsLeading = 8192 : i32, rhsLeading = 2048 : i32, rhsAcross} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
    // The left factor in registers, two fragments; the first product is still in flight when its sum is added to.
    %d = simt.thread_group_mma held (%a, %a : vector<4xi32>, vector<4xi32>), %t, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = bf16, rhs = bf16, acc = f32>
      {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0, 1>, rhsSteps = array<i32: 0, 1024>,
       lhsSwizzle = 0 : i32, rhsSwizzle = 64 : i32, lhsStride = 0 : i32, rhsStride = 512 : i32,
       lhsLeading = 0 : i32, rhsLeading = 2048 : i32, rhsAcross} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
    simt.thread_group_wait 1
    %e = simt.thread_group_wait 0 of (%d : vector<4xi32>) -> vector<4xi32>
    // Factors that run along K only say nothing of it.
    %f = simt.thread_group_mma at %s : !llvm.ptr<3>, %t, %e by <family = wgmma, m = 64, n = 8, k = 32, lhs = f8E4M3FN, rhs = f8E5M2, acc = f32>
      {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0>, rhsSteps = array<i32: 0>,
       lhsSwizzle = 128 : i32, rhsSwizzle = 128 : i32, lhsStride = 1024 : i32, rhsStride = 1024 : i32,
       lhsLeading = 0 : i32, rhsLeading = 0 : i32} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
    %g = simt.thread_group_mma held (%a : vector<4xi32>), %t, %f by <family = wgmma, m = 64, n = 8, k = 8, lhs = tf32, rhs = tf32, acc = f32>
      {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0>, rhsSteps = array<i32: 0>,
       lhsSwizzle = 0 : i32, rhsSwizzle = 128 : i32, lhsStride = 0 : i32, rhsStride = 1024 : i32,
       lhsLeading = 0 : i32, rhsLeading = 0 : i32} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
    %h = simt.thread_group_wait 0 of (%g : vector<4xi32>) -> vector<4xi32>
    simt.thread_store %p, %h : !llvm.ptr<1>, vector<4xi32>
    return
  }
}
