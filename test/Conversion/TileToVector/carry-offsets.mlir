// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The loop carries one i64; the pointers are contiguous again, and so is the load.
// CHECK-LABEL: @carried_pointers(
// CHECK:         scf.for {{.*}} iter_args(%[[OFFSET:.*]] = %{{.*}}) -> (i64)
// CHECK:           %[[NEXT:.*]] = arith.addi %[[OFFSET]]
// CHECK:           %[[BYTES:.*]] = arith.muli %[[OFFSET]]
// CHECK:           %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[BYTES]]
// CHECK:           %[[PTR:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK-NEXT:      llvm.load %[[PTR]] {{.*}} -> vector<16xf32>
// CHECK-NOT:       gather
// CHECK:           scf.yield %[[NEXT]] : i64
func.func @carried_pointers(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %stride = arith.constant dense<16> : tensor<16xi32>
  %sum0 = arith.constant dense<0.0> : tensor<16xf32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %xp, %sum = %sum0) -> (tensor<16x!tile.ptr<f32>>, tensor<16xf32>) : i32 {
    %a = tile.load %p : tensor<16x!tile.ptr<f32>> -> tensor<16xf32>
    %next = arith.addf %sum, %a : tensor<16xf32>
    %q = tile.addptr %p, %stride : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    scf.yield %q, %next : tensor<16x!tile.ptr<f32>>, tensor<16xf32>
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  tile.store %yp, %r#1 : tensor<16x!tile.ptr<f32>>, tensor<16xf32>
  return
}

// Lanes that move by different amounts have no common offset.
// CHECK-LABEL: @no_carry_by_tile(
// CHECK:         scf.for
// CHECK-NEXT:      %[[STARTS:.*]] = vector.broadcast
// CHECK-NOT:       iter_args
// CHECK:           llvm.intr.masked.gather
// CHECK:         return
func.func @no_carry_by_tile(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %r = scf.for %i = %zero to %n step %one iter_args(%p = %xs) -> (tensor<16x!tile.ptr<f32>>) : i32 {
    %a = tile.load %p : tensor<16x!tile.ptr<f32>> -> tensor<16xf32>
    tile.store %p, %a : tensor<16x!tile.ptr<f32>>, tensor<16xf32>
    %q = tile.addptr %p, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    scf.yield %q : tensor<16x!tile.ptr<f32>>
  }
  return
}
