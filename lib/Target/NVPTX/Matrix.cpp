//===- Matrix.cpp - Matrix units of NVIDIA --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

using namespace mlir;
using namespace terrazzo;
using nvptx::fromWords;
using nvptx::splitIntoWords;

/// What PTX calls an operand's type.
static llvm::StringRef mmaType(Type type, bool isUnsigned) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isTF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  if (type.isInteger(8))
    return isUnsigned ? "u8" : "s8";
  return type.isF32() ? "f32" : "s32";
}

/// The words of an accumulator, floats in float registers.
static SmallVector<Value> accumulatorWords(OpBuilder &builder, Location loc,
                                           Value acc, Type type) {
  return llvm::map_to_vector(
      splitIntoWords(builder, loc, acc), [&](Value word) {
        return builder.createOrFold<LLVM::BitcastOp>(loc, type, word);
      });
}

/// Emits a piece of PTX that gives `count` results of this type; they come as
/// integer words. It waits for all lanes, so it has to stay where they are
/// together: it has side effects.
static SmallVector<Value> createMatrixAsm(OpBuilder &builder, Location loc,
                                          llvm::StringRef text,
                                          const std::string &constraints,
                                          ValueRange operands, Type type,
                                          size_t count) {
  auto results = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(count, type));
  Value parts = LLVM::InlineAsmOp::create(
                    builder, loc, TypeRange(results), operands, text,
                    constraints, /*has_side_effects=*/true,
                    /*is_align_stack=*/false, LLVM::TailCallKind::None,
                    LLVM::AsmDialectAttr(), ArrayAttr())
                    .getResult(0);
  SmallVector<Value> words;
  for (size_t i = 0; i < count; ++i)
    words.push_back(builder.createOrFold<LLVM::BitcastOp>(
        loc, builder.getI32Type(),
        LLVM::ExtractValueOp::create(builder, loc, parts,
                                     static_cast<int64_t>(i))));
  return words;
}

namespace {

/// mma.sync. All of its operands are words; those of a float accumulator are in
/// float registers.
struct LowerMma : OpRewritePattern<simt::ThreadMmaOp> {
  LowerMma(MLIRContext *context, tile::MatrixUnit unit)
      : OpRewritePattern(context), unit(unit) {}
  tile::MatrixUnit unit;

  LogicalResult matchAndRewrite(simt::ThreadMmaOp op,
                                PatternRewriter &rewriter) const override {
    simt::InstructionAttr instruction = op.getInstruction();
    if (failed(simt::checkInstruction(op, instruction, unit)))
      return failure();
    Location loc = op.getLoc();
    bool isFloat = instruction.getAcc().isF32();
    std::string text, constraints;
    SmallVector<Value> operands;
    unsigned count = 0;
    auto list = [&](size_t size) {
      std::string names = "{";
      for (size_t i = 0; i < size; ++i)
        names += (i ? ", $" : "$") + std::to_string(count++);
      return names + "}";
    };
    Type accType =
        isFloat ? Type(rewriter.getF32Type()) : rewriter.getI32Type();
    SmallVector<Value> acc =
        accumulatorWords(rewriter, loc, op.getAcc(), accType);
    std::string result = list(acc.size());
    for (size_t i = 0; i < acc.size(); ++i)
      constraints += i ? isFloat ? ",=f" : ",=r" : isFloat ? "=f" : "=r";
    auto factor = [&](Value value) {
      SmallVector<Value> words = splitIntoWords(rewriter, loc, value);
      operands.append(words);
      for (size_t i = 0; i < words.size(); ++i)
        constraints += ",r";
      return list(words.size());
    };
    std::string lhs = factor(op.getLhs()), rhs = factor(op.getRhs());
    std::string sum = list(acc.size());
    operands.append(acc);
    for (size_t i = 0; i < acc.size(); ++i)
      constraints += isFloat ? ",f" : ",r";
    auto type = [&](Type each) {
      return "." + mmaType(each, op.getIsUnsigned()).str();
    };
    text = "mma.sync.aligned.m" + std::to_string(instruction.getM()) + "n" +
           std::to_string(instruction.getN()) + "k" +
           std::to_string(instruction.getK()) + ".row.col" +
           type(instruction.getAcc()) + type(instruction.getLhs()) +
           type(instruction.getRhs()) + type(instruction.getAcc()) + " " +
           result + ", " + lhs + ", " + rhs + ", " + sum + ";";
    SmallVector<Value> words = createMatrixAsm(rewriter, loc, text, constraints,
                                               operands, accType, acc.size());
    rewriter.replaceOp(op, fromWords(rewriter, loc, words, op.getType()));
    return success();
  }
};

/// wgmma. Everything from the first instruction to the wait is one piece of
/// PTX: accumulators stay in their registers while products are in flight.
struct LowerGroupMma : OpRewritePattern<simt::ThreadGroupMmaOp> {
  LowerGroupMma(MLIRContext *context, tile::MatrixUnit unit)
      : OpRewritePattern(context), unit(unit) {}
  tile::MatrixUnit unit;

