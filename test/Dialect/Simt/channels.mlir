// RUN: tz-opt %s --split-input-file --pass-pipeline='builtin.module(tz-choose-matrix-units,tz-tile-to-simt,tz-simt-channels,canonicalize,cse)' | FileCheck %s
// RUN: tz-opt %s --split-input-file --pass-pipeline='builtin.module(tz-choose-matrix-units,tz-tile-to-simt,tz-simt-channels,canonicalize,cse,tz-simt-decompose,tz-fit-shared,tz-insert-mma-waits,tz-allocate-shared,tz-insert-barriers,tz-check-barriers)' -o /dev/null

// The right factor is loaded in the loop, and the sum only added to: a product may run on into the next iteration, so there is a slot
// more than stages. Two copies before the loop; the one in it fills the slot two before the one that is read. The left factor does
// not change: it is stored in front.
// CHECK-LABEL: func.func @ring
// CHECK: %[[RING:.*]] = simt.alloc 8192 {alignment = 512 : i64, ring = 1 : i64}
// CHECK: simt.local_copy {{.*}} to %[[RING]][%c0_i32]
// CHECK: simt.copy_commit
// CHECK: simt.local_copy {{.*}} to %[[RING]][%c1024_i32]
// CHECK: simt.copy_commit
// CHECK: simt.local_store
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %c0_i32)
// CHECK-NEXT: simt.copy_wait 1
// CHECK-NEXT: simt.barrier units
// CHECK: %[[READ:.*]] = arith.muli %[[SLOT]], %c1024_i32
// CHECK: simt.local_mma %{{.*}}[] swizzle #{{.*}}, %[[RING]][%[[READ]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[SLOT]], %c2_i32
// CHECK: %[[WRAPS:.*]] = arith.cmpi sge, %[[NEXT]], %c4_i32
// CHECK: %[[BACK:.*]] = arith.addi %[[SLOT]], %c-2_i32
// CHECK: %[[OLDEST:.*]] = arith.select %[[WRAPS]], %[[BACK]], %[[NEXT]]
// CHECK: %[[FILLED:.*]] = arith.muli %[[OLDEST]], %c1024_i32
// CHECK: simt.local_copy {{.*}} to %[[RING]][%[[FILLED]]]
// CHECK-NEXT: simt.copy_commit
// CHECK-NOT: tile.load
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @ring(%b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
    %a = arith.constant dense<2.0> : tensor<64x32xf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %row = tile.arange 0 to 32 : tensor<32xi32>
    %width = arith.constant dense<32> : tensor<32x1xi32>
    %rows = tile.expand_dims %row, 1 : tensor<32xi32> -> tensor<32x1xi32>
    %columns = tile.expand_dims %row, 0 : tensor<32xi32> -> tensor<1x32xi32>
    %start = arith.muli %rows, %width : tensor<32x1xi32>
    %across = tile.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
    %along = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
    %place = arith.addi %across, %along : tensor<32x32xi32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %skip = arith.muli %i, %k : i32
      %base = tile.addptr %b, %skip : !tile.ptr<f16>, i32
      %bases = tile.splat %base : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
      %p = tile.addptr %bases, %place : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
      %x = tile.load %p : tensor<32x32x!tile.ptr<f16>> -> tensor<32x32xf16>
      %d = tile.dot %a, %x, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      scf.yield %d : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}

// -----

// The same on a chip with barriers in memory: the threads arrive at one when their copies have been made, the warps at another when they have
// read a slot, the one of the iteration before, and the threads do not meet in the loop.
// CHECK-LABEL: func.func @released
// CHECK: %[[RING:.*]] = simt.alloc 8192 {alignment = 512 : i64, ring = 1 : i64}
// CHECK: %[[FULL:.*]] = simt.alloc 32
// CHECK: simt.mbarrier_init %[[FULL]], 256
// CHECK: %[[FREE:.*]] = simt.alloc 32
// CHECK: simt.mbarrier_init %[[FREE]], 8
// CHECK: simt.barrier units
// CHECK: simt.copy_commit signals %[[FULL]][%c0_i32]
// CHECK: simt.copy_commit signals %[[FULL]][%c1_i32]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %c0_i32, %[[PARITY:.*]] = %c0_i32)
// CHECK-NEXT: simt.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[PARITY]] units
// CHECK-NOT: simt.barrier
// CHECK: simt.local_mma
// CHECK: simt.mbarrier_wait %[[FREE]][%[[FILLED:.*]]], %{{[^u]*}}
// CHECK: simt.local_copy
// CHECK: simt.copy_commit signals %[[FULL]][%[[FILLED]]]
// CHECK: simt.mbarrier_arrive %[[FREE]][%{{.*}}] if %{{.*}} releases %[[RING]]
// CHECK: scf.yield
// CHECK: simt.mbarrier_end %[[FULL]]
// CHECK: simt.mbarrier_end %[[FREE]]
module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, units = tensor_copy, matrix = wgmma_sm90>} {
  func.func @released(%b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
    %a = arith.constant dense<2.0> : tensor<64x32xf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %row = tile.arange 0 to 32 : tensor<32xi32>
    %width = arith.constant dense<32> : tensor<32x1xi32>
    %rows = tile.expand_dims %row, 1 : tensor<32xi32> -> tensor<32x1xi32>
    %columns = tile.expand_dims %row, 0 : tensor<32xi32> -> tensor<1x32xi32>
    %start = arith.muli %rows, %width : tensor<32x1xi32>
    %across = tile.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
    %along = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
    %place = arith.addi %across, %along : tensor<32x32xi32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %skip = arith.muli %i, %k : i32
      %base = tile.addptr %b, %skip : !tile.ptr<f16>, i32
      %bases = tile.splat %base : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
      %p = tile.addptr %bases, %place : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
      %x = tile.load %p : tensor<32x32x!tile.ptr<f16>> -> tensor<32x32xf16>
      %d = tile.dot %a, %x, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      scf.yield %d : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}

// -----

// Nothing runs ahead of what a kernel writes itself.
// CHECK-LABEL: func.func @written
// CHECK-NOT: simt.local_copy
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @written(%b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
    %a = arith.constant dense<2.0> : tensor<64x32xf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %one = arith.constant dense<1.0> : tensor<32x32xf16>
    %row = tile.arange 0 to 32 : tensor<32xi32>
    %columns = tile.expand_dims %row, 0 : tensor<32xi32> -> tensor<1x32xi32>
    %place = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
    %bases = tile.splat %b : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
    %p = tile.addptr %bases, %place : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %x = tile.load %p : tensor<32x32x!tile.ptr<f16>> -> tensor<32x32xf16>
      %d = tile.dot %a, %x, %acc : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
      tile.store %p, %one : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xf16>
      scf.yield %d : tensor<64x32xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>
    return
  }
}

