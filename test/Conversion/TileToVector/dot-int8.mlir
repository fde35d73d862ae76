// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+avx512vl+avx512bf16+avx512vnni+amx-tile+amx-bf16+amx-int8},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=TILES
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+avx512vl+avx512bf16+avx512vnni},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=VECTORS
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f},tz-tile-to-vector,canonicalize)' | FileCheck %s --check-prefix=WIDE

// Groups of four bytes: four rows of y are interleaved.
// TILES-LABEL: @signed(
// TILES:         %[[R01:.*]] = vector.interleave %{{.*}}, %{{.*}} : vector<16xi8> -> vector<32xi8>
// TILES:         %[[R23:.*]] = vector.interleave %{{.*}}, %{{.*}} : vector<16xi8> -> vector<32xi8>
// TILES:         vector.shuffle %[[R01]], %[[R23]] [0, 1, 32, 33, 2, 3, 34, 35, {{.*}}30, 31, 62, 63] : vector<32xi8>, vector<32xi8>
// TILES:         call_intrinsic "llvm.x86.tdpbssd"
// vpdpbusd takes an unsigned and a signed factor: x is moved by 128, and 128 times the sums of y are taken off.
// VECTORS-LABEL: @signed(
// VECTORS:         %[[X:.*]] = llvm.load %{{.*}} -> vector<[[N:[0-9]+]]xi8>
// VECTORS:         arith.xori %[[X]], %cst{{.*}} : vector<[[N]]xi8>
// VECTORS:         %[[SUMS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xi32>)
// VECTORS:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS:         llvm.store %[[SUMS]], %[[EXCESS:.*]] {{.*}} : vector<16xi32>
// VECTORS:         arith.subi %{{.*}}, %{{.*}} : vector<16xi32>
// VECTORS:         scf.for
// VECTORS:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// WIDE-LABEL: @signed(
// WIDE:         arith.extsi
// WIDE-NOT:     call_intrinsic
func.func @signed(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>, %z: !tile.ptr<i32>) attributes {tile.kernel} {
  %xr0 = tile.arange 0 to 64 : tensor<64xi32>
  %xc0 = tile.arange 0 to 128 : tensor<128xi32>
  %xr1 = tile.expand_dims %xr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %xc1 = tile.expand_dims %xc0, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %xr2 = tile.broadcast %xr1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %xc2 = tile.broadcast %xc1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %xw = arith.constant dense<128> : tensor<64x128xi32>
  %xo = arith.muli %xr2, %xw : tensor<64x128xi32>
  %xa = arith.addi %xo, %xc2 : tensor<64x128xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<64x128x!tile.ptr<i8>>
  %xp = tile.addptr %xs, %xa : tensor<64x128x!tile.ptr<i8>>, tensor<64x128xi32>
  %yr0 = tile.arange 0 to 128 : tensor<128xi32>
  %yc0 = tile.arange 0 to 64 : tensor<64xi32>
  %yr1 = tile.expand_dims %yr0, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %yc1 = tile.expand_dims %yc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %yr2 = tile.broadcast %yr1 : tensor<128x1xi32> -> tensor<128x64xi32>
  %yc2 = tile.broadcast %yc1 : tensor<1x64xi32> -> tensor<128x64xi32>
  %yw = arith.constant dense<64> : tensor<128x64xi32>
  %yo = arith.muli %yr2, %yw : tensor<128x64xi32>
  %ya = arith.addi %yo, %yc2 : tensor<128x64xi32>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<128x64x!tile.ptr<i8>>
  %yp = tile.addptr %ys, %ya : tensor<128x64x!tile.ptr<i8>>, tensor<128x64xi32>
  %zr0 = tile.arange 0 to 64 : tensor<64xi32>
  %zc0 = tile.arange 0 to 64 : tensor<64xi32>
  %zr1 = tile.expand_dims %zr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %zc1 = tile.expand_dims %zc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %zr2 = tile.broadcast %zr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %zc2 = tile.broadcast %zc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %zw = arith.constant dense<64> : tensor<64x64xi32>
  %zo = arith.muli %zr2, %zw : tensor<64x64xi32>
  %za = arith.addi %zo, %zc2 : tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<i32> -> tensor<64x64x!tile.ptr<i32>>
  %zp = tile.addptr %zs, %za : tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>
  %xv = tile.load %xp : tensor<64x128x!tile.ptr<i8>> -> tensor<64x128xi8>
  %yv = tile.load %yp : tensor<128x64x!tile.ptr<i8>> -> tensor<128x64xi8>
  %acc = arith.constant dense<0> : tensor<64x64xi32>
  %r = tile.dot %xv, %yv, %acc : tensor<64x128xi8>, tensor<128x64xi8> -> tensor<64x64xi32>
  tile.store %zp, %r : tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>
  return
}

