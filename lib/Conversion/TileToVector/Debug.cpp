//===- Debug.cpp - Print and assert ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both call back through the kernel's context (Runtime/CpuAbi.h) with the
// number of an entry in the artifact's table of lines.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

int32_t Lowering::addLine(DictionaryAttr entry) {
  lines.push_back(entry);
  return static_cast<int32_t>(lines.size()) - 1;
}

void Lowering::callContext(int64_t slot, ValueRange args) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Value field =
      LLVM::GEPOp::create(b, ptr, b.getI8Type(), context,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
  SmallVector<Value> operands = {LLVM::LoadOp::create(b, ptr, field, 8),
                                 context};
  operands.append(args.begin(), args.end());
  SmallVector<Type> types = {ptr};
  for (Value arg : args)
    types.push_back(arg.getType());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types);
  LLVM::CallOp::create(b, type, operands);
}

LogicalResult Lowering::lowerPrint(tile::PrintOp op) {
  Type i32 = b.getI32Type();
  Value line = constant(addLine(tile::lineEntry(op)), i32);
  auto call = [&](int64_t operand, int64_t count, Value data) {
    callContext(40, {line, programs[0], programs[1], programs[2],
                     constant(operand, i32), constant(count, i32), data});
  };
  if (op.getOperands().empty())
    call(-1, 0,
         LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext())));
  for (auto [position, operand] : llvm::enumerate(op.getOperands())) {
    if (auto type = dyn_cast<RankedTensorType>(operand.getType())) {
      Buffer packed = materialize(operand, /*contiguous=*/true);
      call(position, type.getNumElements(), packed.ptr);
      continue;
    }
    lanes = 1;
    Buffer one = allocate(operand.getType(), {}, 0, true);
    storeBuffer(one, {}, {scalar(operand), 0, false});
    call(position, 1, one.ptr);
  }
  return success();
}

LogicalResult Lowering::lowerAssert(tile::AssertOp op) {
  Type i32 = b.getI32Type();
  Value line = constant(addLine(tile::lineEntry(op)), i32);
  auto failUnless = [&](Value condition) {
    Value fails =
        arith::XOrIOp::create(b, condition, constant(1, b.getI1Type()));
    auto guarded = scf::IfOp::create(b, fails);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&guarded.getThenRegion().front());
    callContext(32, {line, programs[0], programs[1], programs[2]});
  };
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!type) {
    failUnless(scalar(op.getCondition()));
    return success();
  }
  emitNest(type.getShape(), op.getCondition(), [&](const Coords &at) {
    Value all = evalVector(op.getCondition(), at);
    b.setLoc(op.getLoc());
    if (lanes > 1)
      all = vector::ReductionOp::create(b, vector::CombiningKind::AND, all);
    failUnless(all);
  });
  return success();
}
