// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-simt-decompose | FileCheck %s

// A conversion for which each warp has what it needs stays. Else it is a store and a load, with the dimension innermost along
// which a reading thread holds a run; rows of 8 f32 start 12 apart, so that columns are spread over the banks.
#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#column = #simt.layout<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#warps = #simt.layout<register = [], lane = [[1, 0], [0, 1], [0, 2], [0, 4], [0, 0]], warp = [[2, 0], [4, 0]], dims = [8, 8]>

// CHECK-DAG: #[[$ROW:.+]] = #simt.layout<register = {{\[\[}}0, 1]],
// CHECK-DAG: #[[$COLUMN:.+]] = #simt.layout<register = {{\[\[}}1, 0]],
// CHECK-DAG: #[[$WARPS:.+]] = #simt.layout<register = [], lane = {{\[\[}}1, 0],
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @convert
  func.func @convert(%x: !tile.ptr<f32>) attributes {tile.kernel} {
    %v = arith.constant dense<1.0> : tensor<8x8xf32, #row>
    // CHECK: simt.convert_layout {{.*}} -> tensor<8x8xf32, #[[$COLUMN]]>
    // CHECK-NEXT: %[[V:.*]] = simt.convert_layout {{.*}} -> tensor<8x8xf32, #[[$WARPS]]>
    %a = simt.convert_layout %v : tensor<8x8xf32, #row> -> tensor<8x8xf32, #column>
    %b = simt.convert_layout %a : tensor<8x8xf32, #column> -> tensor<8x8xf32, #warps>
    // CHECK-NEXT: %[[B:.*]] = simt.alloc 384
    // CHECK-NEXT: simt.local_store %[[V]], %[[B]][] base 0 strides [12, 1] : tensor<8x8xf32, #[[$WARPS]]>
    // CHECK-NEXT: simt.local_load %[[B]][] base 0 strides [12, 1] : tensor<8x8xf32, #[[$ROW]]>
    %c = simt.convert_layout %b : tensor<8x8xf32, #warps> -> tensor<8x8xf32, #row>
    // CHECK-NEXT: %[[C:.*]] = simt.alloc 384
    // CHECK-NEXT: simt.local_store %[[V]], %[[C]][] base 0 strides [1, 12] : tensor<8x8xf32, #[[$WARPS]]>
    // CHECK-NEXT: simt.local_load %[[C]][] base 0 strides [1, 12] : tensor<8x8xf32, #[[$COLUMN]]>
    %d = simt.convert_layout %b : tensor<8x8xf32, #warps> -> tensor<8x8xf32, #column>
    return
  }
}

// -----

// A reduction over warps: each warp its own, then all warps get all parts and finish in registers. Of 96 elements only three
// warps hold any. One that is not commutative has its axis brought into one warp instead.
#v = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

// CHECK-DAG: #[[$V:.+]] = #simt.layout<register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]], dims = [128]>
// CHECK-DAG: #[[$PART:.+]] = #simt.layout<register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], dims = [4]>
// CHECK-DAG: #[[$ALL:.+]] = #simt.layout<register = {{\[\[}}1], [2]], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}0], [0]], dims = [4]>
// CHECK-DAG: #[[$OWN:.+]] = #simt.layout<register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}0], [0]], dims = [128]>
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @reduce
  func.func @reduce() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<96xf32, #v>
    // CHECK: %[[P:.*]] = simt.warp_reduce(%{{.*}}), 0 {commutative} : (tensor<96xf32, #[[$V]]>) -> tensor<3xf32, #[[$PART]]> {
    // CHECK: arith.addf
    // CHECK-NEXT: simt.yield
    // CHECK: simt.local_store %[[P]], %[[B:.*]][] base 0 strides [1] : tensor<3xf32, #[[$PART]]>
    // CHECK-NEXT: %[[Q:.*]] = simt.local_load %[[B]][] base 0 strides [1] : tensor<3xf32, #[[$ALL]]>
    // CHECK-NEXT: tile.reduce(%[[Q]]), 0 {commutative} : (tensor<3xf32, #[[$ALL]]>) -> f32
    %r = tile.reduce(%x), 0 : (tensor<96xf32, #v>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    // CHECK: simt.local_store {{.*}} : tensor<96xf32, #[[$V]]>
    // CHECK-NEXT: %[[W:.*]] = simt.local_load {{.*}} : tensor<96xf32, #[[$OWN]]>
    // CHECK-NEXT: tile.reduce(%[[W]]), 0 : (tensor<96xf32, #[[$OWN]]>) -> f32
    %d = tile.reduce(%x), 0 : (tensor<96xf32, #v>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      tile.yield %s : f32
    }
    return
  }
}

