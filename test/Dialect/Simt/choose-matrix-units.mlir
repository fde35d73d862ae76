// RUN: tz-opt %s --split-input-file --tz-choose-matrix-units | FileCheck %s

// f16 factors of a sum in f16: computed in f32, rounded once at the end.
// CHECK-LABEL: func.func @half
// CHECK: %[[ACC:.*]] = arith.extf %arg2 : tensor<32x32xf16> to tensor<32x32xf32>
// CHECK: %[[SUM:.*]] = simt.mma %arg0, %arg1, %[[ACC]] by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>
// CHECK: arith.truncf %[[SUM]] : tensor<32x32xf32> to tensor<32x32xf16>
// 8-bit floats that sm_80 does not multiply become f16, which is exact.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : tensor<32x32xf8E5M2> to tensor<32x32xf16>
// CHECK: simt.mma %[[WIDE]], %arg1
// f32 stays as it is unless tf32 is asked for.
// CHECK-LABEL: func.func @single
// CHECK: tile.dot
// CHECK: simt.mma {{.*}} lhs = tf32, rhs = tf32
// A tile that is smaller than the instruction, and a depth that is no multiple of its own.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-2: tile.dot
module attributes {tile.target = #tile.target<warp_size = 32, matrix = mma_sm80>} {
  func.func @half(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf16>) -> tensor<32x32xf16> {
    %d = tile.dot %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf16>
    return %d : tensor<32x32xf16>
  }
  func.func @narrow(%a: tensor<32x32xf8E5M2>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %d = tile.dot %a, %b, %c : tensor<32x32xf8E5M2>, tensor<32x32xf16> -> tensor<32x32xf32>
    return %d : tensor<32x32xf32>
  }
  func.func @single(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %d = tile.dot %a, %b, %c : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    %e = tile.dot %a, %b, %d {precision = 1 : i32} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    return %e : tensor<32x32xf32>
  }
  func.func @small(%a: tensor<16x4xf16>, %b: tensor<4x16xf16>, %c: tensor<16x16xf32>, %d: tensor<8x16xf16>,
                   %e: tensor<16x16xf16>, %f: tensor<8x16xf32>) -> (tensor<16x16xf32>, tensor<8x16xf32>) {
    %g = tile.dot %a, %b, %c : tensor<16x4xf16>, tensor<4x16xf16> -> tensor<16x16xf32>
    %h = tile.dot %d, %e, %f : tensor<8x16xf16>, tensor<16x16xf16> -> tensor<8x16xf32>
    return %g, %h : tensor<16x16xf32>, tensor<8x16xf32>
  }
}

// -----

// The larger instruction where each warp gets one, the smaller where not.
// CHECK-LABEL: func.func @by_size
// CHECK: simt.mma {{.*}} m = 32, n = 32, k = 8
// CHECK: simt.mma {{.*}} m = 16, n = 16, k = 16
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 64, matrix = mfma_gfx942>} {
  func.func @by_size(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>, %d: tensor<64x32xf16>,
                     %e: tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
    %f = tile.dot %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %g = tile.dot %a, %d, %e : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
    return %f, %g : tensor<64x64xf32>, tensor<64x32xf32>
  }
}

// -----

// Strict kernels add in one order on all chips.
// CHECK-LABEL: func.func @strict
// CHECK: tile.dot
module attributes {tile.strict, tile.target = #tile.target<warp_size = 64, matrix = mfma_gfx942>} {
  func.func @strict(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %f = tile.dot %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    return %f : tensor<64x64xf32>
  }
}

// -----

// wgmma takes 8-bit floats and tf32 only along K. The first product is loaded so, and may be summed with fewer bits; the second must not be
// (32 of 64 products); the right factor of the third lies across: both become f16. That of the last comes by way of a transposition.
// CHECK-LABEL: func.func @along
// CHECK: simt.mma {{.*}} by <family = wgmma, m = 64, n = 32, k = 32, lhs = f8E4M3FN, rhs = f8E4M3FN, acc = f32>
// CHECK: simt.mma {{.*}} by <family = wgmma, m = 64, n = 64, k = 16, lhs = f16, rhs = f16, acc = f32>
// CHECK: simt.mma {{.*}} by <family = wgmma, m = 64, n = 64, k = 16, lhs = f16, rhs = f16, acc = f32>
// CHECK: simt.mma {{.*}} by <family = wgmma, m = 64, n = 64, k = 8, lhs = tf32, rhs = tf32, acc = f32>
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @along(%a: !tile.ptr<f8E4M3FN>, %f: !tile.ptr<f32>, %c: tensor<64x64xf32>, %d: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x64xf32>) {
    %k = tile.arange 0 to 64 : tensor<64xi32>
    %stride = arith.constant dense<64> : tensor<64x1xi32>
    %row = tile.expand_dims %k, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %rows = arith.muli %row, %stride : tensor<64x1xi32>
    %column = tile.expand_dims %k, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %r = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %q = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %o = arith.addi %r, %q : tensor<64x64xi32>
    %turned = tile.transpose %o, [1, 0] : tensor<64x64xi32> -> tensor<64x64xi32>
    %base = tile.splat %a : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
    %pl = tile.addptr %base, %o : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %pt = tile.addptr %base, %turned : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %left = tile.load %pl : tensor<64x64x!tile.ptr<f8E4M3FN>> -> tensor<64x64xf8E4M3FN>
    %across = tile.load %pl : tensor<64x64x!tile.ptr<f8E4M3FN>> -> tensor<64x64xf8E4M3FN>
    %computed = arith.constant dense<1.0> : tensor<64x32xf8E4M3FN>
    %right = tile.load %pt : tensor<64x64x!tile.ptr<f8E4M3FN>> -> tensor<64x64xf8E4M3FN>
    %w = tile.dot %left, %computed, %d {maxNumImpreciseAcc = 64 : i32} : tensor<64x64xf8E4M3FN>, tensor<64x32xf8E4M3FN> -> tensor<64x32xf32>
    %x = tile.dot %left, %right, %c {maxNumImpreciseAcc = 32 : i32} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    %y = tile.dot %left, %across, %x {maxNumImpreciseAcc = 64 : i32} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    %bf = tile.splat %f : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %pf = tile.addptr %bf, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %lf = tile.load %pf : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
    %tf = tile.transpose %lf, [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %z = tile.dot %lf, %tf, %y {precision = 1 : i32} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %w, %z : tensor<64x32xf32>, tensor<64x64xf32>
  }
}