// -----

// tf32 whose right factor runs along N, which the unit does not read: the loop adds up the transpose. What was the right factor is read from its ring
// into registers, so that the product ends in its own iteration and no ring has a slot more; what was the left one the unit reads as it lies.
// CHECK-LABEL: func.func @turned
// CHECK: %[[LEFT:.*]] = simt.alloc 24576 {alignment = 1024 : i64, ring = 0 : i64}
// CHECK: %[[RIGHT:.*]] = simt.alloc 49152 {alignment = 1024 : i64, ring = 0 : i64}
// CHECK: %[[SUM:.*]]:{{.*}} = scf.for {{.*}} -> (tensor<128x64xf32
// CHECK: %[[HELD:.*]] = simt.local_load %[[RIGHT]]
// CHECK: simt.local_mma %[[HELD]][], %[[LEFT]][{{.*}}] swizzle {{.*}} by <family = wgmma, m = 64, n = 64, k = 8, lhs = tf32, rhs = tf32, acc = f32>
// CHECK: %[[OUT:.*]] = simt.convert_layout %[[SUM]]#0
// CHECK: tile.transpose %[[OUT]], [1, 0]
module attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @turned(%a: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r64 = tile.arange 0 to 64 : tensor<64xi32>
    %r32 = tile.arange 0 to 32 : tensor<32xi32>
    %r128 = tile.arange 0 to 128 : tensor<128xi32>
    %c32 = arith.constant dense<32> : tensor<64x1xi32>
    %c128 = arith.constant dense<128> : tensor<32x1xi32>
    %d128 = arith.constant dense<128> : tensor<64x1xi32>
    %m = tile.expand_dims %r64, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %km = tile.expand_dims %r32, 0 : tensor<32xi32> -> tensor<1x32xi32>
    %ms = arith.muli %m, %c32 : tensor<64x1xi32>
    %ma = tile.broadcast %ms : tensor<64x1xi32> -> tensor<64x32xi32>
    %mk = tile.broadcast %km : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa = arith.addi %ma, %mk : tensor<64x32xi32>
    %kn = tile.expand_dims %r32, 1 : tensor<32xi32> -> tensor<32x1xi32>
    %nn = tile.expand_dims %r128, 0 : tensor<128xi32> -> tensor<1x128xi32>
    %ks = arith.muli %kn, %c128 : tensor<32x1xi32>
    %kb = tile.broadcast %ks : tensor<32x1xi32> -> tensor<32x128xi32>
    %nb = tile.broadcast %nn : tensor<1x128xi32> -> tensor<32x128xi32>
    %pb = arith.addi %kb, %nb : tensor<32x128xi32>
    %s2048 = arith.constant 2048 : i32
    %s4096 = arith.constant 4096 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32>) : i32 {
      %ia = arith.muli %i, %s2048 : i32
      %ib = arith.muli %i, %s4096 : i32
      %ba = tile.addptr %a, %ia : !tile.ptr<f32>, i32
      %bb = tile.addptr %b, %ib : !tile.ptr<f32>, i32
      %sa = tile.splat %ba : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
      %sb = tile.splat %bb : !tile.ptr<f32> -> tensor<32x128x!tile.ptr<f32>>
      %qa = tile.addptr %sa, %pa : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
      %qb = tile.addptr %sb, %pb : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
      %x = tile.load %qa : tensor<64x32x!tile.ptr<f32>> -> tensor<64x32xf32>
      %y = tile.load %qb : tensor<32x128x!tile.ptr<f32>> -> tensor<32x128xf32>
      %d = tile.dot %x, %y, %acc {precision = 1 : i32} : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
      scf.yield %d : tensor<64x128xf32>
    }
    %mo = arith.muli %m, %d128 : tensor<64x1xi32>
    %mb = tile.broadcast %mo : tensor<64x1xi32> -> tensor<64x128xi32>
    %no = tile.broadcast %nn : tensor<1x128xi32> -> tensor<64x128xi32>
    %po = arith.addi %mb, %no : tensor<64x128xi32>
    %so = tile.splat %o : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
    %qo = tile.addptr %so, %po : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
    tile.store %qo, %sum : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>
    return
  }
}
