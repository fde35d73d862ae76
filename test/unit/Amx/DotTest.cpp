//===- DotTest.cpp - Products of narrow elements by each kind of chip -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled for chips that differ in the instructions they have for
// such products, loaded and launched by the driver, and compared with plain
// loops.
//===----------------------------------------------------------------------===//

#include "AmxHost.h"
#include "DotKernel.h"
#include "terrazzo/Runtime/Cpu.h"
#include "terrazzo/Runtime/Driver.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

namespace {

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

struct Way {
  const char *name;
  std::string (*chip)();
  bool isTiles;
};

const Way kWays[] = {
    {"tiles",
     [] { return hostChipWithout({"amx-"}) + "+amx-tile+amx-bf16+amx-int8"; },
     true},
    {"tilesBesideNarrowVectors",
     [] { return std::string("x86-64+sse2+amx-tile+amx-bf16+amx-int8"); },
     true},
    {"vectors", [] { return hostChipWithout({"amx-"}); }, false},
    {"single",
     [] { return hostChipWithout({"amx-", "avx512bf16", "avx512vnni"}); },
     false},
};

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

float asFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The nearest bf16 of a normal number.
uint16_t asBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

/// Operands and sums of one launch. Narrow elements are bf16 or bytes.
struct Data {
  std::vector<uint16_t> halves[2];
  std::vector<uint8_t> bytes[2];
  std::vector<float> floats;
  std::vector<int32_t> ints;

  void *operand(int which) {
    return halves[which].empty() ? static_cast<void *>(bytes[which].data())
                                 : halves[which].data();
  }
  void *sums() {
    return floats.empty() ? static_cast<void *>(ints.data()) : floats.data();
  }
};

/// Fills what the stack will be with NaNs, so that padding which is not
/// written shows.
[[gnu::noinline]] void soilStack() {
  volatile uint8_t garbage[1 << 19];
  for (volatile uint8_t &byte : garbage)
    byte = 0xFF;
}

class Dot : public testing::TestWithParam<Way> {
protected:
  void SetUp() override { setCpuThreads(1); }
  void TearDown() override { setCpuThreads(0); }

  /// Small whole numbers, so that sums are exact in any order; or any numbers.
  Data makeData(const DotShape &s, const std::string &element, bool isWhole);
  void launch(const DotShape &s, const std::string &element, Data &data);
  void check(const DotShape &s, const std::string &element,
             bool isWhole = true);

  AmxHost host;
  std::mt19937 random{7};
};

Data Dot::makeData(const DotShape &s, const std::string &element,
                   bool isWhole) {
  Data data;
  int64_t sums = s.programs * std::max<int64_t>(s.batch, 1);
  int64_t sizes[2] = {sums * s.steps * s.m * s.k, sums * s.steps * s.k * s.n};
  std::uniform_int_distribution<int> whole(-8, 8), byte(0, 255);
  std::normal_distribution<float> normal;
  for (int which : {0, 1})
    for (int64_t i = 0; i < sizes[which]; ++i)
      if (element == "bf16")
        data.halves[which].push_back(
            asBf16(isWhole ? float(whole(random)) : normal(random)));
      else
        data.bytes[which].push_back(byte(random));
  for (int64_t i = 0; i < sums * s.m * s.n; ++i)
    if (element == "bf16")
      data.floats.push_back(float(whole(random)));
    else
      data.ints.push_back(whole(random) * 1000);
  return data;
}

void Dot::launch(const DotShape &s, const std::string &element, Data &data) {
  Artifact artifact = compileKernel(dotKernel(s, element), GetParam().chip());
  auto kernel = openDriver("cpu")->load(0, artifact);
  void *x = data.operand(0), *y = data.operand(1), *z = data.sums();
  int32_t steps = s.steps;
  void *args[] = {&x, &y, &z, &steps};
  soilStack();
  kernel->launch({s.programs}, nullptr, args, 4);
}

void Dot::check(const DotShape &s, const std::string &element, bool isWhole) {
  SCOPED_TRACE(element + " " + std::to_string(s.m) + "x" + std::to_string(s.n) +
               "x" + std::to_string(s.k) +
               (s.isLhsTransposed ? ", lhs transposed" : "") +
               (s.isRhsTransposed ? ", rhs transposed" : ""));
  Data before = makeData(s, element, isWhole), after = before;
  launch(s, element, after);
  int64_t batch = std::max<int64_t>(s.batch, 1);
  auto value = [&](int which, int64_t i) -> double {
    if (element == "bf16")
      return asFloat(before.halves[which][i]);
    uint8_t byte = before.bytes[which][i];
    return element == "i8" ? double(int8_t(byte)) : double(byte);
  };
  for (int64_t p = 0; p < s.programs; ++p)
    for (int64_t at = 0; at < batch * s.m * s.n; ++at) {
      int64_t b = at / (s.m * s.n), row = at / s.n % s.m, column = at % s.n;
      int64_t sumAt = p * batch * s.m * s.n + at;
      double sum = s.isFromZero        ? 0
                   : element == "bf16" ? before.floats[sumAt]
                                       : double(before.ints[sumAt]);
      double size = std::abs(sum);
      for (int64_t i = 0; i < s.steps; ++i) {
        int64_t tile = (p * s.steps + i) * batch + b;
        for (int64_t k = 0; k < s.k; ++k) {
          int64_t xAt = s.isLhsTransposed ? k * s.m + row : row * s.k + k;
          int64_t yAt = s.isRhsTransposed ? column * s.k + k : k * s.n + column;
          double product = value(0, tile * s.m * s.k + xAt) *
                           value(1, tile * s.k * s.n + yAt);
          sum += product, size += std::abs(product);
        }
      }
      double found =
          element == "bf16" ? after.floats[sumAt] : double(after.ints[sumAt]);
      // Half a unit of the last place of a partial sum for each addition.
      double bound =
          isWhole ? 0 : size * double(s.k * s.steps + 1) * std::ldexp(1, -24);
      ASSERT_LE(std::abs(found - sum), bound)
          << "program " << p << ", batch " << b << ", row " << row
          << ", column " << column << ": expected " << sum << ", found "
          << found;
    }
}

INSTANTIATE_TEST_SUITE_P(Chips, Dot, testing::ValuesIn(kWays),
                         [](const auto &info) { return info.param.name; });

} // namespace

