// RUN: tz-opt %s --tz-print-axis-info --verify-diagnostics --split-input-file -o /dev/null

// A row-wise load: the pointers are aligned by 16 bytes, the mask holds for 16 elements at a time.
func.func @pointers(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  // expected-remark @below {{contiguity [64], divisibility [4611686018427387904], constancy [1]}}
  %range = tile.arange 0 to 64 : tensor<64xi32>
  // expected-remark @below {{contiguity [1], divisibility [16], constancy [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [16]}}
  %mask = arith.cmpi slt, %range, %ns : tensor<64xi32>
  // expected-remark @below {{contiguity [1], divisibility [16], constancy [64], vector 1, order [0]}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  // expected-remark @below {{contiguity [64], divisibility [16], constancy [1], vector 4, order [0]}}
  %ptr = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %ptr mask %mask : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  return
}

// -----

// What a loop carries is what both its start and its step allow.
func.func @carried(%n: index) {
  // expected-remark @below {{divisibility [8], constancy [1], constant 24}}
  %start = arith.constant 24 : i32
  // expected-remark @below {{constant 20}}
  %step = arith.constant 20 : i32
  // expected-remark @below {{constant 0}}
  %c0 = arith.constant 0 : index
  // expected-remark @below {{constant 1}}
  %c1 = arith.constant 1 : index
  // expected-remark @below {{contiguity [1], divisibility [4], constancy [1]}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> i32 {
    // expected-remark @below {{contiguity [1], divisibility [4], constancy [1]}}
    %b = arith.addi %a, %step : i32
    scf.yield %b : i32
  }
  return
}
