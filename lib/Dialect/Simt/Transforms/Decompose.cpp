//===- Decompose.cpp - What crosses warps, spelled out --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op that one warp cannot do alone becomes stores to and loads from a
// buffer in shared memory, seen through strides: a transpose, a slice, a
// reversed axis, a row of a recurrence are all such views. For a reduction over
// warps:
//
//   %p = simt.warp_reduce(%x), 0           // one element for each warp
//   %q = simt.convert_layout %p            // every thread gets all of them
//   %r = tile.reduce(%q), 0                // in registers
//
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"
#include "terrazzo/Layout/Swizzle.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTDECOMPOSE
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace simt {
namespace {

/// Width of the widest access of shared memory.
constexpr int64_t kAccessBytes = 16;

SmallVector<int32_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int32_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = static_cast<int32_t>(stride);
  return strides;
}

/// Bytes of registers in each thread that may wait for slices of a recurrence.
constexpr int64_t kStepBytes = 256;

/// A buffer with the strides by which a tile lies in it.
struct StridedBuffer {
  Value buffer;
  SmallVector<int32_t> strides;
};

class Decomposition {
public:
  Decomposition(ModuleOp module, BlockShape block)
      : block(block), isStrict(module->hasAttr("tile.strict")) {}

  void run(func::FuncOp kernel);

private:
  void convert(ConvertLayoutOp op);
  void reduce(tile::ReduceOp op);
  void scan(tile::ScanOp op);
  void sort(tile::SortOp op);
  void recurrence(tile::RecurrenceOp op);
  void dot(tile::DotOp op);
  void mma(MmaOp op);
  void gather(tile::GatherOp op);
  void histogram(tile::HistogramOp op);
  void slice(tile::SliceOp op);
  void insert(tile::InsertOp op);
  void flip(tile::FlipOp op);
  void concat(tile::ConcatOp op);
  void reshape(tile::ReshapeOp op);
  void shareResult(Operation *access);

  /// A tile in memory, seen as a whole and as one row of a recurrence.
  struct Streamed {
    StridedBuffer whole, row;
    int64_t stride = 0; ///< from row to row
  };
  Streamed stream(ImplicitLocOpBuilder &b, Type type, int axis);
  void emitSteps(ImplicitLocOpBuilder &b, tile::RecurrenceOp op,
                 scf::ForOp loop, int64_t count, ArrayRef<Streamed> xs,
                 ArrayRef<Streamed> outputs);

  Value alloc(ImplicitLocOpBuilder &b, int64_t elements, Type element) {
    return AllocOp::create(
        b, BufferType::get(b.getContext()),
        b.getI64IntegerAttr(elements * elementBytes(element)), IntegerAttr(),
        b.getI64IntegerAttr(kAccessBytes), /*ring=*/IntegerAttr());
  }
  StridedBuffer allocDense(ImplicitLocOpBuilder &b, RankedTensorType type) {
    return {alloc(b, type.getNumElements(), type.getElementType()),
            rowMajorStrides(type.getShape())};
  }
  void store(ImplicitLocOpBuilder &b, Value value, const StridedBuffer &place,
             Value offset = {}, int64_t base = 0, bool isDisjoint = false) {
    LocalStoreOp::create(b, value, place.buffer, offset,
                         b.getI32IntegerAttr(static_cast<int32_t>(base)),
                         b.getDenseI32ArrayAttr(place.strides), LayoutAttr(),
                         isDisjoint ? b.getUnitAttr() : UnitAttr(),
                         /*within=*/IntegerAttr());
  }
  Value load(ImplicitLocOpBuilder &b, Type type, const StridedBuffer &place,
             Value offset = {}, int64_t base = 0) {
    return LocalLoadOp::create(b, type, place.buffer, offset,
                               /*otherwise=*/Value(),
                               b.getI32IntegerAttr(static_cast<int32_t>(base)),
                               b.getDenseI32ArrayAttr(place.strides),
                               LayoutAttr(), /*within=*/IntegerAttr());
  }
  /// `value` in the layout of `model`.
  Value convertLike(ImplicitLocOpBuilder &b, Value value, Value model) {
    return convertTo(b, value, getLayout(model.getType()).getLayout());
  }
  Value convertTo(ImplicitLocOpBuilder &b, Value value,
                  const LinearLayout &layout) {
    auto type = cast<RankedTensorType>(value.getType());
    if (getLayout(type).getLayout() == layout)
      return value;
    auto op = ConvertLayoutOp::create(
        b, withLayout(type, LayoutAttr::get(b.getContext(), layout)), value);
    Value result = op.getResult();
    ImplicitLocOpBuilder inner(op.getLoc(), op);
    if (Value shared = throughShared(inner, op)) {
      op.replaceAllUsesWith(shared);
      op.erase();
      return shared;
    }
    return result;
  }
  Value throughShared(ImplicitLocOpBuilder &b, ConvertLayoutOp op);
  /// All operands in one layout.
  void convertOperands(Operation *op, const LinearLayout &layout);
  /// The op gives its results in `layout` from now on, its users still get them
  /// in the layout that they know.
  void giveResults(Operation *op, const LinearLayout &layout);
  Value dynamicOffset(ImplicitLocOpBuilder &b, ValueRange offsets,
                      ArrayRef<std::pair<int64_t, int64_t>> limits,
                      ArrayRef<int32_t> strides);

  BlockShape block;
  bool isStrict;
};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Strides with `fastest` innermost and rows padded apart, so that a column of
/// them is spread over the banks.
StridedBuffer paddedPlace(ArrayRef<int64_t> shape, int fastest, int64_t bytes,
                          int64_t &elements) {
  StridedBuffer place;
  place.strides.resize(shape.size());
  SmallVector<int> order = {fastest};
  for (int dim = static_cast<int>(shape.size()); dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  int64_t stride = 1;
  for (auto [position, dim] : llvm::enumerate(order)) {
    place.strides[dim] = static_cast<int32_t>(stride);
    stride *= shape[dim];
    int64_t unit = std::max<int64_t>(1, kAccessBytes / bytes);
    if (position == 0 && shape.size() > 1 && stride >= 2 * unit)
      stride = llvm::alignTo(stride, unit) + unit;
  }
  elements = stride;
  return place;
}

/// The value of a conversion that needs shared memory, or null.
Value Decomposition::throughShared(ImplicitLocOpBuilder &b,
                                   ConvertLayoutOp op) {
  const LinearLayout &from = getLayout(op.getSource().getType()).getLayout(),
                     &to = getLayout(op.getResult().getType()).getLayout();
  if (layout::classify(from, to) != layout::Conversion::Shared)
    return {};
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t bytes = elementBytes(type.getElementType()), elements = 1;
  if (type.getRank() == 0) {
    StridedBuffer place = allocDense(b, type);
    store(b, op.getSource(), place);
    return load(b, type, place);
  }
  StridedBuffer place =
      paddedPlace(type.getShape(), fastestDim(to), bytes, elements);
  place.buffer = alloc(b, elements, type.getElementType());
  store(b, op.getSource(), place);
  return load(b, type, place);
}

void Decomposition::convert(ConvertLayoutOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (Value shared = throughShared(b, op)) {
    op.replaceAllUsesWith(shared);
    op.erase();
  }
}

void Decomposition::convertOperands(Operation *op, const LinearLayout &layout) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(convertTo(b, operand.get(), layout));
}

void Decomposition::giveResults(Operation *op, const LinearLayout &layout) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || getLayout(type).getLayout() == layout)
      continue;
    LinearLayout home = getLayout(type).getLayout();
    result.setType(withLayout(type, LayoutAttr::get(op->getContext(), layout)));
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    Value converted = convertTo(b, result, home);
    for (OpOperand *use : uses)
      use->set(converted);
  }
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// `perWarp` with the axis in registers, and all warps holding all of it.
LinearLayout gatheredLayout(const LinearLayout &perWarp, int axis) {
  SmallVector<LayoutInput> inputs;
  SmallVector<int> bits = outBits(perWarp);
  LayoutInput registers{kRegister, {}};
  for (int bit = 0; bit < bits[axis]; ++bit) {
    registers.second.emplace_back(bits.size(), 0);
    registers.second.back()[axis] = 1 << bit;
  }
  for (const LinearLayout::Basis &basis : basesOf(perWarp, kRegister))
    registers.second.push_back(basis);
  inputs.push_back(registers);
  for (llvm::StringRef in : {kLane, kWarp}) {
    LayoutInput input{in, {}};
    for (LinearLayout::Basis basis : basesOf(perWarp, in)) {
      basis[axis] = 0;
      input.second.push_back(basis);
    }
    inputs.push_back(input);
  }
  return makeLayout(inputs, bits);
}