// -----

// In strict mode the order of a sum is that of the elements, too.
#v = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

module attributes {tile.num_warps = 4 : i32, tile.strict, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @strict
  // CHECK-NOT: simt.warp_reduce
  func.func @strict() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<128xf32, #v>
    %r = tile.reduce(%x), 0 : (tensor<128xf32, #v>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    return
  }
}

// -----

// What lies in one warp stays as it is. With waves of 64 lanes that is twice as much.
#wave = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16], [32]], warp = [[0]], dims = [64]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 64>} {
  // CHECK-LABEL: func.func @no_memory_in_a_wave
  // CHECK-NOT: simt.alloc
  // CHECK: tile.reduce
  // CHECK-NOT: simt.alloc
  // CHECK: tile.scan
  // CHECK-NOT: simt.alloc
  func.func @no_memory_in_a_wave() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<64xf32, #wave>
    %r = tile.reduce(%x), 0 : (tensor<64xf32, #wave>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    %t = tile.scan(%x), 0 : (tensor<64xf32, #wave>) -> tensor<64xf32, #wave> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    return
  }
}

// -----

// A scan over warps goes to one warp, in which lanes lie above the run that each of them scans, and all
// warps get all of the result. Waves of 64 have six lane bits for it.
#v = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16], [32]], warp = [[64]], dims = [128]>

// CHECK-DAG: #[[$V:.+]] = #simt.layout<register = [], lane = {{\[\[}}1], [2], [4], [8], [16], [32]], warp = {{\[\[}}64]], dims = [128]>
// CHECK-DAG: #[[$OWN:.+]] = #simt.layout<register = {{\[\[}}1]], lane = {{\[\[}}2], [4], [8], [16], [32], [64]], warp = {{\[\[}}0]], dims = [128]>
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 64>} {
  // CHECK-LABEL: func.func @scan
  func.func @scan() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<128xf32, #v>
    // CHECK: simt.local_load {{.*}} : tensor<128xf32, #[[$OWN]]>
    // CHECK: %[[S:.*]] = tile.scan({{.*}}), 0 : (tensor<128xf32, #[[$OWN]]>) -> tensor<128xf32, #[[$OWN]]>
    // CHECK: simt.convert_layout %[[S]] : tensor<128xf32, #[[$OWN]]> -> tensor<128xf32, #[[$V]]>
    %r = tile.scan(%x), 0 : (tensor<128xf32, #v>) -> tensor<128xf32, #v> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    return
  }
}

// -----

// A sort along warps goes to one warp for each row, whose lanes lie along it; one that has its axis within a warp stays
// where it is.
#across = #simt.layout<register = [], lane = [[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], warp = [[0, 4]], dims = [8, 8]>
#within = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [0, 0]], warp = [[4, 0]], dims = [8, 8]>

// CHECK-DAG: #[[$ACROSS:.+]] = #simt.layout<register = [], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4]], dims = [8, 8]>
// CHECK-DAG: #[[$SORTED:.+]] = #simt.layout<register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0]], dims = [8, 8]>
// CHECK-DAG: #[[$WITHIN:.+]] = #simt.layout<register = {{\[\[}}0, 1]],
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @sort
  func.func @sort() attributes {tile.kernel} {
    %x = arith.constant dense<1> : tensor<8x8xi32, #across>
    %y = arith.constant dense<1> : tensor<8x8xi32, #within>
    // CHECK: %[[X:.*]] = simt.local_load {{.*}} : tensor<8x8xi32, #[[$SORTED]]>
    // CHECK: tile.sort %[[X]], 1 : tensor<8x8xi32, #[[$SORTED]]>
    // CHECK: simt.local_load {{.*}} : tensor<8x8xi32, #[[$ACROSS]]>
    // CHECK: tile.sort %{{.*}}, 1 : tensor<8x8xi32, #[[$WITHIN]]>
    // CHECK-NEXT: return
    %s = tile.sort %x, 1 : tensor<8x8xi32, #across>
    %t = tile.sort %y, 1 : tensor<8x8xi32, #within>
    return
  }
}

