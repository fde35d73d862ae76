//===- Patterns.cpp - What one thread does, on AMD ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"
#include "terrazzo/Target/AMDGPU/Target.h"
#include "terrazzo/Target/Gpu.h"
#include "terrazzo/Target/Target.h"

using namespace mlir;
using namespace terrazzo;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTTOROCDL
#include "terrazzo/Target/AMDGPU/Passes.h.inc"
} // namespace terrazzo

static Value constant(OpBuilder &builder, Location loc, int32_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(value));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {

using tile::CacheModifier;
using tile::EvictionPolicy;

struct LowerLoad : OpRewritePattern<simt::ThreadLoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadLoadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    // `cv` reads again what others may have written, as volatile accesses do.
    bool isVolatile = op.getIsVolatile() || op.getCache() == CacheModifier::CV;
    bool streams = op.getCache() == CacheModifier::CS ||
                   op.getEvict() == EvictionPolicy::EvictFirst;
    Value other = op.getOther();
    if (op.getMask() && !other)
      other = LLVM::ZeroOp::create(rewriter, loc, type);
    rewriter.replaceOp(op, device::select(rewriter, loc, op.getMask(), other,
                                          [&](OpBuilder &builder) -> Value {
                                            return LLVM::LoadOp::create(
                                                builder, loc, type, op.getPtr(),
                                                device::sizeInBytes(type),
                                                isVolatile, streams);
                                          }));
    return success();
  }
};

struct LowerStore : OpRewritePattern<simt::ThreadStoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadStoreOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool streams = op.getCache() == CacheModifier::CS ||
                   op.getEvict() == EvictionPolicy::EvictFirst;
    if (op.getMask()) {
      auto branch = scf::IfOp::create(rewriter, loc, op.getMask(),
                                      /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    LLVM::StoreOp::create(rewriter, loc, op.getValue(), op.getPtr(),
                          device::sizeInBytes(op.getValue().getType()),
                          /*isVolatile=*/false, streams);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Threads, warps, blocks
//===----------------------------------------------------------------------===//

struct LowerThreadId : OpRewritePattern<simt::ThreadIdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ThreadIdOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ROCDL::ThreadIdXOp>(op, rewriter.getI32Type());
    return success();
  }
};

struct LowerWarpId : OpRewritePattern<simt::WarpIdOp> {
  LowerWarpId(MLIRContext *context, device::Block block)
      : OpRewritePattern(context), block(block) {}
  device::Block block;
  LogicalResult matchAndRewrite(simt::WarpIdOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value thread = ROCDL::ThreadIdXOp::create(rewriter, loc, i32);
    Value warp = LLVM::LShrOp::create(
        rewriter, loc, thread,
        constant(rewriter, loc, llvm::Log2_64(block.warpSize)));
    // Into a scalar register, which what is computed from it then is in too.
    rewriter.replaceOpWithNewOp<ROCDL::ReadfirstlaneOp>(op, i32, warp);
    return success();
  }
};

struct LowerProgramId : OpRewritePattern<tile::ProgramIdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::ProgramIdOp op,
                                PatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    if (op.getAxis() == 0)
      rewriter.replaceOpWithNewOp<ROCDL::BlockIdXOp>(op, i32);
    else if (op.getAxis() == 1)
      rewriter.replaceOpWithNewOp<ROCDL::BlockIdYOp>(op, i32);
    else
      rewriter.replaceOpWithNewOp<ROCDL::BlockIdZOp>(op, i32);
    return success();
  }
};

/// The hidden arguments of code object version 5 begin with the number of
/// work-groups along x, y and z, 32 bits each.
struct LowerNumPrograms : OpRewritePattern<tile::NumProgramsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::NumProgramsOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 4);
    Value hidden =
        LLVM::CallIntrinsicOp::create(
            rewriter, loc, pointer,
            rewriter.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange{})
            .getResult(0);
    Value place =
        LLVM::GEPOp::create(rewriter, loc, pointer, rewriter.getI32Type(),
                            hidden, ArrayRef<LLVM::GEPArg>{op.getAxis()});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, rewriter.getI32Type(), place, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/true);
    return success();
  }
};

/// Accesses of global memory are ordered for the block too, so the fences are
/// those of its scope.
struct LowerBarrier : OpRewritePattern<simt::BarrierOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::BarrierOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LLVM::FenceOp::create(rewriter, loc, LLVM::AtomicOrdering::release,
                          "workgroup");
    ROCDL::SBarrierOp::create(rewriter, loc);
    LLVM::FenceOp::create(rewriter, loc, LLVM::AtomicOrdering::acquire,
                          "workgroup");
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// The index of this lane in its wave.
Value laneId(OpBuilder &builder, Location loc, const device::Block &block) {
  Type i32 = builder.getI32Type();
  Value all = constant(builder, loc, -1);
  Value lane = ROCDL::MbcntLoOp::create(builder, loc, i32, all,
                                        constant(builder, loc, 0),
                                        /*arg_attrs=*/{}, /*res_attrs=*/{});
  if (block.warpSize == 64)
    lane = ROCDL::MbcntHiOp::create(builder, loc, i32, all, lane,
                                    /*arg_attrs=*/{}, /*res_attrs=*/{});
  return lane;
}

