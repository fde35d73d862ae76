// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{chip} = gfx942
// RUN: %{emit} | FileCheck %s --check-prefix=GFX9
// REDEFINE: %{chip} = gfx950
// RUN: %{emit} | FileCheck %s --check-prefix=GFX9
// REDEFINE: %{chip} = gfx1100
// RUN: %{emit} | FileCheck %s --check-prefix=GFX11
// REDEFINE: %{chip} = gfx1201
// RUN: %{emit} | FileCheck %s --check-prefix=GFX12

// A masked access is a branch around one; `cv` and volatile reach the memory itself, `cs` and evict_first stream.
// GFX9-LABEL: kernel:
// GFX9: s_cbranch_scc1 .LBB0_2
// GFX9: global_load_ubyte v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_byte v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: global_load_ushort v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_short v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: global_load_dword v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dword v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: global_load_dwordx2 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx2 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_dwordx2 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx2 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_ushort v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_short v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: global_load_dword v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dword v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: global_load_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX9: global_load_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off sc0 sc1
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off nt
// GFX9: global_load_dword v{{[0-9]+}}, v{{.[0-9:]+.}}, off sc0 sc1
// GFX9: global_store_dword v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX9: s_barrier
// GFX9: ds_read_b128 v{{.[0-9:]+.}}, v{{[0-9]+}}
// GFX9: global_store_dwordx4 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off

// GFX11-LABEL: kernel:
// GFX11: s_cbranch_scc1 .LBB0_2
// GFX11: global_load_d16_u8 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b8 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: global_load_d16_b16 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b16 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: global_load_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_d16_b16 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b16 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX11: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off glc dlc
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off glc slc dlc
// GFX11: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off glc dlc
// GFX11: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX11: s_barrier
// GFX11: ds_load_b128 v{{.[0-9:]+.}}, v{{[0-9]+}}
// GFX11: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off

// GFX12-LABEL: kernel:
// GFX12: s_cbranch_scc1 .LBB0_2
// GFX12: global_load_u8 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b8 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: global_load_u16 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b16 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: global_load_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b64 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_u16 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b16 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off
// GFX12: global_load_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off scope:SCOPE_SYS
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off th:TH_STORE_NT
// GFX12: global_load_b32 v{{[0-9]+}}, v{{.[0-9:]+.}}, off scope:SCOPE_SYS
// GFX12: global_store_b32 v{{.[0-9:]+.}}, v{{[0-9]+}}, off
// GFX12: s_barrier_signal -1
// GFX12: s_barrier_wait -1
// GFX12: ds_load_b128 v{{.[0-9:]+.}}, v{{[0-9]+}}
// GFX12: global_store_b128 v{{.[0-9:]+.}}, v{{.[0-9:]+.}}, off

module attributes {tile.entry = "kernel", tile.num_warps = 2 : i32, simt.shared_bytes = 4096 : i64} {
  func.func @kernel(%x: !llvm.ptr<1> {tile.divisibility = 16 : i32}, %y: !llvm.ptr<1>, %m8: i8, %w: i32, %d: i64) {
    %m = llvm.trunc %m8 : i8 to i1
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %q = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %a1 = simt.thread_load %p mask %m : !llvm.ptr<1> -> i8
    simt.thread_store %q, %a1 mask %m : !llvm.ptr<1>, i8
    %a2 = simt.thread_load %p mask %m : !llvm.ptr<1> -> i16
    simt.thread_store %q, %a2 mask %m : !llvm.ptr<1>, i16
    %a3 = simt.thread_load %p mask %m other %w : i32 : !llvm.ptr<1> -> i32
    simt.thread_store %q, %a3 mask %m : !llvm.ptr<1>, i32
    %a4 = simt.thread_load %p mask %m other %d : i64 : !llvm.ptr<1> -> i64
    simt.thread_store %q, %a4 mask %m : !llvm.ptr<1>, i64
    %b1 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %b1 mask %m : !llvm.ptr<1>, vector<16xi8>
    %b2 = simt.thread_load %p mask %m other %b1 : vector<16xi8> : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %b2 mask %m : !llvm.ptr<1>, vector<16xi8>
    %b3 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<4xi16>
    simt.thread_store %q, %b3 mask %m : !llvm.ptr<1>, vector<4xi16>
    %b4 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<2xi64>
    simt.thread_store %q, %b4 mask %m : !llvm.ptr<1>, vector<2xi64>
    %b5 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<2xi8>
    simt.thread_store %q, %b5 mask %m : !llvm.ptr<1>, vector<2xi8>
    %b6 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<1xi32>
    simt.thread_store %q, %b6 mask %m : !llvm.ptr<1>, vector<1xi32>
    %c1 = simt.thread_load %p : !llvm.ptr<1> -> vector<8xi16>
    simt.thread_store %q, %c1 : !llvm.ptr<1>, vector<8xi16>
    %c2 = simt.thread_load %p : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %c2 : !llvm.ptr<1>, vector<16xi8>
    %e1 = simt.thread_load %p {cache = 2 : i32} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e1 {cache = 5 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e2 = simt.thread_load %p {evict = 1 : i32} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e2 {evict = 2 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e3 = simt.thread_load %p mask %m {isVolatile} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e3 {cache = 6 : i32, evict = 1 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e4 = simt.thread_load %p {cache = 3 : i32} : !llvm.ptr<1> -> i32
    simt.thread_store %q, %e4 {cache = 1 : i32} : !llvm.ptr<1>, i32
    %s = simt.shared_base : !llvm.ptr<3>
    %sp = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    %f1 = simt.thread_load %sp mask %m : !llvm.ptr<3> -> vector<4xi32>
    simt.thread_store %sp, %f1 mask %m {cache = 2 : i32} : !llvm.ptr<3>, vector<4xi32>
    simt.barrier
    %f2 = simt.thread_load %sp {evict = 1 : i32} : !llvm.ptr<3> -> vector<4xi32>
    simt.thread_store %q, %f2 : !llvm.ptr<1>, vector<4xi32>
    return
  }
}
