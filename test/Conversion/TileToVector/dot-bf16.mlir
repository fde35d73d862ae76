// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+avx512vl+avx512bf16+avx512vnni+amx-tile+amx-bf16+amx-int8},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=TILES
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+avx512vl+avx512bf16+avx512vnni},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=VECTORS
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+fma},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=WIDE

// Which instructions a product of narrow elements is made of, by the chip. Each kernel multiplies x[M, K] and y[K, N].

// Pairs: two rows of y are interleaved as they are read. Blocks of two by two tiles, whose sums stay in registers 0 to 3 over all of K. All
// registers are 16 rows (six words into the configuration) of 64 bytes, set up once for all programs.
// TILES-LABEL: @bf16(
// TILES-DAG:     %[[ROWS:.*]] = arith.constant 1157442765409226768 : i64
// TILES-DAG:     %[[BYTES:.*]] = arith.constant 18014673391583296 : i64
// TILES-DAG:     %[[T0:.*]] = arith.constant 0 : i8
// TILES-DAG:     %[[T1:.*]] = arith.constant 1 : i8
// TILES-DAG:     %[[T2:.*]] = arith.constant 2 : i8
// TILES-DAG:     %[[T3:.*]] = arith.constant 3 : i8
// TILES-DAG:     %[[T4:.*]] = arith.constant 4 : i8
// TILES-DAG:     %[[T5:.*]] = arith.constant 5 : i8
// TILES-DAG:     %[[T6:.*]] = arith.constant 6 : i8
// TILES-DAG:     %[[T7:.*]] = arith.constant 7 : i8
// TILES:         %[[CONFIG:.*]] = llvm.alloca %c64_i64
// TILES:         llvm.store %[[BYTES]], %{{.*}}
// TILES:         llvm.store %[[BYTES]], %{{.*}}
// TILES:         %[[PLACE:.*]] = llvm.getelementptr %[[CONFIG]][6]
// TILES:         llvm.store %[[ROWS]], %[[PLACE]]
// TILES:         llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[CONFIG]])
// TILES:         scf.for %{{.*}} = %arg2 to %arg3
// TILES:           %[[EVEN:.*]] = llvm.load %{{.*}} -> vector<16xbf16>
// TILES:           %[[ODD:.*]] = llvm.load %{{.*}} -> vector<16xbf16>
// TILES:           vector.interleave %[[EVEN]], %[[ODD]] : vector<16xbf16> -> vector<32xbf16>
// TILES:           scf.for
// TILES:             scf.for
// TILES:               call_intrinsic "llvm.x86.tileloadd64"(%[[T0]],
// TILES:               call_intrinsic "llvm.x86.tileloadd64"(%[[T1]],
// TILES:               call_intrinsic "llvm.x86.tileloadd64"(%[[T2]],
// TILES:               call_intrinsic "llvm.x86.tileloadd64"(%[[T3]],
// TILES:               scf.for
// TILES:                 call_intrinsic "llvm.x86.tileloadd64"(%[[T4]],
// TILES:                 call_intrinsic "llvm.x86.tileloadd64"(%[[T5]],
// TILES:                 call_intrinsic "llvm.x86.tileloadd64"(%[[T6]],
// TILES:                 call_intrinsic "llvm.x86.tileloadd64"(%[[T7]],
// TILES:                 call_intrinsic "llvm.x86.tdpbf16ps"(%[[T0]], %[[T4]], %[[T6]])
// TILES:                 call_intrinsic "llvm.x86.tdpbf16ps"(%[[T1]], %[[T4]], %[[T7]])
// TILES:                 call_intrinsic "llvm.x86.tdpbf16ps"(%[[T2]], %[[T5]], %[[T6]])
// TILES:                 call_intrinsic "llvm.x86.tdpbf16ps"(%[[T3]], %[[T5]], %[[T7]])
// TILES-NEXT:          }
// TILES:               call_intrinsic "llvm.x86.tilestored64"(%[[T0]],
// TILES:               call_intrinsic "llvm.x86.tilestored64"(%[[T1]],
// TILES:               call_intrinsic "llvm.x86.tilestored64"(%[[T2]],
// TILES:               call_intrinsic "llvm.x86.tilestored64"(%[[T3]],
// TILES:         llvm.call_intrinsic "llvm.x86.tilerelease"()
// TILES-NEXT:    return
// TILES-NOT:     dpbf16ps.512
// VECTORS-LABEL: @bf16(
// VECTORS:         vector.interleave %{{.*}}, %{{.*}} : vector<16xbf16> -> vector<32xbf16>
// VECTORS:         scf.for %{{.*}} = %{{.*}} to %c32_i64{{.*}} iter_args(%[[SUM:[^ ]*]] =
// VECTORS:           %[[PAIR:.*]] = llvm.load %{{.*}} -> i32
// VECTORS:           %[[BOTH:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// VECTORS:           %[[A:.*]] = vector.bitcast %[[BOTH]] : vector<16xi32> to vector<32xbf16>
// VECTORS:           llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[SUM]], %[[A]], %{{.*}})
// VECTORS-NOT:     tdpbf16ps
// WIDE-LABEL: @bf16(
// WIDE:         arith.extf {{.*}} : vector<{{.*}}xbf16> to vector<{{.*}}xf32>
// WIDE:         math.fma
// WIDE-NOT:     call_intrinsic
func.func @bf16(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %xr0 = tile.arange 0 to 64 : tensor<64xi32>
  %xc0 = tile.arange 0 to 64 : tensor<64xi32>
  %xr1 = tile.expand_dims %xr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %xc1 = tile.expand_dims %xc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %xr2 = tile.broadcast %xr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %xc2 = tile.broadcast %xc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %xw = arith.constant dense<64> : tensor<64x64xi32>
  %xo = arith.muli %xr2, %xw : tensor<64x64xi32>
  %xa = arith.addi %xo, %xc2 : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>>
  %xp = tile.addptr %xs, %xa : tensor<64x64x!tile.ptr<bf16>>, tensor<64x64xi32>
  %yr0 = tile.arange 0 to 64 : tensor<64xi32>
  %yc0 = tile.arange 0 to 64 : tensor<64xi32>
  %yr1 = tile.expand_dims %yr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %yc1 = tile.expand_dims %yc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %yr2 = tile.broadcast %yr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %yc2 = tile.broadcast %yc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %yw = arith.constant dense<64> : tensor<64x64xi32>
  %yo = arith.muli %yr2, %yw : tensor<64x64xi32>
  %ya = arith.addi %yo, %yc2 : tensor<64x64xi32>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>>
  %yp = tile.addptr %ys, %ya : tensor<64x64x!tile.ptr<bf16>>, tensor<64x64xi32>
  %zr0 = tile.arange 0 to 64 : tensor<64xi32>
  %zc0 = tile.arange 0 to 64 : tensor<64xi32>
  %zr1 = tile.expand_dims %zr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %zc1 = tile.expand_dims %zc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %zr2 = tile.broadcast %zr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %zc2 = tile.broadcast %zc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %zw = arith.constant dense<64> : tensor<64x64xi32>
  %zo = arith.muli %zr2, %zw : tensor<64x64xi32>
  %za = arith.addi %zo, %zc2 : tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %za : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %xv = tile.load %xp : tensor<64x64x!tile.ptr<bf16>> -> tensor<64x64xbf16>
  %yv = tile.load %yp : tensor<64x64x!tile.ptr<bf16>> -> tensor<64x64xbf16>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %xv, %yv, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %zp, %r : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}

