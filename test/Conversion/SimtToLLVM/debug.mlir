// RUN: tz-opt %s --tz-simt-to-llvm --canonicalize --cse | FileCheck %s

#list = #simt.layout<register = [[1]], lane = [[2], [4], [8], [16], [0]], warp = [[0]], dims = [32]>

module attributes {tile.num_warps = 2 : i32, tile.target = #tile.target<warp_size = 32>} {

// The table of lines is for whoever reads the messages.
// CHECK:         tile.lines =
// CHECK-SAME:    operands = ["i32  0", "u32 32 0"], text = "x: "
// CHECK-SAME:    operands = [], text = "scalar"
// CHECK-SAME:    operands = [], text = "tile"

// Without a message there is no buffer.
// CHECK-LABEL: func.func @silent(%{{[^,]*}}: i32)
func.func @silent(%x: i32) attributes {tile.kernel} {
  return
}

// A record of two registers, written if there is room, by one of the threads that hold it; a failed assertion claims
// the buffer's flag.
// CHECK-LABEL: func.func @messages(
// CHECK-SAME:    %[[BUFFER:[^,]*]]: !llvm.ptr<1>)
// CHECK-DAG:     %[[TEN:.*]] = arith.constant 10 : i32
// CHECK-DAG:     %[[NINE:.*]] = arith.constant 9 : i32
// CHECK:         scf.if
// CHECK:           simt.thread_atomic_rmw
// CHECK-SAME:        %[[BUFFER]], %[[NINE]]
// CHECK:           scf.if
// CHECK-COUNT-9:     simt.thread_store
// CHECK:         scf.if
// CHECK:           simt.thread_atomic_rmw
// CHECK-SAME:        %[[BUFFER]], %[[TEN]]
// CHECK:           scf.if
// CHECK-COUNT-10:    simt.thread_store
// CHECK:         scf.if
// CHECK:           simt.thread_atomic_cas
// CHECK:           scf.if
// CHECK-COUNT-3:     simt.thread_store
// CHECK:         arith.ori %{{.*}} : i1
// CHECK:         scf.if
// CHECK:           simt.thread_atomic_cas
func.func @messages(%x: i32, %c: i1) attributes {tile.kernel} {
  %at = tile.arange 0 to 32 : tensor<32xi32, #list>
  %xs = tile.splat %x : i32 -> tensor<32xi32, #list>
  %m = arith.cmpi slt, %at, %xs : tensor<32xi32, #list>
  tile.print "x: ", [1, 0](%x, %at : i32, tensor<32xi32, #list>)
  tile.assert %c, "scalar" : i1
  tile.assert %m, "tile" : tensor<32xi1, #list>
  return
}
}
