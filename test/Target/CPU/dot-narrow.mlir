// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx+avx2+fma+avx512f+avx512bw+avx512dq+avx512vl+avx512bf16+amx-tile+amx-bf16},tz-pipeline-cpu)' | tz-translate --tz-emit --tz-stage=asm | FileCheck %s --check-prefix=TILES
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx+avx2+fma+avx512f+avx512bw+avx512dq+avx512vl+avx512bf16},tz-pipeline-cpu)' | tz-translate --tz-emit --tz-stage=asm | FileCheck %s --check-prefix=VECTORS

// Sums stay in their registers from the first tile of K to the last: only operands are loaded in between.
// TILES-LABEL: product:
// TILES:         ldtilecfg
// TILES-NOT:     tilestored
// TILES:         tdpbf16ps %tmm6, %tmm4, %tmm0
// TILES-NEXT:    tdpbf16ps %tmm7, %tmm4, %tmm1
// TILES-NEXT:    tdpbf16ps %tmm6, %tmm5, %tmm2
// TILES-NEXT:    tdpbf16ps %tmm7, %tmm5, %tmm3
// TILES-NOT:     tileloadd {{.*}}, %tmm0
// TILES:         j{{[a-z]+}} .LBB
// TILES-NOT:     tileloadd {{.*}}, %tmm0
// TILES:         tilestored %tmm0
// TILES:         tilerelease
// VECTORS-LABEL: product:
// VECTORS:         vdpbf16ps {{.*}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+}}
// VECTORS-NOT:     tmm
func.func @product(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %xr0 = tile.arange 0 to 64 : tensor<64xi32>
  %xc0 = tile.arange 0 to 512 : tensor<512xi32>
  %xr1 = tile.expand_dims %xr0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %xc1 = tile.expand_dims %xc0, 0 : tensor<512xi32> -> tensor<1x512xi32>
  %xr2 = tile.broadcast %xr1 : tensor<64x1xi32> -> tensor<64x512xi32>
  %xc2 = tile.broadcast %xc1 : tensor<1x512xi32> -> tensor<64x512xi32>
  %xw = arith.constant dense<512> : tensor<64x512xi32>
  %xo = arith.muli %xr2, %xw : tensor<64x512xi32>
  %xa = arith.addi %xo, %xc2 : tensor<64x512xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<64x512x!tile.ptr<bf16>>
  %xp = tile.addptr %xs, %xa : tensor<64x512x!tile.ptr<bf16>>, tensor<64x512xi32>
  %yr0 = tile.arange 0 to 512 : tensor<512xi32>
  %yc0 = tile.arange 0 to 64 : tensor<64xi32>
  %yr1 = tile.expand_dims %yr0, 1 : tensor<512xi32> -> tensor<512x1xi32>
  %yc1 = tile.expand_dims %yc0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %yr2 = tile.broadcast %yr1 : tensor<512x1xi32> -> tensor<512x64xi32>
  %yc2 = tile.broadcast %yc1 : tensor<1x64xi32> -> tensor<512x64xi32>
  %yw = arith.constant dense<64> : tensor<512x64xi32>
  %yo = arith.muli %yr2, %yw : tensor<512x64xi32>
  %ya = arith.addi %yo, %yc2 : tensor<512x64xi32>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<512x64x!tile.ptr<bf16>>
  %yp = tile.addptr %ys, %ya : tensor<512x64x!tile.ptr<bf16>>, tensor<512x64xi32>
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
  %xv = tile.load %xp : tensor<64x512x!tile.ptr<bf16>> -> tensor<64x512xbf16>
  %yv = tile.load %yp : tensor<512x64x!tile.ptr<bf16>> -> tensor<512x64xbf16>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %xv, %yv, %acc : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  tile.store %zp, %r : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}
