// RUN: tz-opt %s --split-input-file --pass-pipeline='builtin.module(tz-tile-expand-descriptors,canonicalize,cse,tz-choose-matrix-units,tz-tile-to-simt,tz-simt-channels,canonicalize,cse)' | FileCheck %s
// RUN: tz-opt %s --split-input-file --pass-pipeline='builtin.module(tz-tile-expand-descriptors,canonicalize,cse,tz-choose-matrix-units,tz-tile-to-simt,tz-simt-channels,canonicalize,cse,tz-simt-decompose,tz-fit-shared,tz-insert-mma-waits,tz-allocate-shared,tz-insert-barriers,tz-check-barriers)' -o /dev/null

// Both factors are blocks of described tensors: one barrier a slot counts both copies, the loop waits for it by the parity that it
// carries, and no thread computes an address. The threads do not meet: each copy waits until the four warps have read its slot, those of
// the first turn for nobody (parity 1); a product runs on, so what is released is the slot of the iteration before. The left one lies as it is, the right one is turned. The maps are arguments.
// CHECK: tile.tensor_maps = [#tile.tensor_map<base = 0, element = f16, shape = [{{.*}}], strides = [{{.*}}], box = [64, 32], swizzle_bytes = 64>,
// CHECK-SAME: #tile.tensor_map<base = 1, element = f16, shape = [{{.*}}], strides = [{{.*}}], box = [32, 32], swizzle_bytes = 64>]
// CHECK-LABEL: func.func @ring
// CHECK-SAME:    %[[A:[^:]*]]: !tile.ptr<f16> {{.*}}, %[[B:[^:]*]]: !tile.ptr<f16> {{.*}}, %[[MA:[^:]*]]: !tile.tensor_map, %[[MB:[^:]*]]: !tile.tensor_map)
// CHECK: %[[LEFT:.*]] = simt.alloc {{.*}}ring
// CHECK: %[[RIGHT:.*]] = simt.alloc {{.*}}ring
// CHECK: %[[FULL:.*]] = simt.alloc 32
// CHECK: simt.mbarrier_init %[[FULL]], 2
// CHECK: %[[FREE:.*]] = simt.alloc 32
// CHECK: simt.mbarrier_init %[[FREE]], 4
// CHECK: %[[OTHER:.*]] = simt.alloc 32
// CHECK: simt.mbarrier_init %[[OTHER]], 4
// CHECK: simt.barrier units
// CHECK: simt.local_tensor_copy %[[MA]], %[[A]][%{{.*}}, %c0_i32] if %{{.*}} to %[[LEFT]][%c0_i32] signals %[[FULL]][%c0_i32] [64, 32]
// CHECK: simt.local_tensor_copy %[[MB]], %[[B]][%c0_i32, %c0_i32] if %{{.*}} to %[[RIGHT]][%c0_i32] signals %[[FULL]][%c0_i32] [32, 32]
// CHECK-NOT: simt.copy_commit
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %c0_i32, %[[PARITY:.*]] = %c0_i32)
// CHECK-NEXT: simt.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[PARITY]]
// CHECK-NOT: simt.barrier
// CHECK: simt.local_mma %[[LEFT]]
// CHECK: %[[WRAPS:.*]] = arith.cmpi sge
// CHECK: %[[FILLED:.*]] = arith.select %[[WRAPS]]
// CHECK: %[[LAST:.*]] = arith.cmpi sge
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[PARITY]], %c1_i32
// CHECK: %[[NEXT:.*]] = arith.select %[[LAST]], %[[FLIPPED]], %[[PARITY]]
// CHECK: %[[READ:.*]] = arith.select %[[WRAPS]], %[[PARITY]], %[[FLIPPED]]
// CHECK: simt.local_tensor_copy {{.*}} signals %[[FULL]][%[[FILLED]]] after %[[FREE]][%[[FILLED]]], %[[READ]]
// CHECK: simt.local_tensor_copy {{.*}} signals %[[FULL]][%[[FILLED]]] after %[[OTHER]][%[[FILLED]]], %[[READ]]
// CHECK: %[[ISLATER:.*]] = arith.cmpi uge
// CHECK: simt.mbarrier_arrive %[[FREE]][%{{.*}}] if %[[ISLATER]] releases %[[LEFT]]
// CHECK: simt.mbarrier_arrive %[[OTHER]][%{{.*}}] if %[[ISLATER]] releases %[[RIGHT]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// CHECK-COUNT-3: simt.mbarrier_end
// CHECK-NOT: tile.block_hint
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, units = tensor_copy, matrix = wgmma_sm90>} {
  func.func @ring(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %k: i32 {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i32 to i64
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %da = tile.make_descriptor %a, [%wide, %wide], [%wide, %one] : !tile.descriptor<64x32xf16>
    %db = tile.make_descriptor %b, [%wide, %wide], [%wide, %one] : !tile.descriptor<32x32xf16>
    %row = tile.program_id 0
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %x = tile.descriptor_load %da[%row, %i : i32, i32] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
      %y = tile.descriptor_load %db[%c0, %i : i32, i32] : !tile.descriptor<32x32xf16> -> tensor<32x32xf16>
      %t = tile.transpose %y, [1, 0] : tensor<32x32xf16> -> tensor<32x32xf16>
      %d = tile.dot %x, %t, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      scf.yield %d : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}

// -----

// What the kernel writes itself is not copied, by no engine either, and the hint goes.
// CHECK-LABEL: func.func @written
// CHECK-NOT: simt.local_tensor_copy
// CHECK-NOT: tile.block_hint
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, units = tensor_copy, matrix = wgmma_sm90>} {
  func.func @written(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: i32 {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i32 to i64
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %left = arith.constant dense<2.0> : tensor<64x32xf16>
    %d = tile.make_descriptor %a, [%wide, %wide], [%wide, %one] : !tile.descriptor<32x32xf16>
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %y = tile.descriptor_load %d[%i, %c0 : i32, i32] : !tile.descriptor<32x32xf16> -> tensor<32x32xf16>
      %p = tile.dot %left, %y, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      tile.descriptor_store %d[%i, %c0 : i32, i32], %y : !tile.descriptor<32x32xf16>, tensor<32x32xf16>
      scf.yield %p : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}

// -----

// One tile that two products read, once as its transpose, comes through one ring.
// CHECK-LABEL: func.func @twice
// CHECK: %[[RING:.*]] = simt.alloc {{.*}}ring
// CHECK-NOT: ring =
// CHECK: scf.for
// CHECK: simt.local_mma {{.*}}, %[[RING]][
// CHECK: simt.local_tensor_copy
// CHECK-NOT: simt.local_tensor_copy
// CHECK: simt.local_mma {{.*}}, %[[RING]][
// CHECK: simt.mbarrier_arrive {{.*}} releases %[[RING]]
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 2 : i32, tile.target = #tile.target<warp_size = 32, shared_bytes = 232448, units = tensor_copy, matrix = wgmma_sm90>} {
  func.func @twice(%b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: i32 {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i32 to i64
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %left = arith.constant dense<2.0> : tensor<64x32xf16>
    %db = tile.make_descriptor %b, [%wide, %wide], [%wide, %one] : !tile.descriptor<32x32xf16>
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %y = tile.descriptor_load %db[%i, %c0 : i32, i32] : !tile.descriptor<32x32xf16> -> tensor<32x32xf16>
      %t = tile.transpose %y, [1, 0] : tensor<32x32xf16> -> tensor<32x32xf16>
      %s = tile.dot %left, %t, %zero : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      %h = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
      %d = tile.dot %h, %y, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      scf.yield %d : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}
