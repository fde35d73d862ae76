// RUN: tz-opt %s --pass-pipeline='builtin.module(tz-attach-target{target=hip:gfx942},tz-simt-to-rocdl,convert-to-llvm)' | not tz-translate --tz-emit 2>&1 | FileCheck %s

// What LLVM takes to be fatal (gfx942 copies 4 bytes a lane to LDS, not 16) is an error; the process lives.
// CHECK: error: code generation failed: Cannot select: intrinsic %llvm.amdgcn.global.load.lds
module attributes {tile.entry = "kernel", tile.num_warps = 1 : i32} {
  func.func @kernel(%x: !llvm.ptr<1>, %i: i32) {
    %s = llvm.inttoptr %i : i32 to !llvm.ptr<3>
    %c = llvm.mlir.constant(16 : i32) : i32
    %z = llvm.mlir.constant(0 : i32) : i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%x, %s, %c, %z, %z) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    return
  }
}
