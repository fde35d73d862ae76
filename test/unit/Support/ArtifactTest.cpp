//===- ArtifactTest.cpp - Artifacts as bytes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Support/Artifact.h"
#include "terrazzo/Support/Checksum.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace terrazzo;

static Artifact example() {
  Artifact artifact;
  artifact.target = "cpu";
  artifact.chip = "znver4+avx2+fma";
  artifact.entry = "add_kernel";
  artifact.code = {0x7F, 'E', 'L', 'F', 0, 1, 2, 255};
  artifact.stages = {{"llir", "define void @f()"},
                     {"tile", std::string("\0x", 2)}};
  artifact.sharedBytes = 49152;
  artifact.threadsPerBlock = 128;
  artifact.registers = 96;
  artifact.spills = 4;
  artifact.stackBytes = uint64_t(5) << 32;
  artifact.args = {{ArgInfo::Pointer, 8, "x", "ptr<f32>", true},
                   {ArgInfo::Int, 1, "flag", "i1", false},
                   {ArgInfo::Float, 2, "scale", "bf16", false}};
  artifact.tensorMaps = {{2,
                          "f16",
                          {{1, {0, 1}, 8}, {3, {}, 4}},
                          {{-2, {1}, 4}},
                          {64, 128},
                          128,
                          true}};
  artifact.lines = {{7, "kernel.py", 12, 3, "x must be positive"}};
  artifact.metadata = {{"name", "add"}, {"print.7.0", "f32 4x8 0"}};
  return artifact;
}

/// Parses; on success the bytes must be exactly what would be written.
static bool accepts(const std::vector<uint8_t> &bytes) {
  Artifact artifact;
  std::string error;
  // An exact-size copy, so that a sanitizer sees a read past the end.
  std::vector<uint8_t> copy(bytes);
  copy.shrink_to_fit();
  bool isValid = deserializeArtifact(copy.data(), copy.size(), artifact, error);
  EXPECT_EQ(isValid, error.empty()) << error;
  if (isValid) {
    EXPECT_EQ(serializeArtifact(artifact), bytes);
  }
  return isValid;
}

TEST(Artifact, roundTrips) {
  Artifact from = example(), to;
  std::string error;
  std::vector<uint8_t> bytes = serializeArtifact(from);
  ASSERT_TRUE(deserializeArtifact(bytes.data(), bytes.size(), to, error))
      << error;
  EXPECT_EQ(to.target, from.target);
  EXPECT_EQ(to.chip, from.chip);
  EXPECT_EQ(to.entry, from.entry);
  EXPECT_EQ(to.code, from.code);
  EXPECT_EQ(to.stages, from.stages);
  EXPECT_EQ(to.metadata, from.metadata);
  EXPECT_EQ(to.stackBytes, from.stackBytes);
  ASSERT_EQ(to.args.size(), 3u);
  EXPECT_EQ(to.args[2].name, "scale");
  EXPECT_EQ(to.args[2].kind, ArgInfo::Float);
  EXPECT_TRUE(to.args[0].written);
  ASSERT_EQ(to.tensorMaps.size(), 1u);
  EXPECT_EQ(to.tensorMaps[0].shape[0].args, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(to.tensorMaps[0].strides[0].factor, -2);
  EXPECT_TRUE(to.tensorMaps[0].isNanOutside);
  ASSERT_EQ(to.lines.size(), 1u);
  EXPECT_EQ(to.lines[0].text, "x must be positive");
  EXPECT_EQ(serializeArtifact(to), bytes);
}

TEST(Artifact, emptyRoundTrips) {
  EXPECT_TRUE(accepts(serializeArtifact(Artifact())));
}

TEST(Artifact, rejectsTruncationAtEachByte) {
  std::vector<uint8_t> bytes = serializeArtifact(example());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(accepts({bytes.begin(), bytes.begin() + size})) << size;
}

TEST(Artifact, rejectsExtraBytes) {
  std::vector<uint8_t> bytes = serializeArtifact(example());
  bytes.push_back(0);
  EXPECT_FALSE(accepts(bytes));
}

TEST(Artifact, rejectsEachBitFlip) {
  std::vector<uint8_t> bytes = serializeArtifact(example());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(accepts(bytes)) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(Artifact, rejectsRandomDamage) {
  std::mt19937 random(1);
  std::vector<uint8_t> original = serializeArtifact(example());
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes = original;
    for (int n = 1 + random() % 8; n; --n)
      bytes[random() % bytes.size()] ^= 1 + random() % 255;
    if (bytes != original) {
      EXPECT_FALSE(accepts(bytes));
    }
  }
}

TEST(Artifact, rejectsNoise) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> bytes(random() % 300);
    for (uint8_t &byte : bytes)
      byte = random();
    EXPECT_FALSE(accepts(bytes));
  }
}

/// Damage behind a checksum that was made to match: the reader of the fields
/// itself must cope with anything. It may accept what is well-formed.
TEST(Artifact, fieldsSurviveDamageBehindAValidChecksum) {
  std::mt19937 random(3);
  std::vector<uint8_t> original = serializeArtifact(example());
  constexpr size_t kHeader = 32, kChecksumAt = 24;
  uint64_t version = original[8];
  int accepted = 0, rejected = 0;
  for (int i = 0; i < 50000; ++i) {
    std::vector<uint8_t> bytes = original;
    for (int n = 1 + random() % 4; n; --n)
      bytes[kHeader + random() % (bytes.size() - kHeader)] =
          random() % 2 ? random() : 255 * (random() % 2);
    if (random() % 4 == 0)
      bytes.resize(kHeader + random() % (bytes.size() - kHeader));
    uint64_t size = bytes.size() - kHeader, seed = (version << 32) ^ size;
    uint64_t checksum = checksum64(bytes.data() + kHeader, size, seed);
    std::memcpy(&bytes[16], &size, 8);
    std::memcpy(&bytes[kChecksumAt], &checksum, 8);
    ++(accepts(bytes) ? accepted : rejected);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(rejected, 100);
}

TEST(Artifact, errorsSayWhatWasExpectedAndFound) {
  Artifact artifact;
  std::string error;
  EXPECT_FALSE(deserializeArtifact("abc", 3, artifact, error));
  EXPECT_EQ(error, "not a valid artifact: expected a header of 32 bytes, found "
                   "3 bytes");
  std::vector<uint8_t> bytes = serializeArtifact(example());
  bytes[8] = 9;
  EXPECT_FALSE(
      deserializeArtifact(bytes.data(), bytes.size(), artifact, error));
  EXPECT_EQ(error, "not a valid artifact: expected version 2, found 9; compile "
                   "the kernel again with this build");
}

TEST(Checksum, seesEachWordAndTheLength) {
  std::mt19937_64 random(4);
  std::vector<uint64_t> words(64);
  for (uint64_t &word : words)
    word = random();
  uint64_t before = checksum64(words.data(), 512);
  for (uint64_t &word : words)
    for (int i = 0; i < 100; ++i) {
      uint64_t saved = word;
      word = random();
      EXPECT_NE(checksum64(words.data(), 512), before);
      word = saved;
    }
  std::vector<uint8_t> zeros(64);
  for (size_t size = 1; size < 64; ++size)
    EXPECT_NE(checksum64(zeros.data(), size),
              checksum64(zeros.data(), size - 1));
  EXPECT_NE(checksum64("", 0, 1), checksum64("", 0, 2));
}
