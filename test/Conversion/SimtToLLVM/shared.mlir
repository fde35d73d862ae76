// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse | FileCheck %s

#row = #simt.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]], dims = [8, 16]>
#column = #simt.layout<register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 0]], dims = [8, 16]>
#acc = #simt.layout<register = [[0, 1], [0, 2], [1, 0]], lane = [[0, 4], [0, 8], [2, 0], [4, 0], [8, 0]], warp = [[16, 0]], dims = [32, 16]>
#top = #simt.layout<register = [[2, 0], [4, 0]], lane = [[1, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 0]], dims = [8, 16]>
#list = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>

module attributes {simt.shared_bytes = 4096 : i64, tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {

// Registers side by side in memory are one access; only one of two warps with the same data writes.
// CHECK-LABEL: func.func @transpose(
// CHECK-DAG:     %[[SHARED:.*]] = simt.shared_base : <3>
// CHECK-DAG:     %[[WRITES:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK:         %[[BUFFER:.*]] = llvm.getelementptr %[[SHARED]][512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         simt.thread_store %{{.*}} mask %[[WRITES]] : <3>, vector<4xi32>
// CHECK-NOT:     simt.thread_store %{{.*}} : <3>
// CHECK:         simt.barrier
// CHECK-COUNT-4: simt.thread_load %{{.*}} : <3> -> i32
func.func @transpose(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %t = tile.splat %y : i32 -> tensor<8x16xi32, #row>
  %b = simt.alloc 512 at 512
  simt.local_store %t, %b[] base 0 strides [16, 1] : tensor<8x16xi32, #row>
  simt.barrier
  %u = simt.local_load %b[] base 0 strides [16, 1] : tensor<8x16xi32, #column>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<8x16x!tile.ptr<i32>, #column>
  %ps = tile.addptr %xs, %u : tensor<8x16x!tile.ptr<i32>, #column>, tensor<8x16xi32, #column>
  tile.store %ps, %u : tensor<8x16x!tile.ptr<i32>, #column>, tensor<8x16xi32, #column>
  return
}

// An offset that run time knows keeps what its factors promise; one that promises nothing makes single accesses.
// CHECK-LABEL: func.func @offset(
// CHECK:         simt.thread_store %{{.*}} : <3>, vector<4xi32>
// CHECK-COUNT-4: simt.thread_store %{{.*}} : <3>, i32
func.func @offset(%y: i32) attributes {tile.kernel} {
  %t = tile.splat %y : i32 -> tensor<8x16xi32, #row>
  %b = simt.alloc 2048 at 0
  %c128 = arith.constant 128 : i32
  %o = arith.muli %y, %c128 : i32
  simt.local_store %t, %b[%o] base 0 strides [16, 1] : tensor<8x16xi32, #row>
  simt.local_store %t, %b[%y] base 0 strides [16, 1] : tensor<8x16xi32, #row>
  return
}

// A swizzle that keeps groups of four together keeps their accesses, too.
// CHECK-LABEL: func.func @swizzle(
// CHECK:         simt.thread_store %{{.*}} : <3>, vector<4xi32>
// CHECK-NOT:     simt.thread_store
// CHECK:         return
func.func @swizzle(%y: i32) attributes {tile.kernel} {
  %t = tile.splat %y : i32 -> tensor<8x16xi32, #row>
  %b = simt.alloc 512 at 0
  simt.local_store %t, %b[] base 0 strides [] swizzle <offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 4], [2, 8], [4, 0]], dims = [8, 16]> : tensor<8x16xi32, #row>
  return
}

// Scalars: one thread writes, all read.
// CHECK-LABEL: func.func @scalar(
// CHECK:         simt.thread_store %{{.*}} mask %{{.*}} : <3>, i32
// CHECK:         simt.thread_load %{{.*}} : <3> -> i32
func.func @scalar(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %b = simt.alloc 16 at 0
  %old = tile.atomic_rmw add, %x, %y : !tile.ptr<i32>, i32 -> i32
  simt.local_store %old, %b[] base 0 strides [] : i32
  simt.barrier
  %all = simt.local_load %b[] base 0 strides [] : i32
  tile.store %x, %all : !tile.ptr<i32>, i32
  return
}

// Each thread has 2 rows and 4 columns: for 4 steps of k, 2 accesses along k and 4 along the row of the right factor.
// CHECK-LABEL: func.func @dot(
// CHECK:         scf.for
// CHECK-COUNT-2:   simt.thread_load %{{.*}} : <3> -> vector<4xi32>
// CHECK-COUNT-4:   simt.thread_load %{{.*}} : <3> -> vector<4xi32>
// CHECK-NOT:       simt.thread_load
// CHECK-COUNT-32:  math.fma
// CHECK-NOT:       math.fma
// CHECK:           scf.yield
func.func @dot(%x: !tile.ptr<f32>, %y: f32) attributes {tile.kernel} {
  %acc = tile.splat %y : f32 -> tensor<32x16xf32, #acc>
  %a = simt.alloc 1024 at 0
  %b = simt.alloc 512 at 1024
  %d = simt.local_dot %a : f32 [8, 1], %b : f32 [16, 1], %acc depth 8 : tensor<32x16xf32, #acc> -> tensor<32x16xf32, #acc>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x16x!tile.ptr<f32>, #acc>
  tile.store %xs, %d : tensor<32x16x!tile.ptr<f32>, #acc>, tensor<32x16xf32, #acc>
  return
}

// An index out of range reads nothing, and counts nothing.
// CHECK-LABEL: func.func @gather_count(
// CHECK:         %[[WITHIN:.*]] = arith.cmpi ult
// CHECK:         simt.thread_load %{{.*}} mask %[[WITHIN]] : <3> -> i32
// CHECK:         %[[COUNTS:.*]] = arith.cmpi ult
// CHECK:         simt.thread_atomic_rmw
// CHECK-SAME:      mask %[[COUNTS]]
func.func @gather_count(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #list>
  %b = simt.alloc 128 at 0
  %g = simt.local_gather %b[%at], 0 extent 20 strides [1] : tensor<64xi32, #list> -> tensor<64xi32, #list>
  simt.local_count %b[%g], 10 : tensor<64xi32, #list>
  return
}

// A range of places is some of the registers where these hold the outermost dimension: the others are not written, and of the load they are what
// was there before. No comparison is made.
// CHECK-LABEL: func.func @range_of_registers(
// CHECK-NOT:     arith.cmpi ult
// CHECK-COUNT-2: simt.thread_store
// CHECK-NOT:     simt.thread_store
// CHECK:         simt.barrier
// CHECK-COUNT-2: simt.thread_load %{{.*}} : <3> -> i32
// CHECK-NOT:     simt.thread_load
// CHECK:         return
func.func @range_of_registers(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %t = tile.splat %y : i32 -> tensor<8x16xi32, #top>
  %b = simt.alloc 256 at 0
  simt.local_store %t, %b[] base -64 strides [16, 1] {within = 64 : i32} : tensor<8x16xi32, #top>
  simt.barrier
  %l = simt.local_load %b[] base -64 strides [16, 1] otherwise %t : tensor<8x16xi32, #top> {within = 64 : i32} : tensor<8x16xi32, #top>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<8x16x!tile.ptr<i32>, #top>
  tile.store %xs, %l : tensor<8x16x!tile.ptr<i32>, #top>, tensor<8x16xi32, #top>
  return
}
}
