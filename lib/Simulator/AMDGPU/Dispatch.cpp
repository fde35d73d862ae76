//===- Dispatch.cpp - Runs the workgroups of a launch ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What registers hold at the start: "Initial Kernel Execution State" in LLVM's
// "User Guide for AMDGPU Backend".
//===----------------------------------------------------------------------===//

#include "Dispatch.h"

#include "llvm/Support/AMDHSAKernelDescriptor.h"

#include <algorithm>

using namespace terrazzo::amdsim;
using namespace llvm::amdhsa;

template <class T>
static void put(uint8_t *to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

/// The value of a hidden argument; those that no kernel of ours reads are 0.
static uint64_t hiddenValue(const std::string &kind, const Launch &launch) {
  int axis = kind.back() - 'x';
  if (kind.starts_with("hidden_block_count_"))
    return launch.grid[size_t(axis)];
  if (kind.starts_with("hidden_group_size_"))
    return launch.block[size_t(axis)];
  if (kind == "hidden_grid_dims")
    return launch.grid[2] > 1 || launch.block[2] > 1   ? 3
           : launch.grid[1] > 1 || launch.block[1] > 1 ? 2
                                                       : 1;
  if (kind == "hidden_dynamic_lds_size")
    return launch.dynamicLdsBytes;
  if (kind == "hidden_private_base")
    return kPrivateAperture >> 32;
  if (kind == "hidden_shared_base")
    return kSharedAperture >> 32;
  return 0;
}

DispatchMemory::DispatchMemory(const KernelInfo &kernel, const Launch &launch)
    // The segment ends with its cache line: wide loads may read up to there.
    : arguments((uint64_t{kernel.kernargBytes} + 63) / 64 * 64) {
  uint64_t end = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.offset > kernel.kernargBytes ||
        argument.bytes > kernel.kernargBytes - argument.offset)
      throw Error(ErrorKind::Object,
                  "expected arguments of '" + kernel.name + "' within " +
                      std::to_string(kernel.kernargBytes) +
                      " bytes, found one of " + std::to_string(argument.bytes) +
                      " bytes at offset " + std::to_string(argument.offset));
    if (!argument.isHidden()) {
      end = std::max<uint64_t>(end, argument.offset + argument.bytes);
      continue;
    }
    uint64_t value = hiddenValue(argument.valueKind, launch);
    std::memcpy(arguments.data() + argument.offset, &value,
                std::min<size_t>(argument.bytes, sizeof(value)));
  }
  if (launch.arguments.size() < end ||
      launch.arguments.size() > arguments.size())
    throw Error(ErrorKind::Launch, "expected " + std::to_string(end) +
                                       " bytes of arguments for '" +
                                       kernel.name + "', found " +
                                       std::to_string(launch.arguments.size()));
  std::copy_n(launch.arguments.begin(), end, arguments.begin());
  for (size_t axis = 0; axis < 3; ++axis) {
    put(&packet[4 + 2 * axis], static_cast<uint16_t>(launch.block[axis]));
    put(&packet[12 + 4 * axis], launch.grid[axis] * launch.block[axis]);
  }
  put(&packet[24], kernel.scratchBytes);
  put(&packet[28], kernel.ldsBytes + launch.dynamicLdsBytes);
  put(&packet[40], reinterpret_cast<uint64_t>(arguments.data()));
}

static unsigned countThreads(const Launch &launch) {
  return launch.block[0] * launch.block[1] * launch.block[2];
}

WorkgroupRunner::WorkgroupRunner(const Program &program,
                                 const MemoryMap &memory, const Launch &launch,
                                 const DispatchMemory &dispatch)
    : launch(launch), dispatch(dispatch),
      group{program, memory, launch, tally, {}, {}, nullptr},
      random(launch.seed) {
  tally.executed.resize(program.code.size());
  unsigned waveSize = program.kernel.waveSize;
  unsigned count = (countThreads(launch) + waveSize - 1) / waveSize;
  waves.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    waves.emplace_back(group, i);
    order.push_back(i);
  }
}

