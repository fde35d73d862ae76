// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-allocate-shared --verify-diagnostics | FileCheck %s

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// A buffer's place is free for others after its last access; one that a loop reads lives until the loop ends.
// CHECK: module attributes {simt.shared_bytes = 12288 : i64}
module {
  // CHECK-LABEL: func.func @reuse
  func.func @reuse(%n: i32) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = arith.constant dense<1.0> : tensor<64xf32, #l>
    // CHECK: simt.alloc 8192 at 0
    %a = simt.alloc 8192
    simt.local_store %x, %a[] base 0 strides [1] : tensor<64xf32, #l>
    %y = simt.local_load %a[] base 0 strides [1] : tensor<64xf32, #l>
    // CHECK: simt.alloc 8192 at 0
    // CHECK: simt.alloc 4096 at 8192
    %b = simt.alloc 8192
    %c = simt.alloc 4096
    simt.local_store %y, %b[] base 0 strides [1] : tensor<64xf32, #l>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %z = simt.local_load %b[] base 0 strides [1] : tensor<64xf32, #l>
      simt.local_store %z, %c[] base 0 strides [1] : tensor<64xf32, #l>
    }
    return
  }
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], dims = [64]>

// What does not fit is an error at the largest of the buffers that are there together.
module attributes {tile.target = #tile.target<shared_bytes = 4096>} {
  func.func @toomuch() attributes {tile.kernel} {
    %x = arith.constant dense<1.0> : tensor<64xf32, #l>
    %early = simt.alloc 10000
    simt.local_store %x, %early[] base 0 strides [1] : tensor<64xf32, #l>
    %y = simt.local_load %early[] base 0 strides [1] : tensor<64xf32, #l>
    %a = simt.alloc 8192
    // expected-error @+1 {{out of resources: shared memory: required 17408 bytes, the limit is 4096; 9216 of them are for this, and smaller tiles need less}}
    %b = simt.alloc 9216
    simt.local_store %x, %a[] base 0 strides [1] : tensor<64xf32, #l>
    simt.local_store %x, %b[] base 0 strides [1] : tensor<64xf32, #l>
    %z = simt.local_load %a[] base 0 strides [1] : tensor<64xf32, #l>
    return
  }
}
