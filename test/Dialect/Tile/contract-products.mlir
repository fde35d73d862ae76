// RUN: tz-opt %s --split-input-file --tz-tile-contract-products | FileCheck %s

module attributes {tile.target = #tile.target<name = "cpu", units = fma>} {
  // The right one of two products, always: x0*w0 + x1*w1 has the same bits wherever it is computed.
  // CHECK-LABEL: @sum
  // CHECK-SAME:    %[[A:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[C:[^:]*]]: tensor<8xf32>)
  // CHECK-NEXT:    %[[LEFT:.*]] = arith.mulf %[[A]], %[[B]]
  // CHECK-NEXT:    %[[FUSED:.*]] = math.fma %[[A]], %[[C]], %[[LEFT]] : tensor<8xf32>
  // CHECK-NEXT:    return %[[FUSED]]
  func.func @sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.mulf %a, %b fastmath<contract> : tensor<8xf32>
    %1 = arith.mulf %a, %c fastmath<contract> : tensor<8xf32>
    %2 = arith.addf %0, %1 fastmath<contract> : tensor<8xf32>
    return %2 : tensor<8xf32>
  }

  // The left one where it is the only one; nothing is left for others to contract.
  // CHECK-LABEL: @left
  // CHECK-SAME:    %[[A:.*]]: f64, %[[B:.*]]: f64
  // CHECK-NEXT:    %[[FUSED:.*]] = math.fma %[[A]], %[[A]], %[[B]] : f64
  // CHECK-NEXT:    arith.addf %[[FUSED]], %[[B]] : f64
  func.func @left(%a: f64, %b: f64) -> f64 {
    %0 = arith.mulf %a, %a fastmath<contract> : f64
    %1 = arith.addf %0, %b fastmath<contract> : f64
    %2 = arith.addf %1, %b fastmath<contract> : f64
    return %2 : f64
  }

  // c - a*b takes the factor with the other sign, a*b - c the sum.
  // CHECK-LABEL: @differences
  // CHECK-SAME:    %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
  // CHECK-NEXT:    %[[MINUS_A:.*]] = arith.negf %[[A]]
  // CHECK-NEXT:    math.fma %[[MINUS_A]], %[[B]], %[[C]]
  // CHECK-NEXT:    %[[MINUS_C:.*]] = arith.negf %[[C]]
  // CHECK-NEXT:    math.fma %[[A]], %[[C]], %[[MINUS_C]]
  func.func @differences(%a: f32, %b: f32, %c: f32) -> (f32, f32) {
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.subf %c, %0 fastmath<contract> : f32
    %2 = arith.mulf %a, %c fastmath<contract> : f32
    %3 = arith.subf %2, %c fastmath<contract> : f32
    return %1, %3 : f32, f32
  }

  // The sums of a reduction may still take its elements' products: they are computed in one place.
  // CHECK-LABEL: @reduction
  // CHECK-NEXT:    arith.mulf
  // CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<contract>
  func.func @reduction(%a: tensor<8xf32>) -> f32 {
    %0 = arith.mulf %a, %a fastmath<contract> : tensor<8xf32>
    %1 = tile.reduce(%0), 0 : (tensor<8xf32>) -> f32 {
    ^bb0(%x: f32, %y: f32):
      %2 = arith.addf %x, %y fastmath<contract> : f32
      tile.yield %2 : f32
    }
    return %1 : f32
  }

  // A product with another use stays one, as do those of another block, of halves, and those that must be rounded.
  // CHECK-LABEL: @no_product
  // CHECK-NOT:     math.fma
  // CHECK-NOT:     addf {{.*}} fastmath<contract> : f32
  // CHECK:         return
  func.func @no_product(%a: f32, %b: f32, %h: f16, %n: index) -> (f32, f32, f32, f16) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %0, %b fastmath<contract> : f32
    %2 = arith.addf %0, %a fastmath<contract> : f32
    %3 = arith.mulf %b, %b fastmath<contract> : f32
    %4 = scf.for %i = %zero to %n step %one iter_args(%sum = %a) -> f32 {
      %5 = arith.addf %sum, %3 fastmath<contract> : f32
      scf.yield %5 : f32
    }
    %6 = arith.mulf %a, %a : f32
    %7 = arith.addf %6, %b fastmath<contract> : f32
    %8 = arith.mulf %h, %h fastmath<contract> : f16
    %9 = arith.addf %8, %h fastmath<contract> : f16
    %10 = arith.addf %2, %7 : f32
    return %1, %4, %10, %9 : f32, f32, f32, f16
  }
}

// -----

// Without an instruction nothing is contracted.
module attributes {tile.target = #tile.target<name = "cpu">} {
  // CHECK-LABEL: @no_instruction
  // CHECK-NEXT:    arith.mulf
  // CHECK-NEXT:    arith.addf %{{.*}}, %{{.*}} : f32
  func.func @no_instruction(%a: f32, %b: f32) -> f32 {
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %0, %b fastmath<contract> : f32
    return %1 : f32
  }
}
