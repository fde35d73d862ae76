//===- Dpp.cpp - Where lanes come from ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "Data Parallel Processing" in the ISA documents: rows have 16 lanes, banks 4.
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace terrazzo::amdsim;

/// The lane that `lane` reads from, or -1; `amount` is the control's number.
using LaneMap = int (*)(int lane, int amount);

static int shiftInRow(int lane, int by) {
  int to = lane % 16 + by;
  return to < 0 || to > 15 ? -1 : lane + by;
}

namespace {
struct NamedControl {
  std::string_view name;
  LaneMap map;
};
} // namespace

static constexpr NamedControl kControls[] = {
    {"row_shl", [](int lane, int n) { return shiftInRow(lane, n); }},
    {"row_shr", [](int lane, int n) { return shiftInRow(lane, -n); }},
    {"row_ror",
     [](int lane, int n) { return lane / 16 * 16 + (lane + 16 - n) % 16; }},
    {"wave_shl", [](int lane, int) { return lane + 1 < 64 ? lane + 1 : -1; }},
    {"wave_shr", [](int lane, int) { return lane - 1; }},
    {"wave_rol", [](int lane, int) { return (lane + 1) % 64; }},
    {"wave_ror", [](int lane, int) { return (lane + 63) % 64; }},
    {"row_mirror", [](int lane, int) { return lane ^ 15; }},
    {"row_half_mirror", [](int lane, int) { return lane ^ 7; }},
    {"row_bcast",
     [](int lane, int n) {
       // 15: the last lane of a row for the next one; 31: that of the lower
       // half for the upper.
       if (n == 15)
         return lane / 16 * 16 - 1;
       return lane < 32 ? -1 : 31;
     }},
    {"row_newbcast", [](int lane, int n) { return lane / 16 * 16 + n; }},
    {"row_share", [](int lane, int n) { return lane / 16 * 16 + n; }},
    {"row_xmask", [](int lane, int n) { return lane ^ n; }},
};

/// A list such as [0,1,2,3]; the lanes of each group are permuted by it.
static bool readList(std::string_view list, unsigned group, DppControl &dpp) {
  if (list.size() != 2 * size_t(group) + 1)
    return false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    int digit = list[1 + 2 * (lane % group)] - '0';
    if (digit < 0 || digit >= int(group))
      return false;
    dpp.source[lane] = static_cast<int8_t>(lane / group * group + digit);
  }
  return true;
}

static bool readSource(const AssemblyText &text, DppControl &dpp) {
  if (auto list = text.modifier("quad_perm"))
    return readList(*list, 4, dpp);
  if (auto list = text.modifier("dpp8"))
    return readList(*list, 8, dpp);
  for (const NamedControl &control : kControls) {
    if (!text.has(control.name))
      continue;
    int amount = static_cast<int>(text.number(control.name, 0));
    for (int lane = 0; lane < int(kLanes); ++lane)
      dpp.source[size_t(lane)] = static_cast<int8_t>(control.map(lane, amount));
    return true;
  }
  return false;
}

bool terrazzo::amdsim::readDpp(const AssemblyText &text, DppControl &dpp) {
  if (!readSource(text, dpp))
    return false;
  auto rows = static_cast<unsigned>(text.number("row_mask", 15));
  auto banks = static_cast<unsigned>(text.number("bank_mask", 15));
  dpp.enabled = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((rows >> (lane / 16) & 1) && (banks >> (lane % 16 / 4) & 1))
      dpp.enabled |= 1ull << lane;
  // (The text of a set bit has been `bound_ctrl:0`, too.)
  dpp.zeroesInvalid = text.has("bound_ctrl") || text.has("dpp8");
  dpp.fetchesInactive = text.number("fi", 0) != 0;
  return true;
}
