//===- TileRegisters.cpp - The system's leave to use AMX ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/TileRegisters.h"

#include <cerrno>
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

int terrazzo::requestTileRegisters() {
#if defined(__linux__) && defined(__x86_64__)
  // ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of the kernel's ABI.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const int refusal =
      syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? 0 : errno;
  return refusal;
#else
  return ENOSYS;
#endif
}
