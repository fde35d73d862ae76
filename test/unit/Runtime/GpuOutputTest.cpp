//===- GpuOutputTest.cpp - Records of prints and assertions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Output/GpuOutput.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>
#include <vector>

using namespace terrazzo;
using namespace terrazzo::runtime;

namespace {

constexpr uint32_t kWords = 64;

class GpuOutputTest : public testing::Test {
protected:
  GpuOutputTest() {
    artifact.lines = {{0, "k.py", 1, 1, "x"}, {1, "k.py", 2, 1, "wrong"}};
    resetOutput(buffer, kWords);
  }

  /// What a kernel does to print.
  template <typename T>
  void print(int32_t operand, int32_t pid, uint32_t first,
             std::vector<T> values) {
    uint32_t payload = (values.size() * sizeof(T) + 3) / 4;
    uint32_t at = buffer[0];
    buffer[0] += kRecordHead + payload;
    if (at + kRecordHead + payload > buffer[1])
      return;
    uint32_t head[] = {0,     uint32_t(operand),       uint32_t(pid), 0, 0,
                       first, uint32_t(values.size()), sizeof(T)};
    std::memcpy(buffer + at, head, sizeof(head));
    std::memcpy(buffer + at + kRecordHead, values.data(),
                values.size() * sizeof(T));
  }
  GpuOutput take() { return takeOutput(artifact, "k", buffer, kWords); }

  Artifact artifact;
  uint32_t buffer[kWords];
};

TEST_F(GpuOutputTest, nothing) {
  EXPECT_FALSE(hasOutput(buffer));
  GpuOutput output = take();
  EXPECT_EQ(output.text, "");
  EXPECT_EQ(output.lost, 0u);
  EXPECT_FALSE(output.failure);
}

TEST_F(GpuOutputTest, aPrintOfNothing) {
  print<uint8_t>(-1, 2, 0, {});
  EXPECT_TRUE(hasOutput(buffer));
  EXPECT_EQ(take().text, "pid (2, 0, 0) idx () x\n");
  EXPECT_FALSE(hasOutput(buffer));
}

TEST_F(GpuOutputTest, putsThreadsTogether) {
  artifact.metadata["print.0.0"] = "i16 2x3 0";
  print<int16_t>(0, 0, 3, {3, 4, 5});
  print<int16_t>(0, 0, 0, {0, 1, 2});
  EXPECT_EQ(take().text, "pid (0, 0, 0) idx (0, 0) x: 0\n"
                         "pid (0, 0, 0) idx (0, 1) x: 1\n"
                         "pid (0, 0, 0) idx (0, 2) x: 2\n"
                         "pid (0, 0, 0) idx (1, 0) x: 3\n"
                         "pid (0, 0, 0) idx (1, 1) x: 4\n"
                         "pid (0, 0, 0) idx (1, 2) x: 5\n");
}

TEST_F(GpuOutputTest, keepsIterationsApart) {
  artifact.metadata["print.0.0"] = "i32 2 0";
  // The first thread is an iteration ahead of the second.
  print<int32_t>(0, 0, 0, {10});
  print<int32_t>(0, 0, 0, {20});
  print<int32_t>(0, 0, 1, {11});
  print<int32_t>(0, 0, 1, {21});
  EXPECT_EQ(take().text, "pid (0, 0, 0) idx (0) x: 10\n"
                         "pid (0, 0, 0) idx (1) x: 11\n"
                         "pid (0, 0, 0) idx (0) x: 20\n"
                         "pid (0, 0, 0) idx (1) x: 21\n");
}

TEST_F(GpuOutputTest, keepsProgramsAndOperandsApart) {
  artifact.metadata["print.0.0"] = "i32 scalar 0";
  artifact.metadata["print.0.1"] = "f64 scalar 0";
  print<int32_t>(0, 1, 0, {1});
  print<int32_t>(0, 0, 0, {2});
  print<double>(1, 1, 0, {0.5});
  EXPECT_EQ(take().text, "pid (1, 0, 0) idx () x: (operand 0) 1\n"
                         "pid (0, 0, 0) idx () x: (operand 0) 2\n"
                         "pid (1, 0, 0) idx () x: (operand 1) 0.5\n");
}

TEST_F(GpuOutputTest, showsWhatIsThereOfAnOperand) {
  artifact.metadata["print.0.0"] = "i32 4 0";
  print<int32_t>(0, 0, 2, {7});
  EXPECT_EQ(take().text, "pid (0, 0, 0) idx (2) x: 7\n");
}

TEST_F(GpuOutputTest, countsWhatIsLost) {
  artifact.metadata["print.0.0"] = "i32 4 0";
  for (int i = 0; i < 6; ++i)
    print<int32_t>(0, i, 0, {i, i, i, i});
  GpuOutput output = take();
  EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 16);
  EXPECT_EQ(output.lost, 96u);
  // It is empty again, and old records are not read as new ones.
  buffer[0] += 12;
  output = take();
  EXPECT_EQ(output.text, "");
  EXPECT_EQ(output.lost, 48u);
}

