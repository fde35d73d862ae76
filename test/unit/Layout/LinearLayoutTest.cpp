//===- LinearLayoutTest.cpp - Linear maps against brute force -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomLayout.h"

#include <map>
#include <set>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace terrazzo::layout {
namespace {

using Values = SmallVector<int32_t, 4>;

/// The example of LinearLayout.h.
LinearLayout example() {
  return LinearLayout({{"register", {{0, 1}}},
                       {"lane", {{0, 2}, {0, 4}, {1, 0}}},
                       {"warp", {{2, 0}}}},
                      {{"dim0", 2}, {"dim1", 3}});
}

TEST(LinearLayout, Example) {
  LinearLayout layout = example();
  EXPECT_EQ(layout.apply({1, 5, 1}), (Values{3, 3}));
  EXPECT_EQ(layout.inSize("lane"), 8);
  EXPECT_EQ(layout.outSize("dim1"), 8);
  EXPECT_EQ(layout.inSize("block"), 1);
  EXPECT_EQ(layout.totalInBits(), 5);
  EXPECT_EQ(layout.basis("lane", 2), (LinearLayout::Basis{1, 0}));
  EXPECT_EQ(layout.basis("lane", 1, "dim1"), 4);
  EXPECT_TRUE(layout.isInvertible());
  EXPECT_EQ(layout.toString(),
            "register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0]], "
            "warp = [[2, 0]], dims [4, 8]");
}

TEST(LinearLayout, Empty) {
  LinearLayout layout = LinearLayout::empty();
  EXPECT_TRUE(layout.isInvertible());
  EXPECT_EQ(layout.apply({}), Values{});
  EXPECT_EQ(layout.toString(), "dims []");
  EXPECT_EQ(layout.picture(), "*\n");
  EXPECT_EQ(layout * example(), example());
  EXPECT_EQ(example() * layout, example());
}

TEST(LinearLayout, NamesAreOwned) {
  LinearLayout layout;
  {
    std::string in = "cluster", out = "dim11";
    layout = LinearLayout::identity1D(4, in, out);
    in = out = "overwritten";
  }
  EXPECT_EQ(layout.toString(), "cluster = [[1], [2]], dims [dim11: 4]");
  EXPECT_EQ(layout, LinearLayout::identity1D(4, "cluster", "dim11"));
}

TEST(LinearLayout, TryCreateSaysWhatIsWrong) {
  auto message = [](ArrayRef<LinearLayout::InSpec> ins,
                    ArrayRef<LinearLayout::OutSpec> outs) {
    std::string error;
    EXPECT_FALSE(LinearLayout::tryCreate(ins, outs, error).has_value());
    return error;
  };
  EXPECT_EQ(message({{"lane", {{4}}}}, {{"dim0", 2}}),
            "expected a coordinate in [0, 4), found 4 in output 'dim0' of bit "
            "0 of input 'lane'");
  EXPECT_EQ(message({{"lane", {{1}, {-1}}}}, {{"dim0", 2}}),
            "expected a coordinate in [0, 4), found -1 in output 'dim0' of bit "
            "1 of input 'lane'");
  EXPECT_EQ(message({{"lane", {{1, 2}}}}, {{"dim0", 2}}),
            "expected a basis of 1 coordinates, found 2 of bit 0 of input "
            "'lane'");
  EXPECT_EQ(message({{"lane", {}}, {"lane", {}}}, {}),
            "expected distinct inputs, found 'lane' twice");
  EXPECT_EQ(message({}, {{"dim0", 1}, {"dim0", 1}}),
            "expected distinct outputs, found 'dim0' twice");
  EXPECT_EQ(message({}, {{"dim0", 31}}),
            "expected output 'dim0' to have 0 to 30 bits, found 31");
  EXPECT_EQ(message({}, {{"dim0", 30}, {"dim1", 30}, {"dim2", 30}}),
            "expected at most 63 output bits, found 90 up to output 'dim2'");
  std::vector<LinearLayout::Basis> many(31, {0});
  EXPECT_EQ(message({{"lane", many}}, {{"dim0", 0}}),
            "expected input 'lane' to have 0 to 30 bits, found 31");
  many.resize(30);
  EXPECT_EQ(message({{"a", many}, {"b", many}, {"c", many}}, {{"dim0", 0}}),
            "expected at most 63 input bits, found 90 up to input 'c'");

  std::string error;
  EXPECT_EQ(
      LinearLayout::tryCreate({{"lane", {{1}, {2}}}}, {{"dim0", 2}}, error),
      LinearLayout::identity1D(4, "lane", "dim0"));
}

TEST(LinearLayout, ApplyAndPack) {
  forSeeds(200, [](std::mt19937 &random) {
    LinearLayout layout = randomLayout(random);
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat) {
      Values inputs = layout.unflattenInputs(flat);
      ASSERT_EQ(layout.flattenInputs(inputs), flat);
      Values outputs = layout.apply(inputs);
      ASSERT_EQ(outputs, byDefinition(layout, flat));
      ASSERT_EQ(layout.packOut(outputs), layout.applyPacked(flat));
      ASSERT_EQ(layout.unpackOut(layout.applyPacked(flat)), outputs);
      // Packed outputs are row-major.
      uint64_t index = 0;
      for (unsigned i = 0; i < outputs.size(); ++i)
        index = index * layout.outDims()[i].size() + outputs[i];
      ASSERT_EQ(layout.applyPacked(flat), index);
    }
  });
}

