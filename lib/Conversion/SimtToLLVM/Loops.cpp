//===- Loops.cpp - Loops over the registers of a thread -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op on a tile is written out for each register. Where that makes a kernel
// long, ops on many registers become loops over some bits of their number; a
// tile that crosses from one loop to another lies in an array of the thread:
//
//   for i in 0 .. 2^bits { array[i ..] = load(address(i)) }
//   for i in 0 .. 2^bits { store(address(i), exp(array[i ..])) }
//
// The counter is a part of the thread's place like lane and warp, so that the
// other lowerings serve for the body as they are. Expressions without effects
// are computed in the loop that needs them. A kernel that is not long has no
// loops. Tests: test/Conversion/SimtToLLVM/loops.mlir, test/python/simt.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "terrazzo/Dialect/Simt/IR/Layouts.h"
#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

//===----------------------------------------------------------------------===//
// Which ops
//===----------------------------------------------------------------------===//

/// Ops whose result is a function of the operands' elements at one place.
static bool isExpression(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isTile(op->getResult(0)))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<DenseElementsAttr>(constant.getValue()).isSplat();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<tile::AddPtrOp, tile::PtrToIntOp, tile::IntToPtrOp,
             tile::PtrCastOp, tile::HintOp, tile::ClampOp, tile::ArangeOp,
             tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
             tile::TransposeOp>(op) ||
         simt::isLinearReshape(op);
}

/// The tile that a loop goes over; null for an op that is none.
static Value tileOf(Operation *op) {
  Value tile;
  if (isa<tile::LoadOp, simt::LocalLoadOp, simt::LocalGatherOp, tile::ScanOp,
          tile::SortOp>(op) ||
      isExpression(op))
    tile = op->getResult(0);
  else if (auto store = dyn_cast<tile::StoreOp>(op))
    tile = store.getValue();
  else if (auto store = dyn_cast<simt::LocalStoreOp>(op))
    tile = store.getValue();
  else if (auto count = dyn_cast<simt::LocalCountOp>(op))
    tile = count.getIndices();
  else if (isa<simt::ConvertLayoutOp, tile::ReduceOp, simt::WarpReduceOp,
               tile::JoinOp, tile::SplitOp>(op))
    tile = op->getOperand(0);
  return tile && isTile(tile) ? tile : Value();
}

/// An axis whose elements belong together; -1 if there is none.
static int64_t axisOf(Operation *op) {
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return scan.getAxis();
  if (auto sort = dyn_cast<tile::SortOp>(op))
    return sort.getAxis();
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return reduce.getAxis();
  if (auto reduce = dyn_cast<simt::WarpReduceOp>(op))
    return reduce.getAxis();
  if (auto split = dyn_cast<tile::SplitOp>(op))
    return split.getSource().getType().getRank() - 1;
  return -1;
}

static bool isNarrow(Type type) {
  type = tile::getElementType(type);
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// Formulas of dozens of instructions.
static bool isExpensive(Operation *op) {
  if (isa<arith::BitcastOp, arith::SelectOp, arith::ConstantOp>(op))
    return false;
  if (isa<math::MathDialect>(op->getDialect()))
    return !isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
                math::RsqrtOp, math::SqrtOp, math::FmaOp, math::AbsFOp,
                math::AbsIOp, math::FloorOp, math::CeilOp>(op);
  return isa<arith::ArithDialect>(op->getDialect()) &&
         (isa<arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
              arith::RemUIOp>(op) ||
          isNarrow(op->getOperand(0).getType()) ||
          isNarrow(op->getResult(0).getType()));
}

int64_t Lowering::registersFor(Operation *op) {
  Value tile = tileOf(op);
  return tile ? static_cast<int64_t>(distribution(tile.getType()).unique.size())
              : 0;
}

/// Instructions for each register, roughly.
int64_t Lowering::weightOf(Operation *op) {
  if (auto sort = dyn_cast<tile::SortOp>(op))
    return 8 * static_cast<int64_t>(tile::sortStages(sort).size());
  if (isa<tile::JoinOp, tile::SplitOp>(op))
    return 0;
  if (isa<tile::ScanOp, simt::ConvertLayoutOp>(op))
    return 8;
  if (isExpression(op) && isExpensive(op))
    return isa<math::MathDialect>(op->getDialect()) ? 96 : 32;
  if (isExpression(op))
    return 1;
  return op->hasAttr("within") ? 12 : 4;
}

/// Whether a tile is computed again by each loop that needs it.
static bool isCheap(Value tile, llvm::DenseMap<Value, bool> &known) {
  if (auto it = known.find(tile); it != known.end())
    return it->second;
  Operation *op = tile.getDefiningOp();
  bool result = op && isExpression(op) && !isExpensive(op) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return !isTile(operand) || isCheap(operand, known);
                });
  return known[tile] = result;
}

