//===- Nesting.h - How deep text nests --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser of textual IR, and whatever walks what it makes, goes down one
// call or more for each bracket that is open, and the stack ends somewhere.
// Every door through which IR comes in as text asks here first.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SUPPORT_NESTING_H
#define TERRAZZO_SUPPORT_NESTING_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo {

/// As deep as brackets may nest; what an alias stands for counts.
inline constexpr size_t kDeepestNesting = 500;

/// A place in text; both count from 1, columns in bytes.
struct TextPlace {
  size_t line = 1, column = 1;
};

/// The first bracket or alias of textual IR that goes deeper than `deepest`.
std::optional<TextPlace> findDeepNesting(std::string_view text,
                                         size_t deepest = kDeepestNesting);

/// What to say about it.
std::string deepNestingMessage();

} // namespace terrazzo

#endif // TERRAZZO_SUPPORT_NESTING_H
