//===- TestKernels.h - Artifacts for the runtime's tests ---------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_TESTKERNELS_H
#define TERRAZZO_TEST_UNIT_RUNTIME_TESTKERNELS_H

#include "terrazzo/Runtime/Driver.h"

#include <string>
#include <vector>

namespace terrazzo::test {

/// The bytes of an object that the build made of NAME.c.
std::vector<uint8_t> readObject(const std::string &name);

/// An artifact for the CPU: `entry` of kernels.c, with one parameter for each
/// letter of `types`: p(ointer) i(32) l(i64) b(i1) c(i8) f(32) d(f64) h(f16)
/// g(bf16).
Artifact makeArtifact(const std::string &entry, const std::string &types);

/// The same, loaded by a driver.
std::shared_ptr<runtime::Kernel> loadKernel(const std::string &entry,
                                            const std::string &types,
                                            const char *driver = "cpu");

/// Launches with arguments given as lvalues.
template <typename... Args>
void launch(runtime::Kernel &kernel, runtime::Grid grid, Args &...args) {
  void *pointers[sizeof...(Args) + 1] = {
      const_cast<void *>(static_cast<const void *>(&args))...};
  kernel.launch(grid, nullptr, pointers, sizeof...(Args));
}

/// The error that an action throws; Status::Ok if it throws none.
template <typename Action>
runtime::Error errorOf(Action action) {
  try {
    action();
  } catch (const runtime::Error &error) {
    return error;
  }
  return {runtime::Status::Ok, "no error"};
}

/// Runs with a number of threads, then restores the default.
class Threads {
public:
  explicit Threads(int count);
  ~Threads();
};

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_RUNTIME_TESTKERNELS_H
