// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tz-opt %s --split-input-file --tz-tile-to-simt --verify-diagnostics

// expected-error @+1 {{number of warps must be a power of two, got 3}}
module attributes {tile.num_warps = 3 : i32} {
}
