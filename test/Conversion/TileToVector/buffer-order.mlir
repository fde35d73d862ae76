// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The order of a buffer is chosen once what it reads lies in memory. The row
// statistic %r is loaded along dimension 0, but reaches %v from a buffer; with
// %x in rows, %v is written in rows, too, as vectors and not lane by lane.
// CHECK-LABEL: func.func @rows_beside_a_row_statistic
// CHECK-NOT:     vector.extract
// CHECK:         %[[E:.*]] = math.exp {{.*}} : vector<16xf32>
// CHECK-NOT:     vector.extract
// CHECK:         llvm.store %[[E]], {{.*}} : vector<16xf32>
func.func @rows_beside_a_row_statistic(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>) attributes {tile.kernel} {
  %flat = tile.arange 0 to 1024 : tensor<1024xi32>
  %pa = tile.splat %a : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %qa = tile.addptr %pa, %flat : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %l = tile.load %qa : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %x = tile.reshape %l : tensor<1024xf32> -> tensor<32x32xf32>
  %i = tile.arange 0 to 32 : tensor<32xi32>
  %pb = tile.splat %b : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %qb = tile.addptr %pb, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %r = tile.load %qb : tensor<32x!tile.ptr<f32>> -> tensor<32xf32>
  %re = tile.expand_dims %r, 1 : tensor<32xf32> -> tensor<32x1xf32>
  %rb = tile.broadcast %re : tensor<32x1xf32> -> tensor<32x32xf32>
  %d = arith.subf %x, %rb : tensor<32x32xf32>
  %v = math.exp %d : tensor<32x32xf32>
  %j = tile.expand_dims %i, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %jb = tile.broadcast %j : tensor<1x32xi32> -> tensor<32x32xi32>
  %g = tile.gather %v[%jb], 0 : tensor<32x32xf32>, tensor<32x32xi32> -> tensor<32x32xf32>
  %pg = tile.splat %a : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  tile.store %pg, %g : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}
