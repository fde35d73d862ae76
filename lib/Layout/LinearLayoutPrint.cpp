//===- LinearLayoutPrint.cpp - Layouts as text ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using llvm::ArrayRef;
using llvm::StringRef;

namespace terrazzo::layout {

static std::string list(ArrayRef<int32_t> values) {
  std::string text = "[";
  for (unsigned i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string LinearLayout::toString() const {
  std::string text;
  for (const Dim &dim : ins) {
    text += dim.name.str() + " = [";
    for (int32_t bit = 0; bit < dim.bits; ++bit)
      text += (bit ? ", " : "") + list(basis(dim.name, bit));
    text += "], ";
  }
  text += "dims [";
  for (unsigned i = 0; i < outs.size(); ++i) {
    text += i ? ", " : "";
    if (outs[i].name != dimName(i))
      text += outs[i].name.str() + ": ";
    text += std::to_string(outs[i].size());
  }
  return text + "]";
}

/// "r1 l5 w0" for a register, a lane and a warp; inputs of size 1 are left out.
static std::string holder(const LinearLayout &layout, uint64_t flat) {
  std::string text;
  auto inputs = layout.unflattenIn(flat);
  for (unsigned i = 0; i < inputs.size(); ++i) {
    const Dim &dim = layout.inDims()[i];
    if (!dim.bits)
      continue;
    text += text.empty() ? "" : " ";
    text += dim.name.take_front(1).str() + std::to_string(inputs[i]);
  }
  return text.empty() ? "*" : text;
}

std::string LinearLayout::picture(int32_t maxCells) const {
  int32_t columnBits = outs.empty() ? 0 : outs.back().bits;
  uint64_t numCells = uint64_t(1) << std::min(totalOutBits(), 62);
  uint64_t numInputs = uint64_t(1) << std::min(totalInBits(), 62);
  uint64_t shown = std::min<uint64_t>(numCells, std::max(maxCells, 1));
  constexpr uint64_t kMaxInputs = uint64_t(1) << 20;

  std::vector<std::string> cells(shown);
  for (uint64_t flat = 0; flat < std::min(numInputs, kMaxInputs); ++flat) {
    uint64_t element = applyPacked(flat);
    if (element < shown)
      cells[element] +=
          (cells[element].empty() ? "" : " | ") + holder(*this, flat);
  }
  size_t width = 1;
  for (std::string &cell : cells) {
    if (cell.empty())
      cell = "-";
    width = std::max(width, cell.size());
  }

  std::string text;
  for (uint64_t i = 0; i < shown; ++i) {
    uint64_t column = i & ((uint64_t(1) << columnBits) - 1);
    if (column == 0) {
      Basis row = unpackOut(i);
      if (!row.empty())
        row.pop_back();
      text +=
          (i ? "\n" : "") + (row.empty() ? std::string() : list(row) + ": ");
    }
    text += (column ? "  " : "") + cells[i];
    bool last = i + 1 == shown || column + 1 == (uint64_t(1) << columnBits);
    if (!last)
      text.append(width - cells[i].size(), ' ');
  }
  text += "\n";
  if (shown < numCells)
    text += "... " + std::to_string(numCells - shown) + " more elements\n";
  if (numInputs > kMaxInputs)
    text += "... holders beyond the first " + std::to_string(kMaxInputs) +
            " are not shown\n";
  return text;
}

} // namespace terrazzo::layout
