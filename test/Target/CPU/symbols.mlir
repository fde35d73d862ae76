// RUN: not tz-translate --tz-emit %s 2>&1 | FileCheck %s

// An object that calls what the runtime does not offer would fail only where it is loaded.
module attributes {tile.entry = "product", tile.target = #tile.target<name = "cpu", chip = "znver3+avx+fma", vector_bytes = 32>} {
  llvm.func @fmaxf(f32, f32) -> f32
  llvm.func @floorf(f32) -> f32
  // CHECK-NOT: floorf
  // CHECK: symbols.mlir:[[@LINE+1]]:3: error: kernel 'product' compiled for znver3 calls the function 'fmaxf', expected code that calls no library; this is a fault of the compiler
  llvm.func @product(%x: f32, %out: !llvm.ptr) {
    %0 = llvm.call @floorf(%x) : (f32) -> f32
    %1 = llvm.call @fmaxf(%0, %x) : (f32, f32) -> f32
    llvm.store %1, %out : f32, !llvm.ptr
    llvm.return
  }
}
