// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx90a
// RUN: %{emit} | FileCheck %s --check-prefix=GFX90A
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefix=GFX942
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefix=GFX11

// Bytes, sums of 16-bit floats and, where they are no instruction, maxima of floats are loops of compare-and-swap.
// GFX90A-LABEL: kernel:
// GFX90A: s_cbranch_execz .LBB0_2
// GFX90A: global_atomic_add v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_vccz .LBB0_8
// GFX90A: s_cbranch_execz .LBB0_7
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_5
// GFX90A: global_atomic_swap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_vccz .LBB0_18
// GFX90A: s_cbranch_execz .LBB0_11
// GFX90A: global_atomic_smax_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_15
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_13
// GFX90A: global_atomic_swap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_17
// GFX90A: global_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_20
// GFX90A: global_atomic_add_f64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_21
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_23
// GFX90A: s_cbranch_execz .LBB0_28
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_26
// GFX90A: s_cbranch_vccz .LBB0_34
// GFX90A: s_cbranch_execz .LBB0_33
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_30
// GFX90A: s_cbranch_vccz .LBB0_44
// GFX90A: s_cbranch_execz .LBB0_39
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execnz .LBB0_37
// GFX90A: s_cbranch_execz .LBB0_43
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_40
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: global_atomic_cmpswap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_48
// GFX90A: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX90A: s_cbranch_execz .LBB0_45
// GFX90A: ds_add_rtn_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// GFX90A: s_cbranch_vccnz .LBB0_54
// GFX90A: ds_or_rtn_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}

// GFX942-LABEL: kernel:
// GFX942: s_cbranch_execz .LBB0_2
// GFX942: global_atomic_add v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_vccz .LBB0_8
// GFX942: s_cbranch_execz .LBB0_7
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0 sc1
// GFX942: s_cbranch_execnz .LBB0_5
// GFX942: global_atomic_swap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_vccz .LBB0_18
// GFX942: s_cbranch_execz .LBB0_11
// GFX942: global_atomic_smax_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_15
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0 sc1
// GFX942: s_cbranch_execnz .LBB0_13
// GFX942: global_atomic_swap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_17
// GFX942: global_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_20
// GFX942: global_atomic_add_f64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execnz .LBB0_21
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execnz .LBB0_23
// GFX942: s_cbranch_execz .LBB0_28
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execnz .LBB0_26
// GFX942: s_cbranch_vccz .LBB0_34
// GFX942: s_cbranch_execz .LBB0_33
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_30
// GFX942: s_cbranch_vccz .LBB0_44
// GFX942: s_cbranch_execz .LBB0_39
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execnz .LBB0_37
// GFX942: s_cbranch_execz .LBB0_43
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_40
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: global_atomic_cmpswap_x2 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_48
// GFX942: global_atomic_cmpswap v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} sc0
// GFX942: s_cbranch_execz .LBB0_45
// GFX942: ds_add_rtn_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// GFX942: s_cbranch_vccnz .LBB0_54
// GFX942: ds_or_rtn_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}

