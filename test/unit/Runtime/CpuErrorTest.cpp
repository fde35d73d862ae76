//===- CpuErrorTest.cpp - What the CPU driver refuses, and how ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "terrazzo/Runtime/Cpu.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

static Error loadError(const Artifact &artifact) {
  return errorOf([&] { openDriver("cpu")->load(0, artifact); });
}

static bool contains(const Error &error, const std::string &text) {
  return error.message().find(text) != std::string::npos;
}

TEST(CpuError, otherTarget) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.target = "cuda";
  Error error = loadError(artifact);
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_EQ(error.message(),
            "load of kernel 'empty' by driver 'cpu': expected an artifact for "
            "target 'cpu', found one for 'cuda'; compile the kernel for this "
            "driver");
}

TEST(CpuError, missingFeatures) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.chip = "futurelake+avx4096+telepathy";
  Error error = loadError(artifact);
  EXPECT_EQ(error.status(), Status::WrongArchitecture);
  EXPECT_TRUE(contains(error, "wrong architecture")) << error.message();
  EXPECT_TRUE(contains(error, "'avx4096', 'telepathy'")) << error.message();
}

#if defined(__x86_64__)
TEST(CpuError, presentFeatures) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.chip = "x86-64+sse2";
  EXPECT_EQ(loadError(artifact).status(), Status::Ok);
}
#endif

TEST(CpuError, otherMachine) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.code[18] = 243; // RISC-V
  artifact.code[19] = 0;
  Error error = loadError(artifact);
  EXPECT_EQ(error.status(), Status::WrongArchitecture);
  EXPECT_TRUE(contains(error, "found 243")) << error.message();
}

TEST(CpuError, noObject) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.code = {1, 2, 3};
  EXPECT_EQ(loadError(artifact).status(), Status::InvalidArgument);
  EXPECT_TRUE(contains(loadError(artifact), "expected an ELF object"));
}

TEST(CpuError, missingEntry) {
  Error error = loadError(makeArtifact("absent", ""));
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_TRUE(contains(error, "absent")) << error.message();
}

TEST(CpuError, foreignSymbol) {
  Artifact artifact = makeArtifact("unresolved", "p");
  artifact.code = readObject("unresolved");
  Error error = loadError(artifact);
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_TRUE(contains(error, "getenv")) << error.message();
  // A failed load leaves nothing behind that disturbs the next one.
  EXPECT_EQ(loadError(makeArtifact("empty", "")).status(), Status::Ok);
}

TEST(CpuError, truncatedObject) {
  Artifact whole = makeArtifact("empty", "");
  for (size_t size = 64; size < whole.code.size(); size += 97) {
    Artifact artifact = whole;
    artifact.code.resize(size);
    EXPECT_NE(loadError(artifact).status(), Status::Ok) << size;
  }
}

TEST(CpuError, tooMuchStack) {
  Artifact artifact = makeArtifact("empty", "");
  artifact.stackBytes = kMaxProgramStack + 1;
  Error error = loadError(artifact);
  EXPECT_EQ(error.status(), Status::OutOfResources);
  EXPECT_TRUE(contains(error, "1073741825")) << error.message();
  EXPECT_TRUE(contains(error, "at most 1073741824")) << error.message();
}

TEST(CpuError, failedAssertion) {
  Artifact artifact = makeArtifact("check", "l");
  artifact.lines = {{7, "kernel.py", 42, 5, "x must be positive"}};
  artifact.metadata["name"] = "my_kernel";
  std::shared_ptr<Kernel> kernel = openDriver("cpu")->load(0, artifact);
  for (int threads : {1, 4}) {
    Threads setting(threads);
    int64_t bad = 17;
    Error error = errorOf([&] { launch(*kernel, {4, 5, 6}, bad); });
    EXPECT_EQ(error.status(), Status::AssertionFailed);
    EXPECT_EQ(error.message(),
              "launch of kernel 'my_kernel': device assertion failed at "
              "kernel.py:42: x must be positive (program 1, 4, 0)");
    ASSERT_NE(error.assertion(), nullptr);
    EXPECT_EQ(error.assertion()->kernel, "my_kernel");
    EXPECT_EQ(error.assertion()->file, "kernel.py");
    EXPECT_EQ(error.assertion()->line, 42u);
    EXPECT_EQ(error.assertion()->text, "x must be positive");
    EXPECT_EQ(error.assertion()->pid, (std::array<int32_t, 3>{1, 4, 0}));
    bad = -1;
    launch(*kernel, {4, 5, 6}, bad);
  }
}

TEST(CpuError, failedAssertionWithoutLineTable) {
  auto kernel = loadKernel("check", "l");
  int64_t bad = 0;
  EXPECT_EQ(errorOf([&] { launch(*kernel, {1, 1, 1}, bad); }).message(),
            "launch of kernel 'check': device assertion failed (program 0, 0, "
            "0)");
}

TEST(CpuError, threadCounts) {
  EXPECT_EQ(errorOf([] { setCpuThreads(-1); }).status(),
            Status::InvalidArgument);
  EXPECT_EQ(errorOf([] { setCpuThreads(100000); }).status(),
            Status::InvalidArgument);
  EXPECT_GE(cpuThreads(), 1);
}

TEST(CpuError, threadVariable) {
  const char *text = getenv("TERRAZZO_NUM_THREADS");
  std::string saved = text ? text : "";
  setenv("TERRAZZO_NUM_THREADS", "many", 1);
  Error error = errorOf([] { openCpu(""); });
  EXPECT_EQ(error.status(), Status::InvalidArgument);
  EXPECT_EQ(error.message(), "open driver 'cpu': expected TERRAZZO_NUM_THREADS "
                             "to be a number from 1 to 1024, found 'many'");
  setenv("TERRAZZO_NUM_THREADS", "3", 1);
  setCpuThreads(0);
  EXPECT_EQ(cpuThreads(), 3);
  if (text)
    setenv("TERRAZZO_NUM_THREADS", saved.c_str(), 1);
  else
    unsetenv("TERRAZZO_NUM_THREADS");
  setCpuThreads(0);
}
