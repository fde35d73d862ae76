// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// One lane at a time, a lane whose mask is false not at all; an exchange gives back what was there.
// CHECK-LABEL: @atomics(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[LANE:.*]] = arith.cmpi slt, %{{.*}} : i32
// CHECK:             %[[OLD:.*]] = scf.if %[[LANE]] -> (i32)
// CHECK:               llvm.atomicrmw add %{{.*}}, %{{.*}} acq_rel
// CHECK:             } else {
// CHECK:             llvm.store %[[OLD]]
// CHECK:         llvm.atomicrmw fadd %{{.*}}, %{{.*}} monotonic : !llvm.ptr, f32
// CHECK:         llvm.cmpxchg
func.func @atomics(%x: !tile.ptr<i32>, %y: !tile.ptr<f32>, %n: i32, %f: f32) attributes {tile.kernel} {
  %at = tile.arange 0 to 8 : tensor<8xi32>
  %ns = tile.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %at : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  %old = tile.atomic_rmw add, %xp, %at mask %m : tensor<8xi1> : tensor<8x!tile.ptr<i32>>, tensor<8xi32> -> tensor<8xi32>
  %of = tile.atomic_rmw fadd, %y, %f {sem = 0 : i32} : !tile.ptr<f32>, f32 -> f32
  %c = tile.atomic_cas %x, %n, %n : !tile.ptr<i32>, i32
  return
}
