//===- Layouts.cpp - Layouts that ops would like best ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/Layouts.h"
#include "terrazzo/Layout/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

LinearLayout simt::makeLayout(ArrayRef<LayoutInput> inputs,
                              ArrayRef<int> bits) {
  SmallVector<LinearLayout::InSpec> ins;
  for (const LayoutInput &input : inputs)
    ins.push_back({input.first, {input.second.begin(), input.second.end()}});
  SmallVector<LinearLayout::OutSpec> outs;
  for (auto [dim, count] : llvm::enumerate(bits))
    outs.push_back({layout::dimName(static_cast<unsigned>(dim)), count});
  return LinearLayout(ins, outs);
}

SmallVector<LinearLayout::Basis> simt::basesOf(const LinearLayout &layout,
                                               llvm::StringRef in) {
  SmallVector<LinearLayout::Basis> bases;
  for (int32_t bit = 0; bit < layout.inBits(in); ++bit)
    bases.push_back(layout.basis(in, bit));
  return bases;
}

SmallVector<int> simt::outBits(const LinearLayout &layout) {
  SmallVector<int> bits;
  for (const layout::Dim &out : layout.outDims())
    bits.push_back(out.bits);
  return bits;
}

BlockShape simt::blockShape(ModuleOp module) {
  BlockShape block;
  if (auto warps = module->getAttrOfType<IntegerAttr>(kNumWarpsAttr))
    block.numWarps = static_cast<int32_t>(warps.getInt());
  auto target = tile::TargetAttr::of(module);
  if (target && target.getWarpSize() != 0)
    block.warpSize = target.getWarpSize();
  return block;
}

LogicalResult simt::checkLayouts(Operation *kernel, BlockShape block) {
  llvm::DenseSet<Attribute> known;
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile || known.contains(tile.getEncoding()))
      return success();
    LayoutAttr attribute = getLayout(tile);
    if (!attribute)
      return op->emitOpError("expected tiles with a layout, found ") << tile;
    const LinearLayout &layout = attribute.getLayout();
    if (layout.inSize(kLane) != block.warpSize ||
        layout.inSize(kWarp) != block.numWarps)
      return op->emitOpError("expected a layout for ")
             << block.numWarps << " warps of " << block.warpSize
             << " lanes, found " << tile;
    known.insert(attribute);
    return success();
  };
  WalkResult result = kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isFit = true;
    for (Type type : op->getResultTypes())
      isFit = isFit && succeeded(check(op, type));
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        for (Type type : inner.getArgumentTypes())
          isFit = isFit && succeeded(check(op, type));
    return isFit ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static int log2Exact(int64_t value) { return llvm::Log2_64(value); }

LayoutBuilder::LayoutBuilder(ArrayRef<int64_t> shape, BlockShape block)
    : used(shape.size(), 0), laneBits(log2Exact(block.warpSize)),
      warpBits(log2Exact(block.numWarps)) {
  for (int32_t extent : paddedShape(shape))
    extentBits.push_back(log2Exact(extent));
}

void LayoutBuilder::give(SmallVectorImpl<LinearLayout::Basis> &bases, int limit,
                         int dim, int bits) {
  while (bits-- > 0 && used[dim] < extentBits[dim] &&
         static_cast<int>(bases.size()) < limit) {
    bases.push_back(zero());
    bases.back()[dim] = 1 << used[dim]++;
  }
}

LayoutBuilder &LayoutBuilder::registers(int dim, int bits) {
  give(reg, 31, dim, bits);
  return *this;
}

LayoutBuilder &LayoutBuilder::lanes(int dim, int bits) {
  give(lane, laneBits, dim, bits);
  return *this;
}

LayoutBuilder &LayoutBuilder::warps(int dim, int bits) {
  give(warp, warpBits, dim, bits);
  return *this;
}

LinearLayout LayoutBuilder::finish(ArrayRef<unsigned> order) {
  for (unsigned dim : order)
    registers(dim, 31);
  lane.resize(laneBits, zero());
  warp.resize(warpBits, zero());
  return makeLayout({{kRegister, reg}, {kLane, lane}, {kWarp, warp}},
                    extentBits);
}

