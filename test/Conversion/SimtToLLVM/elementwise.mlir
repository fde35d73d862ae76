// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse | FileCheck %s

#two = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>
#copies = #simt.layout<register = [[0], [1]], lane = [[2], [4], [8], [0], [0]], warp = [], dims = [16]>

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {

// Pointers are in global memory, an i1 is a byte.
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1> {tile.divisibility = 16 : i32}, %[[FLAG:.*]]: i8, %{{.*}}: f32)
// CHECK-NOT:     tile.kernel
// CHECK:         arith.cmpi ne, %[[FLAG]]
func.func @arguments(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %flag: i1, %y: f32) attributes {tile.kernel} {
  scf.if %flag {
    tile.store %x, %y : !tile.ptr<f32>, f32
  }
  return
}

// A special register of the target is a scalar that each thread reads for itself.
// CHECK-LABEL: func.func @special_register(
// CHECK:         %[[READ:.*]] = nvvm.read.ptx.sreg.smid
// CHECK:         simt.thread_store %{{.*}}, %[[READ]]
func.func @special_register(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %where = nvvm.read.ptx.sreg.smid : i32
  tile.store %x, %where : !tile.ptr<i32>, i32
  return
}

// An op a register, its attributes kept; the coordinates of both are a constant away from each other.
// CHECK-LABEL: func.func @two_registers(
// CHECK:         %[[LANE:.*]] = simt.thread_id
// CHECK:         %[[FIRST:.*]] = arith.shli %[[LANE]], %{{.*}} overflow<nsw, nuw>
// CHECK:         %[[SECOND:.*]] = arith.addi %[[FIRST]], %{{.*}} overflow<nsw, nuw>
// CHECK:         %[[A:.*]] = arith.sitofp %[[FIRST]]
// CHECK:         %[[B:.*]] = arith.sitofp %[[SECOND]]
// CHECK:         arith.mulf %[[A]], %[[A]] fastmath<contract>
// CHECK:         arith.mulf %[[B]], %[[B]] fastmath<contract>
func.func @two_registers(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #two>
  %f = arith.sitofp %at : tensor<64xi32, #two> to tensor<64xf32, #two>
  %g = arith.mulf %f, %f fastmath<contract> : tensor<64xf32, #two>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #two>
  %ps = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>, #two>, tensor<64xi32, #two>
  tile.store %ps, %g : tensor<64x!tile.ptr<f32>, #two>, tensor<64xf32, #two>
  return
}

// Registers that hold copies are computed once, copies of other lanes are not stored.
// CHECK-LABEL: func.func @copies(
// CHECK:         %[[WRITES:.*]] = arith.cmpi eq
// CHECK-COUNT-2: arith.muli
// CHECK-NOT:     arith.muli
// CHECK-COUNT-2: simt.thread_store %{{.*}} mask %[[WRITES]]
// CHECK-NOT:     simt.thread_store
func.func @copies(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32, #copies>
  %g = arith.muli %at, %at : tensor<16xi32, #copies>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>, #copies>
  %ps = tile.addptr %xs, %at : tensor<16x!tile.ptr<i32>, #copies>, tensor<16xi32, #copies>
  tile.store %ps, %g : tensor<16x!tile.ptr<i32>, #copies>, tensor<16xi32, #copies>
  return
}

// Registers with equal operands share a result, here before any clean-up of equal ops.
// CHECK-LABEL: func.func @shared(
// CHECK:         math.exp
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @shared(%x: !tile.ptr<f32>, %y: f32) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #two>
  %f = tile.splat %y : f32 -> tensor<64xf32, #two>
  %g = math.exp %f : tensor<64xf32, #two>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #two>
  %ps = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>, #two>, tensor<64xi32, #two>
  tile.store %ps, %g : tensor<64x!tile.ptr<f32>, #two>, tensor<64xf32, #two>
  return
}

// The same for all threads: nothing to take apart. How NaN passes is in the name of the op.
// CHECK-LABEL: func.func @scalars(
// CHECK:         llvm.intr.assume
// CHECK:         arith.maxnumf
// CHECK-NEXT:    arith.minnumf
// CHECK:         arith.maximumf
// CHECK-NEXT:    arith.minimumf
// CHECK:         llvm.ptrtoint
// CHECK:         llvm.inttoptr
// CHECK:         simt.barrier
func.func @scalars(%x: !tile.ptr<f32>, %y: f32, %c: i1) attributes {tile.kernel} {
  tile.assume %c
  %low = arith.constant -1.0 : f32
  %high = arith.constant 2.0 : f32
  %a = tile.clamp %y, %low, %high : f32
  %b = tile.clamp %a, %low, %high {propagateNan} : f32
  %i = tile.ptr_to_int %x : !tile.ptr<f32> -> i64
  %j = arith.addi %i, %i : i64
  %p = tile.int_to_ptr %j : i64 -> !tile.ptr<f32>
  tile.store %p, %b : !tile.ptr<f32>, f32
  tile.barrier
  return
}
}
