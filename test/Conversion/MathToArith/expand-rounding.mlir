// RUN: tz-opt %s --split-input-file --tz-expand-math | FileCheck %s

// Without SSE4.1 a magnitude is rounded by adding 2^23, and one that is larger stays.
module attributes {tile.target = #tile.target<name = "cpu", units = f16>} {
  // CHECK-LABEL: @to_nearest
  // CHECK-SAME:    (%[[X:.*]]: vector<4xf32>)
  // CHECK-NOT:     math.roundeven
  // CHECK-DAG:     %[[UNIT:.*]] = arith.constant dense<0x4B000000>
  // CHECK-DAG:     %[[SIZE:.*]] = math.absf %[[X]]
  // CHECK:         %[[SUM:.*]] = arith.addf %[[SIZE]], %[[UNIT]]
  // CHECK:         arith.subf %[[SUM]], %[[UNIT]]
  // CHECK:         arith.select %{{.*}}, %{{.*}}, %[[X]]
  func.func @to_nearest(%x: vector<4xf32>) -> vector<4xf32> {
    %y = math.roundeven %x : vector<4xf32>
    return %y : vector<4xf32>
  }

  // Those of formulas go too.
  // CHECK-LABEL: @in_a_formula
  // CHECK-NOT:     math.trunc
  // CHECK:         return
  func.func @in_a_formula(%x: f32, %y: f32) -> f32 {
    %z = math.powf %x, %y : f32
    return %z : f32
  }
}

// -----

// Where it is an instruction it stays.
module attributes {tile.target = #tile.target<name = "cpu", units = f16|rounding>} {
  // CHECK-LABEL: @native
  // CHECK-NEXT:    math.floor
  func.func @native(%x: f64) -> f64 {
    %y = math.floor %x : f64
    return %y : f64
  }
}
