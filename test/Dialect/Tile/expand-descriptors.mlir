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
