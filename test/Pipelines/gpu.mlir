// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:sm_90a})' | tz-opt --tz-pipeline-cuda -o %t.cuda
// RUN: FileCheck %s < %t.cuda
// RUN: tz-translate --tz-emit %t.cuda | FileCheck %s --check-prefix=PTX
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx942})' | tz-opt --tz-pipeline-hip -o %t.hip
// RUN: FileCheck %s < %t.hip
// RUN: tz-translate --tz-emit --tz-stage=amdgcn %t.hip | FileCheck %s --check-prefix=GCN

// Everything has become the llvm dialect and one of nvvm and rocdl, and the code is that of a kernel.
// CHECK:     llvm.func @kernel(%{{.*}}: !llvm.ptr<1>{{.*}}, %{{.*}}: i32
// CHECK-NOT: {{(^|[ "])(tile|simt|func|scf|cf|arith|math|vector|memref|tensor)\.[a-z]}}
// CHECK-NOT: unrealized_conversion_cast
// CHECK:     {{nvvm|rocdl}}.
// CHECK:     llvm.return

// PTX: .visible .entry kernel(
// PTX: .reqntid 128
// PTX: ld.global
// PTX: shfl.sync.bfly
// PTX: st.global

// GCN: kernel:
// GCN: global_load_dword
// GCN: _dpp
// GCN: global_store_dword
// GCN: .max_flat_workgroup_size: 256
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
