// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// Two arguments may be parts of one array. Where the bytes from the first to the last that are read and written have some in
// common, unless they are the same ones strip by strip, the value is complete in a buffer before the first element is written.
// CHECK-LABEL: func.func @arguments(
// CHECK-DAG:     %[[SPAN:.*]] = arith.constant 256 : i64
// CHECK:         %[[BUFFER:.*]] = llvm.alloca
// CHECK:         %[[END_Y:.*]] = arith.addi %[[Y:.*]], %[[SPAN]]
// CHECK:         %[[END_X:.*]] = arith.addi %[[X:.*]], %[[SPAN]]
// CHECK-DAG:     %[[BELOW:.*]] = arith.cmpi ult, %[[X]], %[[END_Y]]
// CHECK-DAG:     %[[ABOVE:.*]] = arith.cmpi ult, %[[Y]], %[[END_X]]
// CHECK-DAG:     %[[BOTH:.*]] = arith.andi %[[BELOW]], %[[ABOVE]]
// CHECK-DAG:     %[[SHIFTED:.*]] = arith.cmpi ne, %[[X]], %[[Y]]
// CHECK:         %[[OVERLAPS:.*]] = arith.andi %[[BOTH]], %[[SHIFTED]]
// CHECK:         scf.if %[[OVERLAPS]] {
// CHECK:           scf.for
// CHECK:             arith.addf
// CHECK:             llvm.getelementptr %[[BUFFER]]
// CHECK:           scf.for
// CHECK-NOT:         arith.addf
// CHECK:             llvm.getelementptr %[[BUFFER]]
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             arith.addf
// CHECK-NOT:         llvm.getelementptr
// CHECK:             llvm.store
func.func @arguments(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.store %yp, %b : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// A strip by itself is read before it is written.
// CHECK-LABEL: func.func @one_strip(
// CHECK-NOT:     llvm.alloca
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @one_strip(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %yp = tile.addptr %ys, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %a = tile.load %xp : tensor<16x!tile.ptr<f32>> -> tensor<16xf32>
  tile.store %yp, %a : tensor<16x!tile.ptr<f32>>, tensor<16xf32>
  return
}

// A transposition in place reads elements that it has written: through a buffer, always.
// CHECK-LABEL: func.func @transposed_in_place(
// CHECK:         %[[BUFFER:.*]] = llvm.alloca
// CHECK-NOT:     scf.if
// CHECK:         llvm.store %{{.*}} : vector<16xf32>
// CHECK:         return
func.func @transposed_in_place(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 to 16 : tensor<16xi32>
  %n = arith.constant dense<16> : tensor<16xi32>
  %ri = arith.muli %i, %n : tensor<16xi32>
  %ie = tile.expand_dims %ri, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %je = tile.expand_dims %i, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ib = tile.broadcast %ie : tensor<16x1xi32> -> tensor<16x16xi32>
  %jb = tile.broadcast %je : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %ib, %jb : tensor<16x16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %a = tile.load %xp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %t = tile.transpose %a, [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %xp, %t : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// The same offsets count other bytes where elements are larger: no such values are in place, so there is no comparison for that.
// CHECK-LABEL: func.func @widened(
// CHECK-NOT:     arith.cmpi ne
// CHECK:         scf.if
// CHECK-NOT:     arith.cmpi ne
// CHECK:         return
func.func @widened(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp : tensor<64x!tile.ptr<f16>> -> tensor<64xf16>
  %b = arith.extf %a : tensor<64xf16> to tensor<64xf32>
  tile.store %yp, %b : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// The last offsets are the same, those before ran along another dimension: through a buffer, always.
// CHECK-LABEL: func.func @other_dimension(
// CHECK:         llvm.alloca
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @other_dimension(%x: !tile.ptr<f32>, %more: i32) attributes {tile.kernel} {
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %re = tile.expand_dims %xp, 1 : tensor<64x!tile.ptr<f32>> -> tensor<64x1x!tile.ptr<f32>>
  %ce = tile.expand_dims %xp, 0 : tensor<64x!tile.ptr<f32>> -> tensor<1x64x!tile.ptr<f32>>
  %rb = tile.broadcast %re : tensor<64x1x!tile.ptr<f32>> -> tensor<64x64x!tile.ptr<f32>>
  %cb = tile.broadcast %ce : tensor<1x64x!tile.ptr<f32>> -> tensor<64x64x!tile.ptr<f32>>
  %offset = tile.splat %more : i32 -> tensor<64x64xi32>
  %r = tile.addptr %rb, %offset : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %c = tile.addptr %cb, %offset : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %a = tile.load %r : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
  tile.store %c, %a : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}
