// RUN: tz-opt %s --tz-split-functions="limit=8 part=4" --split-input-file | FileCheck %s

// Runs of four; a run gets what it reads and gives what others read. Constants are repeated, so that they
// stay constants.
// CHECK-LABEL: func.func @straight
// CHECK-SAME:    (%[[X:.*]]: i32) -> i32
// CHECK:         %[[A:.*]] = call @straight.part(%[[X]])
// CHECK:         %[[B:.*]] = call @[[SECOND:.*]](%[[A]], %[[X]])
// CHECK:         return %[[B]]
// CHECK:       func.func private @straight.part(%{{.*}}: i32) -> i32
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME:    passthrough = ["noinline", "optsize"]
// CHECK:         arith.constant 7
// CHECK-COUNT-4: arith.addi
// CHECK-NEXT:    return
// CHECK:       func.func private @[[SECOND]]
// CHECK:         arith.constant 7
// CHECK-COUNT-4: arith.addi
// CHECK-NEXT:    return
func.func @straight(%x: i32) -> i32 {
  %c = arith.constant 7 : i32
  %0 = arith.addi %x, %c : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %1, %c : i32
  %3 = arith.addi %2, %x : i32
  %4 = arith.addi %3, %c : i32
  %5 = arith.addi %4, %x : i32
  %6 = arith.addi %5, %c : i32
  %7 = arith.addi %6, %c : i32
  return %7 : i32
}

// -----

// Loops count with what is in them, and stay whole; the function keeps its stack memory, of which LLVM is told that
// nothing else points there.
// CHECK-LABEL: func.func @loops
// CHECK-SAME:    (%[[N:.*]]: i64)
// CHECK:         %[[BUFFER:.*]] = llvm.alloca
// CHECK-NEXT:    call @loops.part(%[[BUFFER]], %[[N]])
// CHECK-NEXT:    call @{{.*}}(%[[BUFFER]], %[[N]])
// CHECK-NEXT:    return
// CHECK:       func.func private @loops.part(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64)
// CHECK:         scf.for
// CHECK:           llvm.store
func.func @loops(%n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m = llvm.alloca %c1 x i64 : (i64) -> !llvm.ptr
  scf.for %i = %c0 to %n step %c1 : i64 {
    %d = arith.addi %i, %i : i64
    llvm.store %d, %m : i64, !llvm.ptr
  }
  scf.for %i = %c0 to %n step %c1 : i64 {
    %d = arith.muli %i, %i : i64
    llvm.store %d, %m : i64, !llvm.ptr
  }
  return
}

// -----

// A block within a loop is cut like any other: what the loop counts and carries is passed on.
// CHECK-LABEL: func.func @inner
// CHECK:         scf.for %[[I:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK-NEXT:      %[[A:.*]] = func.call @inner.part(%[[ACC]], %[[I]])
// CHECK-NEXT:      %[[B:.*]] = func.call @{{.*}}(%[[A]], %[[I]])
// CHECK-NEXT:      scf.yield %[[B]]
func.func @inner(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> i64 : i64 {
    %0 = arith.addi %acc, %i : i64
    %1 = arith.muli %0, %i : i64
    %2 = arith.xori %1, %i : i64
    %3 = arith.addi %2, %i : i64
    %4 = arith.muli %3, %i : i64
    %5 = arith.xori %4, %i : i64
    %6 = arith.addi %5, %i : i64
    %7 = arith.muli %6, %i : i64
    scf.yield %7 : i64
  }
  return %r : i64
}

// -----

// What is short enough stays as it is.
// CHECK-LABEL: func.func @short
// CHECK-NOT:     call
// CHECK-NOT:   func.func private
func.func @short(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %0, %x : i32
  return %1 : i32
}

// -----

// Memory whose address is also a number gets no such promise.
// CHECK-LABEL: func.func @address
// CHECK:       func.func private @address.part(
// CHECK-NOT:     noalias
func.func @address(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %m = llvm.alloca %c1 x i64 : (i64) -> !llvm.ptr
  %0 = llvm.ptrtoint %m : !llvm.ptr to i64
  llvm.store %n, %m : i64, !llvm.ptr
  %1 = arith.muli %0, %n : i64
  %2 = arith.xori %1, %n : i64
  %3 = arith.addi %2, %n : i64
  llvm.store %3, %m : i64, !llvm.ptr
  %4 = arith.muli %3, %n : i64
  %5 = arith.xori %4, %n : i64
  return %5 : i64
}
