// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx90a
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9,GFX90A
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9,GFX942
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX11

// One atomic a case, in the order of the program: volatile stores of what they return keep them in it. The mask differs
// from thread to thread.
// CHECK-LABEL: kernel:
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32, simt.shared_bytes = 1024 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %i8: i8, %i16: i16, %i32: i32, %i64: i64, %f16: f16, %bf16: bf16, %f32: f32, %f64: f64) {
    %t = simt.thread_id
    %m = arith.cmpi slt, %t, %i32 : i32
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f64
    %s = simt.shared_base : !llvm.ptr<3>
    %q = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f64

    // A sum is one instruction, with the bit that asks for the value before.
    // GFX90A: global_atomic_add {{.*}} glc
    // GFX942: global_atomic_add {{.*}} sc0{{$}}
    // GFX11: global_atomic_add_u32 {{.*}} glc
    // CHECK: global_store_
    %r0 = simt.thread_atomic_rmw add, %p, %i32 {sem = 0 : i32, scope = 1 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r0, %y : i32, !llvm.ptr<1>

    // A mask is a branch around it; 64 bits are another instruction.
    // CHECK: s_cbranch_execz [[AFTER:.LBB0_[0-9]+]]
    // GFX9: global_atomic_smax_x2
    // GFX11: global_atomic_max_i64
    // CHECK: [[AFTER]]:
    // CHECK: global_store_
    %r1 = simt.thread_atomic_rmw max, %p, %i64 mask %m {sem = 1 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64 -> i64
    llvm.store volatile %r1, %y : i64, !llvm.ptr<1>

    // A release for the system writes back before it. What memory beyond the device may lack is a loop there.
    // GFX90A: buffer_wbl2
    // GFX942: buffer_wbl2 sc0 sc1
    // GFX942: global_atomic_cmpswap {{.*}} sc0 sc1
    // CHECK: global_store_
    %r2 = simt.thread_atomic_rmw umin, %p, %i32 {sem = 2 : i32, scope = 2 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r2, %y : i32, !llvm.ptr<1>

    // An exchange moves bits, of floats too; acquiring invalidates after it.
    // GFX9: global_atomic_swap_x2
    // GFX11: global_atomic_swap_b64
    // GFX90A: buffer_wbinvl1_vol
    // GFX942: buffer_inv sc1
    // GFX11: buffer_gl0_inv
    // CHECK: global_store_
    %r3 = simt.thread_atomic_rmw exch, %p, %f64 : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r3, %y : f64, !llvm.ptr<1>

    // Sums of floats are one instruction as well.
    // CHECK: global_atomic_add_f32
    // CHECK: global_store_
    %r4 = simt.thread_atomic_rmw fadd, %p, %f32 {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r4, %y : f32, !llvm.ptr<1>

    // Of doubles only where the chip has it; elsewhere they are a loop around compare-and-swap.
    // GFX9: global_atomic_add_f64
    // GFX11: [[LOOP:.LBB0_[0-9]+]]:
    // GFX11: global_atomic_cmpswap_b64
    // GFX11: s_cbranch_execnz [[LOOP]]
    // CHECK: global_store_
    %r5 = simt.thread_atomic_rmw fadd, %p, %f64 {sem = 0 : i32} : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r5, %y : f64, !llvm.ptr<1>

    // Sums of 16 bits are a loop on the word around them.
    // CHECK: [[LOOP:.LBB0_[0-9]+]]:
    // CHECK: global_atomic_cmpswap{{(_b32)? }}
    // CHECK: s_cbranch_execnz [[LOOP]]
    // CHECK: global_store_
    %r6 = simt.thread_atomic_rmw fadd, %p, %f16 {sem = 0 : i32} : !llvm.ptr<1>, f16 -> f16
    llvm.store volatile %r6, %y : f16, !llvm.ptr<1>

    // So are those of bf16,
    // CHECK: [[LOOP:.LBB0_[0-9]+]]:
    // CHECK: global_atomic_cmpswap{{(_b32)? }}
    // CHECK: s_cbranch_execnz [[LOOP]]
    // CHECK: global_store_
    %r7 = simt.thread_atomic_rmw fadd, %p, %bf16 {sem = 0 : i32} : !llvm.ptr<1>, bf16 -> bf16
    llvm.store volatile %r7, %y : bf16, !llvm.ptr<1>

    // and of bytes.
    // CHECK: [[LOOP:.LBB0_[0-9]+]]:
    // CHECK: global_atomic_cmpswap{{(_b32)? }}
    // CHECK: s_cbranch_execnz [[LOOP]]
    // CHECK: global_store_
    %r9 = simt.thread_atomic_rmw add, %p, %i8 {sem = 0 : i32} : !llvm.ptr<1>, i8 -> i8
    llvm.store volatile %r9, %y : i8, !llvm.ptr<1>

    // Maxima of floats are an instruction of RDNA only.
    // GFX9: [[LOOP:.LBB0_[0-9]+]]:
    // GFX9: global_atomic_cmpswap
    // GFX9: s_cbranch_execnz [[LOOP]]
    // GFX11: global_atomic_max_f32
    // CHECK: global_store_
    %r8 = simt.thread_atomic_rmw fmax, %p, %f32 {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r8, %y : f32, !llvm.ptr<1>

    // Compare-and-swap of 16 bits tries again when the other half of the word has changed.
    // CHECK: global_atomic_cmpswap{{(_b32)? }}
    // CHECK: s_cbranch_execz
    // CHECK: global_store_{{short|b16}}
    %c0 = simt.thread_atomic_cas %p, %i16, %i16 {sem = 0 : i32} : !llvm.ptr<1>, i16
    llvm.store volatile %c0, %y : i16, !llvm.ptr<1>

    // Of 32 and 64 bits it is one instruction, for the threads of the mask.
    // CHECK: exec
    // CHECK: global_atomic_cmpswap{{(_b32)? }}
    // CHECK: global_store_{{dword|b32}}
    %c1 = simt.thread_atomic_cas %p, %i32, %i32 mask %m : !llvm.ptr<1>, i32
    llvm.store volatile %c1, %y : i32, !llvm.ptr<1>
    // GFX9: global_atomic_cmpswap_x2
    // GFX11: global_atomic_cmpswap_b64
    // CHECK: global_store_
    %c2 = simt.thread_atomic_cas %p, %i64, %i64 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64
    llvm.store volatile %c2, %y : i64, !llvm.ptr<1>

    // Shared memory has instructions of its own.
    // CHECK: ds_add_rtn_f32
    // CHECK: global_store_
    %s0 = simt.thread_atomic_rmw fadd, %q, %f32 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, f32 -> f32
    llvm.store volatile %s0, %y : f32, !llvm.ptr<1>
    // CHECK: ds_or_rtn_b32
    // CHECK: s_or_b{{.*}} exec
    // CHECK: global_store_
    %s1 = simt.thread_atomic_rmw or, %q, %i32 mask %m {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, i32 -> i32
    llvm.store volatile %s1, %y : i32, !llvm.ptr<1>
    return
  }
}
