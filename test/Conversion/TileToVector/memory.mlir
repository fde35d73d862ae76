// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// All lanes of most strips are within the bound: these load without a mask.
// CHECK-LABEL: @masked(
// CHECK:         %[[FIRST:.*]] = arith.cmpi slt, %{{.*}} : i64
// CHECK:         %[[LAST:.*]] = arith.cmpi slt, %{{.*}} : i64
// CHECK:         %[[ALL:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : vector<16xi32>
// CHECK:         %[[VALUE:.*]] = scf.if %[[ALL]] -> (vector<16xf32>)
// CHECK:           llvm.load
// CHECK:         } else {
// CHECK:           llvm.intr.masked.load %{{.*}}, %[[MASK]]
// CHECK:         }
// CHECK:         llvm.store %[[VALUE]]
func.func @masked(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp mask %m : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %yp, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// With a stride that only run time knows each lane has an address of its own; the store is still contiguous.
// CHECK-LABEL: @strided(
// CHECK:         %[[ADDRESSES:.*]] = llvm.inttoptr %{{.*}} : vector<16xi64> to vector<16x!llvm.ptr>
// CHECK-NEXT:    %[[VALUE:.*]] = llvm.intr.masked.gather %[[ADDRESSES]]
// CHECK-NOT:     scatter
// CHECK:         llvm.store %[[VALUE]], %{{.*}} : vector<16xf32>, !llvm.ptr
func.func @strided(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %far = arith.muli %at, %ns : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %far : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %yp, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// Storing a strip one element further on would change what the next strip loads, so the whole tile is loaded first.
// CHECK-LABEL: @store_behind_load(
// CHECK:         %[[COPY:.*]] = llvm.alloca
// CHECK:         scf.for
// CHECK-NEXT:      scf.for
// CHECK:             %[[VALUE:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK:             %[[SLOT:.*]] = llvm.getelementptr %[[COPY]]
// CHECK-NEXT:        llvm.store %[[VALUE]], %[[SLOT]] {{.*}} !llvm.ptr
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        %[[SAVED:.*]] = llvm.getelementptr %[[COPY]]
// CHECK-NEXT:        %[[LOADED:.*]] = llvm.load %[[SAVED]]
// CHECK:             llvm.store %[[LOADED]]
func.func @store_behind_load(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %next = tile.arange 1 to 65 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %from = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %to = tile.addptr %xs, %next : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %from : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %to, %a : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// A condition that holds for whole rows is a branch where a strip is two vectors: LLVM makes an unmasked load of the second one of a mask that
// is a splat and constants.
// CHECK-LABEL: @rows_and_columns(
// CHECK:         %[[ROW:.*]] = arith.cmpi slt
// CHECK:         scf.if %[[ROW]] -> (vector<16xf32>) {
// CHECK-NEXT:      llvm.inttoptr
// CHECK-NEXT:      llvm.intr.masked.load %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NOT:       vector.broadcast {{.*}} : i1
func.func @rows_and_columns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %r = tile.arange 0 to 4 : tensor<4xi32>
  %c = tile.arange 0 to 16 : tensor<16xi32>
  %ns = tile.splat %n : i32 -> tensor<4xi32>
  %three = arith.constant dense<3> : tensor<16xi32>
  %live = arith.cmpi slt, %r, %ns : tensor<4xi32>
  %few = arith.cmpi slt, %c, %three : tensor<16xi32>
  %le = tile.expand_dims %live, 1 : tensor<4xi1> -> tensor<4x1xi1>
  %fe = tile.expand_dims %few, 0 : tensor<16xi1> -> tensor<1x16xi1>
  %lb = tile.broadcast %le : tensor<4x1xi1> -> tensor<4x16xi1>
  %fb = tile.broadcast %fe : tensor<1x16xi1> -> tensor<4x16xi1>
  %mask = arith.andi %lb, %fb : tensor<4x16xi1>
  %sixteen = arith.constant dense<16> : tensor<4xi32>
  %row = arith.muli %r, %sixteen : tensor<4xi32>
  %re = tile.expand_dims %row, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %ce = tile.expand_dims %c, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %rb = tile.broadcast %re : tensor<4x1xi32> -> tensor<4x16xi32>
  %cb = tile.broadcast %ce : tensor<1x16xi32> -> tensor<4x16xi32>
  %at = arith.addi %rb, %cb : tensor<4x16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x16x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<4x16x!tile.ptr<f32>>, tensor<4x16xi32>
  %yp = tile.addptr %ys, %at : tensor<4x16x!tile.ptr<f32>>, tensor<4x16xi32>
  %a = tile.load %xp mask %mask : tensor<4x16xi1> : tensor<4x16x!tile.ptr<f32>> -> tensor<4x16xf32>
  tile.store %yp, %a : tensor<4x16x!tile.ptr<f32>>, tensor<4x16xf32>
  return
}
