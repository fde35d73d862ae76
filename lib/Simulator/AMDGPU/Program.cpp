//===- Program.cpp - Decodes all functions of a kernel's object -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Decoder.h"

#include <algorithm>

using namespace terrazzo::amdsim;

uint32_t Program::indexOf(uint64_t address) const {
  uint64_t word = (address - first) / 4;
  if (address < first || address % 4 || word >= indices.size())
    return kNowhere;
  return indices[word];
}

namespace terrazzo::amdsim {
/// Decodes into a program, function by function.
class Decoder {
public:
  explicit Decoder(Program &program)
      : program(program),
        disassembler(program.object.chip(), program.kernel.waveSize) {}
  void run();

private:
  void decode(const CodeRange &function);
  void linkBranches();

  Program &program;
  Disassembler disassembler;
  /// Addresses that branches go to, by instruction.
  std::vector<std::pair<uint32_t, uint64_t>> branches;
};
} // namespace terrazzo::amdsim

void Decoder::decode(const CodeRange &function) {
  uint64_t end = function.address + function.size;
  for (uint64_t address = function.address; address < end;) {
    uint32_t &index = program.indices[(address - program.first) / 4];
    if (index != Program::kNowhere)
      return;
    const uint8_t *bytes = program.object.at(address, end - address);
    Disassembler::Decoded decoded =
        disassembler.decode(bytes, end - address, address);
    index = static_cast<uint32_t>(program.code.size());
    Instruction &instruction = program.code.emplace_back();
    instruction.address = address;
    instruction.size = std::max(decoded.size, 4u);
    if (decoded.size == 0) {
      instruction.run = runUnsupported;
      instruction.text = "(no instruction of " + program.object.chip() + ")";
    } else {
      instruction.text = std::move(decoded.text);
      bindInstruction(program.object, program.kernel, instruction);
    }
    if (decoded.isBranch)
      branches.emplace_back(index, address + decoded.size +
                                       4 * int64_t(decoded.branchWords));
    address += instruction.size;
  }
  // Whoever runs past the end of a function is told so.
  Instruction &stop = program.code.emplace_back();
  stop.address = end;
  stop.run = runUnsupported;
  stop.text = "(the end of '" + function.name + "')";
}

void Decoder::linkBranches() {
  for (const auto &[index, address] : branches)
    program.code[index].target = program.indexOf(address);
}

void Decoder::run() {
  std::vector<CodeRange> functions;
  uint64_t first = ~0ull, end = 0;
  for (const CodeRange &function : program.object.functions()) {
    if (function.size == 0 || function.address % 4)
      continue;
    functions.push_back(function);
    first = std::min(first, function.address);
    end = std::max(end, function.address + function.size);
  }
  if (functions.empty())
    throw Error(ErrorKind::Object, "expected functions with code, found none");
  program.first = first;
  program.indices.assign((end - first) / 4 + 1, Program::kNowhere);
  for (const CodeRange &function : functions)
    decode(function);
  linkBranches();
  uint64_t entry = program.kernel.entry;
  // A prologue of 256 bytes loads arguments for firmware that cannot preload
  // them; hardware that can starts behind it.
  if (program.kernel.preloadLength)
    entry += 256;
  program.entry = program.indexOf(entry);
  if (program.entry == Program::kNowhere)
    throw Error(ErrorKind::Object, "expected the first instruction of '" +
                                       program.kernel.name +
                                       "' in a function, found none there");
}

Program::Program(const CodeObject &object, const KernelInfo &kernel)
    : object(object), kernel(kernel) {
  Decoder(*this).run();
}
