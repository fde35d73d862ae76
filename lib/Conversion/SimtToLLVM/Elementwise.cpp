//===- Elementwise.cpp - Ops that a thread does on each register ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

LogicalResult Lowering::checkOneLayout(Operation *op, ValueRange tiles) {
  Attribute layout;
  for (Value value : tiles) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    if (!layout)
      layout = type.getEncoding();
    if (type.getEncoding() != layout)
      return op->emitOpError("expected one layout in all tiles, found ")
             << layout << " and " << type.getEncoding()
             << ": a simt.convert_layout is missing";
  }
  return success();
}

LogicalResult Lowering::checkOneLayout(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return checkOneLayout(op, values);
}

LogicalResult
Lowering::setFromOperands(Operation *op,
                          function_ref<Value(ValueRange)> compute) {
  Value result = op->getResult(0);
  SmallVector<Value> operands;
  if (!isTile(result)) {
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    setScalar(result, compute(operands));
    return success();
  }
  if (failed(checkOneLayout(op)))
    return failure();
  SmallVector<ArrayRef<Value>> tilesOf;
  for (Value operand : op->getOperands())
    tilesOf.push_back(isTile(operand) ? registersOf(operand)
                                      : ArrayRef<Value>());
  operands.resize(op->getNumOperands());
  auto operandsAt = [&](uint32_t r, SmallVectorImpl<Value> &out) {
    for (auto [i, values] : llvm::enumerate(tilesOf))
      out[i] = values.empty() ? scalar(op->getOperand(i)) : values[r];
  };
  // Registers with the same operands (of splats, of broadcasts) share a result.
  llvm::SmallDenseMap<size_t, std::pair<uint32_t, Value>> seen;
  SmallVector<Value> others(op->getNumOperands());
  setEach(result, [&](uint32_t r) {
    operandsAt(r, operands);
    size_t hash = llvm::hash_combine_range(operands.begin(), operands.end());
    // Not the values that the table keeps for itself.
    hash >>= 2;
    auto [it, isNew] = seen.try_emplace(hash, r, Value());
    if (!isNew) {
      operandsAt(it->second.first, others);
      if (others == operands)
        return it->second.second;
      return compute(operands);
    }
    return it->second.second = compute(operands);
  });
  return success();
}

LogicalResult Lowering::lowerElementwise(Operation *op) {
  if (op->getNumRegions() != 0)
    return op->emitOpError("has no form for one thread");
  if (op->getNumResults() != 1) {
    // Results side by side, as of arith.mului_extended.
    if (failed(checkOneLayout(op)))
      return failure();
  }
  DictionaryAttr attributes = op->getDiscardableAttrDictionary();
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(registerType(tile::getElementType(type)));
  auto clone = [&](ValueRange operands) {
    Operation *created = Operation::create(
        op->getLoc(), op->getName(), types, operands, attributes,
        op->getPropertiesStorage(), BlockRange(), /*numRegions=*/0);
    b.insert(created);
    return created;
  };
  if (op->getNumResults() == 1)
    return setFromOperands(
        op, [&](ValueRange operands) { return clone(operands)->getResult(0); });
  bool isOnTiles = isTile(op->getResult(0));
  uint32_t count =
      isOnTiles ? distribution(op->getResult(0).getType()).numRegisters() : 1;
  SmallVector<Registers> results(op->getNumResults(), Registers(count));
  for (uint32_t r = 0; r < count; ++r) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return isTile(operand) ? registersOf(operand)[r] : scalar(operand);
        });
    for (auto [registers, value] :
         llvm::zip_equal(results, clone(operands)->getResults()))
      registers[r] = value;
  }
  for (auto [result, registers] : llvm::zip_equal(op->getResults(), results)) {
    if (isOnTiles)
      setRegisters(result, std::move(registers));
    else
      setScalar(result, registers.front());
  }
  return success();
}

