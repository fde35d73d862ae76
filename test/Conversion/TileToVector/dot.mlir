// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The loop-carried sum stays in one buffer: it is loaded from there, kept in registers over K and stored back.
// CHECK-LABEL: @accumulator(
// CHECK:         llvm.alloca
// CHECK:         llvm.alloca
// CHECK:         %[[ACC:.*]] = llvm.alloca
// CHECK-NOT:     llvm.alloca
// CHECK:         %[[FIRST:.*]] = llvm.load %[[ACC]] {{.*}} -> vector<8xf32>
// CHECK:         %[[TILE:.*]]:12 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]],
// CHECK:           math.fma %{{.*}}, %{{.*}}, %[[SUM]] : vector<8xf32>
// CHECK:         llvm.store %[[TILE]]#0, %[[ACC]]
func.func @accumulator(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 1.0 : f32
  %a = tile.splat %f : f32 -> tensor<8x4xf32>
  %b = tile.splat %f : f32 -> tensor<4x16xf32>
  %acc0 = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %acc0) -> (tensor<8x16xf32>) : i32 {
    %next = tile.dot %a, %b, %acc : tensor<8x4xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
  tile.store %xs, %r : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xf32>
  return
}
