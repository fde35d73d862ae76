//===- TileRegisters.h - The system's leave to use AMX -----------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_SUPPORT_TILEREGISTERS_H
#define TERRAZZO_SUPPORT_TILEREGISTERS_H

namespace terrazzo {

/// Asks Linux to let this process, with all its threads, use AMX's tile
/// registers; it is asked once. Returns 0, or the errno of the refusal.
int requestTileRegisters();

} // namespace terrazzo

#endif // TERRAZZO_SUPPORT_TILEREGISTERS_H
