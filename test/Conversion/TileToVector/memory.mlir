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