void Decomposition::reduce(tile::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  LinearLayout layout = getLayout(type).getLayout();
  int axis = op.getAxis();
  bool commutes = tile::isCommutative(op.getCombine());
  // Later passes may spell out the arithmetic of narrow types.
  if (commutes)
    op->setAttr("commutative", UnitAttr::get(op.getContext()));
  convertOperands(op, layout);
  giveResults(op, *resultLayout(op, layout));
  bool isSimple = hasOwnBits(layout, axis);
  if (bitsAlong(layout, kWarp, axis) == 0 && isSimple)
    return;
  if (isStrict || !commutes || !isSimple) {
    // The order matters, or several places hold one element: bring the axis
    // into one warp.
    LinearLayout own = scanLayout(type.getShape(), axis, block);
    convertOperands(op, own);
    giveResults(op, *resultLayout(op, own));
    return;
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  LinearLayout perWarp = warpReduceLayout(layout, axis),
               gathered = gatheredLayout(perWarp, axis);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = warpsAlong(layout, axis, shape[axis]);
  SmallVector<Type> partTypes;
  for (Value operand : op.getOperands())
    partTypes.push_back(
        RankedTensorType::get(shape, tile::getElementType(operand.getType()),
                              LayoutAttr::get(op.getContext(), perWarp)));
  auto parts = WarpReduceOp::create(b, partTypes, op.getOperands(),
                                    op.getAxisAttr(), b.getUnitAttr());
  IRMapping mapping;
  op.getCombine().cloneInto(&parts.getCombine(), mapping);
  Operation *yield = parts.getCombine().front().getTerminator();
  OpBuilder inner(yield);
  YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  for (auto [operand, part] :
       llvm::zip(op->getOpOperands(), parts.getResults()))
    operand.set(convertTo(b, part, gathered));
}

void Decomposition::scan(tile::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  LinearLayout layout = getLayout(type).getLayout();
  int axis = op.getAxis();
  convertOperands(op, layout);
  giveResults(op, layout);
  int32_t highestRegister = 0, lowestLane = INT32_MAX;
  for (const LinearLayout::Basis &basis : basesOf(layout, kRegister))
    highestRegister = std::max(highestRegister, basis[axis]);
  for (const LinearLayout::Basis &basis : basesOf(layout, kLane))
    if (basis[axis])
      lowestLane = std::min(lowestLane, basis[axis]);
  if (bitsAlong(layout, kWarp, axis) == 0 && highestRegister < lowestLane &&
      hasOwnBits(layout, axis))
    return;
  LinearLayout own = scanLayout(type.getShape(), axis, block);
  convertOperands(op, own);
  giveResults(op, own);
}

void Decomposition::sort(tile::SortOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  LinearLayout layout = getLayout(type).getLayout();
  int axis = op.getAxis();
  if (!isSortable(layout, axis))
    layout = sortLayout(type.getShape(), axis, block);
  convertOperands(op, layout);
  giveResults(op, layout);
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// Strides of a tile that lies in memory with `axis` outermost, rows apart.
SmallVector<int32_t> axisFirst(ArrayRef<int64_t> shape, int axis, int64_t bytes,
                               int64_t &elements) {
  SmallVector<int32_t> strides(shape.size());
  int64_t stride = 1;
  for (int dim = static_cast<int>(shape.size()); dim-- > 0;)
    if (dim != axis) {
      strides[dim] = static_cast<int32_t>(stride);
      stride *= shape[dim];
    }
  if (shape.size() > 1) // Rows start where the widest access may.
    stride = llvm::alignTo(stride, std::max<int64_t>(1, kAccessBytes / bytes));
  strides[axis] = static_cast<int32_t>(stride);
  elements = stride * shape[axis];
  return strides;
}

Decomposition::Streamed Decomposition::stream(ImplicitLocOpBuilder &b,
                                              Type type, int axis) {
  auto tileType = cast<RankedTensorType>(type);
  Streamed result;
  int64_t elements = 0;
  result.whole.strides =
      axisFirst(tileType.getShape(), axis,
                elementBytes(tileType.getElementType()), elements);
  result.whole.buffer = alloc(b, elements, tileType.getElementType());
  result.row = result.whole;
  result.row.strides.erase(result.row.strides.begin() + axis);
  result.stride = result.whole.strides[axis];
  return result;
}

static Value constantI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// `count` steps from the loop's counter on: all slices first, then the steps,
/// then the outputs, so that no step waits for the memory of another.
void Decomposition::emitSteps(ImplicitLocOpBuilder &b, tile::RecurrenceOp op,
                              scf::ForOp loop, int64_t count,
                              ArrayRef<Streamed> xs,
                              ArrayRef<Streamed> outputs) {
  Block &step = op.getStep().front();
  size_t carried = op.getInits().size();
  int64_t extent = tile::getShape(op.getXs().front().getType())[op.getAxis()];
  auto offsetOf = [&](const Streamed &each, Value place) -> Value {
    return arith::MulIOp::create(b, place, constantI32(b, each.stride));
  };
  SmallVector<Value> places;
  SmallVector<IRMapping> mappings(count);
  for (int64_t number = 0; number < count; ++number) {
    Value place = loop.getInductionVar();
    if (number)
      place = arith::AddIOp::create(b, place, constantI32(b, number));
    if (op.getReverse())
      place = arith::SubIOp::create(b, constantI32(b, extent - 1), place);
    places.push_back(place);
    for (auto [arg, each] :
         llvm::zip(step.getArguments().drop_front(carried), xs))
      mappings[number].map(
          arg, load(b, arg.getType(), each.row, offsetOf(each, place)));
  }
  SmallVector<Value> state(loop.getRegionIterArgs());
  SmallVector<SmallVector<Value>> results;
  for (IRMapping &mapping : mappings) {
    mapping.map(step.getArguments().take_front(carried), state);
    for (Operation &inner : step.without_terminator())
      b.clone(inner, mapping);
    results.emplace_back();
    for (Value value : step.getTerminator()->getOperands())
      results.back().push_back(mapping.lookupOrDefault(value));
    std::copy_n(results.back().begin(), carried, state.begin());
  }
  for (auto [place, values] : llvm::zip(places, results))
    for (auto [value, each] :
         llvm::zip(ArrayRef(values).drop_front(carried), outputs))
      store(b, value, each.row, offsetOf(each, place), 0, /*isDisjoint=*/true);
  scf::YieldOp::create(b, state);
}

void Decomposition::recurrence(tile::RecurrenceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int axis = op.getAxis();
  Block &step = op.getStep().front();
  size_t carried = op.getInits().size();
  int64_t extent = tile::getShape(op.getXs().front().getType())[axis];
  SmallVector<Streamed> xs, outputs;
  for (Value x : op.getXs()) {
    xs.push_back(stream(b, x.getType(), axis));
    store(b, x, xs.back().whole);
  }
  for (OpResult result : op->getResults().drop_front(carried))
    outputs.push_back(stream(b, result.getType(), axis));

  // Several steps an iteration: the slices of all of them are on their way
  // while the first is worked on.
  int64_t waiting = 0;
  for (BlockArgument slice : step.getArguments().drop_front(carried))
    waiting += bytesInThread(slice.getType());
  int64_t count = 4;
  while (count > 1 && (extent % count || count * waiting > kStepBytes))
    count /= 2;
  auto loop = scf::ForOp::create(b, constantI32(b, 0), constantI32(b, extent),
                                 constantI32(b, count), op.getInits());
  // Without carried values it comes with a terminator.
  loop.getBody()->clear();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitSteps(b, op, loop, count, xs, outputs);
  }
  for (auto [result, last] : llvm::zip(op.getResults(), loop.getResults()))
    result.replaceAllUsesWith(last);
  for (auto [result, each] :
       llvm::zip(op.getResults().drop_front(carried), outputs))
    result.replaceAllUsesWith(load(b, result.getType(), each.whole));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Decomposition::dot(tile::DotOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()),
       rhs = cast<RankedTensorType>(op.getRhs().getType());
  int rank = static_cast<int>(lhs.getRank());
  // A thread reads a few rows of lhs and columns of rhs for each k: both lie in
  // memory with k outside.
  auto place = [&](Value factor, int fastest) {
    auto type = cast<RankedTensorType>(factor.getType());
    int64_t elements = 0;
    StridedBuffer result =
        paddedPlace(type.getShape(), fastest,
                    elementBytes(type.getElementType()), elements);
    result.buffer = alloc(b, elements, type.getElementType());
    store(b, factor, result);
    return result;
  };
  StridedBuffer left = place(op.getLhs(), rank - 2),
                right = place(op.getRhs(), rank - 1);
  Value result = LocalDotOp::create(
      b, op.getResult().getType(), left.buffer, right.buffer, op.getAcc(),
      TypeAttr::get(lhs.getElementType()), TypeAttr::get(rhs.getElementType()),
      b.getI32IntegerAttr(static_cast<int32_t>(lhs.getShape().back())),
      b.getDenseI32ArrayAttr(left.strides),
      b.getDenseI32ArrayAttr(right.strides), op.getIsUnsignedAttr());
  op.replaceAllUsesWith(result);
  op.erase();
}

/// Factors that the unit reads from shared memory go there, as it wants them.
void Decomposition::mma(MmaOp op) {
  if (!readsSharedMemory(op.getInstruction()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  StoredFactor factors[2];
  for (unsigned factor : {0U, 1U})
    if (op.isInShared(factor))
      factors[factor] = storeFactor(b, op, factor);
  replaceMma(op, factors, {Value(), Value()});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void Decomposition::gather(tile::GatherOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getSource().getType());
  StridedBuffer place = allocDense(b, type);
  store(b, op.getSource(), place);
  int axis = op.getAxis();
  Value result = LocalGatherOp::create(
      b, op.getResult().getType(), place.buffer,
      convertLike(b, op.getIndices(), op.getResult()), /*otherwise=*/Value(),
      op.getAxisAttr(),
      b.getI32IntegerAttr(static_cast<int32_t>(type.getDimSize(axis))),
      b.getDenseI32ArrayAttr(place.strides), b.getI32IntegerAttr(0),
      /*within=*/IntegerAttr());
  op.replaceAllUsesWith(result);
  op.erase();
}

void Decomposition::histogram(tile::HistogramOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  StridedBuffer place = allocDense(b, type);
  Value zeros = arith::ConstantOp::create(
      b, cast<TypedAttr>(
             Attribute(DenseElementsAttr::get(type, b.getI32IntegerAttr(0)))));
  store(b, zeros, place);
  Value mask =
      op.getMask() ? convertLike(b, op.getMask(), op.getSource()) : Value();
  LocalCountOp::create(b, place.buffer, op.getSource(), mask, op.getBinsAttr(),
                       b.getI32IntegerAttr(0));
  op.replaceAllUsesWith(load(b, type, place));
  op.erase();
}

/// sum(clamp(offsets[d], limits[d]) * strides[d]).
Value Decomposition::dynamicOffset(ImplicitLocOpBuilder &b, ValueRange offsets,
                                   ArrayRef<std::pair<int64_t, int64_t>> limits,
                                   ArrayRef<int32_t> strides) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value sum;
  for (auto [offset, limit, stride] : llvm::zip(offsets, limits, strides)) {
    Value inside = arith::MinSIOp::create(
        b, arith::MaxSIOp::create(b, offset, constant(limit.first)),
        constant(limit.second));
    Value part = arith::MulIOp::create(b, inside, constant(stride));
    sum = sum ? Value(arith::AddIOp::create(b, sum, part)) : part;
  }
  return sum;
}

void Decomposition::slice(tile::SliceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getSource().getType());
  StridedBuffer place = allocDense(b, type);
  store(b, op.getSource(), place);
  SmallVector<std::pair<int64_t, int64_t>> limits;
  StridedBuffer view{place.buffer, {}};
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = op.getSizes()[dim], stride = op.getStrides()[dim];
    // A negative stride starts at the end of what is read.
    int64_t span = (size - 1) * std::abs(stride),
            last = type.getDimSize(dim) - 1;
    limits.push_back(stride < 0 ? std::make_pair(span, last)
                                : std::make_pair(int64_t{0}, last - span));
    if (!llvm::is_contained(op.getDropped(), dim))
      view.strides.push_back(static_cast<int32_t>(place.strides[dim] * stride));
  }
  Value offset = dynamicOffset(b, op.getOffsets(), limits, place.strides);
  op.replaceAllUsesWith(load(b, op.getResult().getType(), view, offset));
  op.erase();
}

