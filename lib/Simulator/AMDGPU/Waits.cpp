//===- Waits.cpp - s_waitcnt and its kin ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text names the counters that are waited for; those that it leaves out
// are at their most, which is no wait.
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "OpTable.h"
#include "Wave.h"

using namespace terrazzo::amdsim;

namespace {
struct Waited {
  std::string_view name;
  Counter counter;
};
} // namespace

static const Waited kNames[] = {
    {"vmcnt(", kLoadCounter},
    {"lgkmcnt(", kDsCounter},
    {"expcnt(", kExportCounter},
    {"vscnt(", kStoreCounter},
};

/// `s_waitcnt vmcnt(0) lgkmcnt(0)`.
static void waitNamed(Wave &wave, const Instruction &instruction) {
  std::string_view text = instruction.text;
  bool isFound = false;
  for (const Waited &waited : kNames) {
    size_t at = text.find(waited.name);
    if (at == std::string_view::npos)
      continue;
    size_t begin = at + waited.name.size(), end = text.find(')', begin);
    auto count = parseNumber(text.substr(begin, end - begin));
    if (!count)
      continue;
    isFound = true;
    wave.waitFor(waited.counter, static_cast<unsigned>(*count));
  }
  // (A wait for nothing is printed as a number.)
  if (!isFound && text.find("0x0") != std::string_view::npos &&
      text.ends_with("0x0"))
    wave.finishAll();
}

/// The number behind the last space or comma.
static unsigned lastNumber(const Instruction &instruction) {
  std::string_view text = instruction.text;
  size_t at = text.find_last_of(" ,");
  return static_cast<unsigned>(parseNumber(text.substr(at + 1)).value_or(0));
}

template <Counter counter>
static void waitOne(Wave &wave, const Instruction &instruction) {
  wave.waitFor(counter, lastNumber(instruction));
}

/// `s_wait_loadcnt_dscnt`: the lower bits are for LDS.
template <Counter counter>
static void waitTwo(Wave &wave, const Instruction &instruction) {
  unsigned number = lastNumber(instruction);
  wave.waitFor(counter, number >> 8 & 63);
  wave.waitFor(kDsCounter, number & 63);
}

void terrazzo::amdsim::addWaits(OpTable &table) {
  auto add = [&](const char *name, Handler run) {
    OpInfo info;
    info.form = OpForm::Wait;
    info.run = run;
    table.add(name, info);
  };
  add("s_waitcnt", waitNamed);
  add("s_waitcnt_vscnt", waitOne<kStoreCounter>);
  add("s_waitcnt_vmcnt", waitOne<kLoadCounter>);
  add("s_waitcnt_lgkmcnt", waitOne<kDsCounter>);
  add("s_waitcnt_expcnt", waitOne<kExportCounter>);
  add("s_wait_loadcnt", waitOne<kLoadCounter>);
  add("s_wait_samplecnt", waitOne<kExportCounter>);
  add("s_wait_bvhcnt", waitOne<kExportCounter>);
  add("s_wait_storecnt", waitOne<kStoreCounter>);
  add("s_wait_dscnt", waitOne<kDsCounter>);
  add("s_wait_kmcnt", waitOne<kScalarCounter>);
  add("s_wait_expcnt", waitOne<kExportCounter>);
  add("s_wait_loadcnt_dscnt", waitTwo<kLoadCounter>);
  add("s_wait_storecnt_dscnt", waitTwo<kStoreCounter>);
}
