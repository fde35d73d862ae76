//===- AxisInfoTest.cpp - What is claimed of well-known kernels -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case is a function in which the value of interest carries the attribute
// `x` (or `y`). That claims are right is tested by AxisInfoRandomTest.cpp; this
// is about claims that must be made, and traps.
//===----------------------------------------------------------------------===//

#include "AxisInfoFixture.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using terrazzo::AxisInfo;
using terrazzo::AxisInfoAnalysis;

namespace {

constexpr int64_t kAll = int64_t(1) << 62;

class AxisInfoTest : public AxisInfoFixture {
protected:
  /// Parses `func.func @f(arguments) { body }` and analyses it.
  void analyse(const std::string &arguments, const std::string &body) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}", &context);
    ASSERT_TRUE(module);
    analysis.emplace(*module->getOps<func::FuncOp>().begin());
  }

  Value find(StringRef name = "x") {
    Value found;
    module->walk([&](Operation *op) {
      if (op->hasAttr(name) && op->getNumResults())
        found = op->getResult(0);
    });
    EXPECT_TRUE(found);
    return found;
  }

  void expect(std::vector<int64_t> contiguity,
              std::vector<int64_t> divisibility, std::vector<int64_t> constancy,
              StringRef name = "x") {
    AxisInfo info = analysis->get(find(name));
    auto list = [](ArrayRef<int64_t> v) { return std::vector<int64_t>(v); };
    EXPECT_EQ(list(info.contiguity), contiguity);
    EXPECT_EQ(list(info.divisibility), divisibility);
    EXPECT_EQ(list(info.constancy), constancy);
  }

  OwningOpRef<ModuleOp> module;
  std::optional<AxisInfoAnalysis> analysis;
};

TEST_F(AxisInfoTest, Arange) {
  analyse("", R"(
    %0 = tile.arange 0 to 128 {x} : tensor<128xi32>
    %1 = tile.arange 24 to 72 {y} : tensor<48xi32>)");
  expect({128}, {kAll}, {1});
  expect({16}, {8}, {1}, "y");
}

TEST_F(AxisInfoTest, VectorAdd) {
  analyse("%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, "
          "%n: i32 {tile.divisibility = 16 : i32}",
          R"(
    %pid = tile.program_id 0
    %c = arith.constant 1024 : i32
    %start = arith.muli %pid, %c : i32
    %range = tile.arange 0 to 1024 : tensor<1024xi32>
    %s = tile.splat %start : i32 -> tensor<1024xi32>
    %offs = arith.addi %s, %range : tensor<1024xi32>
    %ns = tile.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %offs, %ns {y} : tensor<1024xi32>
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %ptr = tile.addptr %ps, %offs {x} : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>)");
  expect({1024}, {16}, {1});
  expect({1}, {1}, {16}, "y");
  EXPECT_EQ(analysis->getPointerVector(find()), 4);
  EXPECT_EQ(analysis->getMaskAlignment(find("y"), 0), 16);
}

/// A sum of 32 bits may wrap around inside a run unless runs are aligned.
TEST_F(AxisInfoTest, OverflowBeforeExtension) {
  const char *body = R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %s = tile.splat %n : i32 -> tensor<64xi32>
    %offs = arith.addi %s, %range {y} : tensor<64xi32>
    %wide = arith.extsi %offs {x} : tensor<64xi32> to tensor<64xi64>)";
  analyse("%n: i32", body);
  expect({64}, {1}, {1}, "y");
  expect({1}, {1}, {1});
  EXPECT_EQ(analysis->getOrder(find()), (SmallVector<unsigned>{0}));
  analyse("%n: i32 {tile.divisibility = 8 : i32}", body);
  expect({8}, {8}, {1});
}

/// Runs of 256 that start at multiples of 256 do wrap around in eight bits.
TEST_F(AxisInfoTest, NarrowElements) {
  analyse("", R"(
    %range = tile.arange 0 to 512 : tensor<512xi32>
    %n = arith.trunci %range {y} : tensor<512xi32> to tensor<512xi8>
    %wide = arith.extsi %n {x} : tensor<512xi8> to tensor<512xi32>)");
  expect({512}, {kAll}, {1}, "y");
  expect({128}, {128}, {1});
}

/// `overflow<nsw>` and a start that is not negative show that nothing wraps.
TEST_F(AxisInfoTest, NoOverflow) {
  analyse("", R"(
    %pid = tile.program_id 0
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %s = tile.splat %pid : i32 -> tensor<64xi32>
    %offs = arith.addi %s, %range overflow<nsw> : tensor<64xi32>
    %wide = arith.extsi %offs {x} : tensor<64xi32> to tensor<64xi64>)");
  expect({64}, {1}, {1});
}

