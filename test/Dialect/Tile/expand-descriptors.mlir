// RUN: tz-opt %s --split-input-file --verify-diagnostics --tz-tile-expand-descriptors | FileCheck %s

// The offsets move a scalar pointer; each axis adds its steps and its part of the mask. A stride of 1 is no product.
// CHECK-LABEL: @load
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i64, %[[N:.*]]: i64, %[[S:.*]]: i64, %[[I:.*]]: i32, %[[J:.*]]: i64
// CHECK:         %[[WIDE:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK:         %[[ROW:.*]] = arith.muli %[[WIDE]], %[[S]] : i64
// CHECK:         %[[R:.*]] = arith.extsi %{{.*}} : tensor<4xi32> to tensor<4xi64>
// CHECK:         %[[SS:.*]] = tile.splat %[[S]]
// CHECK:         arith.muli %[[R]], %[[SS]] : tensor<4xi64>
// CHECK:         tile.expand_dims %{{.*}}, 1
// CHECK:         %[[ROWS:.*]] = tile.broadcast
// CHECK:         %[[START:.*]] = arith.addi %[[ROW]], %[[J]] : i64
// CHECK:         tile.expand_dims %{{.*}}, 0
// CHECK:         %[[COLUMNS:.*]] = tile.broadcast
// CHECK:         %[[STEPS:.*]] = arith.addi %[[ROWS]], %[[COLUMNS]] : tensor<4x8xi64>
// CHECK:         %[[FIRST:.*]] = tile.addptr %[[P]], %[[START]]
// CHECK:         %[[BASE:.*]] = tile.splat %[[FIRST]]
// CHECK:         %[[PLACES:.*]] = tile.addptr %[[BASE]], %[[STEPS]]
// CHECK:         %[[MS:.*]] = tile.splat %[[M]]
// CHECK:         arith.cmpi slt, %{{.*}}, %[[MS]] : tensor<4xi64>
// CHECK:         %[[NS:.*]] = tile.splat %[[N]]
// CHECK:         arith.cmpi slt, %{{.*}}, %[[NS]] : tensor<8xi64>
// CHECK:         %[[MASK:.*]] = arith.andi %{{.*}} : tensor<4x8xi1>
// CHECK:         %[[X:.*]] = tile.load %[[PLACES]] mask %[[MASK]] : tensor<4x8xi1> {evict = 1 : i32}
// CHECK:         return %[[X]]
func.func @load(%p: !tile.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i32, %j: i64) -> tensor<4x8xf16> {
  %narrow = arith.constant 1 : i32
  %one = arith.extsi %narrow : i32 to i64
  %d = tile.make_descriptor %p, [%m, %n], [%s, %one] : !tile.descriptor<4x8xf16>
  %x = tile.descriptor_load %d[%i, %j : i32, i64] {evict = 1 : i32} : !tile.descriptor<4x8xf16> -> tensor<4x8xf16>
  return %x : tensor<4x8xf16>
}

// -----

// NaN is what masked lanes give; a store writes none of them.
// CHECK-LABEL: @padding
// CHECK:         %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:         %[[OTHER:.*]] = tile.splat %[[NAN]]
// CHECK:         %[[X:.*]] = tile.load %{{.*}} mask %{{.*}} : tensor<8xi1> other %[[OTHER]]
// CHECK:         tile.store %{{.*}}, %[[X]] mask %{{.*}} : tensor<8xi1>
// CHECK-NOT:     descriptor
func.func @padding(%p: !tile.ptr<f32>, %n: i64) {
  %one = arith.constant 1 : i64
  %d = tile.make_descriptor %p, [%n], [%one] : !tile.descriptor<8xf32, nan>
  %x = tile.descriptor_load %d[%n : i64] : !tile.descriptor<8xf32, nan> -> tensor<8xf32>
  tile.descriptor_store %d[%n : i64], %x : !tile.descriptor<8xf32, nan>, tensor<8xf32>
  return
}

