// RUN: tz-opt %s --tz-expand-math | FileCheck %s

// Vectors divide until no lane has anything left; the remainder comes from one FMA.
// CHECK-LABEL: @vector
// CHECK:         scf.while (%[[R:.*]] = %{{.*}})
// CHECK:           %[[LEFT:.*]] = arith.cmpf oge, %[[R]]
// CHECK:           %[[ANY:.*]] = vector.reduction <or>, %[[LEFT]]
// CHECK:           scf.condition(%[[ANY]])
// CHECK:           %[[RATIO:.*]] = arith.divf
// CHECK:           %[[QUOTIENT:.*]] = math.trunc %[[RATIO]]
// CHECK:           %[[MINUS:.*]] = arith.negf %[[QUOTIENT]]
// CHECK:           math.fma %[[MINUS]]
func.func @vector(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %z = arith.remf %x, %y : vector<8xf32>
  return %z : vector<8xf32>
}

// A tile takes as many steps as the widest ratio of the format needs.
// CHECK-LABEL: @tile
// CHECK:         %[[STEPS:.*]] = arith.constant 14 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[STEPS]]
func.func @tile(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.remf %x, %y : tensor<8xf32>
  return %z : tensor<8xf32>
}
