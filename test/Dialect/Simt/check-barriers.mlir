// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-check-barriers --verify-diagnostics

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// What --tz-insert-barriers would have put right is reported, with the access that it races with.
func.func @missing() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  // expected-note @+1 {{the earlier access}}
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  // expected-error @+1 {{needs a barrier after an earlier access of the same shared memory}}
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}
