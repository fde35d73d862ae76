// RUN: tz-opt %s --tz-expand-math | FileCheck %s
// RUN: tz-opt %s --tz-expand-math=bf16-native | FileCheck %s --check-prefix=BF16
// RUN: tz-opt %s --tz-expand-math=f16-native=false | FileCheck %s --check-prefix=SOFT

// Round to nearest even in integers; a NaN gets its quiet bit.
// CHECK-LABEL: @truncate_bf16
// CHECK-SAME:    %[[X:.*]]: f32
// BF16-LABEL:  @truncate_bf16
// BF16-NEXT:     arith.truncf
func.func @truncate_bf16(%x: f32) -> bf16 {
  // CHECK:     %[[UPPER:.*]] = arith.shrui
  // CHECK:     %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK:     %[[QUIET:.*]] = arith.ori %[[UPPER]]
  // CHECK:     %[[CODE:.*]] = arith.select %[[NAN]], %[[QUIET]]
  // CHECK:     %[[SHORT:.*]] = arith.trunci %[[CODE]] : i32 to i16
  // CHECK:     arith.bitcast %[[SHORT]] : i16 to bf16
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// f64 goes to f32 with an odd last bit first, so that it is rounded once.
// CHECK-LABEL: @truncate_f64
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK-NEXT:    %[[F32:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK-NEXT:    arith.extf %[[F32]]
// CHECK:         arith.ori
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @truncate_f64(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// f16 converts in hardware, unless the target says otherwise.
// CHECK-LABEL: @f16_conversions
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    arith.truncf
// SOFT-LABEL:  @f16_conversions
// SOFT-NOT:      arith.extf
// SOFT-NOT:      arith.truncf
// SOFT:          return
func.func @f16_conversions(%x: vector<8xf16>) -> vector<8xf16> {
  %y = arith.extf %x : vector<8xf16> to vector<8xf32>
  %z = arith.truncf %y : vector<8xf32> to vector<8xf16>
  return %z : vector<8xf16>
}

// f8E5M2 is the upper half of f16.
// CHECK-LABEL: @widen_f8
// CHECK:         %[[BITS:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
// CHECK-NEXT:    %[[WORD:.*]] = arith.extui %[[BITS]] : i8 to i16
// CHECK:         %[[HALF:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK-NEXT:    arith.extf %[[HALF]] : f16 to f32
func.func @widen_f8(%x: f8E5M2) -> f32 {
  %y = arith.extf %x : f8E5M2 to f32
  return %y : f32
}

// Truncation only shifts.
// CHECK-LABEL: @toward_zero
// CHECK-NOT:     arith.addi
// CHECK:         return
func.func @toward_zero(%x: f32) -> bf16 {
  %y = arith.truncf %x toward_zero : f32 to bf16
  return %y : bf16
}

// Floats that are in no table stay.
// CHECK-LABEL: func @other_floats
// CHECK-NEXT:    arith.truncf %{{.*}} : f128 to f16
// CHECK-NEXT:    arith.extf %{{.*}} : bf16 to f128
func.func @other_floats(%x: f128, %y: bf16) -> (f16, f128) {
  %a = arith.truncf %x : f128 to f16
  %b = arith.extf %y : bf16 to f128
  return %a, %b : f16, f128
}
