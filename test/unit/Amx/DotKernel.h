//===- DotKernel.h - Kernels of matrix products for tests --------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_AMX_DOTKERNEL_H
#define TERRAZZO_TEST_UNIT_AMX_DOTKERNEL_H

#include "terrazzo/Support/Artifact.h"

#include <cstdint>
#include <string>

namespace terrazzo::test {

/// What the program p of a kernel computes: z[p] += sum over i of x[p, i] @
/// y[p, i]. The tiles lie one behind the other, each in the order of rows or,
/// if transposed, of columns.
struct DotShape {
  int64_t m, n, k;
  bool isLhsTransposed = false, isRhsTransposed = false;
  int64_t batch = 0;       ///< 0: tiles of rank 2
  int64_t steps = 3;       ///< tiles along K, over which the sum is carried
  int64_t programs = 1;    ///< of the grid
  bool isFromZero = false; ///< z[p] = instead of +=
};

/// The kernel in the tile dialect: pointers x, y, z and `steps`. `element` is
/// "bf16", "i8" or "ui8".
std::string dotKernel(const DotShape &shape, const std::string &element);

/// Compiles for "cpu:CHIP". Throws std::runtime_error with the diagnostics.
Artifact compileKernel(const std::string &text, const std::string &chip);

/// The host as a chip, without its features that begin with one of `without`.
std::string hostChipWithout(std::initializer_list<std::string> without);

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_AMX_DOTKERNEL_H
