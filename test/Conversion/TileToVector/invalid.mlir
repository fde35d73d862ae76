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
