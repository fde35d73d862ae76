//===- Strides.cpp - How indices, pointers and masks move -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be known of a tile of integers, pointers or masks without emitting
// code: how far it moves along a dimension. That decides which dimension the
// lanes take, what is evaluated again instead of being kept, and which masks
// can be decided for a whole row.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

/// The dimension of its operand that a renaming op reads along `dim` of its
/// result: -1 if it repeats that; nothing for other ops.
static std::optional<int64_t> sourceDim(Operation *op, int64_t dim) {
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    auto shape = tile::getShape(broadcast.getSource().getType());
    return dim < 0 || shape[dim] == 1 ? -1 : dim;
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    int64_t axis = expand.getAxis();
    return dim == axis ? -1 : dim > axis ? dim - 1 : dim;
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return dim < 0 ? dim : transpose.getOrder()[dim];
  return std::nullopt;
}

/// The integer that all elements of a tile, or a scalar, are known to be.
static std::optional<int64_t> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getSource();
  if (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    return constantOf(broadcast.getSource());
  DenseIntElementsAttr dense;
  IntegerAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValue().getSExtValue();
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat())
    return dense.getSplatValue<APInt>().getSExtValue();
  return std::nullopt;
}

std::optional<int64_t> Lowering::strideOfProduct(Operation *op, int64_t dim,
                                                 bool exact, int depth) {
  auto lhs = strideAlong(op->getOperand(0), dim, exact, depth),
       rhs = strideAlong(op->getOperand(1), dim, exact, depth);
  if (lhs && rhs && *lhs == 0 && *rhs == 0)
    return 0;
  if (auto factor = constantOf(op->getOperand(1)); factor && lhs)
    return *lhs * *factor;
  if (auto factor = constantOf(op->getOperand(0)); factor && rhs)
    return *rhs * *factor;
  return std::nullopt;
}

std::optional<int64_t> Lowering::strideOfSum(Operation *op, int64_t dim,
                                             bool exact, int depth) {
  auto lhs = strideAlong(op->getOperand(0), dim, exact, depth),
       rhs = strideAlong(op->getOperand(1), dim, exact, depth);
  if (!lhs || !rhs)
    return std::nullopt;
  return isa<arith::SubIOp>(op) ? *lhs - *rhs : *lhs + *rhs;
}

std::optional<int64_t> Lowering::strideAlong(Value tile, int64_t dim,
                                             bool exact, int depth) {
  using Stride = std::optional<int64_t>;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > 32 || (isInBuffer(tile) && !indices.contains(tile)))
    return std::nullopt;
  ++depth;
  if (Stride source = sourceDim(op, dim))
    return strideAlong(op->getOperand(0), *source, exact, depth);
  auto operand = [&] {
    return strideAlong(op->getOperand(0), dim, exact, depth);
  };
  // Exactly, a narrow sum that is widened steps by one, and a pointer whose
  // elements change size does not move.
  auto within = [&](int64_t most) -> Stride {
    Stride source = operand();
    return !exact || (source && std::abs(*source) <= most) ? source
                                                           : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Stride>(op)
      .Case([&](tile::ArangeOp) { return dim < 0 ? 0 : 1; })
      .Case([&](tile::SplatOp) { return 0; })
      .Case([&](arith::ConstantOp constant) {
        return isa<SplatElementsAttr>(constant.getValue()) ? Stride(0)
                                                           : std::nullopt;
      })
      .Case(
          [&](arith::MulIOp) { return strideOfProduct(op, dim, exact, depth); })
      .Case<tile::AddPtrOp, arith::AddIOp, arith::SubIOp>(
          [&](Operation *) { return strideOfSum(op, dim, exact, depth); })
      .Case([&](tile::HintOp) { return operand(); })
      .Case([&](arith::RemSIOp) { return exact ? std::nullopt : operand(); })
      .Case([&](arith::ExtSIOp) { return within(1); })
      .Case([&](tile::PtrCastOp) { return within(0); })
      .Default(Stride());
}

//===----------------------------------------------------------------------===//
// Strides that are known at run time
//===----------------------------------------------------------------------===//

