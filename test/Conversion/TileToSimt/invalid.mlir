// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-tile-to-simt --verify-diagnostics

// Ops of other dialects may make tensors that are no tiles.
func.func @no_tile() attributes {tile.kernel} {
  // expected-error @below {{'arith.constant' op makes no tile: expected extents of 1 to 1073741824 and elements of i1, or of integers, floats or pointers of 8 to 64 bits, found 'tensor<4xi7>'}}
  %a = arith.constant dense<1> : tensor<4xi7>
  return
}

// -----

// A group of four warps computes this product together.
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @few_warps() attributes {tile.kernel} {
    %a = arith.constant dense<1.0> : tensor<64x64xf16>
    %c = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @below {{'simt.mma' op needs a group of warps for its instruction, more than the 2 of the block}}
    %d = simt.mma %a, %a, %c by <family = wgmma, m = 64, n = 64, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    return
  }
}
