//===- AmxEmulator.h - Executes AMX instructions in software -----*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a processor without AMX its instructions are undefined: they raise SIGILL.
// While an emulator lives, a handler decodes and executes them, on registers
// that each thread has of its own, by Intel's manual, volume 2. What it does
// not know ends the process, as it would without.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_AMX_AMXEMULATOR_H
#define TERRAZZO_TEST_UNIT_AMX_AMXEMULATOR_H

#include <cstdint>

namespace terrazzo::test {

enum class AmxOp {
  Ldtilecfg,
  Sttilecfg,
  Tilerelease,
  Tilezero,
  Tileloadd,
  Tileloaddt1,
  Tilestored,
  Tdpbf16ps,
  Tdpbssd,
  Tdpbsud,
  Tdpbusd,
  Tdpbuud,
  Count
};

class AmxEmulator {
public:
  AmxEmulator();
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator &) = delete;
  AmxEmulator &operator=(const AmxEmulator &) = delete;

  /// How often an instruction was executed, by all threads, since the emulator
  /// was made.
  uint64_t count(AmxOp op) const;
};

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_AMX_AMXEMULATOR_H
