// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// Both branches write the tile to one place.
// CHECK-LABEL: @branch(
// CHECK:         %[[TILE:.*]] = llvm.alloca
// CHECK-NOT:     llvm.alloca
// CHECK:         scf.if
// CHECK-NEXT:      llvm.store %{{.*}}, %[[TILE]] {{.*}} !llvm.ptr
// CHECK-NEXT:    } else {
// CHECK-NEXT:      llvm.store %{{.*}}, %[[TILE]] {{.*}} !llvm.ptr
// CHECK-NEXT:    }
// CHECK-NEXT:    llvm.load %[[TILE]]
func.func @branch(%x: !tile.ptr<i32>, %c: i1) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %r = scf.if %c -> tensor<16xi32> {
    %d = arith.muli %at, %at : tensor<16xi32>
    scf.yield %d : tensor<16xi32>
  } else {
    scf.yield %at : tensor<16xi32>
  }
  tile.store %xp, %r : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  return
}

// The loop carries only the scalar, polls for cancellation, and squares the tile where it lies.
// CHECK-LABEL: @while_loop(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[CONTEXT:.*]]: !llvm.ptr
// CHECK:         %[[TILE:.*]] = llvm.alloca
// CHECK-NOT:     llvm.alloca
// CHECK:         scf.while (%[[I:.*]] = %{{.*}}) : (i32) -> i32
// CHECK:           llvm.getelementptr %[[CONTEXT]][16]
// CHECK:           llvm.load volatile
// CHECK:           scf.condition
// CHECK:         } do {
// CHECK:           %[[OLD:.*]] = llvm.load %[[TILE]]
// CHECK:           %[[SQUARE:.*]] = arith.muli %[[OLD]], %[[OLD]] : vector<16xi32>
// CHECK:           llvm.store %[[SQUARE]], %[[TILE]]
// CHECK:           scf.yield %{{.*}} : i32
func.func @while_loop(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %r:2 = scf.while (%i = %zero, %t = %at) : (i32, tensor<16xi32>) -> (i32, tensor<16xi32>) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %t : i32, tensor<16xi32>
  } do {
  ^bb0(%i: i32, %t: tensor<16xi32>):
    %j = arith.addi %i, %one : i32
    %d = arith.muli %t, %t : tensor<16xi32>
    scf.yield %j, %d : i32, tensor<16xi32>
  }
  tile.store %xp, %r#1 : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  return
}

// An unsigned range stays one, also where the loop comes to carry an offset instead of pointers.
// CHECK-LABEL: @unsigned_range(
// CHECK:         scf.for unsigned
// CHECK:         scf.for unsigned {{.*}} iter_args
func.func @unsigned_range(%x: !tile.ptr<i64>, %low: i64, %high: i64) attributes {tile.kernel} {
  %one = arith.constant 1 : i64
  %step = arith.constant dense<16> : tensor<16xi32>
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<i64> -> tensor<16x!tile.ptr<i64>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<i64>>, tensor<16xi32>
  scf.for unsigned %i = %low to %high step %one : i64 {
    tile.store %x, %i : !tile.ptr<i64>, i64
  }
  %last = scf.for unsigned %i = %low to %high step %one iter_args(%p = %xp) -> (tensor<16x!tile.ptr<i64>>) : i64 {
    %n = tile.addptr %p, %step : tensor<16x!tile.ptr<i64>>, tensor<16xi32>
    scf.yield %n : tensor<16x!tile.ptr<i64>>
  }
  %v = tile.splat %high : i64 -> tensor<16xi64>
  tile.store %last, %v : tensor<16x!tile.ptr<i64>>, tensor<16xi64>
  return
}
