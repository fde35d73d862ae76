//===- Checksum.h - A 64-bit checksum of bytes -------------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects damage, not malice: it is not a cryptographic hash.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SUPPORT_CHECKSUM_H
#define TERRAZZO_SUPPORT_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace terrazzo {

/// The checksum of `size` bytes, continued from `seed` (the checksum of the
/// bytes before, or any number). Two inputs of the same size that differ only
/// within one aligned 8-byte word never have the same checksum; any others do
/// with a chance of 2^-64.
uint64_t checksum64(const void *data, size_t size, uint64_t seed = 0);

} // namespace terrazzo

#endif // TERRAZZO_SUPPORT_CHECKSUM_H
