//===- DriverConformance.h - What every driver must do -----------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver that runs kernels brings an artifact of `add` (x, y, out, n; blocks
// of 64); the null driver only proves the contract around it.
// CpuConformance.cpp and GpuConformance.cpp name the drivers.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_RUNTIME_DRIVERCONFORMANCE_H
#define TERRAZZO_TEST_UNIT_RUNTIME_DRIVERCONFORMANCE_H

#include "TestKernels.h"

#include <gtest/gtest.h>
#include <ostream>

namespace terrazzo::test {

struct Subject {
  std::string label;
  /// What to open it by.
  std::string driver;
  /// It executes; otherwise launches have no effect.
  bool runs;
  Artifact (*add)();
};

inline void PrintTo(const Subject &subject, std::ostream *out) {
  *out << subject.label;
}

class DriverConformance : public testing::TestWithParam<Subject> {
protected:
  void SetUp() override {
    // Only where there is no such device is there nothing to test.
    try {
      driver = runtime::openDriver(GetParam().driver);
    } catch (const runtime::Error &error) {
      if (error.status() != runtime::Status::NoLibrary &&
          error.status() != runtime::Status::NoDevice)
        throw;
      GTEST_SKIP() << error.message();
    }
  }

  std::shared_ptr<runtime::Driver> driver;

  /// Device memory with these values.
  template <typename T>
  T *upload(const std::vector<T> &values) {
    void *memory = driver->alloc(0, values.size() * sizeof(T));
    driver->copy(0, memory, values.data(), values.size() * sizeof(T), nullptr);
    return static_cast<T *>(memory);
  }
  template <typename T>
  std::vector<T> download(const T *memory, size_t count) {
    std::vector<T> values(count);
    driver->copy(0, values.data(), memory, count * sizeof(T), nullptr);
    return values;
  }
};

inline std::string labelOf(const testing::TestParamInfo<Subject> &info) {
  return info.param.label;
}

} // namespace terrazzo::test

#endif // TERRAZZO_TEST_UNIT_RUNTIME_DRIVERCONFORMANCE_H
