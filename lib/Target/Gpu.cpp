//===- Gpu.cpp - What the targets with blocks of threads share ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Target/Gpu.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "terrazzo/Conversion/Atomics.h"
#include "terrazzo/Conversion/MathToArith.h"
#include "terrazzo/Dialect/Simt/IR/Simt.h"
#include "terrazzo/Target/Target.h"

using namespace mlir;
using namespace terrazzo;

/// The symbol of the block's shared memory.
static constexpr llvm::StringLiteral kShared = "tz_shared";
/// Its alignment: what the widest swizzles and copy engines ask for.
static constexpr int64_t kSharedAlignment = 1024;
static constexpr llvm::StringLiteral kEntryAttr = "tile.entry";

FailureOr<device::Block> device::getBlock(ModuleOp module) {
  auto target = tile::TargetAttr::of(module);
  if (!target || target.getChip().empty() || target.getWarpSize() == 0)
    return module.emitError("module needs the attribute '")
           << kTargetAttr << "' with a 'chip' and a 'warp_size'";
  Block block;
  block.chip = target.getChip();
  block.warpSize = target.getWarpSize();
  block.numWarps = 4;
  if (auto warps = module->getAttrOfType<IntegerAttr>(simt::kNumWarpsAttr))
    block.numWarps = warps.getInt();
  if (auto bytes = module->getAttrOfType<IntegerAttr>(simt::kSharedBytesAttr))
    block.sharedBytes = bytes.getInt();
  return block;
}

LogicalResult device::prepareKernel(ModuleOp module) {
  auto entry = module->getAttrOfType<StringAttr>(kEntryAttr);
  auto kernel =
      entry ? module.lookupSymbol<func::FuncOp>(entry) : func::FuncOp();
  if (!kernel)
    return module.emitError("module needs the attribute '")
           << kEntryAttr << "', the name of a function";
  kernel->removeAttr(tile::kKernelAttr);
  Builder builder(module.getContext());
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto divisibility =
        kernel.getArgAttrOfType<IntegerAttr>(index, tile::kDivisibilityAttr);
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attribute :
         mlir::function_interface_impl::getArgAttrs(kernel, index))
      if (!isa_and_nonnull<tile::TileDialect>(attribute.getNameDialect()))
        kept.push_back(attribute);
    if (divisibility && isa<LLVM::LLVMPointerType>(argument.getType()) &&
        llvm::isPowerOf2_64(divisibility.getInt()))
      kept.push_back(builder.getNamedAttr(
          LLVM::LLVMDialect::getAlignAttrName(),
          builder.getI64IntegerAttr(divisibility.getInt())));
    kernel.setArgAttrs(index, kept);
  }
  return success();
}

void device::declareShared(ModuleOp module) {
  bool used =
      module.walk([](simt::SharedBaseOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!used || module.lookupSymbol(kShared))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto none = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), none, /*isConstant=*/false,
                         LLVM::Linkage::External, kShared, Attribute(),
                         kSharedAlignment, /*addrSpace=*/3);
}

llvm::StringRef device::SyncScopes::of(tile::MemScope scope) const {
  switch (scope) {
  case tile::MemScope::Cta:
    return cta;
  case tile::MemScope::Gpu:
    return gpu;
  case tile::MemScope::Sys:
    return sys;
  }
  llvm_unreachable("a scope that is none");
}

