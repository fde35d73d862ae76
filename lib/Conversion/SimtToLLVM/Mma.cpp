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

} // namespace

LogicalResult Lowering::lowerMma(simt::MmaOp op) {
  simt::InstructionAttr unit = op.getInstruction();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()),
       rhs = cast<RankedTensorType>(op.getRhs().getType()),
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
  Selector rows, columns;
  for (unsigned bit = 0; run << bit < d.numRegisters(); ++bit) {
    const Coords &moves = d.registers[bit + llvm::Log2_32(run)];
    if (moves[rank - 1] == 0)
      rows.bits.push_back(bit);
    if (moves[rank - 2] == 0)
      columns.bits.push_back(bit);
  }
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
