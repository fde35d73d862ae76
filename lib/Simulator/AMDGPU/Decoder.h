//===- Decoder.h - Bytes to instructions ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_DECODER_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_DECODER_H

#include "AssemblyText.h"
#include "OpTable.h"
#include "Program.h"

namespace terrazzo::amdsim {

/// LLVM's disassembler for one chip and wave size.
class Disassembler {
public:
  Disassembler(const std::string &chip, unsigned waveSize);
  ~Disassembler();

  struct Decoded {
    /// 0: these bytes are no instruction.
    uint32_t size = 0;
    std::string text;
    /// Of branches: the offset in words from the next instruction.
    bool isBranch = false;
    int16_t branchWords = 0;
  };
  Decoded decode(const uint8_t *bytes, uint64_t size, uint64_t address);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Fills in an instruction from its text. What cannot be executed gets a
/// function that says so when it is reached.
void bindInstruction(const CodeObject &object, const KernelInfo &kernel,
                     Instruction &instruction);

/// The function of instructions that are not modelled.
void runUnsupported(Wave &wave, const Instruction &instruction);

/// Fills `dpp` from modifiers; false where there is a control that is not
/// known.
bool readDpp(const AssemblyText &text, DppControl &dpp);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_DECODER_H