// -----

// A recurrence: the rows lie in memory, the carry in registers; four steps an iteration, all rows read before the first and written after the
// last of them. In reverse the rows count from the end.
#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#h = #simt.layout<register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0], [0]], dims = [8]>

module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @recurrence
  func.func @recurrence() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<8x8xf32, #row>
    // CHECK: %[[H:.*]] = arith.constant {{.*}} : tensor<8xf32
    %h = arith.constant dense<0.0> : tensor<8xf32, #h>
    // CHECK: %[[X:.*]] = simt.alloc 256
    // CHECK: simt.local_store %{{.*}}, %[[X]][] base 0 strides [8, 1]
    // CHECK: %[[Y:.*]] = simt.alloc 256
    // CHECK: %[[LAST:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C:.*]] = %[[H]])
    // CHECK: %[[P0:.*]] = arith.subi %c7{{.*}}, %[[K]]
    // CHECK: %[[O0:.*]] = arith.muli %[[P0]], %c8
    // CHECK: %[[X0:.*]] = simt.local_load %[[X]][%[[O0]]] base 0 strides [1]
    // CHECK-COUNT-3: simt.local_load %[[X]]
    // CHECK-NOT: simt.local_load
    // CHECK: %[[S0:.*]] = arith.addf %[[C]], %[[X0]]
    // CHECK-NEXT: %[[S1:.*]] = arith.addf %[[S0]]
    // CHECK-NEXT: arith.addf %[[S1]]
    // CHECK-NEXT: %[[S3:.*]] = arith.addf
    // CHECK: simt.local_store %[[S0]], %[[Y]][%{{.*}}] base 0 strides [1] {disjoint}
    // CHECK-COUNT-3: simt.local_store {{.*}}, %[[Y]]{{.*}} {disjoint}
    // CHECK: scf.yield %[[S3]]
    // CHECK: simt.local_load %[[Y]][] base 0 strides [8, 1] : tensor<8x8xf32
    %l, %o = tile.recurrence init(%h) over(%x), 0 reverse
        : (tensor<8xf32, #h>, tensor<8x8xf32, #row>) -> (tensor<8xf32, #h>, tensor<8x8xf32, #row>) {
    ^bb0(%c: tensor<8xf32, #h>, %s: tensor<8xf32, #h>):
      %n = arith.addf %c, %s : tensor<8xf32, #h>
      tile.yield %n, %n : tensor<8xf32, #h>, tensor<8xf32, #h>
    }
    return
  }

  // An extent that four does not divide has fewer steps an iteration; one that two does not, one.
  // CHECK-LABEL: func.func @odd
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c7{{.*}} step %c1
  func.func @odd() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<7x8xf32, #row>
    %h = arith.constant dense<0.0> : tensor<8xf32, #h>
    %l = tile.recurrence init(%h) over(%x), 0 : (tensor<8xf32, #h>, tensor<7x8xf32, #row>) -> tensor<8xf32, #h> {
    ^bb0(%c: tensor<8xf32, #h>, %s: tensor<8xf32, #h>):
      %n = arith.addf %c, %s : tensor<8xf32, #h>
      tile.yield %n : tensor<8xf32, #h>
    }
    return
  }
}

// -----

// Views: each op stores its source densely and loads what it means through strides, an offset, a base. Offsets are clamped into
// the source.
#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#tall = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], dims = [16, 8]>
#w = #simt.layout<register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0], [0]], dims = [8]>
#half = #simt.layout<register = [], lane = [[1], [2], [0], [0], [0]], warp = [[0], [0]], dims = [4]>
#flat = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]], dims = [64]>