/// Users first. What is in `looped` already must not become a loop; it is taken
/// out again.
void Lowering::classify(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> refused;
  std::swap(refused, looped);
  deferred.clear();
  auto isInLoops = [&](Operation *user) {
    return looped.contains(user) || deferred.contains(user);
  };
  for (Operation *op : llvm::reverse(ops)) {
    if (!tileOf(op))
      continue;
    // A network is long on fewer registers.
    int64_t fewest =
        isa<tile::SortOp>(op) ? machine.fewest / 4 : machine.fewest;
    bool mayLoop = !refused.contains(op) && registersFor(op) >= fewest;
    if (!isExpression(op)) {
      if (mayLoop)
        looped.insert(op);
      continue;
    }
    if (op->use_empty() || !llvm::all_of(op->getUsers(), isInLoops))
      continue;
    Operation *user = *op->user_begin();
    bool isOnce = user->getBlock() == op->getBlock() &&
                  llvm::all_of(op->getUsers(),
                               [&](Operation *each) { return each == user; });
    if (isOnce || isCheap(op->getResult(0), cheap))
      deferred.insert(op);
    else if (mayLoop)
      looped.insert(op);
  }
}

void Lowering::planLoops(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  int64_t weight = 0;
  // A matrix unit wants its registers as they are.
  bool hasUnits = false;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    hasUnits |= isa<simt::MmaOp, simt::LocalMmaOp, simt::MmaWaitOp>(op);
    int64_t count = registersFor(op), own = count * weightOf(op);
    // Where a tile alone takes all registers, half of the code moves them.
    weight += count >= 256 ? 2 * own : own;
    // Their regions hold scalars.
    return isa<tile::ReduceOp, simt::WarpReduceOp, tile::ScanOp, tile::MapOp>(
               op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  if (hasUnits || weight <= machine.limit)
    return;
  llvm::DenseSet<Operation *> refused;
  while (true) {
    looped = refused;
    classify(ops);
    size_t before = refused.size();
    for (Operation *op : looped) {
      Loop loop;
      if (!planLoop(op, loop))
        refused.insert(op);
    }
    if (refused.size() == before)
      return;
  }
}

//===----------------------------------------------------------------------===//
// What a loop needs
//===----------------------------------------------------------------------===//

static bool isNowhere(ArrayRef<int32_t> coords) {
  return llvm::all_of(coords, [](int32_t c) { return c == 0; });
}

/// How far a register bit moves in memory.
static int64_t stepOf(Operation *op, ArrayRef<int32_t> basis) {
  ArrayRef<int32_t> strides;
  if (auto load = dyn_cast<simt::LocalLoadOp>(op))
    strides = load.getStrides();
  else if (auto store = dyn_cast<simt::LocalStoreOp>(op))
    strides = store.getStrides();
  int64_t step = 0;
  for (auto [stride, coordinate] : llvm::zip(strides, basis))
    step += int64_t{stride} * coordinate;
  return std::abs(step);
}

/// A scan whose axis is in registers alone is a fold, which may go on in the
/// next turn: the counter's lowest bits are the axis's highest ones then, and
/// others are rows.
bool Lowering::chooseBitsAlong(tile::ScanOp op, Loop &loop,
                               SmallVectorImpl<Coords> &bits) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  Distribution &d = distribution(type);
  int64_t axis = op.getAxis(), extent = type.getDimSize(axis);
  // In reverse, elements that are not there would come first.
  if (d.threadMask[axis] != 0 ||
      (op.getReverse() && extent != int64_t{1} << d.outBits[axis]))
    return false;
  SmallVector<Coords> along, rows;
  for (const Coords &basis : d.registers)
    (basis[axis] ? along : rows).push_back(basis);
  size_t kept = llvm::Log2_64(machine.turn);
  if (along.size() <= kept ||
      !simt::hasOwnBits(simt::getLayout(type).getLayout(),
                        static_cast<int>(axis)))
    return false;
  llvm::sort(along, [&](const Coords &a, const Coords &c) {
    return a[axis] < c[axis];
  });
  bits.append(along.begin() + kept, along.end());
  loop.along = bits.size();
  llvm::append_range(bits, rows);
  return true;
}

