//===- Nesting.cpp - How deep text nests ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/Nesting.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <vector>

using namespace terrazzo;

namespace {

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '$' || c == '.';
}

/// Follows brackets, aliases and nothing else; strings and comments are passed
/// over. Text that is no IR gets some depth, too, of which the parser will have
/// more to say.
class Scanner {
public:
  Scanner(std::string_view text, size_t deepest)
      : text(text), deepest(deepest) {}

  std::optional<TextPlace> scan() {
    while (at < text.size())
      if (!step())
        return place();
    return std::nullopt;
  }

private:
  static constexpr std::string_view kOpeners = "([{<", kClosers = ")]}>";

  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  /// One token on; false if it goes too deep.
  bool step() {
    char c = peek();
    if (c == '"')
      return skipString();
    if (c == '/' && peek(1) == '/') {
      at = std::min(text.find('\n', at), text.size());
      return true;
    }
    if ((c == '#' || c == '!') && isNameCharacter(peek(1)))
      return alias();
    // A definition ends with its line, unless a bracket is open.
    if (c == '\n' && open.empty())
      defined = {};
    // `->` and, in affine constraints, `<=` and `>=` are no brackets.
    if ((c == '-' && peek(1) == '>') ||
        ((c == '<' || c == '>') && peek(1) == '=')) {
      at += 2;
      return true;
    }
    if (size_t kind = kOpeners.find(c); kind != std::string_view::npos) {
      open.push_back(kind);
      ++counts[kind];
      if (!reaches(open.size()))
        return false;
    } else if (kind = kClosers.find(c); kind != std::string_view::npos) {
      close(kind);
    }
    ++at;
    return true;
  }

  bool skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
    return true;
  }

  /// Up to the bracket of this kind that was opened last, if there is one.
  void close(size_t kind) {
    if (counts[kind] == 0)
      return;
    size_t last = 0;
    do {
      last = open.back();
      --counts[last];
      open.pop_back();
    } while (last != kind);
  }

  /// `#name` or `!name`: begins the definition of an alias, or uses one.
  bool alias() {
    size_t begin = at++;
    while (isNameCharacter(peek()))
      ++at;
    std::string_view name = text.substr(begin, at - begin);
    size_t next = text.find_first_not_of(" \t", at);
    bool defines = open.empty() && next != std::string_view::npos &&
                   text[next] == '=' && text.substr(next, 2) != "==";
    if (defines) {
      defined = name;
      depths[defined] = 0;
      at = std::min(text.find_first_not_of(" \t\r\n", next + 1), text.size());
      return true;
    }
    auto known = depths.find(name);
    if (known == depths.end() || reaches(open.size() + known->second))
      return true;
    at = begin;
    return false;
  }

  /// Notes a depth; whether it may be.
  bool reaches(size_t depth) {
    if (!defined.empty()) {
      size_t &known = depths[defined];
      known = std::max(known, depth);
    }
    return depth <= deepest;
  }

  TextPlace place() const {
    std::string_view before = text.substr(0, at);
    size_t lineStart = before.rfind('\n');
    size_t lines = std::count(before.begin(), before.end(), '\n');
    return {1 + static_cast<size_t>(lines),
            at - (lineStart == std::string_view::npos ? 0 : lineStart + 1) + 1};
  }

  std::string_view text;
  size_t deepest, at = 0;
  std::vector<size_t> open; ///< kinds of the brackets that are
  std::array<size_t, kOpeners.size()> counts = {};
  std::unordered_map<std::string_view, size_t> depths;
  std::string_view defined; ///< the alias whose definition this is
};

} // namespace

std::optional<TextPlace> terrazzo::findDeepNesting(std::string_view text,
                                                   size_t deepest) {
  return Scanner(text, deepest).scan();
}

std::string terrazzo::deepNestingMessage() {
  return "brackets nest deeper than " + std::to_string(kDeepestNesting) +
         " levels";
}
