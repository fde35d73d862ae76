//===- Patterns.cpp - What one thread does, on NVIDIA ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX has predicates and cache hints on each access; LLVM has not. Such
// accesses are inline PTX, whose registers are untyped words: `h` of 16, `r`
// of 32 and `l` of 64 bits.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/NVPTX/Target.h"
#include "terrazzo/Target/Target.h"

#include "Words.h"

using namespace mlir;
using namespace terrazzo;
using nvptx::fromWords;
using nvptx::splitIntoWords;
using nvptx::Words;
using nvptx::wordsOf;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTTONVVM
#include "terrazzo/Target/NVPTX/Passes.h.inc"
} // namespace terrazzo

//===----------------------------------------------------------------------===//
// Inline PTX
//===----------------------------------------------------------------------===//

static const char *constraintOf(unsigned bits) {
  return bits == 16 ? "h" : bits == 32 ? "r" : "l";
}

static llvm::StringRef spaceOf(Value pointer) {
  switch (cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace()) {
  case 1:
    return ".global";
  case 3:
    return ".shared";
  default:
    return "";
  }
}

namespace {
/// One PTX instruction with its operands: results first, then address,
/// predicate, and whatever else.
class Instruction {
public:
  Instruction(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// `{$0, $1}`, or `$0` for one: results, with what they are if the
  /// instruction is not executed. Before all other operands.
  std::string results(Words words, ArrayRef<Value> initial) {
    resultBits = words.bits;
    resultCount = words.count;
    std::string text;
    for (unsigned i = 0; i < words.count; ++i) {
      text += (i ? ", " : "") + next();
      constrain("=" + std::string(constraintOf(words.bits)));
    }
    tied = llvm::to_vector(initial);
    return words.count == 1 ? text : "{" + text + "}";
  }

  std::string address(Value pointer) {
    unsigned space =
        cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
    // Addresses of shared memory have 32 bits.
    if (space == 3)
      pointer =
          LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
    return "[" + add(pointer, space == 3 ? "r" : "l") + "]";
  }

  std::string value(ArrayRef<Value> words) {
    std::string text;
    for (auto [i, word] : llvm::enumerate(words))
      text += (i ? ", " : "") +
              add(word, constraintOf(word.getType().getIntOrFloatBitWidth()));
    return words.size() == 1 ? text : "{" + text + "}";
  }

  /// `@$n `, or nothing without a mask.
  std::string predicate(Value mask) {
    return mask ? "@" + add(mask, "b") + " " : "";
  }

  SmallVector<Value> create(const std::string &text) {
    for (auto [i, value] : llvm::enumerate(tied)) {
      operands.push_back(value);
      constrain(std::to_string(i));
    }
    Type word = builder.getIntegerType(std::max(1u, resultBits));
    Type result;
    if (resultCount == 1)
      result = word;
    else if (resultCount > 1)
      result = LLVM::LLVMStructType::getLiteral(
          builder.getContext(), SmallVector<Type>(resultCount, word));
    auto call = LLVM::InlineAsmOp::create(
        builder, loc, result ? TypeRange(result) : TypeRange(), operands,
        text + ";", constraints, /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
    if (resultCount == 1)
      return {call.getResult(0)};
    SmallVector<Value> results;
    for (unsigned i = 0; i < resultCount; ++i)
      results.push_back(LLVM::ExtractValueOp::create(
          builder, loc, call.getResult(0), ArrayRef<int64_t>{i}));
    return results;
  }

private:
  std::string next() { return "$" + std::to_string(count); }
  void constrain(const std::string &constraint) {
    constraints += (count++ ? "," : "") + constraint;
  }
  std::string add(Value operand, const char *constraint) {
    std::string name = next();
    operands.push_back(operand);
    constrain(constraint);
    return name;
  }

  OpBuilder &builder;
  Location loc;
  unsigned count = 0, resultBits = 0, resultCount = 0;
  std::string constraints;
  SmallVector<Value> operands, tied;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// `.v4.b32`
static std::string typeSuffix(Type type) {
  Words words = wordsOf(type);
  std::string text =
      words.count > 1 ? ".v" + std::to_string(words.count) : std::string();
  return text + ".b" +
         std::to_string(
             std::min<int64_t>(words.bits, 8 * device::sizeInBytes(type)));
}

/// A cache operator or an eviction priority: PTX takes one of them, and only on
/// global memory. What the instruction does not have is no more than a hint and
/// is dropped.
static std::string hints(Value pointer, tile::CacheModifier cache,
                         ArrayRef<tile::CacheModifier> known,
                         tile::EvictionPolicy evict) {
  if (spaceOf(pointer) != ".global")
    return "";
  if (llvm::is_contained(known, cache))
    return "." + tile::stringifyCacheModifier(cache).str();
  if (evict != tile::EvictionPolicy::Normal)
    return ".L1::" + tile::stringifyEvictionPolicy(evict).str();
  return "";
}

namespace {

using tile::CacheModifier;

struct LowerLoad : OpRewritePattern<simt::ThreadLoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadLoadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value pointer = op.getPtr();
    Type type = op.getType();
    std::string hint = hints(pointer, op.getCache(),
                             {CacheModifier::CA, CacheModifier::CG,
                              CacheModifier::CS, CacheModifier::CV},
                             op.getEvict());
    if (!op.getMask() && hint.empty()) {
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
          op, type, pointer, device::sizeInBytes(type), op.getIsVolatile());
      return success();
    }
    Words words = wordsOf(type);
    SmallVector<Value> initial;
    if (op.getOther())
      initial = splitIntoWords(rewriter, loc, op.getOther());
    else if (op.getMask())
      initial.assign(
          words.count,
          LLVM::ConstantOp::create(
              rewriter, loc,
              rewriter.getIntegerAttr(rewriter.getIntegerType(words.bits), 0)));
    Instruction ptx(rewriter, loc);
    std::string results = ptx.results(words, initial);
    std::string address = ptx.address(pointer);
    std::string text = ptx.predicate(op.getMask()) + "ld" +
                       (op.getIsVolatile() ? ".volatile" : "") +
                       spaceOf(pointer).str() +
                       (op.getIsVolatile() ? "" : hint) + typeSuffix(type) +
                       " " + results + ", " + address;
    rewriter.replaceOp(op, fromWords(rewriter, loc, ptx.create(text), type));
    return success();
  }
};

struct LowerStore : OpRewritePattern<simt::ThreadStoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadStoreOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value pointer = op.getPtr();
    Type type = op.getValue().getType();
    std::string hint = hints(pointer, op.getCache(),
                             {CacheModifier::WB, CacheModifier::CG,
                              CacheModifier::CS, CacheModifier::WT},
                             op.getEvict());
    if (!op.getMask() && hint.empty()) {
      rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, op.getValue(), pointer,
                                                 device::sizeInBytes(type));
      return success();
    }
    Instruction ptx(rewriter, loc);
    std::string address = ptx.address(pointer);
    std::string predicate = ptx.predicate(op.getMask());
    std::string value = ptx.value(splitIntoWords(rewriter, loc, op.getValue()));
    ptx.create(predicate + "st" + spaceOf(pointer).str() + hint +
               typeSuffix(type) + " " + address + ", " + value);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void createAsm(OpBuilder &builder, Location loc, llvm::StringRef text,
                      ValueRange operands, llvm::StringRef constraints) {
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), operands, text,
                            constraints, /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

namespace {

/// cp.async. Of no bytes where the mask is false, which writes zeros.
struct LowerCopy : OpRewritePattern<simt::ThreadCopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadCopyOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto number = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(
          rewriter, loc,
          rewriter.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    Value size = number(op.getBytes());
    if (op.getMask())
      size =
          LLVM::SelectOp::create(rewriter, loc, op.getMask(), size, number(0));
    // Addresses of shared memory have 32 bits.
    Value to = LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(),
                                        op.getTo());
    SmallVector<Value> operands = {to, op.getFrom(), size};
    // Around the first-level cache where it may be, for whole sectors.
    std::string text =
        std::string("cp.async.") + (op.getBytes() == 16 ? "cg" : "ca") +
        ".shared.global [$0], [$1], " + std::to_string(op.getBytes()) + ", $2;";
    std::string constraints = "r,l,r";
    if (op.getActive()) {
      operands.push_back(op.getActive());
      text = "@$3 " + text;
      constraints += ",b";
    }
    createAsm(rewriter, loc, text, operands, constraints + ",~{memory}");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyCommit : OpRewritePattern<simt::CopyCommitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::CopyCommitOp op,
                                PatternRewriter &rewriter) const override {
    createAsm(rewriter, op.getLoc(), "cp.async.commit_group;", {}, "~{memory}");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyWait : OpRewritePattern<simt::CopyWaitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::CopyWaitOp op,
                                PatternRewriter &rewriter) const override {
    createAsm(rewriter, op.getLoc(),
              "cp.async.wait_group " + std::to_string(op.getPending()) + ";",
              {}, "~{memory}");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// The operation and type of PTX's `atom` for an update, "" where it has none
/// that does exactly this: its `max` of floats does not exist, and those of
/// integers do not drop NaN.
static std::string atomSuffix(tile::RMWKind kind, Type type,
                              int64_t capability) {
  unsigned bits = type.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  if (kind == tile::RMWKind::FAdd) {
    if (type.isF32() || type.isF64())
      return ".add.f" + width;
    if (type.isF16())
      return ".add.noftz.f16";
    return type.isBF16() && capability >= 90 ? ".add.noftz.bf16" : "";
  }
  if (bits < 32)
    return "";
  switch (kind) {
  case tile::RMWKind::And:
    return ".and.b" + width;
  case tile::RMWKind::Or:
    return ".or.b" + width;
  case tile::RMWKind::Xor:
    return ".xor.b" + width;
  case tile::RMWKind::Exch:
    return ".exch.b" + width;
  case tile::RMWKind::Add:
    return ".add.u" + width;
  case tile::RMWKind::MaxS:
    return ".max.s" + width;
  case tile::RMWKind::MinS:
    return ".min.s" + width;
  case tile::RMWKind::MaxU:
    return ".max.u" + width;
  case tile::RMWKind::MinU:
    return ".min.u" + width;
  default:
    return "";
  }
}

/// `.acq_rel.gpu.global`
static std::string atomQualifiers(tile::MemSem sem, tile::MemScope scope,
                                  Value pointer) {
  return "." + tile::stringifyMemSem(sem).str() + "." +
         tile::stringifyMemScope(scope).str() + spaceOf(pointer).str();
}

/// Emits an `atom` and replaces `op` by what it gives, 0 where the mask is
/// false.
template <typename Op>
static void replaceByAtom(Op op, PatternRewriter &rewriter,
                          const std::string &suffix, ArrayRef<Value> values) {
  Location loc = op.getLoc();
  Type type = op.getType();
  Words words = wordsOf(type);
  SmallVector<Value> initial;
  if (op.getMask())
    initial.push_back(LLVM::ConstantOp::create(
        rewriter, loc,
        rewriter.getIntegerAttr(rewriter.getIntegerType(words.bits), 0)));
  Instruction ptx(rewriter, loc);
  std::string operands = ptx.results(words, initial);
  operands += ", " + ptx.address(op.getPtr());
  std::string predicate = ptx.predicate(op.getMask());
  for (Value value : values)
    operands += ", " + ptx.value(splitIntoWords(rewriter, loc, value));
  SmallVector<Value> result =
      ptx.create(predicate + "atom" +
                 atomQualifiers(op.getSem(), op.getScope(), op.getPtr()) +
                 suffix + " " + operands);
  rewriter.replaceOp(op, fromWords(rewriter, loc, result, type));
}

namespace {

struct LowerAtomicRMW : OpRewritePattern<simt::ThreadAtomicRMWOp> {
  LowerAtomicRMW(MLIRContext *context, int64_t capability)
      : OpRewritePattern(context, /*benefit=*/2), capability(capability) {}
  int64_t capability;
  LogicalResult matchAndRewrite(simt::ThreadAtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    std::string suffix = atomSuffix(op.getKind(), op.getType(), capability);
    if (suffix.empty())
      return failure();
    replaceByAtom(op, rewriter, suffix, {op.getValue()});
    return success();
  }
};

struct LowerAtomicCAS : OpRewritePattern<simt::ThreadAtomicCASOp> {
  LowerAtomicCAS(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(simt::ThreadAtomicCASOp op,
                                PatternRewriter &rewriter) const override {
    unsigned bits = op.getType().getIntOrFloatBitWidth();
    if (bits < 16)
      return failure();
    replaceByAtom(op, rewriter, ".cas.b" + std::to_string(bits),
                  {op.getExpected(), op.getValue()});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Threads, warps, blocks
//===----------------------------------------------------------------------===//

struct LowerThreadId : OpRewritePattern<simt::ThreadIdOp> {
  LowerThreadId(MLIRContext *context, int64_t threads)
      : OpRewritePattern(context), threads(threads) {}
  int64_t threads;
  LogicalResult matchAndRewrite(simt::ThreadIdOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, create(rewriter, op.getLoc(), threads));
    return success();
  }
  static Value create(OpBuilder &builder, Location loc, int64_t threads) {
    return NVVM::ThreadIdXOp::create(
        builder, loc, builder.getI32Type(),
        LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                     APInt(32, threads)));
  }
};

/// A shift. (A shuffle would tell ptxas that it is uniform, but it may
/// stand where not all lanes run.)
struct LowerWarpId : OpRewritePattern<simt::WarpIdOp> {
  LowerWarpId(MLIRContext *context, int64_t threads)
      : OpRewritePattern(context), threads(threads) {}
  int64_t threads;
  LogicalResult matchAndRewrite(simt::WarpIdOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value bits =
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(5));
    rewriter.replaceOpWithNewOp<LLVM::LShrOp>(
        op, LowerThreadId::create(rewriter, loc, threads), bits);
    return success();
  }
};

template <typename Op, typename X, typename Y, typename Z>
struct LowerAxis : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    // Grids have at most 2^31 - 1 programs along x, 65535 along y and z.
    bool isX = op.getAxis() == 0;
    auto range = LLVM::ConstantRangeAttr::get(
        rewriter.getContext(), APInt(32, 0),
        APInt(32, isX ? uint64_t(1) << 31 : uint64_t(1) << 16));
    if (isX)
      rewriter.replaceOpWithNewOp<X>(op, i32, range);
    else if (op.getAxis() == 1)
      rewriter.replaceOpWithNewOp<Y>(op, i32, range);
    else
      rewriter.replaceOpWithNewOp<Z>(op, i32, range);
    return success();
  }
};

struct LowerBarrier : OpRewritePattern<simt::BarrierOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::BarrierOp op,
                                PatternRewriter &rewriter) const override {
    // Each thread makes its own writes seen, before it meets the others.
    if (op.getUnits())
      createAsm(rewriter, op.getLoc(), "fence.proxy.async.shared::cta;", {},
                "~{memory}");
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

} // namespace

