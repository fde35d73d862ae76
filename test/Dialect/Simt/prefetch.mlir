// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-simt-prefetch | FileCheck %s

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// A load behind a reduction starts before it, with what its address is made of.
// CHECK-LABEL: func.func @hoist
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %[[W:.*]]: !tile.ptr<f32>, %[[Y:.*]]: !tile.ptr<f32>
// CHECK: %[[V:.*]] = tile.load
// CHECK-NEXT: %[[Q:.*]] = tile.splat %[[W]]
// CHECK-NEXT: %[[B:.*]] = tile.addptr %[[Q]]
// CHECK-NEXT: %[[U:.*]] = tile.load %[[B]]
// CHECK-NEXT: tile.reduce(%[[V]])
// CHECK: arith.mulf %[[U]]
func.func @hoist(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 128 : tensor<128xi32, #l>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %a = tile.addptr %p, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %v = tile.load %a : tensor<128x!tile.ptr<f32>, #l> -> tensor<128xf32, #l>
  %r = tile.reduce(%v), 0 : (tensor<128xf32, #l>) -> f32 {
  ^bb0(%c: f32, %d: f32):
    %s = arith.addf %c, %d : f32
    tile.yield %s : f32
  }
  %q = tile.splat %w : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %b = tile.addptr %q, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %u = tile.load %b : tensor<128x!tile.ptr<f32>, #l> -> tensor<128xf32, #l>
  %t = tile.splat %r : f32 -> tensor<128xf32, #l>
  %m = arith.mulf %u, %t : tensor<128xf32, #l>
  %o = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %z = tile.addptr %o, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  tile.store %z, %m : tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// None of these: what the kernel writes, what is volatile, what is where a load or the reduction itself says.
// CHECK-LABEL: func.func @no_hoist
// CHECK: tile.reduce
// CHECK: tile.load {{.*}}
// CHECK-NEXT: tile.load {{.*}} {isVolatile}
// CHECK-NEXT: tile.load {{.*}} -> tensor<128xi32
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
func.func @no_hoist(%x: !tile.ptr<i32>, %w: !tile.ptr<i32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 128 : tensor<128xi32, #l>
  %p = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #l>
  %a = tile.addptr %p, %i : tensor<128x!tile.ptr<i32>, #l>, tensor<128xi32, #l>
  %q = tile.splat %w : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #l>
  %o = tile.splat %y : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #l>
  %r = tile.reduce(%i), 0 : (tensor<128xi32, #l>) -> i32 {
  ^bb0(%c: i32, %d: i32):
    %s = arith.addi %c, %d : i32
    tile.yield %s : i32
  }
  %written = tile.load %a : tensor<128x!tile.ptr<i32>, #l> -> tensor<128xi32, #l>
  %volatile = tile.load %o {isVolatile} : tensor<128x!tile.ptr<i32>, #l> -> tensor<128xi32, #l>
  %at = tile.load %a : tensor<128x!tile.ptr<i32>, #l> -> tensor<128xi32, #l>
  %b = tile.addptr %q, %at : tensor<128x!tile.ptr<i32>, #l>, tensor<128xi32, #l>
  %loaded = tile.load %b : tensor<128x!tile.ptr<i32>, #l> -> tensor<128xi32, #l>
  %n = tile.addptr %w, %r : !tile.ptr<i32>, i32
  %reduced = tile.load %n : !tile.ptr<i32> -> i32
  tile.store %a, %loaded : tensor<128x!tile.ptr<i32>, #l>, tensor<128xi32, #l>
  return
}

// -----

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// An address that could be anything may be of what a load reads.
// CHECK-LABEL: func.func @no_hoist_unknown_store
// CHECK: tile.reduce
// CHECK: tile.load
func.func @no_hoist_unknown_store(%x: !tile.ptr<i32>, %n: i64) attributes {tile.kernel} {
  %i = tile.arange 0 to 128 : tensor<128xi32, #l>
  %r = tile.reduce(%i), 0 : (tensor<128xi32, #l>) -> i32 {
  ^bb0(%c: i32, %d: i32):
    %s = arith.addi %c, %d : i32
    tile.yield %s : i32
  }
  %v = tile.load %x : !tile.ptr<i32> -> i32
  %q = tile.int_to_ptr %n : i64 -> !tile.ptr<i32>
  tile.store %q, %r : !tile.ptr<i32>, i32
  return
}

// -----

// A wave of 64 lanes, 192 bytes of registers in each: of loads of 128 bytes in each thread the first moves, the second does not.
#l = #simt.layout<register = [[1], [2], [4], [8], [16]], lane = [[32], [64], [128], [256], [512], [1024]], warp = [], dims = [2048]>

// CHECK-LABEL: func.func @no_more_than_fits
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: tile.load
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 64>} {
  func.func @no_more_than_fits(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
    %p = tile.splat %x : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>, #l>
    %q = tile.splat %y : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>, #l>
    %k = arith.constant dense<0.0> : tensor<2048xf32, #l>
    %r = tile.reduce(%k), 0 : (tensor<2048xf32, #l>) -> f32 {
    ^bb0(%c: f32, %d: f32):
      %s = arith.addf %c, %d : f32
      tile.yield %s : f32
    }
    %v = tile.load %p : tensor<2048x!tile.ptr<f32>, #l> -> tensor<2048xf32, #l>
    %w = tile.load %q : tensor<2048x!tile.ptr<f32>, #l> -> tensor<2048xf32, #l>
    return
  }
}

