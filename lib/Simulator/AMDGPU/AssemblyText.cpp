//===- AssemblyText.cpp - Instructions, read from their text --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "SmallFloats.h"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <limits>

using namespace terrazzo::amdsim;

bool AssemblyText::has(std::string_view name) const {
  for (const auto &[key, value] : modifiers)
    if (key == name)
      return true;
  return false;
}

std::optional<std::string_view>
AssemblyText::modifier(std::string_view name) const {
  for (const auto &[key, value] : modifiers)
    if (key == name)
      return value;
  return std::nullopt;
}

int64_t AssemblyText::number(std::string_view name, int64_t other) const {
  std::optional<std::string_view> value = modifier(name);
  return value ? parseNumber(*value).value_or(other) : other;
}

unsigned AssemblyText::bits(std::string_view name, unsigned other) const {
  std::optional<std::string_view> value = modifier(name);
  if (!value)
    return other;
  unsigned result = 0, position = 0;
  for (char c : *value) {
    if (c == '1')
      result |= 1u << position;
    position += c == ',';
  }
  return result;
}

std::optional<int64_t> terrazzo::amdsim::parseNumber(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative)
    text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

static std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

/// The part up to `separator` outside of brackets, which `text` loses.
static std::string_view takeUntil(std::string_view &text, char separator) {
  int depth = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    char c = text[end];
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == separator && depth == 0)
      break;
  }
  std::string_view result = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return result;
}

static void splitMnemonic(std::string_view name, AssemblyText &result) {
  static constexpr std::string_view kSuffixes[] = {"_e64_dpp", "_e32", "_e64",
                                                   "_dpp8",    "_dpp", "_sdwa"};
  for (std::string_view suffix : kSuffixes)
    if (name.ends_with(suffix)) {
      result.encoding = suffix.substr(1);
      name.remove_suffix(suffix.size());
      break;
    }
  result.mnemonic = name;
}

static void addModifier(std::string_view token, AssemblyText &result) {
  size_t colon = token.find(':');
  if (colon == std::string_view::npos)
    result.modifiers.emplace_back(token, std::string_view());
  else
    result.modifiers.emplace_back(token.substr(0, colon),
                                  token.substr(colon + 1));
}

AssemblyText terrazzo::amdsim::splitAssembly(std::string_view text) {
  AssemblyText result;
  text = trim(text);
  splitMnemonic(takeUntil(text, ' '), result);
  text = trim(text);
  while (!text.empty()) {
    std::string_view part = trim(takeUntil(text, ','));
    std::string_view first = takeUntil(part, ' ');
    // A modifier may stand where no operand is left.
    if (parseOperand(first))
      result.operands.push_back(first);
    else
      addModifier(first, result);
    while (!(part = trim(part)).empty())
      addModifier(takeUntil(part, ' '), result);
  }
  return result;
}

namespace {
struct NamedRegister {
  std::string_view name;
  OperandKind kind;
  uint16_t index = 0;
  uint8_t count = 0;
};
} // namespace

static const NamedRegister kNamed[] = {
    {"vcc", OperandKind::Sgpr, kVcc, 2},
    {"vcc_lo", OperandKind::Sgpr, kVcc, 1},
    {"vcc_hi", OperandKind::Sgpr, kVcc + 1, 1},
    {"exec", OperandKind::Sgpr, kExec, 2},
    {"exec_lo", OperandKind::Sgpr, kExec, 1},
    {"exec_hi", OperandKind::Sgpr, kExec + 1, 1},
    {"m0", OperandKind::Sgpr, kM0, 1},
    {"flat_scratch", OperandKind::Sgpr, kFlatScratch, 2},
    {"flat_scratch_lo", OperandKind::Sgpr, kFlatScratch, 1},
    {"flat_scratch_hi", OperandKind::Sgpr, kFlatScratch + 1, 1},
    {"xnack_mask", OperandKind::Sgpr, kXnackMask, 2},
    {"xnack_mask_lo", OperandKind::Sgpr, kXnackMask, 1},
    {"xnack_mask_hi", OperandKind::Sgpr, kXnackMask + 1, 1},
    {"null", OperandKind::Null},
    {"off", OperandKind::Off},
    {"scc", OperandKind::Scc},
    {"src_scc", OperandKind::Scc},
    {"vccz", OperandKind::Vccz},
    {"src_vccz", OperandKind::Vccz},
    {"execz", OperandKind::Execz},
    {"src_execz", OperandKind::Execz},
    {"src_shared_base", OperandKind::SharedBase, 0, 2},
    {"src_shared_limit", OperandKind::SharedLimit, 0, 2},
    {"src_private_base", OperandKind::PrivateBase, 0, 2},
    {"src_private_limit", OperandKind::PrivateLimit, 0, 2},
};

