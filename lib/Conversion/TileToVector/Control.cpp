//===- Control.cpp - Loops and branches that carry tiles ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A carried tile has one buffer for the whole loop. Its next value is written
// over the last one where nothing still reads that, else by way of a copy.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

LogicalResult Lowering::lowerRegion(Block &block, function_ref<void()> finish) {
  DenseMap<Value, Buffer> outerBuffers(buffers);
  llvm::SetVector<Value> outerPending(pending);
  Cache outerCache;
  std::swap(outerCache, cache);
  LogicalResult result = lowerBlock(block);
  if (succeeded(result))
    finish();
  std::swap(outerCache, cache);
  // Values of this region keep what they have: nobody else can ask for them.
  Region *region = block.getParent();
  SmallVector<Value> forgotten;
  for (auto &[value, buffer] : buffers)
    if (!outerBuffers.contains(value) &&
        !region->isAncestor(value.getParentRegion()))
      forgotten.push_back(value);
  for (Value value : forgotten)
    buffers.erase(value);
  for (Value value : outerPending)
    if (!isInBuffer(value))
      pending.insert(value);
  return result;
}

bool Lowering::dependsOn(Value tile, Value leaf, bool &elsewhere) {
  bool result = false;
  SmallVector<std::pair<Value, bool>> work = {{tile, true}};
  DenseSet<Value> seen[2];
  while (!work.empty()) {
    auto [now, isInPlace] = work.pop_back_val();
    if (now == leaf) {
      elsewhere |= !isInPlace;
      result = true;
      continue;
    }
    Operation *op = now.getDefiningOp();
    if (!isTile(now) || isInBuffer(now) || !op || !isVirtualOp(op) ||
        !seen[isInPlace].insert(now).second)
      continue;
    bool keeps = isInPlace && !isRenaming(op) && !isa<tile::GatherOp>(op);
    for (Value operand : op->getOperands())
      work.push_back({operand, keeps});
  }
  return result;
}

void Lowering::carry(ValueRange values, ValueRange leaves,
                     ArrayRef<Buffer> destinations, bool alwaysCopy) {
  SmallVector<std::pair<Buffer, size_t>> copies;
  SmallVector<size_t> direct;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!isTile(values[i]))
      continue;
    auto it = buffers.find(values[i]);
    if (it != buffers.end() && it->second.ptr == destinations[i].ptr)
      continue;
    bool needsCopy = alwaysCopy;
    for (size_t j = 0; j < values.size() && !needsCopy; ++j) {
      bool elsewhere = false;
      if (isTile(values[j]) && dependsOn(values[j], leaves[i], elsewhere))
        needsCopy = j != i || elsewhere;
    }
    if (needsCopy)
      copies.push_back({{}, i});
    else
      direct.push_back(i);
  }
  for (auto &[buffer, i] : copies) {
    auto type = cast<RankedTensorType>(values[i].getType());
    buffer = allocateTile(type);
    copyInto(values[i], buffer);
  }
  for (size_t i : direct)
    copyInto(values[i], destinations[i]);
  for (auto &[buffer, i] : copies) {
    ArrayRef<int64_t> shape = tile::getShape(values[i].getType());
    const Buffer &to = destinations[i];
    Buffer &from = buffer;
    forStrips(
        shape, static_cast<int64_t>(shape.size()) - 1, chip.vectorBytes / 4,
        [&](const Coords &at) { storeBuffer(to, at, loadBuffer(from, at)); });
  }
}

bool Lowering::canWriteInPlace(Value value, Value argument) {
  auto dot = value.getDefiningOp<tile::DotOp>();
  if (!dot || dot->getBlock() != argument.getParentBlock() ||
      value.getType() != argument.getType())
    return false;
  bool elsewhere = false;
  if (dependsOn(dot.getLhs(), argument, elsewhere) ||
      dependsOn(dot.getRhs(), argument, elsewhere))
    return false;
  dependsOn(dot.getAcc(), argument, elsewhere);
  if (elsewhere)
    return false;
  // Every other reader has to run before.
  SmallVector<Value> work = {argument};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    if (!seen.insert(tile).second)
      continue;
    for (Operation *user : tile.getUsers()) {
      Operation *here = dot->getBlock()->findAncestorOpInBlock(*user);
      if (here == dot.getOperation())
        continue;
      if (here == user && isVirtualOp(user)) {
        work.append(user->result_begin(), user->result_end());
        continue;
      }
      if (!here || !here->isBeforeInBlock(dot))
        return false;
    }
  }
  return true;
}

