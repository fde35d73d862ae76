// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)'
// REDEFINE: %{chip} = sm_89
// RUN: %{emit} | tz-translate --tz-emit | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: not %{emit} 2>&1 | FileCheck %s --check-prefix=SM80

// One of each kind of type; the words of a float accumulator are in float registers.
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, {
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32
// CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// 8-bit floats came with sm_89.
// SM80: error: 'simt.thread_mma' op is no instruction of the matrix unit 'mma_sm80'
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32} {
  func.func @kernel(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
    %a = simt.thread_load %p : !llvm.ptr<1> -> vector<4xi32>
    %b = simt.thread_load %q : !llvm.ptr<1> -> vector<2xi32>
    %c = simt.thread_mma %a, %b, %a by <family = mma, m = 16, n = 8, k = 16, lhs = bf16, rhs = bf16, acc = f32> : vector<4xi32>, vector<2xi32> -> vector<4xi32>
    %d = simt.thread_mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 8, lhs = tf32, rhs = tf32, acc = f32> : vector<4xi32>, vector<2xi32> -> vector<4xi32>
    %e = simt.thread_mma %a, %b, %d by <family = mma, m = 16, n = 8, k = 32, lhs = i8, rhs = i8, acc = i32> {isUnsigned} : vector<4xi32>, vector<2xi32> -> vector<4xi32>
    %f = simt.thread_mma %a, %b, %e by <family = mma, m = 16, n = 8, k = 32, lhs = f8E4M3FN, rhs = f8E5M2, acc = f32> : vector<4xi32>, vector<2xi32> -> vector<4xi32>
    simt.thread_store %p, %f : !llvm.ptr<1>, vector<4xi32>
    return
  }
}
