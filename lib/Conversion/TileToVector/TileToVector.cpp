//===- TileToVector.cpp - From tiles to strip-mined loops (CPU) -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel becomes the entry of Runtime/CpuAbi.h: a loop over linear program
// indices around the kernel's body. Lowering.h has the idea; the tests are in
// test/Conversion/TileToVector/ and, by execution, test/python/.
//===----------------------------------------------------------------------===//

#include "CarryOffsets.h"
#include "Lowering.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Checks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_TILETOVECTOR
#include "terrazzo/Conversion/Passes.h.inc"

namespace {

cpu::ChipFacts readChip(ModuleOp module) {
  cpu::ChipFacts chip;
  chip.isStrict = module->hasAttr("tile.strict");
  auto target = tile::TargetAttr::of(module);
  if (!target)
    return chip;
  if (target.getVectorBytes() != 0)
    chip.vectorBytes = target.getVectorBytes();
  chip.hasFma = target.has(tile::Units::Fma);
  chip.hasTileBf16 = target.has(tile::Units::TileBf16);
  chip.hasTileInt8 = target.has(tile::Units::TileInt8);
  chip.hasVectorBf16 = target.has(tile::Units::VectorBf16);
  chip.hasVectorInt8 = target.has(tile::Units::VectorInt8);
  return chip;
}

/// Loads the run-time arguments, each behind a pointer of `args`.
void loadArguments(ImplicitLocOpBuilder &b, func::FuncOp kernel, Value args,
                   cpu::Lowering &lowering) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  for (BlockArgument argument : kernel.getArguments()) {
    Value slot = LLVM::GEPOp::create(
        b, ptr, ptr, args,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(argument.getArgNumber())});
    Value place = LLVM::LoadOp::create(b, ptr, slot, 8);
    Type type = argument.getType();
    Type storage = cpu::storageType(type);
    Value value = LLVM::LoadOp::create(b, storage, place, 1);
    Type wanted = cpu::registerType(type);
    if (wanted.isInteger(1))
      value = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ne, value,
          arith::ConstantOp::create(b, b.getIntegerAttr(storage, 0)));
    else if (wanted != storage)
      value = arith::BitcastOp::create(b, wanted, value);
    lowering.mapScalar(argument, value);
  }
}

/// The grid's extents, and the loop over programs with its three indices.
LogicalResult emitPrograms(ImplicitLocOpBuilder &b, func::FuncOp kernel,
                           func::FuncOp entry, cpu::Lowering &lowering) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Value context = entry.getArgument(1), begin = entry.getArgument(2),
        end = entry.getArgument(3);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value extents[3];
  for (int32_t axis = 0; axis < 3; ++axis) {
    Value field =
        LLVM::GEPOp::create(b, ptr, i32, context, ArrayRef<LLVM::GEPArg>{axis});
    lowering.grid[axis] = LLVM::LoadOp::create(b, i32, field, 4);
    extents[axis] = arith::ExtUIOp::create(b, i64, lowering.grid[axis]);
  }
  lowering.context = context;
  loadArguments(b, kernel, entry.getArgument(0), lowering);
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  auto loop = scf::ForOp::create(b, begin, end, one);
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(loop.getBody());
  Value linear = loop.getInductionVar();
  Value row = arith::DivUIOp::create(b, linear, extents[0]);
  lowering.programs[0] = arith::TruncIOp::create(
      b, i32, arith::RemUIOp::create(b, linear, extents[0]));
  lowering.programs[1] = arith::TruncIOp::create(
      b, i32, arith::RemUIOp::create(b, row, extents[1]));
  lowering.programs[2] = arith::TruncIOp::create(
      b, i32, arith::DivUIOp::create(b, row, extents[1]));
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError("a kernel's control flow must be structured (scf), "
                            "found several blocks");
  return lowering.lowerBlock(kernel.getBody().front());
}

LogicalResult lowerKernel(ModuleOp module, func::FuncOp kernel) {
  cpu::carryOffsets(kernel);
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  std::string name = kernel.getSymName().str();
  kernel.setSymName(name + ".tile");
  auto entry = func::FuncOp::create(
      b, name, b.getFunctionType({ptr, ptr, i64, i64}, {}));
  b.setInsertionPointToStart(entry.addEntryBlock());
  cpu::Lowering lowering(b, readChip(module), entry);
  if (failed(emitPrograms(b, kernel, entry, lowering)))
    return failure();
  module->setAttr("tile.entry", b.getStringAttr(name));
  module->setAttr(tile::kLinesAttr, b.getArrayAttr(lowering.lines));
  kernel.erase();
  return success();
}

struct TileToVector : impl::TileToVectorBase<TileToVector> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(tile::kKernelAttr))
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels)
      if (failed(tile::checkTiles(kernel)) ||
          failed(lowerKernel(module, kernel)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace terrazzo