LinearLayout simt::coalescedLayout(ArrayRef<int64_t> shape,
                                   ArrayRef<unsigned> order, int64_t vector,
                                   BlockShape block) {
  SmallVector<int32_t> padded = paddedShape(shape);
  int64_t elements = 1;
  for (int32_t extent : padded)
    elements *= extent;
  // Wide accesses only while every thread still has one.
  while (vector > 1 && vector * block.threads() > elements)
    vector /= 2;
  return layout::coalesced(
      padded, SmallVector<int32_t>(order.begin(), order.end()),
      static_cast<int32_t>(vector), block.numWarps, block.warpSize);
}

LinearLayout simt::axisInThread(ArrayRef<int64_t> shape, int axis, int64_t most,
                                BlockShape block) {
  LayoutBuilder builder(shape, block);
  builder.registers(axis, log2Exact(most));
  SmallVector<unsigned> order = rowMajor(shape.size());
  // Other dimensions take lanes first, the axis what is left.
  for (unsigned dim : order)
    if (static_cast<int>(dim) != axis)
      builder.lanes(dim);
  builder.lanes(axis);
  for (unsigned dim : order)
    if (static_cast<int>(dim) != axis)
      builder.warps(dim);
  builder.warps(axis);
  return builder.finish(order);
}

LinearLayout simt::scanLayout(ArrayRef<int64_t> shape, int axis,
                              BlockShape block) {
  LayoutBuilder builder(shape, block);
  SmallVector<unsigned> order = rowMajor(shape.size());
  int others = 0;
  for (unsigned dim : order)
    if (static_cast<int>(dim) != axis)
      others += builder.bitsLeft(dim);
  // Lanes that other dimensions cannot fill go along the axis, above the run of
  // registers that one lane scans.
  int laneBits = std::max(0, builder.lanesLeft() - others);
  laneBits = std::min(laneBits, builder.bitsLeft(axis));
  builder.registers(axis, builder.bitsLeft(axis) - laneBits);
  builder.lanes(axis, laneBits);
  for (unsigned dim : order)
    if (static_cast<int>(dim) != axis)
      builder.lanes(dim);
  for (unsigned dim : order)
    if (static_cast<int>(dim) != axis)
      builder.warps(dim);
  return builder.finish(order);
}

LinearLayout simt::sortLayout(ArrayRef<int64_t> shape, int axis,
                              BlockShape block) {
  LayoutBuilder builder(shape, block);
  SmallVector<unsigned> order = rowMajor(shape.size());
  builder.registers(axis,
                    std::max(0, builder.bitsLeft(axis) - builder.lanesLeft()));
  builder.lanes(axis);
  for (unsigned dim : order)
    builder.lanes(dim);
  for (unsigned dim : order)
    builder.warps(dim);
  return builder.finish(order);
}

bool simt::isSortable(const LinearLayout &layout, int axis) {
  constexpr int kMostRegisterBits = 4;
  int lanes = static_cast<int>(basesOf(layout, kLane).size());
  return hasOwnBits(layout, axis) && bitsAlong(layout, kWarp, axis) == 0 &&
         bitsAlong(layout, kRegister, axis) <=
             std::max(kMostRegisterBits, outBits(layout)[axis] - lanes);
}

LinearLayout simt::dotLayout(ArrayRef<int64_t> shape, BlockShape block) {
  LayoutBuilder builder(shape, block);
  int n = static_cast<int>(shape.size()) - 1, m = n - 1;
  int total = builder.bitsLeft(m) + builder.bitsLeft(n);
  int threads = log2Exact(block.threads());
  int own = std::max(0, total - threads);
  int inN = std::min({2, (own + 1) / 2, builder.bitsLeft(n)});
  int inM = std::min({2, own - inN, builder.bitsLeft(m)});
  builder.registers(n, inN).registers(m, inM);
  builder.lanes(n, builder.lanesLeft() / 2 + builder.lanesLeft() % 2);
  builder.lanes(m).lanes(n).warps(m).warps(n);
  if (m > 0)
    builder.warps(0);
  return builder.finish(rowMajor(shape.size()));
}