/// A sort whose axis is long in registers goes over them several times. A turn
/// holds few registers, and does all stages that exchange only those, or lanes;
/// the next stage begins another pass. Empty where one pass with the axis in
/// each turn does.
SmallVector<Lowering::SortPass> Lowering::sortPasses(tile::SortOp op) {
  Distribution &d = distribution(op.getType());
  int64_t axis = op.getAxis();
  size_t kept = llvm::Log2_64(std::max<int64_t>(2, machine.turn / 2));
  llvm::DenseMap<unsigned, size_t> along;
  for (auto [bit, basis] : llvm::enumerate(d.registers))
    if (basis[axis] != 0)
      along[llvm::Log2_32(basis[axis])] = bit;
  if (along.size() <= kept + 1 ||
      !simt::hasOwnBits(simt::getLayout(op.getType()).getLayout(),
                        static_cast<int>(axis)))
    return {};
  SmallVector<SortPass> passes;
  llvm::SmallSetVector<size_t, 4> held;
  auto endPass = [&] {
    for (size_t bit = 0; bit < d.registers.size(); ++bit)
      if (held.size() < kept)
        held.insert(bit);
      else if (!held.contains(bit))
        passes.back().bits.push_back(d.registers[bit]);
    held.clear();
  };
  passes.emplace_back();
  for (tile::SortStage stage : tile::sortStages(op)) {
    auto it = along.find(stage.distance);
    if (it != along.end() && !held.contains(it->second)) {
      if (held.size() == kept) {
        endPass();
        passes.emplace_back();
      }
      held.insert(it->second);
    }
    passes.back().stages.push_back(stage);
  }
  endPass();
  return passes;
}

/// Where the bits of the counter move: not along an axis that belongs together,
/// and not where one access covers neighbours.
bool Lowering::chooseBits(Operation *op, Value tile, Loop &loop,
                          SmallVectorImpl<Coords> &bits) {
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    if (chooseBitsAlong(scan, loop, bits))
      return true;
  if (auto sort = dyn_cast<tile::SortOp>(op)) {
    loop.passes = sortPasses(sort);
    if (!loop.passes.empty()) {
      bits.assign(loop.passes.front().bits);
      return true;
    }
  }
  Distribution &d = distribution(tile.getType());
  int64_t axis = axisOf(op);
  auto convert = dyn_cast<simt::ConvertLayoutOp>(op);
  for (const Coords &basis : d.registers) {
    if (axis >= 0 && basis[axis] != 0)
      continue;
    if (convert &&
        !llvm::is_contained(distribution(convert.getType()).registers, basis))
      continue;
    bits.push_back(basis);
  }
  SmallVector<std::pair<int64_t, size_t>> steps;
  for (auto [number, basis] : llvm::enumerate(bits))
    steps.push_back({stepOf(op, basis), number});
  llvm::sort(steps);
  // A turn of a network is long with half the registers; of what goes in rounds
  // there are many loops, and each access has a condition.
  int64_t turn = machine.turn;
  if (isa<tile::SortOp>(op))
    turn /= 2;
  else if (op->hasAttr("within"))
    turn /= 4;
  size_t kept = llvm::Log2_64(std::max<int64_t>(1, turn)),
         most = d.registers.size() - std::min(d.registers.size(), kept);
  SmallVector<Coords> chosen;
  for (auto [step, number] : ArrayRef(steps).take_back(most))
    chosen.push_back(bits[number]);
  bits.assign(chosen.begin(), chosen.end());
  if (convert)
    return !bits.empty() &&
           isWithinWarps(
               Distribution(simt::getLayout(tile.getType()).getLayout(), bits),
               Distribution(simt::getLayout(convert.getType()).getLayout(),
                            bits));
  return !bits.empty();
}

