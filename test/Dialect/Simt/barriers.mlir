// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-insert-barriers | FileCheck %s
// RUN: tz-opt %s --split-input-file --tz-insert-barriers --tz-check-barriers -o /dev/null

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// Read after write, and write after read of the same bytes.
// CHECK-LABEL: func.func @raw_war
func.func @raw_war(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  // CHECK: simt.local_store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_store
  // CHECK-NOT: simt.barrier
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  simt.local_store %y, %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// Write after write; two buffers that share bytes are one hazard, two that do not are none.
// CHECK-LABEL: func.func @waw_overlap
func.func @waw_overlap() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %a = simt.alloc 256 at 0
  %b = simt.alloc 256 at 128
  %c = simt.alloc 256 at 512
  // CHECK: simt.local_store
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_store
  simt.local_store %x, %a[] base 0 strides [1] : tensor<64xf32, #l>
  simt.local_store %x, %c[] base 0 strides [1] : tensor<64xf32, #l>
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// Around a loop: the store of the next iteration meets the load of this one.
// CHECK-LABEL: func.func @loop
func.func @loop(%n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  // CHECK: scf.for
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_load
  // CHECK-NEXT: scf.yield
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<64xf32, #l>) : i32 {
    simt.local_store %v, %b[] base 0 strides [1] : tensor<64xf32, #l>
    %w = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
    scf.yield %w : tensor<64xf32, #l>
  }
  return
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// A barrier in one branch only does not help the other: the load after them needs its own.
// CHECK-LABEL: func.func @branch
func.func @branch(%c: i1) attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  // CHECK: scf.if
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_load
  // CHECK: }
  // CHECK: simt.barrier
  // CHECK-NEXT: simt.local_load
  scf.if %c {
    %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
    simt.local_store %y, %b[] base 0 strides [1] : tensor<64xf32, #l>
  }
  %z = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>

// Global memory: an array read back through the same argument at other addresses needs a barrier, at the same addresses each
// thread meets only itself; another argument is another array. A barrier that the user wrote stays.
// CHECK-LABEL: func.func @global
func.func @global(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 64 : tensor<64xi32, #l>
  %c3 = arith.constant dense<3> : tensor<64xi32, #l>
  %pp = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %a = tile.addptr %pp, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %b = tile.addptr %a, %c3 : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %qq = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %x = tile.load %a : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  // CHECK: tile.store
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: return
  tile.store %a, %x : tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>
  %u = tile.load %a : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  %v = tile.load %qq : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  %w = tile.load %b : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  tile.barrier
  return
}

// -----

// Copies: of the threads that hold an element one writes it, and the others read what that one wrote. Two writes are the same thread's.
#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]], dims = [32]>

// CHECK-LABEL: func.func @copies
func.func @copies(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 32 : tensor<32xi32, #l>
  %pp = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %a = tile.addptr %pp, %i : tensor<32x!tile.ptr<f32>, #l>, tensor<32xi32, #l>
  // CHECK: tile.load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.load
  %x = tile.load %a : tensor<32x!tile.ptr<f32>, #l> -> tensor<32xf32, #l>
  tile.store %a, %x : tensor<32x!tile.ptr<f32>, #l>, tensor<32xf32, #l>
  tile.store %a, %x : tensor<32x!tile.ptr<f32>, #l>, tensor<32xf32, #l>
  %y = tile.load %a : tensor<32x!tile.ptr<f32>, #l> -> tensor<32xf32, #l>
  return
}

// -----

// Arrays that a loop swaps are either of them afterwards, too.
#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>

// CHECK-LABEL: func.func @swapped
func.func @swapped(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (!tile.ptr<f32>, !tile.ptr<f32>) : i32 {
    scf.yield %b, %a : !tile.ptr<f32>, !tile.ptr<f32>
  }
  %pp = tile.splat %r#0 : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %qq = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  // CHECK: tile.store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.load
  tile.store %pp, %x : tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>
  %y = tile.load %qq : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  return
}

// -----

// Ops that only arrange pointers keep them in their arrays, so that the third one is apart from both; an address that was a number is in any.
#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>
#j = #simt.layout<register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0]], dims = [64, 2]>

// CHECK-LABEL: func.func @arranged
func.func @arranged(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %r: !tile.ptr<f32>, %n: i64) attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64x2xf32, #j>
  %pp = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %both = tile.join %pp, %pp : tensor<64x!tile.ptr<f32>, #l> -> tensor<64x2x!tile.ptr<f32>, #j>
  %rr = tile.splat %r : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %a = tile.int_to_ptr %n : i64 -> !tile.ptr<f32>
  %aa = tile.splat %a : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  // CHECK: tile.store
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.load
  tile.store %both, %x : tensor<64x2x!tile.ptr<f32>, #j>, tensor<64x2xf32, #j>
  %y = tile.load %rr : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  %z = tile.load %aa : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  return
}

// -----

// The rows that an unrolled loop writes are disjoint: no barrier among them, nor around the loop; one before they are read.
#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// CHECK-LABEL: func.func @disjoint
func.func @disjoint(%n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 8192 at 0
  // CHECK-NOT: simt.barrier
  // CHECK: simt.local_store
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: {{^ *[}]$}}
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_load
  scf.for %i = %c0 to %n step %c2 : i32 {
    %o = arith.muli %i, %c64 : i32
    %s = arith.addi %o, %c64 : i32
    simt.local_store %x, %b[%o] base 0 strides [1] {disjoint} : tensor<64xf32, #l>
    simt.local_store %x, %b[%s] base 0 strides [1] {disjoint} : tensor<64xf32, #l>
  }
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// -----

// The barrier for the next iteration's sake, before the store to %a, makes the one before the store to %b superfluous.
#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// CHECK-LABEL: func.func @superfluous
func.func @superfluous(%n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %a = simt.alloc 256 at 0
  %b = simt.alloc 256 at 256
  %c = simt.alloc 256 at 512
  // CHECK: scf.for
  // CHECK-NEXT: simt.local_load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: simt.local_store
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.local_load
  // CHECK-NEXT: simt.local_load
  // CHECK-NEXT: {{^ *[}]$}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %u = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
    simt.local_store %x, %a[] base 0 strides [1] : tensor<64xf32, #l>
    simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
    simt.local_store %x, %c[] base 0 strides [1] : tensor<64xf32, #l>
    %v = simt.local_load %c[] base 0 strides [1] : tensor<64xf32, #l>
    %w = simt.local_load %a[] base 0 strides [1] : tensor<64xf32, #l>
  }
  return
}

// -----

// Arguments that may be parts of one array are one: what is stored through the first may be what a load through the second reads, in
// another thread. The third is apart.
#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>

// CHECK-LABEL: func.func @overlapping
func.func @overlapping(%p: !tile.ptr<f32> {tile.overlaps}, %q: !tile.ptr<f32> {tile.overlaps}, %r: !tile.ptr<f32>) attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %pp = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %qq = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %rr = tile.splat %r : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  // CHECK: tile.store
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: tile.load
  tile.store %pp, %x : tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>
  %u = tile.load %rr : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  %v = tile.load %qq : tensor<64x!tile.ptr<f32>, #l> -> tensor<64xf32, #l>
  return
}
