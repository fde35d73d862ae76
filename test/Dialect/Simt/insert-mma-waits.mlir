// RUN: tz-opt %s --split-input-file --tz-insert-mma-waits | FileCheck %s

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>
!acc = tensor<64x8xf32, #acc>

// Each product is waited for where its result is read, with those behind it still in flight. What one adds to another is waited for
// with it, and the buffers of both are read until then.
// CHECK-LABEL: func.func @straight
// CHECK: %[[X:.*]] = simt.local_mma %[[M:[a-z0-9_]+]][]
// CHECK: %[[Y:.*]] = simt.local_mma %[[N:[a-z0-9_]+]][]{{.*}}, %[[X]] by
// CHECK: %[[Z:.*]] = simt.local_mma
// CHECK: %[[DONE:.*]] = simt.mma_wait 1 of(%[[Y]] : {{[^)]*}}) reading %[[N]], %[[M]]
// CHECK-NEXT: arith.negf %[[DONE]]
// CHECK-NEXT: %[[LAST:.*]] = simt.mma_wait 0 of(%[[Z]] : {{[^)]*}}) reading %[[M]]
// CHECK-NEXT: arith.addf %[[LAST]], %[[DONE]]
func.func @straight(%c: !acc) -> !acc {
  %m = simt.alloc 4096
  %n = simt.alloc 4096
  %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
  %y = simt.local_mma %n[] swizzle #a, %n[] swizzle #b, %x by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
  %z = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
  %p = arith.negf %y : !acc
  %q = arith.addf %z, %y : !acc
  %r = arith.addf %p, %q : !acc
  return %r : !acc
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>
!acc = tensor<64x8xf32, #acc>

// A loop that only adds to the sum waits one iteration later; the sum is waited for behind it.
// CHECK-LABEL: func.func @carried
// CHECK: %[[RING:.*]] = simt.alloc
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: simt.local_mma
// CHECK-NEXT: simt.mma_wait 1
// CHECK-NEXT: scf.yield
// CHECK: %[[DONE:.*]] = simt.mma_wait 0 of(%[[SUM]] : {{[^)]*}}) reading %[[RING]]
// CHECK-NEXT: return %[[DONE]]
func.func @carried(%c: !acc, %n: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = simt.alloc 8192 {ring = 1 : i64}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> (!acc) : i32 {
    %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %sum by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    scf.yield %x : !acc
  }
  return %s : !acc
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#f = #simt.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 16]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>
!acc = tensor<64x8xf32, #acc>

// A buffer that the loop stores to again, and a ring whose slots are free after an iteration, do not last until the next one.
// CHECK-LABEL: func.func @stored
// CHECK: scf.for
// CHECK: %[[X:.*]] = simt.local_mma
// CHECK-NEXT: %[[DONE:.*]] = simt.mma_wait 0 of(%[[X]] : {{[^)]*}}) reading
// CHECK-NEXT: scf.yield %[[DONE]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = simt.local_mma
// CHECK-NEXT: %[[DONE:.*]] = simt.mma_wait 0 of(%[[X]] : {{[^)]*}}) reading
// CHECK-NEXT: scf.yield %[[DONE]]
func.func @stored(%f: tensor<64x16xf16, #f>, %c: !acc, %n: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = simt.alloc 2048
  %r = simt.alloc 2048 {ring = 0 : i64}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> (!acc) : i32 {
    simt.local_store %f, %m[] base 0 strides [] swizzle #a : tensor<64x16xf16, #f>
    %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %sum by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    scf.yield %x : !acc
  }
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (!acc) : i32 {
    %x = simt.local_mma %r[] swizzle #a, %r[] swizzle #b, %sum by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    scf.yield %x : !acc
  }
  return %t : !acc
}

// -----

#acc = #simt.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], dims = [64, 8]>
#a = #simt.layout<offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]], dims = [64, 16]>
#b = #simt.layout<offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4]], dims = [16, 8]>
!acc = tensor<64x8xf32, #acc>

// The warps say that they have read a slot right behind the wait for its product: of the first ring, in the middle of the body; of the
// second, whose product runs on, at its end.
// CHECK-LABEL: func.func @release
// CHECK: %[[FIRST:.*]] = simt.alloc 4096
// CHECK: %[[SECOND:.*]] = simt.alloc 8192
// CHECK: scf.for
// CHECK: simt.mma_wait 0 of{{.*}} reading %[[FIRST]]
// CHECK-NEXT: simt.mbarrier_arrive %{{.*}} releases %[[FIRST]]
// CHECK: simt.local_mma {{.*}} %[[SECOND]]
// CHECK-NEXT: simt.mma_wait 2
// CHECK-NEXT: simt.mbarrier_arrive %{{.*}} releases %[[SECOND]]
// CHECK-NEXT: scf.yield
func.func @release(%c: !acc, %n: i32, %go: i1) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = simt.alloc 4096 {ring = 0 : i64}
  %r = simt.alloc 8192 {ring = 1 : i64}
  %free = simt.alloc 16
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> (!acc) : i32 {
    %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    %y = math.exp %x : !acc
    %b = simt.alloc 2048
    simt.local_store %y, %b[] base 0 strides [8, 1] : !acc
    %z = simt.local_mma %r[] swizzle #a, %r[] swizzle #b, %sum by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    simt.mbarrier_arrive %free[%c0] if %go releases %m
    simt.mbarrier_arrive %free[%c1] if %go releases %r
    scf.yield %z : !acc
  }
  return %s : !acc
}

// A barrier that is allocated behind the wait holds its arrival back.
// CHECK-LABEL: func.func @late_barrier
// CHECK: %[[RING:.*]] = simt.alloc 4096
// CHECK: simt.mma_wait 0 of{{.*}} reading %[[RING]]
// CHECK: %[[FREE:.*]] = simt.alloc 16
// CHECK-NEXT: simt.mbarrier_arrive %[[FREE]]
func.func @late_barrier(%c: !acc, %n: i32, %go: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = simt.alloc 4096 {ring = 0 : i64}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = simt.local_mma %m[] swizzle #a, %m[] swizzle #b, %c by <family = wgmma, m = 64, n = 8, k = 16, lhs = f16, rhs = f16, acc = f32> depth 16 : !simt.buffer, !acc
    %b = simt.alloc 2048
    simt.local_store %x, %b[] base 0 strides [8, 1] : !acc
    %free = simt.alloc 16
    simt.mbarrier_arrive %free[%c0] if %go releases %m
  }
  return
}
