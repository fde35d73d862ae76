// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cpu:x86-64-v3},tz-pipeline-cpu)' | tz-translate --tz-emit --tz-stage=asm | FileCheck %s

// The coefficients of erf are loaded in the loop, behind its argument. Kept in registers in front of it they would push
// everything else out to the stack.
// CHECK-LABEL:    erf:
// CHECK:          [[LOOP:\.LBB0_[0-9]+]]:{{[[:space:]]+}}vmovups (%{{.*}}), %ymm
// CHECK-COUNT-16: vbroadcastss .LCPI
// CHECK:          jb [[LOOP]]
func.func @erf(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 1024 : tensor<1024xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %a = tile.addptr %p, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %b = tile.addptr %q, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %a : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %e = math.erf %v : tensor<1024xf32>
  tile.store %b, %e : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}
