//===- LaneKernel.cpp - One instruction, on lanes of given words ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneKernel.h"

#include <iterator>

namespace terrazzo::amdsim::test {

LaneWords runLanes(const LaneKernel &kernel, const LaneWords &inputs) {
  unsigned lanes = lanesOf(kernel.chip);
  bool isGfx12 = kernel.chip.starts_with("gfx12");
  std::string waitScalar =
      isGfx12 ? "s_wait_kmcnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n";
  std::string waitLoads =
      isGfx12 ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n";
  std::string body = "s_load_dwordx4 s[4:7], s[0:1], 0x0\n" + waitScalar +
                     "v_and_b32_e32 v0, 0x3ff, v0\n"
                     "v_lshlrev_b32_e32 v0, 2, v0\n";
  size_t stride = size_t(lanes) * 4;
  for (size_t i = 0; i < inputs.size(); ++i)
    body += "global_load_dword v" + std::to_string(16 + i) +
            ", v0, s[4:5] offset:" + std::to_string(i * stride) + "\n";
  body += waitLoads + kernel.body + "\n";
  for (unsigned i = 0; i < kernel.outputs; ++i)
    body += "global_store_dword v0, v" + std::to_string(32 + i) +
            ", s[6:7] offset:" + std::to_string(i * stride) + "\n";
  std::vector<uint32_t> in, out(size_t(kernel.outputs) * lanes);
  for (const std::vector<uint32_t> &word : inputs)
    in.insert(in.end(), word.begin(), word.end());
  if (in.empty())
    in.resize(1);
  TestLaunch launch({.chip = kernel.chip,
                     .body = body,
                     .pointers = 2,
                     .ldsBytes = kernel.ldsBytes});
  launch.launch.block = {lanes, 1, 1};
  launch.buffer(in).buffer(out);
  launch.run();
  LaneWords result;
  for (unsigned i = 0; i < kernel.outputs; ++i)
    result.emplace_back(out.begin() + i * lanes, out.begin() + (i + 1) * lanes);
  return result;
}

std::vector<uint32_t> Words::lanes(unsigned count) {
  static const uint32_t kSpecial[] = {
      0,          0x80000000, 1,          0xffffffff, 0x7fffffff, 0x3f800000,
      0xbf800000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000,
      0x7f800001, 0x00800000, 0x7f7fffff, 0x3c00,     0x8000,     0x7c00,
      0x7e00,     0x0001,     0x83ff,     0x7bff,     0x40000000, 31,
  };
  std::vector<uint32_t> result;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t bits = random();
    result.push_back(bits >> 62 == 0 ? kSpecial[bits % std::size(kSpecial)]
                                     : static_cast<uint32_t>(bits));
  }
  return result;
}

std::vector<uint32_t> Words::moderate(unsigned count) {
  std::uniform_real_distribution<float> values(-100.0f, 100.0f);
  std::vector<uint32_t> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(asBits(values(random)));
  return result;
}

} // namespace terrazzo::amdsim::test