// Few groups along K, rows or columns: vectors.
// TILES-LABEL: @short(
// TILES-NOT:     tile{{load|cfg}}
// TILES:         call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
func.func @short(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %xr0 = tile.arange 0 to 64 : tensor<64xi32>
  %xc0 = tile.arange 0 to 8 : tensor<8xi32>
  %xr1 = tile.expand_dims %xr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %xc1 = tile.expand_dims %xc0, 0 : tensor<8xi32> -> tensor<1x8xi32>
  %xr2 = tile.broadcast %xr1 : tensor<64x1xi32> -> tensor<64x8xi32>
  %xc2 = tile.broadcast %xc1 : tensor<1x8xi32> -> tensor<64x8xi32>
  %xw = arith.constant dense<8> : tensor<64x8xi32>
  %xo = arith.muli %xr2, %xw : tensor<64x8xi32>
  %xa = arith.addi %xo, %xc2 : tensor<64x8xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<64x8x!tile.ptr<bf16>>
  %xp = tile.addptr %xs, %xa : tensor<64x8x!tile.ptr<bf16>>, tensor<64x8xi32>
  %yr0 = tile.arange 0 to 8 : tensor<8xi32>
  %yc0 = tile.arange 0 to 64 : tensor<64xi32>
  %yr1 = tile.expand_dims %yr0, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %yc1 = tile.expand_dims %yc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %yr2 = tile.broadcast %yr1 : tensor<8x1xi32> -> tensor<8x64xi32>
  %yc2 = tile.broadcast %yc1 : tensor<1x64xi32> -> tensor<8x64xi32>
  %yw = arith.constant dense<64> : tensor<8x64xi32>
  %yo = arith.muli %yr2, %yw : tensor<8x64xi32>
  %ya = arith.addi %yo, %yc2 : tensor<8x64xi32>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<8x64x!tile.ptr<bf16>>
  %yp = tile.addptr %ys, %ya : tensor<8x64x!tile.ptr<bf16>>, tensor<8x64xi32>
  %zr0 = tile.arange 0 to 64 : tensor<64xi32>
  %zc0 = tile.arange 0 to 64 : tensor<64xi32>
  %zr1 = tile.expand_dims %zr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %zc1 = tile.expand_dims %zc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %zr2 = tile.broadcast %zr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %zc2 = tile.broadcast %zc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %zw = arith.constant dense<64> : tensor<64x64xi32>
  %zo = arith.muli %zr2, %zw : tensor<64x64xi32>
  %za = arith.addi %zo, %zc2 : tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %za : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %xv = tile.load %xp : tensor<64x8x!tile.ptr<bf16>> -> tensor<64x8xbf16>
  %yv = tile.load %yp : tensor<8x64x!tile.ptr<bf16>> -> tensor<8x64xbf16>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %xv, %yv, %acc : tensor<64x8xbf16>, tensor<8x64xbf16> -> tensor<64x64xf32>
  tile.store %zp, %r : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}