LogicalResult Lowering::lowerConstant(arith::ConstantOp op) {
  TypedAttr attribute = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (!dense.isSplat())
      return op.emitOpError("expected equal elements in a constant tile");
    attribute = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  } else if (isTile(op.getResult())) {
    return op.emitOpError("expected equal elements in a constant tile");
  }
  Value value;
  if (auto integer = dyn_cast<IntegerAttr>(attribute);
      integer && integer.getValue().getBitWidth() <= 64)
    value = constant(integer.getType().isInteger(1)
                         ? integer.getValue().getZExtValue()
                         : integer.getValue().getSExtValue(),
                     integer.getType());
  else
    atEntry([&] { value = arith::ConstantOp::create(b, attribute); });
  if (isTile(op.getResult()))
    setEach(op.getResult(), [&](uint32_t) { return value; });
  else
    setScalar(op.getResult(), value);
  return success();
}

LogicalResult Lowering::lowerPointerOp(Operation *op) {
  if (isa<tile::AddPtrOp>(op)) {
    Type pointer = tile::getElementType(op->getResult(0).getType());
    int64_t bytes =
        simt::elementBytes(cast<tile::PtrType>(pointer).getPointeeType());
    Type element = b.getIntegerType(8 * bytes), i64 = b.getI64Type();
    return setFromOperands(op, [&](ValueRange operands) -> Value {
      Value offset = operands[1];
      unsigned width = offset.getType().getIntOrFloatBitWidth();
      if (width < 64)
        offset = arith::ExtSIOp::create(b, i64, offset);
      return LLVM::GEPOp::create(b, registerType(pointer), element, operands[0],
                                 ArrayRef<LLVM::GEPArg>{offset});
    });
  }
  Type result = registerType(tile::getElementType(op->getResult(0).getType()));
  return setFromOperands(op, [&](ValueRange operands) -> Value {
    if (isa<tile::PtrToIntOp>(op))
      return LLVM::PtrToIntOp::create(b, result, operands[0]);
    return LLVM::IntToPtrOp::create(b, result, operands[0]);
  });
}

LogicalResult Lowering::lowerRenamed(Operation *op) {
  return setFromOperands(op, [](ValueRange operands) { return operands[0]; });
}

LogicalResult Lowering::lowerClamp(tile::ClampOp op) {
  return setFromOperands(op, [&](ValueRange operands) -> Value {
    if (op.getPropagateNan())
      return arith::MinimumFOp::create(
          b, arith::MaximumFOp::create(b, operands[0], operands[1]),
          operands[2]);
    return arith::MinNumFOp::create(
        b, arith::MaxNumFOp::create(b, operands[0], operands[1]), operands[2]);
  });
}

LogicalResult Lowering::inlineRegion(Region &region, ValueRange arguments,
                                     SmallVectorImpl<Value> &yielded) {
  Block &block = region.front();
  for (auto [old, now] : llvm::zip_equal(block.getArguments(), arguments))
    setScalar(old, now);
  if (failed(lowerBlock(block)))
    return failure();
  yielded.clear();
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(scalar(value));
  return success();
}

LogicalResult Lowering::lowerMap(tile::MapOp op) {
  if (failed(checkOneLayout(op)))
    return failure();
  Distribution &d = distribution(op.getResult(0).getType());
  SmallVector<Registers> results(op.getNumResults(),
                                 Registers(d.numRegisters()));
  for (uint32_t r = 0; r < d.numRegisters(); ++r) {
    if (uint32_t other = d.canonical[r]; other != r) {
      for (Registers &registers : results)
        registers[r] = registers[other];
      continue;
    }
    SmallVector<Value> arguments = llvm::map_to_vector(
        op.getOperands(), [&](Value tile) { return registersOf(tile)[r]; });
    SmallVector<Value> yielded;
    if (failed(inlineRegion(op.getBody(), arguments, yielded)))
      return failure();
    for (auto [registers, value] : llvm::zip_equal(results, yielded))
      registers[r] = value;
  }
  for (auto [result, registers] : llvm::zip_equal(op.getResults(), results))
    setRegisters(result, std::move(registers));
  return success();
}