TEST(LinearLayout, DirectSum) {
  forSeeds(200, [](std::mt19937 &random) {
    LinearLayout lo =
        randomLayout(random, randomDims(random, {"register", "lane"}, 2),
                     randomDims(random, {"dim0", "dim1"}, 2));
    LinearLayout hi =
        randomLayout(random, randomDims(random, {"lane", "warp"}, 2),
                     randomDims(random, {"dim2", "dim0"}, 2));
    LinearLayout both = lo * hi;
    ASSERT_EQ(both.numIns(), 3u);
    ASSERT_EQ(both.numOuts(), 3u);
    for (uint64_t flat = 0; flat < numInputs(both); ++flat) {
      Values in = both.unflattenInputs(flat);
      int32_t laneBits = lo.inBits("lane");
      Values low = lo.apply({in[0], in[1] & ((1 << laneBits) - 1)});
      Values high = hi.apply({in[1] >> laneBits, in[2]});
      Values expected = {low[0] | high[1] << lo.outBits("dim0"), low[1],
                         high[0]};
      ASSERT_EQ(both.apply(in), expected);
    }
    std::optional<LinearLayout> quotient = both.divideLeft(lo);
    ASSERT_TRUE(quotient);
    // Where hi lacks a dimension, the quotient has it with no bits.
    ASSERT_EQ(quotient->sublayout({"lane", "warp"}, {"dim2", "dim0"}), hi);
    ASSERT_EQ(lo * *quotient, both);
  });
}

/// Whether `whole` is lo * (something), by the values.
bool isDivisible(const LinearLayout &whole, const LinearLayout &lo) {
  for (uint64_t flat = 0; flat < numInputs(whole); ++flat) {
    Values in = whole.unflattenInputs(flat), low(lo.numIns(), 0), high = in;
    for (unsigned i = 0; i < whole.numIns(); ++i) {
      int index = lo.inIndex(whole.inDims()[i].name);
      if (index < 0)
        continue;
      int32_t mask = lo.inDims()[index].size() - 1;
      low[index] = in[i] & mask;
      high[i] = in[i] & ~mask;
    }
    Values out = whole.apply(in), lowOut = lo.apply(low),
           highOut = whole.apply(high);
    for (unsigned i = 0; i < whole.numOuts(); ++i) {
      int index = lo.outIndex(whole.outDims()[i].name);
      int32_t mask = index < 0 ? 0 : lo.outDims()[index].size() - 1;
      int32_t expected = index < 0 ? 0 : lowOut[index];
      if ((out[i] & mask) != expected || (highOut[i] & mask) != 0 ||
          (out[i] & ~mask) != highOut[i])
        return false;
    }
  }
  return true;
}

TEST(LinearLayout, DivideLeft) {
  unsigned divisible = 0;
  forSeeds(500, [&](std::mt19937 &random) {
    LinearLayout whole =
        randomLayout(random, {{"register", 2}, {"lane", 2}},
                     {{"dim0", pick(random, 1, 2)}, {"dim1", 2}});
    LinearLayout lo = randomLayout(
        random, {{"lane", pick(random, 0, 2)}, {"register", 1}},
        {{"dim1", pick(random, 0, 2)}, {"dim0", pick(random, 0, 1)}});
    std::optional<LinearLayout> quotient = whole.divideLeft(lo);
    ASSERT_EQ(quotient.has_value(), isDivisible(whole, lo))
        << whole.toString() << "\n"
        << lo.toString();
    if (!quotient)
      return;
    ++divisible;
    ASSERT_EQ(
        (lo * *quotient).sublayout({"register", "lane"}, {"dim0", "dim1"}),
        whole);
  });
  EXPECT_GT(divisible, 10u);
  LinearLayout one = LinearLayout::identity1D(2, "lane", "dim0");
  EXPECT_FALSE(one.divideLeft(LinearLayout::identity1D(4, "lane", "dim0")));
  EXPECT_FALSE(one.divideLeft(LinearLayout::identity1D(2, "warp", "dim0")));
  EXPECT_FALSE(one.divideLeft(LinearLayout::identity1D(2, "lane", "dim1")));
}