std::optional<Value>
Lowering::slopeOfProduct(Operation *op, const Coords &origin, int64_t dim,
                         int64_t extent, SmallVectorImpl<Value> &conditions) {
  auto lhs = slopeAlong(op->getOperand(0), origin, dim, extent, conditions);
  auto rhs = slopeAlong(op->getOperand(1), origin, dim, extent, conditions);
  if (!lhs || !rhs)
    return std::nullopt;
  bool isLeft = matchPattern(*rhs, m_Zero());
  if (!isLeft && !matchPattern(*lhs, m_Zero()))
    return std::nullopt;
  Value factor = eval(op->getOperand(isLeft ? 1 : 0), origin).v;
  return b.createOrFold<arith::MulIOp>(isLeft ? *lhs : *rhs, factor);
}

std::optional<Value>
Lowering::slopeOfRemainder(Operation *op, const Coords &origin, int64_t dim,
                           int64_t extent, SmallVectorImpl<Value> &conditions) {
  auto lhs = slopeAlong(op->getOperand(0), origin, dim, extent, conditions);
  auto rhs = slopeAlong(op->getOperand(1), origin, dim, extent, conditions);
  if (!lhs || !rhs || !matchPattern(*rhs, m_Zero()))
    return std::nullopt;
  if (matchPattern(*lhs, m_Zero()))
    return lhs;
  if (!matchPattern(*lhs, m_One()))
    return std::nullopt;
  Value dividend = eval(op->getOperand(0), origin).v;
  Value divisor = eval(op->getOperand(1), origin).v;
  conditions.push_back(startsNoMore(
      dividend, divisor, arith::RemSIOp::create(b, dividend, divisor), extent));
  return lhs;
}

std::optional<Value>
Lowering::widenedSlope(Value narrow, const Coords &origin, int64_t dim,
                       int64_t extent, SmallVectorImpl<Value> &conditions) {
  auto slope = slopeAlong(narrow, origin, dim, extent, conditions);
  Type i64 = b.getI64Type();
  if (!slope || slope->getType() == i64)
    return slope;
  Value wide = b.createOrFold<arith::ExtSIOp>(i64, *slope);
  if (matchPattern(*slope, m_Zero()) || matchPattern(*slope, m_One()))
    return wide;
  // A narrow sum may wrap: it does not where its last element is that of the
  // sum in i64.
  Value first = b.createOrFold<arith::ExtSIOp>(i64, eval(narrow, origin).v);
  Value last = addIndex(first, mulIndex(wide, extent - 1));
  Value wrapped = b.createOrFold<arith::ExtSIOp>(
      i64, b.createOrFold<arith::TruncIOp>(slope->getType(), last));
  conditions.push_back(
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, wrapped, last));
  return wide;
}

std::optional<Value> Lowering::slopeAlong(Value tile, const Coords &origin,
                                          int64_t dim, int64_t extent,
                                          SmallVectorImpl<Value> &conditions) {
  using Slope = std::optional<Value>;
  Operation *op = tile.getDefiningOp();
  if (!op || (isInBuffer(tile) && !indices.contains(tile)))
    return std::nullopt;
  Type type = registerType(tile::getElementType(tile.getType()));
  auto of = [&](unsigned operand) {
    return slopeAlong(op->getOperand(operand), origin, dim, extent, conditions);
  };
  auto sum = [&](Slope lhs, Slope rhs) -> Slope {
    if (!lhs || !rhs)
      return std::nullopt;
    return isa<arith::SubIOp>(op) ? b.createOrFold<arith::SubIOp>(*lhs, *rhs)
                                  : b.createOrFold<arith::AddIOp>(*lhs, *rhs);
  };
  if (std::optional<int64_t> source = sourceDim(op, dim))
    return slopeAlong(op->getOperand(0), *sourceCoords(op, origin), *source,
                      extent, conditions);
  return llvm::TypeSwitch<Operation *, Slope>(op)
      .Case([&](tile::ArangeOp) { return constant(dim < 0 ? 0 : 1, type); })
      .Case([&](tile::SplatOp) { return zero(type); })
      .Case([&](arith::ConstantOp constant) {
        return isa<SplatElementsAttr>(constant.getValue()) ? Slope(zero(type))
                                                           : std::nullopt;
      })
      .Case([&](arith::MulIOp) {
        return slopeOfProduct(op, origin, dim, extent, conditions);
      })
      .Case([&](arith::RemSIOp) {
        return slopeOfRemainder(op, origin, dim, extent, conditions);
      })
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](Operation *) { return sum(of(0), of(1)); })
      .Case([&](tile::AddPtrOp addptr) -> Slope {
        Slope offset =
            widenedSlope(addptr.getOffset(), origin, dim, extent, conditions);
        auto pointee = cast<tile::PtrType>(tile::getElementType(tile.getType()))
                           .getPointeeType();
        if (!offset)
          return std::nullopt;
        return sum(of(0), mulIndex(*offset, byteSize(pointee)));
      })
      .Case([&](arith::ExtSIOp) -> Slope {
        if (!type.isInteger(64))
          return std::nullopt;
        return widenedSlope(op->getOperand(0), origin, dim, extent, conditions);
      })
      .Case<tile::HintOp, tile::PtrCastOp>([&](Operation *) { return of(0); })
      .Default(Slope());
}

