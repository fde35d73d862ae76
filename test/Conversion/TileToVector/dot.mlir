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

// While a part of K is multiplied, the next one is fetched, if there is one: four of its rows, of eight lines each,
// beside each of 42 blocks of registers.
// CHECK-LABEL: @next_part(
// CHECK:         scf.for %[[I:.*]] = %c0_i32 to %[[N:.*]] step %c128_i32
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %
// CHECK:           %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK:           %[[HERE:.*]] = arith.andi %[[MORE]], %
// CHECK:           scf.if %[[HERE]] {
// CHECK-NEXT:        scf.for %{{.*}} = %c0_i64 to %c4_i64 step
// CHECK-COUNT-8:       llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:           math.fma
func.func @next_part(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i32, %pitch: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %acc0 = arith.constant dense<0.0> : tensor<128x32xf32>
  %i = tile.arange 0 to 128 : tensor<128xi32>
  %j = tile.arange 0 to 32 : tensor<32xi32>
  %rows = tile.expand_dims %i, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %inner = tile.expand_dims %i, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %p = tile.splat %pitch : i32 -> tensor<128x1xi32>
  %scaled = arith.muli %rows, %p : tensor<128x1xi32>
  %r = tile.broadcast %scaled : tensor<128x1xi32> -> tensor<128x128xi32>
  %c = tile.broadcast %inner : tensor<1x128xi32> -> tensor<128x128xi32>
  %at = arith.addi %r, %c : tensor<128x128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  %one = arith.constant 1.0 : f32
  %w = tile.splat %one : f32 -> tensor<128x32xf32>
  %moves = tile.splat %step : i32 -> tensor<128x128xi32>
  %sum:2 = scf.for %k = %zero to %n step %step iter_args(%acc = %acc0, %xk = %xp) -> (tensor<128x32xf32>, tensor<128x128x!tile.ptr<f32>>) : i32 {
    %a = tile.load %xk : tensor<128x128x!tile.ptr<f32>> -> tensor<128x128xf32>
    %next = tile.dot %a, %w, %acc : tensor<128x128xf32>, tensor<128x32xf32> -> tensor<128x32xf32>
    %xn = tile.addptr %xk, %moves : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
    scf.yield %next, %xn : tensor<128x32xf32>, tensor<128x128x!tile.ptr<f32>>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<128x32x!tile.ptr<f32>>
  tile.store %zs, %sum#0 : tensor<128x32x!tile.ptr<f32>>, tensor<128x32xf32>
  return
}