TEST(LinearLayout, Compose) {
  forSeeds(200, [](std::mt19937 &random) {
    LinearLayout inner = randomLayout(random);
    SmallVector<Dim, 4> middle(inner.outDims());
    std::shuffle(middle.begin(), middle.end(), random);
    LinearLayout outer =
        randomLayout(random, middle, randomDims(random, {"x", "y"}, 3));
    LinearLayout both = inner.compose(outer);
    for (uint64_t flat = 0; flat < numInputs(inner); ++flat) {
      Values values = inner.apply(inner.unflattenInputs(flat)), sorted;
      for (const Dim &dim : middle)
        sorted.push_back(values[inner.outIndex(dim.name)]);
      ASSERT_EQ(both.apply(inner.unflattenInputs(flat)), outer.apply(sorted));
    }
  });
}

TEST(LinearLayout, HoldersAndInverses) {
  forSeeds(300, [](std::mt19937 &random) {
    LinearLayout layout =
        pick(random, 0, 1)
            ? randomLayout(random)
            : randomSurjective(random,
                               randomDims(random, {"dim0", "dim1", "dim2"}, 3),
                               pick(random, 0, 2));
    std::map<uint64_t, unsigned> holders;
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat)
      ++holders[layout.applyPacked(flat)];
    bool covers = holders.size() == uint64_t(1) << layout.totalOutBits();
    bool single = holders.size() == numInputs(layout);
    ASSERT_EQ(layout.isSurjective(), covers);
    ASSERT_EQ(layout.isInjective(), single);
    ASSERT_EQ(layout.isInvertible(), covers && single);

    // Without the free bits, each element that is held is held once.
    Values masks = layout.freeMasks();
    std::set<uint64_t> once;
    uint64_t kept = 0;
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat) {
      Values in = layout.unflattenInputs(flat);
      bool copy = false;
      for (unsigned i = 0; i < in.size(); ++i)
        copy |= (in[i] & masks[i]) != 0;
      if (copy)
        continue;
      ++kept;
      once.insert(layout.applyPacked(flat));
    }
    ASSERT_EQ(kept, once.size());
    ASSERT_EQ(once.size(), holders.size());

    if (!covers)
      return;
    LinearLayout right = layout.pseudoinvert();
    ASSERT_TRUE(right.compose(layout).isIdentity());
    for (uint64_t flat = 0; flat < numInputs(right); ++flat) {
      Values place = right.apply(right.unflattenInputs(flat));
      for (unsigned i = 0; i < place.size(); ++i)
        ASSERT_EQ(place[i] & masks[i], 0) << "uses a free bit";
    }
    if (single) {
      ASSERT_EQ(layout.invert(), right);
      ASSERT_TRUE(layout.compose(right).isIdentity());
    }
  });
}

TEST(LinearLayout, IsIdentity) {
  EXPECT_TRUE(LinearLayout::identity1D(8, "lane", "lane").isIdentity());
  EXPECT_FALSE(LinearLayout::identity1D(8, "lane", "warp").isIdentity());
  EXPECT_FALSE(LinearLayout::zeros1D(8, "lane", "lane", 8).isIdentity());
  LinearLayout both = LinearLayout::identity1D(2, "lane", "lane") *
                      LinearLayout::identity1D(4, "warp", "warp");
  EXPECT_TRUE(both.isIdentity());
  EXPECT_FALSE(both.renameOut("lane", "x").isIdentity());
}

