// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

module attributes {tile.strict} {
  // Halves: of 24 elements 8 have a partner 16 further, of the 16 that are left each has one 8 further, and so on. In the
  // last rounds, which are shorter than a vector, the same pairs are formed.
  // CHECK-LABEL: func.func @sum(
  // CHECK:         %[[X:.*]] = llvm.alloca
  // CHECK:           %[[A:.*]] = llvm.load %[[X]] {{.*}} -> vector<8xf32>
  // CHECK:           %[[AT:.*]] = llvm.getelementptr %[[X]][16]
  // CHECK-NEXT:      %[[B:.*]] = llvm.load %[[AT]] {{.*}} -> vector<8xf32>
  // CHECK-NEXT:      %[[C:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
  // CHECK-NEXT:      llvm.store %[[C]], %[[X]]
  // CHECK:           llvm.getelementptr %[[X]][8]
  // CHECK:           arith.addf {{.*}} : vector<8xf32>
  // CHECK:           llvm.getelementptr %[[X]][4]
  // CHECK:           arith.addf {{.*}} : vector<4xf32>
  // CHECK:           llvm.getelementptr %[[X]][2]
  // CHECK:           arith.addf {{.*}} : vector<2xf32>
  // CHECK:           llvm.getelementptr %[[X]][1]
  // CHECK:           arith.addf {{.*}} : f32
  func.func @sum(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
    %at = tile.arange 0 to 24 : tensor<24xi32>
    %xs = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
    %xp = tile.addptr %xs, %at : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
    %v = tile.load %xp : tensor<24x!tile.ptr<f32>> -> tensor<24xf32>
    %r = tile.reduce(%v), 0 : (tensor<24xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    tile.store %y, %r : !tile.ptr<f32>, f32
    return
  }

  // A difference does not commute: neighbours, one pair after the other, and the third moves up.
  // CHECK-LABEL: func.func @difference(
  // CHECK:         %[[X:.*]] = llvm.alloca
  // CHECK:           %[[FIRST:.*]] = arith.subf
  // CHECK-NEXT:      llvm.store %[[FIRST]], %[[X]]
  // CHECK:           llvm.getelementptr %[[X]][2]
  // CHECK:           llvm.getelementptr %[[X]][1]
  // CHECK-NOT:       arith.subf
  // CHECK:           llvm.store
  // CHECK:           arith.subf
  func.func @difference(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
    %at = tile.arange 0 to 3 : tensor<3xi32>
    %xs = tile.splat %x : !tile.ptr<f32> -> tensor<3x!tile.ptr<f32>>
    %xp = tile.addptr %xs, %at : tensor<3x!tile.ptr<f32>>, tensor<3xi32>
    %v = tile.load %xp : tensor<3x!tile.ptr<f32>> -> tensor<3xf32>
    %r = tile.reduce(%v), 0 : (tensor<3xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      tile.yield %s : f32
    }
    tile.store %y, %r : !tile.ptr<f32>, f32
    return
  }
}
