//===- Simulator.cpp - Launches over threads ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Simulator/AMDGPU/Simulator.h"

#include "Decoder.h"
#include "Dispatch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

using namespace terrazzo::amdsim;

Simulator::Simulator(std::shared_ptr<const CodeObject> code,
                     std::string_view kernel)
    : object(std::move(code)),
      program(std::make_unique<Program>(*object, object->kernel(kernel))) {}

Simulator::~Simulator() = default;
Simulator::Simulator(Simulator &&) noexcept = default;

const KernelInfo &Simulator::kernel() const { return program->kernel; }

static void checkLaunch(const Program &program, const Launch &launch) {
  const KernelInfo &kernel = program.kernel;
  uint64_t threads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  auto text = [](const std::array<uint32_t, 3> &block) {
    return std::to_string(block[0]) + " x " + std::to_string(block[1]) + " x " +
           std::to_string(block[2]);
  };
  bool isSmall = std::all_of(launch.block.begin(), launch.block.end(),
                             [](uint32_t extent) { return extent <= 1024; });
  if (!isSmall || threads < 1 || threads > kernel.largestBlock)
    throw Error(ErrorKind::Launch,
                "expected 1 to " + std::to_string(kernel.largestBlock) +
                    " work items in a workgroup of '" + kernel.name +
                    "', found " + text(launch.block));
  if (kernel.requiredBlock[0] && launch.block != kernel.requiredBlock)
    throw Error(ErrorKind::Launch,
                "expected workgroups of " + text(kernel.requiredBlock) +
                    " for '" + kernel.name + "', found " + text(launch.block));
  uint64_t lds = uint64_t(kernel.ldsBytes) + launch.dynamicLdsBytes;
  if (lds > program.object.features().ldsBytes)
    throw Error(ErrorKind::Launch,
                "expected at most " +
                    std::to_string(program.object.features().ldsBytes) +
                    " bytes of LDS for '" + kernel.name + "', found " +
                    std::to_string(lds));
  if (kernel.floatMode & 0xf)
    throw Error(ErrorKind::Unsupported,
                "expected a kernel that rounds to nearest, found rounding "
                "mode " +
                    std::to_string(kernel.floatMode & 0xf) + " of '" +
                    kernel.name + "'");
}

/// The caller's memory and what the launch itself adds.
static MemoryMap mapMemory(const Program &program, const MemoryMap &memory,
                           const DispatchMemory &dispatch) {
  MemoryMap result = memory;
  for (const CodeObject::Segment &segment : program.object.segments())
    result.add(program.object.at(segment.address, segment.size), segment.size,
               segment.isCode ? "the code" : "the code object's data",
               segment.isWritable);
  result.add(dispatch.arguments.data(), dispatch.arguments.size(),
             "the arguments", false);
  result.add(dispatch.packet.data(), dispatch.packet.size(),
             "the dispatch packet", false);
  return result;
}

namespace {
/// Workgroups in order, and the first error among threads.
struct Progress {
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> stops = false;
  std::mutex mutex;
  std::exception_ptr error;
  uint64_t failed = ~0ull;
};
} // namespace

static void runGroups(WorkgroupRunner &runner, const Launch &launch,
                      Progress &progress) {
  uint64_t x = launch.grid[0], y = launch.grid[1], z = launch.grid[2];
  uint64_t total = x * y * z, number = 0;
  try {
    while (!progress.stops && (number = progress.next++) < total)
      runner.run({static_cast<uint32_t>(number % x),
                  static_cast<uint32_t>(number / x % y),
                  static_cast<uint32_t>(number / x / y)});
  } catch (...) {
    std::lock_guard<std::mutex> lock(progress.mutex);
    progress.stops = true;
    if (number < progress.failed) {
      progress.failed = number;
      progress.error = std::current_exception();
    }
  }
}

static InstructionCount describe(const Program &program,
                                 const Instruction &instruction) {
  return {instruction.address, instruction.text, instruction.mnemonic,
          program.object.lineOf(instruction.address), 0};
}

static Statistics
summarize(const Program &program,
          const std::vector<std::unique_ptr<WorkgroupRunner>> &runners) {
  Statistics result;
  for (size_t i = 0; i < program.code.size(); ++i) {
    InstructionCount count = describe(program, program.code[i]);
    for (const auto &runner : runners)
      count.executed += runner->tally.executed[i];
    result.waveInstructions += count.executed;
    if (count.executed)
      result.instructions.push_back(std::move(count));
  }
  for (const auto &runner : runners) {
    result.bytesLoaded += runner->tally.bytesLoaded;
    result.bytesStored += runner->tally.bytesStored;
    result.ldsAccesses += runner->tally.ldsAccesses;
    result.ldsConflicts += runner->tally.ldsConflicts;
  }
  return result;
}

Statistics Simulator::run(const Launch &launch, const MemoryMap &memory) const {
  checkLaunch(*program, launch);
  DispatchMemory dispatch(program->kernel, launch);
  MemoryMap all = mapMemory(*program, memory, dispatch);
  uint64_t groups = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  uint64_t wanted =
      launch.threads ? launch.threads : std::thread::hardware_concurrency();
  auto count = static_cast<size_t>(
      std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(groups, 1)));
  std::vector<std::unique_ptr<WorkgroupRunner>> runners;
  runners.reserve(count);
  for (size_t i = 0; i < count; ++i)
    runners.push_back(
        std::make_unique<WorkgroupRunner>(*program, all, launch, dispatch));
  Progress progress;
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back([&, i] { runGroups(*runners[i], launch, progress); });
  runGroups(*runners[0], launch, progress);
  for (std::thread &thread : threads)
    thread.join();
  if (progress.error)
    std::rethrow_exception(progress.error);
  return summarize(*program, runners);
}

std::vector<InstructionCount> Simulator::unsupported() const {
  std::vector<InstructionCount> result;
  for (const Instruction &instruction : program->code)
    if (instruction.run == runUnsupported && instruction.size)
      result.push_back(describe(*program, instruction));
  return result;
}

std::vector<InstructionCount> Simulator::instructions() const {
  std::vector<InstructionCount> result;
  for (const Instruction &instruction : program->code)
    if (instruction.size)
      result.push_back(describe(*program, instruction));
  return result;
}
