// RUN: tz-opt %s --tz-expand-math=fma=false | FileCheck %s
// RUN: tz-opt %s --tz-expand-math | FileCheck %s --check-prefix=NATIVE

// Without an instruction the product is an f64, the sum is rounded to odd, and rounded once more. That of f64 is a call.
// CHECK-LABEL: @fma
// CHECK-SAME:    %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f64
// CHECK:         %[[WA:.*]] = arith.extf %[[A]] : f32 to f64
// CHECK:         %[[WB:.*]] = arith.extf %[[B]] : f32 to f64
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[WA]], %[[WB]]
// CHECK:         %[[WC:.*]] = arith.extf %[[C]] : f32 to f64
// CHECK:         %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[WC]]
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[SUM]] : f64 to i64
// CHECK:         arith.andi %[[BITS]]
// CHECK:         %[[ODD:.*]] = arith.bitcast %{{.*}} : i64 to f64
// CHECK:         arith.truncf %[[ODD]] : f64 to f32
// CHECK:         call @fma_0(%[[D]], %[[D]], %[[D]])
// NATIVE-LABEL: @fma
// NATIVE:         math.fma %{{.*}} : f32
// NATIVE-NEXT:    math.fma %{{.*}} : f64
func.func @fma(%a: f32, %b: f32, %c: f32, %d: f64) -> (f32, f64) {
  %x = math.fma %a, %b, %c : f32
  %y = math.fma %d, %d, %d : f64
  return %x, %y : f32, f64
}

// Those of formulas are expanded too, vectors as well.
// CHECK-LABEL: @formula
// CHECK-NOT:     math.fma
// CHECK:         return
func.func @formula(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x : vector<4xf32>
  return %y : vector<4xf32>
}

// The function of f64 needs no wider float, and is one for all calls of its type. Its name is free.
// CHECK-LABEL: func.func private @fma_0(%{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64) -> f64
// CHECK-SAME:    noinline
// CHECK-NOT:     math.fma
// CHECK:         arith.mului_extended
// CHECK-NOT:     func.func