static const char *const kElements[] = {"bf16", "i8", "ui8"};

TEST_P(Dot, wholeTiles) {
  for (const char *element : kElements) {
    check({64, 64, 64}, element);
    check({16, 32, 128}, element);
    check({96, 48, 64}, element);
  }
}

TEST_P(Dot, edges) {
  for (const char *element : kElements) {
    check({24, 20, 40}, element);
    check({33, 47, 19}, element);
    check({9, 65, 101}, element);
    check({50, 10, 67}, element);
  }
}

TEST_P(Dot, smallOnes) {
  for (const char *element : kElements) {
    check({1, 1, 2}, element);
    check({1, 33, 64}, element);
    check({5, 3, 7}, element);
    check({8, 8, 33}, element);
  }
}

TEST_P(Dot, transposed) {
  for (const char *element : kElements)
    for (int which = 1; which < 4; ++which) {
      check({32, 64, 64, (which & 1) != 0, (which & 2) != 0}, element);
      check({23, 37, 70, (which & 1) != 0, (which & 2) != 0}, element);
    }
}

TEST_P(Dot, fromZero) {
  for (const char *element : {"bf16", "i8"}) {
    DotShape shape{.m = 64, .n = 48, .k = 64};
    shape.isFromZero = true;
    for (int64_t steps : {0, 1, 3}) {
      shape.steps = steps;
      check(shape, element);
    }
    shape.m = 33, shape.n = 47, shape.k = 70, shape.programs = 2;
    check(shape, element);
  }
}

TEST_P(Dot, batches) {
  for (const char *element : kElements) {
    check({32, 32, 64, false, false, 2}, element);
    check({21, 18, 35, false, true, 3}, element);
  }
}

TEST_P(Dot, programsOnThreads) {
  setCpuThreads(4);
  for (const char *element : kElements) {
    DotShape shape{40, 40, 80};
    shape.programs = 64;
    check(shape, element);
  }
}

TEST_P(Dot, anyNumbers) { check({48, 40, 200}, "bf16", false); }

/// The emulator counts; a processor with AMX does not, and shows its values.
static void expectCount(const AmxHost &host, AmxOp op, uint64_t expected) {
  if (host.emulator)
    EXPECT_EQ(host.emulator->count(op), expected);
}

TEST_P(Dot, takesTheInstructionsOfTheChip) {
  uint64_t expected = GetParam().isTiles ? 3 * 2 * 3 * 2 : 0;
  check({32, 48, 64}, "bf16");
  expectCount(host, AmxOp::Tdpbf16ps, expected);
  check({32, 48, 128}, "i8");
  expectCount(host, AmxOp::Tdpbssd, expected);
  check({32, 48, 128}, "ui8");
  expectCount(host, AmxOp::Tdpbuud, expected);
  // Of 32x48 sums, 2x2 and 2x1 tiles: loaded once, multiplied twice, stored.
  expectCount(host, AmxOp::Tilestored, 3 * expected / 2);
}

TEST(AmxRelease, byProgramsThatFail) {
  AmxHost host;
  std::string text = dotKernel({16, 16, 32}, "bf16");
  text.replace(text.find("  return"), 0,
               "  %no = arith.constant false\n"
               "  tile.assert %no, \"no\" : i1\n");
  auto kernel =
      openDriver("cpu")->load(0, compileKernel(text, kWays[0].chip()));
  std::vector<uint16_t> x(3 * 16 * 32), y(3 * 32 * 16);
  std::vector<float> z(16 * 16);
  void *xs = x.data(), *ys = y.data(), *zs = z.data();
  int32_t steps = 3;
  void *args[] = {&xs, &ys, &zs, &steps};
  EXPECT_THROW(kernel->launch({}, nullptr, args, 4), Error);
  expectCount(host, AmxOp::Ldtilecfg, 1);
  expectCount(host, AmxOp::Tilerelease, 1);
}

TEST(AmxPermission, refusal) {
  AmxHost host;
  cpuHost().requestTileRegisters = [] { return EPERM; };
  Artifact artifact =
      compileKernel(dotKernel({16, 16, 32}, "bf16"), kWays[1].chip());
  try {
    openDriver("cpu")->load(0, artifact);
    FAIL() << "was loaded";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), Status::WrongArchitecture);
    EXPECT_NE(error.message().find("expected the system to grant the use of "
                                   "AMX tile registers (arch_prctl), it "
                                   "refused: "),
              std::string::npos)
        << error.message();
  }
}

TEST(AmxPermission, missingFeatures) {
  AmxHost host;
  cpuHost().hasFeature = [](std::string_view feature) {
    return !feature.starts_with("amx-");
  };
  Artifact artifact =
      compileKernel(dotKernel({16, 16, 32}, "bf16"), kWays[1].chip());
  try {
    openDriver("cpu")->load(0, artifact);
    FAIL() << "was loaded";
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("'amx-tile', 'amx-bf16', 'amx-int8'"),
              std::string::npos)
        << error.message();
  }
}
