// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// Backwards from the last element; the suffix so far is the first operand of the combination.
// CHECK-LABEL: @reverse_sum(
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 15 : i64
// CHECK:         %[[OUT:.*]] = llvm.alloca
// CHECK:         %[[IN:.*]] = llvm.alloca
// CHECK:         %[[FROM:.*]] = llvm.getelementptr %[[IN]][15]
// CHECK:         %[[START:.*]] = llvm.load %[[FROM]]
// CHECK:         scf.for %[[STEP:.*]] = {{.*}} iter_args(%[[SUFFIX:.*]] = %[[START]]) -> (i32)
// CHECK:           %[[AT:.*]] = arith.subi %[[LAST]], %[[STEP]]
// CHECK:           llvm.getelementptr %[[IN]][%[[AT]]]
// CHECK:           %[[SUM:.*]] = arith.addi %[[SUFFIX]], %{{.*}} : i32
// CHECK:           %[[TO:.*]] = llvm.getelementptr %[[OUT]][%[[AT]]]
// CHECK:           llvm.store %[[SUM]], %[[TO]]
// CHECK:           scf.yield %[[SUM]]
func.func @reverse_sum(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %v = tile.load %xp : tensor<16x!tile.ptr<i32>> -> tensor<16xi32>
  %s = tile.scan(%v), 0 reverse : (tensor<16xi32>) -> tensor<16xi32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %xp, %s : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  return
}

// The carried state goes through the loop; outputs land where their step was.
// CHECK-LABEL: @recurrence(
// CHECK:         %[[OUT:.*]] = llvm.alloca
// CHECK:         %[[STATE:.*]] = scf.for %[[STEP:.*]] = {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[NEXT:.*]] = arith.mulf %[[CARRY]]
// CHECK:           %[[TO:.*]] = llvm.getelementptr %[[OUT]][%[[STEP]]]
// CHECK:           llvm.store %[[CARRY]], %[[TO]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         llvm.store %[[STATE]]
func.func @recurrence(%x: !tile.ptr<f32>, %i: f32) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %v = arith.sitofp %at : tensor<16xi32> to tensor<16xf32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %l, %o = tile.recurrence init(%i) over(%v), 0 : (f32, tensor<16xf32>) -> (f32, tensor<16xf32>) {
  ^bb0(%c: f32, %e: f32):
    %d = arith.mulf %c, %e : f32
    tile.yield %d, %c : f32, f32
  }
  tile.store %xp, %o : tensor<16x!tile.ptr<f32>>, tensor<16xf32>
  tile.store %x, %l : !tile.ptr<f32>, f32
  return
}
