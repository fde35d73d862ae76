//===- NestingTest.cpp - Text that nests too deep is found ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/Nesting.h"

#include <gtest/gtest.h>

using namespace terrazzo;

namespace {

/// Line and column of what is too deep for a depth of 3, {0, 0} if nothing is.
std::pair<size_t, size_t> deepAt(std::string_view text) {
  std::optional<TextPlace> place = findDeepNesting(text, 3);
  return place ? std::pair(place->line, place->column)
               : std::pair<size_t, size_t>();
}

constexpr std::pair<size_t, size_t> kShallow{0, 0};

TEST(NestingTest, EveryBracketCounts) {
  EXPECT_EQ(deepAt("([{<"), std::pair(size_t{1}, size_t{4}));
  EXPECT_EQ(deepAt("([{}])([<>])"), kShallow);
  EXPECT_EQ(deepAt("{\n (\n  [ ] [\n<"), std::pair(size_t{4}, size_t{1}));
}

TEST(NestingTest, ArrowsAndComparisonsAreNoBrackets) {
  EXPECT_EQ(deepAt("() -> (() -> (() -> ()))"), kShallow);
  EXPECT_EQ(deepAt("set<(d) : (d >= 0, d <= 1, d <= 2, d <= 3)> <"), kShallow);
}

TEST(NestingTest, StringsAndCommentsArePassedOver) {
  EXPECT_EQ(deepAt("\"((((\\\"((((\" // ((((\n((("), kShallow);
  EXPECT_EQ(deepAt("\"((((\\\\\" (((("), std::pair(size_t{1}, size_t{13}));
}

TEST(NestingTest, ALoneCloserClosesWhatIsInside) {
  EXPECT_EQ(deepAt("{ < < } { < < }"), kShallow);
  EXPECT_EQ(deepAt(") ) ) ((("), kShallow);
}

/// An alias is as deep as what it stands for, wherever it is used.
TEST(NestingTest, AliasesCount) {
  EXPECT_EQ(deepAt("!a = tuple<i32>\n!b = tuple<!a>\nf(!b)"), kShallow);
  EXPECT_EQ(deepAt("!a = tuple<i32>\n!b = tuple<!a>\n!c = tuple<!b>\n"
                   "!d = tuple<!c>"),
            std::pair(size_t{4}, size_t{12}));
  EXPECT_EQ(deepAt("#a = x<[\n  1]>\nf(#a, #a, #a, #a)"), kShallow);
  EXPECT_EQ(deepAt("#a = x<[\n  1]>\nf(#a, [#a])"),
            std::pair(size_t{3}, size_t{8}));
  // Not an alias: the name of a dialect's own attribute.
  EXPECT_EQ(deepAt("#d.a = 1\nf([#d.a<1>])"), kShallow);
}

TEST(NestingTest, TextThatEndsAnywhere) {
  std::string text = "!a = x<\"s\\\"\", [#b -> {(// c\n)}]>";
  for (size_t size = 0; size <= text.size(); ++size)
    EXPECT_FALSE(findDeepNesting(text.substr(0, size), 9)) << size;
}

TEST(NestingTest, TheLimitIsWhatTheMessageSays) {
  std::string open(kDeepestNesting, '(');
  EXPECT_FALSE(findDeepNesting(open));
  EXPECT_TRUE(findDeepNesting(open + "("));
  EXPECT_NE(deepNestingMessage().find(std::to_string(kDeepestNesting)),
            std::string::npos);
}

} // namespace
