// RUN: tz-opt %s --tz-expand-math | FileCheck %s
// RUN: tz-opt %s --tz-expand-math=f16-arithmetic | FileCheck %s --check-prefix=F16

// Arithmetic is done in f32 and rounded; flags stay with the op.
// CHECK-LABEL: @add
// CHECK:         %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[Y:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[X]], %[[Y]] fastmath<contract> : f32
// CHECK:         arith.truncf %[[SUM]] : f32 to f16
// F16-LABEL:   @add
// F16-NEXT:      arith.addf %{{.*}} : f16
func.func @add(%x: f16, %y: f16) -> f16 {
  %z = arith.addf %x, %y fastmath<contract> : f16
  return %z : f16
}

// The sign is one bit.
// CHECK-LABEL: @negate
// CHECK:         arith.xori %{{.*}} : vector<4xi16>
// CHECK-NOT:     arith.negf
// CHECK:         return
func.func @negate(%x: vector<4xbf16>) -> vector<4xbf16> {
  %y = arith.negf %x : vector<4xbf16>
  return %y : vector<4xbf16>
}

// A maximum is one of its operands, so nothing is rounded.
// CHECK-LABEL: @maximum
// CHECK-NOT:     arith.maxnumf
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @maximum(%x: f16, %y: f16) -> f16 {
  %z = arith.maxnumf %x, %y : f16
  return %z : f16
}

// A comparison gives no float to round.
// CHECK-LABEL: @compare
// CHECK:         %[[C:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    return %[[C]]
func.func @compare(%x: bf16, %y: bf16) -> i1 {
  %c = arith.cmpf olt, %x, %y : bf16
  return %c : i1
}

// Functions are those of f32.
// CHECK-LABEL: @function
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         math.fma %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @function(%x: f16) -> f16 {
  %y = math.exp2 %x : f16
  return %y : f16
}

// Large integers reach f64 with a sticky bit, so that only the last step rounds.
// CHECK-LABEL: @integer
// CHECK:         arith.sitofp %{{.*}} : i64 to f64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func @integer(%x: i64) -> bf16 {
  %y = arith.sitofp %x : i64 to bf16
  return %y : bf16
}

// CHECK-LABEL: @no_expansion_select
// CHECK-NEXT:    arith.select
// CHECK-NEXT:    return
func.func @no_expansion_select(%c: i1, %x: bf16, %y: bf16) -> bf16 {
  %z = arith.select %c, %x, %y : bf16
  return %z : bf16
}