void Decomposition::insert(tile::InsertOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getDest().getType());
  StridedBuffer place = allocDense(b, type);
  store(b, op.getDest(), place);
  ArrayRef<int64_t> inner = tile::getShape(op.getSource().getType());
  SmallVector<std::pair<int64_t, int64_t>> limits;
  StridedBuffer view{place.buffer, {}};
  size_t next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isDropped = llvm::is_contained(op.getDropped(), dim);
    int64_t size = isDropped ? 1 : inner[next++];
    limits.push_back({0, type.getDimSize(dim) - size});
    if (!isDropped)
      view.strides.push_back(place.strides[dim]);
  }
  store(b, op.getSource(), view,
        dynamicOffset(b, op.getOffsets(), limits, place.strides));
  op.replaceAllUsesWith(load(b, op.getResult().getType(), place));
  op.erase();
}

void Decomposition::flip(tile::FlipOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getSource().getType());
  StridedBuffer place = allocDense(b, type);
  store(b, op.getSource(), place);
  StridedBuffer view = place;
  int axis = op.getAxis();
  int64_t base = int64_t{place.strides[axis]} * (type.getDimSize(axis) - 1);
  view.strides[axis] = -view.strides[axis];
  op.replaceAllUsesWith(load(b, op.getResult().getType(), view, {}, base));
  op.erase();
}

