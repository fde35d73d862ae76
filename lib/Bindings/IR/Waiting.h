//===- Waiting.h - Long work that Ctrl-C can leave --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_IR_WAITING_H
#define TERRAZZO_BINDINGS_IR_WAITING_H

#include <atomic>
#include <cstdint>
#include <functional>

namespace terrazzo::bindings {

/// Becomes non-zero when nobody waits for the work any more.
using StopFlag = std::atomic<int32_t>;

/// Runs `work` on a thread of its own. This one waits without the GIL and lets
/// Python's signal handlers run meanwhile. If one of them raises, the work is
/// told to stop and left to itself, and the exception is thrown from here; so
/// `work` must own all that it touches, and touch no Python object.
void interruptibly(std::function<void(const StopFlag &)> work);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_IR_WAITING_H
