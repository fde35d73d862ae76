// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit
// REDEFINE: %{chip} = sm_80
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,SM80
// REDEFINE: %{chip} = sm_90
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,SM90

// One atomic a case, in the order of the program: volatile stores of what they return keep them in it.
// CHECK-LABEL: .visible .entry kernel(
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32, simt.shared_bytes = 1024 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m8: i8, %i8: i8, %i16: i16, %i32: i32, %i64: i64, %f16: f16, %bf16: bf16, %f32: f32, %f64: f64) {
    %m = llvm.trunc %m8 : i8 to i1
    %s = simt.shared_base : !llvm.ptr<3>

    // What PTX has is one instruction, with the order and the scope in its name, and predicated where there is a mask.
    // CHECK: atom.relaxed.gpu.global.add.u32 %r[[OLD:[0-9]+]], [%rd[[X:[0-9]+]]],
    // CHECK: @%p[[M:[0-9]+]] atom.acquire.cta.global.max.s64 {{%rd[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.release.sys.global.min.u32 {{%r[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.acq_rel.gpu.global.exch.b64 {{%rd[0-9]+}}, [%rd[[X]]],
    %r0 = simt.thread_atomic_rmw add, %x, %i32 {sem = 0 : i32, scope = 1 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r0, %y : i32, !llvm.ptr<1>
    %r1 = simt.thread_atomic_rmw max, %x, %i64 mask %m {sem = 1 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64 -> i64
    llvm.store volatile %r1, %y : i64, !llvm.ptr<1>
    %r2 = simt.thread_atomic_rmw umin, %x, %i32 {sem = 2 : i32, scope = 2 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r2, %y : i32, !llvm.ptr<1>
    %r3 = simt.thread_atomic_rmw exch, %x, %f64 : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r3, %y : f64, !llvm.ptr<1>

    // Sums of floats too; of f16 they keep subnormals.
    // CHECK: @%p[[M]] atom.relaxed.gpu.global.add.f32 {{%r[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.relaxed.gpu.global.add.f64 {{%rd[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.relaxed.gpu.global.add.noftz.f16 {{%rs[0-9]+}}, [%rd[[X]]],
    %r4 = simt.thread_atomic_rmw fadd, %x, %f32 mask %m {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r4, %y : f32, !llvm.ptr<1>
    %r5 = simt.thread_atomic_rmw fadd, %x, %f64 {sem = 0 : i32} : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r5, %y : f64, !llvm.ptr<1>
    %r6 = simt.thread_atomic_rmw fadd, %x, %f16 {sem = 0 : i32} : !llvm.ptr<1>, f16 -> f16
    llvm.store volatile %r6, %y : f16, !llvm.ptr<1>

    // Those of bf16 are an instruction from sm_90 on; before, they are a loop of compare-and-swap on the word.
    // SM80: fma.rn.bf16
    // SM80: atom.relaxed.gpu.global.cas.b32
    // SM90: atom.relaxed.gpu.global.add.noftz.bf16 {{%rs[0-9]+}}, [%rd[[X]]],
    %r7 = simt.thread_atomic_rmw fadd, %x, %bf16 {sem = 0 : i32} : !llvm.ptr<1>, bf16 -> bf16
    llvm.store volatile %r7, %y : bf16, !llvm.ptr<1>

    // Maxima of floats, and sums of bytes, are such loops everywhere.
    // CHECK: max.f32 %r[[NEW:[0-9]+]],
    // CHECK: atom.relaxed.gpu.global.cas.b32 {{%r[0-9]+}}, [%rd[[X]]], {{%r[0-9]+}}, %r[[NEW]];
    // CHECK: atom.relaxed.gpu.global.cas.b32
    %r8 = simt.thread_atomic_rmw fmax, %x, %f32 {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r8, %y : f32, !llvm.ptr<1>
    %r9 = simt.thread_atomic_rmw add, %x, %i8 mask %m {sem = 0 : i32} : !llvm.ptr<1>, i8 -> i8
    llvm.store volatile %r9, %y : i8, !llvm.ptr<1>

    // Compare-and-swap has 16, 32 and 64 bits; bytes go through the word.
    // CHECK: atom.relaxed.gpu.global.cas.b16 {{%rs[0-9]+}}, [%rd[[X]]],
    // CHECK: @%p[[M]] atom.acq_rel.gpu.global.cas.b32 {{%r[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.relaxed.cta.global.cas.b64 {{%rd[0-9]+}}, [%rd[[X]]],
    // CHECK: atom.relaxed.cta.global.cas.b32
    %c0 = simt.thread_atomic_cas %x, %i16, %i16 {sem = 0 : i32} : !llvm.ptr<1>, i16
    llvm.store volatile %c0, %y : i16, !llvm.ptr<1>
    %c1 = simt.thread_atomic_cas %x, %i32, %i32 mask %m : !llvm.ptr<1>, i32
    llvm.store volatile %c1, %y : i32, !llvm.ptr<1>
    %c2 = simt.thread_atomic_cas %x, %i64, %i64 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64
    llvm.store volatile %c2, %y : i64, !llvm.ptr<1>
    %c3 = simt.thread_atomic_cas %x, %i8, %i8 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<1>, i8
    llvm.store volatile %c3, %y : i8, !llvm.ptr<1>

    // Shared memory is another space of the same instructions.
    // CHECK: atom.relaxed.cta.shared.add.f32 {{%r[0-9]+}}, [%r[[S:[0-9]+]]],
    // CHECK: @%p[[M]] atom.relaxed.cta.shared.or.b32 {{%r[0-9]+}}, [%r[[S]]],
    %s0 = simt.thread_atomic_rmw fadd, %s, %f32 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, f32 -> f32
    llvm.store volatile %s0, %y : f32, !llvm.ptr<1>
    %s1 = simt.thread_atomic_rmw or, %s, %i32 mask %m {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, i32 -> i32
    llvm.store volatile %s1, %y : i32, !llvm.ptr<1>
    return
  }
}