/// Any lane's value: `ds_bpermute` takes the lane times 4 and goes through the
/// LDS unit.
Value permute(OpBuilder &builder, Location loc, Value value, Value lane) {
  Value address =
      LLVM::ShlOp::create(builder, loc, lane, constant(builder, loc, 2));
  return ROCDL::DsBpermuteOp::create(builder, loc, builder.getI32Type(),
                                     address, value);
}

/// A move inside rows of 16 lanes that an ALU instruction can take along for
/// its operand. All lanes run, so what the old value is does not matter.
Value dpp(OpBuilder &builder, Location loc, Value value, uint32_t control) {
  Type i32 = builder.getI32Type();
  Value old = LLVM::PoisonOp::create(builder, loc, i32);
  return ROCDL::DPPUpdateOp::create(builder, loc, i32, old, value, control,
                                    /*rowMask=*/0xf, /*bankMask=*/0xf,
                                    /*boundCtrl=*/true);
}

/// Controls of DPP (AMDGPU instruction set, "Data Parallel Primitives").
enum DppControl : uint32_t {
  RowRotateBy8 = 0x128,
  RowMirror = 0x140,
  RowHalfMirror = 0x141,
  RowXor = 0x160, // plus the mask; GFX10 and later
};

/// Lane `i` of four reads lane `i ^ mask`.
uint32_t quadPermute(uint32_t mask) {
  uint32_t control = 0;
  for (uint32_t i = 0; i < 4; ++i)
    control |= (i ^ mask) << (2 * i);
  return control;
}

/// `value` of lane `i ^ mask` for a mask below 16, by one or two moves. What
/// mirrors and rotations by half do is an exclusive or, too: a mirror of 16
/// lanes with 15, one of 8 lanes with 7, a rotation by 8 with 8.
Value shuffleInRow(OpBuilder &builder, Location loc, Value value, uint32_t mask,
                   bool hasRowXor) {
  if (mask > 3 && hasRowXor)
    return dpp(builder, loc, value, RowXor + mask);
  static constexpr struct {
    uint32_t mask, control;
  } coarse[] = {{0, 0}, {7, RowHalfMirror}, {8, RowRotateBy8}, {15, RowMirror}};
  auto [moved, control] = coarse[mask >> 2];
  if (moved)
    value = dpp(builder, loc, value, control);
  uint32_t rest = moved ^ mask;
  return rest ? dpp(builder, loc, value, quadPermute(rest)) : value;
}

struct LowerShuffleXor : OpRewritePattern<simt::ShuffleXorOp> {
  LowerShuffleXor(MLIRContext *context, device::Block block)
      : OpRewritePattern(context), block(block) {}
  device::Block block;
  LogicalResult matchAndRewrite(simt::ShuffleXorOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value value = op.getValue();
    auto mask = static_cast<uint32_t>(op.getMask());
    if (mask >= block.warpSize)
      return op.emitOpError("has the mask ")
             << mask << ", expected one below the " << block.warpSize
             << " lanes of a warp";
    // Machines with 32 lanes are the ones that have these.
    bool isWave32 = block.warpSize == 32;
    if (mask < 16) {
      rewriter.replaceOp(op,
                         shuffleInRow(rewriter, loc, value, mask, isWave32));
      return success();
    }
    if (isWave32) {
      // Across the two rows, lane by lane; the rest is inside rows.
      value = ROCDL::PermlaneX16Op::create(
          rewriter, loc, rewriter.getI32Type(), value, value,
          constant(rewriter, loc, 0x76543210),
          constant(rewriter, loc, static_cast<int32_t>(0xfedcba98)),
          /*fi=*/true, /*boundControl=*/false);
      rewriter.replaceOp(op, shuffleInRow(rewriter, loc, value, mask & 15,
                                          /*hasRowXor=*/true));
      return success();
    }
    if (mask < 32) {
      // A swizzle of groups of 32 lanes: and-mask 31, or-mask 0, xor-mask.
      rewriter.replaceOpWithNewOp<ROCDL::DsSwizzleOp>(
          op, rewriter.getI32Type(), value,
          constant(rewriter, loc, static_cast<int32_t>(mask << 10 | 0x1f)));
      return success();
    }
    Value lane = LLVM::XOrOp::create(
        rewriter, loc, laneId(rewriter, loc, block),
        constant(rewriter, loc, static_cast<int32_t>(mask)));
    rewriter.replaceOp(op, permute(rewriter, loc, value, lane));
    return success();
  }
};

