//===- OpTable.cpp - All instructions that are modelled -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

#include <cassert>

using namespace terrazzo::amdsim;

OpTable::OpTable() {
  addVectorFloat(*this);
  addVectorInteger(*this);
  addVectorCompare(*this);
  addVectorConvert(*this);
  addCrossLane(*this);
  addScalar(*this);
  addScalarControl(*this);
  addWaits(*this);
  addScalarMemory(*this);
  addGlobalMemory(*this);
  addDataShare(*this);
  addMatrix(*this);
  addVectorHalf(*this);
  addVectorPacked(*this);
}

const OpTable &OpTable::get() {
  static const OpTable table;
  return table;
}

const OpInfo *OpTable::find(std::string_view mnemonic,
                            unsigned generation) const {
  std::string name(mnemonic);
  auto it = ops.find("gfx" + std::to_string(generation) + ":" + name);
  if (it == ops.end())
    it = ops.find(name);
  return it == ops.end() ? nullptr : &it->second;
}

void OpTable::alias(std::string_view name, std::string_view mnemonic) {
  const OpInfo *info = find(mnemonic);
  assert(info && "an alias of an instruction that is not there");
  add(name, *info);
}