  /// PTX ISA, "Matrix Descriptor Format": bits 0-13 the address, 16-29 and
  /// 32-45 the leading and the stride offset, all in units of 16 bytes, 62-63
  /// the swizzle (1: 128 bytes, 2: 64, 3: 32).
  static Value descriptor(OpBuilder &b, Location loc, Value pointer,
                          int64_t swizzle, int64_t stride, int64_t leading) {
    Type i64 = b.getI64Type();
    auto constant = [&](uint64_t value) -> Value {
      return LLVM::ConstantOp::create(
          b, loc, b.getI64IntegerAttr(static_cast<int64_t>(value)));
    };
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    uint64_t rest = mode << 62 | static_cast<uint64_t>(stride / 16) << 32 |
                    static_cast<uint64_t>(leading / 16) << 16;
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer);
    address = LLVM::ZExtOp::create(b, loc, i64, address);
    address = LLVM::LShrOp::create(b, loc, address, constant(4));
    return LLVM::OrOp::create(b, loc, address, constant(rest));
  }

  /// The PTX: `each` accumulator registers for each product, from $0 on, then
  /// the two descriptors.
  static std::string textOf(simt::ThreadGroupMmaOp op, size_t each) {
    simt::InstructionAttr instruction = op.getInstruction();
    size_t count = op.getAccs().size();
    auto name = [](size_t number) { return "$" + std::to_string(number); };
    std::string lhs = name(count * each), rhs = name(count * each + 1);
    std::string kind = "wgmma.mma_async.sync.aligned.m64n" +
                       std::to_string(instruction.getN()) + "k" +
                       std::to_string(instruction.getK()) + "." +
                       mmaType(instruction.getAcc(), false).str() + "." +
                       mmaType(instruction.getLhs(), false).str() + "." +
                       mmaType(instruction.getRhs(), false).str() + " ";
    std::string flags = std::string(", p, 1, 1, ") +
                        (op.getLhsAcross() ? "1" : "0") + ", " +
                        (op.getRhsAcross() ? "1" : "0") + ";\n";
    std::string text = "{\n.reg .pred p;\n.reg .b64 a, b;\n"
                       "setp.eq.b64 p, " +
                       lhs + ", " + lhs +
                       ";\n"
                       "wgmma.fence.sync.aligned;\n";
    auto shifted = [&](const char *to, const std::string &from, int64_t bytes) {
      text += std::string("add.s64 ") + to + ", " + from + ", " +
              std::to_string(bytes / 16) + ";\n";
    };
    for (auto [lhsStep, rhsStep] :
         llvm::zip(op.getLhsSteps(), op.getRhsSteps()))
      for (size_t i = 0; i < count; ++i) {
        shifted("a", lhs, op.getLhsPlaces()[i] + lhsStep);
        shifted("b", rhs, op.getRhsPlaces()[i] + rhsStep);
        std::string registers;
        for (size_t r = 0; r < each; ++r)
          registers += (r ? ", " : "") + name(i * each + r);
        text.append(kind).append("{").append(registers);
        text.append("}, a, b").append(flags);
      }
    return text + "wgmma.commit_group.sync.aligned;\n"
                  "wgmma.wait_group.sync.aligned 0;\n}";
  }

  LogicalResult matchAndRewrite(simt::ThreadGroupMmaOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(simt::checkInstruction(op, op.getInstruction(), unit)))
      return failure();
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    SmallVector<Value> accs;
    for (Value acc : op.getAccs())
      accs.append(accumulatorWords(rewriter, loc, acc, f32));
    size_t each = accs.size() / op.getAccs().size();
    // Without `across` the leading offset means nothing; 1 is what is given.
    auto leading = [](bool isAcross, int64_t bytes) {
      return isAcross ? bytes : 16;
    };
    SmallVector<Value> operands = {
        descriptor(rewriter, loc, op.getLhs(), op.getLhsSwizzle(),
                   op.getLhsStride(),
                   leading(op.getLhsAcross(), op.getLhsLeading())),
        descriptor(rewriter, loc, op.getRhs(), op.getRhsSwizzle(),
                   op.getRhsStride(),
                   leading(op.getRhsAcross(), op.getRhsLeading()))};
    operands.append(accs);
    std::string constraints;
    for (size_t i = 0; i < accs.size(); ++i)
      constraints += "=f,";
    constraints += "l,l";
    for (size_t i = 0; i < accs.size(); ++i)
      constraints += "," + std::to_string(i);
    SmallVector<Value> words =
        createMatrixAsm(rewriter, loc, textOf(op, each),
                        constraints + ",~{memory}", operands, f32, accs.size());
    SmallVector<Value> now;
    for (auto [i, type] : llvm::enumerate(op.getResultTypes()))
      now.push_back(fromWords(rewriter, loc,
                              ArrayRef(words).slice(i * each, each), type));
    rewriter.replaceOp(op, now);
    return success();
  }
};

} // namespace

void nvptx::populateMatrixPatterns(RewritePatternSet &patterns,
                                   tile::MatrixUnit unit) {
  patterns.add<LowerMma, LowerGroupMma>(patterns.getContext(), unit);
}
