// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx90a
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s

// An exclusive-or of lane numbers by each way that the hardware has, from the quickest on; each takes what the one
// before gave. That every mask names its lanes is in test/python/simt/test_shuffles.py.
// CHECK-LABEL: kernel:
module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>) {
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = simt.thread_load %p : !llvm.ptr<1> -> i32

    // Inside four lanes it is a permutation that an instruction takes on the way.
    // CHECK: v_add_u32_dpp [[V3:v[0-9]+]], {{.*}} quad_perm:[3,2,1,0]
    %s3 = simt.shuffle_xor %v, 3
    %a3 = arith.addi %s3, %v : i32

    // Seven mirrors eight lanes; four is that, and the quads mirrored back.
    // CHECK: v_add_u32_dpp [[V7:v[0-9]+]], [[V3]], [[V3]] row_half_mirror
    // CHECK: v_mov_b32_dpp [[HALF:v[0-9]+]], [[V7]] row_half_mirror
    // CHECK: v_add_u32_dpp [[V4:v[0-9]+]], [[HALF]], [[V7]] quad_perm:[3,2,1,0]
    %s7 = simt.shuffle_xor %a3, 7
    %a7 = arith.addi %s7, %a3 : i32
    %s4 = simt.shuffle_xor %a7, 4
    %a4 = arith.addi %s4, %a7 : i32

    // Eight is half a turn of sixteen lanes, fifteen their mirror, others are one of these and a permutation of quads.
    // CHECK: v_add_u32_dpp [[V8:v[0-9]+]], [[V4]], [[V4]] row_ror:8
    // CHECK: v_add_u32_dpp [[V15:v[0-9]+]], [[V8]], [[V8]] row_mirror
    // CHECK: v_mov_b32_dpp [[MIRROR:v[0-9]+]], [[V15]] row_mirror
    // CHECK: v_add_u32_dpp [[V13:v[0-9]+]], [[MIRROR]], [[V15]] quad_perm:[2,3,0,1]
    %s8 = simt.shuffle_xor %a4, 8
    %a8 = arith.addi %s8, %a4 : i32
    %s15 = simt.shuffle_xor %a8, 15
    %a15 = arith.addi %s15, %a8 : i32
    %s13 = simt.shuffle_xor %a15, 13
    %a13 = arith.addi %s13, %a15 : i32

    // Up to 32 lanes go through the swizzle of the LDS unit, which needs no address.
    // CHECK: ds_swizzle_b32 {{.*}} offset:swizzle(SWAP,16)
    // CHECK: ds_swizzle_b32 {{.*}} offset:swizzle(BITMASK_PERM,"ippip")
    // CHECK: ds_swizzle_b32 {{.*}} offset:swizzle(REVERSE,32)
    %s16 = simt.shuffle_xor %a13, 16
    %a16 = arith.addi %s16, %a13 : i32
    %s18 = simt.shuffle_xor %a16, 18
    %a18 = arith.addi %s18, %a16 : i32
    %s31 = simt.shuffle_xor %a18, 31
    %a31 = arith.addi %s31, %a18 : i32

    // Beyond, and from any lane, it takes an address: four times the lane.
    // CHECK: ds_bpermute_b32
    // CHECK: ds_bpermute_b32
    %s33 = simt.shuffle_xor %a31, 33
    %a33 = arith.addi %s33, %a31 : i32
    %z = simt.shuffle_index %a33, %v
    simt.thread_store %p, %z : !llvm.ptr<1>, i32
    return
  }
}
