// RUN: tz-opt %s | tz-opt | FileCheck %s
// RUN: tz-opt %s --mlir-print-op-generic | tz-opt | FileCheck %s

// CHECK-LABEL: @program
func.func @program() -> (i32, i32) {
  // CHECK: tile.program_id 0
  // CHECK: tile.num_programs 2
  %p = tile.program_id 0
  %n = tile.num_programs 2
  return %p, %n : i32, i32
}

// CHECK-LABEL: @creation
func.func @creation(%x: f32, %p: !tile.ptr<f32>) -> tensor<4xi32> {
  // CHECK: tile.arange -2 to 2 : tensor<4xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<2x4xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %a = tile.arange -2 to 2 : tensor<4xi32>
  %s = tile.splat %x : f32 -> tensor<2x4xf32>
  %t = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  return %a : tensor<4xi32>
}

// What gives the same elements another shape; no rank at all is one.
// CHECK-LABEL: @shape
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<2x3xf32>
func.func @shape(%x: tensor<4xf32>, %y: tensor<2x3xf32>, %one: tensor<1xf32>) {
  // CHECK: %[[E:.*]] = tile.expand_dims %[[X]], 1 : tensor<4xf32> -> tensor<4x1xf32>
  // CHECK: tile.broadcast %[[E]] : tensor<4x1xf32> -> tensor<4x8xf32>
  // CHECK: tile.reshape %[[Y]] : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<1xf32> -> tensor<f32>
  // CHECK: tile.transpose %[[Y]], [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK: tile.flip %[[Y]], 1 : tensor<2x3xf32>
  %e = tile.expand_dims %x, 1 : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %e : tensor<4x1xf32> -> tensor<4x8xf32>
  %r = tile.reshape %y : tensor<2x3xf32> -> tensor<6xf32>
  %s = tile.reshape %one : tensor<1xf32> -> tensor<f32>
  %t = tile.transpose %y, [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %f = tile.flip %y, 1 : tensor<2x3xf32>
  return
}

// What takes tiles apart and puts them together. Dropped dimensions leave the type.
// CHECK-LABEL: @pieces
// CHECK-SAME:    %[[X:.*]]: tensor<4x2xf32>, %[[Y:.*]]: tensor<4x3xf32>, %[[I:.*]]: i32, %[[S:.*]]: f32
func.func @pieces(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>, %i: i32, %s: f32, %at: tensor<8x2xi32>) {
  // CHECK: tile.join %[[X]], %[[X]] : tensor<4x2xf32> -> tensor<4x2x2xf32>
  // CHECK: %{{.*}}, %{{.*}} = tile.split %[[X]] : tensor<4x2xf32> -> tensor<4xf32>
  // CHECK: tile.concat %[[X]], %[[Y]], 1 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
  // CHECK: %[[ROW:.*]] = tile.slice %[[X]][%[[I]], %[[I]]] [1, 2] strides [1, 1] dropped [0] : tensor<4x2xf32> -> tensor<2xf32>
  // CHECK: tile.slice %[[X]][%[[I]], %[[I]]] [1, 1] strides [1, 1] dropped [0, 1] : tensor<4x2xf32> -> f32
  // CHECK: tile.insert %[[ROW]] into %[[X]][%[[I]], %[[I]]] dropped [0] : tensor<2xf32> into tensor<4x2xf32>
  // CHECK: tile.insert %[[S]] into %[[X]][%[[I]], %[[I]]] dropped [0, 1] : f32 into tensor<4x2xf32>
  // CHECK: tile.gather %[[X]][%{{.*}}], 0 : tensor<4x2xf32>, tensor<8x2xi32> -> tensor<8x2xf32>
  %j = tile.join %x, %x : tensor<4x2xf32> -> tensor<4x2x2xf32>
  %l, %r = tile.split %x : tensor<4x2xf32> -> tensor<4xf32>
  %c = tile.concat %x, %y, 1 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
  %row = tile.slice %x[%i, %i] [1, 2] strides [1, 1] dropped [0] : tensor<4x2xf32> -> tensor<2xf32>
  %one = tile.slice %x[%i, %i] [1, 1] strides [1, 1] dropped [0, 1] : tensor<4x2xf32> -> f32
  %n = tile.insert %row into %x[%i, %i] dropped [0] : tensor<2xf32> into tensor<4x2xf32>
  %m = tile.insert %s into %x[%i, %i] dropped [0, 1] : f32 into tensor<4x2xf32>
  %g = tile.gather %x[%at], 0 : tensor<4x2xf32>, tensor<8x2xi32> -> tensor<8x2xf32>
  return
}

// Addresses, and what is known of them; a pointer to a pointer is a type.
// CHECK-LABEL: @pointers
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<4x!tile.ptr<f32>>
func.func @pointers(%p: !tile.ptr<f32>, %t: tensor<4x!tile.ptr<f32>>, %i: i64, %o: tensor<4xi32>, %b: i1) {
  // CHECK: tile.addptr %[[P]], %{{.*}} : !tile.ptr<f32>, i64
  // CHECK: tile.addptr %[[T]], %{{.*}} : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  // CHECK: %[[A:.*]] = tile.ptr_to_int %[[P]] : !tile.ptr<f32> -> i64
  // CHECK: tile.int_to_ptr %[[A]] : i64 -> !tile.ptr<!tile.ptr<f16>>
  // CHECK: tile.ptr_cast %[[T]] : tensor<4x!tile.ptr<f32>> -> tensor<4x!tile.ptr<i8>>
  // CHECK: tile.hint %{{.*}} {constancy = array<i32: 1>, contiguity = array<i32: 4>, divisibility = array<i32: 16>} : tensor<4xi32>
  // CHECK: tile.hint %{{.*}} {divisibility = array<i32: 8>} : i64
  // CHECK: tile.assume %{{.*}}
  %q = tile.addptr %p, %i : !tile.ptr<f32>, i64
  %u = tile.addptr %t, %o : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %a = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
  %pp = tile.int_to_ptr %a : i64 -> !tile.ptr<!tile.ptr<f16>>
  %c = tile.ptr_cast %t : tensor<4x!tile.ptr<f32>> -> tensor<4x!tile.ptr<i8>>
  %h = tile.hint %o {constancy = array<i32: 1>, contiguity = array<i32: 4>, divisibility = array<i32: 16>} : tensor<4xi32>
  %g = tile.hint %i {divisibility = array<i32: 8>} : i64
  tile.assume %b
  return
}

// Accesses with each of their optional parts.
// CHECK-LABEL: @memory
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<4x!tile.ptr<f32>>, %[[M:.*]]: tensor<4xi1>, %[[V:.*]]: tensor<4xf32>
func.func @memory(%p: !tile.ptr<f32>, %t: tensor<4x!tile.ptr<f32>>, %m: tensor<4xi1>, %v: tensor<4xf32>) {
  // CHECK: %[[S:.*]] = tile.load %[[P]] {isVolatile} : !tile.ptr<f32> -> f32
  // CHECK: tile.load %[[T]] : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  // CHECK: tile.load %[[T]] mask %[[M]] : tensor<4xi1> other %[[V]] : tensor<4xf32> {cache = 2 : i32, evict = 1 : i32}
  // CHECK: tile.store %[[P]], %[[S]] : !tile.ptr<f32>, f32
  // CHECK: tile.store %[[T]], %[[V]] mask %[[M]] : tensor<4xi1> {evict = 2 : i32}
  %s = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  %l = tile.load %t : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %k = tile.load %t mask %m : tensor<4xi1> other %v : tensor<4xf32> {cache = 2 : i32, evict = 1 : i32} : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  tile.store %p, %s : !tile.ptr<f32>, f32
  tile.store %t, %v mask %m : tensor<4xi1> {evict = 2 : i32} : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}

// CHECK-LABEL: @atomics
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<i32>, %[[X:.*]]: i32
func.func @atomics(%p: !tile.ptr<i32>, %x: i32, %t: tensor<4x!tile.ptr<f32>>, %v: tensor<4xf32>, %m: tensor<4xi1>) {
  // CHECK: tile.atomic_rmw umax, %[[P]], %[[X]] {scope = 2 : i32, sem = 0 : i32} : !tile.ptr<i32>, i32 -> i32
  // CHECK: tile.atomic_rmw fadd, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: tile.atomic_cas %[[P]], %[[X]], %[[X]] : !tile.ptr<i32>, i32
  %a = tile.atomic_rmw umax, %p, %x {scope = 2 : i32, sem = 0 : i32} : !tile.ptr<i32>, i32 -> i32
  %b = tile.atomic_rmw fadd, %t, %v mask %m : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  %c = tile.atomic_cas %p, %x, %x : !tile.ptr<i32>, i32
  return
}

// CHECK-LABEL: @dot
func.func @dot(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>, %c: tensor<4x2xf32>,
               %d: tensor<3x4x8xi8>, %e: tensor<3x8x2xi8>, %f: tensor<3x4x2xi32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {precision = 3 : i32} : tensor<4x8xf16>, tensor<8x2xf16> -> tensor<4x2xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {isUnsigned} : tensor<3x4x8xi8>, tensor<3x8x2xi8> -> tensor<3x4x2xi32>
  %x = tile.dot %a, %b, %c {precision = 3 : i32} : tensor<4x8xf16>, tensor<8x2xf16> -> tensor<4x2xf32>
  %y = tile.dot %d, %e, %f {isUnsigned} : tensor<3x4x8xi8>, tensor<3x8x2xi8> -> tensor<3x4x2xi32>
  return
}

// CHECK-LABEL: @regions
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[I:.*]]: tensor<8xf32>
func.func @regions(%x: tensor<4x8xf32>, %i: tensor<8xf32>) {
  // CHECK: tile.reduce(%[[X]]), 1 : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK:   tile.yield %{{.*}} : f32
  %r = tile.reduce(%x), 1 : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  // CHECK: tile.scan(%[[X]]), 0 reverse : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = tile.scan(%x), 0 reverse : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %b : f32
  }
  // CHECK: tile.recurrence init(%[[I]]) over(%[[X]]), 0 : (tensor<8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
  %l, %o = tile.recurrence init(%i) over(%x), 0 : (tensor<8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  ^bb0(%c: tensor<8xf32>, %row: tensor<8xf32>):
    tile.yield %row, %c : tensor<8xf32>, tensor<8xf32>
  }
  // CHECK: tile.map(%[[X]]) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  %m = tile.map(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32> {
  ^bb0(%e: f32):
    %n = arith.fptosi %e : f32 to i32
    tile.yield %n : i32
  }
  return
}

