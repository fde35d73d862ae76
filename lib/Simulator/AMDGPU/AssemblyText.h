//===- AssemblyText.h - Instructions, read from their text ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's tables of operand positions are private to its backend; the syntax of
// its assembly is documented and stable ("Syntax of AMDGPU Instruction
// Operands", "... Modifiers"), and names every operand and modifier. So the
// disassembler's text is what is decoded, once for each instruction.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_ASSEMBLYTEXT_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_ASSEMBLYTEXT_H

#include "Instruction.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::amdsim {

struct AssemblyText {
  /// Without the suffix of its encoding.
  std::string mnemonic;
  /// "e32", "e64", "dpp", "sdwa" and so on, or empty.
  std::string encoding;
  std::vector<std::string_view> operands;
  /// Flags have an empty value.
  std::vector<std::pair<std::string_view, std::string_view>> modifiers;

  bool has(std::string_view name) const;
  std::optional<std::string_view> modifier(std::string_view name) const;
  /// A number, or `other` where the modifier is not given.
  int64_t number(std::string_view name, int64_t other) const;
  /// Bits of a list such as [0,1,0]; bit i is entry i.
  unsigned bits(std::string_view name, unsigned other) const;
};

/// Takes an instruction's text apart. The views point into it.
AssemblyText splitAssembly(std::string_view text);

/// An operand; nothing if it is none that is known.
std::optional<Operand> parseOperand(std::string_view text);

/// A decimal or hexadecimal number.
std::optional<int64_t> parseNumber(std::string_view text);

/// Gives a constant the bits that an operand of the type reads.
void resolveConstant(Operand &operand, Type type);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_ASSEMBLYTEXT_H
