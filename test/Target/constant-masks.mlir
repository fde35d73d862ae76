// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=cuda:sm_90a},tz-simt-to-nvvm,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit | FileCheck %s --check-prefix=PTX
// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx942},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' | tz-translate --tz-emit --tz-stage=amdgcn | FileCheck %s --check-prefix=GCN

// A mask that became a constant late: what it leaves out is not read, and `other` arrives.
// PTX-LABEL: .entry kernel(
// PTX:       mov.pred %p[[FALSE:[0-9]+]], 0;
// PTX:       @%p[[FALSE]] ld.global.b32 %r[[VALUE:[0-9]+]], [%rd
// PTX:       st.global.b32 [%rd{{[0-9]+}}], %r[[VALUE]];
// GCN-LABEL: kernel:
// GCN-NOT:   global_load
// GCN:       global_store_dword
// GCN-NOT:   global_store
// GCN:       s_endpgm
module attributes {tile.num_warps = 1 : i32, tile.entry = "kernel", simt.shared_bytes = 0 : i64, tile.lines = []} {
func.func @kernel(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: i32) {
  %false = arith.constant false
  %a = simt.thread_load %p mask %false other %o : i32 : !llvm.ptr<1> -> i32
  simt.thread_store %q, %a : !llvm.ptr<1>, i32
  simt.thread_store %p, %a mask %false : !llvm.ptr<1>, i32
  return
}
}
