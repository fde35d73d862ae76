// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-tile-to-simt --verify-diagnostics

// Ops of other dialects may make tensors that are no tiles.
func.func @no_tile() attributes {tile.kernel} {
  // expected-error @below {{'arith.constant' op makes no tile: expected extents of 1 to 1073741824 and elements of i1, or of integers, floats or pointers of 8 to 64 bits, found 'tensor<4xi7>'}}
  %a = arith.constant dense<1> : tensor<4xi7>
  return
}