bool Lowering::isIndex(Value tile, bool exact) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || !tile.getDefiningOp() ||
      !(isa<tile::PtrType>(type.getElementType()) ||
        type.getElementType().isInteger(32) ||
        type.getElementType().isInteger(64)))
    return false;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (extent > 1 && !strideAlong(tile, dim, exact))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What is known of whole rows
//===----------------------------------------------------------------------===//

bool Lowering::isRowMask(Value mask, int64_t dim) {
  Operation *op = mask.getDefiningOp();
  if (!op || isInBuffer(mask))
    return false;
  if (isa<tile::SplatOp>(op))
    return true;
  if (isa<arith::AndIOp>(op))
    return isRowMask(op->getOperand(0), dim) &&
           isRowMask(op->getOperand(1), dim);
  if (std::optional<int64_t> source = sourceDim(op, dim))
    return isRowMask(op->getOperand(0), *source);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  using P = arith::CmpIPredicate;
  if (!compare || !llvm::is_contained({P::slt, P::sle, P::sgt, P::sge},
                                      compare.getPredicate()))
    return false;
  return llvm::all_of(compare->getOperands(), [&](Value side) {
    auto stride = strideAlong(side, dim, /*exact=*/true);
    return stride && std::abs(*stride) <= 1;
  });
}

bool Lowering::isRowRemainder(Value tile, int64_t dim) {
  auto rem = tile.getDefiningOp<arith::RemSIOp>();
  return rem && dim >= 0 &&
         strideAlong(rem.getLhs(), dim, /*exact=*/true) == 1 &&
         strideAlong(rem.getRhs(), dim, /*exact=*/true) == 0;
}

Value Lowering::holds(RowFact &fact) {
  if (tile::getElementType(fact.tile.getType()).isInteger(1))
    return allTrue(fact.tile, fact.at);
  SmallVector<Value> conditions;
  SmallVector<Value> *saved = std::exchange(assumptions, &conditions);
  Val value = eval(fact.tile, fact.at);
  assumptions = saved;
  if (value.isVector || value.step != 1 || conditions.size() != 1)
    return {};
  fact.start = value.v;
  return conditions.front();
}

void Lowering::collectRowFacts(ValueRange roots, const Coords &row, int64_t dim,
                               SmallVectorImpl<RowFact> &facts) {
  struct Read {
    Value tile;
    Coords at;
    int64_t dim;
  };
  SmallVector<Read> work;
  DenseSet<Value> seen;
  for (Value root : roots)
    work.push_back({root, row, dim});
  while (!work.empty()) {
    auto [tile, at, dim] = work.pop_back_val();
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    Operation *op = tile.getDefiningOp();
    if (!type || !op || (isInBuffer(tile) && !indices.contains(tile)) ||
        !seen.insert(tile).second)
      continue;
    bool isMask = type.getElementType().isInteger(1);
    if (isMask ? isRowMask(tile, dim) : isRowRemainder(tile, dim)) {
      facts.push_back({tile, at, dim, {}});
      continue;
    }
    if (std::optional<Coords> from = sourceCoords(op, at)) {
      work.push_back({op->getOperand(0), *from, *sourceDim(op, dim)});
      continue;
    }
    if (isRenaming(op) || isa<tile::GatherOp>(op))
      continue;
    for (Value operand : op->getOperands())
      work.push_back({operand, at, dim});
  }
}