/// `v7`, `s[4:5]` and so on, behind the letters.
static bool parseRange(std::string_view text, Operand &operand) {
  if (!text.starts_with('[')) {
    std::optional<int64_t> index = parseNumber(text);
    if (!index || *index < 0 || *index > 255)
      return false;
    operand.index = static_cast<uint16_t>(*index);
    operand.count = 1;
    return true;
  }
  size_t colon = text.find(':');
  if (colon == std::string_view::npos || !text.ends_with(']'))
    return false;
  auto first = parseNumber(text.substr(1, colon - 1));
  auto last = parseNumber(text.substr(colon + 1, text.size() - colon - 2));
  if (!first || !last || *first < 0 || *last < *first || *last > 255)
    return false;
  operand.index = static_cast<uint16_t>(*first);
  operand.count = static_cast<uint8_t>(*last - *first + 1);
  return true;
}

static bool parseRegister(std::string_view text, Operand &operand) {
  for (const NamedRegister &named : kNamed)
    if (named.name == text) {
      operand.kind = named.kind;
      operand.index = named.index;
      operand.count = named.count;
      return true;
    }
  if (text.ends_with(".l") || text.ends_with(".h")) {
    operand.isHigh = text.back() == 'h';
    operand.isLow = !operand.isHigh;
    text.remove_suffix(2);
  }
  std::string_view letters = text.substr(0, text.find_first_of("[0123456789"));
  if (letters.size() == text.size() ||
      !parseRange(text.substr(letters.size()), operand))
    return false;
  operand.kind = OperandKind::Sgpr;
  if (letters == "v" || letters == "a") {
    operand.kind = OperandKind::Vgpr;
    if (letters == "a")
      operand.index += kFirstAccumulator;
    return operand.index + operand.count <= kVgprs;
  }
  if (letters == "ttmp")
    operand.index += kTtmp;
  else if (letters != "s")
    return false;
  return operand.index + operand.count <= kM0;
}

static bool parseConstant(std::string_view text, Operand &operand) {
  for (std::string_view prefix : {"lit(", "lit64("})
    if (text.starts_with(prefix) && text.ends_with(')'))
      text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
  if (std::optional<int64_t> number = parseNumber(text)) {
    operand.kind = OperandKind::Integer;
    operand.value = static_cast<uint64_t>(*number);
    // Hexadecimal numbers are literals, whose bits are taken as they are.
    operand.isLow = !text.starts_with("0x");
    return true;
  }
  if (text.find('.') == std::string_view::npos)
    return false;
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size())
    return false;
  operand.kind = OperandKind::Float;
  operand.value = std::bit_cast<uint64_t>(value);
  return true;
}

/// Whether `text` is `prefix` something `suffix`; it is then what is inside.
static bool strip(std::string_view &text, std::string_view prefix,
                  std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix) ||
      text.size() < prefix.size() + suffix.size() + 1)
    return false;
  text =
      text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  return true;
}

std::optional<Operand> terrazzo::amdsim::parseOperand(std::string_view text) {
  Operand operand;
  if (strip(text, "sext(", ")"))
    operand.signExtend = true;
  if (strip(text, "neg(", ")"))
    operand.negate = true;
  else if (text.starts_with('-') && text.size() > 1 &&
           (text[1] == '|' || text[1] == 'v' || text[1] == 's' ||
            text[1] == 'a' || text[1] == 't' || text[1] == 'e' ||
            text[1] == 'm')) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  if (strip(text, "|", "|") || strip(text, "abs(", ")"))
    operand.absolute = true;
  if (parseRegister(text, operand) || parseConstant(text, operand))
    return operand;
  return std::nullopt;
}

void terrazzo::amdsim::resolveConstant(Operand &operand, Type type) {
  if (operand.kind == OperandKind::Float) {
    double value = std::bit_cast<double>(operand.value);
    switch (type) {
    case Type::F64:
    case Type::B64:
      return;
    case Type::B16:
    case Type::F16:
    case Type::PackedF16:
    case Type::PackedB16:
      operand.value = toHalf(value).bits;
      return;
    case Type::BF16:
    case Type::PackedBF16:
      operand.value = toBFloat(static_cast<float>(value)).bits;
      return;
    default:
      operand.value = std::bit_cast<uint32_t>(static_cast<float>(value));
      if (type == Type::PackedF32)
        operand.value |= operand.value << 32;
      return;
    }
  }
  bool isInline = operand.isLow;
  operand.isLow = false;
  // A literal is the upper half of a double.
  if (!isInline && type == Type::F64 &&
      operand.value <= std::numeric_limits<uint32_t>::max())
    operand.value <<= 32;
  if (type == Type::PackedF32)
    operand.value = (operand.value & 0xffffffff) | operand.value << 32;
}
