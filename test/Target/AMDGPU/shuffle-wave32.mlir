// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s

// All exclusive-or masks of 32 lanes, then any lane.
// CHECK-LABEL: kernel:
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:5 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:6 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:7 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:9 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:10 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:11 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:12 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:13 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:14 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:15 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:5 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:6 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:7 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:9 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:10 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:11 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:12 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:13 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:14 row_mask:0xf bank_mask:0xf bound_ctrl:1
// CHECK: v_permlanex16_b32 v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}, 0xfedcba98 op_sel:[1,0]
// CHECK: v_add_nc_u32_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}} row_xmask:15 row_mask:0xf bank_mask:0xf bound_ctrl:1
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
    %z = simt.shuffle_index %a31, %l
    simt.thread_store %p, %z : !llvm.ptr<1>, i32
    return
  }
}
