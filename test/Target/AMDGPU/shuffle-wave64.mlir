// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx90a
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s

// All exclusive-or masks of 64 lanes, then any lane.
// CHECK-LABEL: kernel:
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_mov_b32_dpp v{{[0-9]+}}, v{{[0-9]+}} row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(SWAP,16)
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ipppi")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ippip")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ippii")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ipipp")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ipipi")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ipiip")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"ipiii")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iippp")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iippi")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iipip")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iipii")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iiipp")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iiipi")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(BITMASK_PERM,"iiiip")
// CHECK: ds_swizzle_b32 v{{[0-9]+}}, v{{[0-9]+}} offset:swizzle(REVERSE,32)
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}
// CHECK: ds_bpermute_b32 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}

module attributes {tile.entry = "kernel", tile.num_warps = 4 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %l: i32) {
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = simt.thread_load %p : !llvm.ptr<1> -> i32
    %s1 = simt.shuffle_xor %v, 1
    %a1 = arith.addi %s1, %v : i32
    %s2 = simt.shuffle_xor %a1, 2
    %a2 = arith.addi %s2, %a1 : i32
    %s3 = simt.shuffle_xor %a2, 3
    %a3 = arith.addi %s3, %a2 : i32
    %s4 = simt.shuffle_xor %a3, 4
    %a4 = arith.addi %s4, %a3 : i32
    %s5 = simt.shuffle_xor %a4, 5
    %a5 = arith.addi %s5, %a4 : i32
    %s6 = simt.shuffle_xor %a5, 6
    %a6 = arith.addi %s6, %a5 : i32
    %s7 = simt.shuffle_xor %a6, 7
    %a7 = arith.addi %s7, %a6 : i32
    %s8 = simt.shuffle_xor %a7, 8
    %a8 = arith.addi %s8, %a7 : i32
    %s9 = simt.shuffle_xor %a8, 9
    %a9 = arith.addi %s9, %a8 : i32
    %s10 = simt.shuffle_xor %a9, 10
    %a10 = arith.addi %s10, %a9 : i32
    %s11 = simt.shuffle_xor %a10, 11
    %a11 = arith.addi %s11, %a10 : i32
    %s12 = simt.shuffle_xor %a11, 12
    %a12 = arith.addi %s12, %a11 : i32
    %s13 = simt.shuffle_xor %a12, 13
    %a13 = arith.addi %s13, %a12 : i32
    %s14 = simt.shuffle_xor %a13, 14
    %a14 = arith.addi %s14, %a13 : i32
    %s15 = simt.shuffle_xor %a14, 15
    %a15 = arith.addi %s15, %a14 : i32
    %s16 = simt.shuffle_xor %a15, 16
    %a16 = arith.addi %s16, %a15 : i32
    %s17 = simt.shuffle_xor %a16, 17
    %a17 = arith.addi %s17, %a16 : i32
    %s18 = simt.shuffle_xor %a17, 18
    %a18 = arith.addi %s18, %a17 : i32
    %s19 = simt.shuffle_xor %a18, 19
    %a19 = arith.addi %s19, %a18 : i32
    %s20 = simt.shuffle_xor %a19, 20
    %a20 = arith.addi %s20, %a19 : i32
    %s21 = simt.shuffle_xor %a20, 21
    %a21 = arith.addi %s21, %a20 : i32
    %s22 = simt.shuffle_xor %a21, 22
    %a22 = arith.addi %s22, %a21 : i32
    %s23 = simt.shuffle_xor %a22, 23
    %a23 = arith.addi %s23, %a22 : i32
    %s24 = simt.shuffle_xor %a23, 24
    %a24 = arith.addi %s24, %a23 : i32
    %s25 = simt.shuffle_xor %a24, 25
    %a25 = arith.addi %s25, %a24 : i32
    %s26 = simt.shuffle_xor %a25, 26
    %a26 = arith.addi %s26, %a25 : i32
    %s27 = simt.shuffle_xor %a26, 27
    %a27 = arith.addi %s27, %a26 : i32
    %s28 = simt.shuffle_xor %a27, 28
    %a28 = arith.addi %s28, %a27 : i32
    %s29 = simt.shuffle_xor %a28, 29
    %a29 = arith.addi %s29, %a28 : i32
    %s30 = simt.shuffle_xor %a29, 30
    %a30 = arith.addi %s30, %a29 : i32
    %s31 = simt.shuffle_xor %a30, 31
    %a31 = arith.addi %s31, %a30 : i32
    %s32 = simt.shuffle_xor %a31, 32
    %a32 = arith.addi %s32, %a31 : i32
    %s33 = simt.shuffle_xor %a32, 33
    %a33 = arith.addi %s33, %a32 : i32
    %s34 = simt.shuffle_xor %a33, 34
    %a34 = arith.addi %s34, %a33 : i32
    %s35 = simt.shuffle_xor %a34, 35
    %a35 = arith.addi %s35, %a34 : i32
    %s36 = simt.shuffle_xor %a35, 36
    %a36 = arith.addi %s36, %a35 : i32
    %s37 = simt.shuffle_xor %a36, 37
    %a37 = arith.addi %s37, %a36 : i32
    %s38 = simt.shuffle_xor %a37, 38
    %a38 = arith.addi %s38, %a37 : i32
    %s39 = simt.shuffle_xor %a38, 39
    %a39 = arith.addi %s39, %a38 : i32
    %s40 = simt.shuffle_xor %a39, 40
    %a40 = arith.addi %s40, %a39 : i32
    %s41 = simt.shuffle_xor %a40, 41
    %a41 = arith.addi %s41, %a40 : i32
    %s42 = simt.shuffle_xor %a41, 42
    %a42 = arith.addi %s42, %a41 : i32
    %s43 = simt.shuffle_xor %a42, 43
    %a43 = arith.addi %s43, %a42 : i32
    %s44 = simt.shuffle_xor %a43, 44
    %a44 = arith.addi %s44, %a43 : i32
    %s45 = simt.shuffle_xor %a44, 45
    %a45 = arith.addi %s45, %a44 : i32
    %s46 = simt.shuffle_xor %a45, 46
    %a46 = arith.addi %s46, %a45 : i32
    %s47 = simt.shuffle_xor %a46, 47
    %a47 = arith.addi %s47, %a46 : i32
    %s48 = simt.shuffle_xor %a47, 48
    %a48 = arith.addi %s48, %a47 : i32
    %s49 = simt.shuffle_xor %a48, 49
    %a49 = arith.addi %s49, %a48 : i32
    %s50 = simt.shuffle_xor %a49, 50
    %a50 = arith.addi %s50, %a49 : i32
    %s51 = simt.shuffle_xor %a50, 51
    %a51 = arith.addi %s51, %a50 : i32
    %s52 = simt.shuffle_xor %a51, 52
    %a52 = arith.addi %s52, %a51 : i32
    %s53 = simt.shuffle_xor %a52, 53
    %a53 = arith.addi %s53, %a52 : i32
    %s54 = simt.shuffle_xor %a53, 54
    %a54 = arith.addi %s54, %a53 : i32
    %s55 = simt.shuffle_xor %a54, 55
    %a55 = arith.addi %s55, %a54 : i32
    %s56 = simt.shuffle_xor %a55, 56
    %a56 = arith.addi %s56, %a55 : i32
    %s57 = simt.shuffle_xor %a56, 57
    %a57 = arith.addi %s57, %a56 : i32
    %s58 = simt.shuffle_xor %a57, 58
    %a58 = arith.addi %s58, %a57 : i32
    %s59 = simt.shuffle_xor %a58, 59
    %a59 = arith.addi %s59, %a58 : i32
    %s60 = simt.shuffle_xor %a59, 60
    %a60 = arith.addi %s60, %a59 : i32
    %s61 = simt.shuffle_xor %a60, 61
    %a61 = arith.addi %s61, %a60 : i32
    %s62 = simt.shuffle_xor %a61, 62
    %a62 = arith.addi %s62, %a61 : i32
    %s63 = simt.shuffle_xor %a62, 63
    %a63 = arith.addi %s63, %a62 : i32
    %z = simt.shuffle_index %a63, %l
    simt.thread_store %p, %z : !llvm.ptr<1>, i32
    return
  }
}
