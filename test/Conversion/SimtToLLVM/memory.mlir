// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse --split-input-file | FileCheck %s

// A module a width of warps: nothing is the same number.

#w32 = #simt.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], dims = [256]>
#padded = #simt.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0]], dims = [128]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {

// CHECK-LABEL: func.func @warp32(
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 31 : i32
// CHECK-DAG:     %[[LANE:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
// CHECK-DAG:     simt.warp_id
// CHECK:         simt.thread_load %{{.*}} : <1> -> vector<4xi32>
// CHECK-NEXT:    llvm.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK:         simt.thread_store %{{.*}} : <1>, vector<4xi32>
// CHECK-NOT:     simt.thread_store
func.func @warp32(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 256 : tensor<256xi32, #w32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #w32>
  %ps = tile.addptr %xs, %at : tensor<256x!tile.ptr<f32>, #w32>, tensor<256xi32, #w32>
  %a = tile.load %ps {simt.vector = 16 : i32} : tensor<256x!tile.ptr<f32>, #w32> -> tensor<256xf32, #w32>
  tile.store %ps, %a {simt.vector = 16 : i32} : tensor<256x!tile.ptr<f32>, #w32>, tensor<256xf32, #w32>
  return
}

// Elements of two bytes go in words of four; elements beyond the shape and copies of the other warp are masked.
// CHECK-LABEL: func.func @padded(
// CHECK-DAG:     %[[EXTENT:.*]] = arith.constant 100 : i32
// CHECK-DAG:     %[[WARP:.*]] = simt.warp_id
// CHECK-DAG:     %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]]
// CHECK-DAG:     %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[EXTENT]]
// CHECK-DAG:     %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[INSIDE]] : i1
// CHECK-DAG:     simt.thread_load %{{.*}} mask %[[INSIDE]] : <1> -> vector<2xi32>
// CHECK:         simt.thread_store %{{.*}} mask %[[BOTH]] : <1>, vector<2xi32>
func.func @padded(%x: !tile.ptr<f16>) attributes {tile.kernel} {
  %at = tile.arange 0 to 100 : tensor<100xi32, #padded>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<100x!tile.ptr<f16>, #padded>
  %ps = tile.addptr %xs, %at : tensor<100x!tile.ptr<f16>, #padded>, tensor<100xi32, #padded>
  %a = tile.load %ps {simt.vector = 4 : i32} : tensor<100x!tile.ptr<f16>, #padded> -> tensor<100xf16, #padded>
  tile.store %ps, %a {simt.vector = 4 : i32} : tensor<100x!tile.ptr<f16>, #padded>, tensor<100xf16, #padded>
  return
}

// All threads load a scalar, one stores it.
// CHECK-LABEL: func.func @scalars(
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq
// CHECK:         simt.thread_load %{{.*}} {evict = 1 : i32}
// CHECK:         simt.thread_store %{{.*}} mask %[[FIRST]]
// CHECK:         simt.thread_atomic_rmw
// CHECK-SAME:      mask %[[FIRST]]
// CHECK:         simt.thread_atomic_cas
// CHECK-SAME:      mask %[[FIRST]]
func.func @scalars(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %a = tile.load %x {evict = 1 : i32} : !tile.ptr<f32> -> f32
  tile.store %x, %a : !tile.ptr<f32>, f32
  %b = tile.atomic_rmw fadd, %x, %a : !tile.ptr<f32>, f32 -> f32
  %c = tile.atomic_cas %x, %a, %a : !tile.ptr<f32>, f32
  return
}
}

// -----

#w64 = #simt.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]], warp = [[256]], dims = [512]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 64>} {

// CHECK-LABEL: func.func @warp64(
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 63 : i32
// CHECK-DAG:     %[[LANE:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
// CHECK:         simt.thread_load %{{.*}} mask %{{.*}} other %{{.*}} : vector<4xi32> : <1> -> vector<4xi32>
func.func @warp64(%x: !tile.ptr<f32>, %n: i32, %o: f32) attributes {tile.kernel} {
  %at = tile.arange 0 to 512 : tensor<512xi32, #w64>
  %ns = tile.splat %n : i32 -> tensor<512xi32, #w64>
  %os = tile.splat %o : f32 -> tensor<512xf32, #w64>
  %m = arith.cmpi slt, %at, %ns : tensor<512xi32, #w64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #w64>
  %ps = tile.addptr %xs, %at : tensor<512x!tile.ptr<f32>, #w64>, tensor<512xi32, #w64>
  %a = tile.load %ps mask %m : tensor<512xi1, #w64> other %os : tensor<512xf32, #w64> {simt.vector = 4 : i32} : tensor<512x!tile.ptr<f32>, #w64> -> tensor<512xf32, #w64>
  tile.store %ps, %a : tensor<512x!tile.ptr<f32>, #w64>, tensor<512xf32, #w64>
  return
}
}

// -----

// Masks that are known: a load gives `other` where none of it is read, whatever the type, and needs no mask where all of it
// is. A store or an atomic update of nothing is none.
#one = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {

// CHECK-LABEL: func.func @constant_masks(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %[[Y:.*]]: !llvm.ptr<1>, %[[OTHER:.*]]: f16
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NOT:     thread_atomic
// CHECK:         %[[READ:.*]] = simt.thread_load %[[Y]] : <1> -> i16
// CHECK-NOT:     simt.thread_load
// CHECK:         simt.thread_store %{{.*}}, %[[ONE]] : <1>, i64
// CHECK-NEXT:    simt.thread_store %{{.*}}, %[[ONE]] : <1>, i64
// CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %[[OTHER]] : f16 to i16
// CHECK-NEXT:    simt.thread_store %[[Y]], %[[BITS]] mask
// CHECK-NEXT:    simt.thread_store %[[Y]], %[[READ]] mask
// CHECK-NEXT:    return
func.func @constant_masks(%x: !tile.ptr<i64>, %y: !tile.ptr<f16>, %o: f16) attributes {tile.kernel} {
  %true = arith.constant true
  %false = arith.constant false
  %no = arith.constant dense<false> : tensor<64xi1, #one>
  %ones = arith.constant dense<1> : tensor<64xi64, #one>
  %at = tile.arange 0 to 64 : tensor<64xi32, #one>
  %xs = tile.splat %x : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>, #one>
  %px = tile.addptr %xs, %at : tensor<64x!tile.ptr<i64>, #one>, tensor<64xi32, #one>
  %a = tile.load %y mask %true : i1 other %o : f16 : !tile.ptr<f16> -> f16
  %b = tile.load %px mask %no : tensor<64xi1, #one> other %ones : tensor<64xi64, #one> : tensor<64x!tile.ptr<i64>, #one> -> tensor<64xi64, #one>
  %c = tile.load %y mask %false : i1 other %o : f16 : !tile.ptr<f16> -> f16
  %d = tile.atomic_rmw add, %px, %ones mask %no : tensor<64xi1, #one> : tensor<64x!tile.ptr<i64>, #one>, tensor<64xi64, #one> -> tensor<64xi64, #one>
  tile.store %px, %b : tensor<64x!tile.ptr<i64>, #one>, tensor<64xi64, #one>
  tile.store %px, %ones mask %no : tensor<64xi1, #one> : tensor<64x!tile.ptr<i64>, #one>, tensor<64xi64, #one>
  tile.store %y, %c : !tile.ptr<f16>, f16
  tile.store %y, %a mask %true : i1 : !tile.ptr<f16>, f16
  tile.store %y, %c mask %false : i1 : !tile.ptr<f16>, f16
  return
}
}
