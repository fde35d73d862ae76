//===- GpuStub.cpp - What a test plans of a stand-in, and reads -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuStub.h"

// For the test, by dlsym.
#define STUB_EXPORT __attribute__((visibility("default")))
extern "C" {
/// Plans: "fail CALL" (once), "lost", "capturing", "devices", ...
STUB_EXPORT void stubSet(const char *key, long value) {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  gpu.settings[key] = value;
  if (!gpu.setting("busy", 0))
    gpu.finish();
}
/// Queues what was captured, as a launch of its graph does.
STUB_EXPORT void stubReplay() {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  for (const stub::Gpu::Work &work : gpu.graph)
    gpu.submit(work);
}
STUB_EXPORT void stubReset() {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  gpu.finish();
  gpu.graph.clear();
  gpu.settings.clear();
  gpu.violations.clear();
  gpu.counts.clear();
}
/// How often a call was made.
STUB_EXPORT long stubCount(const char *call) {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  return gpu.counts[call];
}
/// Objects and bytes that are alive.
STUB_EXPORT long stubAlive() {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  return long(gpu.streams.size() + gpu.events.size() + gpu.modules.size() +
              gpu.device.size() + gpu.host.size());
}
/// The first thing that a caller did wrong, or null.
STUB_EXPORT const char *stubViolation() {
  stub::Gpu &gpu = stub::Gpu::get();
  std::lock_guard lock(gpu.mutex);
  return gpu.violations.empty() ? nullptr : gpu.violations.front().c_str();
}
}