/// Row-major and column-major tiles of a matrix with a stride that is known to
/// be divisible by 16.
TEST_F(AxisInfoTest, Matrix) {
  const char *body = R"(
    %rm = tile.arange 0 to 32 : tensor<32xi32>
    %rk = tile.arange 0 to 64 : tensor<64xi32>
    %m = tile.expand_dims %rm, 1 : tensor<32xi32> -> tensor<32x1xi32>
    %k = tile.expand_dims %rk, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %st = tile.splat %stride : i32 -> tensor<32x1xi32>
    %row = arith.muli %m, %st : tensor<32x1xi32>
    %rows = tile.broadcast %row : tensor<32x1xi32> -> tensor<32x64xi32>
    %cols = tile.broadcast %k : tensor<1x64xi32> -> tensor<32x64xi32>
    %offs = arith.addi %rows, %cols : tensor<32x64xi32>
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %ptr = tile.addptr %ps, %offs {x} : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %t = tile.transpose %ptr, [1, 0] {y} : tensor<32x64x!tile.ptr<f16>> -> tensor<64x32x!tile.ptr<f16>>)";
  analyse("%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, "
          "%stride: i32 {tile.divisibility = 16 : i32}",
          body);
  // Not 64: row * stride is a multiple of 16 that may be near the end of i32.
  expect({1, 16}, {2, 16}, {1, 1});
  EXPECT_EQ(analysis->getPointerVector(find()), 8);
  EXPECT_EQ(analysis->getOrder(find()), (SmallVector<unsigned>{1, 0}));
  EXPECT_EQ(analysis->getPointerVector(find("y")), 8);
  EXPECT_EQ(analysis->getOrder(find("y")), (SmallVector<unsigned>{0, 1}));
  analyse("%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %stride: i32",
          body);
  EXPECT_EQ(analysis->getPointerVector(find()), 1);
  EXPECT_EQ(analysis->getOrder(find()), (SmallVector<unsigned>{1, 0}));
}

/// A tile of pointers that a loop moves on, and the mask of the last turn.
TEST_F(AxisInfoTest, PointerInLoop) {
  const char *body = R"(
    %c0 = arith.constant 0 : i32
    %bk = arith.constant 32 : i32
    %rk = tile.arange 0 to 32 : tensor<32xi32>
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
    %first = tile.addptr %ps, %rk : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    %step = arith.muli %bk, %stride : i32
    %steps = tile.splat %step : i32 -> tensor<32xi32>
    %last = scf.for %k = %c0 to %n step %bk iter_args(%at = %first) -> tensor<32x!tile.ptr<f32>> : i32 {
      %left = arith.subi %n, %k : i32
      %lefts = tile.splat %left : i32 -> tensor<32xi32>
      %mask = arith.cmpi slt, %rk, %lefts {y} : tensor<32xi32>
      %here = tile.hint %at {x} : tensor<32x!tile.ptr<f32>>
      %next = tile.addptr %at, %steps : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
      scf.yield %next : tensor<32x!tile.ptr<f32>>
    } {z})";
  analyse("%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %stride: i32, "
          "%n: i32 {tile.divisibility = 8 : i32}",
          body);
  expect({32}, {16}, {1});
  expect({32}, {16}, {1}, "z");
  expect({1}, {1}, {8}, "y");
}

/// What a loop carries gets worse from turn to turn: 16, 8, 4 and so on.
TEST_F(AxisInfoTest, LoopLosesDivisibility) {
  analyse("%n: i32", R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %c16) -> i32 : i32 {
      %h = arith.shrui %a, %c1 : i32
      scf.yield %h : i32
    } {x})");
  expect({1}, {1}, {1});
}

TEST_F(AxisInfoTest, InductionVariable) {
  analyse("%n: i32", R"(
    %c4 = arith.constant 8 : i32
    %c12 = arith.constant 12 : i32
    %c0 = arith.constant 0 : i32
    scf.for %k = %c4 to %n step %c12 : i32 {
      %0 = arith.addi %k, %c0 {x} : i32
    })");
  expect({1}, {4}, {1});
}

