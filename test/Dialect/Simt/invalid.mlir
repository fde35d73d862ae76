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
  // expected-error @below {{'simt.alloc' op bytes must be in [1, 2^40], got 0}}
  %b = simt.alloc 0
  return
}

// -----

func.func @alloc_c2() {
  // expected-error @below {{'simt.alloc' op must end at 268435456 bytes or before, got an offset of 268435440 and 32 bytes}}
  %b = simt.alloc 32 at 268435440
  return
}

// -----

func.func @alloc_c1_negative() {
  // expected-error @below {{'simt.alloc' op bytes must be in [1, 2^40], got -16}}
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

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#s = #simt.layout<offset = [[0, 1], [0, 1]], dims = [2, 2]>

func.func @local_store_c3_twice(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_store' op needs a swizzle that has an offset for each element of the padded tile, got #simt.layout<offset = [[0, 1], [0, 1]], dims = [2, 2]>}}
  simt.local_store %x, %b[] base 0 strides [] swizzle #s : tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#s = #simt.layout<offset = [[1], [2]], dims = [4]>

func.func @local_load_c3_dims() {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_load' op needs a swizzle that has an offset for each element of the padded tile}}
  %x = simt.local_load %b[] base 0 strides [] swizzle #s : tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_gather_c3_axis(%i: tensor<2x2xi32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs an axis in [0, 2) and a positive extent, got 2 and 2}}
  %x = simt.local_gather %b[%i], 2 extent 2 strides [2, 1] : tensor<2x2xi32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_gather_c3_extent(%i: tensor<2x2xi32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs an axis in [0, 2) and a positive extent, got 0 and 0}}
  %x = simt.local_gather %b[%i], 0 extent 0 strides [2, 1] : tensor<2x2xi32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2]], warp = [], dims = [4]>
#t = #simt.layout<register = [[2]], lane = [[1]], warp = [], dims = [4]>

func.func @local_count_c1(%i: tensor<4xi32, #l>, %m: tensor<4xi1, #t>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_count' op needs a mask with the shape and layout of the indices}}
  simt.local_count %b[%i] mask %m : tensor<4xi1, #t>, 4 : tensor<4xi32, #l>
  return
}

// -----

#l = #simt.layout<register = [[1]], lane = [[2]], warp = [], dims = [4]>

