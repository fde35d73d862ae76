// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --verify-diagnostics

// One case for each numbered constraint of SimtOps.td, named by it, and for what a layout must be.

#a = #simt.layout<register = [], lane = [[1], [2]], warp = [], dims = [4]>
#b = #simt.layout<register = [], lane = [[2], [1]], warp = [], dims = [4]>

func.func @convert_layout_c1_shape(%x: tensor<4xf32, #a>) {
  // expected-error @below {{'simt.convert_layout' op may change the layout only, got 'tensor<4xf32, #simt.layout<register = [], lane = [[1], [2]], warp = [], dims = [4]>>' and 'tensor<3xf32, }}
  %y = simt.convert_layout %x : tensor<4xf32, #a> -> tensor<3xf32, #b>
  return
}

// -----

#a = #simt.layout<register = [], lane = [[1], [2]], warp = [], dims = [4]>
#b = #simt.layout<register = [], lane = [[2], [1]], warp = [], dims = [4]>

func.func @convert_layout_c1_element(%x: tensor<4xf32, #a>) {
  // expected-error @below {{'simt.convert_layout' op may change the layout only}}
  %y = simt.convert_layout %x : tensor<4xf32, #a> -> tensor<4xi32, #b>
  return
}

// -----

func.func @alloc_c1() {
  // expected-error @below {{'simt.alloc' op bytes must be positive, got 0}}
  %b = simt.alloc 0
  return
}

// -----

func.func @alloc_c1_negative() {
  // expected-error @below {{'simt.alloc' op bytes must be positive, got -16}}
  %b = simt.alloc -16
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_store_c1(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_store' op needs one stride a dimension, or a swizzle and none, got 1 strides for 'tensor<2x2xf32, }}
  simt.local_store %x, %b[] base 0 strides [1] : tensor<2x2xf32, #l>
  return
}

// -----

func.func @local_store_c1_scalar(%x: f32) {
  %b = simt.alloc 16
  // expected-error @below {{needs one stride a dimension, or a swizzle and none, got 1 strides for 'f32'}}
  simt.local_store %x, %b[] base 0 strides [1] : f32
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#s = #simt.layout<offset = [[0, 1], [1, 1]], dims = [2, 2]>

func.func @local_store_c1_swizzle(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{needs one stride a dimension, or a swizzle and none, got 2 strides}}
  simt.local_store %x, %b[] base 0 strides [2, 1] swizzle #s : tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_load_c1() {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_load' op needs one stride a dimension, or a swizzle and none, got 0 strides}}
  %x = simt.local_load %b[] base 0 strides [] : tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_gather_c1_strides(%i: tensor<2x2xi32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs one stride a dimension, and indices with the shape and layout of the result}}
  %x = simt.local_gather %b[%i], 0 extent 2 strides [1] : tensor<2x2xi32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#t = #simt.layout<register = [[1, 0]], lane = [[0, 1]], warp = [], dims = [2, 2]>

func.func @local_gather_c1_layout(%i: tensor<2x2xi32, #t>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs one stride a dimension, and indices with the shape and layout of the result}}
  %x = simt.local_gather %b[%i], 0 extent 2 strides [2, 1] : tensor<2x2xi32, #t> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [], lane = [[1]], warp = [], dims = [2]>
#o = #simt.layout<register = [], lane = [[0]], warp = [], dims = [1]>

func.func @local_gather_c1_shape(%i: tensor<1xi32, #o>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs one stride a dimension, and indices with the shape and layout of the result}}
  %x = simt.local_gather %b[%i], 0 extent 2 strides [1] : tensor<1xi32, #o> -> tensor<2xf32, #l>
  return
}

// -----

// expected-error @below {{extents of a layout must be powers of two, got 3}}
#l = #simt.layout<register = [[1]], lane = [[2]], warp = [], dims = [3]>

// -----

// expected-error @below {{expected a coordinate in [0, 4), found 4 in output 'dim0' of bit 0 of input 'register'}}
#l = #simt.layout<register = [[4]], lane = [[2]], warp = [], dims = [4]>

// -----

// expected-error @below {{expected a basis of 1 coordinates, found 2 of bit 0 of input 'register'}}
#l = #simt.layout<register = [[1, 1]], lane = [[2]], warp = [], dims = [4]>

// -----

// expected-error @below {{lane}}
#l = #simt.layout<lane = [[1]], lane = [[2]], dims = [4]>

// -----

// A layout says where each element of its tile is, padded extents included.
// expected-error @+1 {{a layout for a tile of extents [96] has dims [128], got [64]}}
func.func @layout_dims(%x: tensor<96xf32, #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>>) {
  return
}

// -----

// expected-error @+1 {{a tile's layout has the inputs register, lane and warp, got offset}}
func.func @layout_inputs(%x: tensor<2xf32, #simt.layout<offset = [[1]], dims = [2]>>) {
  return
}

// -----

// Passes must see where a buffer is.
func.func @local_load_c2(%b: !simt.buffer) {
  // expected-error @+1 {{needs buffers that are results of simt.alloc}}
  %x = simt.local_load %b[] base 0 strides [] : f32
  return
}
