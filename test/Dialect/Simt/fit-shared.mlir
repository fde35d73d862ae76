// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-fit-shared | FileCheck %s

// Where it fits, nothing changes: not even by a byte less than there is.
#a = #simt.layout<register = [[0, 1], [0, 2], [8, 0]], lane = [[1, 0], [2, 0], [4, 0]], warp = [[0, 4]], dims = [16, 8]>
#b = #simt.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4]], warp = [[8, 0]], dims = [16, 8]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<shared_bytes = 512, warp_size = 8>} {
  // CHECK-LABEL: func.func @no_need
  // CHECK: %[[B:.*]] = simt.alloc 512
  // CHECK-NEXT: simt.local_store %{{.*}}, %[[B]][] base 0 strides [8, 1] : tensor<16x8xf32
  // CHECK-NEXT: simt.local_load %[[B]][] base 0 strides [8, 1] : tensor<16x8xf32
  // CHECK-NEXT: return
  func.func @no_need() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<16x8xf32, #a>
    %buffer = simt.alloc 512
    simt.local_store %x, %buffer[] base 0 strides [8, 1] : tensor<16x8xf32, #a>
    %y = simt.local_load %buffer[] base 0 strides [8, 1] : tensor<16x8xf32, #b>
    return
  }
}

// -----

// From stores to a load in rounds, each of which adds to what the last one read. The later of two stores counts in each of them. Of the
// four rounds one element too many would make, whole rows are kept together.
#a = #simt.layout<register = [[0, 1], [0, 2], [8, 0]], lane = [[1, 0], [2, 0], [4, 0]], warp = [[0, 4]], dims = [16, 8]>
#b = #simt.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4]], warp = [[8, 0]], dims = [16, 8]>
#r = #simt.layout<register = [], lane = [[1], [2], [4]], warp = [[0]], dims = [8]>
#c = #simt.layout<register = [[8], [16], [32], [64]], lane = [[1], [2], [4]], warp = [[0]], dims = [128]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<shared_bytes = 300, warp_size = 8>} {
  // CHECK-LABEL: func.func @stores_and_load
  // CHECK-SAME: %[[AT:.*]]: i32
  // CHECK: %[[X:.*]] = arith.constant {{.*}} : tensor<16x8xf32
  // CHECK: %[[R:.*]] = arith.constant {{.*}} : tensor<8xf32
  // CHECK: %[[B:.*]] = simt.alloc 256
  // CHECK-NEXT: simt.local_store %[[X]], %[[B]][] base 0 strides [8, 1] {within = 64 : i32}
  // CHECK-NEXT: simt.local_store %[[R]], %[[B]][%[[AT]]] base 0 strides [1] {within = 64 : i32}
  // CHECK-NEXT: %[[P:.*]] = simt.local_load %[[B]][] base 0 strides [8, 1] {within = 64 : i32}
  // CHECK-NEXT: simt.local_store %[[X]], %[[B]][] base -64 strides [8, 1] {within = 64 : i32}
  // CHECK-NEXT: simt.local_store %[[R]], %[[B]][%[[AT]]] base -64 strides [1] {within = 64 : i32}
  // CHECK-NEXT: %[[Q:.*]] = simt.local_load %[[B]][] base -64 strides [8, 1] otherwise %[[P]] : tensor<{{.*}} {within = 64 : i32}
  // CHECK-NEXT: arith.negf %[[Q]]
  func.func @stores_and_load(%at: i32) attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<16x8xf32, #a>
    %r = arith.constant dense<2.0> : tensor<8xf32, #r>
    %buffer = simt.alloc 512
    simt.local_store %x, %buffer[] base 0 strides [8, 1] : tensor<16x8xf32, #a>
    simt.local_store %r, %buffer[%at] base 0 strides [1] : tensor<8xf32, #r>
    %y = simt.local_load %buffer[] base 0 strides [8, 1] : tensor<16x8xf32, #b>
    %z = arith.negf %y : tensor<16x8xf32, #b>
    return
  }

  // Gathers read what the round has; counters are counted a range at a time.
  // CHECK-LABEL: func.func @gather_and_count
  // CHECK: simt.local_store {{.*}} {within = 64 : i32}
  // CHECK-NEXT: %[[P:.*]] = simt.local_gather {{.*}} strides [8, 1] {within = 64 : i32}
  // CHECK-NEXT: simt.local_store {{.*}} base -64 strides [8, 1] {within = 64 : i32}
  // CHECK-NEXT: simt.local_gather {{.*}} strides [8, 1] otherwise %[[P]] : {{.*}} {base = -64 : i32, within = 64 : i32}
  // CHECK: %[[C:.*]] = simt.alloc 208
  // CHECK: simt.local_count %[[C]][{{.*}}], 52 :
  // CHECK: simt.local_count %[[C]][{{.*}}], 48 {base = -52 : i32}
  func.func @gather_and_count() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<16x8xf32, #a>
    %i = arith.constant dense<2> : tensor<16x8xi32, #a>
    %f = arith.constant dense<3> : tensor<8xi32, #r>
    %zero = arith.constant dense<4> : tensor<100xi32, #c>
    %buffer = simt.alloc 512
    simt.local_store %x, %buffer[] base 0 strides [8, 1] : tensor<16x8xf32, #a>
    %y = simt.local_gather %buffer[%i], 0 extent 16 strides [8, 1] : tensor<16x8xi32, #a> -> tensor<16x8xf32, #a>
    %n = arith.negf %y : tensor<16x8xf32, #a>
    %bins = simt.alloc 400
    simt.local_store %zero, %bins[] base 0 strides [1] : tensor<100xi32, #c>
    simt.local_count %bins[%f], 100 : tensor<8xi32, #r>
    %h = simt.local_load %bins[] base 0 strides [1] : tensor<100xi32, #c>
    return
  }
}

