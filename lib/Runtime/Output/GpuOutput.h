//===- GpuOutput.h - What kernels on a GPU print and assert -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel whose artifact has a line table takes one more parameter, the last:
// a pointer to a buffer of 32-bit words that host and device see.
//
//   [0]     the next free word; starts at 8, the kernel advances it atomically
//   [1]     the number of words
//   [2]     0, or the line id of a failed assertion plus 1
//   [3..5]  the program that failed
//   [6..7]  reserved
//   [8..]   records of prints
//
// A record is {line id, operand or -1, pid0, pid1, pid2, index of its first
// element, number of elements, bytes of an element} and the elements, packed
// and filled up to a word. The kernel drops a record that does not fit but
// advances [0] all the same, so that the loss is seen.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_RUNTIME_OUTPUT_GPUOUTPUT_H
#define TERRAZZO_LIB_RUNTIME_OUTPUT_GPUOUTPUT_H

#include "terrazzo/Runtime/Error.h"
#include "terrazzo/Support/Artifact.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace terrazzo::runtime {

/// The words before the first record, and those of a record's head.
inline constexpr uint32_t kOutputHead = 8, kRecordHead = 8;

/// Empties a buffer of `words` words.
void resetOutput(volatile uint32_t *buffer, uint32_t words);

/// Whether an assertion of a kernel has failed.
inline bool hasFailed(const volatile uint32_t *buffer) {
  return buffer[2] != 0;
}

/// Whether a kernel has written anything.
inline bool hasOutput(const volatile uint32_t *buffer) {
  return buffer[0] != kOutputHead || hasFailed(buffer);
}

/// What a buffer holds.
struct GpuOutput {
  std::string text;  ///< the lines of the prints
  uint64_t lost = 0; ///< bytes that did not fit
  std::optional<Error> failure;
};

/// Reads a buffer that no kernel writes to any more, and empties it. The
/// records of one operand of one print, which come from different threads, are
/// put together by element.
GpuOutput takeOutput(const Artifact &artifact, const std::string &kernel,
                     volatile uint32_t *buffer, uint32_t words);

/// The buffer of one kernel, and the launches that may write to it. The driver
/// calls the host functions in the order of a stream, from a thread of its own;
/// they make no call of the driver, and no call of the driver is made while
/// the lock is held, so they never wait for the device. When the last launch
/// has finished, what the buffer holds is shown, and a failed assertion is kept
/// until somebody takes it.
class LaunchOutput {
public:
  /// Empties the buffer. It and this object have to stay until no launch is
  /// counted, for ever if a graph has one.
  LaunchOutput(const Artifact &artifact, std::string kernel,
               volatile uint32_t *buffer, uint32_t words);

  /// Counts a launch: when it is queued, or when one of a graph begins.
  void begin();
  /// One of them has finished.
  void end() noexcept;
  /// The same as host functions; `output` is a LaunchOutput.
  static void onBegin(void *output);
  static void onEnd(void *output);

  bool isIdle();
  /// Whether an assertion has failed, maybe of a launch that still runs.
  bool hasFailed();
  /// Takes the assertion that failed. Shows what is left in the buffer, if no
  /// launch is counted or `allDone`: the device never runs anything again.
  std::optional<Error> take(bool allDone);
  /// From now on nobody takes assertions: they are shown as errors.
  void abandon();

private:
  void show();

  Artifact artifact; ///< without what prints do not need
  const std::string kernel;
  volatile uint32_t *const buffer;
  const uint32_t words;

  std::mutex mutex;
  uint64_t count = 0; ///< of launches that may run
  std::optional<Error> failure;
  bool isAbandoned = false;
};

/// The number of words of a buffer: TERRAZZO_PRINT_BUFFER bytes, or 1 MiB.
/// Throws if that is set to no such number.
uint32_t outputWords();

} // namespace terrazzo::runtime

#endif // TERRAZZO_LIB_RUNTIME_OUTPUT_GPUOUTPUT_H