/// x % n has runs only if x is not negative and n is divisible.
TEST_F(AxisInfoTest, Remainder) {
  auto body = [](std::string op) {
    return R"(
    %pid = tile.program_id 0
    %c64 = arith.constant 64 : i32
    %start = arith.muli %pid, %c64 overflow<nsw> : i32
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %s = tile.splat %start : i32 -> tensor<64xi32>
    %x = arith.addi %s, %range overflow<nsw> : tensor<64xi32>
    %w = arith.addi %s, %range : tensor<64xi32>
    %m = arith.muli %m0, %c64 : i32
    %ms = tile.splat %m : i32 -> tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %r = )" +
           op;
  };
  std::string arguments = "%n: i32 {tile.divisibility = 16 : i32}, %m0: i32";
  analyse(arguments, body("arith.remsi %x, %ns {x} : tensor<64xi32>"));
  expect({16}, {16}, {1});
  analyse(arguments, body("arith.remsi %ns, %x {x} : tensor<64xi32>"));
  expect({1}, {1}, {1});
  analyse(arguments, body("arith.remui %w, %ns {x} : tensor<64xi32>"));
  expect({16}, {16}, {1});
  // A program's place is taken not to overflow; with a number of unknown sign
  // it is none.
  analyse(arguments, body("arith.remsi %w, %ns {x} : tensor<64xi32>"));
  expect({16}, {16}, {1});
  std::string mixed = R"(arith.addi %w, %ns : tensor<64xi32>
    %q = arith.remsi %r, %ns {x} : tensor<64xi32>)";
  analyse(arguments, body(mixed));
  expect({1}, {1}, {1});
  std::string negative = R"(arith.addi %x, %ms : tensor<64xi32>
    %q = arith.remsi %r, %ns {x} : tensor<64xi32>)";
  analyse(arguments, body(negative));
  expect({1}, {1}, {1});
  EXPECT_EQ(analysis->getOrder(find()), (SmallVector<unsigned>{0}));
}

TEST_F(AxisInfoTest, AssumedSign) {
  analyse("%a: i32 {tile.divisibility = 16 : i32}, "
          "%n: i32 {tile.divisibility = 16 : i32}",
          R"(
    %c0 = arith.constant 0 : i32
    %c1000 = arith.constant 1000 : i32
    %ge = arith.cmpi sge, %a, %c0 : i32
    tile.assume %ge
    %lt = arith.cmpi slt, %a, %c1000 : i32
    tile.assume %lt
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %s = tile.splat %a : i32 -> tensor<64xi32>
    %offs = arith.addi %s, %range : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %r = arith.remsi %offs, %ns {x} : tensor<64xi32>)");
  expect({16}, {16}, {1});
}

TEST_F(AxisInfoTest, QuotientIsConstantInGroups) {
  analyse("", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %c8 = arith.constant dense<8> : tensor<64xi32>
    %c24 = arith.constant dense<-24> : tensor<64xi32>
    %q = arith.divsi %range, %c8 {x} : tensor<64xi32>
    %n = arith.addi %range, %c24 : tensor<64xi32>
    %o = arith.divsi %n, %c8 {y} : tensor<64xi32>)");
  expect({1}, {1}, {8});
  expect({1}, {1}, {1}, "y"); // -7 / 8 is 0, -8 / 8 is -1
}

TEST_F(AxisInfoTest, Bits) {
  analyse("", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %c15 = arith.constant dense<15> : tensor<64xi32>
    %c4 = arith.constant dense<4> : tensor<64xi32>
    %low = arith.andi %range, %c15 {x} : tensor<64xi32>
    %high = arith.shrui %range, %c4 {y} : tensor<64xi32>
    %back = arith.shli %high, %c4 {z} : tensor<64xi32>
    %whole = arith.ori %back, %low {w} : tensor<64xi32>)");
  expect({16}, {16}, {1});
  expect({1}, {1}, {16}, "y");
  expect({1}, {16}, {16}, "z");
  expect({16}, {16}, {1}, "w");
}

