// RUN: tz-opt %s --tz-pipeline-cpu | FileCheck %s

// Everything has become the llvm dialect, transcendental functions and control flow included.
// CHECK-NOT: {{(^|[ "])(func|scf|cf|arith|math|vector|memref|tensor)\.[a-z]}}
// CHECK-NOT: unrealized_conversion_cast
// CHECK:     llvm.func @kernel(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-NOT: {{(^|[ "])(tile|func|scf|cf|arith|math|vector|memref|tensor)\.[a-z]}}
// CHECK-NOT: unrealized_conversion_cast
// CHECK:     llvm.return
func.func @kernel(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %at = tile.arange 0 to 32 : tensor<32xi32>
  %bound = tile.splat %n : i32 -> tensor<32xi32>
  %mask = arith.cmpi slt, %at, %bound : tensor<32xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %p = tile.addptr %base, %at : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  scf.for %i = %zero to %n step %one : i32 {
    %a = tile.load %p mask %mask : tensor<32xi1> : tensor<32x!tile.ptr<f32>> -> tensor<32xf32>
    %e = math.exp %a : tensor<32xf32>
    %s = tile.reduce(%e), 0 : (tensor<32xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %sum = arith.addf %l, %r : f32
      tile.yield %sum : f32
    }
    %ss = tile.splat %s : f32 -> tensor<32xf32>
    %q = arith.divf %e, %ss : tensor<32xf32>
    tile.store %p, %q mask %mask : tensor<32xi1> : tensor<32x!tile.ptr<f32>>, tensor<32xf32>
  }
  return
}
