// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-tile-to-simt | FileCheck %s

// Sixteen bytes a lane, lanes side by side, then warps; what is left of the row goes to further registers.
// CHECK: #[[$ROW:.+]] = #simt.layout<register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], dims = [1024]>
module attributes {tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @copy
  func.func @copy(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
      attributes {tile.kernel} {
    %i = tile.arange 0 to 1024 : tensor<1024xi32>
    %px = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %ax = tile.addptr %px, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %ax : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
    %py = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %ay = tile.addptr %py, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    // CHECK: tile.load {{.*}} {simt.vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[$ROW]]>
    // CHECK-NOT: simt.convert_layout
    // CHECK: tile.store {{.*}} {simt.vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[$ROW]]>
    tile.store %ay, %v : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
    return
  }
}

// -----

// A wave of 64 lanes has one more lane bit.
// CHECK: #simt.layout<register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64], [128]], warp = {{\[\[}}256], [512]], dims = [1024]>
module attributes {tile.target = #tile.target<warp_size = 64>} {
  func.func @wave64(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
    %i = tile.arange 0 to 1024 : tensor<1024xi32>
    %px = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %ax = tile.addptr %px, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %ax : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
    tile.store %ax, %v : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
    return
  }
}

// -----

// An index used by two tiles of different layouts is computed twice rather than moved; a transposed copy moves the data, once.
module attributes {tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @transpose
  func.func @transpose(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
      attributes {tile.kernel} {
    %i = tile.arange 0 to 64 : tensor<64xi32>
    %c64 = arith.constant dense<64> : tensor<64x1xi32>
    %r = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %c = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %rs = arith.muli %r, %c64 : tensor<64x1xi32>
    %rb = tile.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
    %o = arith.addi %rb, %cb : tensor<64x64xi32>
    %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %ax = tile.addptr %px, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %v = tile.load %ax : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
    %t = tile.transpose %v, [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %ay = tile.addptr %py, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    // CHECK: tile.load {{.*}} {simt.vector = 4 : i32}
    // CHECK-COUNT-1: simt.convert_layout {{.*}} : tensor<64x64xf32
    // CHECK-NOT: simt.convert_layout
    // CHECK: tile.store {{.*}} {simt.vector = 4 : i32}
    tile.store %ay, %t : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
    return
  }
}

// -----

// What a loop carries has one layout, that of the load whose address it is.
module attributes {tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @carried
  func.func @carried(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<512> : tensor<512xi32>
    %zero = arith.constant dense<0.0> : tensor<512xf32>
    %i = tile.arange 0 to 512 : tensor<512xi32>
    %px = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %ax = tile.addptr %px, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK: scf.for {{.*}} -> (tensor<512x!tile.ptr<f32>, #[[L:.+]]>, tensor<512xf32, #[[L]]>)
    // CHECK: tile.load {{.*}} {simt.vector = 4 : i32} : tensor<512x!tile.ptr<f32>, #[[L]]>
    // CHECK-NOT: simt.convert_layout
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %ax, %s = %zero)
        -> (tensor<512x!tile.ptr<f32>>, tensor<512xf32>) : i32 {
      %v = tile.load %p : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
      %t = arith.addf %s, %v : tensor<512xf32>
      %q = tile.addptr %p, %step : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
      scf.yield %q, %t : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
    }
    tile.store %ax, %r#1 : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
    return
  }
}

// -----

// Values of eight bytes and a mask that was read as bytes would each like a layout of their own; counting takes one for
// both.
module attributes {tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: func.func @histogram
  func.func @histogram(%x: !tile.ptr<i64> {tile.divisibility = 16 : i32}, %m: !tile.ptr<i8> {tile.divisibility = 16 : i32},
                       %y: !tile.ptr<i32>) attributes {tile.kernel} {
    %zero = arith.constant dense<0> : tensor<2048xi8>
    %i = tile.arange 0 to 2048 : tensor<2048xi32>
    %px = tile.splat %x : !tile.ptr<i64> -> tensor<2048x!tile.ptr<i64>>
    %ax = tile.addptr %px, %i : tensor<2048x!tile.ptr<i64>>, tensor<2048xi32>
    %v = tile.load %ax : tensor<2048x!tile.ptr<i64>> -> tensor<2048xi64>
    %pm = tile.splat %m : !tile.ptr<i8> -> tensor<2048x!tile.ptr<i8>>
    %am = tile.addptr %pm, %i : tensor<2048x!tile.ptr<i8>>, tensor<2048xi32>
    %b = tile.load %am : tensor<2048x!tile.ptr<i8>> -> tensor<2048xi8>
    %t = arith.cmpi ne, %b, %zero : tensor<2048xi8>
    // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<2048xi1, #[[L:.+]]>, 16 : tensor<2048xi64, #[[L]]>
    %h = tile.histogram %v mask %t : tensor<2048xi1>, 16 : tensor<2048xi64> -> tensor<16xi32>
    %j = tile.arange 0 to 16 : tensor<16xi32>
    %py = tile.splat %y : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
    %ay = tile.addptr %py, %j : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
    tile.store %ay, %h : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
    return
  }
}

// -----

// A tile of which rows are contiguous along dim0: lanes lie along 128 bytes of it for each access, though a thread could hold a row.
// CHECK: #[[$COLUMNS:.+]] = #simt.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 16], [0, 32], [0, 64]], lane = {{\[\[}}8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4], [0, 8]], dims = [64, 128]>
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32, shared_bytes = 232448, matrix = wgmma_sm90>} {
  // CHECK-LABEL: func.func @factor
  func.func @factor(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 16 : i32}, %n: i32,
                    %o: !tile.ptr<f32>) attributes {tile.kernel} {
    %left = arith.constant dense<1.0> : tensor<64x64xf16>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %k = tile.arange 0 to 64 : tensor<64xi32>
    %c = tile.arange 0 to 128 : tensor<128xi32>
    %ws = tile.splat %stride : i32 -> tensor<128xi32>
    %rows = arith.muli %c, %ws : tensor<128xi32>
    %ek = tile.expand_dims %k, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %ec = tile.expand_dims %rows, 0 : tensor<128xi32> -> tensor<1x128xi32>
    %bk = tile.broadcast %ek : tensor<64x1xi32> -> tensor<64x128xi32>
    %bc = tile.broadcast %ec : tensor<1x128xi32> -> tensor<64x128xi32>
    %at = arith.addi %bk, %bc : tensor<64x128xi32>
    %base = tile.splat %x : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %p = tile.addptr %base, %at : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    %step = arith.constant dense<64> : tensor<64x128xi32>
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %q = %p) -> (tensor<64x128xf32>, tensor<64x128x!tile.ptr<f16>>) : i32 {
      // CHECK: tile.load {{.*}} -> tensor<64x128xf16, #[[$COLUMNS]]>
      %b = tile.load %q : tensor<64x128x!tile.ptr<f16>> -> tensor<64x128xf16>
      %d = simt.mma %left, %b, %acc by <family = wgmma, m = 64, n = 128, k = 16, lhs = f16, rhs = f16, acc = f32> : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
      %next = tile.addptr %q, %step : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
      scf.yield %d, %next : tensor<64x128xf32>, tensor<64x128x!tile.ptr<f16>>
    }
    %po = tile.splat %o : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
    tile.store %po, %r#0 : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>
    return
  }
}
