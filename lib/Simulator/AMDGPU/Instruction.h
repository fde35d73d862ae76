//===- Instruction.h - Decoded instructions ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instruction is after decoding: a function that executes it and its
// operands, with nothing left to look up but registers.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_SIMULATOR_AMDGPU_INSTRUCTION_H
#define TERRAZZO_LIB_SIMULATOR_AMDGPU_INSTRUCTION_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace terrazzo::amdsim {

class Wave;
struct Instruction;
struct LaneArgs;
struct MatrixShape;

using Handler = void (*)(Wave &, const Instruction &);
using LaneFunction = void (*)(const LaneArgs &);

constexpr unsigned kLanes = 64;
constexpr unsigned kVgprs = 512;
/// Accumulation registers follow the others, wherever a chip has them.
constexpr unsigned kFirstAccumulator = 256;

/// Scalar registers by number. The numbers are ours: chips disagree about m0
/// and null.
enum ScalarRegister : uint16_t {
  kVcc = 106,
  kTtmp = 108,
  kM0 = 124,
  kNull = 125,
  kExec = 126,
  kFlatScratch = 128,
  kXnackMask = 130,
  kScalarRegisters = 132,
};

/// How a source is read and a result is written.
enum class Type : uint8_t {
  None,
  B16,
  F16,
  BF16,
  B32,
  F32,
  B64,
  F64,
  /// Two halves of a register, chosen by op_sel.
  PackedB16,
  PackedF16,
  PackedBF16,
  /// Two registers.
  PackedF32,
  /// One bit a lane, in a scalar register.
  Mask,
};

constexpr unsigned bitsOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::B16:
  case Type::F16:
  case Type::BF16:
    return 16;
  case Type::B64:
  case Type::F64:
  case Type::PackedF32:
    return 64;
  case Type::Mask:
    return 1;
  default:
    return 32;
  }
}

constexpr bool isPacked(Type type) {
  return type == Type::PackedB16 || type == Type::PackedF16 ||
         type == Type::PackedBF16 || type == Type::PackedF32;
}

constexpr bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64;
}

enum class OperandKind : uint8_t {
  None,
  /// `v` and `a` registers; the latter from kFirstAccumulator on.
  Vgpr,
  Sgpr,
  /// An integer or a float: `value` has its bits once its type is known.
  Integer,
  Float,
  /// scc, vccz, execz.
  Scc,
  Vccz,
  Execz,
  /// A base or limit of an aperture.
  SharedBase,
  SharedLimit,
  PrivateBase,
  PrivateLimit,
  Null,
  Off,
};

struct Operand {
  OperandKind kind = OperandKind::None;
  /// The first register and how many there are.
  uint16_t index = 0;
  uint8_t count = 0;
  /// The upper 16 bits of a register (`.h`, op_sel), or the lower (`.l`).
  bool isHigh = false, isLow = false;
  bool negate = false, absolute = false, signExtend = false;
  /// An SDWA selection: 0-3 bytes, 4-5 words, 6 all.
  uint8_t selection = 6;
  uint64_t value = 0;

  bool isRegister() const {
    return kind == OperandKind::Vgpr || kind == OperandKind::Sgpr;
  }
  bool isConstant() const {
    return kind == OperandKind::Integer || kind == OperandKind::Float;
  }
  bool isPlain() const {
    return !negate && !absolute && !signExtend && !isHigh && selection == 6;
  }
};

/// Where each lane of a DPP source comes from; -1: from no lane.
struct DppControl {
  std::array<int8_t, kLanes> source;
  /// Lanes that row_mask and bank_mask enable.
  uint64_t enabled = ~0ull;
  /// A lane without a source reads 0; else it is not written.
  bool zeroesInvalid = false;
  /// Sources outside of EXEC are read.
  bool fetchesInactive = false;
};

/// Bits of op_sel and its kin: one a source, bit 3 for the result.
struct PackedControl {
  uint8_t opSel = 0, opSelHi = 0, negLo = 0, negHi = 0;
};

enum class SdwaUnused : uint8_t { Pad, SignExtend, Preserve };

/// What the instructions of memory do.
struct MemoryControl {
  /// Bytes a lane, and registers that they fill.
  uint8_t bytes = 0, registers = 0;
  bool isSigned = false;
  /// The other half of the register stays.
  bool isD16 = false, isD16High = false;
  bool isStore = false, isAtomic = false, returns = false;
  /// Into LDS, past the registers.
  bool toLds = false;
  /// Atomics: which, see Atomics.h.
  uint8_t operation = 0;
  /// MUBUF: an offset in a register; ds_read2: the second offset, and their
  /// factor.
  bool hasOffsetRegister = false, hasIndexRegister = false;
  bool hasTwo = false;
  uint16_t stride = 1;
  int32_t offset1 = 0;
};

struct Instruction {
  Handler run = nullptr;
  LaneFunction lanes = nullptr;
  Operand dst, scalarDst;
  std::array<Operand, 4> src;
  std::array<Type, 4> types = {};
  Type dstType = Type::None;
  uint8_t numSources = 0;
  uint8_t outputModifier = 0;
  bool clamp = false;
  /// A 16-bit result leaves the upper half as it is.
  bool keepsHigh = false;
  /// What is not defined in upper halves does not reach the lower one.
  bool hasOwnLow = false;
  bool hasSdwa = false;
  uint8_t dstSelection = 6;
  SdwaUnused dstUnused = SdwaUnused::Pad;
  /// v_cmpx of gfx10 on, and others that write EXEC beside or in place.
  bool writesExec = false;
  PackedControl packed;
  /// v_bitop3: bit 4a + 2b + c is the result for bits a, b and c.
  uint8_t truthTable = 0;
  MemoryControl memory;
  const MatrixShape *matrix = nullptr;
  /// Offsets of memory, immediates of scalar instructions, cbsz/abid/blgp.
  int32_t offset = 0;
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  /// Index of the instruction that a branch goes to.
  uint32_t target = 0;
  std::unique_ptr<DppControl> dpp;
  /// The second half of a dual instruction.
  std::unique_ptr<Instruction> second;

  uint64_t address = 0;
  uint32_t size = 0;
  std::string mnemonic, text;
};

} // namespace terrazzo::amdsim

#endif // TERRAZZO_LIB_SIMULATOR_AMDGPU_INSTRUCTION_H
