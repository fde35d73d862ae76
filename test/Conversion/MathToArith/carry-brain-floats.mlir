// RUN: tz-opt %s --tz-carry-brain-floats --split-input-file --verify-diagnostics | FileCheck %s

// A bf16 from memory is chosen, carried by a loop and stored as its bits; a cast to these is nothing.
// CHECK-LABEL: @moved
// CHECK-NOT:     bf16
// CHECK:         %[[ONE:.*]] = arith.constant 16256 : i16
// CHECK-NEXT:    arith.constant 1.000000e+00 : f32
// CHECK:         %[[X:.*]] = llvm.load %{{.*}} -> i16
// CHECK:         %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[Y:.*]] = %[[X]]) -> (i16)
// CHECK:           %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[Y]], %[[ONE]] : i16
// CHECK:           arith.addi %[[CHOSEN]], %[[CHOSEN]] : i16
// CHECK-NEXT:      scf.yield %{{.*}} : i16
// CHECK:         llvm.getelementptr %{{.*}}[1] : (!llvm.ptr) -> !llvm.ptr, i16
// CHECK:         llvm.store %[[LAST]], %{{.*}} : i16
func.func @moved(%p: !llvm.ptr, %c: i1, %n: index) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %one = arith.constant 1.0 : bf16
  %wide = arith.constant 1.0 : f32
  llvm.store %wide, %p : f32, !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> bf16
  %last = scf.for %i = %zero to %n step %step iter_args(%y = %x) -> (bf16) {
    %chosen = arith.select %c, %y, %one : bf16
    %bits = arith.bitcast %chosen : bf16 to i16
    %twice = arith.addi %bits, %bits : i16
    %next = arith.bitcast %twice : i16 to bf16
    scf.yield %next : bf16
  }
  %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, bf16
  llvm.store %last, %q : bf16, !llvm.ptr
  return
}

// -----

// The same for vectors, constants of different elements too.
// CHECK-LABEL: @vectors
// CHECK-NOT:     bf16
// CHECK:         arith.constant dense<[16256, -16384]> : vector<2xi16>
// CHECK:         %[[CHOSEN:.*]] = arith.select %{{.*}} : vector<2xi1>, vector<2xi16>
// CHECK-NEXT:    llvm.store %[[CHOSEN]], %{{.*}} : vector<2xi16>
func.func @vectors(%p: !llvm.ptr, %c: vector<2xi1>) {
  %some = arith.constant dense<[1.0, -2.0]> : vector<2xbf16>
  %x = llvm.load %p : !llvm.ptr -> vector<2xbf16>
  %chosen = arith.select %c, %x, %some : vector<2xi1>, vector<2xbf16>
  llvm.store %chosen, %p : vector<2xbf16>, !llvm.ptr
  return
}

// -----

// A chip that multiplies vectors of brain floats has registers for them.
// CHECK-LABEL: @registers
// CHECK:         llvm.load %{{.*}} -> bf16
module attributes {tile.target = #tile.target<name = "cpu", chip = "znver5", vector_bytes = 64, units = vector_bf16>} {
  func.func @registers(%p: !llvm.ptr) {
    %x = llvm.load %p : !llvm.ptr -> bf16
    llvm.store %x, %p : bf16, !llvm.ptr
    return
  }
}

// -----

func.func @computes(%p: !llvm.ptr) {
  %x = llvm.load %p : !llvm.ptr -> bf16
  // expected-error @below {{'arith.addf' op on bf16 expected to have been expanded by tz-expand-math}}
  %y = arith.addf %x, %x : bf16
  llvm.store %y, %p : bf16, !llvm.ptr
  return
}

// -----

// A function that is no kernel keeps its tiles.
func.func @tiles() {
  // expected-error @below {{'arith.constant' op of a tile of bf16 expected to have been taken apart by tz-tile-to-vector}}
  %x = arith.constant dense<1.0> : tensor<4xbf16>
  return
}

// -----

// expected-error @below {{'func.func' op has bf16 in its type, expected none}}
func.func @argument(%x: bf16) {
  return
}
