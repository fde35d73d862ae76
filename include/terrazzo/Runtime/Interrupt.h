//===- Interrupt.h - Stopping launches from outside --------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_INTERRUPT_H
#define TERRAZZO_RUNTIME_INTERRUPT_H

#include <atomic>
#include <cstdint>

namespace terrazzo::runtime {

/// The cancel flag of the launch that this thread makes. Each thread has one,
/// so a stopped launch never stops a later one and a launch costs two stores.
class CancelScope {
public:
  CancelScope();
  ~CancelScope();
  CancelScope(const CancelScope &) = delete;
  CancelScope &operator=(const CancelScope &) = delete;

  /// Becomes non-zero when the launch is to stop.
  std::atomic<int32_t> &flag() { return *value; }

private:
  std::atomic<int32_t> *value;
};

/// Stops the launches that run now, in all threads. Safe in a signal handler.
void cancelLaunches();

/// Makes SIGINT call cancelLaunches and then the handler that was there. Cheap
/// to repeat; renews itself if another handler took its place meanwhile. Does
/// nothing where SIGINT is ignored. Throws if the system refuses.
void installInterruptHandler();

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_INTERRUPT_H
