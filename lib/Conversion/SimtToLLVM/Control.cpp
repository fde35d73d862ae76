//===- Control.cpp - Structured control flow ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop carries one scalar for each distinct register of a tile.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

SmallVector<Value> Lowering::expand(ValueRange values) {
  SmallVector<Value> out;
  for (Value value : values) {
    if (!isTile(value)) {
      out.push_back(scalar(value));
      continue;
    }
    ArrayRef<Value> registers = registersOf(value);
    for (uint32_t r : distribution(value.getType()).unique)
      out.push_back(registers[r]);
  }
  return out;
}

SmallVector<Type> Lowering::expand(TypeRange types) {
  SmallVector<Type> out;
  for (Type type : types) {
    size_t count = isa<RankedTensorType>(type)
                       ? distribution(type).unique.size()
                       : size_t{1};
    out.append(count, registerType(tile::getElementType(type)));
  }
  return out;
}

void Lowering::bind(ValueRange old, ValueRange now) {
  for (Value value : old) {
    if (!isTile(value)) {
      setScalar(value, now.front());
      now = now.drop_front();
      continue;
    }
    size_t next = 0;
    setEach(value, [&](uint32_t) { return now[next++]; });
    now = now.drop_front(next);
  }
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  auto loop = scf::ForOp::create(b, scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()), expand(op.getInitArgs()),
                                 nullptr, op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  {
    OpBuilder::InsertionGuard guard(b);
    Block &body = *loop.getBody();
    if (!body.empty())
      body.getTerminator()->erase();
    b.setInsertionPointToEnd(&body);
    setScalar(op.getInductionVar(), loop.getInductionVar());
    bind(op.getRegionIterArgs(), loop.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    b.setLoc(op.getBody()->getTerminator()->getLoc());
    scf::YieldOp::create(b,
                         expand(op.getBody()->getTerminator()->getOperands()));
  }
  bind(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Lowering::lowerIf(scf::IfOp op) {
  auto now =
      scf::IfOp::create(b, expand(op.getResultTypes()),
                        scalar(op.getCondition()), !op.getElseRegion().empty());
  now->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       {std::pair{&op.getThenRegion(), &now.getThenRegion()},
        std::pair{&op.getElseRegion(), &now.getElseRegion()}}) {
    if (from->empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    Block &block = to->front();
    if (!block.empty())
      block.getTerminator()->erase();
    b.setInsertionPointToEnd(&block);
    if (failed(lowerBlock(from->front())))
      return failure();
    Operation *terminator = from->front().getTerminator();
    b.setLoc(terminator->getLoc());
    scf::YieldOp::create(b, expand(terminator->getOperands()));
  }
  bind(op.getResults(), now.getResults());
  return success();
}

LogicalResult Lowering::lowerWhile(scf::WhileOp op) {
  Block &before = op.getBefore().front(), &after = op.getAfter().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  SmallVector<Value> inits = expand(op.getInits());
  SmallVector<Type> passed = expand(op.getResultTypes());
  auto now = scf::WhileOp::create(b, passed, inits);
  now->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  auto block = [&](Region &region, TypeRange types) -> Block * {
    SmallVector<Location> locations(types.size(), op.getLoc());
    return b.createBlock(&region, {}, types, locations);
  };
  Block *head = block(now.getBefore(), ValueRange(inits).getTypes());
  bind(before.getArguments(), head->getArguments());
  if (failed(lowerBlock(before)))
    return failure();
  b.setLoc(condition.getLoc());
  scf::ConditionOp::create(b, scalar(condition.getCondition()),
                           expand(condition.getArgs()));
  Block *body = block(now.getAfter(), passed);
  bind(after.getArguments(), body->getArguments());
  if (failed(lowerBlock(after)))
    return failure();
  b.setLoc(after.getTerminator()->getLoc());
  scf::YieldOp::create(b, expand(after.getTerminator()->getOperands()));
  bind(op.getResults(), now.getResults());
  return success();
}

LogicalResult Lowering::lowerExecuteRegion(scf::ExecuteRegionOp op) {
  if (!llvm::hasSingleElement(op.getRegion()))
    return op.emitOpError("expected one block, found several");
  Block &block = op.getRegion().front();
  if (failed(lowerBlock(block)))
    return failure();
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), block.getTerminator()->getOperands())) {
    if (isTile(value))
      setRegisters(result, Registers(registersOf(value)));
    else
      setScalar(result, scalar(value));
  }
  return success();
}
