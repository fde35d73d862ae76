// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// Along the lanes: whole vectors are combined first, then halves, so the order of elements within a strip is kept.
// CHECK-LABEL: @row_sums(
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK:           %[[NEXT:.*]] = arith.addf %[[ACC]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK:         vector.shuffle %[[SUM]], %[[SUM]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:         vector.shuffle %[[SUM]], %[[SUM]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:         arith.addf %{{.*}} : vector<8xf32>
// CHECK:         arith.addf %{{.*}} : vector<4xf32>
// CHECK:         arith.addf %{{.*}} : vector<2xf32>
// CHECK:         %[[ROW:.*]] = arith.addf %{{.*}} : f32
// CHECK:         llvm.store %[[ROW]]
func.func @row_sums(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 8 : tensor<8xi32>
  %j = tile.arange 0 to 64 : tensor<64xi32>
  %c = arith.constant dense<64> : tensor<8xi32>
  %ri = arith.muli %i, %c : tensor<8xi32>
  %ie = tile.expand_dims %ri, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %je = tile.expand_dims %j, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %ib = tile.broadcast %ie : tensor<8x1xi32> -> tensor<8x64xi32>
  %jb = tile.broadcast %je : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %ib, %jb : tensor<8x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<8x64x!tile.ptr<f32>>, tensor<8x64xi32>
  %a = tile.load %xp : tensor<8x64x!tile.ptr<f32>> -> tensor<8x64xf32>
  %r = tile.reduce(%a), 1 : (tensor<8x64xf32>) -> tensor<8xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  tile.store %yp, %r : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  return
}

// Across the lanes: each lane is a column of its own and nothing is shuffled.
// CHECK-LABEL: @column_sums(
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK:           arith.addf %[[ACC]], %{{.*}} : vector<16xf32>
// CHECK-NOT:     vector.shuffle
// CHECK:         llvm.store %[[SUM]]
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @column_sums(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 8 : tensor<8xi32>
  %j = tile.arange 0 to 64 : tensor<64xi32>
  %c = arith.constant dense<64> : tensor<8xi32>
  %ri = arith.muli %i, %c : tensor<8xi32>
  %ie = tile.expand_dims %ri, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %je = tile.expand_dims %j, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %ib = tile.broadcast %ie : tensor<8x1xi32> -> tensor<8x64xi32>
  %jb = tile.broadcast %je : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %ib, %jb : tensor<8x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<8x64x!tile.ptr<f32>>, tensor<8x64xi32>
  %a = tile.load %xp : tensor<8x64x!tile.ptr<f32>> -> tensor<8x64xf32>
  %r = tile.reduce(%a), 0 : (tensor<8x64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %j : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %yp, %r : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}
