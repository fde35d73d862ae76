// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse | FileCheck %s

// Reductions, scans and conversions. Which values come out is checked by test/python/simt; here, what they cost.

#row = #simt.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [], dims = [128]>
#turned = #simt.layout<register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [], dims = [128]>
#swapped = #simt.layout<register = [[1], [4]], lane = [[2], [8], [16], [32], [64]], warp = [], dims = [128]>
#rolled = #simt.layout<register = [[1], [2]], lane = [[8], [4], [16], [32], [64]], warp = [], dims = [128]>
#inner = #simt.layout<register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], dims = [32, 4]>
#outer = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [], dims = [32]>

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {

// Two steps in registers, five across lanes.
// CHECK-LABEL: func.func @sum(
// CHECK-COUNT-3: arith.addf
// CHECK:         simt.shuffle_xor %{{.*}}, 16
// CHECK:         simt.shuffle_xor %{{.*}}, 8
// CHECK:         simt.shuffle_xor %{{.*}}, 4
// CHECK:         simt.shuffle_xor %{{.*}}, 2
// CHECK:         simt.shuffle_xor %{{.*}}, 1
// CHECK-NOT:     arith.select
// CHECK:         simt.thread_store
func.func @sum(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 128 : tensor<128xi32, #row>
  %f = arith.sitofp %at : tensor<128xi32, #row> to tensor<128xf32, #row>
  %s = tile.reduce (%f), 0 : (tensor<128xf32, #row>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %x, %s : !tile.ptr<f32>, f32
  return
}

// A short axis inside of threads needs no shuffle.
// CHECK-LABEL: func.func @inner(
// CHECK-NOT:     simt.shuffle
// CHECK-COUNT-3: arith.maxsi
// CHECK-NOT:     arith.maxsi
// CHECK:         return
func.func @inner(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %at = tile.arange 0 to 32 : tensor<32xi32, #outer>
  %i = tile.arange 0 to 4 : tensor<4xi32, #simt.layout<register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [], dims = [4]>>
  %e = tile.expand_dims %i, 0 : tensor<4xi32, #simt.layout<register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [], dims = [4]>> -> tensor<1x4xi32, #simt.layout<register = [[0, 1], [0, 2]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [], dims = [1, 4]>>
  %t = tile.broadcast %e : tensor<1x4xi32, #simt.layout<register = [[0, 1], [0, 2]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [], dims = [1, 4]>> -> tensor<32x4xi32, #inner>
  %ys = tile.splat %y : i32 -> tensor<32x4xi32, #inner>
  %u = arith.muli %t, %ys : tensor<32x4xi32, #inner>
  %s = tile.reduce (%u), 1 : (tensor<32x4xi32, #inner>) -> tensor<32xi32, #outer> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    tile.yield %c : i32
  }
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #outer>
  %ps = tile.addptr %xs, %at : tensor<32x!tile.ptr<i32>, #outer>, tensor<32xi32, #outer>
  tile.store %ps, %s : tensor<32x!tile.ptr<i32>, #outer>, tensor<32xi32, #outer>
  return
}

// Three sums in registers, then five log-steps of one value, its neighbour's, and four sums at the end.
// CHECK-LABEL: func.func @scan(
// CHECK-COUNT-6: simt.shuffle_index
// CHECK-NOT:     simt.shuffle_index
// CHECK:         return
func.func @scan(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %at = tile.arange 0 to 128 : tensor<128xi32, #row>
  %ys = tile.splat %y : i32 -> tensor<128xi32, #row>
  %u = arith.muli %at, %ys : tensor<128xi32, #row>
  %s = tile.scan (%u), 0 : (tensor<128xi32, #row>) -> tensor<128xi32, #row> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    tile.yield %c : i32
  }
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #row>
  %ps = tile.addptr %xs, %at : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  tile.store %ps, %s : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  return
}

// Other registers: nothing happens.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT:     simt.shuffle
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @turned(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 128 : tensor<128xi32, #row>
  %u = simt.convert_layout %at : tensor<128xi32, #row> -> tensor<128xi32, #turned>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #turned>
  %ps = tile.addptr %xs, %u : tensor<128x!tile.ptr<i32>, #turned>, tensor<128xi32, #turned>
  tile.store %ps, %u : tensor<128x!tile.ptr<i32>, #turned>, tensor<128xi32, #turned>
  return
}

// A bit of the lane for one of the register: half of the registers stay in their lane.
// CHECK-LABEL: func.func @swapped(
// CHECK-COUNT-2: simt.shuffle_xor
// CHECK-NOT:     simt.shuffle
// CHECK:         return
func.func @swapped(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 128 : tensor<128xi32, #row>
  %u = simt.convert_layout %at : tensor<128xi32, #row> -> tensor<128xi32, #swapped>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #swapped>
  %ps = tile.addptr %xs, %u : tensor<128x!tile.ptr<i32>, #swapped>, tensor<128xi32, #swapped>
  tile.store %ps, %u : tensor<128x!tile.ptr<i32>, #swapped>, tensor<128xi32, #swapped>
  return
}

// Other lanes: a shuffle a register, two for 64 bits.
// CHECK-LABEL: func.func @rolled(
// CHECK-COUNT-8: simt.shuffle_index
// CHECK-NOT:     simt.shuffle
// CHECK:         return
func.func @rolled(%x: !tile.ptr<i64>) attributes {tile.kernel} {
  %at = tile.arange 0 to 128 : tensor<128xi32, #row>
  %w = arith.extsi %at : tensor<128xi32, #row> to tensor<128xi64, #row>
  %u = simt.convert_layout %w : tensor<128xi64, #row> -> tensor<128xi64, #rolled>
  %xs = tile.splat %x : !tile.ptr<i64> -> tensor<128x!tile.ptr<i64>, #rolled>
  %ps = tile.addptr %xs, %u : tensor<128x!tile.ptr<i64>, #rolled>, tensor<128xi64, #rolled>
  tile.store %ps, %u : tensor<128x!tile.ptr<i64>, #rolled>, tensor<128xi64, #rolled>
  return
}
}
