// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-check-barriers --verify-diagnostics

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// What --tz-insert-barriers would have put right is reported, with the access that it races with: a read of what another
// thread has written,
func.func @read_after_write() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  // expected-note @+1 {{the earlier access}}
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  // expected-error @+1 {{needs a barrier after an earlier access of the same shared memory}}
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// a write over what another may not have read yet,
func.func @write_after_read() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  // expected-note @+1 {{the earlier access}}
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  // expected-error @+1 {{needs a barrier after an earlier access of the same shared memory}}
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// and one that only the next round of a loop makes.
func.func @next_round(%n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{needs a barrier after an earlier access of the same shared memory}}
    simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
    simt.barrier
    // expected-note @+1 {{the earlier access}}
    %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  }
  return
}

// A barrier between the two is enough, and two reads need none.
func.func @none_barrier() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  simt.barrier
  %y = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  %z = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
  return
}

// Other bytes are nobody's business.
func.func @none_elsewhere() attributes {tile.kernel} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #l>
  %b = simt.alloc 256 at 0
  %c = simt.alloc 256 at 256
  simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
  %y = simt.local_load %c[] base 0 strides [1] : tensor<64xf32, #l>
  return
}