// -----

// A product along k: slices of both factors, the sum from one to the next in 32 bits even if the result has fewer.
#f = #simt.layout<register = [[0, 4], [0, 8]], lane = [[1, 0], [2, 0], [0, 1]], warp = [[0, 2]], dims = [4, 16]>
#g = #simt.layout<register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [1, 0]], warp = [[2, 0]], dims = [16, 4]>
#p = #simt.layout<register = [], lane = [[1, 0], [2, 0], [0, 1]], warp = [[0, 2]], dims = [4, 4]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<shared_bytes = 140, warp_size = 8>} {
  // CHECK-LABEL: func.func @product
  // CHECK: %[[X:.*]] = arith.constant {{.*}} : tensor<4x16xf16
  // CHECK: %[[Y:.*]] = arith.constant {{.*}} : tensor<16x4xf16
  // CHECK: %[[C:.*]] = arith.constant {{.*}} : tensor<4x4xf16
  // CHECK-DAG: %[[A:.*]] = simt.alloc 64
  // CHECK-DAG: %[[B:.*]] = simt.alloc 64
  // CHECK: %[[S0:.*]] = arith.extf %[[C]]
  // CHECK-NEXT: simt.local_store %[[X]], %[[A]][] base 0 strides [1, 4] {within = 32 : i32}
  // CHECK-NEXT: simt.local_store %[[Y]], %[[B]][] base 0 strides [4, 1] {within = 32 : i32}
  // CHECK-NEXT: %[[S1:.*]] = simt.local_dot %[[A]] : f16 [1, 4], %[[B]] : f16 [4, 1], %[[S0]] depth 8 : tensor<4x4xf32
  // CHECK-NEXT: simt.local_store %[[X]], %[[A]][] base -32 strides [1, 4] {within = 32 : i32}
  // CHECK-NEXT: simt.local_store %[[Y]], %[[B]][] base -32 strides [4, 1] {within = 32 : i32}
  // CHECK-NEXT: %[[S2:.*]] = simt.local_dot %[[A]] : f16 [1, 4], %[[B]] : f16 [4, 1], %[[S1]] depth 8 : tensor<4x4xf32
  // CHECK-NEXT: arith.truncf %[[S2]]
  func.func @product() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<4x16xf16, #f>
    %y = arith.constant dense<2.0> : tensor<16x4xf16, #g>
    %c = arith.constant dense<3.0> : tensor<4x4xf16, #p>
    %a = simt.alloc 128
    simt.local_store %x, %a[] base 0 strides [1, 4] : tensor<4x16xf16, #f>
    %b = simt.alloc 128
    simt.local_store %y, %b[] base 0 strides [4, 1] : tensor<16x4xf16, #g>
    %d = simt.local_dot %a : f16 [1, 4], %b : f16 [4, 1], %c depth 16 : tensor<4x4xf16, #p> -> tensor<4x4xf16, #p>
    return
  }
}

// -----

