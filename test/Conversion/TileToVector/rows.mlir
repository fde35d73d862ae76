// RUN: tz-opt %s --tz-tile-to-vector --canonicalize | FileCheck %s

// The centred row is needed twice and is read from memory twice, into no buffer. Where its mask is true all along, which
// both ends decide, the loops have no masks. Four strips are summed side by side. The last pass fetches what the next
// program reads, one row further.
// CHECK-LABEL: func.func @centred_squares
// CHECK-NOT:     llvm.alloca
// CHECK:         %[[INSIDE:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-NOT:         masked.load
// CHECK-NOT:         prefetch
// CHECK-COUNT-4:     arith.addf %{{.*}} : vector<16xf32>
// CHECK:             scf.yield
// CHECK:         } else {
// CHECK:           masked.load
// CHECK:         }
// CHECK:         %[[MEAN:.*]] = arith.mulf %[[INSIDE]]
// CHECK:         scf.if %{{.*}} {
// CHECK:           scf.for
// CHECK:             %[[NEXT:.*]] = arith.addi %{{.*}}, %c4096_i64
// CHECK:             %[[LINE:.*]] = llvm.inttoptr %[[NEXT]]
// CHECK:             llvm.intr.prefetch"(%[[LINE]])
// CHECK-NOT:         masked
// CHECK-NOT:         arith.select
// CHECK:             llvm.store %{{.*}} : vector<16xf32>
// CHECK:         } else {
// CHECK:             llvm.intr.masked.store
func.func @centred_squares(%x: !tile.ptr<f32>, %n: i32, %inverse: f32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %at = tile.arange 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<1024xi32>
  %row = tile.program_id 0
  %start = arith.muli %row, %n : i32
  %px = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %xs = tile.splat %px : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp mask %m : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = tile.reduce(%v), 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %mean = arith.mulf %sum, %inverse : f32
  %means = tile.splat %mean : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %means : tensor<1024xf32>
  %kept = arith.select %m, %d, %zero : tensor<1024xi1>, tensor<1024xf32>
  %square = arith.mulf %kept, %kept : tensor<1024xf32>
  tile.store %xp, %square mask %m : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// Indices of a matrix product's columns, which start again at the end, are needed by two expressions but stay scalars:
// the load takes whole vectors where no remainder starts again inside of them.
// CHECK-LABEL: func.func @wrapped_columns
// CHECK:         llvm.alloca
// CHECK-NOT:     llvm.alloca
// CHECK:         arith.remsi %{{.*}} : i32
// CHECK:         scf.if %{{.*}} -> (vector<16xf32>)
// CHECK:           llvm.load %{{.*}} -> vector<16xf32>
// CHECK:         } else {
// CHECK:           masked.gather
func.func @wrapped_columns(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0 to 8 : tensor<8xi32>
  %j = tile.arange 0 to 16 : tensor<16xi32>
  %ns = tile.splat %n : i32 -> tensor<16xi32>
  %column = arith.remsi %j, %ns : tensor<16xi32>
  %ie = tile.expand_dims %i, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %ce = tile.expand_dims %column, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %pitch = arith.constant dense<64> : tensor<8x1xi32>
  %ip = arith.muli %ie, %pitch : tensor<8x1xi32>
  %ib = tile.broadcast %ip : tensor<8x1xi32> -> tensor<8x16xi32>
  %cb = tile.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %from = arith.addi %ib, %cb : tensor<8x16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %from : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xi32>
  %a = tile.load %xp : tensor<8x16x!tile.ptr<f32>> -> tensor<8x16xf32>
  tile.print "a", [0](%a : tensor<8x16xf32>)
  return
}

// Of a longer row it is decided once that no remainder starts again: its strips have none then.
// CHECK-LABEL: func.func @wrapped_row
// CHECK:         %[[START:.*]] = arith.remsi
// CHECK:         %[[LAST:.*]] = arith.addi %[[START]], %c255_i32
// CHECK:         %[[FITS:.*]] = arith.cmpi slt, %[[LAST]], %[[N:.*]] : i32
// CHECK:         scf.if %[[FITS]] {
// CHECK:           scf.for
// CHECK-NOT:         arith.remsi
// CHECK:             arith.addi %[[START]]
// CHECK:             llvm.load %{{.*}} -> vector<16xf32>
// CHECK:         } else {
// CHECK:           arith.remsi %{{.*}}, %[[N]] : i32
// CHECK:           masked.gather
func.func @wrapped_row(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %j = tile.arange 0 to 256 : tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  %column = arith.remsi %j, %ns : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %column : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %a = tile.load %xp : tensor<256x!tile.ptr<f32>> -> tensor<256xf32>
  tile.print "a", [0](%a : tensor<256xf32>)
  return
}

// A launch that writes more than the caches hold does so around them, unless its rows are not aligned; then all that was
// written is waited for. The argument is read once, and the work on it is long, so what lies two
// kilobytes further is fetched.
// CHECK-LABEL: func.func @around_caches
// CHECK:         %[[ALL:.*]] = arith.muli
// CHECK:         %[[LARGE:.*]] = arith.cmpi uge, %{{.*}}, %c8192_i64
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         %[[AROUND:.*]] = arith.andi %[[LARGE]], %[[ALIGNED]]
// CHECK:         scf.for
// CHECK:           arith.addi %{{.*}}, %c2048_i64
// CHECK:           llvm.intr.prefetch"
// CHECK:           scf.if %[[AROUND]] {
// CHECK-NEXT:        %[[TO:.*]] = llvm.inttoptr
// CHECK-NEXT:        llvm.store %{{.*}}, %[[TO]] {alignment = 16 : i64, nontemporal} : vector<16xf32>
// CHECK-NEXT:      } else {
// CHECK:             llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK:         llvm.call_intrinsic "llvm.x86.sse.sfence"()
// CHECK-NEXT:    return
func.func @around_caches(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 1024 : tensor<1024xi32>
  %row = tile.program_id 0
  %n = arith.constant 1024 : i32
  %start = arith.muli %row, %n : i32
  %px = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %py = tile.addptr %y, %start : !tile.ptr<f32>, i32
  %xs = tile.splat %px : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ys = tile.splat %py : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %yp = tile.addptr %ys, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %e = math.exp %v : tensor<1024xf32>
  tile.store %yp, %e : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// What is written where it was read is in the caches already.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT:     nontemporal
// CHECK-NOT:     sfence
// CHECK:         return
func.func @in_place(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 1024 : tensor<1024xi32>
  %row = tile.program_id 0
  %n = arith.constant 1024 : i32
  %start = arith.muli %row, %n : i32
  %px = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %xs = tile.splat %px : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %e = arith.negf %v : tensor<1024xf32>
  tile.store %xp, %e : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// Programs that tell each other what they have written do not write around the caches.
// CHECK-LABEL: func.func @with_atomics
// CHECK-NOT:     nontemporal
// CHECK-NOT:     sfence
// CHECK:         return
func.func @with_atomics(%y: !tile.ptr<f32>, %done: !tile.ptr<i32>) attributes {tile.kernel} {
  %at = tile.arange 0 to 1024 : tensor<1024xi32>
  %row = tile.program_id 0
  %one = arith.constant 1 : i32
  %n = arith.constant 1024 : i32
  %start = arith.muli %row, %n : i32
  %py = tile.addptr %y, %start : !tile.ptr<f32>, i32
  %ys = tile.splat %py : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = arith.sitofp %at : tensor<1024xi32> to tensor<1024xf32>
  tile.store %yp, %v : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  %old = tile.atomic_rmw add, %done, %one : !tile.ptr<i32>, i32 -> i32
  return
}
