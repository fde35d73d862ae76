// RUN: not tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:sm_1})' 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: target 'cuda' has no chip 'sm_1': expected one of sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_120
// RUN: not tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip})' 2>&1 | FileCheck %s --check-prefix=NOCHIP
// NOCHIP: error: target 'hip' needs a chip: expected one of gfx90a, gfx942, gfx950, gfx1100, gfx1201
// RUN: not tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=abacus})' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: no target 'abacus': expected one of cpu, cuda, hip

// RUN: not tz-opt %s --pass-pipeline='builtin.module(tz-simt-to-nvvm)' 2>&1 | FileCheck %s --check-prefix=FACTS
// FACTS: error: module needs the attribute 'tile.target' with a 'chip' and a 'warp_size'
// RUN: not tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx1100},tz-simt-to-rocdl)' 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: error: 'simt.shuffle_xor' op has the mask 32, expected one below the 32 lanes of a warp

// DEFINE: %{set} =
// DEFINE: %{emit} = sed 's/simt.shared_bytes = 0/%{set}/' %s | tz-opt --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx942},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm)' | not tz-translate --tz-emit 2>&1
// REDEFINE: %{set} = simt.shared_bytes = 65537
// RUN: %{emit} | FileCheck %s --check-prefix=SHARED
// SHARED: error: kernel needs 65537 bytes of shared memory, a block of gfx942 has 65536; smaller tiles or fewer pipeline stages need less
// REDEFINE: %{set} = tile.num_warps = 32 : i32, simt.shared_bytes = 0
// RUN: %{emit} | FileCheck %s --check-prefix=WARPS
// WARPS: error: num_warps is 32: a block of gfx942 has 1 to 16 warps of 64 threads
module attributes {tile.entry = "kernel", simt.shared_bytes = 0 : i64} {
  func.func @kernel(%x: !llvm.ptr<1>, %v: i32) {
    %w = simt.shuffle_xor %v, 32
    simt.thread_store %x, %w : !llvm.ptr<1>, i32
    return
  }
}