TEST_F(GpuOutputTest, assertions) {
  buffer[2] = 2;
  buffer[3] = 5;
  buffer[4] = 6;
  buffer[5] = 7;
  GpuOutput output = take();
  ASSERT_TRUE(output.failure);
  EXPECT_EQ(output.failure->message(),
            "launch of kernel 'k': device assertion failed at k.py:2: wrong "
            "(program 5, 6, 7)");
  EXPECT_FALSE(take().failure);
}

TEST_F(GpuOutputTest, damagedRecords) {
  artifact.metadata["print.0.0"] = "i32 2 0";
  print<int64_t>(0, 0, 0, {1});    // not the operand's size
  print<int32_t>(0, 0, 1, {1, 2}); // past its end
  print<int32_t>(3, 0, 0, {1});    // no such operand
  print<int32_t>(0, 0, 0, {42, 43});
  std::string text = take().text;
  EXPECT_NE(text.find("damaged: line id 0, operand 0, 1 elements from 0 of 8"),
            std::string::npos);
  EXPECT_NE(text.find("damaged: line id 0, operand 0, 2 elements from 1 of 4"),
            std::string::npos);
  EXPECT_NE(text.find("damaged: line id 0, operand 3"), std::string::npos);
  EXPECT_NE(text.find("idx (1) x: 43"), std::string::npos);
}

/// Launches overlap and are shown only when none runs; nothing is lost and
/// nothing is read before it is whole.
TEST_F(GpuOutputTest, launchesThatOverlap) {
  constexpr uint32_t kThreads = 4, kLaunches = 500, kMany = 1 << 18;
  std::vector<uint32_t> memory(kMany);
  artifact.metadata["print.0.0"] = "i32 1 0";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  LaunchOutput output(artifact, "k", memory.data(), kMany);
  auto run = [&](uint32_t thread) {
    for (uint32_t i = 0; i < kLaunches; ++i) {
      LaunchOutput::onBegin(&output);
      uint32_t at = std::atomic_ref(memory[0]).fetch_add(kRecordHead + 1);
      const uint32_t record[] = {0, 0, thread, 0, 0, 0, 1, 4, i};
      std::memcpy(&memory[at], record, sizeof(record));
      LaunchOutput::onEnd(&output);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(run, thread);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(output.isIdle());
  EXPECT_FALSE(output.take(false));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  std::istringstream lines(testing::internal::GetCapturedStdout());
  std::array<uint32_t, kThreads> next{};
  uint32_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    unsigned thread = kThreads, value = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "pid (%u, 0, 0) idx (0) x: %u", &thread,
                          &value),
              2)
        << line;
    ASSERT_LT(thread, kThreads);
    EXPECT_EQ(value, next[thread]++);
  }
  EXPECT_EQ(count, kThreads * kLaunches);
}

TEST_F(GpuOutputTest, keepsTheFirstAssertionUntilItIsTaken) {
  testing::internal::CaptureStderr();
  LaunchOutput output(artifact, "k", buffer, kWords);
  for (uint32_t pid : {7, 8}) {
    output.begin();
    buffer[3] = pid;
    buffer[2] = 2;
    EXPECT_TRUE(output.hasFailed());
    EXPECT_EQ(output.take(false).has_value(), pid == 8);
    output.end();
    EXPECT_TRUE(output.hasFailed());
    EXPECT_FALSE(hasOutput(buffer));
  }
  std::optional<Error> failure = output.take(false);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->assertion()->pid[0], 8);
  EXPECT_FALSE(output.hasFailed());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

} // namespace
