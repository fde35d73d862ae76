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
  SmallVector<Type> results;
  if (count != 0)
    results.push_back(LLVM::LLVMStructType::getLiteral(
        builder.getContext(), SmallVector<Type>(count, type)));
  auto piece = LLVM::InlineAsmOp::create(
      builder, loc, results, operands, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> words;
  for (size_t i = 0; i < count; ++i)
    words.push_back(builder.createOrFold<LLVM::BitcastOp>(
        loc, builder.getI32Type(),
        LLVM::ExtractValueOp::create(builder, loc, piece.getResult(0),
                                     static_cast<int64_t>(i))));
  return words;
}

/// Emits a piece of PTX that changes float registers in place, $0 and up: those
/// of `accs`, each given as words. Inputs follow, with a constraint each.
static SmallVector<Value> createInPlaceAsm(OpBuilder &builder, Location loc,
                                           llvm::StringRef text,
                                           ArrayRef<std::string> kinds,
                                           ValueRange inputs, ValueRange accs) {
  Type f32 = builder.getF32Type();
  SmallVector<Value> registers;
  SmallVector<size_t> sizes;
  for (Value acc : accs) {
    registers.append(accumulatorWords(builder, loc, acc, f32));
    sizes.push_back(registers.size());
  }
  SmallVector<std::string> constraints(registers.size(), "=f");
  llvm::append_range(constraints, kinds);
  for (size_t i = 0; i < registers.size(); ++i)
    constraints.push_back(std::to_string(i));
  constraints.emplace_back("~{memory}");
  SmallVector<Value> operands(inputs);
  operands.append(registers);
  SmallVector<Value> words =
      createMatrixAsm(builder, loc, text, llvm::join(constraints, ","),
                      operands, f32, registers.size());
  SmallVector<Value> now;
  size_t first = 0;
  for (auto [acc, end] : llvm::zip(accs, sizes)) {
    now.push_back(fromWords(builder, loc,
                            ArrayRef(words).slice(first, end - first),
                            acc.getType()));
    first = end;
  }
  return now;
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

/// wgmma: one piece of PTX from the fence to the end of the group. Accumulators
/// stay in their registers while products are in flight.
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

  static std::string list(size_t first, size_t count) {
    std::string names = "{";
    for (size_t i = 0; i < count; ++i)
      names += (i ? ", $" : "$") + std::to_string(first + i);
    return names + "}";
  }

  /// The PTX: `each` accumulator registers for each product, from $0 on, then
  /// the left factor, `held` registers for each fragment or a descriptor, then
  /// the right one's descriptor.
  static std::string textOf(simt::ThreadGroupMmaOp op, size_t each,
                            size_t held) {
    simt::InstructionAttr instruction = op.getInstruction();
    size_t count = op.getAccs().size(), fragments = op.getFragments().size(),
           left = count * each;
    std::string lhs = "$" + std::to_string(left),
                rhs = "$" + std::to_string(
                                left + (op.getLhs() ? 1 : fragments * held));
    std::string kind = "wgmma.mma_async.sync.aligned.m64n" +
                       std::to_string(instruction.getN()) + "k" +
                       std::to_string(instruction.getK()) + "." +
                       mmaType(instruction.getAcc(), false).str() + "." +
                       mmaType(instruction.getLhs(), false).str() + "." +
                       mmaType(instruction.getRhs(), false).str() + " ";
    // Only 16-bit factors may run across K, and say whether they do.
    std::string flags = ", p, 1, 1";
    if (op.getLhs() && !simt::innermostDim(instruction, 0))
      flags += op.getLhsAcross() ? ", 1" : ", 0";
    if (!simt::innermostDim(instruction, 1))
      flags += op.getRhsAcross() ? ", 1" : ", 0";
    flags += ";\n";
    std::string text = "{\n.reg .pred p;\n.reg .b64 a, b;\n"
                       "setp.eq.b64 p, " +
                       rhs + ", " + rhs +
                       ";\n"
                       "wgmma.fence.sync.aligned;\n";
    auto shifted = [&](const char *to, const std::string &from, int64_t bytes) {
      text += std::string("add.s64 ") + to + ", " + from + ", " +
              std::to_string(bytes / 16) + ";\n";
    };
    for (auto [lhsStep, rhsStep] :
         llvm::zip(op.getLhsSteps(), op.getRhsSteps()))
      for (size_t i = 0; i < count; ++i) {
        int32_t place = op.getLhsPlaces()[i] + lhsStep;
        std::string factor = "a";
        if (op.getLhs())
          shifted("a", lhs, place);
        else
          factor = list(left + static_cast<size_t>(place) * held, held);
        shifted("b", rhs, op.getRhsPlaces()[i] + rhsStep);
        text.append(kind).append(list(i * each, each)).append(", ");
        text.append(factor).append(", b").append(flags);
      }
    return text + "wgmma.commit_group.sync.aligned;\n}";
  }

  LogicalResult matchAndRewrite(simt::ThreadGroupMmaOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(simt::checkInstruction(op, op.getInstruction(), unit)))
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    SmallVector<std::string> kinds;
    // Without `across` the leading offset means nothing; 1 is what is given.
    auto addFactor = [&](Value pointer, int64_t swizzle, int64_t stride,
                         int64_t leading, bool isAcross) {
      operands.push_back(descriptor(rewriter, loc, pointer, swizzle, stride,
                                    isAcross ? leading : 16));
      kinds.emplace_back("l");
    };
    size_t held = 0;
    for (Value fragment : op.getFragments()) {
      SmallVector<Value> words = splitIntoWords(rewriter, loc, fragment);
      held = words.size();
      operands.append(words);
      kinds.append(held, "r");
    }
    if (op.getLhs())
      addFactor(op.getLhs(), op.getLhsSwizzle(), op.getLhsStride(),
                op.getLhsLeading(), op.getLhsAcross());
    addFactor(op.getRhs(), op.getRhsSwizzle(), op.getRhsStride(),
              op.getRhsLeading(), op.getRhsAcross());
    auto each = static_cast<size_t>(
        simt::instructionLayout(op.getInstruction(),
                                layout::MatrixRole::Accumulator)
            .inSize(simt::kRegister));
    rewriter.replaceOp(op,
                       createInPlaceAsm(rewriter, loc, textOf(op, each, held),
                                        kinds, operands, op.getAccs()));
    return success();
  }
};

/// A wait hands on what it waited for, so that it is read behind it only, and
/// reads what products read, so that nothing else is in those registers before.
struct LowerGroupWait : OpRewritePattern<simt::ThreadGroupWaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(simt::ThreadGroupWaitOp op,
                                PatternRewriter &rewriter) const override {
    // ptxas moves a wait up past arithmetic that it should come behind, but not
    // past a performance event, which does nothing else.
    std::string text = "pmevent 0;\nwgmma.wait_group.sync.aligned " +
                       std::to_string(op.getPending()) + ";";
    SmallVector<Value> held;
    for (Value fragment : op.getFragments())
      held.append(splitIntoWords(rewriter, op.getLoc(), fragment));
    SmallVector<std::string> kinds(held.size(), "r");
    rewriter.replaceOp(op, createInPlaceAsm(rewriter, op.getLoc(), text, kinds,
                                            held, op.getValues()));
    return success();
  }
};

} // namespace

void nvptx::populateMatrixPatterns(RewritePatternSet &patterns,
                                   tile::MatrixUnit unit) {
  patterns.add<LowerMma, LowerGroupMma>(patterns.getContext(), unit);
  patterns.add<LowerGroupWait>(patterns.getContext());
}
