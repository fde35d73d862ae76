// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s | tz-opt | FileCheck %s
// RUN: tz-opt %s --mlir-print-op-generic | tz-opt | FileCheck %s

// Layouts are named at the head; equal ones once, empty inputs stay. A wave of 64 lanes has six lane bits.
// CHECK-DAG: #[[$ROW:.+]] = #simt.layout<register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 0], [0, 0]], dims = [8, 8]>
// CHECK-DAG: #[[$COLUMN:.+]] = #simt.layout<register = {{\[\[}}1, 0]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = {{\[\[}}0, 0], [0, 0]], dims = [8, 8]>
// CHECK-DAG: #[[$WARPS:.+]] = #simt.layout<register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]], dims = [128]>
// CHECK-DAG: #[[$WAVE:.+]] = #simt.layout<register = [], lane = {{\[\[}}1], [2], [4], [8], [16], [32]], warp = {{\[\[}}0]], dims = [64]>
// CHECK-DAG: #[[$PARTS:.+]] = #simt.layout<register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], dims = [4]>
// CHECK-DAG: #[[$SWIZZLE:.+]] = #simt.layout<offset = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]], dims = [8, 8]>
#row = #simt.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#same = #simt.layout<register=[[0,1]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,0],[0,0]], dims=[8,8]>
#column = #simt.layout<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]], dims = [8, 8]>
#warps = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], dims = [128]>
#wave = #simt.layout<register = [], lane = [[1], [2], [4], [8], [16], [32]], warp = [[0]], dims = [64]>
#parts = #simt.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]], dims = [4]>
#swizzle = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]], dims = [8, 8]>

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<8x8xf32, #row>, %y: tensor<7x8xf32, #same>, %v: tensor<128xf32, #warps>, %w: tensor<64xi1, #wave>) {
  // CHECK: simt.convert_layout %{{.*}} : tensor<8x8xf32, #[[$ROW]]> -> tensor<8x8xf32, #[[$COLUMN]]>
  %a = simt.convert_layout %x : tensor<8x8xf32, #row> -> tensor<8x8xf32, #column>
  // The shape may be less than the layout's padded extents.
  // CHECK: simt.convert_layout %{{.*}} : tensor<7x8xf32, #[[$ROW]]> -> tensor<7x8xf32, #[[$COLUMN]]>
  %b = simt.convert_layout %y : tensor<7x8xf32, #same> -> tensor<7x8xf32, #column>
  // CHECK: simt.warp_reduce(%{{.*}}), 0 {commutative} : (tensor<128xf32, #[[$WARPS]]>) -> tensor<4xf32, #[[$PARTS]]> {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
  // CHECK-NEXT: simt.yield %[[S]] : f32
  // CHECK-NEXT: }
  %c = simt.warp_reduce(%v), 0 {commutative} : (tensor<128xf32, #warps>) -> tensor<4xf32, #parts> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    simt.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32, {{.*}}>, %[[I:.*]]: tensor<8x8xi32, {{.*}}>, %[[M:.*]]: tensor<8x8xi1, {{.*}}>, %[[O:.*]]: i32, %[[F:.*]]: f32
func.func @shared(%x: tensor<8x8xf32, #row>, %i: tensor<8x8xi32, #row>, %m: tensor<8x8xi1, #row>, %o: i32, %f: f32) {
  // CHECK: %[[B:.*]] = simt.alloc 256
  %b = simt.alloc 256
  // CHECK: %[[C:.*]] = simt.alloc 512 at 256
  %c = simt.alloc 512 at 256
  // CHECK: simt.local_store %[[X]], %[[B]][] base 0 strides [8, 1] : tensor<8x8xf32, #[[$ROW]]>
  simt.local_store %x, %b[] base 0 strides [8, 1] : tensor<8x8xf32, #row>
  // CHECK: simt.local_store %[[X]], %[[B]][%[[O]]] base 3 strides [-8, 1] {disjoint} : tensor<8x8xf32, #[[$ROW]]>
  simt.local_store %x, %b[%o] base 3 strides [-8, 1] {disjoint} : tensor<8x8xf32, #row>
  // CHECK: simt.local_store %[[X]], %[[B]][] base 0 strides [] swizzle #[[$SWIZZLE]] : tensor<8x8xf32, #[[$ROW]]>
  simt.local_store %x, %b[] base 0 strides [] swizzle #swizzle : tensor<8x8xf32, #row>
  // CHECK: simt.local_store %[[F]], %[[B]][] base 0 strides [] : f32
  simt.local_store %f, %b[] base 0 strides [] : f32
  // CHECK: simt.local_load %[[B]][%[[O]]] base -1 strides [1, 8] : tensor<8x8xf32, #[[$COLUMN]]>
  %l = simt.local_load %b[%o] base -1 strides [1, 8] : tensor<8x8xf32, #column>
  // CHECK: simt.local_load %[[B]][] base -8 strides [1, 8] otherwise %{{.*}} : tensor<8x8xf32, #[[$COLUMN]]> {within = 8 : i32} : tensor<8x8xf32, #[[$COLUMN]]>
  %part = simt.local_load %b[] base -8 strides [1, 8] otherwise %l : tensor<8x8xf32, #column> {within = 8 : i32} : tensor<8x8xf32, #column>
  // CHECK: simt.local_load %[[B]][] base 0 strides [] swizzle #[[$SWIZZLE]] : tensor<8x8xf32, #[[$COLUMN]]>
  %s = simt.local_load %b[] base 0 strides [] swizzle #swizzle : tensor<8x8xf32, #column>
  // CHECK: simt.local_load %[[B]][] base 0 strides [] : !tile.ptr<f32>
  %t = simt.local_load %b[] base 0 strides [] : !tile.ptr<f32>
  // CHECK: simt.local_gather %[[B]][%[[I]]], 1 extent 8 strides [8, 1] : tensor<8x8xi32, #[[$ROW]]> -> tensor<8x8xf32, #[[$ROW]]>
  %g = simt.local_gather %b[%i], 1 extent 8 strides [8, 1] : tensor<8x8xi32, #row> -> tensor<8x8xf32, #row>
  // CHECK: simt.local_count %[[C]][%[[I]]], 16 : tensor<8x8xi32, #[[$ROW]]>
  simt.local_count %c[%i], 16 : tensor<8x8xi32, #row>
  // CHECK: simt.local_count %[[C]][%[[I]]] mask %[[M]] : tensor<8x8xi1, #[[$ROW]]>, 16 : tensor<8x8xi32, #[[$ROW]]>
  simt.local_count %c[%i] mask %m : tensor<8x8xi1, #row>, 16 : tensor<8x8xi32, #row>
  // CHECK: simt.local_dot %[[B]] : f16 [1, 8], %[[C]] : f16 [8, 1], %[[X]] depth 4 : tensor<8x8xf32, #[[$ROW]]> -> tensor<8x8xf32, #[[$ROW]]>
  %d = simt.local_dot %b : f16 [1, 8], %c : f16 [8, 1], %x depth 4 : tensor<8x8xf32, #row> -> tensor<8x8xf32, #row>
  // CHECK: simt.local_dot %{{.*}} : i8 [1, 8], %{{.*}} : i8 [8, 1], %{{.*}} depth 4 {isUnsigned}
  %e = simt.local_dot %b : i8 [1, 8], %c : i8 [8, 1], %i depth 4 {isUnsigned} : tensor<8x8xi32, #row> -> tensor<8x8xi32, #row>
  return
}

// What one thread does has no tiles.
// CHECK-LABEL: func.func @thread
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[M:.*]]: i1, %[[V:.*]]: i32, %[[W:.*]]: vector<4xi32>, %[[F:.*]]: f16
func.func @thread(%p: !llvm.ptr<1>, %m: i1, %v: i32, %w: vector<4xi32>, %f: f16) {
  // CHECK-NEXT: simt.barrier{{$}}
  simt.barrier
  // CHECK-NEXT: simt.thread_id{{$}}
  %t = simt.thread_id
  // CHECK-NEXT: simt.warp_id{{$}}
  %u = simt.warp_id
  // CHECK-NEXT: simt.shared_base : <3>
  %s = simt.shared_base : !llvm.ptr<3>
  // CHECK-NEXT: simt.shuffle_xor %[[V]], 16
  %x = simt.shuffle_xor %v, 16
  // CHECK-NEXT: simt.shuffle_index %[[V]], %{{.*}}
  %i = simt.shuffle_index %v, %t
  // CHECK-NEXT: simt.thread_load %[[P]] : <1> -> i32
  %a = simt.thread_load %p : !llvm.ptr<1> -> i32
  // CHECK-NEXT: simt.thread_load %[[P]] mask %[[M]] other %[[W]] : vector<4xi32>
  // CHECK-SAME: {cache = 2 : i32, evict = 1 : i32, isVolatile} : <1> -> vector<4xi32>
  %b = simt.thread_load %p mask %m other %w : vector<4xi32> {cache = 2 : i32, evict = 1 : i32, isVolatile} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NEXT: simt.thread_store %[[P]], %[[W]] : <1>, vector<4xi32>
  simt.thread_store %p, %w : !llvm.ptr<1>, vector<4xi32>
  // CHECK-NEXT: simt.thread_store %{{.*}}, %[[V]] mask %[[M]] {evict = 2 : i32} : <3>, i32
  simt.thread_store %s, %v mask %m {evict = 2 : i32} : !llvm.ptr<3>, i32
  // CHECK-NEXT: simt.thread_atomic_rmw fadd, %[[P]], %[[F]] mask %[[M]] : <1>, f16 -> f16
  %c = simt.thread_atomic_rmw fadd, %p, %f mask %m : !llvm.ptr<1>, f16 -> f16
  // CHECK-NEXT: simt.thread_atomic_rmw umax, %[[P]], %[[V]] {scope = 2 : i32, sem = 0 : i32} : <1>, i32 -> i32
  %d = simt.thread_atomic_rmw umax, %p, %v {scope = 2 : i32, sem = 0 : i32} : !llvm.ptr<1>, i32 -> i32
  // CHECK-NEXT: simt.thread_atomic_cas %[[P]], %[[V]], %{{.*}} mask %[[M]] : <1>, i32
  %e = simt.thread_atomic_cas %p, %v, %t mask %m : !llvm.ptr<1>, i32
  // CHECK-NEXT: simt.thread_fence acq_rel cta
  simt.thread_fence acq_rel cta
  return
}

