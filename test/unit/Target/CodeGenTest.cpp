//===- CodeGenTest.cpp - Which passes code goes through -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of each module multiplies twice by the same number.
// Straight-line strength reduction makes a shift and an addition of the second
// product; where there is much code, that is left out.
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/CodeGen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/IR/OptBisect.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

using namespace mlir;
using terrazzo::CodeGen;

namespace {

constexpr unsigned kFew = 10;
constexpr unsigned kMany = 10000;

struct Processor {
  const char *name;
  const char *triple;
  const char *cpu;
  const char *product; ///< in its assembly
};

class CodeGenTest : public testing::TestWithParam<Processor> {
protected:
  CodeGenTest() {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    DialectRegistry registry;
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<LLVM::LLVMDialect>();
  }

  /// A code generator for two products and, in a second function, `additions`
  /// that nothing uses.
  std::unique_ptr<CodeGen> create(unsigned additions) {
    std::string text = R"(
      llvm.func @products(%p: !llvm.ptr, %a: i32, %b: i32) {
        %four = llvm.mlir.constant(4 : i32) : i32
        %c = llvm.add %a, %four : i32
        %x = llvm.mul %a, %b : i32
        %y = llvm.mul %c, %b : i32
        llvm.store volatile %x, %p : i32, !llvm.ptr
        llvm.store volatile %y, %p : i32, !llvm.ptr
        llvm.return
      }
      llvm.func @unused(%a: i32) {
)";
    for (unsigned i = 0; i < additions; ++i)
      text += "%" + std::to_string(i) + " = llvm.add %a, %a : i32\n";
    text += "llvm.return\n}\n";
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    CodeGen::Machine machine;
    machine.triple = GetParam().triple;
    machine.cpu = GetParam().cpu;
    FailureOr<std::unique_ptr<CodeGen>> result =
        CodeGen::create(*modules.back(), "test", machine);
    return failed(result) ? nullptr : std::move(*result);
  }

  size_t countProducts(CodeGen &codegen) {
    FailureOr<std::string> code =
        codegen.generate(llvm::CodeGenFileType::AssemblyFile);
    return succeeded(code) ? StringRef(*code).count(GetParam().product) : 0;
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

TEST_P(CodeGenTest, StrengthIsReducedInShortCode) {
  std::unique_ptr<CodeGen> codegen = create(kFew);
  ASSERT_TRUE(codegen);
  EXPECT_EQ(countProducts(*codegen), 1u);
}

TEST_P(CodeGenTest, StrengthIsNotReducedInLongCode) {
  std::unique_ptr<CodeGen> codegen = create(kMany);
  ASSERT_TRUE(codegen);
  EXPECT_EQ(countProducts(*codegen), 2u);
}

/// Code generators that are alive together do not see each other's length.
TEST_P(CodeGenTest, EachHasItsOwnLength) {
  std::unique_ptr<CodeGen> shortOne = create(kFew);
  std::unique_ptr<CodeGen> longOne = create(kMany);
  ASSERT_TRUE(shortOne && longOne);
  EXPECT_EQ(countProducts(*longOne), 2u);
  EXPECT_TRUE(longOne->getModule().getContext().getOptPassGate().isEnabled());
  EXPECT_FALSE(shortOne->getModule().getContext().getOptPassGate().isEnabled());
  EXPECT_EQ(countProducts(*shortOne), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, CodeGenTest,
    testing::Values(
        Processor{"Nvptx", "nvptx64-nvidia-cuda", "sm_80", "mul.lo.s32"},
        Processor{"Amdgpu", "amdgcn-amd-amdhsa", "gfx942", "v_mul_lo_u32"}),
    [](const auto &info) { return info.param.name; });

} // namespace
