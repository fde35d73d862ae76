// RUN: tz-opt %s --tz-expand-math | FileCheck %s

// The inner loop of attention: 14 operations, no branch, no division, one select.
// CHECK-LABEL: @exp_of_a_vector
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
func.func @exp_of_a_vector(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK:         %[[ABOVE:.*]] = arith.cmpf olt, %[[LIMIT:.*]], %[[X]]
  // CHECK-NEXT:    %[[BOUNDED:.*]] = arith.select %[[ABOVE]], %[[LIMIT]], %[[X]]
  // CHECK:         %[[SUM:.*]] = math.fma %[[BOUNDED]]
  // CHECK:         %[[N:.*]] = arith.subf %[[SUM]]
  // CHECK:         %[[BITS:.*]] = arith.bitcast %[[SUM]]
  // CHECK-COUNT-8: math.fma
  // CHECK-NOT:     math.fma
  // CHECK:         %[[FLUSHED:.*]] = arith.cmpf olt, %[[X]]
  // CHECK:         arith.shli %[[BITS]]
  // CHECK:         %[[SCALED:.*]] = arith.mulf
  // CHECK:         %[[RESULT:.*]] = arith.select %[[FLUSHED]], %{{.*}}, %[[SCALED]]
  // CHECK-NEXT:    return %[[RESULT]]
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Scalars and tiles take the same formula as vectors.
// CHECK-LABEL: @other_shapes
// CHECK-NOT:     math.log
// CHECK:         math.fma {{.*}} : f32
// CHECK:         math.fma {{.*}} : tensor<4x8xf64>
func.func @other_shapes(%x: f32, %t: tensor<4x8xf64>) -> (f32, tensor<4x8xf64>) {
  %y = math.log %x : f32
  %u = math.log2 %t : tensor<4x8xf64>
  return %y, %u : f32, tensor<4x8xf64>
}

// Constants that two formulas of a block share are emitted once.
// CHECK-LABEL: @shared_constants
// CHECK-COUNT-1: arith.constant 8.900000e+01
// CHECK-NOT:     arith.constant 8.900000e+01
// CHECK:         return
func.func @shared_constants(%x: f32) -> f32 {
  %y = math.exp %x : f32
  %z = math.exp %y : f32
  return %z : f32
}

// No fast-math flag survives: it would undo the error-free steps.
// CHECK-LABEL: @flags_are_dropped
// CHECK-NOT:     fastmath
// CHECK:         return
func.func @flags_are_dropped(%x: f32) -> f32 {
  %y = math.tanh %x fastmath<fast> : f32
  return %y : f32
}

// What hardware does by itself stays.
// CHECK-LABEL: @no_expansion_native
// CHECK-NEXT:    math.sqrt
// CHECK-NEXT:    math.floor
// CHECK-NEXT:    math.fma
// CHECK-NEXT:    math.absf
// CHECK-NEXT:    math.ctpop
// CHECK-NEXT:    return
func.func @no_expansion_native(%x: f32, %i: i32) -> (f32, i32) {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.fma %b, %b, %x : f32
  %d = math.absf %c : f32
  %j = math.ctpop %i : i32
  return %d, %j : f32, i32
}
