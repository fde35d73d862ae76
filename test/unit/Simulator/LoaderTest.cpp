//===- LoaderTest.cpp - Code objects, right and damaged -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace terrazzo::amdsim;
using namespace terrazzo::amdsim::test;

static std::string sample(const std::string &chip = "gfx942") {
  return assemble({.chip = chip,
                   .body = ".file 1 \"/src\" \"kernel.py\"\n.loc 1 7 0\n"
                           "v_mov_b32 v1, 0\ns_nop 0",
                   .pointers = 2,
                   .ldsBytes = 512,
                   .scratchBytes = 16});
}

static void expectRefusal(const std::string &bytes, const std::string &text,
                          const std::string &chip = "") {
  try {
    CodeObject::load(bytes, chip);
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind, ErrorKind::Object);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << error.what();
  }
}

TEST(Loader, DescriptorAndMetadata) {
  for (const char *chip :
       {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"}) {
    auto object = CodeObject::load(sample(chip), chip);
    EXPECT_EQ(object->chip(), chip);
    const KernelInfo &kernel = object->kernel("kernel");
    EXPECT_EQ(kernel.ldsBytes, 512u);
    EXPECT_EQ(kernel.scratchBytes, 16u);
    EXPECT_EQ(kernel.kernargBytes, 16u);
    EXPECT_EQ(kernel.waveSize, chip[3] == '9' ? 64u : 32u);
    EXPECT_GE(kernel.vgprs, 64u);
    ASSERT_EQ(kernel.arguments.size(), 2u);
    EXPECT_EQ(kernel.arguments[1].offset, 8u);
    EXPECT_EQ(kernel.arguments[1].name, "p1");
    EXPECT_EQ(object->lineOf(kernel.entry).line, 7u);
  }
}

TEST(Loader, ForeignFiles) {
  std::string good = sample();
  expectRefusal("", "expected an ELF file, found 0 bytes");
  expectRefusal("no object at all", "expected an ELF file");
  expectRefusal(good, "expected code for gfx90a, found code for gfx942",
                "gfx90a");
  std::string machine = good, abi = good, version = good;
  machine[18] = 62;
  expectRefusal(machine, "found machine 62");
  abi[7] = 0;
  expectRefusal(abi, "expected the ABI amdhsa");
  version[8] = 2;
  expectRefusal(version, "expected code object version 5");
}

TEST(Loader, KernelThatIsNotThere) {
  auto object = CodeObject::load(sample());
  EXPECT_THROW(object->kernel("other"), Error);
}

TEST(Loader, TruncatedFiles) {
  std::string good = sample();
  for (size_t size = 0; size < good.size(); size += 7) {
    // The sections' headers are last, and symbols are found by them.
    EXPECT_THROW(Simulator(CodeObject::load({good.data(), size}), "kernel"),
                 Error)
        << size << " bytes";
  }
}

namespace {
/// Damages a file at a few places, in ways that reach far into readers.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}
  std::string mutate(std::string bytes) {
    unsigned count = 1 + random() % 4;
    for (unsigned i = 0; i < count; ++i)
      change(bytes);
    if (random() % 16 == 0)
      bytes.resize(random() % bytes.size());
    return bytes;
  }

private:
  void change(std::string &bytes) {
    // Half of the changes hit the headers in front.
    size_t range =
        random() % 2 ? std::min<size_t>(bytes.size(), 2048) : bytes.size();
    size_t at = random() % range;
    static const uint64_t kValues[] = {
        0, 1, 0x7fffffff, 0xffffffff, ~0ull, 0x8000000000000000ull, 64, 4096};
    uint64_t value =
        random() % 2 ? kValues[random() % std::size(kValues)] : random();
    size_t width = size_t(1) << random() % 4;
    std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
  }
  std::mt19937_64 random;
};
} // namespace

/// Loads, decodes and, where it still can, runs damaged objects: what comes out
/// is a result or an Error.
TEST(Loader, MutatedObjects) {
  uint64_t seed = 20260101;
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  Mutator mutator(seed);
  std::vector<std::string> samples;
  for (const char *chip : {"gfx942", "gfx1100", "gfx1201"})
    samples.push_back(sample(chip));
  std::vector<uint32_t> data(64);
  MemoryMap memory;
  memory.add(data.data(), data.size() * 4, "data");
  std::string arguments(16, '\0');
  unsigned errors = 0, runs = 0;
  auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < 10000; ++i) {
    std::string bytes = mutator.mutate(samples[i % samples.size()]);
    try {
      Simulator simulator(CodeObject::load(bytes), "kernel");
      Launch launch;
      launch.block = {64, 1, 1};
      launch.arguments = arguments;
      launch.threads = 1;
      launch.stepLimit = 1000;
      simulator.run(launch, memory);
      ++runs;
    } catch (const Error &) {
      ++errors;
    }
    // Bounds the test on slow machines; which objects come is the same.
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60))
      break;
  }
  EXPECT_GT(errors, 100u);
  EXPECT_GT(runs, 100u);
}
