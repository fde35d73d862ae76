//===- Disassembler.cpp - LLVM's disassembler for AMD GPUs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "terrazzo/Simulator/AMDGPU/Error.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace terrazzo::amdsim;

struct Disassembler::State {
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

static const llvm::Target &findTarget(const llvm::Triple &triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    throw Error(ErrorKind::Object, "cannot disassemble: " + error);
  return *target;
}

Disassembler::Disassembler(const std::string &chip, unsigned waveSize)
    : state(std::make_unique<State>()) {
  llvm::Triple triple("amdgcn-amd-amdhsa");
  const llvm::Target &target = findTarget(triple);
  std::string features = chip.starts_with("gfx1")
                             ? "+wavefrontsize" + std::to_string(waveSize)
                             : std::string();
  state->registers.reset(target.createMCRegInfo(triple));
  state->assembly.reset(
      target.createMCAsmInfo(*state->registers, triple, state->options));
  state->instructions.reset(target.createMCInstrInfo());
  state->subtarget.reset(target.createMCSubtargetInfo(triple, chip, features));
  state->context = std::make_unique<llvm::MCContext>(
      triple, state->assembly.get(), state->registers.get(),
      state->subtarget.get());
  state->disassembler.reset(
      target.createMCDisassembler(*state->subtarget, *state->context));
  state->printer.reset(target.createMCInstPrinter(
      triple, state->assembly->getAssemblerDialect(), *state->assembly,
      *state->instructions, *state->registers));
  if (!state->disassembler || !state->printer)
    throw Error(ErrorKind::Object,
                "cannot disassemble: this LLVM was built without AMDGPU");
}

Disassembler::~Disassembler() = default;

Disassembler::Decoded Disassembler::decode(const uint8_t *bytes, uint64_t size,
                                           uint64_t address) {
  Decoded result;
  llvm::MCInst instruction;
  uint64_t length = 0;
  auto status = state->disassembler->getInstruction(
      instruction, length, llvm::ArrayRef<uint8_t>(bytes, size), address,
      llvm::nulls());
  if (status != llvm::MCDisassembler::Success || length == 0)
    return result;
  result.size = static_cast<uint32_t>(length);
  const llvm::MCInstrDesc &description =
      state->instructions->get(instruction.getOpcode());
  if (description.isBranch() && instruction.getNumOperands() == 1 &&
      instruction.getOperand(0).isImm()) {
    result.isBranch = true;
    result.branchWords =
        static_cast<int16_t>(instruction.getOperand(0).getImm());
  }
  llvm::raw_string_ostream stream(result.text);
  state->printer->printInst(&instruction, address, "", *state->subtarget,
                            stream);
  size_t start = result.text.find_first_not_of(" \t");
  result.text.erase(0, start);
  for (char &c : result.text)
    c = c == '\t' ? ' ' : c;
  return result;
}
