// RUN: tz-opt %s --tz-simt-to-llvm="limit=0 fewest=8 turn=4" --canonicalize --cse | FileCheck %s
// RUN: tz-opt %s --tz-simt-to-llvm="limit=1000000 fewest=8 turn=4" --canonicalize --cse | FileCheck %s --check-prefix=SHORT

// Loops over the registers of a thread. Which values come out is checked by test/python/simt/test_register_loops.py.

#row = #simt.layout<register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [], dims = [256]>
#sums = #simt.layout<register = [[1], [2]], lane = [[0], [0], [0], [4], [8]], warp = [], dims = [16]>
#along = #simt.layout<register = [[1], [2], [4], [8]], lane = [[0], [0], [0], [0], [0]], warp = [], dims = [16]>
#pairs = #simt.layout<register = [[0, 1], [1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], warp = [], dims = [256, 2]>
#tile = #simt.layout<register = [[1, 0], [2, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [4, 0], [8, 0]], warp = [], dims = [16, 16]>

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32, private_space = 5>} {

// A load that becomes an array of the thread in the address space that the target says, then a store that computes its
// value in its own loop. Addresses are computed in both. A kernel below the limit has no loops.
// CHECK-LABEL: func.func @chain(
// CHECK-DAG:     %[[ARRAY:.*]] = llvm.alloca %{{.*}} x i32 : (i32) -> !llvm.ptr<5>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           arith.shli %[[I]], %{{.*}}
// CHECK:           simt.thread_load {{.*}} -> vector<4xi32>
// CHECK-COUNT-4:   llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<5>
// CHECK:         } {loop_annotation
// CHECK:         scf.for
// CHECK-COUNT-4:   llvm.load %{{.*}} : !llvm.ptr<5> -> i32
// CHECK-COUNT-4:   math.exp
// CHECK:           simt.thread_store {{.*}} vector<4xi32>
// CHECK:         } {loop_annotation
// CHECK-NOT:     scf.for
// SHORT-LABEL: func.func @chain(
// SHORT-NOT:     scf.for
// SHORT-COUNT-8: math.exp
func.func @chain(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 256 : tensor<256xi32, #row>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #row>
  %px = tile.addptr %xs, %at : tensor<256x!tile.ptr<f32>, #row>, tensor<256xi32, #row>
  %v = tile.load %px {simt.vector = 4 : i32} : tensor<256x!tile.ptr<f32>, #row> -> tensor<256xf32, #row>
  %e = math.exp %v : tensor<256xf32, #row>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #row>
  %py = tile.addptr %ys, %at : tensor<256x!tile.ptr<f32>, #row>, tensor<256xi32, #row>
  tile.store %py, %e {simt.vector = 4 : i32} : tensor<256x!tile.ptr<f32>, #row>, tensor<256xf32, #row>
  return
}

// Rows of a sort are independent: the loop goes over two of their bits, and what a turn holds of the axis is written
// out. Of ten stages four are between registers, six between lanes.
// CHECK-LABEL: func.func @sorted(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK-COUNT-12:  simt.shuffle_xor
// CHECK-NOT:       simt.shuffle_xor
// CHECK:         } {loop_annotation
// CHECK:         scf.for
func.func @sorted(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %c16 = arith.constant dense<16> : tensor<16x16xi32, #tile>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x16x!tile.ptr<i32>, #tile>
  %px = tile.addptr %xs, %c16 : tensor<16x16x!tile.ptr<i32>, #tile>, tensor<16x16xi32, #tile>
  %v = tile.load %px : tensor<16x16x!tile.ptr<i32>, #tile> -> tensor<16x16xi32, #tile>
  %s = tile.sort %v, 1 : tensor<16x16xi32, #tile>
  tile.store %px, %s : tensor<16x16x!tile.ptr<i32>, #tile>, tensor<16x16xi32, #tile>
  return
}

// A row with four bits in registers and turns of two registers: a loop goes over three bits, and the next stage, which exchanges the one below
// or begins at the top again, is a loop of its own. Of 1 + 2 + 3 + 4 stages none shares its bit with the one before.
// CHECK-LABEL: func.func @sorted_along(
// CHECK-COUNT-10: scf.for %{{.*}} = %{{.*}} to %c8
// CHECK:          simt.thread_store
// CHECK-NOT:      scf.for
// CHECK:          return
func.func @sorted_along(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32, #along>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>, #along>
  %px = tile.addptr %xs, %at : tensor<16x!tile.ptr<i32>, #along>, tensor<16xi32, #along>
  %v = tile.load %px : tensor<16x!tile.ptr<i32>, #along> -> tensor<16xi32, #along>
  %s = tile.sort %v, 0 : tensor<16xi32, #along>
  tile.store %px, %s : tensor<16x!tile.ptr<i32>, #along>, tensor<16xi32, #along>
  return
}

// Pairs: a turn holds four registers of each of the two tiles, and eight of what they make.
// CHECK-LABEL: func.func @joined(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         } {loop_annotation
// CHECK-NEXT:    scf.for
// CHECK-COUNT-8:   llvm.store
// CHECK-NOT:       llvm.store
// CHECK:         } {loop_annotation
func.func @joined(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 256 : tensor<256xi32, #row>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #row>
  %px = tile.addptr %xs, %at : tensor<256x!tile.ptr<i32>, #row>, tensor<256xi32, #row>
  %v = tile.load %px : tensor<256x!tile.ptr<i32>, #row> -> tensor<256xi32, #row>
  %w = tile.load %px : tensor<256x!tile.ptr<i32>, #row> -> tensor<256xi32, #row>
  %j = tile.join %v, %w : tensor<256xi32, #row> -> tensor<256x2xi32, #pairs>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<256x2x!tile.ptr<i32>, #pairs>
  tile.store %ys, %j : tensor<256x2x!tile.ptr<i32>, #pairs>, tensor<256x2xi32, #pairs>
  return
}

// What is read by an op that is no loop is read as a whole, behind the loop that made it.
// CHECK-LABEL: func.func @reduced(
// CHECK:         scf.for
// CHECK:         } {loop_annotation
// CHECK-COUNT-8: llvm.load
// CHECK:         simt.shuffle_xor
func.func @reduced(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 256 : tensor<256xi32, #row>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #row>
  %px = tile.addptr %xs, %at : tensor<256x!tile.ptr<f32>, #row>, tensor<256xi32, #row>
  %v = tile.load %px : tensor<256x!tile.ptr<f32>, #row> -> tensor<256xf32, #row>
  %s = tile.reduce (%v), 0 : (tensor<256xf32, #row>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %x, %s : !tile.ptr<f32>, f32
  return
}

// Rows of a reduction are turns, too: two rows of two registers each, four steps between lanes.
// CHECK-LABEL: func.func @rows(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK-COUNT-6:   simt.shuffle_xor
// CHECK-NOT:       simt.shuffle_xor
// CHECK:         } {loop_annotation
func.func @rows(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %c16 = arith.constant dense<16> : tensor<16x16xi32, #tile>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x16x!tile.ptr<i32>, #tile>
  %px = tile.addptr %xs, %c16 : tensor<16x16x!tile.ptr<i32>, #tile>, tensor<16x16xi32, #tile>
  %v = tile.load %px : tensor<16x16x!tile.ptr<i32>, #tile> -> tensor<16x16xi32, #tile>
  %s = tile.reduce (%v), 1 : (tensor<16x16xi32, #tile>) -> tensor<16xi32, #sums> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  %c4 = arith.constant dense<4> : tensor<16xi32, #sums>
  %ys = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>, #sums>
  %py = tile.addptr %ys, %c4 : tensor<16x!tile.ptr<i32>, #sums>, tensor<16xi32, #sums>
  tile.store %py, %s : tensor<16x!tile.ptr<i32>, #sums>, tensor<16xi32, #sums>
  return
}

}