/// Whether a loop computes a tile that it reads.
bool Lowering::isInside(Value tile) {
  return deferred.contains(tile.getDefiningOp()) || isCheap(tile, cheap);
}

bool Lowering::addTile(Loop &loop, Value tile, ArrayRef<Coords> bits) {
  Distribution &d = distribution(tile.getType());
  if (d.freeRegisters != 0)
    return false;
  for (const Coords &basis : bits)
    if (!isNowhere(basis) && !llvm::is_contained(d.registers, basis))
      return false;
  Attribute encoding = cast<RankedTensorType>(tile.getType()).getEncoding();
  for (auto &[other, theirs] : loop.tiles)
    if (cast<RankedTensorType>(other.getType()).getEncoding() == encoding &&
        ArrayRef(theirs) != bits)
      return false;
  loop.tiles.insert({tile, SmallVector<Coords>(bits)});
  return true;
}

/// Adds what `op`, whose own tiles are there, reads.
bool Lowering::addOperands(Loop &loop, Operation *op,
                           llvm::DenseSet<Operation *> &seen) {
  bool isRenaming = isa<tile::ExpandDimsOp, tile::BroadcastOp,
                        tile::TransposeOp, tile::ReshapeOp>(op);
  SmallVector<Coords> bits =
      loop.tiles.lookup(isExpression(op) ? op->getResult(0) : tileOf(op));
  if (isRenaming)
    for (Coords &basis : bits)
      basis = sourceOf(op, basis);
  for (Value operand : op->getOperands()) {
    if (!isTile(operand))
      continue;
    bool isKnown = loop.tiles.contains(operand);
    if (!addTile(loop, operand, bits))
      return false;
    Operation *source = operand.getDefiningOp();
    if (!isInside(operand)) {
      if (!llvm::is_contained(loop.sources, operand))
        loop.sources.push_back(operand);
    } else if (!isKnown || seen.insert(source).second) {
      seen.insert(source);
      if (!addOperands(loop, source, seen))
        return false;
      loop.inside.push_back(source);
    }
  }
  return true;
}

bool Lowering::planLoop(Operation *op, Loop &loop) {
  Value tile = tileOf(op);
  SmallVector<Coords> bits;
  if (!chooseBits(op, tile, loop, bits) || !addTile(loop, tile, bits))
    return false;
  loop.bits = bits.size();
  SmallVector<Coords> ofResults(bits);
  for (Coords &basis : ofResults)
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      basis.erase(basis.begin() + reduce.getAxis());
    else if (isa<tile::JoinOp>(op))
      basis.push_back(0);
    else if (isa<tile::SplitOp>(op))
      basis.pop_back();
  for (Value result : op->getResults())
    if (!isTile(result) || !addTile(loop, result, ofResults))
      return false;
  llvm::DenseSet<Operation *> seen;
  return addOperands(loop, op, seen);
}

//===----------------------------------------------------------------------===//
// Tiles in memory
//===----------------------------------------------------------------------===//

static Type slotType(OpBuilder &b, Value tile) {
  return b.getIntegerType(
      8 * simt::elementBytes(tile::getElementType(tile.getType())));
}

