//===- SmallFloat.h - f16 and bf16 as bits ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written with integers only: the compiler's own conversions would call the
// very symbols that this code provides to generated code.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_SMALLFLOAT_H
#define TERRAZZO_LIB_RUNTIME_SMALLFLOAT_H

#include <cstdint>

namespace terrazzo::runtime {

/// Nearest value, ties to even; one rounding, also from f64.
uint16_t roundToF16(double value);
uint16_t roundToBF16(double value);

float extendF16(uint16_t bits);
float extendBF16(uint16_t bits);

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_SMALLFLOAT_H