// -----

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// A loop loads for the next iteration before it works on this one's; the first iteration's load is before the loop, under the condition that
// there is one, and the last iteration loads nothing. The load's own mask is that of the iteration it is for.
// CHECK-LABEL: func.func @rotate
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %[[N:.*]]: i32
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %c0{{.*}}, %[[N]]
// CHECK: %[[M0:.*]] = tile.splat %[[RUNS]]
// CHECK-NEXT: %[[M1:.*]] = arith.andi %{{.*}}, %[[M0]]
// CHECK-NEXT: %[[FIRST:.*]] = tile.load %{{.*}} mask %[[M1]]
// CHECK-NEXT: scf.for %[[K:.*]] = %c0{{.*}} to %[[N]] step %[[STEP:.*]] iter_args(%[[P:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[V:.*]] = %[[FIRST]])
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[N]], %[[K]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ugt, %[[LEFT]], %[[STEP]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[K]], %[[STEP]]
// CHECK-NEXT: %[[AHEAD:.*]] = tile.addptr %[[P]]
// CHECK: tile.splat %[[NEXT]]
// CHECK: tile.splat %[[MORE]]
// CHECK: %[[LOADED:.*]] = tile.load %[[AHEAD]] mask
// CHECK-NOT: tile.load
// CHECK: arith.addf %[[S]], %[[V]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[LOADED]]
func.func @rotate(%x: !tile.ptr<f32>, %n: i32, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %i = tile.arange 0 to 128 : tensor<128xi32, #l>
  %by = arith.constant dense<128> : tensor<128xi32, #l>
  %z = arith.constant dense<0.0> : tensor<128xf32, #l>
  %s = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %a = tile.addptr %s, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %end = tile.splat %n : i32 -> tensor<128xi32, #l>
  %r:2 = scf.for %k = %c0 to %n step %c128 iter_args(%p = %a, %t = %z) -> (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) : i32 {
    %ks = tile.splat %k : i32 -> tensor<128xi32, #l>
    %at = arith.addi %ks, %i : tensor<128xi32, #l>
    %m = arith.cmpi slt, %at, %end : tensor<128xi32, #l>
    %v = tile.load %p mask %m : tensor<128xi1, #l> : tensor<128x!tile.ptr<f32>, #l> -> tensor<128xf32, #l>
    %u = arith.addf %t, %v : tensor<128xf32, #l>
    %q = tile.addptr %p, %by : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    scf.yield %q, %u : tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>
  }
  %w = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  tile.store %w, %r#1 : tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>
  return
}

// -----

// What a loop carries may be swapped: ahead is what the other is now.
// CHECK-LABEL: func.func @rotate_swapped
// CHECK: scf.for {{.*}} iter_args(%[[U:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[X:.*]] = %{{.*}})
// CHECK: tile.addptr %{{.*}}, %[[V]]
// CHECK: tile.load
// CHECK: scf.yield %[[V]], %[[U]]
func.func @rotate_swapped(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%u = %c0, %v = %c1, %s = %z) -> (i32, i32, f32) : i32 {
    %a = tile.addptr %p, %u : !tile.ptr<f32>, i32
    %x = tile.load %a : !tile.ptr<f32> -> f32
    %t = arith.addf %s, %x : f32
    scf.yield %v, %u, %t : i32, i32, f32
  }
  return
}

// -----

// Nor do loops load ahead what they write, what is volatile, or what is where the iteration before has read.
// CHECK-LABEL: func.func @no_rotate
// CHECK-NOT: arith.cmpi
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (i32)
// CHECK: tile.load
// CHECK: tile.load
// CHECK: tile.load
func.func @no_rotate(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c0) -> (i32) : i32 {
    %a = tile.addptr %p, %k : !tile.ptr<i32>, i32
    %written = tile.load %a : !tile.ptr<i32> -> i32
    tile.store %a, %written : !tile.ptr<i32>, i32
    %b = tile.addptr %q, %k : !tile.ptr<i32>, i32
    %volatile = tile.load %b {isVolatile} : !tile.ptr<i32> -> i32
    %c = tile.addptr %q, %at : !tile.ptr<i32>, i32
    %next = tile.load %c : !tile.ptr<i32> -> i32
    scf.yield %next : i32
  }
  return
}

// -----

