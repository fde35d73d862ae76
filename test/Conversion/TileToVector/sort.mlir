// RUN: tz-opt %s --tz-tile-to-vector --canonicalize --split-input-file | FileCheck %s

// The code does not grow with the extent: within a vector the stages of its network are written out, 10 of 16 lanes
// and 4 at the end of each longer block; all others are loops.
// CHECK-LABEL: func.func @along(
// CHECK:         scf.for
// CHECK-COUNT-20:  vector.shuffle
// CHECK-NOT:       vector.shuffle
// CHECK:         scf.for %[[LEVEL:.*]] = %{{.*}} to
// CHECK:           %[[BLOCK:.*]] = arith.shli %{{.*}}, %[[LEVEL]]
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               arith.cmpf ugt
// CHECK:               arith.select
// CHECK:               arith.select
// CHECK:           scf.for
// CHECK-COUNT-8:     vector.shuffle
// CHECK-NOT:       vector.shuffle
// CHECK:         return
module attributes {tile.target = #tile.target<name = "cpu", vector_bytes = 32>} {
  func.func @along(%p: !tile.ptr<f32>) attributes {tile.kernel} {
    %at = tile.arange 0 to 4096 : tensor<4096xi32>
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
    %a = tile.addptr %ps, %at : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %x = tile.load %a : tensor<4096x!tile.ptr<f32>> -> tensor<4096xf32>
    %s = tile.sort %x, 0 : tensor<4096xf32>
    tile.store %a, %s : tensor<4096x!tile.ptr<f32>>, tensor<4096xf32>
    return
  }
}

// -----

// Across the rows an exchange is one of whole vectors: nothing is shuffled, and what the axis lacks of a power of two
// is filled with what sorts last.
// CHECK-LABEL: func.func @across(
// CHECK:         arith.constant dense<-2147483648> : vector<16xi32>
// CHECK-NOT:     vector.shuffle
// CHECK:         arith.shrui
// CHECK:         %[[LOW:.*]] = llvm.load %{{.*}} -> vector<16xi32>
// CHECK:         %[[HIGH:.*]] = llvm.load %{{.*}} -> vector<16xi32>
// CHECK:         arith.cmpi sgt, %[[LOW]], %[[HIGH]]
// CHECK-NOT:     vector.shuffle
// CHECK:         return
module attributes {tile.target = #tile.target<name = "cpu", vector_bytes = 32>} {
  func.func @across(%p: !tile.ptr<i32>) attributes {tile.kernel} {
    %r = tile.arange 0 to 6 : tensor<6xi32>
    %c = tile.arange 0 to 16 : tensor<16xi32>
    %re = tile.expand_dims %r, 1 : tensor<6xi32> -> tensor<6x1xi32>
    %ce = tile.expand_dims %c, 0 : tensor<16xi32> -> tensor<1x16xi32>
    %rb = tile.broadcast %re : tensor<6x1xi32> -> tensor<6x16xi32>
    %cb = tile.broadcast %ce : tensor<1x16xi32> -> tensor<6x16xi32>
    %n = arith.constant dense<16> : tensor<6x16xi32>
    %rn = arith.muli %rb, %n : tensor<6x16xi32>
    %at = arith.addi %rn, %cb : tensor<6x16xi32>
    %ps = tile.splat %p : !tile.ptr<i32> -> tensor<6x16x!tile.ptr<i32>>
    %a = tile.addptr %ps, %at : tensor<6x16x!tile.ptr<i32>>, tensor<6x16xi32>
    %x = tile.load %a : tensor<6x16x!tile.ptr<i32>> -> tensor<6x16xi32>
    %s = tile.sort %x, 0 descending : tensor<6x16xi32>
    tile.store %a, %s : tensor<6x16x!tile.ptr<i32>>, tensor<6x16xi32>
    return
  }
}
