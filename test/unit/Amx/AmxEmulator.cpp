//===- AmxEmulator.cpp - Executes AMX instructions in software ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler runs on the thread that met the instruction, with the vector
// registers saved by the kernel and MXCSR at its default.
//===----------------------------------------------------------------------===//

#include "AmxEmulator.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <ucontext.h>
#include <unistd.h>

namespace terrazzo::test {
namespace {

constexpr int kTiles = 8, kMaxRows = 16, kMaxBytes = 64;

/// The operand of LDTILECFG.
struct Config {
  uint8_t palette, startRow;
  uint8_t reserved[14];
  uint16_t rowBytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Config) == 64);

struct Registers {
  Config config;
  uint8_t tiles[kTiles][kMaxRows][kMaxBytes];
};

thread_local Registers registers;
std::atomic<uint64_t> counts[static_cast<int>(AmxOp::Count)];
struct sigaction previous;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// General registers in the order of their numbers.
constexpr int kGeneral[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct Instruction {
  AmxOp op;
  int reg = 0, rm = 0, vvvv = 0; ///< tile registers
  uint8_t *address = nullptr;    ///< of a memory operand
  int64_t stride = 0;            ///< its index register, scaled
  int64_t length = 0;
};

class Decoder {
public:
  explicit Decoder(const greg_t *gregs)
      : gregs(gregs), start(reinterpret_cast<const uint8_t *>(gregs[REG_RIP])),
        at(start) {}

  bool decode(Instruction &inst);

private:
  bool findOp(AmxOp &op) const;
  void decodeMemory(Instruction &inst);
  int64_t general(int number) const { return gregs[kGeneral[number]]; }
  template <typename T>
  int64_t take() {
    T value;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }

  const greg_t *gregs;
  const uint8_t *start, *at;
  enum Prefix { NP, P66, PF3, PF2 };
  int prefix = NP;
  uint8_t opcode = 0, modrm = 0;
  int mod = 0, rexB = 0, rexX = 0;
};

/// By the tables of the manual: opcode, mandatory prefix, kind of operand.
bool Decoder::findOp(AmxOp &op) const {
  struct Entry {
    uint8_t opcode;
    Prefix prefix;
    bool isMemory;
    AmxOp op;
  };
  static constexpr Entry entries[] = {
      {0x49, NP, true, AmxOp::Ldtilecfg},
      {0x49, P66, true, AmxOp::Sttilecfg},
      {0x49, NP, false, AmxOp::Tilerelease},
      {0x49, PF2, false, AmxOp::Tilezero},
      {0x4B, PF2, true, AmxOp::Tileloadd},
      {0x4B, P66, true, AmxOp::Tileloaddt1},
      {0x4B, PF3, true, AmxOp::Tilestored},
      {0x5C, PF3, false, AmxOp::Tdpbf16ps},
      {0x5E, PF2, false, AmxOp::Tdpbssd},
      {0x5E, PF3, false, AmxOp::Tdpbsud},
      {0x5E, P66, false, AmxOp::Tdpbusd},
      {0x5E, NP, false, AmxOp::Tdpbuud},
  };
  for (const Entry &entry : entries)
    if (entry.opcode == opcode && entry.prefix == prefix &&
        entry.isMemory == (mod != 3)) {
      op = entry.op;
      return true;
    }
  return false;
}

bool Decoder::decode(Instruction &inst) {
  // VEX.128 of three bytes, map 0F38, W0.
  if (at[0] != 0xC4)
    return false;
  uint8_t first = at[1], second = at[2];
  int rexR = first & 0x80 ? 0 : 8;
  rexX = first & 0x40 ? 0 : 8, rexB = first & 0x20 ? 0 : 8;
  if ((first & 0x1F) != 2 || second & 0x84)
    return false;
  prefix = second & 3;
  inst.vvvv = ~(second >> 3) & 15;
  opcode = at[3], modrm = at[4];
  at += 5;
  mod = modrm >> 6;
  inst.reg = (modrm >> 3 & 7) | rexR;
  inst.rm = (modrm & 7) | rexB;
  if (!findOp(inst.op))
    return false;
  bool isProduct = inst.op >= AmxOp::Tdpbf16ps;
  bool isSib = opcode == 0x4B;
  if ((!isProduct && inst.vvvv != 0) || (isSib && (modrm & 7) != 4) ||
      inst.reg >= kTiles || (mod == 3 && inst.rm >= kTiles) ||
      (isProduct && inst.vvvv >= kTiles))
    return false;
  if (inst.op == AmxOp::Tilerelease && modrm != 0xC0)
    return false;
  // All three must differ.
  if (isProduct &&
      (inst.reg == inst.rm || inst.reg == inst.vvvv || inst.rm == inst.vvvv))
    return false;
  if (mod != 3)
    decodeMemory(inst);
  inst.length = at - start;
  return true;
}

void Decoder::decodeMemory(Instruction &inst) {
  int64_t base = 0;
  bool isRelative = false, hasWide = mod == 2;
  if ((modrm & 7) == 4) {
    uint8_t sib = *at++;
    int index = (sib >> 3 & 7) | rexX;
    if (index != 4)
      inst.stride = general(index) << (sib >> 6);
    if ((sib & 7) == 5 && mod == 0)
      hasWide = true;
    else
      base = general((sib & 7) | rexB);
  } else if ((modrm & 7) == 5 && mod == 0) {
    isRelative = hasWide = true;
  } else {
    base = general(inst.rm);
  }
  if (hasWide)
    base += take<int32_t>();
  else if (mod == 1)
    base += take<int8_t>();
  if (isRelative)
    base += reinterpret_cast<int64_t>(at);
  // The index of an instruction on rows is their stride, not an offset.
  if (opcode != 0x4B)
    base += inst.stride;
  inst.address = reinterpret_cast<uint8_t *>(base);
}

//===----------------------------------------------------------------------===//
// Executing
//===----------------------------------------------------------------------===//

bool isValid(const Config &config) {
  if (config.palette == 0)
    return true;
  for (uint8_t byte : config.reserved)
    if (byte)
      return false;
  if (config.palette != 1 || config.startRow != 0)
    return false;
  for (int i = 0; i < 16; ++i) {
    bool isUsed = config.rowBytes[i] || config.rows[i];
    if (isUsed &&
        (i >= kTiles || config.rowBytes[i] > kMaxBytes ||
         config.rows[i] > kMaxRows || !config.rowBytes[i] || !config.rows[i]))
      return false;
  }
  return true;
}

template <typename T>
T element(int tile, int row, int column) {
  T value;
  std::memcpy(&value, registers.tiles[tile][row] + column * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T>
void setElement(int tile, int row, int column, T value) {
  std::memcpy(registers.tiles[tile][row] + column * sizeof(T), &value,
              sizeof(T));
}

/// Denormals are zeros, going in and coming out.
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

float bf16(int tile, int row, int column) {
  return flushed(std::bit_cast<float>(
      static_cast<uint32_t>(element<uint16_t>(tile, row, column)) << 16));
}

/// The even and the odd products are summed apart, then added.
float addBf16(int sum, int lhs, int rhs, int row, int column, int groups) {
  float parts[2] = {0, 0};
  for (int k = 0; k < groups; ++k)
    for (int i = 0; i < 2; ++i)
      parts[i] = flushed(std::fma(bf16(lhs, row, 2 * k + i),
                                  bf16(rhs, k, 2 * column + i), parts[i]));
  return flushed(flushed(element<float>(sum, row, column)) +
                 flushed(parts[0] + parts[1]));
}

template <typename A, typename B>
uint32_t addBytes(int sum, int lhs, int rhs, int row, int column, int groups) {
  uint32_t total = element<uint32_t>(sum, row, column);
  for (int k = 0; k < groups; ++k)
    for (int i = 0; i < 4; ++i)
      total +=
          static_cast<uint32_t>(int32_t(element<A>(lhs, row, 4 * k + i)) *
                                int32_t(element<B>(rhs, k, 4 * column + i)));
  return total;
}

/// reg += vvvv @ rm... in the manual's order of operands: reg, rm, vvvv.
bool multiply(const Instruction &inst) {
  const Config &config = registers.config;
  int sum = inst.reg, lhs = inst.rm, rhs = inst.vvvv;
  int rows = config.rows[sum], columns = config.rowBytes[sum] / 4;
  int groups = config.rowBytes[lhs] / 4;
  if (rows != config.rows[lhs] || groups != config.rows[rhs] ||
      config.rowBytes[sum] != config.rowBytes[rhs] ||
      config.rowBytes[sum] % 4 || config.rowBytes[lhs] % 4)
    return false;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      switch (inst.op) {
      case AmxOp::Tdpbf16ps:
        setElement(sum, row, column,
                   addBf16(sum, lhs, rhs, row, column, groups));
        break;
      case AmxOp::Tdpbssd:
        setElement(
            sum, row, column,
            addBytes<int8_t, int8_t>(sum, lhs, rhs, row, column, groups));
        break;
      case AmxOp::Tdpbsud:
        setElement(
            sum, row, column,
            addBytes<int8_t, uint8_t>(sum, lhs, rhs, row, column, groups));
        break;
      case AmxOp::Tdpbusd:
        setElement(
            sum, row, column,
            addBytes<uint8_t, int8_t>(sum, lhs, rhs, row, column, groups));
        break;
      default:
        setElement(
            sum, row, column,
            addBytes<uint8_t, uint8_t>(sum, lhs, rhs, row, column, groups));
      }
  // Rows behind the configured ones become zero.
  for (int row = rows; row < kMaxRows; ++row)
    std::memset(registers.tiles[sum][row], 0, kMaxBytes);
  return true;
}

bool execute(const Instruction &inst) {
  Config &config = registers.config;
  bool isConfigured = config.palette != 0 && config.rows[inst.reg] != 0;
  auto &tile = registers.tiles[inst.reg];
  int rows = config.rows[inst.reg], bytes = config.rowBytes[inst.reg];
  switch (inst.op) {
  case AmxOp::Ldtilecfg: {
    Config next;
    std::memcpy(&next, inst.address, sizeof(next));
    if (!isValid(next))
      return false;
    std::memset(&registers, 0, sizeof(registers));
    if (next.palette)
      config = next;
    return true;
  }
  case AmxOp::Sttilecfg:
    std::memcpy(inst.address, &config, sizeof(config));
    return true;
  case AmxOp::Tilerelease:
    std::memset(&registers, 0, sizeof(registers));
    return true;
  case AmxOp::Tilezero:
    if (isConfigured)
      std::memset(tile, 0, sizeof(tile));
    return isConfigured;
  case AmxOp::Tileloadd:
  case AmxOp::Tileloaddt1:
    if (!isConfigured)
      return false;
    std::memset(tile, 0, sizeof(tile));
    for (int row = 0; row < rows; ++row)
      std::memcpy(tile[row], inst.address + row * inst.stride, bytes);
    return true;
  case AmxOp::Tilestored:
    if (!isConfigured)
      return false;
    for (int row = 0; row < rows; ++row)
      std::memcpy(inst.address + row * inst.stride, tile[row], bytes);
    return true;
  default:
    return isConfigured && multiply(inst);
  }
}

/// Writes the bytes of an instruction that is not executed.
void report(const uint8_t *at) {
  constexpr char kDigits[] = "0123456789abcdef";
  char text[] = "AMX emulator: not executed: ........................\n";
  char *end = text + sizeof(text) - 2 - 24;
  for (int i = 0; i < 12; ++i) {
    *end++ = kDigits[at[i] >> 4];
    *end++ = kDigits[at[i] & 15];
  }
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
    return;
}

void onIllegalInstruction(int, siginfo_t *, void *state) {
  greg_t *gregs = static_cast<ucontext_t *>(state)->uc_mcontext.gregs;
  Instruction inst;
  if (Decoder(gregs).decode(inst) && execute(inst)) {
    counts[static_cast<int>(inst.op)].fetch_add(1, std::memory_order_relaxed);
    gregs[REG_RIP] += inst.length;
    return;
  }
  report(reinterpret_cast<const uint8_t *>(gregs[REG_RIP]));
  // Meets the instruction again, without this handler.
  sigaction(SIGILL, &previous, nullptr);
}

} // namespace

AmxEmulator::AmxEmulator() {
  for (std::atomic<uint64_t> &count : counts)
    count.store(0);
  struct sigaction action = {};
  action.sa_sigaction = onIllegalInstruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &previous);
}

AmxEmulator::~AmxEmulator() { sigaction(SIGILL, &previous, nullptr); }

uint64_t AmxEmulator::count(AmxOp op) const {
  return counts[static_cast<int>(op)].load();
}

} // namespace terrazzo::test
