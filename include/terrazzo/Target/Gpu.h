//===- Gpu.h - What the targets with blocks of threads share ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TARGET_GPU_H
#define TERRAZZO_TARGET_GPU_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Support/Artifact.h"

namespace terrazzo::device {

/// What a module's attributes say about a block; all errors are diagnostics.
struct Block {
  llvm::StringRef chip;
  int64_t warpSize = 0;
  int64_t numWarps = 0;
  int64_t sharedBytes = 0;
  int64_t threads() const { return warpSize * numWarps; }
};
llvm::FailureOr<Block> getBlock(mlir::ModuleOp module);

/// Frees the kernel, the function that `tile.entry` names, of the attributes of
/// the tile dialect. What they say about alignment turns into `llvm.align`.
llvm::LogicalResult prepareKernel(mlir::ModuleOp module);

/// Declares the symbol that `simt.shared_base` is the address of, if the module
/// has one of these: memory that a launch gives to the block.
void declareShared(mlir::ModuleOp module);

/// Names of LLVM's synchronisation scopes for a block, the device, and the
/// system.
struct SyncScopes {
  llvm::StringRef cta, gpu, sys;
  llvm::StringRef of(tile::MemScope scope) const;
};

/// Called with each atomic update that is not of LLVM's most general kind.
using AnnotateAtomic = void (*)(mlir::Operation *atomic, tile::RMWKind kind,
                                tile::MemScope scope);

/// Patterns for `simt.shared_base`, and for atomics and fences by LLVM's
/// own instructions: its back ends turn those that the machine lacks into
/// loops. A masked one is in an `scf.if`.
void populateThreadPatterns(mlir::RewritePatternSet &patterns,
                            const SyncScopes &scopes,
                            AnnotateAtomic annotate = nullptr);

/// Functions of f32 that the hardware has, good to a few ulp, by its names.
struct Approximations {
  llvm::StringRef exp2, log2, rsqrt, divide;
};
/// Emits the function of f32 called `name`.
using EmitFunction = mlir::Value (*)(mlir::OpBuilder &builder,
                                     mlir::Location loc, llvm::StringRef name,
                                     mlir::ValueRange operands);

/// Patterns for the ops that `tz-expand-math` leaves where the target has the
/// fact `approximate`.
void populateApproximatePatterns(mlir::RewritePatternSet &patterns,
                                 const Approximations &names,
                                 EmitFunction emit);

/// `then()` where `mask` is true (or there is none), else `otherwise`.
mlir::Value select(mlir::PatternRewriter &rewriter, mlir::Location loc,
                   mlir::Value mask, mlir::Value otherwise,
                   llvm::function_ref<mlir::Value(mlir::OpBuilder &)> then);

/// Size of an integer, a float or a vector of them.
int64_t sizeInBytes(mlir::Type type);

/// Fails, with a diagnostic for each, if a simt or tile op is left.
llvm::LogicalResult checkAllConverted(mlir::ModuleOp module);

/// From what a target's own patterns leave to the llvm dialect.
void buildLLVMPipeline(mlir::OpPassManager &manager);

/// Checks the block against the facts of its chip, and begins the artifact.
llvm::FailureOr<Artifact> beginArtifact(mlir::ModuleOp module,
                                        llvm::StringRef target);

} // namespace terrazzo::device

#endif // TERRAZZO_TARGET_GPU_H