#l = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// Nothing moves over an atomic that acquires what other programs wrote: not in front of a loop that waits for them, nor ahead in a loop that
// has such an atomic. One that is relaxed orders nothing.
// CHECK-LABEL: func.func @no_over_acquire
// CHECK: scf.while
// CHECK: tile.atomic_cas
// CHECK: tile.load
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} : i32 {
// CHECK: tile.load
// CHECK: tile.atomic_rmw
func.func @no_over_acquire(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas %p, %c1, %c0 : !tile.ptr<i32>, i32
    %wait = arith.cmpi ne, %old, %c1 : i32
    scf.condition(%wait)
  } do {
    scf.yield
  }
  %x = tile.load %q : !tile.ptr<i32> -> i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %a = tile.addptr %q, %k : !tile.ptr<i32>, i32
    %y = tile.load %a : !tile.ptr<i32> -> i32
    %s = tile.atomic_rmw add, %p, %y : !tile.ptr<i32>, i32 -> i32
  }
  return
}

// CHECK-LABEL: func.func @over_relaxed
// CHECK: tile.load
// CHECK: scf.for {{.*}} iter_args
func.func @over_relaxed(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %a = tile.addptr %q, %k : !tile.ptr<i32>, i32
    %y = tile.load %a : !tile.ptr<i32> -> i32
    %s = tile.atomic_rmw add, %p, %y {sem = 0 : i32} : !tile.ptr<i32>, i32 -> i32
  }
  return
}

// -----

// A barrier that the user wrote orders all memory, however an argument is passed: a load behind it neither starts before it nor, in a loop,
// before the barrier at the end of the iteration before.
// CHECK-LABEL: func.func @no_over_barrier
// CHECK: tile.store
// CHECK: tile.barrier
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} : i32 {
// CHECK: tile.barrier
// CHECK: tile.load
// CHECK: tile.barrier
// CHECK: }
// CHECK: tile.barrier
// CHECK: tile.load
func.func @no_over_barrier(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.store %p, %n : !tile.ptr<i32>, i32
  tile.barrier
  scf.for %k = %c0 to %n step %c1 : i32 {
    tile.store %p, %k : !tile.ptr<i32>, i32
    tile.barrier
    %a = tile.addptr %q, %k : !tile.ptr<i32>, i32
    %x = tile.load %a : !tile.ptr<i32> -> i32
    tile.barrier
  }
  tile.barrier
  %y = tile.load %q : !tile.ptr<i32> -> i32
  return
}

// -----

// Nor over a barrier in a branch in between, over a print, or over an op whose effects nobody knows.
// CHECK-LABEL: func.func @no_over_what_is_inside
// CHECK: scf.if
// CHECK: tile.barrier
// CHECK: tile.load
func.func @no_over_what_is_inside(%q: !tile.ptr<i32>, %c: i1) attributes {tile.kernel} {
  scf.if %c {
    tile.barrier
  }
  %x = tile.load %q : !tile.ptr<i32> -> i32
  return
}

// CHECK-LABEL: func.func @no_over_print
// CHECK: scf.if
// CHECK: tile.print
// CHECK: tile.load
func.func @no_over_print(%q: !tile.ptr<i32>, %c: i1, %n: i32) attributes {tile.kernel} {
  scf.if %c {
    tile.print "n", [1] (%n : i32)
  }
  %x = tile.load %q : !tile.ptr<i32> -> i32
  return
}

// CHECK-LABEL: func.func @no_over_unknown
// CHECK: scf.if
// CHECK: llvm.call_intrinsic
// CHECK: tile.load
func.func @no_over_unknown(%q: !tile.ptr<i32>, %c: i1) attributes {tile.kernel} {
  scf.if %c {
    llvm.call_intrinsic "llvm.sideeffect"() : () -> ()
  }
  %x = tile.load %q : !tile.ptr<i32> -> i32
  return
}

// A promise about a value touches no memory.
// CHECK-LABEL: func.func @over_assume
// CHECK: tile.load
// CHECK: scf.if
// CHECK: tile.assume
func.func @over_assume(%q: !tile.ptr<i32>, %c: i1, %d: i1) attributes {tile.kernel} {
  scf.if %c {
    tile.assume %d
  }
  %x = tile.load %q : !tile.ptr<i32> -> i32
  return
}

// -----

// Arguments that may be parts of one array: a store through one is a store to the other, and the load stays. What is known to be apart moves.
// CHECK-LABEL: func.func @no_rotate_overlapping
// CHECK-SAME: %[[A:.*]]: !tile.ptr<i32> {tile.overlaps}, %[[B:.*]]: !tile.ptr<i32> {tile.overlaps}, %[[C:.*]]: !tile.ptr<i32>
// CHECK: tile.load %[[C]]
// CHECK: scf.for
// CHECK: %[[AT:.*]] = tile.addptr %[[B]]
// CHECK: tile.load %[[AT]]
// CHECK: tile.store
func.func @no_rotate_overlapping(%a: !tile.ptr<i32> {tile.overlaps}, %b: !tile.ptr<i32> {tile.overlaps}, %c: !tile.ptr<i32>, %n: i32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %at = tile.addptr %b, %k : !tile.ptr<i32>, i32
    %x = tile.load %at : !tile.ptr<i32> -> i32
    %to = tile.addptr %a, %k : !tile.ptr<i32>, i32
    tile.store %to, %x : !tile.ptr<i32>, i32
  }
  %y = tile.load %c : !tile.ptr<i32> -> i32
  return
}
