// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-choose-matrix-units,tz-tile-to-simt,tz-print-schedule)' -o /dev/null | FileCheck %s --check-prefix=PRINT
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-choose-matrix-units,tz-tile-to-simt,tz-simt-schedule{stages=2},canonicalize,cse)' | FileCheck %s
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-choose-matrix-units,tz-tile-to-simt,tz-simt-schedule)' | FileCheck %s --check-prefix=DEFAULT

// Two products with arithmetic between them. The product of the next iteration runs beside the arithmetic of this one: the first
// iteration's is in front of the loop, the last one's rest behind it, and without an iteration nothing happens. The loop that is left
// to run starts at its second iteration, which may lie beyond the end of the counter's type.
// PRINT: loop of kernel: 2 stages
// PRINT-NEXT: stage  cycles  on    first op
// PRINT-NEXT: 0 {{ *}}1024  unit  simt.mma
// PRINT-NEXT: 1 {{ *}}1152  lanes math.exp2
// PRINT-NEXT: 1 {{ *}}512  unit  simt.mma
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %[[END:[a-z0-9]+]], %c0_i32 : i32
// CHECK: scf.if %[[RUNS]]
// CHECK: %[[FIRST:.*]] = simt.mma
// CHECK: %[[MORE:.*]] = arith.cmpi ugt, %[[END]], %c1_i32
// CHECK: %[[START:.*]] = arith.select %[[MORE]], %c1_i32, %[[END]]
// CHECK: scf.for {{.*}} = %[[START]] to %[[END]] step {{.*}} %[[BEFORE:.*]] = %[[FIRST]]
// CHECK: simt.mma {{.*}} -> tensor<128x128xf32
// CHECK: math.exp2 %[[BEFORE]]
// CHECK: simt.mma {{.*}} -> tensor<128x64xf32
// CHECK: scf.yield
// CHECK: math.exp2
// CHECK: simt.mma
// CHECK: } else {
// DEFAULT-NOT: scf.if
module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32, tile.target = #tile.target<warp_size = 32, matrix = wgmma_sm90>} {
  func.func @kernel(%o: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
    %q = arith.constant dense<2.0> : tensor<128x128xf16>
    %v = arith.constant dense<1.0> : tensor<128x64xf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %none = arith.constant dense<0.0> : tensor<128x64xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (tensor<128x64xf32>) : i32 {
      %f = arith.sitofp %i : i32 to f16
      %k = tile.splat %f : f16 -> tensor<128x128xf16>
      %s = tile.dot %q, %k, %zero : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
      %e = math.exp2 %s : tensor<128x128xf32>
      %p = arith.truncf %e : tensor<128x128xf32> to tensor<128x128xf16>
      %d = tile.dot %p, %v, %acc : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
      scf.yield %d : tensor<128x64xf32>
    }
    %out = tile.splat %o : !tile.ptr<f32> -> tensor<128x64x!tile.ptr<f32>>
    tile.store %out, %sum : tensor<128x64x!tile.ptr<f32>>, tensor<128x64xf32>
    return
  }
}
