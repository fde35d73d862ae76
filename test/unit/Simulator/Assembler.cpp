//===- Assembler.cpp - Code objects from assembly text --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

LLD_HAS_DRIVER(elf)

namespace terrazzo::amdsim::test {

static std::string metadata(const KernelText &text, unsigned waveSize) {
  std::string result =
      ".amdgpu_metadata\n"
      "amdhsa.version: [1, 2]\n"
      "amdhsa.target: amdgcn-amd-amdhsa--" +
      text.chip +
      "\namdhsa.kernels:\n"
      "  - .name: kernel\n"
      "    .symbol: kernel.kd\n"
      "    .kernarg_segment_align: 8\n"
      "    .max_flat_workgroup_size: 1024\n"
      "    .group_segment_fixed_size: " +
      std::to_string(text.ldsBytes) + "\n    .private_segment_fixed_size: " +
      std::to_string(text.scratchBytes) +
      "\n    .wavefront_size: " + std::to_string(waveSize) +
      "\n    .sgpr_count: 100\n    .vgpr_count: " + std::to_string(text.vgprs) +
      "\n    .kernarg_segment_size: " + std::to_string(8 * text.pointers) +
      "\n    .args:\n";
  for (unsigned i = 0; i < text.pointers; ++i)
    result += "      - {.offset: " + std::to_string(8 * i) +
              ", .size: 8, .value_kind: global_buffer, .address_space: "
              "global, .name: p" +
              std::to_string(i) + "}\n";
  return result + ".end_amdgpu_metadata\n";
}

/// The whole file. Lines count from the first of the body: there, line 1 is.
static std::string wholeText(const KernelText &text) {
  bool isCdna = text.chip.starts_with("gfx9");
  unsigned waveSize = isCdna ? 64 : 32;
  std::string result =
      ".amdgcn_target \"amdgcn-amd-amdhsa--" + text.chip +
      "\"\n.amdhsa_code_object_version 5\n.text\n.globl kernel\n"
      ".p2align 8\n.type kernel,@function\nkernel:\n" +
      text.body +
      "\n.Lexit:\ns_endpgm\n.Lend:\n.size kernel, "
      ".Lend-kernel\n.rodata\n.p2align 6\n"
      ".amdhsa_kernel kernel\n"
      ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      ".amdhsa_system_vgpr_workitem_id 2\n"
      ".amdhsa_next_free_sgpr 100\n"
      ".amdhsa_kernarg_size " +
      std::to_string(8 * text.pointers) +
      "\n.amdhsa_group_segment_fixed_size " + std::to_string(text.ldsBytes) +
      "\n.amdhsa_private_segment_fixed_size " +
      std::to_string(text.scratchBytes) + "\n";
  if (isCdna)
    result += ".amdhsa_accum_offset " + std::to_string(text.vgprs) +
              "\n.amdhsa_next_free_vgpr " + std::to_string(2 * text.vgprs) +
              "\n";
  else
    result += ".amdhsa_next_free_vgpr " + std::to_string(text.vgprs) +
              "\n.amdhsa_wavefront_size32 1\n";
  if (text.directives.find("denorm_mode_32") == std::string::npos)
    result += ".amdhsa_float_denorm_mode_32 3\n";
  return result + text.directives + ".end_amdhsa_kernel\n" +
         metadata(text, waveSize);
}

static const llvm::Target &target(const llvm::Triple &triple) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    throw std::runtime_error(error);
  return *found;
}

/// A relocatable object.
static std::string assembleObject(const std::string &text,
                                  const std::string &chip) {
  llvm::Triple triple("amdgcn-amd-amdhsa");
  const llvm::Target &machine = target(triple);
  llvm::SourceMgr sources;
  std::string messages;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diagnostic, void *to) {
        llvm::raw_string_ostream stream(*static_cast<std::string *>(to));
        diagnostic.print("", stream, /*ShowColors=*/false);
      },
      &messages);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text),
                             llvm::SMLoc());
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(
      machine.createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> assembly(
      machine.createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(machine.createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      machine.createMCSubtargetInfo(triple, chip, ""));
  llvm::MCContext context(triple, assembly.get(), registers.get(),
                          subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> files(
      machine.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(files.get());
  context.setGenDwarfForAssembly(false);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      machine.createMCAsmBackend(*subtarget, *registers, options));
  auto writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCStreamer> streamer(machine.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<llvm::MCCodeEmitter>(
          machine.createMCCodeEmitter(*instructions, context)),
      *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *assembly));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
      machine.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false))
    throw std::runtime_error("the test's assembly is wrong:\n" + messages);
  return object.str().str();
}

std::string assemble(const KernelText &text) {
  std::string object = assembleObject(wholeText(text), text.chip);
  llvm::SmallString<64> input, output;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("simulator", "o", descriptor, input))
    throw std::runtime_error("cannot make a temporary file");
  output = input;
  output += ".hsaco";
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << object;
  }
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  bool isLinked = lld::elf::link(
      {"ld.lld", "-shared", "--threads=1", input.c_str(), "-o", output.c_str()},
      stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  auto buffer = llvm::MemoryBuffer::getFile(output);
  std::string result = buffer ? (*buffer)->getBuffer().str() : std::string();
  (void)llvm::sys::fs::remove(input);
  (void)llvm::sys::fs::remove(output);
  if (!isLinked)
    throw std::runtime_error("cannot link the test's object: " + messages);
  return result;
}

TestLaunch::TestLaunch(const KernelText &text)
    : simulator(CodeObject::load(assemble(text), text.chip), "kernel") {
  launch.block = {64, 1, 1};
}

Statistics TestLaunch::run() {
  launch.arguments = arguments;
  return simulator.run(launch, memory);
}

} // namespace terrazzo::amdsim::test