#rows = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8]], dims = [8, 16]>

// Copies by the copy engine, for a block and for one thread.
// CHECK-LABEL: @tensor_copies
// CHECK-SAME:    %[[MAP:.*]]: !tile.tensor_map, %[[P:.*]]: !tile.ptr<f16>, %[[I:.*]]: i32, %[[C:.*]]: i1, %[[S:.*]]: !llvm.ptr<3>, %[[M:.*]]: !llvm.ptr)
func.func @tensor_copies(%map: !tile.tensor_map, %p: !tile.ptr<f16>, %i: i32, %c: i1, %s: !llvm.ptr<3>, %m: !llvm.ptr) {
  // CHECK: %[[B:.*]] = simt.alloc 256
  // CHECK: %[[W:.*]] = simt.alloc 16
  // CHECK: simt.mbarrier_init %[[W]], 2
  // CHECK: simt.local_tensor_copy %[[MAP]], %[[P]][%[[I]], %[[I]]] if %[[C]] to %[[B]][%[[I]]] signals %[[W]][%[[I]]] [8, 16] #{{.*}} : !tile.ptr<f16>
  // CHECK: simt.mbarrier_wait %[[W]][%[[I]]], %[[I]]
  // CHECK: simt.mbarrier_end %[[W]]
  // CHECK: simt.thread_mbarrier_init %[[S]], 1 : <3>
  // CHECK: simt.thread_mbarrier_arrive %[[S]], 64 : <3>
  // CHECK: simt.thread_tensor_copy %[[S]], %[[M]][%[[I]], %[[I]]] signals %[[S]] : <3>, !llvm.ptr, <3>
  // CHECK: simt.thread_mbarrier_wait %[[S]], %[[I]] : <3>
  // CHECK: simt.thread_mbarrier_end %[[S]] : <3>
  %b = simt.alloc 256
  %w = simt.alloc 16
  simt.mbarrier_init %w, 2
  simt.local_tensor_copy %map, %p[%i, %i] if %c to %b[%i] signals %w[%i] [8, 16] #rows : !tile.ptr<f16>
  simt.mbarrier_wait %w[%i], %i
  simt.mbarrier_end %w
  simt.thread_mbarrier_init %s, 1 : !llvm.ptr<3>
  simt.thread_mbarrier_arrive %s, 64 : !llvm.ptr<3>
  simt.thread_tensor_copy %s, %m[%i, %i] signals %s : !llvm.ptr<3>, !llvm.ptr, !llvm.ptr<3>
  simt.thread_mbarrier_wait %s, %i : !llvm.ptr<3>
  simt.thread_mbarrier_end %s : !llvm.ptr<3>
  return
}
