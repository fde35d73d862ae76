//===- AmxHost.h - A host with AMX, real or emulated -------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_AMX_AMXHOST_H
#define TERRAZZO_TEST_UNIT_AMX_AMXHOST_H

#include "AmxEmulator.h"
#include "Runtime/Cpu/Host.h"

#include <csignal>
#include <optional>

namespace terrazzo::test {

/// While it lives, kernels that need AMX are loaded and run: by the processor
/// if it can, else by the emulator, which the driver then takes for a host.
class AmxHost {
public:
  AmxHost() : saved(runtime::cpuHost()) {
    hasFeature = saved.hasFeature;
    if (saved.hasFeature("amx-tile") && saved.requestTileRegisters() == 0)
      return;
    emulator.emplace();
    runtime::cpuHost() = {[](std::string_view feature) {
                            return feature.starts_with("amx-") ||
                                   hasFeature(feature);
                          },
                          [] { return 0; }};
  }
  ~AmxHost() { runtime::cpuHost() = saved; }

  /// Nothing if the processor has AMX.
  std::optional<AmxEmulator> emulator;

private:
  runtime::CpuHost saved;
  static inline bool (*hasFeature)(std::string_view) = nullptr;
};

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_AMX_AMXHOST_H