// What belongs to no family; each optional part is printed.
// CHECK-LABEL: @other
func.func @other(%i: tensor<8xi32>, %m: tensor<8xi1>, %x: f32) {
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<8xi1>, 4 : tensor<8xi32> -> tensor<4xi32>
  // CHECK: tile.sort %{{.*}}, 0 : tensor<8xi32>
  // CHECK: tile.sort %{{.*}}, 0 descending unsigned bitonic : tensor<8xi32>
  // CHECK: tile.clamp %{{.*}}, %{{.*}}, %{{.*}} {propagateNan} : f32
  // CHECK: tile.print "x: ", [1, 0](%{{.*}}, %{{.*}} : tensor<8xi32>, f32) {hex}
  // CHECK: tile.print "here", []
  // CHECK: tile.assert %{{.*}}, "in range" : tensor<8xi1>
  // CHECK: tile.barrier
  %h = tile.histogram %i mask %m : tensor<8xi1>, 4 : tensor<8xi32> -> tensor<4xi32>
  %s = tile.sort %i, 0 : tensor<8xi32>
  %b = tile.sort %i, 0 descending unsigned bitonic : tensor<8xi32>
  %c = tile.clamp %x, %x, %x {propagateNan} : f32
  tile.print "x: ", [1, 0](%i, %x : tensor<8xi32>, f32) {hex}
  tile.print "here", []
  tile.assert %m, "in range" : tensor<8xi1>
  tile.barrier
  return
}

