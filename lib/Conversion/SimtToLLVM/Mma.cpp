//===- Mma.cpp - Products by the matrix unit ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of each tile come in runs of one instruction's, by the layouts
// that MatrixUnits.h describes: of the accumulator, which run is a block of M x
// N; of a factor, K first and then its other dimension.
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;
using layout::LinearLayout;

namespace {

/// The bits of a run's number that say where it is along one dimension.
struct Selector {
  SmallVector<unsigned> bits;
  uint32_t operator()(uint32_t number) const {
    uint32_t selected = 0;
    for (auto [position, bit] : llvm::enumerate(bits))
      selected |= (number >> bit & 1) << position;
    return selected;
  }
};

/// Which run of registers it is along M or N: the bits that do not move along
/// the other.
Selector along(const Distribution &d, uint32_t run, int64_t dim) {
  int64_t other = dim == d.rank() - 1 ? dim - 1 : dim + 1;
  Selector selector;
  for (unsigned bit = 0; run << bit < d.numRegisters(); ++bit)
    if (d.registers[bit + llvm::Log2_32(run)][other] == 0)
      selector.bits.push_back(bit);
  return selector;
}

} // namespace

LogicalResult Lowering::lowerMma(simt::MmaOp op) {
  simt::InstructionAttr unit = op.getInstruction();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()),
       acc = cast<RankedTensorType>(op.getAcc().getType());
  Distribution &d = distribution(acc);
  int64_t rank = d.rank();
  auto runOf = [&](layout::MatrixRole role) {
    return static_cast<uint32_t>(
        simt::instructionLayout(unit, role).inSize(simt::kRegister));
  };
  uint32_t run = runOf(layout::MatrixRole::Accumulator),
           lhsRun = runOf(layout::MatrixRole::A),
           rhsRun = runOf(layout::MatrixRole::B);
  uint32_t runs = d.numRegisters() / run;
  Selector rows = along(d, run, rank - 2), columns = along(d, run, rank - 1);
  // Steps beyond the shape are padding.
  auto steps = static_cast<uint32_t>(lhs.getShape().back() / unit.getK());
  uint32_t paddedSteps = simt::paddedShape(lhs.getShape()).back() / unit.getK();
  auto packed = [&](Value tile, uint32_t size, uint32_t number) {
    return pack(registersOf(tile).slice(size_t{number} * size, size),
                tile::getElementType(tile.getType()));
  };
  llvm::DenseMap<uint32_t, Value> known[2];
  auto fragment = [&](bool isLhs, uint32_t number) {
    Value &value = known[isLhs][number];
    if (!value)
      value = isLhs ? packed(op.getLhs(), lhsRun, number)
                    : packed(op.getRhs(), rhsRun, number);
    return value;
  };
  SmallVector<Value> sums;
  for (uint32_t number = 0; number < runs; ++number)
    sums.push_back(packed(op.getAcc(), run, number));
  for (uint32_t step = 0; step < steps; ++step)
    for (uint32_t number = 0; number < runs; ++number)
      sums[number] = simt::ThreadMmaOp::create(
          b, sums[number].getType(),
          fragment(true, rows(number) * paddedSteps + step),
          fragment(false, columns(number) * paddedSteps + step), sums[number],
          unit, op.getIsUnsignedAttr());
  Registers now;
  for (Value sum : sums)
    llvm::append_range(now, unpack(sum, acc.getElementType(), run));
  setRegisters(op.getResult(), std::move(now));
  return success();
}

/// A factor, as one warp's instructions see it.
struct Lowering::GroupFactor {
  simt::UnitSwizzle swizzle;
  Value pointer;
  SmallVector<Value> fragments; ///< where it is in registers
  SmallVector<int32_t> places;  ///< of each block of the accumulator
  SmallVector<int32_t> steps;   ///< along K
};

/// The fragments of a left factor in registers.
Lowering::GroupFactor Lowering::heldFactor(simt::LocalMmaOp op) {
  simt::InstructionAttr unit = op.getInstruction();
  Distribution &d = distribution(op.getAcc().getType());
  auto runOf = [&](layout::MatrixRole role) {
    return static_cast<uint32_t>(
        simt::instructionLayout(unit, role).inSize(simt::kRegister));
  };
  uint32_t run = runOf(layout::MatrixRole::Accumulator),
           held = runOf(layout::MatrixRole::A);
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  auto steps = static_cast<int32_t>(type.getShape().back() / unit.getK()),
       paddedSteps = simt::paddedShape(type.getShape()).back() / unit.getK();
  GroupFactor factor;
  ArrayRef<Value> registers = registersOf(op.getLhs());
  for (size_t first = 0; first < registers.size(); first += held)
    factor.fragments.push_back(
        pack(registers.slice(first, held), type.getElementType()));
  Selector rows = along(d, run, 0);
  for (uint32_t number = 0; number < d.numRegisters() / run; ++number)
    factor.places.push_back(static_cast<int32_t>(rows(number)) * paddedSteps);
  for (int32_t step = 0; step < steps; ++step)
    factor.steps.push_back(step);
  return factor;
}

