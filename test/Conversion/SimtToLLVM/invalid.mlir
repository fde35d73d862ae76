// RUN: tz-opt %s --tz-simt-to-llvm --split-input-file --verify-diagnostics

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @no_layout() attributes {tile.kernel} {
  // expected-error @+1 {{'tile.arange' op expected tiles with a layout, found 'tensor<64xi32>'}}
  %at = tile.arange 0 to 64 : tensor<64xi32>
  return
}
}

// -----

#wide = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16], [32]], warp = [], dims = [64]>
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @other_warp_size() attributes {tile.kernel} {
  // expected-error @+1 {{'tile.arange' op expected a layout for 1 warps of 32 lanes, found}}
  %at = tile.arange 0 to 64 : tensor<64xi32, #wide>
  return
}
}

// -----

#one = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0]], dims = [64]>
#two = #simt.layout<register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]], dims = [64]>
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @across_warps(%y: i32) attributes {tile.kernel} {
  %at = tile.splat %y : i32 -> tensor<64xi32, #two>
  // expected-error @+1 {{'simt.convert_layout' op expected a conversion within warps, found}}
  %to = simt.convert_layout %at : tensor<64xi32, #two> -> tensor<64xi32, #one>
  return
}
}

// -----

#two = #simt.layout<register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]], dims = [64]>
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @reduce_across_warps(%y: i32) attributes {tile.kernel} {
  %at = tile.splat %y : i32 -> tensor<64xi32, #two>
  // expected-error @+1 {{'tile.reduce' op expected the axis within a warp, found it across warps}}
  %r = tile.reduce (%at), 0 : (tensor<64xi32, #two>) -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  return
}
}

// -----

#two = #simt.layout<register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]], dims = [64]>
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @scan_across_warps(%y: i32) attributes {tile.kernel} {
  %at = tile.splat %y : i32 -> tensor<64xi32, #two>
  // expected-error @+1 {{'tile.scan' op expected the axis within a warp, found it across warps}}
  %r = tile.scan (%at), 0 : (tensor<64xi32, #two>) -> tensor<64xi32, #two> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  return
}
}

// -----

#one = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>
#turned = #simt.layout<register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = [], dims = [64]>
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @two_layouts(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #one>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #turned>
  // expected-error @+1 {{'tile.addptr' op expected one layout in all tiles, found}}
  %ps = tile.addptr %xs, %at : tensor<64x!tile.ptr<i32>, #turned>, tensor<64xi32, #one>
  return
}
}

// -----

#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [], dims = [4, 16]>
#column = #simt.layout<register = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [0, 2], [0, 1]], warp = [], dims = [16, 4]>
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @transpose(%y: i32) attributes {tile.kernel} {
  %t = tile.splat %y : i32 -> tensor<4x16xi32, #row>
  // expected-error @+1 {{'tile.transpose' op expected layouts in which each thread already holds its elements}}
  %u = tile.transpose %t, [1, 0] : tensor<4x16xi32, #row> -> tensor<16x4xi32, #column>
  return
}
}

// -----

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @no_offset(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  %b = simt.alloc 16
  // expected-error @+1 {{'simt.local_store' op expected a buffer with an offset: tz-allocate-shared has to run before}}
  simt.local_store %y, %b[] base 0 strides [] : i32
  return
}
}

// -----

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @scalar_atomic(%x: !tile.ptr<i32>, %y: i32) attributes {tile.kernel} {
  // expected-error @+1 {{'tile.atomic_rmw' op expected the result of a scalar's atomic, which one thread has, to go through shared memory}}
  %r = tile.atomic_rmw add, %x, %y : !tile.ptr<i32>, i32 -> i32
  tile.store %x, %r : !tile.ptr<i32>, i32
  return
}
}

// -----

#one = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>
module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @flip(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #one>
  // expected-error @+1 {{'tile.flip' op has no form for one thread: it should have been decomposed before this pass}}
  %f = tile.flip %at, 0 : tensor<64xi32, #one>
  return
}
}

// -----

#warps = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], dims = [64]>
module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {
func.func @sort_across_warps(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #warps>
  // expected-error @+1 {{'tile.sort' op expected the axis within a warp, found it across warps: the sort should have been decomposed}}
  %f = tile.sort %at, 0 : tensor<64xi32, #warps>
  return
}
}
