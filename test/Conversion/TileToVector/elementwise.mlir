// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The tile is never in memory: load, add and store share one strip of two vector registers (2 x 32 bytes).
// CHECK-LABEL: @add(
// CHECK-DAG:     %[[WIDTH:.*]] = arith.constant 16 : i64
// CHECK-DAG:     %[[EXTENT:.*]] = arith.constant 64 : i64
// CHECK-NOT:     llvm.alloca
// CHECK:         scf.for %[[PROGRAM:.*]] =
// CHECK-NEXT:      scf.for %[[AT:.*]] = %{{.*}} to %[[EXTENT]] step %[[WIDTH]]
// CHECK:             %[[A:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK:             %[[B:.*]] = arith.addf %[[A]], %[[A]] : vector<16xf32>
// CHECK:             llvm.store %[[B]], %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-NOT:       scf.for
// CHECK:         return
func.func @add(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.store %xp, %b : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// The second reader comes after a store that might have changed the argument, so the square root is kept, not computed again.
// CHECK-LABEL: @two_readers(
// CHECK:         %[[KEPT:.*]] = llvm.alloca
// CHECK:         %[[ROOT:.*]] = math.sqrt
// CHECK:         llvm.getelementptr %[[KEPT]]
// CHECK:         llvm.store %[[ROOT]]
// CHECK:         llvm.store %[[ROOT]]
// CHECK:         scf.for
// CHECK-NOT:       math.sqrt
// CHECK:           llvm.getelementptr %[[KEPT]]
// CHECK:         return
func.func @two_readers(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %zp = tile.addptr %zs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %s = math.sqrt %a : tensor<64xf32>
  tile.store %yp, %s : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  tile.store %zp, %s : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}
