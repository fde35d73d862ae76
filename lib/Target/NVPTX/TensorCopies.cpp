//===- TensorCopies.cpp - The copy engine and its barriers ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"
// and "Data Movement and Conversion Instructions: Tensor copy".
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "terrazzo/Dialect/Simt/IR/Simt.h"

#include "Words.h"

using namespace mlir;
using namespace terrazzo;

static void createAsm(OpBuilder &builder, Location loc, const std::string &text,
                      ValueRange operands, llvm::StringRef constraints) {
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), operands, text,
                            (constraints + ",~{memory}").str(),
                            /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

/// Addresses of shared memory have 32 bits.
static Value address(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

namespace {

struct LowerMbarrierInit : OpRewritePattern<simt::ThreadMbarrierInitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadMbarrierInitOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // The fence shows it to the copy engine.
    createAsm(rewriter, loc,
              "mbarrier.init.shared::cta.b64 [$0], " +
                  std::to_string(op.getArrivals()) +
                  ";\nfence.mbarrier_init.release.cluster;",
              {address(rewriter, loc, op.getBarrier())}, "r");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMbarrierEnd : OpRewritePattern<simt::ThreadMbarrierEndOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadMbarrierEndOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    createAsm(rewriter, loc, "mbarrier.inval.shared::cta.b64 [$0];",
              {address(rewriter, loc, op.getBarrier())}, "r");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMbarrierArrive : OpRewritePattern<simt::ThreadMbarrierArriveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadMbarrierArriveOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::string text = "mbarrier.arrive.shared::cta.b64 _, [$0];";
    if (op.getBytes() != 0)
      text = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
             std::to_string(op.getBytes()) + ";";
    createAsm(rewriter, loc, text, {address(rewriter, loc, op.getBarrier())},
              "r");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyArrive : OpRewritePattern<simt::ThreadCopyArriveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadCopyArriveOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // The barrier counts this arrival among those that it was made with.
    createAsm(rewriter, loc,
              "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];",
              {address(rewriter, loc, op.getBarrier())}, "r");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMbarrierWait : OpRewritePattern<simt::ThreadMbarrierWaitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadMbarrierWaitOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // The braces keep the names of copies of this text apart.
    std::string text =
        "{\n.reg .pred done;\n"
        "WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
        "@!done bra WAIT;\n}";
    if (op.getUnits())
      text += "\nfence.proxy.async.shared::cta;";
    createAsm(rewriter, loc, text,
              {address(rewriter, loc, op.getBarrier()), op.getParity()}, "r,r");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerTensorCopy : OpRewritePattern<simt::ThreadTensorCopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadTensorCopyOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> operands = {address(rewriter, loc, op.getTo()),
                                   op.getMap(),
                                   address(rewriter, loc, op.getBarrier())};
    std::string coordinates, constraints = "r,l,r";
    for (Value coordinate : op.getCoordinates()) {
      coordinates +=
          (coordinates.empty() ? "$" : ", $") + std::to_string(operands.size());
      operands.push_back(coordinate);
      constraints += ",r";
    }
    createAsm(rewriter, loc,
              "cp.async.bulk.tensor." +
                  std::to_string(op.getCoordinates().size()) +
                  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[$0], [$1, {" +
                  coordinates + "}], [$2];",
              operands, constraints);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void nvptx::populateTensorCopyPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMbarrierInit, LowerMbarrierEnd, LowerMbarrierArrive,
               LowerMbarrierWait, LowerCopyArrive, LowerTensorCopy>(
      patterns.getContext());
}

void nvptx::passTensorMaps(ModuleOp module) {
  if (!module->hasAttr(tile::kTensorMapsAttr))
    return;
  Builder b(module.getContext());
  Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
  for (auto kernel : module.getOps<func::FuncOp>())
    for (BlockArgument argument : kernel.getArguments()) {
      auto pointer = dyn_cast<LLVM::LLVMPointerType>(argument.getType());
      if (!pointer || pointer.getAddressSpace() != 0)
        continue;
      unsigned index = argument.getArgNumber();
      kernel.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(bytes));
      kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(64));
    }
}
