// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --tz-print-layout -o /dev/null | FileCheck %s
// RUN: tz-opt %s --tz-print-layout=cells=4 -o /dev/null | FileCheck %s --check-prefix=CUT

#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], dims = [2, 4]>
#copies = #simt.layout<register = [], lane = [[1], [0]], warp = [[2]], dims = [4]>
#swizzle = #simt.layout<offset = [[0, 1], [1, 1]], dims = [2, 2]>
#small = #simt.layout<register = [[0, 1]], lane = [[1, 0], [0, 0]], warp = [], dims = [2, 2]>

// Each layout once, in the order of use, however many values have it; block arguments count.
// CHECK:      #simt.layout<register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2], [1, 0]], warp = [], dims = [2, 4]>
// CHECK-NEXT: 3 values of tensor<2x4xf32>
// CHECK-NEXT: 1 value of tensor<2x3xi1>
// CHECK-NEXT: [0]: r0 l0  r1 l0  r0 l1  r1 l1
// CHECK-NEXT: [1]: r0 l2  r1 l2  r0 l3  r1 l3
// CHECK-EMPTY:

// Who hold copies stand side by side.
// CHECK-NEXT: #simt.layout<register = [], lane = {{\[\[}}1], [0]], warp = {{\[\[}}2]], dims = [4]>
// CHECK-NEXT: 1 value of tensor<4xi32>
// CHECK-NEXT: l0 w0 | l2 w0  l1 w0 | l3 w0  l0 w1 | l2 w1  l1 w1 | l3 w1
// CHECK-EMPTY:

// CHECK-NEXT: #simt.layout<register = {{\[\[}}0, 1]], lane = {{\[\[}}1, 0], [0, 0]], warp = [], dims = [2, 2]>
// CHECK-NEXT: 2 values of tensor<2x2xf32>
// CHECK-NEXT: [0]: r0 l0 | r0 l2  r1 l0 | r1 l2
// CHECK-NEXT: [1]: r0 l1 | r0 l3  r1 l1 | r1 l3
// CHECK-EMPTY:

// The layout of a buffer says where in it an element lies.
// CHECK-NEXT: #simt.layout<offset = {{\[\[}}0, 1], [1, 1]], dims = [2, 2]>
// CHECK-NEXT: 2 swizzles
// CHECK-NEXT: [0]: o0  o1
// CHECK-NEXT: [1]: o3  o2

// CUT:      3 values of tensor<2x4xf32>
// CUT-NEXT: 1 value of tensor<2x3xi1>
// CUT-NEXT: [0]: r0 l0  r1 l0  r0 l1  r1 l1
// CUT-NEXT: ... 4 more elements
func.func @kernel(%n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = arith.constant dense<1.0> : tensor<2x4xf32, #row>
  %m = arith.constant dense<true> : tensor<2x3xi1, #row>
  %r = scf.for %i = %c0 to %n step %n iter_args(%c = %x) -> (tensor<2x4xf32, #row>) : i32 {
    %k = arith.constant dense<1> : tensor<4xi32, #copies>
    scf.yield %c : tensor<2x4xf32, #row>
  }
  %y = arith.constant dense<1.0> : tensor<2x2xf32, #small>
  %b = simt.alloc 16
  simt.local_store %y, %b[] base 0 strides [] swizzle #swizzle : tensor<2x2xf32, #small>
  %z = simt.local_load %b[] base 0 strides [] swizzle #swizzle : tensor<2x2xf32, #small>
  return
}