/// Memory of this thread with a slot for each register.
Value Lowering::makeArray(Value tile) {
  size_t count = distribution(tile.getType()).kept.size() +
                 distribution(tile.getType()).loops.size();
  Value array, size = i32(int64_t{1} << count);
  atEntry([&] {
    array = LLVM::AllocaOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), machine.privateSpace),
        slotType(b, tile), size);
  });
  return array;
}

/// The number of a turn's first slot; null for 0.
Value Lowering::firstSlot(Distribution &d) {
  SmallVector<int32_t> steps = llvm::map_to_vector(
      d.looped, [](int bit) { return bit < 0 ? 0 : int32_t{1} << bit; });
  return threadPart({}, {}, steps, true);
}

void Lowering::storeSlots(Value array, Value tile, Value first,
                          ArrayRef<uint32_t> slots, ArrayRef<Value> values) {
  Type type = slotType(b, tile), element = tile::getElementType(tile.getType());
  if (first)
    array = pointerTo(type, array, LLVM::GEPArg(first));
  for (auto [slot, value] : llvm::zip_equal(slots, values))
    LLVM::StoreOp::create(
        b, toInteger(value, element),
        pointerTo(type, array, LLVM::GEPArg(static_cast<int32_t>(slot))));
}

Registers Lowering::loadSlots(Value array, Value tile, Value first,
                              ArrayRef<uint32_t> slots) {
  Type type = slotType(b, tile), element = tile::getElementType(tile.getType());
  if (first)
    array = pointerTo(type, array, LLVM::GEPArg(first));
  Registers values;
  for (uint32_t slot : slots) {
    Value raw = LLVM::LoadOp::create(
        b, type,
        pointerTo(type, array, LLVM::GEPArg(static_cast<int32_t>(slot))));
    values.push_back(fromInteger(raw, element));
  }
  return values;
}