void Decomposition::concat(tile::ConcatOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  StridedBuffer place =
      allocDense(b, cast<RankedTensorType>(op.getResult().getType()));
  int axis = op.getAxis();
  store(b, op.getLhs(), place);
  store(b, op.getRhs(), place, {},
        place.strides[axis] * tile::getShape(op.getLhs().getType())[axis]);
  op.replaceAllUsesWith(load(b, op.getResult().getType(), place));
  op.erase();
}

void Decomposition::reshape(tile::ReshapeOp op) {
  if (isLinearReshape(op))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  StridedBuffer place =
      allocDense(b, cast<RankedTensorType>(op.getSource().getType()));
  store(b, op.getSource(), place);
  StridedBuffer view{place.buffer,
                     rowMajorStrides(tile::getShape(op.getResult().getType()))};
  op.replaceAllUsesWith(load(b, op.getResult().getType(), view));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Atomics and volatile loads
//===----------------------------------------------------------------------===//

/// Of the threads that hold an element one knows what it read, and the others
/// learn it: only that one updates memory, and memory that other programs write
/// may be another's a moment later, on which a branch must not depend.
void Decomposition::shareResult(Operation *access) {
  Value result = access->getResult(0);
  if (result.use_empty())
    return;
  ImplicitLocOpBuilder b(access->getLoc(), access);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  StridedBuffer place = type ? allocDense(b, type)
                             : StridedBuffer{alloc(b, 1, result.getType()), {}};
  b.setInsertionPointAfter(access);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : result.getUses())
    uses.push_back(&use);
  store(b, result, place);
  Value shared = load(b, result.getType(), place);
  for (OpOperand *use : uses)
    use->set(shared);
}