// -----

// A descriptor that comes from elsewhere has no base to expand.
func.func @argument(%d: !tile.descriptor<8xf32>, %i: i32) {
  // expected-error @below {{'tile.descriptor_load' op needs a descriptor that 'tile.make_descriptor' makes, found one that comes from elsewhere}}
  %x = tile.descriptor_load %d[%i : i32] : !tile.descriptor<8xf32> -> tensor<8xf32>
  return
}

// -----

// Nor does one that goes elsewhere.
func.func @result(%p: !tile.ptr<f32>, %n: i64) -> !tile.descriptor<8xf32> {
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.descriptor<8xf32>
  // expected-error @below {{'func.return' op takes a descriptor, which only loads and stores of blocks may}}
  return %d : !tile.descriptor<8xf32>
}

// -----

// A chip with a copy engine may have the factors of products in loops whose descriptors follow from arguments by products: of
// arguments and constants, narrow ones made wider after the product or before.
// CHECK-LABEL: @factors
// CHECK:         %[[A:.*]] = tile.load
// CHECK:         %[[X:.*]] = tile.block_hint %[[A]][%[[I:.*]], %[[I]]] <base = 0, element = f16, shape = [#[[N:.*]], #[[N]]], strides = [#tile.arg_product<factor = 4, args = [3], bytes = 4>], box = []>
// CHECK:         tile.transpose %[[X]]
// CHECK:         %[[B:.*]] = tile.load
// CHECK:         tile.block_hint %[[B]][%{{.*}}] <{{.*}}strides = [#tile.arg_product<factor = 8, args = [2]>], box = []>
// CHECK-NOT:     tile.block_hint
module attributes {tile.target = #tile.target<warp_size = 32, units = tensor_copy>} {
  func.func @factors(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16>, %m: i32,
                     %s: i32 {tile.divisibility = 16 : i32}, %acc: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %four = arith.constant 4 : i32
    %half = arith.constant 8 : i64
    %wide = arith.extsi %m : i32 to i64
    %narrow = arith.muli %s, %four : i32
    %stride = arith.extsi %narrow : i32 to i64
    %eight = arith.muli %wide, %half : i64
    %d = tile.make_descriptor %p, [%wide, %wide], [%stride, %one] : !tile.descriptor<16x16xf16>
    %e = tile.make_descriptor %p, [%wide, %wide], [%eight, %one] : !tile.descriptor<16x16xf16>
    %unaligned = tile.make_descriptor %q, [%wide, %wide], [%eight, %one] : !tile.descriptor<16x16xf16>
    %odd = tile.make_descriptor %p, [%wide, %wide], [%wide, %one] : !tile.descriptor<16x16xf16>
    %r:2 = scf.for %i = %c0 to %m step %c1 iter_args(%u = %acc, %v = %acc) -> (tensor<16x16xf32>, tensor<16x16xf32>) : i32 {
      %a = tile.descriptor_load %d[%i, %i : i32, i32] : !tile.descriptor<16x16xf16> -> tensor<16x16xf16>
      %t = tile.transpose %a, [1, 0] : tensor<16x16xf16> -> tensor<16x16xf16>
      %b = tile.descriptor_load %e[%i, %i : i32, i32] : !tile.descriptor<16x16xf16> -> tensor<16x16xf16>
      %x = tile.dot %t, %b, %u : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
      %f = tile.descriptor_load %unaligned[%i, %i : i32, i32] : !tile.descriptor<16x16xf16> -> tensor<16x16xf16>
      %g = tile.descriptor_load %odd[%i, %i : i32, i32] : !tile.descriptor<16x16xf16> -> tensor<16x16xf16>
      %y = tile.dot %f, %g, %v : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %x, %y : tensor<16x16xf32>, tensor<16x16xf32>
    }
    return %r#0, %r#1 : tensor<16x16xf32>, tensor<16x16xf32>
  }
}
