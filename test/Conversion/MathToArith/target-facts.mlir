// RUN: tz-opt %s --tz-expand-math | FileCheck %s

// The facts of `tile.target` decide: this chip converts bf16 itself but has no F16C.
module attributes {tile.target = {name = "cpu", bf16}} {
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
