//===- HipSimulatedCode.cpp - Code objects in the simulator ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TERRAZZO_SIMULATED_CHIP names the chip of the only device (default: gfx942).
//===----------------------------------------------------------------------===//

#include "HipCode.h"

#include "terrazzo/Simulator/AMDGPU/Simulator.h"

#include <cstdio>
#include <elf.h>

using namespace stub;
using namespace terrazzo;

namespace {

const std::string &chip() {
  static const std::string name = [] {
    const char *text = std::getenv("TERRAZZO_SIMULATED_CHIP");
    return std::string(text && *text ? text : "gfx942");
  }();
  return name;
}

const amdsim::ChipFeatures &features() {
  static const amdsim::ChipFeatures &known = []() -> decltype(auto) {
    const amdsim::ChipFeatures *found = amdsim::findChip(chip());
    if (!found) {
      std::fprintf(stderr,
                   "TERRAZZO_SIMULATED_CHIP is '%s', expected one of %s\n",
                   chip().c_str(), amdsim::listChips().c_str());
      std::exit(2);
    }
    return *found;
  }();
  return known;
}

std::string failure;

/// The bytes of an ELF file, whose section headers are its end; HIP is not told
/// how many they are.
std::string_view bytesOf(const void *image) {
  auto *header = static_cast<const Elf64_Ehdr *>(image);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  return {static_cast<const char *>(image),
          header->e_shoff + size_t(header->e_shnum) * header->e_shentsize};
}

/// All memory of the device, and what it sees of the host's.
amdsim::MemoryMap memoryOf(const Gpu &gpu) {
  amdsim::MemoryMap map;
  for (auto [base, size] : gpu.device)
    map.add(reinterpret_cast<const void *>(base), size, "device memory");
  for (auto [base, size] : gpu.host)
    map.add(reinterpret_cast<const void *>(base), size, "host memory");
  return map;
}

void run(const amdsim::Simulator &simulator, const Launch &launch) {
  const amdsim::KernelInfo &kernel = simulator.kernel();
  std::string bytes(kernel.kernargBytes, '\0');
  size_t index = 0;
  for (const amdsim::KernelArgument &argument : kernel.arguments)
    if (!argument.isHidden())
      std::memcpy(bytes.data() + argument.offset, launch.arguments[index++],
                  argument.bytes);
  amdsim::Launch what;
  what.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  what.block = {launch.threads, 1, 1};
  what.dynamicLdsBytes = launch.sharedBytes;
  what.arguments = bytes;
  Gpu &gpu = Gpu::get();
  try {
    simulator.run(what, memoryOf(gpu));
  } catch (const amdsim::Error &error) {
    failure = error.what();
    gpu.settings["lost"] =
        error.kind == amdsim::ErrorKind::OutOfBounds ? 700 : 719;
  }
}
} // namespace

const std::string &stub::chipText() { return chip(); }
int stub::waveSize() { return features().generation == 9 ? 64 : 32; }
unsigned stub::sharedBytes() { return features().ldsBytes; }
const char *stub::lastFailure() {
  return failure.empty() ? nullptr : failure.c_str();
}

bool stub::loadCode(Gpu &gpu, Module &module, const void *image) {
  std::string_view bytes = bytesOf(image);
  try {
    auto object = amdsim::CodeObject::load(bytes, chip());
    for (const amdsim::KernelInfo &kernel : object->kernels()) {
      std::vector<size_t> sizes;
      for (const amdsim::KernelArgument &argument : kernel.arguments)
        if (!argument.isHidden())
          sizes.push_back(argument.bytes);
      auto simulator = std::make_shared<amdsim::Simulator>(object, kernel.name);
      gpu.addFunction(module, kernel.name, sizes,
                      [=](const Launch &launch) { run(*simulator, launch); });
    }
  } catch (const amdsim::Error &error) {
    failure = error.what();
    return false;
  }
  return true;
}
