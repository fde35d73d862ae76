// RUN: tz-opt %s --canonicalize | FileCheck %s

// Shape ops that change nothing go.
// CHECK-LABEL: @identities
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[P:.*]]: !tile.ptr<f32>
// CHECK-NEXT:    return %[[X]], %[[X]], %[[X]], %[[P]]
func.func @identities(%x: tensor<4x8xf32>, %p: !tile.ptr<f32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, !tile.ptr<f32>) {
  %a = tile.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %b = tile.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %c = tile.transpose %x, [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %d = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<f32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, !tile.ptr<f32>
}

// A square tile keeps its type under a transpose, but not its elements.
// CHECK-LABEL: @no_fold_transpose
// CHECK-NEXT:    tile.transpose
func.func @no_fold_transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = tile.transpose %x, [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}

// Row-major order survives any way round, so only the ends count.
// CHECK-LABEL: @reshape_chain
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[X]] : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK-NEXT:    return %[[R]], %[[X]]
func.func @reshape_chain(%x: tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) {
  %a = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %b = tile.reshape %a : tensor<32xf32> -> tensor<2x16xf32>
  %c = tile.reshape %a : tensor<32xf32> -> tensor<4x8xf32>
  return %b, %c : tensor<2x16xf32>, tensor<4x8xf32>
}

// An address has no pointee: the casts in between do not matter.
// CHECK-LABEL: @ptr_cast_chain
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>
// CHECK-NEXT:    return %[[P]]
func.func @ptr_cast_chain(%p: !tile.ptr<f32>) -> !tile.ptr<f32> {
  %a = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<i8>
  %b = tile.ptr_cast %a : !tile.ptr<i8> -> !tile.ptr<f32>
  return %b : !tile.ptr<f32>
}

// CHECK-LABEL: @addptr_zero
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>
// CHECK-NEXT:    return %[[P]]
func.func @addptr_zero(%p: !tile.ptr<f32>) -> !tile.ptr<f32> {
  %zero = arith.constant 0 : i64
  %q = tile.addptr %p, %zero : !tile.ptr<f32>, i64
  return %q : !tile.ptr<f32>
}

// An unread load goes, an unread volatile one stays.
// CHECK-LABEL: @loads
// CHECK-NEXT:    tile.load %{{.*}} {isVolatile}
// CHECK-NEXT:    return
func.func @loads(%p: !tile.ptr<f32>) {
  %a = tile.load %p : !tile.ptr<f32> -> f32
  %b = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  return
}

// A side effect without results stays.
// CHECK-LABEL: @effects
// CHECK:         tile.assume
// CHECK:         tile.atomic_rmw
// CHECK:         tile.barrier
func.func @effects(%p: !tile.ptr<i32>, %x: i32, %c: i1) {
  tile.assume %c
  %old = tile.atomic_rmw add, %p, %x : !tile.ptr<i32>, i32 -> i32
  tile.barrier
  return
}