LinearLayout simt::carryLayout(ArrayRef<int64_t> shape, int axis,
                               BlockShape block) {
  LayoutBuilder builder(shape, block);
  int total = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    total += builder.bitsLeft(static_cast<int>(dim));
  int own = std::max(0, total - log2Exact(block.threads()));
  builder.registers(axis, own).lanes(axis);
  SmallVector<unsigned> order = rowMajor(shape.size());
  for (unsigned dim : order)
    builder.lanes(dim);
  for (unsigned dim : order)
    builder.warps(dim);
  return builder.finish(order);
}

int64_t simt::bytesInThread(Type type) {
  int64_t bytes = elementBytes(tile::getElementType(type));
  LayoutAttr layout = getLayout(type);
  return layout ? bytes * layout.getLayout().inSize(kRegister) : bytes;
}

SmallVector<unsigned> simt::rowMajor(size_t rank) {
  SmallVector<unsigned> order;
  for (size_t dim = rank; dim-- > 0;)
    order.push_back(static_cast<unsigned>(dim));
  return order;
}

int simt::bitsAlong(const LinearLayout &layout, llvm::StringRef in, int dim) {
  int count = 0;
  for (const LinearLayout::Basis &basis : basesOf(layout, in))
    count += basis[dim] != 0;
  return count;
}

bool simt::hasOwnBits(const LinearLayout &layout, int axis) {
  int32_t seen = 0;
  for (llvm::StringRef in : {kRegister, kLane, kWarp})
    for (const LinearLayout::Basis &basis : basesOf(layout, in)) {
      int32_t step = basis[axis];
      if (step == 0)
        continue;
      int64_t moved = llvm::count_if(basis, [](int32_t c) { return c != 0; });
      if (moved != 1 || !llvm::isPowerOf2_32(step) || (seen & step) != 0)
        return false;
      seen |= step;
    }
  return seen == (int32_t{1} << outBits(layout)[axis]) - 1;
}

/// Where warps move along an axis, from the lowest.
static SmallVector<int32_t> warpSteps(const LinearLayout &layout, int axis) {
  SmallVector<int32_t> steps;
  for (const LinearLayout::Basis &basis : basesOf(layout, kWarp))
    if (basis[axis])
      steps.push_back(basis[axis]);
  llvm::sort(steps);
  return steps;
}

LinearLayout simt::warpReduceLayout(const LinearLayout &layout, int axis) {
  SmallVector<int32_t> steps = warpSteps(layout, axis);
  SmallVector<LayoutInput> inputs;
  for (llvm::StringRef in : {kRegister, kLane, kWarp}) {
    LayoutInput input{in, {}};
    for (LinearLayout::Basis basis : basesOf(layout, in)) {
      if (in == kWarp && basis[axis])
        basis[axis] = 1 << (llvm::find(steps, basis[axis]) - steps.begin());
      else
        basis[axis] = 0;
      input.second.push_back(basis);
    }
    inputs.push_back(input);
  }
  SmallVector<int> bits = outBits(layout);
  bits[axis] = static_cast<int>(steps.size());
  return makeLayout(inputs, bits).withoutZeroRegisters();
}

int64_t simt::warpsAlong(const LinearLayout &layout, int axis, int64_t extent) {
  SmallVector<int32_t> steps = warpSteps(layout, axis);
  int64_t count = 0;
  for (int64_t place = 0; place < int64_t{1} << steps.size(); ++place) {
    int64_t first = 0;
    for (size_t bit = 0; bit < steps.size(); ++bit)
      if (place >> bit & 1)
        first += steps[bit];
    count += first < extent;
  }
  return count;
}

bool simt::hasCopies(Type type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return true;
  SmallVector<int32_t, 4> free = layout.getLayout().freeMasks();
  for (auto [dim, mask] : llvm::zip(layout.getLayout().inDims(), free))
    if (mask != 0 && dim.name != kRegister)
      return true;
  return false;
}

bool simt::isLinearReshape(Operation *op) {
  auto isPadded = [](Type type) {
    return llvm::any_of(tile::getShape(type), [](int64_t extent) {
      return !llvm::isPowerOf2_64(extent);
    });
  };
  return isa<tile::ReshapeOp>(op) && !isPadded(op->getOperand(0).getType()) &&
         !isPadded(op->getResult(0).getType());
}