//===----------------------------------------------------------------------===//
// The dimension of the lanes
//===----------------------------------------------------------------------===//

/// What the dimensions of an op's operands are in the nest, given those of its
/// result; nothing for ops whose operands move otherwise.
static std::optional<SmallVector<int64_t>> operandDims(Operation *op,
                                                       ArrayRef<int64_t> dims) {
  SmallVector<int64_t> inner(dims);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    for (auto [dim, extent] :
         llvm::enumerate(tile::getShape(broadcast.getSource().getType())))
      if (extent == 1)
        inner[dim] = -1;
  } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    inner.erase(inner.begin() + expand.getAxis());
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getOrder()))
      inner[source] = dims[dim];
  } else if (isa<tile::SliceOp, tile::SplitOp, tile::GatherOp, tile::LoadOp>(
                 op)) {
    return std::nullopt;
  }
  return inner;
}

void Lowering::scoreDims(Value tile, ArrayRef<int64_t> dims,
                         MutableArrayRef<int64_t> score) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto add = [&](int64_t dim, int64_t points) {
    if (dims[dim] >= 0 && type.getDimSize(dim) > 1)
      score[dims[dim]] += points;
  };
  if (auto it = buffers.find(tile); it != buffers.end()) {
    for (auto [dim, stride] : llvm::enumerate(it->second.strides))
      if (stride == 1)
        add(dim, 2);
    return;
  }
  Value pointer;
  if (auto load = tile.getDefiningOp<tile::LoadOp>())
    pointer = load.getPtr();
  else if (isa<tile::PtrType>(type.getElementType()))
    pointer = tile;
  if (!pointer)
    return;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (auto stride = strideAlong(pointer, dim);
        stride && std::abs(*stride) <= 1)
      add(dim, *stride != 0 ? 4 : 1);
}

/// The dimension of the best score; of equal ones the last.
static int64_t bestDim(ArrayRef<int64_t> shape, ArrayRef<int64_t> score) {
  int64_t rank = shape.size(), best = -1;
  // A handful of lanes is not worth a contiguous access.
  auto points = [&](int64_t dim) {
    return score[dim] - (shape[dim] < 4 ? 3 : 0);
  };
  for (int64_t dim = rank - 1; dim >= 0; --dim)
    if (shape[dim] != 1 && (best < 0 || points(dim) > points(best)))
      best = dim;
  return best < 0 ? rank - 1 : best;
}

int64_t Lowering::pickVectorDim(ArrayRef<int64_t> shape, ValueRange roots,
                                int64_t preferred) {
  int64_t rank = shape.size();
  SmallVector<int64_t> score(rank, 0);
  // Only what keeps its dimensions on the way up is looked at; the rest
  // follows.
  SmallVector<std::pair<Value, SmallVector<int64_t>>> work;
  for (Value root : roots)
    work.push_back({root, llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  DenseSet<Value> seen;
  while (!work.empty()) {
    auto [tile, dims] = work.pop_back_val();
    if (!isa<RankedTensorType>(tile.getType()) || !seen.insert(tile).second)
      continue;
    scoreDims(tile, dims, score);
    Operation *op = tile.getDefiningOp();
    if (!op || isInBuffer(tile))
      continue;
    std::optional<SmallVector<int64_t>> inner = operandDims(op, dims);
    if (!inner)
      continue;
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        if (type.getRank() == static_cast<int64_t>(inner->size()))
          work.push_back({operand, *inner});
  }
  if (preferred >= 0)
    score[preferred] += 1;
  return bestDim(shape, score);
}