struct LowerShuffleIndex : OpRewritePattern<simt::ShuffleIndexOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::ShuffleIndexOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, permute(rewriter, op.getLoc(), op.getValue(), op.getLane()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

/// What LLVM calls the intrinsic of an instruction, and the type of each
/// register group of a factor.
struct MatrixIntrinsic {
  std::string name;
  Type factor;
};

/// The suffix for an operand's type in names of 8-bit floats.
static llvm::StringRef narrowName(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType>(type) ? "fp8" : "bf8";
}

static MatrixIntrinsic intrinsicOf(simt::InstructionAttr instruction,
                                   Type words) {
  Builder b(instruction.getContext());
  Type element = instruction.getLhs();
  int64_t bits = device::sizeInBytes(words) * 8;
  bool isMfma = instruction.getFamily() == simt::MatrixFamily::Mfma;
  std::string shape = std::to_string(instruction.getM()) + "x" +
                      std::to_string(instruction.getN()) + "x" +
                      std::to_string(instruction.getK());
  std::string name = isMfma ? "llvm.amdgcn.mfma." : "llvm.amdgcn.wmma.";
  name += (instruction.getAcc().isF32() ? "f32." : "i32.") + shape;
  auto vector = [&](Type type) -> Type {
    return VectorType::get(bits / type.getIntOrFloatBitWidth(), type);
  };
  if (!isMfma)
    return element.isF16()
               ? MatrixIntrinsic{name + ".f16", vector(element)}
               : MatrixIntrinsic{name + ".bf16", vector(b.getI16Type())};
  // Those that came with gfx950 have a point in front of the type.
  bool isDeep = instruction.getK() * instruction.getM() >= 512;
  if (element.isF16())
    return {name + (isDeep ? ".f16" : "f16"), vector(element)};
  if (element.isBF16())
    return isDeep ? MatrixIntrinsic{name + ".bf16", vector(element)}
                  : MatrixIntrinsic{name + "bf16.1k", vector(b.getI16Type())};
  Type word = b.getIntegerType(static_cast<unsigned>(bits));
  if (element.isInteger(8))
    return {name + (isDeep ? ".i8" : "i8"), word};
  return {name + "." + narrowName(element).str() + "." +
              narrowName(instruction.getRhs()).str(),
          word};
}

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
    MatrixIntrinsic intrinsic = intrinsicOf(instruction, op.getLhs().getType());
    auto cast = [&](Value value, Type type) {
      return rewriter.createOrFold<LLVM::BitcastOp>(loc, type, value);
    };
    Type acc = VectorType::get(device::sizeInBytes(op.getType()) / 4,
                               instruction.getAcc());
    SmallVector<Value> operands = {cast(op.getLhs(), intrinsic.factor),
                                   cast(op.getRhs(), intrinsic.factor),
                                   cast(op.getAcc(), acc)};
    // Broadcasts and permutations of blocks: none.
    if (instruction.getFamily() == simt::MatrixFamily::Mfma)
      operands.append(3, constant(rewriter, loc, 0));
    Value result = LLVM::CallIntrinsicOp::create(
                       rewriter, loc, acc,
                       rewriter.getStringAttr(intrinsic.name), operands)
                       .getResult(0);
    rewriter.replaceOp(op, cast(result, op.getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Memory that a kernel is given is that of the device, where floats can be
/// added by instructions. Only an update that the host may see at the same
/// time is asked for otherwise.
void annotateAtomic(Operation *atomic, tile::RMWKind kind,
                    tile::MemScope scope) {
  if (scope == tile::MemScope::Sys)
    return;
  UnitAttr unit = UnitAttr::get(atomic->getContext());
  atomic->setDiscardableAttr("rocdl.no_fine_grained_memory", unit);
  atomic->setDiscardableAttr("rocdl.no_remote_memory", unit);
  if (kind == tile::RMWKind::FAdd)
    atomic->setDiscardableAttr("rocdl.ignore_denormal_mode", unit);
}

class SimtToROCDL : public terrazzo::impl::SimtToROCDLBase<SimtToROCDL> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<device::Block> block = device::getBlock(module);
    if (failed(block) || failed(device::prepareKernel(module)))
      return signalPassFailure();
    device::declareShared(module);

    RewritePatternSet patterns(&getContext());
    device::populateThreadPatterns(patterns, {"workgroup", "agent", ""},
                                   annotateAtomic);
    patterns.add<LowerLoad, LowerStore, LowerThreadId, LowerProgramId,
                 LowerNumPrograms, LowerBarrier, LowerShuffleIndex>(
        &getContext());
    patterns.add<LowerWarpId, LowerShuffleXor>(&getContext(), *block);
    patterns.add<LowerMma>(&getContext(),
                           tile::TargetAttr::of(module).getMatrix());
    device::populateApproximatePatterns(
        patterns,
        {"llvm.amdgcn.exp2.f32", "llvm.amdgcn.log.f32", "llvm.amdgcn.rsq.f32",
         "llvm.amdgcn.fdiv.fast"},
        [](OpBuilder &builder, Location loc, llvm::StringRef name,
           ValueRange operands) -> Value {
          return LLVM::CallIntrinsicOp::create(
                     builder, loc, builder.getF32Type(),
                     builder.getStringAttr(name), operands)
              .getResult(0);
        });
    walkAndApplyPatterns(module, std::move(patterns));
    if (failed(device::checkAllConverted(module)))
      signalPassFailure();
  }
};

} // namespace
