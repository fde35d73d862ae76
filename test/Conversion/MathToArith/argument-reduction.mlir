// RUN: tz-opt %s --tz-expand-math | FileCheck %s

// Vectors branch around the reduction of huge angles when no lane needs it.
// CHECK-LABEL: @sin_of_a_vector
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK-NEXT:    scf.if %[[ANY]] -> (vector<8xf32>, vector<8xi32>)
// CHECK:           arith.mului_extended
// CHECK:         } else {
// CHECK-NEXT:      scf.yield
func.func @sin_of_a_vector(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// A scalar's condition needs no reduction.
// CHECK-LABEL: @cos_of_a_scalar
// CHECK-NOT:     vector.reduction
// CHECK:         scf.if
func.func @cos_of_a_scalar(%x: f64) -> f64 {
  %y = math.cos %x : f64
  return %y : f64
}

// A tile has no "any lane": both reductions are evaluated.
// CHECK-LABEL: @no_branch_for_a_tile
// CHECK-NOT:     scf.if
// CHECK:         arith.mului_extended
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @no_branch_for_a_tile(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.sin %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// sincos reduces once.
// CHECK-LABEL: @sincos
// CHECK-COUNT-1: scf.if
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @sincos(%x: f32) -> (f32, f32) {
  %s, %c = math.sincos %x : f32
  return %s, %c : f32, f32
}