/// User SGPRs in the order of the descriptor's bits, then the system's.
void WorkgroupRunner::startScalars(Wave &wave) {
  const KernelInfo &kernel = group.program.kernel;
  const ChipFeatures &features = group.program.object.features();
  unsigned next = 0;
  auto add64 = [&](uint32_t bit, uint64_t value) {
    if (!(kernel.properties & bit))
      return;
    wave.writeScalar64(next, value);
    next += 2;
  };
  if (kernel.properties &
      KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER) {
    wave.writeScalar64(next, kScratchBuffer);
    wave.writeScalar64(next + 2, 0xffffffff);
    next += 4;
  }
  auto packet = reinterpret_cast<uint64_t>(dispatch.packet.data());
  add64(KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR, packet);
  add64(KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR, 0);
  add64(KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR,
        reinterpret_cast<uint64_t>(dispatch.arguments.data()));
  add64(KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID, 0);
  add64(KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT, 0);
  if (kernel.properties & KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE)
    wave.sgprs[next++] = kernel.scratchBytes;
  for (unsigned i = 0; i < kernel.preloadLength; ++i) {
    size_t at = 4 * size_t(kernel.preloadOffset + i);
    if (at + 4 <= dispatch.arguments.size() && next < kVcc)
      std::memcpy(&wave.sgprs[next], &dispatch.arguments[at], 4);
    ++next;
  }
  next = kernel.userSgprs;
  if (features.hasArchitectedIds) {
    wave.sgprs[kTtmp + 9] = group.id[0];
    wave.sgprs[kTtmp + 7] = group.id[1] | group.id[2] << 16;
    return;
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    if (kernel.resource2 &
        (COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X << axis))
      wave.sgprs[next++] = group.id[axis];
  if (kernel.resource2 & COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_INFO)
    wave.sgprs[next++] = 0;
  // The wave's offset in scratch: each wave has its own here.
  if ((kernel.resource2 & COMPUTE_PGM_RSRC2_ENABLE_PRIVATE_SEGMENT) &&
      !features.hasArchitectedScratch)
    wave.sgprs[next++] = 0;
}

void WorkgroupRunner::start(Wave &wave) {
  wave.reset();
  startScalars(wave);
  unsigned threads = countThreads(launch);
  uint64_t exec = 0;
  uint32_t *ids = wave.row(0);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    unsigned flat = wave.number * wave.waveSize + lane;
    if (flat >= threads)
      break;
    exec |= 1ull << lane;
    uint32_t x = flat % launch.block[0], rest = flat / launch.block[0];
    uint32_t y = rest % launch.block[1], z = rest / launch.block[1];
    ids[lane] = x | y << 10 | z << 20;
  }
  wave.setExec(exec);
  wave.written[0] = exec;
}

void WorkgroupRunner::report(const Wave &wave, const Fault &fault) const {
  const Program &program = group.program;
  const Instruction &instruction = program.code[wave.current];
  SourceLine line = program.object.lineOf(instruction.address);
  throw Error(fault.kind, fault.text,
              {program.kernel.name, line.file, line.line, instruction.address,
               instruction.text, group.id, static_cast<int>(wave.number),
               fault.lane});
}

void WorkgroupRunner::runWave(Wave &wave) {
  const Instruction *code = group.program.code.data();
  uint64_t *executed = tally.executed.data();
  uint64_t limit = launch.stepLimit;
  try {
    while (wave.status == WaveStatus::Running) {
      wave.current = wave.pc++;
      const Instruction &instruction = code[wave.current];
      ++executed[wave.current];
      if (++wave.steps > limit)
        fault(ErrorKind::Hang, "expected the wave to end within " +
                                   std::to_string(limit) + " instructions");
      instruction.run(wave, instruction);
    }
  } catch (const Fault &fault) {
    report(wave, fault);
  }
}

void WorkgroupRunner::runToBarrier() {
  if (launch.order == WaveOrder::Random)
    std::shuffle(order.begin(), order.end(), random);
  for (unsigned number : order)
    runWave(waves[number]);
}

void WorkgroupRunner::passBarrier() {
  group.lds.passBarrier();
  for (Wave &wave : waves) {
    if (wave.status == WaveStatus::AtBarrier)
      wave.status = WaveStatus::Running;
    try {
      for (const PendingAccess::LdsRange &range : wave.lateLds)
        group.lds.note(range.address, range.bytes,
                       range.isAtomic  ? Lds::Access::Atomic
                       : range.isWrite ? Lds::Access::Write
                                       : Lds::Access::Read,
                       wave.number, -1, nullptr);
    } catch (const Fault &fault) {
      report(wave, fault);
    }
    wave.lateLds.clear();
  }
}

void WorkgroupRunner::run(const std::array<uint32_t, 3> &id) {
  const KernelInfo &kernel = group.program.kernel;
  group.id = id;
  group.lds.reset(kernel.ldsBytes + launch.dynamicLdsBytes, launch.checksRaces);
  random.seed(launch.seed * 0x9e3779b97f4a7c15ull + id[0] +
              (uint64_t(id[1]) << 24) + (uint64_t(id[2]) << 48));
  std::sort(order.begin(), order.end());
  if (launch.order == WaveOrder::LastFirst)
    std::reverse(order.begin(), order.end());
  for (Wave &wave : waves)
    start(wave);
  auto isFinished = [](const Wave &wave) {
    return wave.status == WaveStatus::Finished;
  };
  while (!std::all_of(waves.begin(), waves.end(), isFinished)) {
    runToBarrier();
    passBarrier();
  }
}