// GFX11-LABEL: kernel:
// GFX11: s_cbranch_execz .LBB0_2
// GFX11: global_atomic_add_u32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_vccz .LBB0_8
// GFX11: s_cbranch_execz .LBB0_7
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_5
// GFX11: global_atomic_swap_b64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_vccz .LBB0_18
// GFX11: s_cbranch_execz .LBB0_11
// GFX11: global_atomic_max_i64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_15
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_13
// GFX11: global_atomic_swap_b64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_17
// GFX11: global_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_22
// GFX11: global_atomic_cmpswap_b64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_20
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_23
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_25
// GFX11: s_cbranch_execz .LBB0_28
// GFX11: global_atomic_max_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_vccz .LBB0_34
// GFX11: s_cbranch_execz .LBB0_33
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_30
// GFX11: s_cbranch_vccz .LBB0_44
// GFX11: s_cbranch_execz .LBB0_39
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execnz .LBB0_37
// GFX11: s_cbranch_execz .LBB0_43
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_40
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: global_atomic_cmpswap_b64 v{{.[0-9:]+.}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_48
// GFX11: global_atomic_cmpswap_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{.[0-9:]+.}}, s{{.[0-9:]+.}} glc
// GFX11: s_cbranch_execz .LBB0_45
// GFX11: s_cbranch_execz .LBB0_50
// GFX11: ds_add_rtn_f32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// GFX11: s_cbranch_vccnz .LBB0_54
// GFX11: ds_or_rtn_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}

module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32, simt.shared_bytes = 1024 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m8: i8, %i8: i8, %i16: i16, %i32: i32, %i64: i64, %f16: f16, %bf16: bf16, %f32: f32, %f64: f64) {
    %m = llvm.trunc %m8 : i8 to i1
    %s = simt.shared_base : !llvm.ptr<3>
    %r0 = simt.thread_atomic_rmw add, %x, %i32 {sem = 0 : i32, scope = 1 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r0, %y : i32, !llvm.ptr<1>
    %r1 = simt.thread_atomic_rmw max, %x, %i64 mask %m {sem = 1 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64 -> i64
    llvm.store volatile %r1, %y : i64, !llvm.ptr<1>
    %r2 = simt.thread_atomic_rmw umin, %x, %i32 {sem = 2 : i32, scope = 2 : i32} : !llvm.ptr<1>, i32 -> i32
    llvm.store volatile %r2, %y : i32, !llvm.ptr<1>
    %r3 = simt.thread_atomic_rmw exch, %x, %f64 : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r3, %y : f64, !llvm.ptr<1>
    %r4 = simt.thread_atomic_rmw fadd, %x, %f32 mask %m {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r4, %y : f32, !llvm.ptr<1>
    %r5 = simt.thread_atomic_rmw fadd, %x, %f64 {sem = 0 : i32} : !llvm.ptr<1>, f64 -> f64
    llvm.store volatile %r5, %y : f64, !llvm.ptr<1>
    %r6 = simt.thread_atomic_rmw fadd, %x, %f16 {sem = 0 : i32} : !llvm.ptr<1>, f16 -> f16
    llvm.store volatile %r6, %y : f16, !llvm.ptr<1>
    %r7 = simt.thread_atomic_rmw fadd, %x, %bf16 {sem = 0 : i32} : !llvm.ptr<1>, bf16 -> bf16
    llvm.store volatile %r7, %y : bf16, !llvm.ptr<1>
    %r8 = simt.thread_atomic_rmw fmax, %x, %f32 {sem = 0 : i32} : !llvm.ptr<1>, f32 -> f32
    llvm.store volatile %r8, %y : f32, !llvm.ptr<1>
    %r9 = simt.thread_atomic_rmw add, %x, %i8 mask %m {sem = 0 : i32} : !llvm.ptr<1>, i8 -> i8
    llvm.store volatile %r9, %y : i8, !llvm.ptr<1>
    %c0 = simt.thread_atomic_cas %x, %i16, %i16 {sem = 0 : i32} : !llvm.ptr<1>, i16
    llvm.store volatile %c0, %y : i16, !llvm.ptr<1>
    %c1 = simt.thread_atomic_cas %x, %i32, %i32 mask %m : !llvm.ptr<1>, i32
    llvm.store volatile %c1, %y : i32, !llvm.ptr<1>
    %c2 = simt.thread_atomic_cas %x, %i64, %i64 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<1>, i64
    llvm.store volatile %c2, %y : i64, !llvm.ptr<1>
    %c3 = simt.thread_atomic_cas %x, %i8, %i8 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<1>, i8
    llvm.store volatile %c3, %y : i8, !llvm.ptr<1>
    %s0 = simt.thread_atomic_rmw fadd, %s, %f32 {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, f32 -> f32
    llvm.store volatile %s0, %y : f32, !llvm.ptr<1>
    %s1 = simt.thread_atomic_rmw or, %s, %i32 mask %m {sem = 0 : i32, scope = 0 : i32} : !llvm.ptr<3>, i32 -> i32
    llvm.store volatile %s1, %y : i32, !llvm.ptr<1>
    return
  }
}
