//===- MatrixUnitsTest.cpp - Every instruction of every chip --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM aborts on an intrinsic that a chip does not have. So each row of the
// table is compiled for each chip whose unit it is.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"
#include "terrazzo/Compiler/Compiler.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Target/Target.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace terrazzo;

namespace {

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// A kernel of one product of about the instruction's own size.
std::string kernelWith(simt::InstructionAttr unit) {
  std::string lhs = textOf(simt::tileElement(unit.getLhs())),
              rhs = textOf(simt::tileElement(unit.getRhs())),
              acc = textOf(unit.getAcc());
  auto tile = [](int32_t rows, int32_t columns, const std::string &element) {
    return llvm::formatv("tensor<{0}x{1}x{2}>", rows, columns, element).str();
  };
  auto load = [&](const char *name, int32_t rows, int32_t columns,
                  const std::string &element) {
    std::string pointer = "!tile.ptr<" + element + ">",
                pointers = tile(rows, columns, pointer);
    return llvm::formatv("%p{0} = tile.splat %{0} : {1} -> {2}\n"
                         "%t{0} = tile.load %p{0} : {2} -> {3}\n",
                         name, pointer, pointers, tile(rows, columns, element))
        .str();
  };
  // Factors in shared memory have rows of 32 bytes at least.
  int32_t m = unit.getM(), n = std::max(unit.getN(), 32), k = unit.getK();
  return llvm::formatv(
             "module attributes {{tile.num_warps = 4 : i32} {{\n"
             "func.func @kernel(%a: !tile.ptr<{0}>, %b: !tile.ptr<{1}>, "
             "%c: !tile.ptr<{2}>) attributes {{tile.kernel} {{\n{3}{4}{5}"
             "%d = simt.mma %ta, %tb, %tc by {6} : {7}, {8} -> {9}\n"
             "tile.store %pc, %d : {10}, {9}\nreturn\n}\n}\n",
             lhs, rhs, acc, load("a", m, k, lhs), load("b", k, n, rhs),
             load("c", m, n, acc),
             StringRef(textOf(unit)).drop_front(strlen("#simt.instruction")),
             tile(m, k, lhs), tile(k, n, rhs), tile(m, n, acc),
             tile(m, n, "!tile.ptr<" + acc + ">"))
      .str();
}

class MatrixUnitsTest : public testing::TestWithParam<const char *> {
protected:
  MatrixUnitsTest() {
    registerTargets();
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context;
};

TEST_P(MatrixUnitsTest, AllInstructionsCompile) {
  StringRef spec = GetParam();
  auto [name, chip] = spec.split(':');
  const Target *target = findTarget(name);
  ASSERT_NE(target, nullptr);
  tile::MatrixUnit unit = target->describe(context, chip).getMatrix();
  SmallVector<simt::InstructionAttr> instructions =
      simt::instructionsOf(unit, &context);
  EXPECT_FALSE(instructions.empty());
  for (simt::InstructionAttr instruction : instructions) {
    std::string text = kernelWith(instruction);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_TRUE(succeeded(compile(*module, spec, {}))) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, MatrixUnitsTest,
                         testing::Values("cuda:sm_80", "cuda:sm_89",
                                         "cuda:sm_90a", "hip:gfx90a",
                                         "hip:gfx942", "hip:gfx950",
                                         "hip:gfx1100", "hip:gfx1201"));

} // namespace