TEST(LinearLayout, InvertAndCompose) {
  forSeeds(300, [](std::mt19937 &random) {
    auto outs = randomDims(random, {"dim0", "dim1"}, 3);
    LinearLayout dst = randomSurjective(random, outs, pick(random, 0, 3));
    LinearLayout src = randomLayout(
        random, randomDims(random, {"register", "lane", "warp"}, 3), outs);
    LinearLayout map = src.invertAndCompose(dst);
    ASSERT_EQ(map.compose(dst), src) << dst.toString();
    // Stays in place where it can.
    ASSERT_TRUE(dst.invertAndCompose(dst).isIdentity()) << dst.toString();
    // A lane or warp stays when what it needs is in registers, or lanes, there.
    for (unsigned i = 0; i < src.numIns(); ++i) {
      const Dim &dim = src.inDims()[i];
      for (int32_t bit = 0; bit < std::min(dim.bits, dst.inBits(dim.name));
           ++bit) {
        uint64_t unit = uint64_t(1) << (dst.inShift(i) + bit);
        bool near = false;
        for (uint64_t rest = 0; rest < uint64_t(1) << dst.inShift(i); ++rest)
          near |=
              dst.applyPacked(rest | unit) == src.packedBases(dim.name)[bit];
        if (near)
          ASSERT_EQ(map.basis(dim.name, bit, dim.name), 1 << bit);
      }
    }
    // The same outputs in another order.
    LinearLayout turned =
        dst.sublayout({"register", "lane", "warp"}, {"dim1", "dim0"});
    ASSERT_EQ(src.invertAndCompose(turned), map);
  });
}

TEST(LinearLayout, CopiesAreReadNearBy) {
  // All lanes hold both elements of the source; the result has one a lane.
  LinearLayout src({{"register", {{1}}}, {"lane", {{0}, {0}}}}, {{"dim0", 1}});
  LinearLayout dst({{"register", {}}, {"lane", {{1}, {0}}}}, {{"dim0", 1}});
  EXPECT_EQ(dst.invertAndCompose(src).toString(),
            "register = [], lane = [[1, 1], [0, 2]], "
            "dims [register: 2, lane: 4]");
}

TEST(LinearLayout, Selecting) {
  forSeeds(100, [](std::mt19937 &random) {
    LinearLayout layout = randomLayout(random);
    LinearLayout part =
        layout.sublayout({"warp", "register"}, {"dim2", "dim0"});
    for (uint64_t flat = 0; flat < numInputs(part); ++flat) {
      Values in = part.unflattenInputs(flat);
      Values whole = layout.apply({in[1], 0, in[0]});
      ASSERT_EQ(part.apply(in), (Values{whole[2], whole[0]}));
    }
    ASSERT_EQ(layout.sublayout({"lane", "warp"}, {"dim0", "dim1", "dim2"}),
              layout.dropIn("register"));
    ASSERT_EQ(layout.sublayout({"register", "lane", "warp"}, {"dim0", "dim2"}),
              layout.dropOut("dim1"));
    bool zero = true;
    for (int32_t lane = 0; lane < layout.inSize("lane"); ++lane)
      zero &= layout.apply({0, lane, 0})[1] == 0;
    ASSERT_EQ(layout.sublayoutIsZero({"lane"}, {"dim1"}), zero);
    ASSERT_EQ(layout.renameOut("dim1", "x").renameOut("x", "dim1"), layout);
    ASSERT_EQ(layout.renameIn("lane", "x").packedBases("x"),
              layout.packedBases("lane"));
  });
}

/// Row-major index of `coordinates` in `shape`.
int64_t indexOf(ArrayRef<int32_t> coordinates, ArrayRef<int32_t> shape) {
  int64_t index = 0;
  for (unsigned i = 0; i < shape.size(); ++i)
    index = index * shape[i] + coordinates[i];
  return index;
}

TEST(LinearLayout, TileOperations) {
  forSeeds(200, [](std::mt19937 &random) {
    LinearLayout layout = randomLayout(random);
    SmallVector<int32_t> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    unsigned axis = pick(random, 0, 2);
    LinearLayout transposed = layout.transposeOuts(order);
    LinearLayout inserted = layout.insertOut(axis);
    LinearLayout removed = layout.removeOut(axis);
    LinearLayout zeroed = layout.zeroOuts({int32_t(axis), 1});
    int32_t total = layout.totalOutBits(), first = pick(random, 0, total);
    SmallVector<int32_t> sizes = {1 << first, 1, 1 << (total - first)};
    LinearLayout reshaped = layout.reshapeOuts(sizes);
    Values source = layout.outShape();
    source[axis] = 1;
    LinearLayout broadcast = layout.broadcastOuts(source);
    ASSERT_EQ(broadcast.outShape(), source);
    ASSERT_EQ(reshaped.outShape(), Values(sizes.begin(), sizes.end()));
    for (const LinearLayout *each :
         {&transposed, &inserted, &removed, &zeroed, &reshaped, &broadcast})
      for (unsigned i = 0; i < each->numOuts(); ++i)
        ASSERT_EQ(each->outDims()[i].name, dimName(i));
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat) {
      Values in = layout.unflattenInputs(flat), out = layout.apply(in);
      ASSERT_EQ(transposed.apply(in),
                (Values{out[order[0]], out[order[1]], out[order[2]]}));
      Values expected = out;
      expected.insert(expected.begin() + axis, 0);
      ASSERT_EQ(inserted.apply(in), expected);
      expected = out;
      expected.erase(expected.begin() + axis);
      ASSERT_EQ(removed.apply(in), expected);
      expected = out;
      expected[axis] = 0;
      ASSERT_EQ(broadcast.apply(in), expected);
      expected[1] = 0;
      ASSERT_EQ(zeroed.apply(in), expected);
      ASSERT_EQ(indexOf(reshaped.apply(in), sizes),
                indexOf(out, layout.outShape()));
    }
  });
}