int64_t device::sizeInBytes(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * sizeInBytes(vector.getElementType());
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Value device::select(PatternRewriter &rewriter, Location loc, Value mask,
                     Value otherwise,
                     llvm::function_ref<Value(OpBuilder &)> then) {
  if (!mask)
    return then(rewriter);
  auto branch =
      scf::IfOp::create(rewriter, loc, otherwise.getType(), mask, true);
  OpBuilder inside = branch.getThenBodyBuilder();
  scf::YieldOp::create(inside, loc, then(inside));
  OpBuilder outside = branch.getElseBodyBuilder();
  scf::YieldOp::create(outside, loc, otherwise);
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The ordering of a compare-and-swap that finds another value.
static LLVM::AtomicOrdering orderingOfFailure(tile::MemSem sem) {
  return sem == tile::MemSem::Acquire || sem == tile::MemSem::AcqRel
             ? LLVM::AtomicOrdering::acquire
             : LLVM::AtomicOrdering::monotonic;
}

namespace {

struct LowerSharedBase : OpRewritePattern<simt::SharedBaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(simt::SharedBaseOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::AddressOfOp>(op, op.getType(), kShared);
    return success();
  }
};

template <typename Op>
struct ScopedPattern : OpRewritePattern<Op> {
  ScopedPattern(MLIRContext *context, const device::SyncScopes &scopes,
                device::AnnotateAtomic annotate)
      : OpRewritePattern<Op>(context), scopes(scopes), annotate(annotate) {}
  device::SyncScopes scopes;
  device::AnnotateAtomic annotate;
};

struct LowerAtomicRMW : ScopedPattern<simt::ThreadAtomicRMWOp> {
  using ScopedPattern::ScopedPattern;
  LogicalResult matchAndRewrite(simt::ThreadAtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero;
    if (op.getMask())
      zero = LLVM::ZeroOp::create(rewriter, loc, op.getType());
    rewriter.replaceOp(
        op, device::select(rewriter, loc, op.getMask(), zero,
                           [&](OpBuilder &builder) -> Value {
                             auto atomic = LLVM::AtomicRMWOp::create(
                                 builder, loc, atomicBinOp(op.getKind()),
                                 op.getPtr(), op.getValue(),
                                 atomicOrdering(op.getSem()),
                                 scopes.of(op.getScope()),
                                 device::sizeInBytes(op.getType()));
                             if (annotate)
                               annotate(atomic, op.getKind(), op.getScope());
                             return atomic;
                           }));
    return success();
  }
};

struct LowerAtomicCAS : ScopedPattern<simt::ThreadAtomicCASOp> {
  using ScopedPattern::ScopedPattern;
  LogicalResult matchAndRewrite(simt::ThreadAtomicCASOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero;
    if (op.getMask())
      zero = LLVM::ZeroOp::create(rewriter, loc, op.getType());
    rewriter.replaceOp(
        op, device::select(rewriter, loc, op.getMask(), zero,
                           [&](OpBuilder &builder) -> Value {
                             auto atomic = LLVM::AtomicCmpXchgOp::create(
                                 builder, loc, op.getPtr(), op.getExpected(),
                                 op.getValue(), atomicOrdering(op.getSem()),
                                 orderingOfFailure(op.getSem()),
                                 scopes.of(op.getScope()),
                                 device::sizeInBytes(op.getType()));
                             return LLVM::ExtractValueOp::create(
                                 builder, loc, atomic, ArrayRef<int64_t>{0});
                           }));
    return success();
  }
};

struct LowerFence : ScopedPattern<simt::ThreadFenceOp> {
  using ScopedPattern::ScopedPattern;
  LogicalResult matchAndRewrite(simt::ThreadFenceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSem() != tile::MemSem::Relaxed)
      LLVM::FenceOp::create(rewriter, op.getLoc(), atomicOrdering(op.getSem()),
                            scopes.of(op.getScope()));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

namespace {

template <typename Op>
struct LowerApproximate : OpRewritePattern<Op> {
  LowerApproximate(MLIRContext *context, llvm::StringRef name,
                   device::EmitFunction emit)
      : OpRewritePattern<Op>(context), name(name), emit(emit) {}
  llvm::StringRef name;
  device::EmitFunction emit;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    if (isa<arith::DivFOp>(op) && !op->hasAttr(kApproximateAttr))
      return rewriter.notifyMatchFailure(op, "must be correctly rounded");
    rewriter.replaceOp(op,
                       emit(rewriter, op.getLoc(), name, op->getOperands()));
    return success();
  }
};

} // namespace

void device::populateApproximatePatterns(RewritePatternSet &patterns,
                                         const Approximations &names,
                                         EmitFunction emit) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerApproximate<math::Exp2Op>>(context, names.exp2, emit);
  patterns.add<LowerApproximate<math::Log2Op>>(context, names.log2, emit);
  patterns.add<LowerApproximate<math::RsqrtOp>>(context, names.rsqrt, emit);
  patterns.add<LowerApproximate<arith::DivFOp>>(context, names.divide, emit);
}

void device::populateThreadPatterns(RewritePatternSet &patterns,
                                    const SyncScopes &scopes,
                                    AnnotateAtomic annotate) {
  patterns.add<LowerSharedBase>(patterns.getContext());
  patterns.add<LowerAtomicRMW, LowerAtomicCAS, LowerFence>(
      patterns.getContext(), scopes, annotate);
}

LogicalResult device::checkAllConverted(ModuleOp module) {
  bool ok = true;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<tile::TileDialect, simt::SimtDialect>(
            op->getDialect())) {
      op->emitOpError("is nothing that one thread does; it must be lowered "
                      "before a target's own patterns");
      ok = false;
    }
  });
  return success(ok);
}

void device::buildLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

//===----------------------------------------------------------------------===//
// Artifact
//===----------------------------------------------------------------------===//

FailureOr<Artifact> device::beginArtifact(ModuleOp module,
                                          llvm::StringRef targetName) {
  FailureOr<Block> block = getBlock(module);
  if (failed(block))
    return failure();
  auto entry = module->getAttrOfType<StringAttr>(kEntryAttr);
  if (!entry)
    return module.emitError("module needs the attribute '")
           << kEntryAttr << "' to be emitted";
  auto target = tile::TargetAttr::of(module);
  int32_t maxThreads = target.getMaxThreads(), most = target.getSharedBytes();
  if (block->numWarps < 1 || (maxThreads && block->threads() > maxThreads))
    return module.emitError()
           << "num_warps is " << block->numWarps << ": a block of "
           << block->chip << " has 1 to " << maxThreads / block->warpSize
           << " warps of " << block->warpSize << " threads";
  if (most && block->sharedBytes > most)
    return module.emitError()
           << "kernel needs " << block->sharedBytes
           << " bytes of shared memory, a block of " << block->chip << " has "
           << most << "; smaller tiles or fewer pipeline stages need less";
  Artifact artifact;
  artifact.target = targetName.str();
  artifact.chip = block->chip.str();
  artifact.entry = entry.getValue().str();
  artifact.threadsPerBlock = static_cast<uint32_t>(block->threads());
  artifact.sharedBytes = static_cast<uint32_t>(block->sharedBytes);
  return artifact;
}