func.func @local_count_c3(%i: tensor<4xi32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_count' op needs at least one bin, got -1}}
  simt.local_count %b[%i], -1 : tensor<4xi32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#t = #simt.layout<register = [[1, 0]], lane = [[0, 1]], warp = [], dims = [2, 2]>

func.func @local_dot_c3(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_dot' op must give what it adds to}}
  %d = simt.local_dot %b : f16 [1, 2], %b : f16 [2, 1], %x depth 2 : tensor<2x2xf32, #l> -> tensor<2x2xf32, #t>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>
#t = #simt.layout<register = [[1, 0]], lane = [[0, 1]], warp = [], dims = [2, 2]>

func.func @local_load_c4(%x: tensor<2x2xf32, #t>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_load' op needs an 'otherwise' of the type of the result, got 'tensor<2x2xf32, }}
  %y = simt.local_load %b[] base 0 strides [2, 1] otherwise %x : tensor<2x2xf32, #t> {within = 2 : i32} : tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_gather_c4(%i: tensor<2x2xi32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_gather' op needs an 'otherwise' of the type of the result, got 'tensor<2x2xi32, }}
  %y = simt.local_gather %b[%i], 0 extent 2 strides [2, 1] otherwise %i : tensor<2x2xi32, #l> {within = 2 : i32} : tensor<2x2xi32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_dot_c4(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_dot' op needs factors of floats and an accumulator of floats of rank 2 or 3, or integers of one type and i32, all of at most 64 bits, got 'f16', 'i8'}}
  %d = simt.local_dot %b : f16 [1, 2], %b : i8 [2, 1], %x depth 2 : tensor<2x2xf32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#l = #simt.layout<register = [[0, 1]], lane = [[1, 0]], warp = [], dims = [2, 2]>

func.func @local_dot_c5(%x: tensor<2x2xf32, #l>) {
  %b = simt.alloc 16
  // expected-error @below {{'simt.local_dot' op depth must be positive, got 0}}
  %d = simt.local_dot %b : f16 [1, 2], %b : f16 [2, 1], %x depth 0 : tensor<2x2xf32, #l> -> tensor<2x2xf32, #l>
  return
}

// -----

#w = #simt.layout<register = [], lane = [[1]], warp = [[2]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>

func.func @warp_reduce_c1(%x: tensor<4xf32, #w>) {
  // expected-error @below {{'simt.warp_reduce' op needs one operand or more and a result for each, got 2 and 1}}
  %y = simt.warp_reduce(%x, %x), 0 : (tensor<4xf32, #w>, tensor<4xf32, #w>) -> tensor<2xf32, #p> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    simt.yield %a, %b : f32, f32
  }
  return
}

// -----

#w = #simt.layout<register = [], lane = [[1]], warp = [[2]], dims = [4]>
#v = #simt.layout<register = [], lane = [[2]], warp = [[1]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>

func.func @warp_reduce_c1_layouts(%x: tensor<4xf32, #w>, %z: tensor<4xf32, #v>) {
  // expected-error @below {{'simt.warp_reduce' op operands must have one shape and layout}}
  %y:2 = simt.warp_reduce(%x, %z), 0 : (tensor<4xf32, #w>, tensor<4xf32, #v>) -> (tensor<2xf32, #p>, tensor<2xf32, #p>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    simt.yield %a, %b : f32, f32
  }
  return
}

// -----

#w = #simt.layout<register = [], lane = [[1]], warp = [[2]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>

func.func @warp_reduce_c2(%x: tensor<4xf32, #w>) {
  // expected-error @below {{'simt.warp_reduce' op axis must be in [0, 1), got 1}}
  %y = simt.warp_reduce(%x), 1 : (tensor<4xf32, #w>) -> tensor<2xf32, #p> {
  ^bb0(%a: f32, %b: f32):
    simt.yield %a : f32
  }
  return
}

// -----

#w = #simt.layout<register = [], lane = [[1]], warp = [[2]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>

func.func @warp_reduce_c3(%x: tensor<4xf32, #w>) {
  // expected-error @below {{'simt.warp_reduce' op region must take two scalars an operand, of its element type, and yield one}}
  %y = simt.warp_reduce(%x), 0 : (tensor<4xf32, #w>) -> tensor<2xf32, #p> {
  ^bb0(%a: f32, %b: i32):
    simt.yield %a : f32
  }
  return
}

// -----

// Two warps that hold the same elements would count them twice.
#w = #simt.layout<register = [[2]], lane = [[1]], warp = [[2]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>

func.func @warp_reduce_c4(%x: tensor<4xf32, #w>) {
  // expected-error @below {{'simt.warp_reduce' op needs a layout in which each bit of a place moves along the axis only or not at all}}
  %y = simt.warp_reduce(%x), 0 : (tensor<4xf32, #w>) -> tensor<2xf32, #p> {
  ^bb0(%a: f32, %b: f32):
    simt.yield %a : f32
  }
  return
}

// -----

#w = #simt.layout<register = [], lane = [[1]], warp = [[2]], dims = [4]>
#p = #simt.layout<register = [], lane = [[0]], warp = [[0]], dims = [1]>

func.func @warp_reduce_c5(%x: tensor<4xf32, #w>) {
  // expected-error @below {{'simt.warp_reduce' op result must be 'tensor<2xf32, #simt.layout<register = [], lane = [[0]], warp = [[1]], dims = [2]>>', got}}
  %y = simt.warp_reduce(%x), 0 : (tensor<4xf32, #w>) -> tensor<1xf32, #p> {
  ^bb0(%a: f32, %b: f32):
    simt.yield %a : f32
  }
  return
}

// -----

func.func @shuffle_xor_c1(%v: i32) {
  // expected-error @below {{'simt.shuffle_xor' op mask must be the distance of two lanes, got -1}}
  %x = simt.shuffle_xor %v, -1
  return
}

// -----

func.func @thread_load_c1_count(%p: !llvm.ptr<1>) {
  // expected-error @below {{'simt.thread_load' op moves an i8, i16, i32 or i64, or a vector of 1, 2, 4, 8 or 16 of them and up to 16 bytes, got 'vector<65536xi32>'}}
  %a = simt.thread_load %p : !llvm.ptr<1> -> vector<65536xi32>
  return
}

// -----

func.func @thread_load_c1_element(%p: !llvm.ptr<1>) {
  // expected-error @below {{'simt.thread_load' op moves an i8, i16, i32 or i64, or a vector of 1, 2, 4, 8 or 16 of them and up to 16 bytes, got 'f32'}}
  %a = simt.thread_load %p : !llvm.ptr<1> -> f32
  return
}

// -----

func.func @thread_load_c1_odd(%p: !llvm.ptr<1>) {
  // expected-error @below {{got 'vector<3xi32>'}}
  %a = simt.thread_load %p : !llvm.ptr<1> -> vector<3xi32>
  return
}

// -----

func.func @thread_load_c2(%p: !llvm.ptr<1>, %m: i1, %o: i64) {
  // expected-error @below {{'simt.thread_load' op other must have the type of the result, 'i32', got 'i64'}}
  %a = simt.thread_load %p mask %m other %o : i64 : !llvm.ptr<1> -> i32
  return
}

// -----

func.func @thread_load_c3(%p: !llvm.ptr<1>, %o: i32) {
  // expected-error @below {{'simt.thread_load' op other is what a false mask gives, got no mask}}
  %a = simt.thread_load %p other %o : i32 : !llvm.ptr<1> -> i32
  return
}

// -----

func.func @thread_store_c1(%p: !llvm.ptr<1>, %v: vector<2x2xi32>) {
  // expected-error @below {{'simt.thread_store' op moves an i8, i16, i32 or i64, or a vector of 1, 2, 4, 8 or 16 of them and up to 16 bytes, got 'vector<2x2xi32>'}}
  simt.thread_store %p, %v : !llvm.ptr<1>, vector<2x2xi32>
  return
}

// -----

func.func @thread_atomic_rmw_c1(%p: !llvm.ptr<1>, %v: i7) {
  // expected-error @below {{'simt.thread_atomic_rmw' op updates an i8, i16, i32, i64, f16, bf16, f32 or f64, got 'i7'}}
  %a = simt.thread_atomic_rmw add, %p, %v : !llvm.ptr<1>, i7 -> i7
  return
}

// -----

func.func @thread_atomic_rmw_c2(%p: !llvm.ptr<1>, %v: i32) {
  // expected-error @below {{'simt.thread_atomic_rmw' op 'fadd' takes floats, got 'i32'}}
  %a = simt.thread_atomic_rmw fadd, %p, %v : !llvm.ptr<1>, i32 -> i32
  return
}

// -----

func.func @thread_atomic_rmw_c3(%p: !llvm.ptr<1>, %v: i32) {
  // expected-error @below {{'simt.thread_atomic_rmw' op result must have the type of the value, 'i32', got 'i64'}}
  %a = simt.thread_atomic_rmw add, %p, %v : !llvm.ptr<1>, i32 -> i64
  return
}

// -----

func.func @thread_atomic_cas_c1(%p: !llvm.ptr<1>, %v: i128) {
  // expected-error @below {{'simt.thread_atomic_cas' op compares an i8, i16, i32 or i64, got 'i128'}}
  %a = simt.thread_atomic_cas %p, %v, %v : !llvm.ptr<1>, i128
  return
}

// -----

// Bit 2 of the index is nowhere.
// expected-error @+1 {{a tile's layout has a place for each element, got one that leaves some out}}
func.func @layout_surjective(%x: tensor<32xf32, #simt.layout<register = [], lane = [], warp = [[1], [2], [2], [8], [16]], dims = [32]>>) {
  return
}

// -----

func.func @alloc_c1_alignment() {
  // expected-error @below {{'simt.alloc' op alignment must be a power of two from 16 to 1024, got 48}}
  %b = simt.alloc 64 {alignment = 48 : i64}
  return
}

// -----

func.func @mma_c1(%a: tensor<16x16xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'simt.mma' op needs factors of [batch,] M x K and K x N for an accumulator of M x N, got 'tensor<16x16xf16>', 'tensor<32x8xf16>' and 'tensor<16x8xf32>'}}
  %d = simt.mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<16x16xf16>, tensor<32x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @mma_c2(%a: tensor<16x16xbf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'simt.mma' op needs the element types of #simt.instruction<family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>, got 'tensor<16x16xbf16>'}}
  %d = simt.mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<16x16xbf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @mma_c3(%a: tensor<8x16xf16>, %b: tensor<16x8xf16>, %c: tensor<8x8xf32>) {
  // expected-error @below {{'simt.mma' op needs at least one instruction along M and N and a multiple of its k, got 'tensor<8x16xf16>' and 'tensor<16x8xf16>'}}
  %d = simt.mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<8x16xf16>, tensor<16x8xf16> -> tensor<8x8xf32>
  return
}

// -----

#l = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], dims = [16, 8]>

func.func @mma_c4(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32, #l>) {
  // expected-error @below {{'simt.mma' op needs layouts that repeat those of #simt.instruction}}
  %d = simt.mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32, #l>
  return
}

// -----

func.func @mma_c5(%a: tensor<64x16xf16>, %b: tensor<16x8xf16>, %c: tensor<64x8xf32>) {
  // expected-error @below {{'simt.mma' op needs matrices with rows and columns of 32 bytes at least in shared memory, got 'tensor<64x16xf16>' and 'tensor<16x8xf16>'}}
  %d = simt.mma %a, %b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<64x16xf16>, tensor<16x8xf16> -> tensor<64x8xf32>
  return
}

// -----

func.func @instruction_types(%a: i32) {
  // expected-error @below {{a matrix instruction multiplies floats into f32 or i8 into i32, got 'f16', 'i8' and 'f32'}}
  %d = simt.thread_mma %a, %a, %a by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = i8, acc = f32> : i32, i32 -> i32
  return
}

// -----

func.func @instruction_shape(%a: i32) {
  // expected-error @below {{'mfma' has no instruction of 16 x 8 x 16 for 'f16' and 'f16'}}
  %d = simt.thread_mma %a, %a, %a by <family = mfma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : i32, i32 -> i32
  return
}

// -----

func.func @thread_mma_c1(%a: vector<4xi32>, %b: i32) {
  // expected-error @below {{'simt.thread_mma' op needs integers with what a lane holds for #simt.instruction<family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>, got 'vector<4xi32>', 'i32' and 'vector<4xi32>'}}
  %d = simt.thread_mma %a, %b, %a by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> : vector<4xi32>, i32 -> vector<4xi32>
  return
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#plain = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#turned = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], dims = [16, 8]>

func.func @local_mma_c2(%c: tensor<64x8xf32, #acc>) {
  %a = simt.alloc 2048
  // expected-error @below {{'simt.local_mma' op needs a left factor that lies as the matrix unit reads it, or a tile without swizzle and offset, got #simt.layout<offset = }}
  %d = simt.local_mma %a[] swizzle #plain, %a[] swizzle #turned, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, tensor<64x8xf32, #acc>
  return
}

// -----

#l = #simt.layout<register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>

func.func @local_mma_c3(%c: tensor<64x8xf32, #l>) {
  %m = simt.alloc 2048
  // expected-error @below {{'simt.local_mma' op needs a layout that repeats that of #simt.instruction<family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>, got 'tensor<64x8xf32}}
  %d = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, tensor<64x8xf32, #l>
  return
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#turned = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], dims = [16, 8]>

func.func @local_mma_c2_rhs(%c: tensor<64x8xf32, #acc>) {
  %m = simt.alloc 2048
  // expected-error @below {{'simt.local_mma' op needs a right factor that lies as the matrix unit reads it, got #simt.layout<offset = }}
  %d = simt.local_mma %m[] swizzle #a, %m[] swizzle #turned, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, tensor<64x8xf32, #acc>
  return
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#other = #simt.layout<register = [[0, 1], [0, 8], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>

func.func @local_mma_c3_tile(%a: tensor<64x16xf16, #other>, %c: tensor<64x8xf32, #acc>) {
  %m = simt.alloc 2048
  // expected-error @below {{'simt.local_mma' op needs the layout of a left factor beside 'tensor<64x8xf32}}
  %d = simt.local_mma %a[], %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : tensor<64x16xf16, #other>, tensor<64x8xf32, #acc>
  return
}

// -----

func.func @mma_c6(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'simt.mma' op has all factors in registers with #simt.instruction<family = mma}}
  %d = simt.mma %a, %b, %c by <family = mma, m = 16, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> {lhsInRegisters} : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @mma_wait_c1(%a: tensor<16x16xf32>) {
  // expected-error @below {{'simt.mma_wait' op needs a result for each value, of its type}}
  %b = simt.mma_wait 0 of (%a : tensor<16x16xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @mma_wait_c2() {
  // expected-error @below {{'simt.mma_wait' op pending must not be negative, got -1}}
  simt.mma_wait -1
  return
}

// -----

func.func @thread_group_wait_c1(%a: vector<4xi32>) {
  // expected-error @below {{'simt.thread_group_wait' op needs a result for each value, of its type}}
  %b = simt.thread_group_wait 0 of (%a : vector<4xi32>) -> vector<2xi32>
  return
}

// -----

func.func @thread_group_wait_c2() {
  // expected-error @below {{'simt.thread_group_wait' op pending must not be negative, got -1}}
  simt.thread_group_wait -1
  return
}

// -----

func.func @alloc_ring() {
  // expected-error @below {{'simt.alloc' op ring must not be negative, got -1}}
  %a = simt.alloc 16 {ring = -1 : i64}
  return
}

// -----

func.func @thread_group_mma_c3(%p: !llvm.ptr<3>, %a: vector<4xi32>) {
  // expected-error @below {{'simt.thread_group_mma' op needs a pointer to the left factor or a fragment for each place and step, got 1 fragments}}
  %c = simt.thread_group_mma held (%a : vector<4xi32>), %p, %a by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>
    {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0, 1>, rhsSteps = array<i32: 0, 32>,
     lhsSwizzle = 32 : i32, rhsSwizzle = 32 : i32, lhsStride = 256 : i32, rhsStride = 256 : i32,
     lhsLeading = 16 : i32, rhsLeading = 16 : i32} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
  return
}

// -----

func.func @thread_group_mma_c4(%p: !llvm.ptr<3>, %a: vector<4xi32>) {
  // expected-error @below {{'simt.thread_group_mma' op needs factors that run along K for #simt.instruction<family = wgmma, m = 64, n = 8, k = 8, lhs = tf32, rhs = tf32, acc = f32>}}
  %c = simt.thread_group_mma at %p : !llvm.ptr<3>, %p, %a by <family = wgmma, m = 64, n = 8, k = 8, lhs = tf32, rhs = tf32, acc = f32>
    {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0>, rhsSteps = array<i32: 0>,
     lhsSwizzle = 32 : i32, rhsSwizzle = 32 : i32, lhsStride = 256 : i32, rhsStride = 256 : i32,
     lhsLeading = 16 : i32, rhsLeading = 16 : i32, rhsAcross} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
  return
}

// -----

func.func @thread_group_mma_c1(%p: !llvm.ptr<3>, %a: vector<4xi32>) {
  // expected-error @below {{'simt.thread_group_mma' op needs as many places and results as accumulators, and steps in pairs}}
  %c = simt.thread_group_mma at %p : !llvm.ptr<3>, %p, %a by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>
    {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0, 32>, rhsSteps = array<i32: 0>,
     lhsSwizzle = 32 : i32, rhsSwizzle = 32 : i32, lhsStride = 256 : i32, rhsStride = 256 : i32,
     lhsLeading = 16 : i32, rhsLeading = 16 : i32} : !llvm.ptr<3>, vector<4xi32> -> vector<4xi32>
  return
}

// -----

func.func @thread_group_mma_c2(%p: !llvm.ptr<3>, %a: vector<2xi32>) {
  // expected-error @below {{'simt.thread_group_mma' op needs integers with what a lane holds for #simt.instruction<family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>, got 'vector<2xi32>'}}
  %c = simt.thread_group_mma at %p : !llvm.ptr<3>, %p, %a by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32>
    {lhsPlaces = array<i32: 0>, rhsPlaces = array<i32: 0>, lhsSteps = array<i32: 0>, rhsSteps = array<i32: 0>,
     lhsSwizzle = 32 : i32, rhsSwizzle = 32 : i32, lhsStride = 256 : i32, rhsStride = 256 : i32,
     lhsLeading = 16 : i32, rhsLeading = 16 : i32} : !llvm.ptr<3>, vector<2xi32> -> vector<2xi32>
  return
}

// -----

func.func @thread_copy_c1(%p: !llvm.ptr<3>, %q: !llvm.ptr<1>) {
  // expected-error @below {{'simt.thread_copy' op copies 4, 8 or 16 bytes, got 2}}
  simt.thread_copy %p, %q 2 : !llvm.ptr<3>, !llvm.ptr<1>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [1, 0]], dims = [2, 4]>

func.func @local_copy_c2(%p: tensor<4x4x!tile.ptr<f16>>, %c: i1) {
  %b = simt.alloc 32
  // expected-error @below {{'simt.local_copy' op needs a swizzle that has an offset for each element of the padded tile}}
  simt.local_copy %p if %c to %b[] #swizzle : tensor<4x4x!tile.ptr<f16>>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], dims = [2, 16]>

func.func @local_tensor_copy_c1(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1, %b: !simt.buffer) {
  %w = simt.alloc 8
  // expected-error @below {{'simt.local_tensor_copy' op needs buffers that are results of simt.alloc}}
  simt.local_tensor_copy %map, %p[%i, %i] if %c to %b[] signals %w[%i] [2, 16] #swizzle : !tile.ptr<f16>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], dims = [2, 16]>

func.func @local_tensor_copy_c2(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1) {
  %b = simt.alloc 64
  %w = simt.alloc 8
  // expected-error @below {{'simt.local_tensor_copy' op needs 2 coordinates and extents, got 1 and 2}}
  simt.local_tensor_copy %map, %p[%i] if %c to %b[] signals %w[%i] [2, 16] #swizzle : !tile.ptr<f16>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [1, 0], [0, 4], [0, 8]], dims = [2, 16]>

func.func @local_tensor_copy_c3(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1) {
  %b = simt.alloc 64
  %w = simt.alloc 8
  // expected-error @below {{'simt.local_tensor_copy' op needs a swizzle with rows of 'f16' that the copy engine knows}}
  simt.local_tensor_copy %map, %p[%i, %i] if %c to %b[] signals %w[%i] [2, 16] #swizzle : !tile.ptr<f16>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], dims = [2, 16]>

func.func @local_tensor_copy_c4(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1) {
  %b = simt.alloc 64
  %w = simt.alloc 8
  // expected-error @below {{'simt.local_tensor_copy' op copies blocks of the shape of the swizzle, of at least 8 rows, got [2, 16]}}
  simt.local_tensor_copy %map, %p[%i, %i] if %c to %b[] signals %w[%i] [2, 16] #swizzle : !tile.ptr<f16>
  return
}

// -----

#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8]], dims = [8, 16]>

func.func @local_tensor_copy_c5(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1) {
  %b = simt.alloc 256
  %w = simt.alloc 8
  // expected-error @below {{'simt.local_tensor_copy' op needs a slot and a parity with 'released', and none without}}
  "simt.local_tensor_copy"(%map, %p, %i, %i, %c, %b, %w, %i, %w)
    <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 1, 0, 1, 1, 1, 0, 0>, shape = array<i64: 8, 16>, swizzle = #swizzle}>
    : (!tile.tensor_map, !tile.ptr<f16>, i32, i32, i1, !simt.buffer, !simt.buffer, i32, !simt.buffer) -> ()
  return
}

// -----

func.func @mbarrier_init_c1(%b: !simt.buffer) {
  // expected-error @below {{'simt.mbarrier_init' op needs buffers that are results of simt.alloc}}
  simt.mbarrier_init %b, 1
  return
}

// -----

func.func @mbarrier_init_c2() {
  %b = simt.alloc 8
  // expected-error @below {{'simt.mbarrier_init' op needs a positive number of arrivals, got 0}}
  simt.mbarrier_init %b, 0
  return
}

// -----

func.func @mbarrier_end_c1(%b: !simt.buffer) {
  // expected-error @below {{'simt.mbarrier_end' op needs buffers that are results of simt.alloc}}
  simt.mbarrier_end %b
  return
}

// -----

func.func @copy_commit_c1(%b: !simt.buffer, %i: i32) {
  // expected-error @below {{'simt.copy_commit' op needs buffers that are results of simt.alloc}}
  simt.copy_commit signals %b[%i]
  return
}

// -----

func.func @copy_commit_c1_slot() {
  %b = simt.alloc 8
  // expected-error @below {{'simt.copy_commit' op needs a slot with barriers, and none without}}
  "simt.copy_commit"(%b) <{operandSegmentSizes = array<i32: 1, 0>}> : (!simt.buffer) -> ()
  return
}

// -----

func.func @mbarrier_arrive_c1(%b: !simt.buffer, %i: i32, %c: i1) {
  %r = simt.alloc 64 {ring = 0 : i64}
  // expected-error @below {{'simt.mbarrier_arrive' op needs buffers that are results of simt.alloc}}
  simt.mbarrier_arrive %b[%i] if %c releases %r
  return
}

// -----

func.func @mbarrier_arrive_c1_ring(%i: i32, %c: i1) {
  %b = simt.alloc 8
  // expected-error @below {{'simt.mbarrier_arrive' op releases a buffer that is no ring}}
  simt.mbarrier_arrive %b[%i] if %c releases %b
  return
}

// -----

func.func @mbarrier_wait_c1(%b: !simt.buffer, %i: i32) {
  // expected-error @below {{'simt.mbarrier_wait' op needs buffers that are results of simt.alloc}}
  simt.mbarrier_wait %b[%i], %i
  return
}

// -----

func.func @thread_tensor_copy_c1(%s: !llvm.ptr<3>, %map: !llvm.ptr) {
  // expected-error @below {{'simt.thread_tensor_copy' op needs 1 to 5 coordinates, got 0}}
  simt.thread_tensor_copy %s, %map[] signals %s : !llvm.ptr<3>, !llvm.ptr, !llvm.ptr<3>
  return
}

// -----

func.func @thread_mbarrier_init_c1(%s: !llvm.ptr<3>) {
  // expected-error @below {{'simt.thread_mbarrier_init' op needs a positive number of arrivals, got 0}}
  simt.thread_mbarrier_init %s, 0 : !llvm.ptr<3>
  return
}

// -----

func.func @thread_mbarrier_arrive_c1(%s: !llvm.ptr<3>) {
  // expected-error @below {{'simt.thread_mbarrier_arrive' op needs a number of bytes that is not negative, got -1}}
  simt.thread_mbarrier_arrive %s, -1 : !llvm.ptr<3>
  return
}