TEST(LinearLayout, WithoutZeroRegisters) {
  forSeeds(200, [](std::mt19937 &random) {
    LinearLayout layout = randomLayout(random);
    LinearLayout slim = layout.withoutZeroRegisters();
    for (int32_t lane = 0; lane < layout.inSize("lane"); ++lane)
      for (int32_t warp = 0; warp < layout.inSize("warp"); ++warp) {
        std::set<Values> before, after;
        for (int32_t reg = 0; reg < layout.inSize("register"); ++reg)
          before.insert(layout.apply({reg, lane, warp}));
        for (int32_t reg = 0; reg < slim.inSize("register"); ++reg)
          ASSERT_TRUE(after.insert(slim.apply({reg, lane, warp})).second);
        ASSERT_EQ(before, after);
      }
    ASSERT_EQ(layout.withoutZeroRegisters().withoutZeroRegisters(), slim);
  });
  LinearLayout noRegister = LinearLayout::zeros1D(4, "lane", "dim0");
  EXPECT_EQ(noRegister.withoutZeroRegisters(), noRegister);
}

/// The largest power of two so that, whatever the rest, the values of each
/// aligned group of registers are consecutive and aligned.
int32_t consecutiveByBruteForce(const LinearLayout &layout, unsigned out) {
  int32_t best = 1;
  for (int32_t size = 2; size <= layout.inSize("register"); size *= 2) {
    for (uint64_t flat = 0; flat < numInputs(layout); ++flat) {
      Values in = layout.unflattenInputs(flat);
      int32_t within = in[0] % size;
      Values expected = layout.apply({in[0] - within, in[1], in[2]});
      if (expected[out] % size != 0)
        return best;
      expected[out] += within;
      if (layout.apply(in) != expected)
        return best;
    }
    best = size;
  }
  return best;
}

TEST(LinearLayout, NumConsecutive) {
  unsigned wide = 0;
  forSeeds(500, [&](std::mt19937 &random) {
    LinearLayout layout =
        pick(random, 0, 1) ? randomLayout(random)
                           : LinearLayout::identity1D(1 << pick(random, 0, 2),
                                                      "register", "dim1") *
                                 randomLayout(random);
    layout = layout.sublayout({"register", "lane", "warp"},
                              {"dim0", "dim1", "dim2"});
    int32_t number = layout.numConsecutive("register", "dim1");
    ASSERT_EQ(number, consecutiveByBruteForce(layout, 1)) << layout.toString();
    wide += number > 1;
  });
  EXPECT_GT(wide, 100u);
  EXPECT_EQ(example().numConsecutive("register", "dim1"), 2);
  EXPECT_EQ(example().numConsecutive("register", "dim0"), 1);
  EXPECT_EQ(example().numConsecutive("register", "dim7"), 1);
}

TEST(LinearLayout, HashAndEquality) {
  forSeeds(100, [](std::mt19937 &random) {
    LinearLayout layout = randomLayout(random);
    LinearLayout copy = layout.renameIn("lane", "x").renameIn("x", "lane");
    ASSERT_EQ(layout, copy);
    ASSERT_EQ(layout.hash(), copy.hash());
    LinearLayout other = layout.renameIn("lane", "x");
    ASSERT_NE(layout, other);
    ASSERT_NE(layout.hash(), other.hash());
  });
}

TEST(LinearLayout, Picture) {
  LinearLayout layout({{"register", {{0, 1}}}, {"lane", {{1, 0}, {0, 0}}}},
                      {{"dim0", 1}, {"dim1", 2}});
  EXPECT_EQ(layout.picture(),
            "[0]: r0 l0 | r0 l2  r1 l0 | r1 l2  -              -\n"
            "[1]: r0 l1 | r0 l3  r1 l1 | r1 l3  -              -\n");
  EXPECT_EQ(LinearLayout::identity1D(4, "lane", "dim0").picture(2),
            "l0  l1\n... 2 more elements\n");
}

} // namespace
} // namespace terrazzo::layout
