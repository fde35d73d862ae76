//===- DeviceOutputTest.cpp - Device prints -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Output/DeviceOutput.h"
#include "TestKernels.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

template <typename T>
static std::string print(const std::string &format, std::vector<T> values,
                         const std::string &prefix = "x") {
  Artifact artifact;
  artifact.lines = {{1, "k.py", 1, 1, prefix}};
  artifact.metadata["print.1.0"] = format;
  return formatPrint(artifact, 1, {1, 2, 3}, 0, int32_t(values.size()),
                     values.data());
}

/// What follows "PREFIX: " in the only line.
template <typename T>
static std::string value(const std::string &format, T element) {
  std::string line = print<T>(format, {element});
  std::string head = "pid (1, 2, 3) idx () x: ";
  EXPECT_EQ(line.substr(0, head.size()), head);
  return line.substr(head.size(), line.size() - head.size() - 1);
}

TEST(DeviceOutput, indices) {
  EXPECT_EQ(print<int32_t>("i32 2x3 0", {1, 2, 3, 4, 5, 6}),
            "pid (1, 2, 3) idx (0, 0) x: 1\n"
            "pid (1, 2, 3) idx (0, 1) x: 2\n"
            "pid (1, 2, 3) idx (0, 2) x: 3\n"
            "pid (1, 2, 3) idx (1, 0) x: 4\n"
            "pid (1, 2, 3) idx (1, 1) x: 5\n"
            "pid (1, 2, 3) idx (1, 2) x: 6\n");
  EXPECT_EQ(print<int32_t>("i32 2 0", {7, 8}), "pid (1, 2, 3) idx (0) x: 7\n"
                                               "pid (1, 2, 3) idx (1) x: 8\n");
}

TEST(DeviceOutput, scalars) {
  for (const char *format : {"i32 scalar 0", "i32  0", "i32 0"})
    EXPECT_EQ(value<int32_t>(format, -5), "-5") << format;
}

TEST(DeviceOutput, prefixes) {
  for (const char *prefix : {"x", "x:", "x: ", "x "})
    EXPECT_EQ(print<int32_t>("i32 scalar 0", {1}, prefix),
              "pid (1, 2, 3) idx () x: 1\n");
  EXPECT_EQ(print<int32_t>("i32 scalar 0", {1}, ""),
            "pid (1, 2, 3) idx () 1\n");
}

TEST(DeviceOutput, integers) {
  EXPECT_EQ(value<int8_t>("i8 scalar 0", -128), "-128");
  EXPECT_EQ(value<uint8_t>("u8 scalar 0", 200), "200");
  EXPECT_EQ(value<int16_t>("i16 scalar 0", -3), "-3");
  EXPECT_EQ(value<uint16_t>("u16 scalar 0", 65535), "65535");
  EXPECT_EQ(value<uint32_t>("u32 scalar 0", 4000000000u), "4000000000");
  EXPECT_EQ(value<int64_t>("i64 scalar 0", INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(value<uint64_t>("u64 scalar 0", UINT64_MAX),
            "18446744073709551615");
  EXPECT_EQ(value<uint8_t>("i1 scalar 0", 1), "1");
}

TEST(DeviceOutput, hex) {
  EXPECT_EQ(value<int8_t>("i8 scalar 1", -1), "0xff");
  EXPECT_EQ(value<int32_t>("i32 scalar 1", 255), "0x000000ff");
  EXPECT_EQ(value<float>("f32 scalar 1", 1.0f), "0x3f800000");
  EXPECT_EQ(value<uint64_t>("ptr scalar 0", 0xABC), "0x0000000000000abc");
}

TEST(DeviceOutput, floats) {
  EXPECT_EQ(value<float>("f32 scalar 0", 0.1f), "0.1");
  EXPECT_EQ(value<float>("f32 scalar 0", -2.0f), "-2");
  EXPECT_EQ(value<double>("f64 scalar 0", 1e300), "1e+300");
  EXPECT_EQ(
      value<float>("f32 scalar 0", std::numeric_limits<float>::infinity()),
      "inf");
  EXPECT_EQ(
      value<float>("f32 scalar 0", -std::numeric_limits<float>::quiet_NaN()),
      "nan");
  EXPECT_EQ(value<uint16_t>("f16 scalar 0", 0x3C00), "1");
  EXPECT_EQ(value<uint16_t>("f16 scalar 0", 0x0001), "5.9604645e-08");
  EXPECT_EQ(value<uint16_t>("bf16 scalar 0", 0xC040), "-3");
}

TEST(DeviceOutput, damagedMetadata) {
  EXPECT_NE(print<int>("q7 scalar 0", {1}).find("unknown type 'q7'"),
            std::string::npos);
  EXPECT_NE(formatPrint({}, 9, {0, 0, 0}, 0, 1, "").find("no format"),
            std::string::npos);
}

/// What an action writes to file descriptor 1.
template <typename Action>
static std::string captured(Action action) {
  std::fflush(stdout);
  int saved = dup(1);
  FILE *file = std::tmpfile();
  dup2(fileno(file), 1);
  action();
  std::fflush(stdout);
  dup2(saved, 1);
  close(saved);
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;)
    text += char(c);
  std::fclose(file);
  return text;
}

TEST(DeviceOutput, kernelsPrintWholeLines) {
  Artifact artifact = makeArtifact("print", "pi");
  artifact.lines = {{3, "k.py", 1, 1, "v"}, {4, "k.py", 2, 1, "here"}};
  artifact.metadata = {{"print.3.0", "f32 2x3 0"},
                       {"print.3.1", "i32 scalar 0"}};
  std::shared_ptr<Kernel> kernel = openDriver("cpu")->load(0, artifact);
  std::vector<float> values{0.5f, 1, 2, 3, 4, 5};
  float *data = values.data();
  int32_t i = 77;
  Threads setting(4);
  std::string text = captured([&] { launch(*kernel, {200, 1, 1}, data, i); });
  std::istringstream lines(text);
  std::map<std::string, int> seen;
  for (std::string line; std::getline(lines, line);)
    ++seen[line];
  EXPECT_EQ(seen.size(), 200u * 8);
  for (auto [line, count] : seen)
    EXPECT_EQ(count, 1) << line;
  EXPECT_EQ(seen["pid (13, 0, 0) idx (0, 0) v: (operand 0) 0.5"], 1);
  EXPECT_EQ(seen["pid (199, 0, 0) idx (1, 2) v: (operand 0) 5"], 1);
  EXPECT_EQ(seen["pid (0, 0, 0) idx () v: (operand 1) 77"], 1);
  EXPECT_EQ(seen["pid (0, 0, 0) idx () here"], 1);
}

TEST(DeviceOutput, comesAfterWhatWasPrintedBefore) {
  Artifact artifact = makeArtifact("print", "pi");
  std::shared_ptr<Kernel> kernel = openDriver("cpu")->load(0, artifact);
  std::vector<float> values(6);
  float *data = values.data();
  int32_t i = 0;
  std::string text = captured([&] {
    std::printf("before\n");
    launch(*kernel, {1, 1, 1}, data, i);
    std::printf("after\n");
  });
  EXPECT_EQ(text.find("before"), 0u) << text;
  EXPECT_EQ(text.rfind("after\n"), text.size() - 6) << text;
}