// Here y is moved, and the sums are those of rows of x.
// TILES-LABEL: @unsigned(
// TILES:         call_intrinsic "llvm.x86.tdpbuud"
// VECTORS-LABEL: @unsigned(
// VECTORS:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS:         vector.reduction <add>, %{{.*}} : vector<16xi32> into i32
// VECTORS:         arith.subi %{{.*}}, %{{.*}} : vector<16xi32>
// VECTORS:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// WIDE-LABEL: @unsigned(
// WIDE:         arith.extui
// WIDE-NOT:     call_intrinsic
func.func @unsigned(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>, %z: !tile.ptr<i32>) attributes {tile.kernel} {
  %xr0 = tile.arange 0 to 64 : tensor<64xi32>
  %xc0 = tile.arange 0 to 128 : tensor<128xi32>
  %xr1 = tile.expand_dims %xr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %xc1 = tile.expand_dims %xc0, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %xr2 = tile.broadcast %xr1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %xc2 = tile.broadcast %xc1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %xw = arith.constant dense<128> : tensor<64x128xi32>
  %xo = arith.muli %xr2, %xw : tensor<64x128xi32>
  %xa = arith.addi %xo, %xc2 : tensor<64x128xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<64x128x!tile.ptr<i8>>
  %xp = tile.addptr %xs, %xa : tensor<64x128x!tile.ptr<i8>>, tensor<64x128xi32>
  %yr0 = tile.arange 0 to 128 : tensor<128xi32>
  %yc0 = tile.arange 0 to 64 : tensor<64xi32>
  %yr1 = tile.expand_dims %yr0, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %yc1 = tile.expand_dims %yc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %yr2 = tile.broadcast %yr1 : tensor<128x1xi32> -> tensor<128x64xi32>
  %yc2 = tile.broadcast %yc1 : tensor<1x64xi32> -> tensor<128x64xi32>
  %yw = arith.constant dense<64> : tensor<128x64xi32>
  %yo = arith.muli %yr2, %yw : tensor<128x64xi32>
  %ya = arith.addi %yo, %yc2 : tensor<128x64xi32>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<128x64x!tile.ptr<i8>>
  %yp = tile.addptr %ys, %ya : tensor<128x64x!tile.ptr<i8>>, tensor<128x64xi32>
  %zr0 = tile.arange 0 to 64 : tensor<64xi32>
  %zc0 = tile.arange 0 to 64 : tensor<64xi32>
  %zr1 = tile.expand_dims %zr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %zc1 = tile.expand_dims %zc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %zr2 = tile.broadcast %zr1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %zc2 = tile.broadcast %zc1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %zw = arith.constant dense<64> : tensor<64x64xi32>
  %zo = arith.muli %zr2, %zw : tensor<64x64xi32>
  %za = arith.addi %zo, %zc2 : tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<i32> -> tensor<64x64x!tile.ptr<i32>>
  %zp = tile.addptr %zs, %za : tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>
  %xv = tile.load %xp : tensor<64x128x!tile.ptr<i8>> -> tensor<64x128xi8>
  %yv = tile.load %yp : tensor<128x64x!tile.ptr<i8>> -> tensor<128x64xi8>
  %acc = arith.constant dense<0> : tensor<64x64xi32>
  %r = tile.dot %xv, %yv, %acc {isUnsigned} : tensor<64x128xi8>, tensor<128x64xi8> -> tensor<64x64xi32>
  tile.store %zp, %r : tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>
  return
}