void Decomposition::run(func::FuncOp kernel) {
  // Recurrences become loops, inner ones first, so that what is in them is seen
  // below.
  SmallVector<tile::RecurrenceOp> recurrences;
  kernel.walk([&](tile::RecurrenceOp op) { recurrences.push_back(op); });
  for (tile::RecurrenceOp op : recurrences)
    recurrence(op);
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    llvm::TypeSwitch<Operation *>(op)
        .Case<ConvertLayoutOp>([&](auto each) { convert(each); })
        .Case<tile::ReduceOp>([&](auto each) { reduce(each); })
        .Case<tile::ScanOp>([&](auto each) { scan(each); })
        .Case<tile::SortOp>([&](auto each) { sort(each); })
        .Case<tile::DotOp>([&](auto each) { dot(each); })
        .Case<MmaOp>([&](auto each) { mma(each); })
        .Case<tile::GatherOp>([&](auto each) { gather(each); })
        .Case<tile::HistogramOp>([&](auto each) { histogram(each); })
        .Case<tile::SliceOp>([&](auto each) { slice(each); })
        .Case<tile::InsertOp>([&](auto each) { insert(each); })
        .Case<tile::FlipOp>([&](auto each) { flip(each); })
        .Case<tile::ConcatOp>([&](auto each) { concat(each); })
        .Case<tile::ReshapeOp>([&](auto each) { reshape(each); })
        .Case<tile::AtomicRMWOp, tile::AtomicCASOp>(
            [&](auto each) { shareResult(each); })
        .Case<tile::LoadOp>([&](auto each) {
          if (each.getIsVolatile() && hasCopies(each.getType()))
            shareResult(each);
        });
}

} // namespace
} // namespace simt

namespace {

class SimtDecomposePass : public impl::SimtDecomposeBase<SimtDecomposePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    simt::BlockShape block = simt::blockShape(module);
    simt::Decomposition decomposition(module, block);
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr)) {
        if (failed(simt::checkLayouts(kernel, block)))
          return signalPassFailure();
        decomposition.run(kernel);
      }
  }
};

} // namespace
} // namespace terrazzo