/// `layout` with one more output dimension of extent 2 at the end, which a new
/// lowest register bit tells apart.
static LinearLayout withPairs(const LinearLayout &layout) {
  SmallVector<LayoutInput> inputs;
  for (llvm::StringRef in : {kRegister, kLane, kWarp}) {
    LayoutInput input{in, {}};
    if (in == kRegister) {
      input.second.emplace_back(layout.outDims().size() + 1, 0);
      input.second.back().back() = 1;
    }
    for (LinearLayout::Basis basis : basesOf(layout, in)) {
      basis.push_back(0);
      input.second.push_back(basis);
    }
    inputs.push_back(input);
  }
  SmallVector<int> bits = outBits(layout);
  bits.push_back(1);
  return makeLayout(inputs, bits);
}

/// The inverse of withPairs, wherever that register bit is.
static std::optional<LinearLayout> withoutPairs(const LinearLayout &layout) {
  int last = static_cast<int>(layout.outDims().size()) - 1;
  if (bitsAlong(layout, kRegister, last) != 1 ||
      bitsAlong(layout, kLane, last) || bitsAlong(layout, kWarp, last))
    return std::nullopt;
  return layout.removeOut(last).withoutZeroRegisters();
}

static SmallVector<int32_t> inverseOrder(ArrayRef<int32_t> order) {
  SmallVector<int32_t> inverse(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = static_cast<int32_t>(to);
  return inverse;
}

std::optional<LinearLayout> simt::operandLayout(Operation *op,
                                                const LinearLayout &result) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return result.removeOut(expand.getAxis()).withoutZeroRegisters();
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    SmallVector<int32_t> dims;
    for (auto [dim, extent] :
         llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (extent == 1)
        dims.push_back(static_cast<int>(dim));
    return result.zeroOuts(dims).withoutZeroRegisters();
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return result.transposeOuts(inverseOrder(transpose.getOrder()));
  if (isLinearReshape(op))
    return result.reshapeOuts(
        paddedShape(tile::getShape(op->getOperand(0).getType())));
  if (isa<tile::JoinOp>(op))
    return withoutPairs(result);
  if (isa<tile::SplitOp>(op))
    return withPairs(result);
  return std::nullopt;
}

std::optional<LinearLayout> simt::resultLayout(Operation *op,
                                               const LinearLayout &operand) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return operand.insertOut(expand.getAxis());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    // New elements go to registers of the thread that holds the source.
    SmallVector<LayoutInput> inputs;
    SmallVector<int> bits = outBits(operand);
    LayoutInput registers{kRegister, {}};
    for (const LinearLayout::Basis &basis : basesOf(operand, kRegister))
      registers.second.push_back(basis);
    SmallVector<int32_t> wanted =
        paddedShape(broadcast.getResult().getType().getShape());
    for (auto [dim, extent] :
         llvm::enumerate(broadcast.getSource().getType().getShape())) {
      if (extent != 1)
        continue;
      bits[dim] = log2Exact(wanted[dim]);
      for (int bit = 0; bit < bits[dim]; ++bit) {
        registers.second.emplace_back(bits.size(), 0);
        registers.second.back()[dim] = 1 << bit;
      }
    }
    inputs.push_back(registers);
    for (llvm::StringRef in : {kLane, kWarp}) {
      LayoutInput input{in, {}};
      for (const LinearLayout::Basis &basis : basesOf(operand, in))
        input.second.push_back(basis);
      inputs.push_back(input);
    }
    return makeLayout(inputs, bits);
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return operand.transposeOuts(transpose.getOrder());
  if (isLinearReshape(op))
    return operand.reshapeOuts(
        paddedShape(tile::getShape(op->getResult(0).getType())));
  if (isa<tile::JoinOp>(op))
    return withPairs(operand);
  if (isa<tile::SplitOp>(op))
    return withoutPairs(operand);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return operand.removeOut(reduce.getAxis()).withoutZeroRegisters();
  return std::nullopt;
}
