// DEFINE: %{chip} =
// DEFINE: %{function} =
// DEFINE: %{part} = sed -n '/^\/\/ BEGIN %{function}/,/^\/\/ END/p' %s
// DEFINE: %{lower} = tz-opt --pass-pipeline='builtin.module(tz-attach-target{target=hip:%{chip}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)'
// DEFINE: %{text} = %{part} | %{lower} | tz-translate --tz-emit --tz-stage=amdgcn
// REDEFINE: %{function} = mfma
// REDEFINE: %{chip} = gfx942
// RUN: %{text} | FileCheck %s --check-prefix=GFX942
// REDEFINE: %{chip} = gfx90a
// RUN: %{part} | not %{lower} 2>&1 | FileCheck %s --check-prefix=GFX90A
// REDEFINE: %{function} = wmma
// REDEFINE: %{chip} = gfx1201
// RUN: %{text} | FileCheck %s --check-prefix=GFX1201

// Words become the vectors or integers that each instruction takes.
// GFX942: v_mfma_f32_16x16x16_bf16
// GFX942: v_mfma_i32_16x16x32_i8
// GFX942: v_mfma_f32_16x16x32_fp8_bf8
// CDNA 2 multiplies 8-bit integers less deeply.
// GFX90A: error: 'simt.thread_mma' op is no instruction of the matrix unit 'mfma_gfx90a'
// GFX1201: v_wmma_f32_16x16x16_f16

// BEGIN mfma
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32} {
  func.func @kernel(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
    %a = simt.thread_load %p : !llvm.ptr<1> -> vector<2xi32>
    %c = simt.thread_load %q : !llvm.ptr<1> -> vector<4xi32>
    %d = simt.thread_mma %a, %a, %c by <family = mfma, m = 16, n = 16, k = 16, lhs = bf16, rhs = bf16, acc = f32> : vector<2xi32>, vector<2xi32> -> vector<4xi32>
    %e = simt.thread_mma %a, %a, %d by <family = mfma, m = 16, n = 16, k = 32, lhs = i8, rhs = i8, acc = i32> : vector<2xi32>, vector<2xi32> -> vector<4xi32>
    %f = simt.thread_mma %a, %a, %e by <family = mfma, m = 16, n = 16, k = 32, lhs = f8E4M3FNUZ, rhs = f8E5M2FNUZ, acc = f32> : vector<2xi32>, vector<2xi32> -> vector<4xi32>
    simt.thread_store %q, %f : !llvm.ptr<1>, vector<4xi32>
    return
  }
}
// END
// BEGIN wmma
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32} {
  func.func @kernel(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
    %a = simt.thread_load %p : !llvm.ptr<1> -> vector<4xi32>
    %c = llvm.load %q : !llvm.ptr<1> -> vector<8xi32>
    %d = simt.thread_mma %a, %a, %c by <family = wmma_gfx12, m = 16, n = 16, k = 16, lhs = f16, rhs = f16, acc = f32> : vector<4xi32>, vector<4xi32> -> vector<8xi32>
    llvm.store %d, %q : vector<8xi32>, !llvm.ptr<1>
    return
  }
}
// END
