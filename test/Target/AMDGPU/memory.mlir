// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX11
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s --check-prefixes=CHECK,GFX12

// Loads and stores in the order of the program, a width or a hint a case. The mask differs from thread to thread.
// CHECK-LABEL: kernel:
module attributes {tile.entry = "kernel", tile.num_warps = 2 : i32, simt.shared_bytes = 4096 : i64} {
  func.func @kernel(%x: !llvm.ptr<1> {tile.divisibility = 16 : i32}, %y: !llvm.ptr<1>, %n: i32, %w: i32) {
    %t = simt.thread_id
    %m = arith.cmpi slt, %t, %n : i32
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %q = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>

    // A masked access runs with the other threads switched off.
    // CHECK: s_and_saveexec
    // GFX9: global_load_dword {{v[0-9]+}},
    // GFX11: global_load_b32 {{v[0-9]+}},
    // GFX12: global_load_b32 {{v[0-9]+}},
    // CHECK: s_or_b{{(32|64)}} exec
    %a = simt.thread_load %p mask %m other %w : i32 : !llvm.ptr<1> -> i32
    simt.thread_store %q, %a : !llvm.ptr<1>, i32

    // Numbers of each width.
    // GFX9: global_load_ubyte
    // GFX9: global_store_byte
    // GFX11: global_load_{{(d16_)?}}u8
    // GFX11: global_store_b8
    // GFX12: global_load_{{(d16_)?}}u8
    // GFX12: global_store_b8
    %a1 = simt.thread_load %p : !llvm.ptr<1> -> i8
    simt.thread_store %q, %a1 : !llvm.ptr<1>, i8
    // GFX9: global_load_ushort
    // GFX9: global_store_short
    // GFX11: global_load_{{(d16_b|u)}}16
    // GFX11: global_store_b16
    // GFX12: global_load_{{(d16_b|u)}}16
    // GFX12: global_store_b16
    %a2 = simt.thread_load %p : !llvm.ptr<1> -> i16
    simt.thread_store %q, %a2 : !llvm.ptr<1>, i16
    // GFX9: global_load_dwordx2 [[V:v[^,]+]],
    // GFX9: global_store_dwordx2 {{v.*}}, [[V]],
    // GFX11: global_load_b64 [[V:v[^,]+]],
    // GFX11: global_store_b64 {{v.*}}, [[V]],
    // GFX12: global_load_b64 [[V:v[^,]+]],
    // GFX12: global_store_b64 {{v.*}}, [[V]],
    %a4 = simt.thread_load %p : !llvm.ptr<1> -> i64
    simt.thread_store %q, %a4 : !llvm.ptr<1>, i64

    // A vector is as many words as it has bytes: sixteen,
    // GFX9: global_load_dwordx4
    // GFX9: global_store_dwordx4
    // GFX11: global_load_b128
    // GFX11: global_store_b128
    // GFX12: global_load_b128
    // GFX12: global_store_b128
    %b1 = simt.thread_load %p : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %b1 : !llvm.ptr<1>, vector<16xi8>
    // eight,
    // GFX9: global_load_dwordx2
    // GFX9: global_store_dwordx2
    // GFX11: global_load_b64
    // GFX11: global_store_b64
    // GFX12: global_load_b64
    // GFX12: global_store_b64
    %b3 = simt.thread_load %p : !llvm.ptr<1> -> vector<4xi16>
    simt.thread_store %q, %b3 : !llvm.ptr<1>, vector<4xi16>
    // or two.
    // GFX9: global_load_ushort
    // GFX9: global_store_short
    // GFX11: global_store_b16
    // GFX12: global_store_b16
    %b5 = simt.thread_load %p : !llvm.ptr<1> -> vector<2xi8>
    simt.thread_store %q, %b5 : !llvm.ptr<1>, vector<2xi8>

    // `cv` and volatile reach the memory itself; `cs` and evict_first stream.
    // GFX9: global_load_dwordx4 {{.*}} sc0 sc1
    // GFX9: global_store_dwordx4 {{.*}} nt
    // GFX11: global_load_b128 {{.*}} glc dlc
    // GFX11: global_store_b128 {{.*}} glc slc dlc
    // GFX12: global_load_b128 {{.*}} scope:SCOPE_SYS
    // GFX12: global_store_b128 {{.*}} th:TH_STORE_NT
    %e3 = simt.thread_load %p {isVolatile} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e3 {cache = 6 : i32, evict = 1 : i32} : !llvm.ptr<1>, vector<4xi32>
    // GFX9: global_load_dword {{.*}} sc0 sc1
    // GFX11: global_load_b32 {{.*}} glc dlc
    // GFX12: global_load_b32 {{.*}} scope:SCOPE_SYS
    %e4 = simt.thread_load %p {cache = 3 : i32} : !llvm.ptr<1> -> i32
    simt.thread_store %q, %e4 {cache = 1 : i32} : !llvm.ptr<1>, i32

    // Shared memory has no hints.
    // GFX9: ds_read_b128 [[V:v[^,]+]],
    // GFX9: global_store_dwordx4 {{v.*}}, [[V]],
    // GFX11: ds_load_b128 [[V:v[^,]+]],
    // GFX11: global_store_b128 {{v.*}}, [[V]],
    // GFX12: ds_load_b128 [[V:v[^,]+]],
    // GFX12: global_store_b128 {{v.*}}, [[V]],
    %s = simt.shared_base : !llvm.ptr<3>
    %sp = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    simt.barrier
    %f2 = simt.thread_load %sp {evict = 1 : i32} : !llvm.ptr<3> -> vector<4xi32>
    simt.thread_store %q, %f2 : !llvm.ptr<1>, vector<4xi32>
    return
  }
}