// A loop over rows, from the last to the first: its iterations in two parts, the buffers with half of the rows, what it carries from part to
// part. What it reads at random stays whole.
#x = #simt.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4]], warp = [[8, 0]], dims = [16, 8]>
#h = #simt.layout<register = [], lane = [[1], [2], [4]], warp = [[0]], dims = [8]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<shared_bytes = 600, warp_size = 8>} {
  // CHECK-LABEL: func.func @rows
  // CHECK: %[[X:.*]] = arith.constant {{.*}} : tensor<16x8xf32
  // CHECK: %[[H:.*]] = arith.constant {{.*}} : tensor<8xf32
  func.func @rows() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<16x8xf32, #x>
    %h = arith.constant dense<2.0> : tensor<8xf32, #h>
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c8 = arith.constant 8 : i32
    %c14 = arith.constant 14 : i32
    %c15 = arith.constant 15 : i32
    %c16 = arith.constant 16 : i32
    // CHECK-DAG: %[[A:.*]] = simt.alloc 256
    // CHECK-DAG: %[[B:.*]] = simt.alloc 256
    %a = simt.alloc 512
    simt.local_store %x, %a[] base 0 strides [8, 1] : tensor<16x8xf32, #x>
    %b = simt.alloc 512
    // CHECK: simt.local_store %[[X]], %[[A]][] base -64 strides [8, 1] {within = 64 : i32}
    // CHECK: %[[L:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c2{{.*}} iter_args(%{{.*}} = %[[H]])
    // CHECK: simt.local_load %[[A]][%{{.*}}] base -64 strides [1] : tensor<8xf32
    // CHECK: simt.local_load %[[A]][%{{.*}}] base -64 strides [1] : tensor<8xf32
    // CHECK: simt.local_store %{{.*}}, %[[B]][%{{.*}}] base -64 strides [1] {disjoint}
    // CHECK: }
    // CHECK: %[[P:.*]] = simt.local_load %[[B]][] base -64 strides [8, 1] {within = 64 : i32}
    // CHECK: simt.local_store %[[X]], %[[A]][] base 0 strides [8, 1] {within = 64 : i32}
    // CHECK: %[[M:.*]] = scf.for %{{.*}} = %c8{{.*}} to %c16{{.*}} step %c2{{.*}} iter_args(%{{.*}} = %[[L]])
    // CHECK: simt.local_load %[[A]][%{{.*}}] base 0 strides [1] : tensor<8xf32
    // CHECK: simt.local_store %{{.*}}, %[[B]][%{{.*}}] base 0 strides [1] {disjoint}
    // CHECK: }
    // CHECK: simt.local_load %[[B]][] base 0 strides [8, 1] otherwise %[[P]] : {{.*}} {within = 64 : i32}
    // CHECK: arith.negf %[[M]]
    %l = scf.for %k = %c0 to %c16 step %c2 iter_args(%c = %h) -> (tensor<8xf32, #h>) : i32 {
      %p = arith.subi %c15, %k : i32
      %o = arith.muli %p, %c8 : i32
      %q = arith.subi %c14, %k : i32
      %u = arith.muli %q, %c8 : i32
      %first = simt.local_load %a[%o] base 0 strides [1] : tensor<8xf32, #h>
      %second = simt.local_load %a[%u] base 0 strides [1] : tensor<8xf32, #h>
      %n = arith.addf %c, %first : tensor<8xf32, #h>
      %m = arith.addf %n, %second : tensor<8xf32, #h>
      simt.local_store %n, %b[%o] base 0 strides [1] {disjoint} : tensor<8xf32, #h>
      simt.local_store %m, %b[%u] base 0 strides [1] {disjoint} : tensor<8xf32, #h>
      scf.yield %m : tensor<8xf32, #h>
    }
    %y = simt.local_load %b[] base 0 strides [8, 1] : tensor<16x8xf32, #x>
    %z = arith.negf %l : tensor<8xf32, #h>
    return
  }

  // Rows of two iterations overlap, so parts of the loop would not be alone with theirs: it stays.
  // CHECK-LABEL: func.func @no_overlap
  // CHECK: simt.alloc 1024
  // CHECK-NOT: within
  // CHECK: return
  func.func @no_overlap() attributes {tile.kernel} {
    %h = arith.constant dense<1.0> : tensor<8xf32, #h>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %b = simt.alloc 1024
    scf.for %k = %c0 to %c16 step %c1 : i32 {
      %o = arith.muli %k, %c4 : i32
      simt.local_store %h, %b[%o] base 0 strides [1] : tensor<8xf32, #h>
    }
    %y = simt.local_load %b[] base 0 strides [8, 1] : tensor<16x8xf32, #x>
    return
  }
}