bool Lowering::canStartWithout(Value value, Value argument, Value init) {
  auto dot = value.getDefiningOp<tile::DotOp>();
  if (auto splat = init.getDefiningOp<tile::SplatOp>())
    init = splat.getSource();
  return dot && dot.getAcc() == argument && argument.hasOneUse() &&
         pickUnit(dot) == DotUnit::Tiles &&
         byteSize(tile::getElementType(value.getType())) == 4 &&
         (matchPattern(init, m_Zero()) || matchPattern(init, m_PosZeroFloat()));
}

void Lowering::emitCancelCheck() {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Value field = LLVM::GEPOp::create(b, ptr, b.getI8Type(), context,
                                    ArrayRef<LLVM::GEPArg>{16});
  Value flag = LLVM::LoadOp::create(b, ptr, field, 8);
  Value set =
      LLVM::LoadOp::create(b, b.getI32Type(), flag, 4, /*isVolatile=*/true);
  Value stop = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, set,
                                     constant(0, b.getI32Type()));
  either(stop, [&] { callContext(24, {}); });
}

void Lowering::ifNoTurn(scf::ForOp op, function_ref<void()> body) {
  auto predicate = op.getUnsignedCmp() ? arith::CmpIPredicate::uge
                                       : arith::CmpIPredicate::sge;
  either(arith::CmpIOp::create(b, predicate, scalar(op.getLowerBound()),
                               scalar(op.getUpperBound())),
         body);
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  Block &body = *op.getBody();
  ValueRange yields = body.getTerminator()->getOperands();
  SmallVector<Buffer> destinations(op.getInitArgs().size());
  SmallVector<Value> inits, late;
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    if (!isTile(init)) {
      inits.push_back(scalar(init));
      continue;
    }
    Value argument = op.getRegionIterArg(i), next = yields[i];
    destinations[i] = allocateTile(init.getType());
    bool isInPlace =
        llvm::count(yields, next) == 1 && canWriteInPlace(next, argument);
    if (isInPlace)
      inPlace[next] = destinations[i];
    if (isInPlace && canStartWithout(next, argument, init)) {
      late.push_back(next);
      ifNoTurn(op, [&] { copyInto(init, destinations[i]); });
    } else {
      copyInto(init, destinations[i]);
    }
    buffers[argument] = destinations[i];
  }

  b.setLoc(op.getLoc());
  auto loop = scf::ForOp::create(b, scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()), inits);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  LogicalResult result = success();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    mapScalar(op.getInductionVar(), loop.getInductionVar());
    for (Value sum : late)
      firstTurns[sum] =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                loop.getInductionVar(), loop.getLowerBound());
    size_t next = 0;
    for (auto [i, init] : llvm::enumerate(op.getInitArgs()))
      if (!isTile(init))
        mapScalar(op.getRegionIterArg(i), loop.getRegionIterArg(next++));
    emitCancelCheck();
    result = lowerRegion(body, [&] {
      carry(yields, op.getRegionIterArgs(), destinations, false);
    });
    if (failed(result))
      return failure();
    if (!inits.empty())
      scf::YieldOp::create(b, scalarsOf(yields));
  }
  size_t next = 0;
  for (auto [i, value] : llvm::enumerate(op.getResults())) {
    if (isTile(value))
      buffers[value] = destinations[i];
    else
      mapScalar(value, loop.getResult(next++));
  }
  return result;
}

SmallVector<Value> Lowering::scalarsOf(ValueRange values) {
  SmallVector<Value> out;
  for (Value value : values)
    if (!isTile(value))
      out.push_back(scalar(value));
  return out;
}

void Lowering::mapArguments(Block &block, ValueRange now) {
  size_t next = 0;
  for (BlockArgument argument : block.getArguments())
    if (!isTile(argument))
      mapScalar(argument, now[next++]);
}

LogicalResult Lowering::lowerBranch(Region &from, Region &to,
                                    ArrayRef<Buffer> destinations) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = to.front();
  if (block.empty())
    b.setInsertionPointToEnd(&block);
  else
    b.setInsertionPoint(block.getTerminator());
  ValueRange yields = from.front().getTerminator()->getOperands();
  LogicalResult result = lowerRegion(from.front(), [&] {
    for (auto [value, destination] : llvm::zip_equal(yields, destinations))
      if (isTile(value))
        copyInto(value, destination);
  });
  if (failed(result))
    return failure();
  SmallVector<Value> out = scalarsOf(yields);
  // Without results the branch came with its terminator.
  if (!out.empty())
    scf::YieldOp::create(b, out);
  return success();
}

