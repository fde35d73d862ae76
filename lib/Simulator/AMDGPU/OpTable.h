//===- OpTable.h - All instructions that are modelled -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_OPTABLE_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_OPTABLE_H

#include "Instruction.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace terrazzo::amdsim {

/// How the operands of an instruction's text are laid out.
enum class OpForm : uint8_t {
  /// dst, sources.
  Vector,
  /// dst, a scalar dst, sources.
  VectorWithBit,
  /// A scalar dst, sources.
  Compare,
  /// Sources; the result goes to EXEC.
  CompareExec,
  /// Nothing is common: all operands are in `src` in order, but for the first,
  /// which is `dst`.
  Plain,
  /// As Plain, with no result: all are in `src`.
  NoResult,
  /// Accesses of memory, each with its own order.
  Global,
  Buffer,
  Scratch,
  Flat,
  Ds,
  ScalarMemory,
  Matrix,
  Branch,
  /// `s_waitcnt` and its kin: the numbers are in the text.
  Wait,
};

struct OpInfo {
  OpForm form = OpForm::Plain;
  Handler run = nullptr;
  LaneFunction lanes = nullptr;
  Type dst = Type::None;
  std::array<Type, 4> src = {};
  uint8_t numSources = 0;
  /// The last source is the result's old value (v_fmac).
  bool accumulates = false;
  /// The last source is VCC, which the text does not name (v_div_fmas).
  bool readsVcc = false;
  /// A 16-bit result leaves the upper half alone on gfx9, too.
  bool keepsHigh = false;
  /// The low half of a 64-bit result follows from the low halves of sources.
  bool hasOwnLow = false;
  MemoryControl memory = {};
  const MatrixShape *matrix = nullptr;

  OpInfo withOwnLow() const {
    OpInfo copy = *this;
    copy.hasOwnLow = true;
    return copy;
  }
  OpInfo accumulating() const {
    OpInfo copy = *this;
    copy.accumulates = true;
    return copy;
  }
};

class OpTable {
public:
  /// The table of all instructions; made once.
  static const OpTable &get();
  /// An instruction by its name; where one of the generation's own is
  /// ("gfx12:v_wmma..."), that.
  const OpInfo *find(std::string_view mnemonic, unsigned generation = 0) const;

  void add(std::string_view mnemonic, OpInfo info) {
    ops.insert_or_assign(std::string(mnemonic), info);
  }
  /// Another name of an instruction.
  void alias(std::string_view name, std::string_view mnemonic);

private:
  OpTable();
  std::unordered_map<std::string, OpInfo> ops;
};

// Each adds the instructions of the file of its name.
void addVectorFloat(OpTable &table);
void addVectorInteger(OpTable &table);
void addVectorConvert(OpTable &table);
void addVectorCompare(OpTable &table);
void addVectorPacked(OpTable &table);
void addVectorHalf(OpTable &table);
void addCrossLane(OpTable &table);
void addScalar(OpTable &table);
void addScalarControl(OpTable &table);
void addWaits(OpTable &table);
void addScalarMemory(OpTable &table);
void addGlobalMemory(OpTable &table);
void addDataShare(OpTable &table);
void addMatrix(OpTable &table);

// How the forms that hold lanes are executed (Vector.cpp).
void runVector(Wave &wave, const Instruction &instruction);
void runDual(Wave &wave, const Instruction &instruction);

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_OPTABLE_H
