// DEFINE: %{chip} =
// DEFINE: %{emit} = tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:%{chip}},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit
// REDEFINE: %{chip} = sm_80
// RUN: %{emit} | FileCheck %s
// REDEFINE: %{chip} = sm_90a
// RUN: %{emit} | FileCheck %s

// Loads and stores in the order of the program, a width or a hint a case. A mask is a predicate of the instruction.
// CHECK-LABEL: .visible .entry kernel(
module attributes {tile.entry = "kernel", tile.num_warps = 2 : i32, simt.shared_bytes = 4096 : i64} {
  func.func @kernel(%x: !llvm.ptr<1> {tile.divisibility = 16 : i32}, %y: !llvm.ptr<1>, %m8: i8, %w: i32, %d: i64) {
    %m = llvm.trunc %m8 : i8 to i1
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %q = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>

    // Numbers of each width; `other` is what the register holds before.
    // CHECK: @%p[[M:[0-9]+]] ld.global.b8 %rs{{[0-9]+}}, [%rd[[P:[0-9]+]]];
    // CHECK: @%p[[M]] st.global.b8 [%rd[[Q:[0-9]+]]], %rs{{[0-9]+}};
    // CHECK: @%p[[M]] ld.global.b16 %rs[[A:[0-9]+]], [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.b16 [%rd[[Q]]], %rs[[A]];
    // CHECK: @%p[[M]] ld.global.b32 %r[[A:[0-9]+]], [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.b32 [%rd[[Q]]], %r[[A]];
    // CHECK: @%p[[M]] ld.global.b64 %rd[[A:[0-9]+]], [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.b64 [%rd[[Q]]], %rd[[A]];
    %a1 = simt.thread_load %p mask %m : !llvm.ptr<1> -> i8
    simt.thread_store %q, %a1 mask %m : !llvm.ptr<1>, i8
    %a2 = simt.thread_load %p mask %m : !llvm.ptr<1> -> i16
    simt.thread_store %q, %a2 mask %m : !llvm.ptr<1>, i16
    %a3 = simt.thread_load %p mask %m other %w : i32 : !llvm.ptr<1> -> i32
    simt.thread_store %q, %a3 mask %m : !llvm.ptr<1>, i32
    %a4 = simt.thread_load %p mask %m other %d : i64 : !llvm.ptr<1> -> i64
    simt.thread_store %q, %a4 mask %m : !llvm.ptr<1>, i64

    // Vectors of bytes and of 16 bits travel as words.
    // CHECK: @%p[[M]] ld.global.v4.b32 {{.*}}, [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.v4.b32 [%rd[[Q]]],
    // CHECK: @%p[[M]] ld.global.v4.b32 {{.*}}, [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.v4.b32 [%rd[[Q]]],
    // CHECK: @%p[[M]] ld.global.v2.b32 {{.*}}, [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.v2.b32 [%rd[[Q]]],
    %b1 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %b1 mask %m : !llvm.ptr<1>, vector<16xi8>
    %b2 = simt.thread_load %p mask %m other %b1 : vector<16xi8> : !llvm.ptr<1> -> vector<16xi8>
    simt.thread_store %q, %b2 mask %m : !llvm.ptr<1>, vector<16xi8>
    %b3 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<4xi16>
    simt.thread_store %q, %b3 mask %m : !llvm.ptr<1>, vector<4xi16>

    // So do vectors that fit one register, and those of one number; doublewords stay.
    // CHECK: @%p[[M]] ld.global.v2.b64 {{.*}}, [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.v2.b64 [%rd[[Q]]],
    // CHECK: @%p[[M]] ld.global.b16 %rs[[A:[0-9]+]], [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.b16 [%rd[[Q]]], %rs[[A]];
    // CHECK: @%p[[M]] ld.global.b32 %r[[A:[0-9]+]], [%rd[[P]]];
    // CHECK: @%p[[M]] st.global.b32 [%rd[[Q]]], %r[[A]];
    %b4 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<2xi64>
    simt.thread_store %q, %b4 mask %m : !llvm.ptr<1>, vector<2xi64>
    %b5 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<2xi8>
    simt.thread_store %q, %b5 mask %m : !llvm.ptr<1>, vector<2xi8>
    %b6 = simt.thread_load %p mask %m : !llvm.ptr<1> -> vector<1xi32>
    simt.thread_store %q, %b6 mask %m : !llvm.ptr<1>, vector<1xi32>

    // What has neither mask nor hint is what LLVM makes of it.
    // CHECK: end inline asm
    // CHECK-NEXT: ld.global.v4.b32 {{.*}}, [%rd[[P]]];
    // CHECK-NEXT: st.global.v4.b32 [%rd[[Q]]],
    %c1 = simt.thread_load %p : !llvm.ptr<1> -> vector<8xi16>
    simt.thread_store %q, %c1 : !llvm.ptr<1>, vector<8xi16>

    // Hints of the cache, of what to evict, and volatile: each has its own word.
    // CHECK: ld.global.cg.v4.b32
    // CHECK: st.global.cs.v4.b32
    // CHECK: ld.global.L1::evict_first.v4.b32
    // CHECK: st.global.L1::evict_last.v4.b32
    // CHECK: @%p[[M]] ld.volatile.global.v4.b32
    // CHECK: st.global.wt.v4.b32
    // CHECK: ld.global.cv.b32
    // CHECK: st.global.b32
    %e1 = simt.thread_load %p {cache = 2 : i32} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e1 {cache = 5 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e2 = simt.thread_load %p {evict = 1 : i32} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e2 {evict = 2 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e3 = simt.thread_load %p mask %m {isVolatile} : !llvm.ptr<1> -> vector<4xi32>
    simt.thread_store %q, %e3 {cache = 6 : i32, evict = 1 : i32} : !llvm.ptr<1>, vector<4xi32>
    %e4 = simt.thread_load %p {cache = 3 : i32} : !llvm.ptr<1> -> i32
    simt.thread_store %q, %e4 {cache = 1 : i32} : !llvm.ptr<1>, i32

    // Shared memory has masks, and no hints.
    // CHECK: @%p[[M]] ld.shared.v4.b32 {{.*}}, [%r[[S:[0-9]+]]];
    // CHECK: @%p[[M]] st.shared.v4.b32 [%r[[S]]],
    // CHECK: bar.sync 0;
    // CHECK-NEXT: ld.shared.v4.b32 {{.*}}, [%r[[S]]];
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
