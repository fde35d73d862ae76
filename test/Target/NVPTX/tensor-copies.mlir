// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)'
// REDEFINE: %{chip} = sm_90
// RUN: %{emit} | tz-translate --tz-emit | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: not %{emit} 2>&1 | FileCheck %s --check-prefix=SM80

// A map is a parameter by value, whose own address the engine gets; waits try until the phase has ended.
// CHECK: .param .align 64 .b8 kernel_param_1[128]
// CHECK-NOT: .local
// CHECK: mbarrier.init.shared::cta.b64 [%r[[BARRIER:[0-9]+]]], 2;
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r{{[0-9]+}}], 2048;
// CHECK: mbarrier.arrive.shared::cta.b64 _, [%r{{[0-9]+}}];
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [%r{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r{{[0-9]+}}];
// CHECK: mbarrier.try_wait.parity
// CHECK-NEXT: @!done bra WAIT;
// CHECK-NEXT: }
// CHECK-NEXT: fence.proxy.async.shared::cta;
// CHECK: mbarrier.inval.shared::cta.b64
// SM80: error: {{.*}}simt.thread_mbarrier_init
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32, simt.shared_bytes = 16384 : i64, tile.tensor_maps = []} {
  func.func @kernel(%p: !llvm.ptr<1>, %map: !llvm.ptr, %i: i32) {
    %s = simt.shared_base : !llvm.ptr<3>
    %b = llvm.getelementptr %s[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    simt.thread_mbarrier_init %b, 2 : !llvm.ptr<3>
    simt.barrier
    simt.thread_mbarrier_arrive %b, 2048 : !llvm.ptr<3>
    simt.thread_mbarrier_arrive %b, 0 : !llvm.ptr<3>
    simt.thread_tensor_copy %s, %map[%i, %i] signals %b : !llvm.ptr<3>, !llvm.ptr, !llvm.ptr<3>
    simt.thread_mbarrier_wait %b, %i : !llvm.ptr<3>
    simt.thread_copy_arrive %b : !llvm.ptr<3>
    simt.thread_mbarrier_wait %b, %i units : !llvm.ptr<3>
    %x = simt.thread_load %s : !llvm.ptr<3> -> i32
    simt.thread_mbarrier_end %b : !llvm.ptr<3>
    simt.thread_store %p, %x : !llvm.ptr<1>, i32
    return
  }
}