/// An instruction of f32 operands and result that does nothing else.
static Value emitInstruction(OpBuilder &builder, Location loc,
                             llvm::StringRef name, ValueRange operands) {
  std::string text = name.str() + " $0", constraints = "=f";
  for (size_t i = 1; i <= operands.size(); ++i) {
    text += ", $" + std::to_string(i);
    constraints += ",f";
  }
  return LLVM::InlineAsmOp::create(
             builder, loc, TypeRange(builder.getF32Type()), operands,
             text + ";", constraints, /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

static Value shuffle(PatternRewriter &rewriter, Location loc, Value value,
                     Value lane, NVVM::ShflKind kind) {
  auto constant = [&](int32_t bits) {
    return LLVM::ConstantOp::create(rewriter, loc,
                                    rewriter.getI32IntegerAttr(bits));
  };
  return NVVM::ShflOp::create(rewriter, loc, rewriter.getI32Type(),
                              constant(-1), value, lane, constant(31), kind,
                              UnitAttr());
}

namespace {

struct LowerShuffleXor : OpRewritePattern<simt::ShuffleXorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ShuffleXorOp op,
                                PatternRewriter &rewriter) const override {
    Value mask =
        LLVM::ConstantOp::create(rewriter, op.getLoc(), op.getMaskAttr());
    rewriter.replaceOp(op, shuffle(rewriter, op.getLoc(), op.getValue(), mask,
                                   NVVM::ShflKind::bfly));
    return success();
  }
};

struct LowerShuffleIndex : OpRewritePattern<simt::ShuffleIndexOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ShuffleIndexOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, shuffle(rewriter, op.getLoc(), op.getValue(),
                                   op.getLane(), NVVM::ShflKind::idx));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class SimtToNVVM : public terrazzo::impl::SimtToNVVMBase<SimtToNVVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<device::Block> block = device::getBlock(module);
    nvptx::passTensorMaps(module);
    if (failed(block) || failed(device::prepareKernel(module)))
      return signalPassFailure();
    int64_t threads = block->threads();
    device::declareShared(module);

    RewritePatternSet patterns(&getContext());
    device::populateThreadPatterns(patterns, {"block", "device", ""});
    patterns
        .add<LowerCopy, LowerCopyCommit, LowerCopyWait, LowerLoad, LowerStore,
             LowerAtomicCAS, LowerBarrier, LowerShuffleXor, LowerShuffleIndex,
             LowerAxis<tile::ProgramIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp,
                       NVVM::BlockIdZOp>,
             LowerAxis<tile::NumProgramsOp, NVVM::GridDimXOp, NVVM::GridDimYOp,
                       NVVM::GridDimZOp>>(&getContext());
    patterns.add<LowerThreadId, LowerWarpId>(&getContext(), threads);
    nvptx::populateMatrixPatterns(patterns,
                                  tile::TargetAttr::of(module).getMatrix());
    // A chip without the engine has no pattern for what needs it.
    if (tile::TargetAttr::of(module).has(tile::Units::TensorCopy))
      nvptx::populateTensorCopyPatterns(patterns);
    device::populateApproximatePatterns(
        patterns,
        {"ex2.approx.ftz.f32", "lg2.approx.ftz.f32", "rsqrt.approx.ftz.f32",
         "div.full.f32"},
        emitInstruction);
    patterns.add<LowerAtomicRMW>(&getContext(),
                                 tile::TargetAttr::of(module).getCapability());
    walkAndApplyPatterns(module, std::move(patterns));
    if (failed(device::checkAllConverted(module)))
      signalPassFailure();
  }
};

} // namespace
