// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = gfx1201
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
    // CHECK: v_add_nc_u32_dpp [[V3:v[0-9]+]], {{.*}} quad_perm:[3,2,1,0]
    %s3 = simt.shuffle_xor %v, 3
    %a3 = arith.addi %s3, %v : i32

    // Inside sixteen, RDNA takes the mask itself.
    // CHECK: v_add_nc_u32_dpp [[V4:v[0-9]+]], [[V3]], [[V3]] row_xmask:4
    // CHECK: v_add_nc_u32_dpp [[V15:v[0-9]+]], [[V4]], [[V4]] row_xmask:15
    %s4 = simt.shuffle_xor %a3, 4
    %a4 = arith.addi %s4, %a3 : i32
    %s15 = simt.shuffle_xor %a4, 15
    %a15 = arith.addi %s15, %a4 : i32

    // Sixteen exchanges the rows; more is that, and a mask inside the row.
    // CHECK: v_permlanex16_b32 {{v[0-9]+}}, [[V15]], {{.*}} 0xfedcba98 op_sel:[1,0]
    // CHECK: v_permlanex16_b32 [[ROW:v[0-9]+]], {{v[0-9]+}}, {{.*}} 0xfedcba98 op_sel:[1,0]
    // CHECK: v_add_nc_u32_dpp {{v[0-9]+}}, [[ROW]], {{.*}} row_xmask:5
    %s16 = simt.shuffle_xor %a15, 16
    %a16 = arith.addi %s16, %a15 : i32
    %s21 = simt.shuffle_xor %a16, 21
    %a21 = arith.addi %s21, %a16 : i32

    // Any lane has four times its number for an address.
    // CHECK: ds_bpermute_b32
    %z = simt.shuffle_index %a21, %v
    simt.thread_store %p, %z : !llvm.ptr<1>, i32
    return
  }
}