// A sum that starts at zero and that nothing else reads is written first by the first turn of its loop, or without a turn.
// TILES-LABEL: @turns(
// TILES:         %[[NONE:.*]] = arith.cmpi sle, %[[N:.*]], %c0_i32
// TILES:         scf.if %[[NONE]] {
// TILES:           llvm.store %cst{{.*}}, %{{.*}} : vector<32xf32>
// TILES:         }
// TILES:         scf.for %[[TURN:.*]] = %c0_i32 to %[[N]]
// TILES:           %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]], %c0_i32
// TILES:           scf.if %[[FIRST]] {
// TILES-NEXT:        llvm.call_intrinsic "llvm.x86.tilezero"
// TILES:           } else {
// TILES-NEXT:        llvm.call_intrinsic "llvm.x86.tileloadd64"
// TILES:           }
// TILES:           tdpbf16ps
// VECTORS-LABEL: @turns(
// VECTORS-NOT:     scf.if
// VECTORS:         scf.for
func.func @turns(%z: !tile.ptr<f32>, %f: bf16, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.splat %f : bf16 -> tensor<32x32xbf16>
  %nothing = arith.constant 0.0 : f32
  %start = tile.splat %nothing : f32 -> tensor<32x32xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<32x32xf32>) : i32 {
    %next = tile.dot %x, %x, %acc : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  tile.store %zs, %r : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}
