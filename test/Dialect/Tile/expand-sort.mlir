// RUN: tz-opt %s --split-input-file --tz-tile-expand-sort --canonicalize --cse | FileCheck %s

// One stage: partners are the halves of a dimension; the first comes behind the second where it is greater, or a NaN
// and the second none.
// CHECK-LABEL: @pairs
// CHECK-SAME:    %[[X:.*]]: tensor<3x2xf32>
// CHECK:         %[[R:.*]] = tile.reshape %[[X]] : tensor<3x2xf32> -> tensor<3x1x2x1xf32>
// CHECK:         %[[T:.*]] = tile.transpose %[[R]], [0, 1, 3, 2]
// CHECK:         %[[A:.*]], %[[B:.*]] = tile.split %[[T]]
// CHECK:         %[[GREATER:.*]] = arith.cmpf ugt, %[[A]], %[[B]]
// CHECK:         %[[NUMBER:.*]] = arith.cmpf oeq, %[[B]], %[[B]]
// CHECK:         %[[SWAP:.*]] = arith.andi %[[GREATER]], %[[NUMBER]]
// CHECK:         %[[LEAST:.*]] = arith.select %[[SWAP]], %[[B]], %[[A]]
// CHECK:         %[[GREATEST:.*]] = arith.select %[[SWAP]], %[[A]], %[[B]]
// CHECK:         %[[J:.*]] = tile.join %[[LEAST]], %[[GREATEST]]
// CHECK:         %[[BACK:.*]] = tile.transpose %[[J]], [0, 1, 3, 2]
// CHECK:         %[[S:.*]] = tile.reshape %[[BACK]] : tensor<3x1x2x1xf32> -> tensor<3x2xf32>
// CHECK:         return %[[S]]
func.func @pairs(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %s = tile.sort %x, 1 : tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}

// A network of 4 has three stages; the blocks of the first are sorted in turns upwards and downwards. What the axis
// lacks is filled with what sorts last, and cut off again.
// CHECK-LABEL: @padded
// CHECK-DAG:     %[[LAST:.*]] = arith.constant -1 : i8
// CHECK:         %[[P:.*]] = tile.splat %[[LAST]] : i8 -> tensor<1x1xi8>
// CHECK:         tile.concat %{{.*}}, %[[P]], 1
// CHECK:         %[[GROUP:.*]] = tile.arange 0 to 2
// CHECK:         arith.cmpi ugt
// CHECK:         arith.xori
// CHECK-COUNT-2: arith.cmpi ugt
// CHECK-NOT:     arith.xori
// CHECK:         tile.slice
func.func @padded(%x: tensor<3xi8>) -> tensor<3xi8> {
  %s = tile.sort %x, 0 unsigned : tensor<3xi8>
  return %s : tensor<3xi8>
}

// Of a bitonic axis only the last block's stages are left: two of three. Downwards, every pair is turned around.
// CHECK-LABEL: @merge
// CHECK:         tile.transpose %{{.*}}, [1, 0]
// CHECK-COUNT-2: arith.cmpi sgt
// CHECK-NOT:     arith.cmpi
// CHECK:         tile.transpose %{{.*}}, [1, 0]
func.func @merge(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %s = tile.sort %x, 0 descending bitonic : tensor<4x2xi32>
  return %s : tensor<4x2xi32>
}

// Floats of a byte are compared as f16.
// CHECK-LABEL: @small
// CHECK:         arith.extf %{{.*}} : tensor<1x1x1xf8E5M2> to tensor<1x1x1xf16>
// CHECK:         arith.cmpf ugt, %{{.*}} : tensor<1x1x1xf16>
func.func @small(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
  %s = tile.sort %x, 0 : tensor<2xf8E5M2>
  return %s : tensor<2xf8E5M2>
}

// -----

// A network of more than 1024 exchanges in a thread stays whole where each warp has a row; 64 x 64 elements are fewer
// exchanges.
module attributes {tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 32>} {
  // CHECK-LABEL: @whole
  // CHECK:         tile.sort
  // CHECK-NEXT:    return
  func.func @whole(%x: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %s = tile.sort %x, 1 : tensor<128x64xf32>
    return %s : tensor<128x64xf32>
  }
  // CHECK-LABEL: @short
  // CHECK-NOT:     tile.sort
  // CHECK:         return
  func.func @short(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %s = tile.sort %x, 1 : tensor<64x64xf32>
    return %s : tensor<64x64xf32>
  }
  // CHECK-LABEL: @long_rows
  // CHECK:         tile.sort
  // CHECK-NEXT:    return
  func.func @long_rows(%x: tensor<4x4096xf32>) -> tensor<4x4096xf32> {
    %s = tile.sort %x, 1 : tensor<4x4096xf32>
    return %s : tensor<4x4096xf32>
  }
  // Two warps share a row: each sorts a half, the second one the other way round, and merges its half after the one stage
  // between halves.
  // CHECK-LABEL: @parts
  // CHECK:         %[[HALVES:.*]] = tile.reshape %{{.*}} : tensor<2x4096xf32> -> tensor<4x2048xf32>
  // CHECK-NEXT:    %[[SORTED:.*]] = tile.sort %[[HALVES]], 1 descending turned by 0 : tensor<4x2048xf32>
  // CHECK:         tile.reshape %[[SORTED]] : tensor<4x2048xf32> -> tensor<2x1x2x2048xf32>
  // CHECK-COUNT-1: arith.cmpf ugt
  // CHECK-NOT:     arith.cmpf ugt
  // CHECK:         %[[MERGED:.*]] = tile.sort %{{.*}}, 1 descending bitonic : tensor<4x2048xf32>
  // CHECK-NEXT:    tile.reshape %[[MERGED]] : tensor<4x2048xf32> -> tensor<2x4096xf32>
  // CHECK-NEXT:    return
  func.func @parts(%x: tensor<2x4096xf32>) -> tensor<2x4096xf32> {
    %s = tile.sort %x, 1 descending : tensor<2x4096xf32>
    return %s : tensor<2x4096xf32>
  }
  // Four warps: of the merge of two parts each, every other pair is turned.
  // CHECK-LABEL: @four_parts
  // CHECK:         tile.sort %{{.*}}, 1 turned by 0 : tensor<4x2048xi32>
  // CHECK-COUNT-1: arith.cmpi sgt
  // CHECK:         tile.sort %{{.*}}, 1 bitonic turned by 1 : tensor<4x2048xi32>
  // CHECK-COUNT-2: arith.cmpi sgt
  // CHECK:         tile.sort %{{.*}}, 1 bitonic : tensor<4x2048xi32>
  // CHECK-NOT:     tile.sort
  func.func @four_parts(%x: tensor<8192xi32>) -> tensor<8192xi32> {
    %s = tile.sort %x, 0 : tensor<8192xi32>
    return %s : tensor<8192xi32>
  }
}
