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

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#f = #simt.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 16]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>

// A product reads its factors until a wait, whatever barriers there are; and its sum is not there before.
func.func @in_flight() attributes {tile.kernel} {
  %f = arith.constant dense<1.0> : tensor<64x16xf16, #f>
  %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %m = simt.alloc 2048 at 0
  // expected-note @+2 {{the earlier access}}
  // expected-note @+1 {{the product}}
  %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, tensor<64x8xf32, #acc>
  simt.barrier units
  // expected-error @+1 {{needs a wait after an earlier access of the same shared memory}}
  simt.local_store %f, %m[] base 0 strides [] swizzle #a : tensor<64x16xf16, #f>
  // expected-error @+1 {{reads a result that is still in flight}}
  %y = arith.negf %x : tensor<64x8xf32, #acc>
  simt.barrier
  %z = simt.mma_wait 0 of (%x : tensor<64x8xf32, #acc>) reading %m -> tensor<64x8xf32, #acc>
  simt.barrier
  simt.local_store %f, %m[] base 0 strides [] swizzle #a : tensor<64x16xf16, #f>
  return
}

// A slot is released when its product has been waited for.
func.func @release(%c: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %sum = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %m = simt.alloc 2048 at 0 {ring = 0 : i64}
  %free = simt.alloc 8 at 2048
  // expected-note @+1 {{the earlier access}}
  %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %sum by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, tensor<64x8xf32, #acc>
  // expected-error @+1 {{needs a wait after an earlier access of the same shared memory}}
  simt.mbarrier_arrive %free[%c0] if %c releases %m
  %z = simt.mma_wait 0 of (%x : tensor<64x8xf32, #acc>) reading %m -> tensor<64x8xf32, #acc>
  simt.mbarrier_arrive %free[%c0] if %c releases %m
  return
}