module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @views
  // CHECK-SAME: %[[I:.*]]: i32, %[[J:.*]]: i32
  func.func @views(%i: i32, %j: i32) attributes {tile.kernel} {
    // CHECK: %[[X:.*]] = arith.constant dense<1.0{{.*}} : tensor<7x8xf32
    // CHECK: %[[P:.*]] = arith.constant dense<2.0{{.*}} : tensor<8xf32
    %x = arith.constant dense<1.0> : tensor<7x8xf32, #row>
    %p = arith.constant dense<2.0> : tensor<8xf32, #w>
    // Row i, from column j back every second: j is at least 6 and at most 7.
    // CHECK: simt.local_store %[[X]], %[[B:.*]][] base 0 strides [8, 1]
    // CHECK: arith.maxsi %[[I]], %c0
    // CHECK: arith.minsi %{{.*}}, %c6
    // CHECK: arith.maxsi %[[J]], %c6
    // CHECK: arith.minsi %{{.*}}, %c7
    // CHECK: %[[O:.*]] = arith.addi
    // CHECK-NEXT: simt.local_load %[[B]][%[[O]]] base 0 strides [-2] : tensor<4xf32
    %s = tile.slice %x[%i, %j] [1, 4] strides [1, -2] dropped [0] : tensor<7x8xf32, #row> -> tensor<4xf32, #half>
    // The other way round the part is stored over the whole.
    // CHECK: simt.local_store %[[X]], %[[C:.*]][] base 0 strides [8, 1]
    // CHECK: simt.local_store %[[P]], %[[C]][%{{.*}}] base 0 strides [1] : tensor<8xf32
    // CHECK-NEXT: simt.local_load %[[C]][] base 0 strides [8, 1] : tensor<7x8xf32
    %n = tile.insert %p into %x[%i, %j] dropped [0] : tensor<8xf32, #w> into tensor<7x8xf32, #row>
    // CHECK: simt.local_store %[[X]], %[[D:.*]][] base 0 strides [8, 1]
    // CHECK-NEXT: simt.local_load %[[D]][] base 48 strides [-8, 1]
    %f = tile.flip %x, 0 : tensor<7x8xf32, #row>
    // CHECK: simt.local_store %[[X]], %[[E:.*]][] base 0 strides [8, 1]
    // CHECK-NEXT: simt.local_store %{{.*}}, %[[E]][] base 56 strides [8, 1]
    // CHECK-NEXT: simt.local_load %[[E]][] base 0 strides [8, 1] : tensor<14x8xf32
    %c = tile.concat %x, %f, 0 : tensor<7x8xf32, #row>, tensor<7x8xf32, #row> -> tensor<14x8xf32, #tall>
    // A reshape of padded extents is no renaming of bits.
    // CHECK: simt.local_store %[[X]], %[[G:.*]][] base 0 strides [8, 1]
    // CHECK-NEXT: simt.local_load %[[G]][] base 0 strides [1] : tensor<56xf32
    %r = tile.reshape %x : tensor<7x8xf32, #row> -> tensor<56xf32, #flat>
    return
  }

  // CHECK-LABEL: func.func @no_memory_for_bits
  // CHECK-NOT: simt.alloc
  // CHECK: tile.reshape
  func.func @no_memory_for_bits() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<8x8xf32, #row>
    %r = tile.reshape %x : tensor<8x8xf32, #row> -> tensor<64xf32, #flat>
    return
  }

  // CHECK-LABEL: func.func @indexed
  func.func @indexed() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<7x8xf32, #row>
    %i = arith.constant dense<1> : tensor<8x8xi32, #row>
    // CHECK: simt.local_store %{{.*}}, %[[B:.*]][] base 0 strides [8, 1] : tensor<7x8xf32
    // CHECK-NEXT: simt.local_gather %[[B]][%{{.*}}], 0 extent 7 strides [8, 1]
    %g = tile.gather %x[%i], 0 : tensor<7x8xf32, #row>, tensor<8x8xi32, #row> -> tensor<8x8xf32, #row>
    // Counters start at zero.
    // CHECK: %[[C:.*]] = simt.alloc 28
    // CHECK: %[[Z:.*]] = arith.constant dense<0> : tensor<7xi32
    // CHECK-NEXT: simt.local_store %[[Z]], %[[C]][]
    // CHECK-NEXT: simt.local_count %[[C]][%{{.*}}], 7
    // CHECK-NEXT: simt.local_load %[[C]][] base 0 strides [1] : tensor<7xi32
    %k = arith.constant dense<1> : tensor<64xi32, #flat>
    %h = tile.histogram %k, 7 : tensor<64xi32, #flat> -> tensor<7xi32, #w>
    return
  }
}

// -----