TEST_F(AxisInfoTest, Comparisons) {
  for (const char *predicate : {"slt", "sge", "ult", "uge"}) {
    analyse("%n: i32 {tile.divisibility = 32 : i32}", std::string(R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi )") + predicate + ", %range, %ns {x} : tensor<64xi32>");
    expect({1}, {1}, {32});
  }
  for (const char *predicate : {"sle", "sgt", "eq", "ne"}) {
    analyse("%n: i32 {tile.divisibility = 32 : i32}", std::string(R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi )") + predicate + ", %range, %ns {x} : tensor<64xi32>");
    expect({1}, {1}, {1});
  }
  analyse("", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %c = arith.constant dense<23> : tensor<64xi32>
    %m = arith.cmpi sle, %range, %c {x} : tensor<64xi32>)");
  expect({1}, {1}, {8}); // as < 24
}

TEST_F(AxisInfoTest, Hints) {
  analyse("%t: i32", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %ts = tile.splat %t : i32 -> tensor<64xi32>
    %r = arith.remsi %range, %ts : tensor<64xi32>
    %d = tile.hint %r {divisibility = array<i32: 64>, y} : tensor<64xi32>
    %h = tile.hint %d {contiguity = array<i32: 32>, x} : tensor<64xi32>
    %s = tile.hint %t {divisibility = array<i32: 24>, z} : i32
    %k = tile.hint %r {constancy = array<i32: 4>, w} : tensor<64xi32>)");
  expect({32}, {64}, {1});
  expect({1}, {1}, {1}, "y");
  expect({1}, {8}, {1}, "z");
  expect({1}, {1}, {4}, "w");
}

TEST_F(AxisInfoTest, Reshapes) {
  analyse("", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %a = tile.reshape %range {x} : tensor<64xi32> -> tensor<4x16xi32>
    %b = tile.reshape %a {y} : tensor<4x16xi32> -> tensor<4x1x2x8xi32>
    %e = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %f = tile.broadcast %e : tensor<64x1xi32> -> tensor<64x8xi32>
    %g = tile.reshape %f {z} : tensor<64x8xi32> -> tensor<512xi32>
    %h = tile.reshape %g {w} : tensor<512xi32> -> tensor<64x8xi32>)");
  expect({1, 16}, {1, 16}, {1, 1});
  expect({1, 1, 1, 8}, {1, 1, 1, 8}, {1, 1, 1, 1}, "y");
  expect({1}, {1}, {8}, "z");
  expect({1, 1}, {1, 1}, {1, 8}, "w");
}

TEST_F(AxisInfoTest, BranchesAndWhile) {
  analyse("%c: i1, %n: i32", R"(
    %c0 = arith.constant 0 : i32
    %c12 = arith.constant 12 : i32
    %c8 = arith.constant 8 : i32
    %i = scf.if %c -> i32 {
      scf.yield %c12 : i32
    } else {
      scf.yield %c8 : i32
    } {x}
    %w = scf.while (%a = %c0) : (i32) -> i32 {
      %go = arith.cmpi slt, %a, %n : i32
      scf.condition(%go) %a : i32
    } do {
    ^bb0(%b: i32):
      %next = arith.addi %b, %c12 : i32
      scf.yield %next : i32
    } attributes {y})");
  expect({1}, {4}, {1});
  expect({1}, {4}, {1}, "y");
}

/// Constant, and so equal for each row: a table of pages of 16 elements.
TEST_F(AxisInfoTest, IndirectLoad) {
  analyse(
      "%t: !tile.ptr<i32>, %p: !tile.ptr<i8> {tile.divisibility = 16 : i32}",
      R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %c16 = arith.constant dense<16> : tensor<64xi32>
    %q = arith.divui %range, %c16 : tensor<64xi32>
    %r = arith.remui %range, %c16 : tensor<64xi32>
    %ts = tile.splat %t : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %tp = tile.addptr %ts, %q : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %page = tile.load %tp : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
    %start = arith.muli %page, %c16 : tensor<64xi32>
    %offs = arith.addi %start, %r : tensor<64xi32>
    %ps = tile.splat %p : !tile.ptr<i8> -> tensor<64x!tile.ptr<i8>>
    %ptr = tile.addptr %ps, %offs {x} : tensor<64x!tile.ptr<i8>>, tensor<64xi32>)");
  expect({16}, {16}, {1});
  EXPECT_EQ(analysis->getPointerVector(find()), 16);
}

TEST_F(AxisInfoTest, PointerCasts) {
  analyse("%p: !tile.ptr<i8> {tile.divisibility = 16 : i32}", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %ps = tile.splat %p : !tile.ptr<i8> -> tensor<64x!tile.ptr<i8>>
    %a = tile.addptr %ps, %range : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
    %b = tile.ptr_cast %a {x} : tensor<64x!tile.ptr<i8>> -> tensor<64x!tile.ptr<i32>>
    %c = tile.ptr_cast %ps : tensor<64x!tile.ptr<i8>> -> tensor<64x!tile.ptr<i32>>
    %d = tile.addptr %c, %range {y} : tensor<64x!tile.ptr<i32>>, tensor<64xi32>)");
  expect({1}, {1}, {1});
  expect({64}, {16}, {1}, "y");
}

/// Nothing is known inside a combining region, nor of what it makes.
TEST_F(AxisInfoTest, Regions) {
  analyse("", R"(
    %range = tile.arange 0 to 64 : tensor<64xi32>
    %s = "tile.scan"(%range) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b {y} : i32
      tile.yield %t : i32
    }) {x} : (tensor<64xi32>) -> tensor<64xi32>)");
  expect({1}, {1}, {1});
  expect({1}, {1}, {1}, "y");
}

} // namespace