/// The numbers of a turn's registers, less that of the first.
static SmallVector<uint32_t> slotsOf(const Distribution &d) {
  SmallVector<uint32_t> slots(d.numRegisters(), 0);
  for (uint32_t r = 0; r < d.numRegisters(); ++r)
    for (auto [bit, place] : llvm::enumerate(d.kept))
      if (r >> bit & 1)
        slots[r] |= uint32_t{1} << place;
  return slots;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// LLVM must not write it out again.
static LLVM::LoopAnnotationAttr keepsLoop(OpBuilder &b) {
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// The body, for the turn that `window` stands for.
LogicalResult Lowering::lowerTurn(Operation *op, const Loop &loop) {
  for (const auto &[tile, bits] : loop.tiles) {
    auto layout = cast<simt::LayoutAttr>(
        cast<RankedTensorType>(tile.getType()).getEncoding());
    auto &slot = window->distributions[layout];
    if (!slot)
      slot = std::make_unique<Distribution>(layout.getLayout(), bits);
  }
  for (Value tile : loop.sources) {
    Distribution &d = distribution(tile.getType());
    SmallVector<uint32_t> slots = slotsOf(d);
    if (Value array = arrays.lookup(tile)) {
      setRegisters(tile, loadSlots(array, tile, firstSlot(d), slots));
      continue;
    }
    // The same in all turns.
    ArrayRef<Value> whole = tiles.find(tile)->second;
    setRegisters(tile, llvm::to_vector_of<Value, 0>(llvm::map_range(
                           slots, [&](uint32_t slot) { return whole[slot]; })));
  }
  for (Operation *inner : loop.inside)
    if (failed(lowerOp(inner)))
      return failure();
  if (failed(lowerOp(op)))
    return failure();
  for (Value result : op->getResults()) {
    Distribution &d = distribution(result.getType());
    storeSlots(arrays.lookup(result), result, firstSlot(d), slotsOf(d),
               registersOf(result));
  }
  return success();
}

/// What a scan along whose axis the loop goes begins with, for each row of a
/// turn: anything.
SmallVector<Value> Lowering::initialCarry(Operation *op, const Loop &loop) {
  SmallVector<Value> inits;
  if (loop.along == 0)
    return inits;
  Type type = op->getResult(0).getType();
  Distribution turn(simt::getLayout(type).getLayout(),
                    loop.tiles.lookup(op->getResult(0)));
  for (const Coords &coords : turn.coords)
    if (coords[axisOf(op)] == 0)
      for (Type each : op->getResultTypes())
        inits.push_back(zero(registerType(tile::getElementType(each))));
  return inits;
}

LogicalResult Lowering::emitLoop(Operation *op, const Loop &loop,
                                 Window &turn) {
  auto now = scf::ForOp::create(b, i32(0), i32(int64_t{1} << loop.bits), i32(1),
                                initialCarry(op, loop));
  // By the name that it has on LLVM's branch, onto which conversions carry it.
  now->setAttr("loop_annotation", keepsLoop(b));
  OpBuilder::InsertionGuard guard(b);
  Block &body = *now.getBody();
  if (!body.empty())
    body.getTerminator()->erase();
  b.setInsertionPointToStart(&body);
  turn.counter = now.getInductionVar();
  if (loop.along > 0) {
    Value mask = i32((int64_t{1} << loop.along) - 1);
    Value place = arith::AndIOp::create(b, turn.counter, mask);
    turn.isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, i32(0));
    llvm::append_range(turn.carried, now.getRegionIterArgs());
    if (cast<tile::ScanOp>(op).getReverse())
      turn.counter = arith::XOrIOp::create(b, turn.counter, mask);
  }
  turn.head = arith::ConstantOp::create(b, b.getBoolAttr(false));
  window = &turn;
  LogicalResult result = lowerTurn(op, loop);
  window = nullptr;
  if (failed(result)) {
    now.erase(); // It has no end.
    return failure();
  }
  turn.head->erase();
  scf::YieldOp::create(b, turn.next);
  return success();
}

/// Each pass of a sort but the first goes on, in place, with what the one
/// before has left.
LogicalResult Lowering::lowerPasses(tile::SortOp op, const Loop &first) {
  Value source = op.getSource(), saved = arrays.lookup(source);
  for (auto [number, pass] : llvm::enumerate(first.passes)) {
    Window turn;
    turn.pass = &pass;
    turn.isFirstPass = number == 0;
    Loop next;
    next.bits = pass.bits.size();
    next.tiles[source] = next.tiles[op.getResult()] = pass.bits;
    next.sources = {source};
    if (failed(emitLoop(op, number == 0 ? first : next, turn)))
      return failure();
    arrays[source] = arrays.lookup(op.getResult());
  }
  if (saved)
    arrays[source] = saved;
  else
    arrays.erase(source);
  return success();
}

LogicalResult Lowering::lowerLoop(Operation *op) {
  b.setLoc(op->getLoc());
  Loop loop;
  if (!planLoop(op, loop))
    llvm_unreachable("loops were planned");
  SmallVector<Value> spilled;
  for (Value tile : loop.sources) {
    if (arrays.contains(tile) ||
        llvm::all_of(loop.tiles.lookup(tile),
                     [](auto &basis) { return isNowhere(basis); }))
      continue;
    Distribution &d = distribution(tile.getType());
    Value array = makeArray(tile);
    storeSlots(array, tile, Value(), slotsOf(d), registersOf(tile));
    arrays[tile] = array;
    spilled.push_back(tile);
  }
  for (Value result : op->getResults())
    arrays[result] = makeArray(result);
  Window turn;
  if (failed(loop.passes.empty() ? emitLoop(op, loop, turn)
                                 : lowerPasses(cast<tile::SortOp>(op), loop)))
    return failure();
  // Only what dominates all uses may be found again.
  for (Value tile : spilled)
    arrays.erase(tile);
  for (Value result : op->getResults())
    if (!llvm::all_of(result.getUsers(), [&](Operation *user) {
          return looped.contains(user) || deferred.contains(user);
        }))
      setRegisters(result, loadSlots(arrays.lookup(result), result, Value(),
                                     slotsOf(distribution(result.getType()))));
  return success();
}
