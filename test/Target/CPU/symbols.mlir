// RUN: not tz-translate --tz-emit %s 2>&1 | FileCheck %s

// There is no library to link with: an object that calls one would fail only where it is loaded.
module attributes {tile.entry = "product", tile.target = #tile.target<name = "cpu", chip = "znver3+avx+fma", vector_bytes = 32>} {
  llvm.func @fmaxf(f32, f32) -> f32
  // CHECK: symbols.mlir:[[@LINE+1]]:3: error: kernel 'product' compiled for znver3 calls the function 'fmaxf', expected code that calls no library; this is a fault of the compiler
  llvm.func @product(%x: f32, %out: !llvm.ptr) {
    %0 = llvm.call @fmaxf(%x, %x) : (f32, f32) -> f32
    llvm.store %0, %out : f32, !llvm.ptr
    llvm.return
  }
}
