// RUN: tz-opt %s --split-input-file --tz-expand-math | FileCheck %s

// The facts of `tile.target` decide: this chip converts bf16 itself but has no F16C.
module attributes {tile.target = #tile.target<name = "cpu", units = bf16>} {
  // CHECK-LABEL: @f16_in_code
  // CHECK-NOT:     arith.extf
  // CHECK:         return
  func.func @f16_in_code(%x: f16) -> f32 {
    %y = arith.extf %x : f16 to f32
    return %y : f32
  }

  // CHECK-LABEL: @bf16_stays
  // CHECK-NEXT:    arith.truncf
  func.func @bf16_stays(%x: f32) -> bf16 {
    %y = arith.truncf %x : f32 to bf16
    return %y : bf16
  }
}

// -----

// Beside f16 a maximum is made of comparisons: the second where the first is NaN, the first where the second is.
module attributes {tile.target = #tile.target<name = "cpu", units = f16|select_min_max>} {
  // CHECK-LABEL: @beside_halves
  // CHECK-SAME: (%[[H:.*]]: vector<4xf16>, %[[Y:.*]]: vector<4xf32>)
  // CHECK: %[[X:.*]] = arith.extf %[[H]]
  // CHECK: %[[WINS:.*]] = arith.cmpf ogt, %[[Y]], %[[X]]
  // CHECK: %[[FIRST:.*]] = arith.select %[[WINS]], %[[Y]], %[[X]]
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: arith.select %[[NAN]], %[[Y]], %[[FIRST]]
  func.func @beside_halves(%h: vector<4xf16>, %y: vector<4xf32>) -> (vector<4xf16>, vector<4xf32>) {
    %n = arith.negf %h : vector<4xf16>
    %x = arith.extf %h : vector<4xf16> to vector<4xf32>
    %m = arith.maxnumf %x, %y : vector<4xf32>
    return %n, %m : vector<4xf16>, vector<4xf32>
  }
}

// -----

// Where there is no f16 it stays an instruction.
module attributes {tile.target = #tile.target<name = "cpu", units = f16|select_min_max>} {
  // CHECK-LABEL: @without_halves
  // CHECK-NEXT: arith.minnumf
  func.func @without_halves(%x: f32, %y: f32) -> f32 {
    %m = arith.minnumf %x, %y : f32
    return %m : f32
  }
}
