// RUN: tz-opt %s --tz-guard-division | FileCheck %s

// x / 0 is -1; INT_MIN / -1 is computed as INT_MIN / 1.
// CHECK-LABEL: @signed
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32
func.func @signed(%x: i32, %y: i32) -> i32 {
  // CHECK:      %[[ZERO:.*]] = arith.cmpi eq, %[[Y]]
  // CHECK:      %[[MIN:.*]] = arith.cmpi eq, %[[X]]
  // CHECK:      %[[MINUS:.*]] = arith.cmpi eq, %[[Y]]
  // CHECK:      %[[WRAPS:.*]] = arith.andi %[[MIN]], %[[MINUS]]
  // CHECK:      %[[UNSAFE:.*]] = arith.ori %[[ZERO]], %[[WRAPS]]
  // CHECK:      %[[DIVISOR:.*]] = arith.select %[[UNSAFE]], %{{.*}}, %[[Y]]
  // CHECK:      %[[QUOTIENT:.*]] = arith.divsi %[[X]], %[[DIVISOR]]
  // CHECK:      %[[RESULT:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[QUOTIENT]]
  // CHECK-NEXT: return %[[RESULT]]
  %z = arith.divsi %x, %y : i32
  return %z : i32
}

// x % 0 is x. Unsigned division cannot overflow.
// CHECK-LABEL: @unsigned
// CHECK-SAME:    %[[X:.*]]: vector<4xi64>, %[[Y:.*]]: vector<4xi64>
func.func @unsigned(%x: vector<4xi64>, %y: vector<4xi64>) -> vector<4xi64> {
  // CHECK:      %[[ZERO:.*]] = arith.cmpi eq, %[[Y]]
  // CHECK-NOT:  arith.andi
  // CHECK:      %[[REST:.*]] = arith.remui %[[X]]
  // CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[ZERO]], %[[X]], %[[REST]]
  // CHECK-NEXT: return %[[RESULT]]
  %z = arith.remui %x, %y : vector<4xi64>
  return %z : vector<4xi64>
}

// A constant that is neither 0 nor -1 in any lane is safe, also through a splat.
// CHECK-LABEL: @no_guard_constant
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @no_guard_constant(%x: i32, %v: vector<2xi32>, %t: tensor<8xi32>) -> (i32, vector<2xi32>, tensor<8xi32>) {
  %seven = arith.constant 7 : i32
  %lanes = arith.constant dense<[3, -5]> : vector<2xi32>
  %splat = tile.splat %seven : i32 -> tensor<8xi32>
  %a = arith.remsi %x, %seven : i32
  %b = arith.divsi %v, %lanes : vector<2xi32>
  %c = arith.divsi %t, %splat : tensor<8xi32>
  return %a, %b, %c : i32, vector<2xi32>, tensor<8xi32>
}

// -1 is harmless to unsigned division only.
// CHECK-LABEL: @minus_one
// CHECK:         arith.divui %{{.*}}, %[[MINUS:.*]] : i32
// CHECK:         arith.select
// CHECK:         arith.divsi
func.func @minus_one(%x: i32) -> (i32, i32) {
  %minus = arith.constant -1 : i32
  %a = arith.divui %x, %minus : i32
  %b = arith.divsi %x, %minus : i32
  return %a, %b : i32, i32
}
