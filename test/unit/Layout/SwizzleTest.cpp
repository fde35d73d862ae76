//===- SwizzleTest.cpp - Conversions and buffers against brute force ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "terrazzo/Layout/Swizzle.h"
#include "RandomLayout.h"
#include "terrazzo/Layout/Builders.h"

#include <algorithm>
#include <map>
#include <set>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace terrazzo::layout {
namespace {

using Values = SmallVector<int32_t, 4>;

//===----------------------------------------------------------------------===//
// Brute force
//===----------------------------------------------------------------------===//

/// The offset of each place, [warp][lane][register].
struct Offsets {
  std::vector<std::vector<std::vector<int32_t>>> of;

  Offsets(const LinearLayout &layout, const LinearLayout &offsets) {
    std::map<uint64_t, int32_t> where;
    for (int32_t offset = 0; offset < offsets.inSize(kOffset); ++offset)
      where[offsets.applyPacked(offset)] = offset;
    of.resize(layout.inSize(kWarp));
    for (int32_t warp = 0; warp < layout.inSize(kWarp); ++warp) {
      of[warp].resize(layout.inSize(kLane));
      for (int32_t lane = 0; lane < layout.inSize(kLane); ++lane)
        for (int32_t reg = 0; reg < layout.inSize(kRegister); ++reg)
          of[warp][lane].push_back(
              where.at(layout.packOut(layout.apply({reg, lane, warp}))));
    }
  }
};

/// Whether each thread holds whole aligned groups of `size` offsets, the same
/// registers at the same place of a group in all threads.
bool canVectorise(const Offsets &offsets, int32_t size) {
  const std::vector<int32_t> &first = offsets.of[0][0];
  std::set<int32_t> distinct(first.begin(), first.end());
  std::map<int32_t, int32_t> held;
  for (int32_t offset : distinct)
    ++held[offset / size];
  for (auto [group, number] : held)
    if (number != size)
      return false;
  for (const auto &lanes : offsets.of)
    for (const auto &registers : lanes)
      for (size_t reg = 0; reg < registers.size(); ++reg)
        if (registers[reg] % size != first[reg] % size)
          return false;
  return true;
}

int32_t vectorByBruteForce(const Offsets &offsets, int32_t elementBytes) {
  int32_t size = 1;
  while (size * 2 * elementBytes <= 16 && canVectorise(offsets, size * 2))
    size *= 2;
  return size;
}

/// The passes of the first access, as a count of distinct words a bank, on top
/// of one for each group of lanes. Checks that all accesses need the same.
int32_t conflictsByBruteForce(const Offsets &offsets, ArrayRef<int32_t> order,
                              int32_t vector, int32_t elementBytes,
                              const Banks &banks) {
  int32_t bytes = std::max(vector * elementBytes, banks.bankBytes);
  int32_t together = banks.rowBytes() / bytes;
  std::set<int32_t> found;
  for (const auto &lanes : offsets.of)
    for (size_t access = 0; access < order.size(); access += vector)
      for (size_t start = 0; start < lanes.size(); start += together) {
        std::map<int32_t, std::set<int32_t>> wordsOfBank;
        size_t end = std::min(lanes.size(), start + together);
        for (size_t lane = start; lane < end; ++lane)
          for (int32_t i = 0; i < vector; ++i) {
            int32_t byte = lanes[lane][order[access + i]] * elementBytes;
            // An element wider than a bank is one access of its first bank:
            // the others follow it.
            int32_t word = byte / banks.bankBytes;
            wordsOfBank[word % banks.banks].insert(word);
          }
        size_t passes = 0;
        for (auto &[bank, words] : wordsOfBank)
          passes = std::max(passes, words.size());
        found.insert(static_cast<int32_t>(passes) - 1);
      }
  EXPECT_EQ(found.size(), 1u) << "accesses differ";
  return *found.begin();
}

void checkAccess(const LinearLayout &layout, const LinearLayout &shared,
                 int32_t elementBytes, const Banks &banks = {}) {
  Offsets offsets(layout, shared);
  int32_t vector = vectorElements(layout, shared, elementBytes, banks);
  ASSERT_EQ(vector, vectorByBruteForce(offsets, elementBytes))
      << layout.toString() << "\n"
      << shared.toString();
  auto order = accessOrder(layout, shared, vector);
  std::set<int32_t> accessed;
  for (const auto &lanes : offsets.of)
    for (const auto &registers : lanes)
      for (size_t i = 0; i < order.size(); ++i) {
        int32_t base = registers[order[i - i % vector]];
        ASSERT_EQ(base % vector, 0);
        ASSERT_EQ(registers[order[i]], base + int32_t(i) % vector);
      }
  for (int32_t reg : order)
    ASSERT_TRUE(accessed.insert(offsets.of[0][0][reg]).second) << "twice";
  for (int32_t offset : offsets.of[0][0])
    ASSERT_TRUE(accessed.count(offset)) << "forgotten";
  ASSERT_EQ(bankConflicts(layout, shared, elementBytes, banks),
            conflictsByBruteForce(offsets, order, vector, elementBytes, banks))
      << layout.toString() << "\n"
      << shared.toString();
}

LinearLayout randomOffsets(std::mt19937 &random, ArrayRef<Dim> outs,
                           bool changeCoordinates) {
  LinearLayout all = randomSurjective(random, outs, 0, changeCoordinates);
  return LinearLayout::fromPacked({{kOffset, all.totalInBits()}}, outs,
                                  all.packedBases());
}

/// Registers, 32 lanes and warps hold units in random places, or copies.
LinearLayout randomDistributed(std::mt19937 &random, ArrayRef<Dim> outs,
                               bool changeCoordinates, int32_t copies) {
  LinearLayout all = randomSurjective(random, outs, copies, changeCoordinates);
  int32_t rest = all.totalInBits() - 5, warps = pick(random, 0, rest);
  return LinearLayout::fromPacked(
      {{kRegister, rest - warps}, {kLane, 5}, {kWarp, warps}}, outs,
      all.packedBases());
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

TEST(BankConflicts, Known) {
  // 32 lanes down a column of a row-major 32 x 32 tile: all in one bank.
  LinearLayout column({{"register", {}},
                       {"lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}},
                       {"warp", {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}}},
                      {{"dim0", 5}, {"dim1", 5}});
  LinearLayout rowMajor =
      LinearLayout::identity1D(1024, kOffset, "dim0").reshapeOuts({32, 32});
  EXPECT_EQ(bankConflicts(column, rowMajor, 4), 31);
  EXPECT_EQ(bankConflicts(column, rowMajor, 2), 15);
  EXPECT_EQ(bankConflicts(column, rowMajor, 1), 7);
  LinearLayout row = column.transposeOuts({1, 0});
  EXPECT_EQ(bankConflicts(row, rowMajor, 4), 0);
  EXPECT_EQ(bankConflicts(row, rowMajor, 1), 0);
  // All lanes read one word.
  LinearLayout one = LinearLayout::zeros1D(32, kLane, "dim0", 4) *
                     LinearLayout::identity1D(4, kWarp, "dim1");
  EXPECT_EQ(bankConflicts(one.reshapeOuts({16}),
                          LinearLayout::identity1D(16, kOffset, "dim0"), 4),
            0);
}

TEST(BankConflicts, AgainstBruteForce) {
  std::set<int32_t> seen, widths;
  forSeeds(400, [&](std::mt19937 &random) {
    auto outs = randomDims(random, {"dim0", "dim1"}, 2);
    outs[0].bits += 3;
    outs[1].bits += 3;
    bool general = pick(random, 0, 2) == 0;
    LinearLayout layout =
        randomDistributed(random, outs, general, pick(random, 0, 2));
    LinearLayout offsets = randomOffsets(random, outs, general);
    int32_t elementBytes = 1 << pick(random, 0, 2);
    checkAccess(layout, offsets, elementBytes);
    seen.insert(bankConflicts(layout, offsets, elementBytes));
    widths.insert(vectorElements(layout, offsets, elementBytes));
  });
  EXPECT_GE(seen.size(), 4u);
  EXPECT_GE(widths.size(), 3u);
}

TEST(BankConflicts, WideElements) {
  forSeeds(100, [](std::mt19937 &random) {
    SmallVector<Dim, 2> outs = {{"dim0", 5}, {"dim1", 4}};
    LinearLayout layout = randomDistributed(random, outs, false, 0);
    checkAccess(layout, randomOffsets(random, outs, false), 8);
  });
}

TEST(BankConflicts, OtherBanks) {
  forSeeds(100, [](std::mt19937 &random) {
    SmallVector<Dim, 2> outs = {{"dim0", 5}, {"dim1", 5}};
    LinearLayout layout = randomDistributed(random, outs, false, 0);
    checkAccess(layout, randomOffsets(random, outs, false), 2, {64, 4, 16});
  });
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

SharedLayout checkedSwizzle(const LinearLayout &write, const LinearLayout &read,
                            int32_t elementBytes) {
  SharedLayout chosen = chooseSwizzle(write, read, elementBytes);
  EXPECT_TRUE(chosen.layout.isInvertible());
  EXPECT_EQ(chosen.layout.outDims(), write.outDims());
  EXPECT_EQ(chosen.layout.inDims().size(), 1u);
  EXPECT_TRUE(chosen.layout.hasIn(kOffset));
  EXPECT_EQ(chosen.writeVector,
            vectorElements(write, chosen.layout, elementBytes));
  EXPECT_EQ(chosen.readVector,
            vectorElements(read, chosen.layout, elementBytes));
  EXPECT_EQ(chosen.writeConflicts,
            bankConflicts(write, chosen.layout, elementBytes));
  EXPECT_EQ(chosen.readConflicts,
            bankConflicts(read, chosen.layout, elementBytes));
  return chosen;
}

TEST(ChooseSwizzle, Transposition) {
  // Four elements along a row in each thread; read along a column.
  for (int32_t elementBytes : {1, 2, 4}) {
    LinearLayout rows = coalesced({64, 64}, {1, 0}, 4, 4, 32);
    LinearLayout columns = coalesced({64, 64}, {0, 1}, 4, 4, 32);
    SharedLayout chosen = checkedSwizzle(rows, columns, elementBytes);
    EXPECT_EQ(std::max(chosen.writeVector, chosen.readVector),
              16 / elementBytes);
    EXPECT_EQ(chosen.writeConflicts, 0) << elementBytes;
    EXPECT_EQ(chosen.readConflicts, 0) << elementBytes;
    checkAccess(rows, chosen.layout, elementBytes);
    checkAccess(columns, chosen.layout, elementBytes);
  }
}

TEST(ChooseSwizzle, RowsToRowsOfOtherWidth) {
  // Both sides hold 16 bytes of a row: both access 16 bytes.
  LinearLayout write = blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout read = blocked({64, 64}, {4, 8}, {8, 4}, {1, 4}, {1, 0});
  SharedLayout chosen = checkedSwizzle(write, read, 2);
  EXPECT_EQ(chosen.writeVector, 8);
  EXPECT_EQ(chosen.readVector, 8);
  EXPECT_EQ(chosen.writeConflicts, 0);
  EXPECT_EQ(chosen.readConflicts, 0);
}

TEST(ChooseSwizzle, NoConflictsForWords) {
  // With elements of a bank's size there is always an order without conflicts.
  forSeeds(300, [](std::mt19937 &random) {
    auto outs = randomDims(random, {"dim0", "dim1"}, 3);
    outs[0].bits += 3;
    outs[1].bits += 2;
    bool general = pick(random, 0, 2) == 0;
    LinearLayout write =
        randomDistributed(random, outs, general, pick(random, 0, 2));
    LinearLayout read =
        randomDistributed(random, outs, general, pick(random, 0, 2));
    SharedLayout chosen = checkedSwizzle(write, read, 4);
    ASSERT_EQ(chosen.writeConflicts, 0) << write.toString() << "\n"
                                        << read.toString() << "\n"
                                        << chosen.layout.toString();
    ASSERT_EQ(chosen.readConflicts, 0) << write.toString() << "\n"
                                       << read.toString() << "\n"
                                       << chosen.layout.toString();
  });
}

/// What both sides cost together, in passes of a warp.
int64_t passes(const LinearLayout &layout, const LinearLayout &offsets,
               int32_t elementBytes) {
  int32_t vector = vectorElements(layout, offsets, elementBytes);
  auto order = accessOrder(layout, offsets, vector);
  int32_t bytes = std::max(vector * elementBytes, 4);
  int64_t groups = std::max(1, layout.inSize(kLane) * bytes / 128);
  return int64_t(order.size()) / vector * groups *
         (1 + bankConflicts(layout, offsets, elementBytes));
}

TEST(ChooseSwizzle, BeatsOtherOrders) {
  forSeeds(200, [](std::mt19937 &random) {
    SmallVector<Dim, 2> outs = {{"dim0", 5}, {"dim1", 6}};
    LinearLayout write = randomDistributed(random, outs, false, 0);
    LinearLayout read = randomDistributed(random, outs, false, 0);
    for (int32_t elementBytes : {1, 2, 4}) {
      SharedLayout chosen = checkedSwizzle(write, read, elementBytes);
      int64_t cost = passes(write, chosen.layout, elementBytes) +
                     passes(read, chosen.layout, elementBytes);
      for (int attempt = 0; attempt < 20; ++attempt) {
        LinearLayout other = randomOffsets(random, outs, attempt % 2);
        if (attempt == 0)
          other = LinearLayout::identity1D(2048, kOffset, "dim0")
                      .reshapeOuts({32, 64});
        ASSERT_LE(cost, passes(write, other, elementBytes) +
                            passes(read, other, elementBytes))
            << write.toString() << "\n"
            << read.toString() << "\n"
            << other.toString() << "\n"
            << chosen.layout.toString() << elementBytes;
      }
    }
  });
}

TEST(ChooseSwizzle, SmallTiles) {
  LinearLayout write = coalesced({2}, {0}, 4, 4, 32);
  LinearLayout read = coalesced({2}, {0}, 1, 4, 32);
  SharedLayout chosen = checkedSwizzle(write, read, 2);
  EXPECT_EQ(chosen.writeVector, 2);
  EXPECT_EQ(chosen.readConflicts, 0);
  LinearLayout one = coalesced({}, {}, 4, 4, 32);
  EXPECT_EQ(checkedSwizzle(one, one, 4).layout.totalInBits(), 0);
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// By the definition: in which warp, lane, register does each place find its
/// element, at best?
Conversion classifyByBruteForce(const LinearLayout &src,
                                const LinearLayout &dst) {
  std::map<uint64_t, std::vector<uint64_t>> holders;
  uint64_t numPlaces = uint64_t(1) << src.totalInBits();
  for (uint64_t flat = 0; flat < numPlaces; ++flat)
    holders[src.applyPacked(flat)].push_back(flat);
  bool inWarp = true, inLane = true;
  for (uint64_t flat = 0; flat < uint64_t(1) << dst.totalInBits(); ++flat) {
    Values place = dst.unflattenInputs(flat);
    bool warpHas = false, laneHas = false;
    for (uint64_t holder : holders[dst.applyPacked(flat)]) {
      Values at = src.unflattenInputs(holder);
      warpHas |= at[2] == place[2];
      laneHas |= at[2] == place[2] && at[1] == place[1];
    }
    inWarp &= warpHas;
    inLane &= laneHas;
  }
  if (!inWarp)
    return Conversion::Shared;
  // Every thread has all it needs: but in the same registers everywhere?
  bool sameRegisters = inLane;
  for (int32_t reg = 0; reg < dst.inSize(kRegister) && sameRegisters; ++reg) {
    bool found = false;
    for (int32_t from = 0; from < src.inSize(kRegister) && !found; ++from) {
      found = true;
      for (int32_t lane = 0; lane < dst.inSize(kLane) && found; ++lane)
        for (int32_t warp = 0; warp < dst.inSize(kWarp) && found; ++warp)
          found = dst.apply({reg, lane, warp}) == src.apply({from, lane, warp});
    }
    sameRegisters = found;
  }
  if (!sameRegisters)
    return Conversion::Lanes;
  bool none = src.inBits(kRegister) == dst.inBits(kRegister);
  for (uint64_t flat = 0; flat < uint64_t(1) << dst.totalInBits() && none;
       ++flat)
    none = dst.applyPacked(flat) == src.applyPacked(flat);
  return none ? Conversion::None : Conversion::Registers;
}

TEST(Classify, AgainstBruteForce) {
  std::map<Conversion, unsigned> seen;
  forSeeds(1000, [&](std::mt19937 &random) {
    SmallVector<Dim, 2> outs = {{"dim0", 2}, {"dim1", 2}};
    int32_t registers = pick(random, 1, 3), lanes = pick(random, 1, 2);
    // The same lanes and warps on both sides; the result permutes bits of one
    // kind, or is anything.
    LinearLayout src =
        randomSurjective(random, outs, pick(random, 0, 2), pick(random, 0, 1));
    int32_t total = src.totalInBits();
    registers = std::min(registers, total);
    lanes = std::min(lanes, total - registers);
    SmallVector<Dim, 3> ins = {{kRegister, registers},
                               {kLane, lanes},
                               {kWarp, total - registers - lanes}};
    std::vector<uint64_t> bases(src.packedBases());
    src = LinearLayout::fromPacked(ins, outs, bases);
    switch (pick(random, 0, 4)) {
    case 0:
      std::shuffle(bases.begin(), bases.begin() + registers, random);
      break;
    case 1:
      std::shuffle(bases.begin(), bases.begin() + registers + lanes, random);
      break;
    case 2:
      bases[pick(random, 0, total - 1)] ^= bases[pick(random, 0, registers)];
      break;
    case 3:
      std::shuffle(bases.begin(), bases.end(), random);
      break;
    default:
      break;
    }
    LinearLayout dst = LinearLayout::fromPacked(ins, outs, bases);
    Conversion found = classify(src, dst);
    ASSERT_EQ(int(found), int(classifyByBruteForce(src, dst)))
        << src.toString() << "\n"
        << dst.toString();
    ++seen[found];
  });
  for (Conversion each : {Conversion::None, Conversion::Registers,
                          Conversion::Lanes, Conversion::Shared})
    EXPECT_GT(seen[each], 20u) << int(each);
}

} // namespace
} // namespace terrazzo::layout
