// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse | FileCheck %s

#two = #simt.layout<register = [[1], [0]], lane = [[2], [4], [8], [16], [32]], warp = [], dims = [64]>

module attributes {tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 32>} {

// A tile is carried as one scalar for each register that is no copy.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[R:.*]]:2 = scf.for unsigned %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
// CHECK-COUNT-2:   arith.muli
// CHECK:           scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK:         simt.thread_store %{{.*}}, %[[R]]#0
// CHECK:         simt.thread_store %{{.*}}, %[[R]]#1
func.func @loop(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %at = tile.arange 0 to 64 : tensor<64xi32, #two>
  %r = scf.for unsigned %i = %zero to %n step %one iter_args(%s = %at) -> (tensor<64xi32, #two>) : i32 {
    %t = arith.muli %s, %s : tensor<64xi32, #two>
    scf.yield %t : tensor<64xi32, #two>
  }
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #two>
  %ps = tile.addptr %xs, %at : tensor<64x!tile.ptr<i32>, #two>, tensor<64xi32, #two>
  tile.store %ps, %r : tensor<64x!tile.ptr<i32>, #two>, tensor<64xi32, #two>
  return
}

// What a branch or a loop yields is a value for each register of the tile.
// CHECK-LABEL: func.func @branches(
// CHECK:         scf.if %{{.*}} -> (i32, i32)
// CHECK:           scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, i32) -> (i32, i32)
// CHECK:           scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : i32, i32
// CHECK:         ^bb0(%{{.*}}: i32, %{{.*}}: i32):
// CHECK:           scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK-COUNT-2: scf.if %{{.*}} -> (i32)
func.func @branches(%x: !tile.ptr<i32>, %c: i1) attributes {tile.kernel} {
  %at = tile.arange 0 to 64 : tensor<64xi32, #two>
  %two = arith.constant dense<2> : tensor<64xi32, #two>
  %a = scf.if %c -> (tensor<64xi32, #two>) {
    %t = arith.muli %at, %at : tensor<64xi32, #two>
    scf.yield %t : tensor<64xi32, #two>
  } else {
    scf.yield %two : tensor<64xi32, #two>
  }
  %b = scf.while (%s = %a) : (tensor<64xi32, #two>) -> tensor<64xi32, #two> {
    %n = tile.load %x : !tile.ptr<i32> -> i32
    %zero = arith.constant 0 : i32
    %go = arith.cmpi ne, %n, %zero : i32
    scf.condition(%go) %s : tensor<64xi32, #two>
  } do {
  ^bb0(%s: tensor<64xi32, #two>):
    %t = arith.addi %s, %at : tensor<64xi32, #two>
    scf.yield %t : tensor<64xi32, #two>
  }
  %m = tile.map (%b) : (tensor<64xi32, #two>) -> tensor<64xi32, #two> {
  ^bb0(%e: i32):
    %n = arith.trunci %e : i32 to i1
    %r = scf.if %n -> (i32) {
      %l = tile.load %x : !tile.ptr<i32> -> i32
      scf.yield %l : i32
    } else {
      scf.yield %e : i32
    }
    tile.yield %r : i32
  }
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #two>
  %ps = tile.addptr %xs, %at : tensor<64x!tile.ptr<i32>, #two>, tensor<64xi32, #two>
  tile.store %ps, %m : tensor<64x!tile.ptr<i32>, #two>, tensor<64xi32, #two>
  return
}
}