// A print of nothing does not take the next line's result for an operand.
// CHECK-LABEL: @print_before_a_result
func.func @print_before_a_result() -> i32 {
  // CHECK:      tile.print "here", []
  // CHECK-NEXT: %[[C:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: return %[[C]]
  tile.print "here", []
  %c = arith.constant 1 : i32
  return %c : i32
}

// What a kernel may take.
// CHECK-LABEL: @kernel
// CHECK-SAME:    attributes {tile.kernel}
func.func @kernel(%p: !tile.ptr<bf16>, %n: i32, %x: f64, %b: i1) attributes {tile.kernel} {
  return
}

// Descriptors: by what is read outside of the tensor, and with offsets of both widths.
// CHECK-LABEL: @descriptors
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f16>, %[[Q:.*]]: !tile.ptr<i8>, %[[N:.*]]: i64, %[[I:.*]]: i32
func.func @descriptors(%p: !tile.ptr<f16>, %q: !tile.ptr<i8>, %n: i64, %i: i32) {
  // CHECK: %[[D:.*]] = tile.make_descriptor %[[P]], [%[[N]], %[[N]]], [%[[N]], %[[N]]] : !tile.descriptor<4x8xf16, nan>
  // CHECK: %[[X:.*]] = tile.descriptor_load %[[D]][%[[I]], %[[N]] : i32, i64] {evict = {{.*}}} : !tile.descriptor<4x8xf16, nan> -> tensor<4x8xf16>
  // CHECK: tile.descriptor_store %[[D]][%[[I]], %[[I]] : i32, i32], %[[X]] : !tile.descriptor<4x8xf16, nan>, tensor<4x8xf16>
  // CHECK: tile.make_descriptor %[[Q]], [%[[N]]], [%[[N]]] : !tile.descriptor<16xi8>
  %d = tile.make_descriptor %p, [%n, %n], [%n, %n] : !tile.descriptor<4x8xf16, nan>
  %x = tile.descriptor_load %d[%i, %n : i32, i64] {evict = 1 : i32} : !tile.descriptor<4x8xf16, nan> -> tensor<4x8xf16>
  tile.descriptor_store %d[%i, %i : i32, i32], %x : !tile.descriptor<4x8xf16, nan>, tensor<4x8xf16>
  %e = tile.make_descriptor %q, [%n], [%n] : !tile.descriptor<16xi8>
  return
}

