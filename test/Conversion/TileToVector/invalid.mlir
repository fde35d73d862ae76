// RUN: tz-opt %s --tz-tile-to-vector --split-input-file --verify-diagnostics

// expected-error @below {{a kernel's control flow must be structured (scf), found several blocks}}
func.func @several_blocks() attributes {tile.kernel} {
  cf.br ^next
^next:
  return
}

// -----

func.func private @callee()

func.func @foreign_op() attributes {tile.kernel} {
  // expected-error @below {{'func.call' op is not supported on the cpu target}}
  func.call @callee() : () -> ()
  return
}

// -----

// Ops of other dialects may make tensors that are no tiles.
func.func @no_tile() attributes {tile.kernel} {
  // expected-error @below {{'arith.constant' op makes no tile: expected extents of 1 to 1073741824 and elements of i1, or of integers, floats or pointers of 8 to 64 bits, found 'tensor<4xi7>'}}
  %a = arith.constant dense<1> : tensor<4xi7>
  return
}