/// The place of a block of the accumulator in a factor in shared memory, and
/// what a warp adds, come from the accumulator's layout: along M in the left,
/// along N in the right.
FailureOr<Lowering::GroupFactor> Lowering::groupFactor(simt::LocalMmaOp op,
                                                       bool isLhs) {
  simt::InstructionAttr unit = op.getInstruction();
  Distribution &d = distribution(op.getAcc().getType());
  LinearLayout own =
      simt::instructionLayout(unit, layout::MatrixRole::Accumulator);
  auto run = static_cast<uint32_t>(own.inSize(simt::kRegister));
  Value buffer = isLhs ? op.getLhs() : op.getRhs(),
        offset = isLhs ? op.getLhsOffset() : op.getRhsOffset();
  Type element = simt::tileElement(isLhs ? unit.getLhs() : unit.getRhs());
  int64_t bytes = simt::elementBytes(element);
  LinearLayout layout =
      (isLhs ? *op.getLhsSwizzle() : op.getRhsSwizzle()).getLayout();
  FailureOr<Addressing> a =
      addressing(op, buffer, element, offset ? scalar(offset) : Value(), 0);
  if (failed(a))
    return failure();
  LinearLayout places = layout.invert();
  // Bytes to the element at `along` of M or N and `depth` of K. Both are
  // multiples of the instruction, where no address is XORed.
  auto placeOf = [&](int32_t along, int32_t depth) {
    SmallVector<int32_t> place = {along, depth};
    if (!isLhs)
      std::swap(place[0], place[1]);
    return static_cast<int32_t>(places.apply(place).front() * bytes);
  };
  GroupFactor factor;
  factor.swizzle = *simt::unitSwizzle(layout, bytes);
  size_t dim = isLhs ? 0 : 1;
  for (uint32_t r = 0; r < d.numRegisters(); r += run)
    factor.places.push_back(placeOf(d.coords[r][dim], 0));
  for (int32_t k = 0, end = static_cast<int32_t>(op.getDepth()); k < end;
       k += unit.getK())
    factor.steps.push_back(placeOf(0, k));
  SmallVector<int32_t> lanes(d.lanes.size(), 0), warps(d.warps.size(), 0);
  for (size_t bit = simt::basesOf(own, simt::kWarp).size(); bit < warps.size();
       ++bit)
    warps[bit] = placeOf(d.warps[bit][dim], 0);
  factor.pointer = a->base;
  if (Value moved = threadPart(lanes, warps, {}, /*isSum=*/true))
    factor.pointer =
        pointerTo(b.getI8Type(), factor.pointer, LLVM::GEPArg(moved));
  return factor;
}

/// The accumulators of the blocks that a warp computes, as words.
SmallVector<Value> Lowering::packBlocks(Value acc, size_t run) {
  Type element = tile::getElementType(acc.getType());
  ArrayRef<Value> registers = registersOf(acc);
  SmallVector<Value> blocks;
  for (size_t first = 0; first < registers.size(); first += run)
    blocks.push_back(pack(registers.slice(first, run), element));
  return blocks;
}

void Lowering::unpackBlocks(Value acc, ValueRange blocks) {
  Type element = tile::getElementType(acc.getType());
  size_t run = distribution(acc.getType()).numRegisters() / blocks.size();
  Registers now;
  for (Value block : blocks)
    llvm::append_range(now, unpack(block, element, static_cast<int64_t>(run)));
  setRegisters(acc, std::move(now));
}

LogicalResult Lowering::lowerLocalMma(simt::LocalMmaOp op) {
  simt::InstructionAttr unit = op.getInstruction();
  FailureOr<GroupFactor> lhs = op.getLhsSwizzle() ? groupFactor(op, true)
                                                  : heldFactor(op),
                         rhs = groupFactor(op, false);
  if (failed(lhs) || failed(rhs))
    return failure();
  SmallVector<Value> sums =
      packBlocks(op.getAcc(),
                 simt::instructionLayout(unit, layout::MatrixRole::Accumulator)
                     .inSize(simt::kRegister));
  auto number = [&](int64_t value) {
    return b.getI32IntegerAttr(static_cast<int32_t>(value));
  };
  auto flag = [&](bool isSet) { return isSet ? b.getUnitAttr() : UnitAttr(); };
  // Rows of the left factor run along K where they run along its dim1.
  auto group = simt::ThreadGroupMmaOp::create(
      b, TypeRange(ValueRange(sums)), lhs->pointer, lhs->fragments,
      rhs->pointer, sums, unit, b.getDenseI32ArrayAttr(lhs->places),
      b.getDenseI32ArrayAttr(rhs->places), b.getDenseI32ArrayAttr(lhs->steps),
      b.getDenseI32ArrayAttr(rhs->steps), number(lhs->swizzle.bytes),
      number(rhs->swizzle.bytes), number(lhs->swizzle.stride),
      number(rhs->swizzle.stride), number(lhs->swizzle.leading),
      number(rhs->swizzle.leading), flag(lhs->swizzle.isColumn),
      flag(!rhs->swizzle.isColumn));
  unpackBlocks(op.getResult(), group.getResults());
  return success();
}

LogicalResult Lowering::lowerMmaWait(simt::MmaWaitOp op) {
  auto packAll = [&](ValueRange tiles) {
    SmallVector<Value> words;
    for (Value tile : tiles)
      llvm::append_range(words, packBlocks(tile, registersOf(tile).size()));
    return words;
  };
  SmallVector<Value> words = packAll(op.getValues());
  auto wait = simt::ThreadGroupWaitOp::create(b, TypeRange(ValueRange(words)),
                                              words, packAll(op.getFactors()),
                                              op.getPendingAttr());
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    unpackBlocks(result, wait.getResults().slice(index, 1));
  return success();
}
