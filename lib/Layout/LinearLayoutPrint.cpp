//===- LinearLayoutPrint.cpp - Layouts as text ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using llvm::ArrayRef;

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
  auto inputs = layout.unflattenInputs(flat);
  for (unsigned i = 0; i < inputs.size(); ++i) {
    const Dim &dim = layout.inDims()[i];
    if (!dim.bits)
      continue;
    text += text.empty() ? "" : " ";
    text += dim.name.take_front(1).str() + std::to_string(inputs[i]);
  }
  return text.empty() ? "*" : text;
}

constexpr uint64_t kMaxInputs = uint64_t(1) << 20;

/// Who holds each of the first `number` elements, padded to one width.
static std::vector<std::string> holders(const LinearLayout &layout,
                                        uint64_t numInputs, uint64_t number) {
  std::vector<std::string> cells(number);
  for (uint64_t flat = 0; flat < numInputs; ++flat) {
    uint64_t element = layout.applyPacked(flat);
    if (element < number)
      cells[element] +=
          (cells[element].empty() ? "" : " | ") + holder(layout, flat);
  }
  size_t width = 1;
  for (const std::string &cell : cells)
    width = std::max(width, cell.size());
  for (std::string &cell : cells) {
    if (cell.empty())
      cell = "-";
    cell.resize(width, ' ');
  }
  return cells;
}

std::string LinearLayout::picture(int32_t maxCells) const {
  uint64_t numColumns = outs.empty() ? 1 : outs.back().size();
  uint64_t numCells = uint64_t(1) << totalOutBits();
  uint64_t numInputs = uint64_t(1) << totalInBits();
  uint64_t shown = std::min<uint64_t>(numCells, std::max(maxCells, 1));
  std::vector<std::string> cells =
      holders(*this, std::min(numInputs, kMaxInputs), shown);

  std::string text;
  for (uint64_t start = 0; start < shown; start += numColumns) {
    if (outs.size() > 1)
      text += list(ArrayRef(unpackOut(start)).drop_back()) + ": ";
    uint64_t end = std::min(start + numColumns, shown);
    for (uint64_t i = start; i < end; ++i)
      text += (i > start ? "  " : "") + cells[i];
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  if (shown < numCells)
    text += "... " + std::to_string(numCells - shown) + " more elements\n";
  if (numInputs > kMaxInputs)
    text += "... holders beyond the first " + std::to_string(kMaxInputs) +
            " are not shown\n";
  return text;
}

} // namespace terrazzo::layout
