// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The table of lines is for whoever reads the messages.
// CHECK:         tile.lines =
// CHECK-SAME:    operands = ["i32  0", "u32 8 0"], text = "x: "
// CHECK-SAME:    operands = [], text = "here"
// CHECK-SAME:    text = "scalar"
// CHECK-SAME:    text = "tile"

// Print calls slot 40 of the context once an operand, assert slot 32 only on failure, each with its line's number.
// CHECK-LABEL: @print_assert(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[CONTEXT:.*]]: !llvm.ptr
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : i32
// CHECK-COUNT-3: llvm.getelementptr %[[CONTEXT]][40]
// CHECK:         scf.if
// CHECK-NEXT:      llvm.getelementptr %[[CONTEXT]][32]
// CHECK:           llvm.call %{{.*}}(%[[CONTEXT]], %[[TWO]],
// CHECK:         %[[ALL:.*]] = vector.reduction <and>
// CHECK-NEXT:    %[[FAILS:.*]] = arith.xori %[[ALL]]
// CHECK-NEXT:    scf.if %[[FAILS]]
// CHECK-NEXT:      llvm.getelementptr %[[CONTEXT]][32]
// CHECK:           llvm.call %{{.*}}(%[[CONTEXT]], %[[THREE]],
func.func @print_assert(%x: i32, %c: i1) attributes {tile.kernel} {
  %at = tile.arange 0 to 8 : tensor<8xi32>
  %xs = tile.splat %x : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %at, %xs : tensor<8xi32>
  tile.print "x: ", [1, 0](%x, %at : i32, tensor<8xi32>)
  tile.print "here", []
  tile.assert %c, "scalar" : i1
  tile.assert %m, "tile" : tensor<8xi1>
  return
}