// A product: both factors lie in memory with k outermost, rows apart.
#a = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], dims = [16, 16]>

module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @dot
  func.func @dot() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<16x16xf16, #a>
    %y = arith.constant dense<2.0> : tensor<16x16xf16, #a>
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #a>
    // CHECK: %[[A:.*]] = simt.alloc 768
    // CHECK-NEXT: simt.local_store %{{.*}}, %[[A]][] base 0 strides [1, 24]
    // CHECK-NEXT: %[[B:.*]] = simt.alloc 768
    // CHECK-NEXT: simt.local_store %{{.*}}, %[[B]][] base 0 strides [24, 1]
    // CHECK-NEXT: simt.local_dot %[[A]] : f16 [1, 24], %[[B]] : f16 [24, 1], %{{.*}} depth 16 : tensor<16x16xf32
    %d = tile.dot %x, %y, %c : tensor<16x16xf16, #a>, tensor<16x16xf16, #a> -> tensor<16x16xf32, #a>
    return
  }
}

// -----

// One thread of those that hold an element does an atomic; who needs what it read gets it through memory. Unused, it goes nowhere.
#w = #simt.layout<register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0], [0]], dims = [8]>

module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @atomics
  func.func @atomics(%p: !tile.ptr<i32>, %v: i32) attributes {tile.kernel} {
    // CHECK: %[[B:.*]] = simt.alloc 4
    // CHECK-NEXT: %[[A:.*]] = tile.atomic_rmw add
    // CHECK-NEXT: simt.local_store %[[A]], %[[B]][] base 0 strides [] : i32
    // CHECK-NEXT: %[[L:.*]] = simt.local_load %[[B]][] base 0 strides [] : i32
    // CHECK-NEXT: tile.splat %[[L]]
    %a = tile.atomic_rmw add, %p, %v : !tile.ptr<i32>, i32 -> i32
    %s = tile.splat %a : i32 -> tensor<8xi32, #w>
    %q = tile.splat %p : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>, #w>
    // CHECK: %[[C:.*]] = simt.alloc 32
    // CHECK-NEXT: %[[D:.*]] = tile.atomic_cas
    // CHECK-NEXT: simt.local_store %[[D]], %[[C]][] base 0 strides [1]
    // CHECK-NEXT: %[[E:.*]] = simt.local_load %[[C]][] base 0 strides [1]
    // CHECK-NEXT: tile.atomic_rmw add, %{{.*}}, %[[E]]
    // CHECK-NEXT: return
    %b = tile.atomic_cas %q, %s, %s : tensor<8x!tile.ptr<i32>, #w>, tensor<8xi32, #w>
    %c = tile.atomic_rmw add, %q, %b : tensor<8x!tile.ptr<i32>, #w>, tensor<8xi32, #w> -> tensor<8xi32, #w>
    return
  }
}

// -----

// What other programs write may be something else for each thread that reads it: of a volatile load, one thread's value is everyone's, so that
// all leave a loop at one time. Where each thread has elements of its own, and where nobody else writes, nothing is shared.
#w = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>

module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @volatile
  func.func @volatile(%p: !tile.ptr<i32>) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    // CHECK: scf.while
    // CHECK-NEXT: %[[B:.*]] = simt.alloc 4
    // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}} {isVolatile}
    // CHECK-NEXT: simt.local_store %[[V]], %[[B]][] base 0 strides [] : i32
    // CHECK-NEXT: %[[S:.*]] = simt.local_load %[[B]][] base 0 strides [] : i32
    // CHECK-NEXT: arith.cmpi eq, %[[S]]
    scf.while : () -> () {
      %v = tile.load %p {isVolatile} : !tile.ptr<i32> -> i32
      %wait = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
    // CHECK-NOT: simt.alloc
    %i = tile.arange 0 to 128 : tensor<128xi32, #w>
    %q = tile.splat %p : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #w>
    %a = tile.addptr %q, %i : tensor<128x!tile.ptr<i32>, #w>, tensor<128xi32, #w>
    // CHECK: tile.load {{.*}} {isVolatile}
    %x = tile.load %a {isVolatile} : tensor<128x!tile.ptr<i32>, #w> -> tensor<128xi32, #w>
    %y = tile.load %p : !tile.ptr<i32> -> i32
    %ys = tile.splat %y : i32 -> tensor<128xi32, #w>
    %z = arith.addi %x, %ys : tensor<128xi32, #w>
    tile.store %a, %z : tensor<128x!tile.ptr<i32>, #w>, tensor<128xi32, #w>
    return
  }
}

