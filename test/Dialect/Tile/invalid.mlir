// RUN: tz-opt %s --split-input-file --verify-diagnostics

// One case for each numbered constraint of TileOps.td, named by it.

func.func @program_id_c1_axis() {
  // expected-error @below {{'tile.program_id' op axis must be 0, 1 or 2, got 3}}
  %p = tile.program_id 3
  return
}

// -----

func.func @num_programs_c1_axis() {
  // expected-error @below {{'tile.num_programs' op axis must be 0, 1 or 2, got -1}}
  %p = tile.num_programs -1
  return
}

// -----

func.func @arange_c1_empty() {
  // expected-error @below {{'tile.arange' op start must be below end, got 4 and 4}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.arange 4 to 4 : tensor<1xi32>
  return
}

// -----

func.func @arange_c1_extent() {
  // expected-error @below {{op inferred type(s) 'tensor<4xi32>' are incompatible with return type(s) of operation 'tensor<8xi32>'}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.arange 0 to 4 : tensor<8xi32>
  return
}

// -----

func.func @splat_c1_type(%x: f32) {
  // expected-error @below {{'tile.splat' op operand must have the element type of 'tensor<4xf16>', got 'f32'}}
  %a = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @broadcast_c1_rank(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.broadcast' op source and result must agree in rank and element type, got 'tensor<4xf32>' and 'tensor<4x4xf32>'}}
  %a = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_c1_type(%x: tensor<1xf32>) {
  // expected-error @below {{'tile.broadcast' op source and result must agree in rank and element type, got 'tensor<1xf32>' and 'tensor<4xi32>'}}
  %a = tile.broadcast %x : tensor<1xf32> -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_c2_extent(%x: tensor<2xf32>) {
  // expected-error @below {{'tile.broadcast' op source extents must be 1 or the result's, got 'tensor<2xf32>' and 'tensor<4xf32>'}}
  %a = tile.broadcast %x : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @expand_dims_c1_axis(%x: tensor<2xf32>) {
  // expected-error @below {{'tile.expand_dims' op axis must be in [0, 1], got 2}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.expand_dims %x, 2 : tensor<2xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @reshape_c1_count(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tile.reshape' op source and result must agree in element type and number of elements, got 'tensor<2x3xf32>' and 'tensor<5xf32>'}}
  %a = tile.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @transpose_c1_repeated(%x: tensor<2x2xf32>) {
  // expected-error @below {{'tile.transpose' op order must be a permutation of [0, 2), got [1, 1]}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.transpose %x, [1, 1] : tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1_short(%x: tensor<2x2xf32>) {
  // expected-error @below {{'tile.transpose' op order must be a permutation of [0, 2), got [0]}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.transpose %x, [0] : tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1_negative(%x: tensor<2x2xf32>) {
  // expected-error @below {{'tile.transpose' op order must be a permutation of [0, 2), got [0, -1]}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.transpose %x, [0, -1] : tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @split_c1_extent(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tile.split' op last dimension must have extent 2, got tensor<4x3xf32>}}
  // expected-error @below {{failed to infer returned types}}
  %a, %b = tile.split %x : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @concat_c1_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.concat' op axis must be in [0, 1), got 1}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.concat %x, %x, 1 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @concat_c2_extent(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{'tile.concat' op operands must agree but for dimension 0, got tensor<4x2xf32> and tensor<4x3xf32>}}
  // expected-error @below {{failed to infer returned types}}
  %a = tile.concat %x, %y, 0 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @flip_c1_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.flip' op axis must be in [0, 1), got 1}}
  %a = tile.flip %x, 1 : tensor<4xf32>
  return
}

// -----

func.func @slice_c1_offsets(%x: tensor<4x2xf32>, %i: i32) {
  // expected-error @below {{'tile.slice' op needs 2 offsets, sizes and strides, got 1, 2 and 2}}
  %a = tile.slice %x[%i] [1, 2] strides [1, 1] dropped [0] : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c2_size(%x: tensor<4x2xf32>, %i: i32) {
  // expected-error @below {{'tile.slice' op dropped dimensions must be increasing and of size 1, got [1] of sizes [1, 2]}}
  %a = tile.slice %x[%i, %i] [1, 2] strides [1, 1] dropped [1] : tensor<4x2xf32> -> tensor<1xf32>
  return
}

// -----

func.func @slice_c2_order(%x: tensor<4x2xf32>, %i: i32) {
  // expected-error @below {{'tile.slice' op dropped dimensions must be increasing and of size 1, got [1, 0] of sizes [1, 1]}}
  %a = tile.slice %x[%i, %i] [1, 1] strides [1, 1] dropped [1, 0] : tensor<4x2xf32> -> f32
  return
}

// -----

func.func @slice_c3_result(%x: tensor<4x2xf32>, %i: i32) {
  // expected-error @below {{'tile.slice' op result must be 'f32', got 'tensor<1xf32>'}}
  %a = tile.slice %x[%i, %i] [1, 1] strides [1, 1] dropped [0, 1] : tensor<4x2xf32> -> tensor<1xf32>
  return
}

// -----

func.func @insert_c1_offsets(%x: tensor<4x2xf32>, %r: tensor<2xf32>, %i: i32) {
  // expected-error @below {{'tile.insert' op needs 2 offsets, got 1}}
  %a = tile.insert %r into %x[%i] dropped [0] : tensor<2xf32> into tensor<4x2xf32>
  return
}

// -----

func.func @insert_c2_extent(%x: tensor<4x2xf32>, %r: tensor<3xf32>, %i: i32) {
  // expected-error @below {{'tile.insert' op source, with dropped dimensions put back, must fit into 'tensor<4x2xf32>', got 'tensor<3xf32>'}}
  %a = tile.insert %r into %x[%i, %i] dropped [0] : tensor<3xf32> into tensor<4x2xf32>
  return
}

// -----

func.func @insert_c2_type(%x: tensor<4xf32>, %r: f16, %i: i32) {
  // expected-error @below {{'tile.insert' op source, with dropped dimensions put back, must fit into 'tensor<4xf32>', got 'f16'}}
  %a = tile.insert %r into %x[%i] dropped [0] : f16 into tensor<4xf32>
  return
}

// -----

func.func @gather_c1_axis(%x: tensor<4xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{'tile.gather' op axis must be in [0, 1), got 1}}
  %a = tile.gather %x[%i], 1 : tensor<4xf32>, tensor<8xi32> -> tensor<8xf32>
  return
}

// -----

func.func @gather_c2_extent(%x: tensor<4x2xf32>, %i: tensor<8x3xi32>) {
  // expected-error @below {{'tile.gather' op source and indices must agree but for dimension 0, got 'tensor<4x2xf32>' and 'tensor<8x3xi32>'}}
  %a = tile.gather %x[%i], 0 : tensor<4x2xf32>, tensor<8x3xi32> -> tensor<8x3xf32>
  return
}

// -----

func.func @gather_c3_result(%x: tensor<4xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{'tile.gather' op result must be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %a = tile.gather %x[%i], 0 : tensor<4xf32>, tensor<8xi32> -> tensor<4xf32>
  return
}

// -----

func.func @addptr_c1_scalar(%p: tensor<4x!tile.ptr<f32>>, %i: i32) {
  // expected-error @below {{'tile.addptr' op pointer and offset must be scalars or have one shape, got 'tensor<4x!tile.ptr<f32>>' and 'i32'}}
  %a = tile.addptr %p, %i : tensor<4x!tile.ptr<f32>>, i32
  return
}

// -----

func.func @ptr_to_int_c1_width(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.ptr_to_int' op needs i64 addresses and pointers of one shape, got '!tile.ptr<f32>' and 'i32'}}
  %a = tile.ptr_to_int %p : !tile.ptr<f32> -> i32
  return
}

// -----

func.func @int_to_ptr_c1_shape(%i: tensor<8xi64>) {
  // expected-error @below {{'tile.int_to_ptr' op needs i64 addresses and pointers of one shape, got 'tensor<4x!tile.ptr<f32>>' and 'tensor<8xi64>'}}
  %a = tile.int_to_ptr %i : tensor<8xi64> -> tensor<4x!tile.ptr<f32>>
  return
}

// -----

func.func @ptr_cast_c1_shape(%p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @below {{'tile.ptr_cast' op source and result must have one shape, got 'tensor<4x!tile.ptr<f32>>' and '!tile.ptr<i8>'}}
  %a = tile.ptr_cast %p : tensor<4x!tile.ptr<f32>> -> !tile.ptr<i8>
  return
}

// -----

func.func @hint_c1_count(%i: tensor<4x4xi32>) {
  // expected-error @below {{'tile.hint' op each hint must have 2 positive entries, got [4]}}
  %a = tile.hint %i {contiguity = array<i32: 4>} : tensor<4x4xi32>
  return
}

// -----

func.func @hint_c1_zero(%i: i32) {
  // expected-error @below {{'tile.hint' op each hint must have 1 positive entries, got [0]}}
  %a = tile.hint %i {divisibility = array<i32: 0>} : i32
  return
}

// -----

func.func @load_c1_mask(%p: tensor<4x!tile.ptr<f32>>, %m: i1) {
  // expected-error @below {{'tile.load' op mask must have the shape of the pointer 'tensor<4x!tile.ptr<f32>>', got 'i1'}}
  %a = tile.load %p mask %m : i1 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @load_c1_other(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<4xi1>, %o: f32) {
  // expected-error @below {{'tile.load' op other must have the shape of the pointer 'tensor<4x!tile.ptr<f32>>', got 'f32'}}
  %a = tile.load %p mask %m : tensor<4xi1> other %o : f32 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @load_c2_other(%p: !tile.ptr<f32>, %m: i1, %o: f16) {
  // expected-error @below {{'tile.load' op other must have the pointee type 'f32', got 'f16'}}
  %a = tile.load %p mask %m : i1 other %o : f16 : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @load_c3_no_mask(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error @below {{'tile.load' op other is for lanes that a mask leaves out, got no mask}}
  %a = tile.load %p other %o : f32 : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @store_c1_value(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<8xf32>) {
  // expected-error @below {{'tile.store' op value must have the shape of the pointer 'tensor<4x!tile.ptr<f32>>', got 'tensor<8xf32>'}}
  tile.store %p, %x : tensor<4x!tile.ptr<f32>>, tensor<8xf32>
  return
}

// -----

func.func @store_c1_mask(%p: !tile.ptr<f32>, %x: f32, %m: tensor<4xi1>) {
  // expected-error @below {{'tile.store' op mask must have the shape of the pointer '!tile.ptr<f32>', got 'tensor<4xi1>'}}
  tile.store %p, %x mask %m : tensor<4xi1> : !tile.ptr<f32>, f32
  return
}

// -----

func.func @store_c2_type(%p: !tile.ptr<f32>, %x: i32) {
  // expected-error @below {{'tile.store' op value must have the pointee type 'f32', got 'i32'}}
  tile.store %p, %x : !tile.ptr<f32>, i32
  return
}

// -----

func.func @atomic_rmw_c1_value(%p: tensor<4x!tile.ptr<f32>>, %x: f32) {
  // expected-error @below {{'tile.atomic_rmw' op value must have the shape of the pointer 'tensor<4x!tile.ptr<f32>>', got 'f32'}}
  %a = tile.atomic_rmw fadd, %p, %x : tensor<4x!tile.ptr<f32>>, f32 -> f32
  return
}

// -----

func.func @atomic_rmw_c2_type(%p: !tile.ptr<i64>, %x: i32) {
  // expected-error @below {{'tile.atomic_rmw' op value must have the pointee type 'i64', got 'i32'}}
  %a = tile.atomic_rmw add, %p, %x : !tile.ptr<i64>, i32 -> i32
  return
}

// -----

func.func @atomic_rmw_c3_integer(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @below {{'tile.atomic_rmw' op 'fadd' takes floats, got 'i32'}}
  %a = tile.atomic_rmw fadd, %p, %x : !tile.ptr<i32>, i32 -> i32
  return
}

// -----

func.func @atomic_rmw_c3_small(%p: !tile.ptr<f8E5M2>, %x: f8E5M2) {
  // expected-error @below {{'tile.atomic_rmw' op 'fadd' takes floats of 16 bits or more, got 'f8E5M2'}}
  %a = tile.atomic_rmw fadd, %p, %x : !tile.ptr<f8E5M2>, f8E5M2 -> f8E5M2
  return
}

// -----

func.func @atomic_rmw_c3_float(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.atomic_rmw' op 'max' takes integers, got 'f32'}}
  %a = tile.atomic_rmw max, %p, %x : !tile.ptr<f32>, f32 -> f32
  return
}

// -----

func.func @atomic_rmw_c4_type(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.atomic_rmw' op result must have the type of the value, 'f32', got 'i32'}}
  %a = tile.atomic_rmw fadd, %p, %x : !tile.ptr<f32>, f32 -> i32
  return
}

// -----

func.func @atomic_cas_c1_shape(%p: tensor<4x!tile.ptr<f32>>, %x: f32) {
  // expected-error @below {{'tile.atomic_cas' op value must have the shape of the pointer 'tensor<4x!tile.ptr<f32>>', got 'f32'}}
  %a = tile.atomic_cas %p, %x, %x : tensor<4x!tile.ptr<f32>>, f32
  return
}

// -----

func.func @atomic_cas_c2_type(%p: !tile.ptr<i64>, %x: i32) {
  // expected-error @below {{'tile.atomic_cas' op value must have the pointee type 'i64', got 'i32'}}
  %a = tile.atomic_cas %p, %x, %x : !tile.ptr<i64>, i32
  return
}

// -----

func.func @dot_c1_rank(%a: tensor<4xf32>, %b: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op operands must have rank 2, or rank 3 and one batch extent, got 'tensor<4xf32>', 'tensor<4x4xf32>' and 'tensor<4x4xf32>'}}
  %r = tile.dot %a, %b, %b : tensor<4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c1_batch(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  // expected-error @below {{'tile.dot' op operands must have rank 2, or rank 3 and one batch extent, got 'tensor<2x4x4xf32>', 'tensor<3x4x4xf32>' and 'tensor<2x4x4xf32>'}}
  %r = tile.dot %a, %b, %a : tensor<2x4x4xf32>, tensor<3x4x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_c2_inner(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op operands must be [M, K], [K, N] and [M, N], got 'tensor<4x8xf32>', 'tensor<4x4xf32>' and 'tensor<4x4xf32>'}}
  %r = tile.dot %a, %b, %b : tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c5(%a: tensor<4x4xf8E4M3FN>, %c: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op maxNumImpreciseAcc must not be negative, got -1}}
  %r = tile.dot %a, %a, %c {maxNumImpreciseAcc = -1 : i32} : tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN> -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c3_mixed(%a: tensor<4x4xf32>, %b: tensor<4x4xi32>) {
  // expected-error @below {{'tile.dot' op operands must both be floats, or integers of one width, got 'f32' and 'i32'}}
  %r = tile.dot %a, %b, %a : tensor<4x4xf32>, tensor<4x4xi32> -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c4_narrow(%a: tensor<4x4xf8E5M2>) {
  // expected-error @below {{'tile.dot' op accumulator must be a float of 16 bits or more, got 'f8E5M2'}}
  %r = tile.dot %a, %a, %a : tensor<4x4xf8E5M2>, tensor<4x4xf8E5M2> -> tensor<4x4xf8E5M2>
  return
}

// -----

func.func @dot_c4_integer(%a: tensor<4x4xi8>) {
  // expected-error @below {{'tile.dot' op accumulator must be i32, got 'i8'}}
  %r = tile.dot %a, %a, %a : tensor<4x4xi8>, tensor<4x4xi8> -> tensor<4x4xi8>
  return
}

// -----

func.func @reduce_c1_none() {
  // expected-error @below {{'tile.reduce' op needs at least one operand}}
  tile.reduce(), 0 : () -> () {
    tile.yield
  }
  return
}

// -----

func.func @reduce_c1_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op operands must have one shape, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %r:2 = tile.reduce(%x, %y), 0 : (tensor<4xf32>, tensor<8xf32>) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_c2_axis(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op axis must be in [0, 1), got 1}}
  %r = tile.reduce(%x), 1 : (tensor<4xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_c3_arguments(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op region must take ('f32', 'f32'), got ('f32')}}
  %r = tile.reduce(%x), 0 : (tensor<4xf32>) -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_c3_yield(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op region must yield ('f32'), got ('f32', 'f32')}}
  %r = tile.reduce(%x), 0 : (tensor<4xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @scan_c1_none() {
  // expected-error @below {{'tile.scan' op needs at least one operand}}
  tile.scan(), 0 : () -> () {
    tile.yield
  }
  return
}

// -----

func.func @scan_c1_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op operands must have one shape, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %r:2 = tile.scan(%x, %y), 0 : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @scan_c2_axis(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op axis must be in [0, 1), got 1}}
  %r = tile.scan(%x), 1 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_c3_arguments(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op region must take ('f32', 'f32'), got ('f32')}}
  %r = tile.scan(%x), 0 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_c3_yield(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op region must yield ('f32'), got ('f32', 'f32')}}
  %r = tile.scan(%x), 0 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_result_count(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op must have one result an operand, got 2 for 1}}
  %r:2 = tile.reduce(%x), 0 : (tensor<4xf32>) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_result_type(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op result must be 'f32', got 'tensor<1xf32>'}}
  %r = tile.reduce(%x), 0 : (tensor<4xf32>) -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_c4_result(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op results must have the types of the operands}}
  %r = tile.scan(%x), 0 : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c1_none(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op needs at least one tile to step through}}
  %r = tile.recurrence init(%i) over(), 0 : (f32) -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c1_axis(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op axis must be in [0, 1), got 1}}
  %r = tile.recurrence init(%i) over(%x), 1 : (f32, tensor<4xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c1_extent(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op tiles must have one extent along axis 0, got 4 and 8}}
  %r = tile.recurrence init(%i) over(%x, %y), 0 : (f32, tensor<4xf32>, tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32, %c: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c2_arguments(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op region must take ('f32', 'f32'), got ('f32', 'tensor<4xf32>')}}
  %r = tile.recurrence init(%i) over(%x), 0 : (f32, tensor<4xf32>) -> f32 {
  ^bb0(%a: f32, %b: tensor<4xf32>):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c3_yield(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op region must yield ('f32', 'f32'), got ('f32')}}
  %r:2 = tile.recurrence init(%i) over(%x), 0 : (f32, tensor<4xf32>) -> (f32, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c4_inits(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op first results must have the types of the inits}}
  %r = tile.recurrence init(%i) over(%x), 0 : (f32, tensor<4xf32>) -> f16 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @recurrence_c4_outputs(%i: f32, %x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.recurrence' op outputs must be stacked to extent 4 along axis 0, got 'tensor<8xf32>'}}
  %r:2 = tile.recurrence init(%i) over(%x), 0 : (f32, tensor<4xf32>) -> (f32, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @map_c1_none() {
  // expected-error @below {{'tile.map' op needs at least one operand}}
  tile.map() : () -> () {
    tile.yield
  }
  return
}

// -----

func.func @map_c1_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.map' op operands and results must have one shape, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %r = tile.map(%x) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @map_c2_arguments(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.map' op region must take ('f32'), got ('f32', 'f32')}}
  %r = tile.map(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @map_c2_yield(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.map' op region must yield ('i32'), got ('f32')}}
  %r = tile.map(%x) : (tensor<4xf32>) -> tensor<4xi32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @histogram_c1_bins(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.histogram' op needs a source of rank 1, a mask of its shape and at least one bin, got tensor<4xi32> and 0 bins}}
  // expected-error @below {{failed to infer returned types}}
  %h = tile.histogram %x, 0 : tensor<4xi32> -> tensor<1xi32>
  return
}

// -----

func.func @histogram_c1_rank(%x: tensor<4x4xi32>) {
  // expected-error @below {{'tile.histogram' op needs a source of rank 1, a mask of its shape and at least one bin, got tensor<4x4xi32> and 2 bins}}
  // expected-error @below {{failed to infer returned types}}
  %h = tile.histogram %x, 2 : tensor<4x4xi32> -> tensor<2xi32>
  return
}

// -----

func.func @histogram_c1_mask(%x: tensor<4xi32>, %m: tensor<8xi1>) {
  // expected-error @below {{'tile.histogram' op needs a source of rank 1, a mask of its shape and at least one bin, got tensor<4xi32> and 2 bins}}
  // expected-error @below {{failed to infer returned types}}
  %h = tile.histogram %x mask %m : tensor<8xi1>, 2 : tensor<4xi32> -> tensor<2xi32>
  return
}

// -----

func.func @sort_c1_axis(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.sort' op axis must be in [0, 1), got 1}}
  %r = tile.sort %x, 1 : tensor<4xi32>
  return
}

// -----

func.func @sort_c2_pointers(%x: tensor<4x!tile.ptr<f32>>) {
  // expected-error @below {{'tile.sort' op elements must be integers or floats, got 'tensor<4x!tile.ptr<f32>>'}}
  %r = tile.sort %x, 0 : tensor<4x!tile.ptr<f32>>
  return
}

// -----

func.func @sort_c3_bitonic(%x: tensor<2x6xf32>) {
  // expected-error @below {{'tile.sort' op a part's axis must have an extent that is a power of two, got 6}}
  %r = tile.sort %x, 1 bitonic : tensor<2x6xf32>
  return
}

// -----

func.func @sort_c4_bit(%x: tensor<3x8xf32>) {
  // expected-error @below {{'tile.sort' op bit to turn by must be in [0, 2) of dimension 0, got 2}}
  %r = tile.sort %x, 1 turned by 2 : tensor<3x8xf32>
  return
}

// -----

func.func @sort_c4_axis(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.sort' op rows along dimension 0 cannot be turned by it}}
  %r = tile.sort %x, 0 turned by 0 : tensor<4x8xf32>
  return
}

// -----

func.func @print_c1_count(%x: f32) {
  // expected-error @below {{'tile.print' op isSigned must have one entry an operand, got 2 for 1}}
  tile.print "x", [1, 1](%x : f32)
  return
}

// -----

func.func @clamp_c1_integers(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.clamp' op operands must be floats or tiles of floats, got 'tensor<4xi32>'}}
  %r = tile.clamp %x, %x, %x : tensor<4xi32>
  return
}

// -----

// A pointer to bits.
// expected-error @below {{a pointer points to integers or floats of 1, 2, 4 or 8 bytes or to pointers, got 'i1'}}
func.func private @pointer_to_i1(!tile.ptr<i1>)

// -----

// expected-error @below {{'func.func' op kernel argument 0 must be an integer, a float or a pointer, got 'tensor<4xf32>'}}
func.func @kernel_takes_tile(%x: tensor<4xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{'func.func' op a kernel returns nothing, got 1 results}}
func.func @kernel_returns(%x: f32) -> f32 attributes {tile.kernel} {
  return %x : f32
}

// -----

// expected-error @below {{'builtin.module' op carries 'tile.kernel', which marks functions}}
module attributes {tile.kernel} {
}

// -----

// Passes take the block that a kernel runs as for granted.
// expected-error @below {{'builtin.module' op 'tile.num_warps' must be a power of two (i32) from 1 to 1024, got 3 : i32}}
module attributes {tile.num_warps = 3 : i32} {
}

// -----

// expected-error @below {{'builtin.module' op 'tile.num_warps' must be a power of two (i32) from 1 to 1024, got 4 : i64}}
module attributes {tile.num_warps = 4 : i64} {
}

// -----

// expected-error @below {{'warp_size' must be a power of two from 1 to 1024, got 48}}
module attributes {tile.target = #tile.target<warp_size = 48>} {
}

// -----

// expected-error @below {{'shared_bytes' must not be negative, got -1}}
module attributes {tile.target = #tile.target<shared_bytes = -1>} {
}

// -----

// expected-error @below {{'builtin.module' op 'tile.target' must be a #tile.target, got "cuda"}}
module attributes {tile.target = "cuda"} {
}

// -----

// expected-error @below {{a pointer points to integers or floats of 1, 2, 4 or 8 bytes or to pointers, got 'f128'}}
func.func private @wide_pointee(!tile.ptr<f128>)

// -----

func.func @tile_element(%x: tensor<4xindex>) {
  // expected-error @below {{operand #0 must be tile of integers, floats or pointers, but got 'tensor<4xindex>'}}
  %y = tile.expand_dims %x, 0 : tensor<4xindex> -> tensor<1x4xindex>
  return
}

// -----

func.func @tile_extent(%x: f32) {
  // expected-error @below {{result #0 must be tile of integers, floats or pointers, but got 'tensor<0xf32>'}}
  %y = tile.splat %x : f32 -> tensor<0xf32>
  return
}

// -----

// expected-error @below {{a block has elements that a pointer may point to, got 'i1'}}
func.func private @descriptor_element(!tile.descriptor<4xi1>)

// -----

// expected-error @below {{a block has one or more extents, all positive, got [4, 0]}}
func.func private @descriptor_extents(!tile.descriptor<4x0xf32>)

// -----

// expected-error @below {{the padding 'nan' is for floats, got 'i32'}}
func.func private @descriptor_padding(!tile.descriptor<4xi32, nan>)

// -----

func.func @make_descriptor_c1(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @below {{'tile.make_descriptor' op needs a shape and strides of 2 dimensions, got 1}}
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.descriptor<4x4xf32>
  return
}

// -----

func.func @descriptor_load_c1(%p: !tile.ptr<f32>, %n: i64) {
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.descriptor<4xf32>
  // expected-error @below {{'tile.descriptor_load' op needs 1 offsets, got 2}}
  // expected-error @below {{failed to infer returned types}}
  %x = tile.descriptor_load %d[%n, %n : i64, i64] : !tile.descriptor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @descriptor_store_c1(%p: !tile.ptr<f32>, %n: i64, %x: tensor<4xf32>) {
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.descriptor<4xf32>
  // expected-error @below {{'tile.descriptor_store' op needs 1 offsets, got 0}}
  tile.descriptor_store %d[], %x : !tile.descriptor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @descriptor_store_c2(%p: !tile.ptr<f32>, %n: i64, %x: tensor<8xf32>) {
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.descriptor<4xf32>
  // expected-error @below {{'tile.descriptor_store' op stores blocks of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  tile.descriptor_store %d[%n : i64], %x : !tile.descriptor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @block_hint_c1(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.block_hint' op needs 1 offsets, got 0}}
  %y = tile.block_hint %x[] <base = 0, element = f32, shape = [], strides = [], box = []> : tensor<4xf32>
  return
}
