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

static bool findFile(Location location, FileLineColLoc &out) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    out = file;
    return true;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return findFile(call.getCallee(), out);
  if (auto name = dyn_cast<NameLoc>(location))
    return findFile(name.getChildLoc(), out);
  if (auto fused = dyn_cast<FusedLoc>(location))
    return llvm::any_of(fused.getLocations(),
                        [&](Location part) { return findFile(part, out); });
  return false;
}

int32_t Lowering::addLine(Operation *op, llvm::StringRef text,
                          ArrayAttr operands) {
  FileLineColLoc file;
  bool found = findFile(op->getLoc(), file);
  SmallVector<NamedAttribute> entry = {
      b.getNamedAttr("text", b.getStringAttr(text)),
      b.getNamedAttr(
          "file", b.getStringAttr(found ? file.getFilename().getValue() : "")),
      b.getNamedAttr("line", b.getI32IntegerAttr(found ? file.getLine() : 0)),
      b.getNamedAttr("column",
                     b.getI32IntegerAttr(found ? file.getColumn() : 0)),
      b.getNamedAttr("operands", operands)};
  lines.push_back(b.getDictionaryAttr(entry));
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

/// "i32 4x8 0": what an operand holds, for the printer.
static std::string describe(Type type, bool isSigned, bool hex) {
  Type element = tile::getElementType(type);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (isa<tile::PtrType>(element))
    out << "ptr";
  else if (element.isInteger() && !isSigned && !element.isInteger(1))
    out << "u" << element.getIntOrFloatBitWidth();
  else
    out << element;
  out << " ";
  llvm::interleave(tile::getShape(type), out, "x");
  out << " " << (hex ? 1 : 0);
  return text;
}

LogicalResult Lowering::lowerPrint(tile::PrintOp op) {
  SmallVector<Attribute> descriptions;
  for (auto [operand, isSigned] :
       llvm::zip_equal(op.getOperands(), op.getIsSigned()))
    descriptions.push_back(b.getStringAttr(
        describe(operand.getType(), isSigned != 0, op.getHex())));
  Type i32 = b.getI32Type();
  Value line =
      constant(addLine(op, op.getPrefix(), b.getArrayAttr(descriptions)), i32);
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
  Value line = constant(addLine(op, op.getMessage(), b.getArrayAttr({})), i32);
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
