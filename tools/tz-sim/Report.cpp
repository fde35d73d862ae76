//===- Report.cpp - What a kernel's instructions are and did --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace terrazzo::amdsim;
using llvm::StringRef;

/// The kind of an instruction, by its name.
static const char *kindOf(StringRef name) {
  if (name.contains("mfma") || name.contains("wmma"))
    return "matrix";
  if (name.starts_with("v_"))
    return "vector";
  if (name.starts_with("s_load") || name.starts_with("s_buffer"))
    return "scalar memory";
  if (name.starts_with("s_wait") || name.starts_with("s_nop") ||
      name.starts_with("s_delay") || name.starts_with("s_barrier"))
    return "waits and barriers";
  if (name.starts_with("s_branch") || name.starts_with("s_cbranch"))
    return "branches";
  if (name.starts_with("s_"))
    return "scalar";
  if (name.starts_with("ds_"))
    return "LDS";
  if (name.starts_with("scratch_"))
    return "scratch";
  return "memory";
}

static uint64_t weightOf(const InstructionCount &count, bool isDynamic) {
  return isDynamic ? count.executed : 1;
}

static void reportMix(const std::vector<InstructionCount> &instructions,
                      bool isDynamic, llvm::raw_ostream &out) {
  std::map<StringRef, uint64_t> kinds, names;
  uint64_t total = 0;
  for (const InstructionCount &count : instructions) {
    uint64_t weight = weightOf(count, isDynamic);
    kinds[kindOf(count.mnemonic)] += weight;
    names[count.mnemonic] += weight;
    total += weight;
  }
  auto line = [&](StringRef name, uint64_t count) {
    out << llvm::format(
               "  %12llu %5.1f %%  ", static_cast<unsigned long long>(count),
               100.0 * double(count) / double(std::max<uint64_t>(total, 1)))
        << name << "\n";
  };
  for (const auto &[name, count] : kinds)
    line(name, count);
  out << "most frequent\n";
  std::vector<std::pair<StringRef, uint64_t>> sorted(names.begin(),
                                                     names.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  for (size_t i = 0; i < std::min<size_t>(sorted.size(), 20); ++i)
    line(sorted[i].first, sorted[i].second);
}

void terrazzo::amdsim::reportCode(const Simulator &simulator,
                                  llvm::raw_ostream &out) {
  const KernelInfo &kernel = simulator.kernel();
  out << "kernel " << kernel.name << ": waves of " << kernel.waveSize << ", "
      << kernel.vgprs << " VGPRs";
  if (kernel.accumOffset && kernel.accumOffset < kernel.vgprs)
    out << " (accumulators from " << kernel.accumOffset << ")";
  out << ", " << kernel.ldsBytes << " bytes of LDS, " << kernel.scratchBytes
      << " of scratch, " << kernel.kernargBytes << " of arguments\n";
  for (const KernelArgument &argument : kernel.arguments)
    if (!argument.isHidden())
      out << "  argument at " << argument.offset << ", " << argument.bytes
          << " bytes: " << argument.valueKind
          << (argument.name.empty() ? "" : " " + argument.name) << "\n";
  out << "instructions in the code\n";
  reportMix(simulator.instructions(), /*isDynamic=*/false, out);
  std::vector<InstructionCount> missing = simulator.unsupported();
  if (missing.empty())
    return;
  out << "not modelled\n";
  for (const InstructionCount &count : missing)
    out << llvm::format("  0x%llx ",
                        static_cast<unsigned long long>(count.address))
        << count.text << "\n";
}

void terrazzo::amdsim::reportLaunch(const Statistics &statistics,
                                    llvm::raw_ostream &out) {
  out << "executed by waves: " << statistics.waveInstructions << "\n";
  reportMix(statistics.instructions, /*isDynamic=*/true, out);
  out << "by source line\n";
  std::map<std::pair<std::string, uint32_t>, uint64_t> lines;
  for (const InstructionCount &count : statistics.instructions)
    lines[{count.source.file, count.source.line}] += count.executed;
  for (const auto &[line, count] : lines)
    out << llvm::format("  %12llu  ", static_cast<unsigned long long>(count))
        << (line.second ? line.first + ":" + std::to_string(line.second)
                        : std::string("(no line)"))
        << "\n";
  out << "bytes loaded: " << statistics.bytesLoaded
      << ", stored: " << statistics.bytesStored << "\n";
  out << "accesses of LDS: " << statistics.ldsAccesses
      << ", further cycles for bank conflicts: " << statistics.ldsConflicts
      << "\n";
}