// -----

// Two warps hold the same elements here, and a register too: they must not count twice, so the axis comes into one warp.
#twice = #simt.layout<register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = [[2], [64]], dims = [128]>

// CHECK: #[[$OWN:.+]] = #simt.layout<register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}0], [0]], dims = [128]>
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @twice
  func.func @twice() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<128xf32, #twice>
    // CHECK: simt.local_store
    // CHECK-NEXT: %[[X:.*]] = simt.local_load {{.*}} : tensor<128xf32, #[[$OWN]]>
    // CHECK-NEXT: tile.reduce(%[[X]]), 0 {commutative} : (tensor<128xf32, #[[$OWN]]>) -> f32
    %r = tile.reduce(%x), 0 : (tensor<128xf32, #twice>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    return
  }
}

// -----

// What must have one layout gets it, whatever it came in: masks as their values, operands of a reduction or a scan as the
// first of them, indices as what is gathered.
#a = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>
#b = #simt.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], dims = [64]>
#c = #simt.layout<register = [], lane = [[1], [2], [4], [0], [0]], warp = [], dims = [8]>

// CHECK-DAG: #[[$A:.+]] = #simt.layout<register = {{\[\[}}1]], lane
// CHECK-DAG: #[[$B:.+]] = #simt.layout<register = {{\[\[}}32]], lane
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @one_layout
  func.func @one_layout() attributes {tile.kernel} {
    %v = arith.constant dense<1> : tensor<64xi32, #a>
    %w = arith.constant dense<2> : tensor<64xi8, #b>
    %m = arith.constant dense<true> : tensor<64xi1, #b>
    // CHECK: %[[M:.*]] = simt.convert_layout %{{.*}} : tensor<64xi1, #[[$B]]> -> tensor<64xi1, #[[$A]]>
    // CHECK: simt.local_count %{{.*}} mask %[[M]] : tensor<64xi1, #[[$A]]>, 8 : tensor<64xi32, #[[$A]]>
    %h = tile.histogram %v mask %m : tensor<64xi1, #b>, 8 : tensor<64xi32, #a> -> tensor<8xi32, #c>
    // CHECK: %[[I:.*]] = simt.convert_layout %{{.*}} : tensor<64xi8, #[[$B]]> -> tensor<64xi8, #[[$A]]>
    // CHECK: simt.local_gather %{{.*}}[%[[I]]]
    %g = tile.gather %v[%w], 0 : tensor<64xi32, #a>, tensor<64xi8, #b> -> tensor<64xi32, #a>
    // CHECK: %[[W:.*]] = simt.convert_layout %{{.*}} : tensor<64xi8, #[[$B]]> -> tensor<64xi8, #[[$A]]>
    // CHECK: tile.reduce(%{{.*}}, %[[W]])
    %r:2 = tile.reduce(%v, %w), 0 : (tensor<64xi32, #a>, tensor<64xi8, #b>) -> (i32, i8) {
    ^bb0(%p: i32, %q: i8, %s: i32, %t: i8):
      tile.yield %p, %t : i32, i8
    }
    // CHECK: %[[U:.*]] = simt.convert_layout %{{.*}} : tensor<64xi8, #[[$B]]> -> tensor<64xi8, #[[$A]]>
    // CHECK: %[[S:.*]]:2 = tile.scan(%{{.*}}, %[[U]]), 0 : ({{.*}}) -> (tensor<64xi32, #[[$A]]>, tensor<64xi8, #[[$A]]>)
    // CHECK: simt.convert_layout %[[S]]#1 : tensor<64xi8, #[[$A]]> -> tensor<64xi8, #[[$B]]>
    %n:2 = tile.scan(%v, %w), 0 : (tensor<64xi32, #a>, tensor<64xi8, #b>) -> (tensor<64xi32, #a>, tensor<64xi8, #b>) {
    ^bb0(%p: i32, %q: i8, %s: i32, %t: i8):
      tile.yield %p, %t : i32, i8
    }
    return
  }
}
