// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64+avx512f+fma},tz-tile-to-vector,canonicalize)' | FileCheck %s

// Six rows by four vectors at a time, as long as a panel of them is no more than 32 KiB.
// CHECK-LABEL: @short_panel(
// CHECK:         :24 = scf.for %{{.*}} = %c0_i64 to %c128_i64
// CHECK-COUNT-4:   llvm.load %{{.*}} -> vector<16xf32>
// CHECK-NOT:       llvm.load %{{.*}} -> vector<16xf32>
// CHECK-COUNT-6:   llvm.load %{{.*}} -> f32
// CHECK-NOT:       llvm.load %{{.*}} -> f32
// CHECK:           scf.yield
func.func @short_panel(%z: !tile.ptr<f32>, %f: f32) attributes {tile.kernel} {
  %x = tile.splat %f : f32 -> tensor<12x128xf32>
  %y = tile.splat %f : f32 -> tensor<128x64xf32>
  %acc = tile.splat %f : f32 -> tensor<12x64xf32>
  %r = tile.dot %x, %y, %acc : tensor<12x128xf32>, tensor<128x64xf32> -> tensor<12x64xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<12x64x!tile.ptr<f32>>
  tile.store %zs, %r : tensor<12x64x!tile.ptr<f32>>, tensor<12x64xf32>
  return
}

// Twelve rows by two vectors: the panel of a longer K would not stay in the first-level cache for all rows.
// CHECK-LABEL: @long_panel(
// CHECK:         :24 = scf.for %{{.*}} = %c0_i64 to %c256_i64
// CHECK-COUNT-2:   llvm.load %{{.*}} -> vector<16xf32>
// CHECK-NOT:       llvm.load %{{.*}} -> vector<16xf32>
// CHECK-COUNT-12:  llvm.load %{{.*}} -> f32
// CHECK-NOT:       llvm.load %{{.*}} -> f32
// CHECK:           scf.yield
func.func @long_panel(%z: !tile.ptr<f32>, %f: f32) attributes {tile.kernel} {
  %x = tile.splat %f : f32 -> tensor<12x256xf32>
  %y = tile.splat %f : f32 -> tensor<256x64xf32>
  %acc = tile.splat %f : f32 -> tensor<12x64xf32>
  %r = tile.dot %x, %y, %acc : tensor<12x256xf32>, tensor<256x64xf32> -> tensor<12x64xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<12x64x!tile.ptr<f32>>
  tile.store %zs, %r : tensor<12x64x!tile.ptr<f32>>, tensor<12x64xf32>
  return
}