// What remembers that a tile is a block, and what a launch makes of a descriptor.
// CHECK: tile.tensor_maps = [#tile.tensor_map<base = 0, element = f16, shape = [#tile.arg_product<args = [1]>, #tile.arg_product<factor = 64>], strides = [#tile.arg_product<factor = 4, args = [1, 1], bytes = 4>], box = [8, 64], swizzle_bytes = 128, padding = nan>]
module attributes {tile.tensor_maps = [#tile.tensor_map<base = 0, element = f16,
    shape = [#tile.arg_product<args = [1]>, #tile.arg_product<factor = 64>],
    strides = [#tile.arg_product<factor = 4, args = [1, 1], bytes = 4>],
    box = [8, 64], swizzle_bytes = 128, padding = nan>]} {
  // CHECK-LABEL: @blocks
  // CHECK-SAME:    %[[X:.*]]: tensor<4xf16>, %[[N:.*]]: i32, %{{.*}}: !tile.tensor_map
  func.func @blocks(%x: tensor<4xf16>, %n: i32, %map: !tile.tensor_map) {
    // CHECK: tile.block_hint %[[X]][%[[N]]] <base = 1, element = f16, shape = [#tile.arg_product<>], strides = [], box = []> : tensor<4xf16>
    %y = tile.block_hint %x[%n] <base = 1, element = f16, shape = [#tile.arg_product<>], strides = [], box = []> : tensor<4xf16>
    return
  }
}
