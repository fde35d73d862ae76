// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+avx512bw+avx512vl+amx-tile+amx-bf16},tz-tile-to-vector,canonicalize,cse)' | FileCheck %s

// Tiles are loaded from where the rows of a left factor are, with the pitch that is known at run time: if no remainder starts
// again, sums in i32 do not wrap, all elements are to be read, and the pitch is no multiple of a page. Else rows are packed.
// CHECK-LABEL: @rows(
// CHECK:         %[[ROW:.*]] = arith.remsi %[[FIRST:.*]], %[[M:.*]] : i32
// CHECK:         %[[LASTROW:.*]] = arith.addi %[[ROW]], %c31_i32
// CHECK:         arith.cmpi sge, %[[FIRST]], %c0_i32
// CHECK:         arith.cmpi slt, %[[LASTROW]], %[[M]]
// CHECK:         %[[PITCH:.*]] = arith.extsi %[[NARROW:.*]] : i32 to i64
// CHECK:         %[[START:.*]] = arith.muli %[[ROW]], %[[NARROW]] : i32
// CHECK:         %[[WIDE:.*]] = arith.extsi %[[START]]
// CHECK:         %[[ROWS:.*]] = arith.muli %[[PITCH]], %c31_i64
// CHECK:         %[[SUM:.*]] = arith.addi %[[WIDE]], %[[ROWS]]
// CHECK:         %[[CUT:.*]] = arith.trunci %[[SUM]]
// CHECK:         %[[WRAPPED:.*]] = arith.extsi %[[CUT]]
// CHECK:         arith.cmpi eq, %[[WRAPPED]], %[[SUM]]
// CHECK:         %[[BYTES:.*]] = arith.muli %[[PITCH]], %c2_i64
// CHECK:         arith.cmpi sgt, %{{.*}}, %c63_i64
// CHECK:         arith.cmpi sgt, %{{.*}}, %c31_i32
// CHECK:         %[[REST:.*]] = arith.andi %[[BYTES]], %c4095_i64
// CHECK:         arith.cmpi ne, %[[REST]], %c0_i64
// CHECK:         %[[NOT:.*]] = arith.xori %[[HERE:.*]], %true : i1
// CHECK-NEXT:    scf.if %[[NOT]] {
// CHECK:           masked.load
// CHECK:         %[[APART:.*]] = arith.select %[[HERE]], %[[BYTES]], %c128_i64
// CHECK-NEXT:    %[[THERE:.*]] = llvm.inttoptr
// CHECK-NEXT:    %[[LEFT:.*]] = llvm.select %[[HERE]], %[[THERE]], %{{.*}}
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[LEFT]]
// CHECK:         "llvm.x86.tileloadd64"(%c4_i8, %[[PLACE]], %[[APART]])
func.func @rows(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %pitch: i32, %first: i32, %m: i32, %rows: i32, %left: i32) attributes {tile.kernel} {
  %i = tile.arange 0 to 32 : tensor<32xi32>
  %k = tile.arange 0 to 64 : tensor<64xi32>
  %firsts = tile.splat %first : i32 -> tensor<32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %pitches = tile.splat %pitch : i32 -> tensor<32xi32>
  %moved = arith.addi %i, %firsts : tensor<32xi32>
  %row = arith.remsi %moved, %ms : tensor<32xi32>
  %starts = arith.muli %row, %pitches : tensor<32xi32>
  %s1 = tile.expand_dims %starts, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %s2 = tile.broadcast %s1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %k1 = tile.expand_dims %k, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tile.broadcast %k1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<32x64x!tile.ptr<bf16>>
  %xr = tile.addptr %xs, %s2 : tensor<32x64x!tile.ptr<bf16>>, tensor<32x64xi32>
  %xp = tile.addptr %xr, %k2 : tensor<32x64x!tile.ptr<bf16>>, tensor<32x64xi32>
  %rs = tile.splat %rows : i32 -> tensor<32xi32>
  %im = arith.cmpi slt, %i, %rs : tensor<32xi32>
  %im1 = tile.expand_dims %im, 1 : tensor<32xi1> -> tensor<32x1xi1>
  %im2 = tile.broadcast %im1 : tensor<32x1xi1> -> tensor<32x64xi1>
  %ls = tile.splat %left : i32 -> tensor<64xi32>
  %km = arith.cmpi slt, %k, %ls : tensor<64xi32>
  %km1 = tile.expand_dims %km, 0 : tensor<64xi1> -> tensor<1x64xi1>
  %km2 = tile.broadcast %km1 : tensor<1x64xi1> -> tensor<32x64xi1>
  %mask = arith.andi %im2, %km2 : tensor<32x64xi1>
  %xv = tile.load %xp mask %mask : tensor<32x64xi1> : tensor<32x64x!tile.ptr<bf16>> -> tensor<32x64xbf16>
  %j = tile.arange 0 to 32 : tensor<32xi32>
  %j1 = tile.expand_dims %j, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %j2 = tile.broadcast %j1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %width = arith.constant dense<32> : tensor<64xi32>
  %kw = arith.muli %k, %width : tensor<64xi32>
  %kw1 = tile.expand_dims %kw, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %kw2 = tile.broadcast %kw1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %yo = arith.addi %kw2, %j2 : tensor<64x32xi32>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<64x32x!tile.ptr<bf16>>
  %yp = tile.addptr %ys, %yo : tensor<64x32x!tile.ptr<bf16>>, tensor<64x32xi32>
  %yv = tile.load %yp : tensor<64x32x!tile.ptr<bf16>> -> tensor<64x32xbf16>
  %acc = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tile.dot %xv, %yv, %acc : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<32x32xf32>
  %side = arith.constant dense<32> : tensor<32xi32>
  %iw = arith.muli %i, %side : tensor<32xi32>
  %iw1 = tile.expand_dims %iw, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %iw2 = tile.broadcast %iw1 : tensor<32x1xi32> -> tensor<32x32xi32>
  %zj = tile.broadcast %j1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %zo = arith.addi %iw2, %zj : tensor<32x32xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %zo : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  tile.store %zp, %r : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}