LogicalResult Lowering::lowerIf(scf::IfOp op) {
  SmallVector<Buffer> destinations;
  SmallVector<Type> types;
  for (Value value : op.getResults()) {
    destinations.push_back({});
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      destinations.back() = allocateTile(type);
    else
      types.push_back(registerType(value.getType()));
  }
  bool hasElse = !op.getElseRegion().empty();
  auto now = scf::IfOp::create(b, types, scalar(op.getCondition()), hasElse);
  if (failed(
          lowerBranch(op.getThenRegion(), now.getThenRegion(), destinations)) ||
      (hasElse && failed(lowerBranch(op.getElseRegion(), now.getElseRegion(),
                                     destinations))))
    return failure();
  size_t next = 0;
  for (auto [value, destination] :
       llvm::zip_equal(op.getResults(), destinations)) {
    if (isTile(value))
      buffers[value] = destination;
    else
      mapScalar(value, now.getResult(next++));
  }
  return success();
}

Lowering::WhileTiles Lowering::openWhile(scf::WhileOp op) {
  Block &before = op.getBefore().front(), &after = op.getAfter().front();
  ValueRange forwarded =
      cast<scf::ConditionOp>(before.getTerminator()).getArgs();
  WhileTiles tiles;
  tiles.carried.resize(op.getInits().size());
  tiles.passed.resize(forwarded.size());
  tiles.leaves.assign(op.getInits().begin(), op.getInits().end());
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    if (!isTile(init))
      continue;
    tiles.carried[i] = allocateTile(init.getType());
    copyInto(init, tiles.carried[i]);
    buffers[before.getArgument(i)] = tiles.carried[i];
  }
  // A carried tile that is passed on as it is keeps its buffer; any other one
  // is computed into a buffer of its own.
  for (auto [j, value] : llvm::enumerate(forwarded)) {
    if (!isTile(value))
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    bool isSame = argument && argument.getOwner() == &before &&
                  llvm::count(forwarded, value) == 1;
    if (isSame) {
      tiles.passed[j] = tiles.carried[argument.getArgNumber()];
      tiles.leaves[argument.getArgNumber()] = after.getArgument(j);
    } else {
      tiles.passed[j] = allocateTile(value.getType());
      tiles.alwaysCopy = true;
    }
    buffers[after.getArgument(j)] = tiles.passed[j];
    buffers[op.getResult(j)] = tiles.passed[j];
  }
  return tiles;
}

LogicalResult Lowering::lowerWhileRegions(scf::WhileOp op,
                                          const WhileTiles &tiles,
                                          scf::WhileOp &loop) {
  Block &before = op.getBefore().front(), &after = op.getAfter().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  ValueRange forwarded = condition.getArgs();
  SmallVector<Type> passedTypes;
  for (Value value : forwarded)
    if (!isTile(value))
      passedTypes.push_back(registerType(value.getType()));
  LogicalResult result = success();
  auto passOn = [&] {
    for (auto [value, buffer] : llvm::zip_equal(forwarded, tiles.passed)) {
      auto it = buffers.find(value);
      if (isTile(value) &&
          (it == buffers.end() || it->second.ptr != buffer.ptr))
        copyInto(value, buffer);
    }
  };
  loop = scf::WhileOp::create(
      b, passedTypes, scalarsOf(op.getInits()),
      [&](OpBuilder &, Location, ValueRange arguments) {
        mapArguments(before, arguments);
        emitCancelCheck();
        result = lowerRegion(before, passOn);
        if (succeeded(result))
          scf::ConditionOp::create(b, scalar(condition.getCondition()),
                                   scalarsOf(forwarded));
      },
      [&](OpBuilder &, Location, ValueRange arguments) {
        mapArguments(after, arguments);
        if (failed(result))
          return;
        ValueRange yields = after.getTerminator()->getOperands();
        result = lowerRegion(after, [&] {
          carry(yields, tiles.leaves, tiles.carried, tiles.alwaysCopy);
        });
        if (succeeded(result))
          scf::YieldOp::create(b, scalarsOf(yields));
      });
  return result;
}

LogicalResult Lowering::lowerWhile(scf::WhileOp op) {
  WhileTiles tiles = openWhile(op);
  b.setLoc(op.getLoc());
  scf::WhileOp loop;
  if (failed(lowerWhileRegions(op, tiles, loop)))
    return failure();
  size_t next = 0;
  for (Value value : op.getResults())
    if (!isTile(value))
      mapScalar(value, loop.getResult(next++));
  return success();
}
