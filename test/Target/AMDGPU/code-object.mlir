// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit -o %t
// DEFINE: %{read} = %{emit} && llvm-readelf --file-header --notes --dyn-syms %t
// REDEFINE: %{chip} = gfx90a
// RUN: %{read} | FileCheck %s --check-prefixes=CHECK,GFX90A
// REDEFINE: %{chip} = gfx942
// RUN: %{read} | FileCheck %s --check-prefixes=CHECK,GFX942
// REDEFINE: %{chip} = gfx950
// RUN: %{read} | FileCheck %s --check-prefixes=CHECK,GFX950
// REDEFINE: %{chip} = gfx1100
// RUN: %{read} | FileCheck %s --check-prefixes=CHECK,GFX1100
// REDEFINE: %{chip} = gfx1201
// RUN: %{read} | FileCheck %s --check-prefixes=CHECK,GFX1201

// A shared object of version 5, for the chip.
// CHECK: ABI Version: 3
// CHECK: Type: DYN
// GFX90A: gfx90a
// GFX942: gfx942
// GFX950: gfx950
// GFX1100: gfx1100
// GFX1201: gfx1201

// What a driver looks up: the kernel, and its descriptor.
// CHECK-DAG: FUNC GLOBAL PROTECTED {{[0-9]+}} kernel
// CHECK-DAG: OBJECT GLOBAL DEFAULT {{[0-9]+}} kernel.kd

// The arguments lie one after the other, the hidden ones behind those of the kernel.
// CHECK: .args:
// CHECK-NEXT: - .address_space: global
// CHECK-NEXT: .offset: 0
// CHECK-NEXT: .size: [[POINTER:8]]
// CHECK-NEXT: .value_kind: global_buffer
// CHECK: .offset: [[POINTER]]
// CHECK-NEXT: .size: 4
// CHECK-NEXT: .value_kind: by_value
// CHECK: .value_kind: hidden_block_count_x

// No fixed LDS: all of it is given at launch.
// CHECK: .group_segment_fixed_size: 0

// Two warps, of 64 lanes or of 32.
// CHECK: .reqd_workgroup_size:
// GFX90A-NEXT: - 128
// GFX942-NEXT: - 128
// GFX950-NEXT: - 128
// GFX1100-NEXT: - 64
// GFX1201-NEXT: - 64

// Its descriptor, and registers enough for all.
// CHECK: .symbol: kernel.kd
// CHECK: .vgpr_spill_count: 0
// GFX90A: .wavefront_size: 64
// GFX942: .wavefront_size: 64
// GFX950: .wavefront_size: 64
// GFX1100: .wavefront_size: 32
// GFX1201: .wavefront_size: 32
module attributes {tile.entry = "kernel", tile.num_warps = 2 : i32, simt.shared_bytes = 1024 : i64} {
  func.func @kernel(%x: !llvm.ptr<1> {tile.divisibility = 16 : i32, tile.name = "x"}, %v: i32) {
    %n = tile.num_programs 0
    %t = simt.thread_id
    %sum = arith.addi %n, %v : i32
    %s = simt.shared_base : !llvm.ptr<3>
    %q = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    simt.thread_store %q, %sum : !llvm.ptr<3>, i32
    simt.barrier
    %r = llvm.getelementptr %s[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = simt.thread_load %r : !llvm.ptr<3> -> i32
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    simt.thread_store %p, %w : !llvm.ptr<1>, i32
    return
  }
}
