//===- Checksum.cpp - A 64-bit checksum of bytes --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step maps (state, word) to a state. It is a bijection of the state for a
// given word (xor, rotate, multiply by an odd number) and of the word for a
// given state, hence the promise in the header: a difference in one word makes
// the state differ, and no later step can undo that.
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/Checksum.h"

#include <cstring>

namespace terrazzo {

// Odd numbers with about as many ones as zeros: fractions of sqrt(2), sqrt(3).
static constexpr uint64_t kWordFactor = 0x6A09E667F3BCC909ull;
static constexpr uint64_t kStateFactor = 0xBB67AE8584CAA73Bull;

static uint64_t step(uint64_t state, uint64_t word) {
  state ^= word * kWordFactor;
  state = (state << 29) | (state >> 35);
  return state * kStateFactor;
}

uint64_t checksum64(const void *data, size_t size, uint64_t seed) {
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  uint64_t state = step(seed ^ kStateFactor, size);
  size_t rest = size;
  for (; rest >= 8; bytes += 8, rest -= 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    state = step(state, word);
  }
  if (rest) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, rest);
    state = step(state, word);
  }
  // Spread the last words over all bits; each line is a bijection too.
  state ^= state >> 32;
  state *= kWordFactor;
  state ^= state >> 29;
  return state;
}

} // namespace terrazzo
