//===- Dot.cpp - Products of factors in shared memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over the depth. For each k a thread reads the rows of the left and the
// columns of the right factor that its elements need, each once, and multiplies
// all pairs. Some steps of k are unrolled; what lies side by side in memory,
// along k or across elements, is read by one access.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

/// What a thread needs of one factor: "rows", each at an offset from a pointer
/// of `origins`.
struct Lowering::Factor {
  struct Row {
    unsigned origin;
    int32_t offset;
  };
  Type element;            ///< of the factor
  Type storage;            ///< an integer of its size
  int32_t stride = 0;      ///< along k
  int64_t widthAlongK = 1; ///< steps of k that one access may cover
  int64_t widthAcross = 1; ///< rows that one access may cover
  SmallVector<Value> origins;
  SmallVector<Row> rows;
  SmallVector<unsigned> rowOf; ///< the row of each register of the product
};

Value Lowering::converted(Value value, Type type, bool isUnsigned) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    if (from < to)
      return arith::ExtFOp::create(b, type, value);
    return arith::TruncFOp::create(b, type, value);
  }
  if (from > to)
    return arith::TruncIOp::create(b, type, value);
  return isUnsigned ? arith::ExtUIOp::create(b, type, value).getResult()
                    : arith::ExtSIOp::create(b, type, value).getResult();
}

/// A power of two that divides all of some steps, up to `most`.
static int64_t commonDivisor(ArrayRef<int32_t> steps, int64_t most) {
  for (int32_t step : steps)
    while (step % most != 0)
      most /= 2;
  return most;
}

FailureOr<Lowering::Factor> Lowering::factor(simt::LocalDotOp op, bool isLhs) {
  auto type = cast<RankedTensorType>(op.getAcc().getType());
  Distribution &d = distribution(type);
  int64_t rank = d.rank();
  Factor f;
  f.element = isLhs ? op.getLhsType() : op.getRhsType();
  FailureOr<Addressing> a =
      addressing(op, isLhs ? op.getLhs() : op.getRhs(), f.element, Value(), 0);
  if (failed(a))
    return failure();
  f.storage = a->element;
  ArrayRef<int32_t> given = isLhs ? op.getLhsStrides() : op.getRhsStrides();
  // The product's dimensions are [batch,] M, N.
  SmallVector<int32_t> strides(rank, 0);
  if (rank == 3)
    strides[0] = given[0];
  strides[isLhs ? rank - 2 : rank - 1] = given[isLhs ? rank - 2 : rank - 1];
  f.stride = given[isLhs ? rank - 1 : rank - 2];
  addressTile(*a, type, strides);
  bool isPadded = false;
  for (int64_t dim = 0; dim < rank; ++dim)
    isPadded |= strides[dim] != 0 &&
                type.getDimSize(dim) != int64_t{1} << d.outBits[dim];
  f.rowOf.assign(d.numRegisters(), 0);
  if (isPadded || a->mode == Addressing::Coordinates)
    setCheckedRows(f, *a, type, strides);
  else
    setRows(f, *a, type);
  return f;
}

void Lowering::setCheckedRows(Factor &f, const Addressing &a,
                              RankedTensorType type,
                              ArrayRef<int32_t> strides) {
  Distribution &d = distribution(type);
  // Beyond the shape any element will do.
  if (f.stride == 1)
    f.widthAlongK = commonDivisor(strides, 16 / simt::elementBytes(f.element));
  llvm::DenseMap<uint64_t, unsigned> known;
  for (uint32_t r : d.unique) {
    Coords coords(d.coords[r]);
    for (int64_t dim = 0; dim < d.rank(); ++dim)
      if (strides[dim] == 0)
        coords[dim] = 0;
    auto [it, isNew] = known.try_emplace(d.pack(coords), f.rows.size());
    f.rowOf[r] = it->second;
    if (!isNew)
      continue;
    Value index;
    for (int64_t dim = 0; dim < d.rank(); ++dim) {
      if (strides[dim] == 0)
        continue;
      Value part = arith::MinUIOp::create(b, coordinate(d, r, dim),
                                          i32(type.getDimSize(dim) - 1));
      part = arith::MulIOp::create(b, part, i32(strides[dim]));
      index = add(index, part);
    }
    f.rows.push_back({static_cast<unsigned>(f.origins.size()), 0});
    f.origins.push_back(
        index ? pointerTo(f.storage, a.base, LLVM::GEPArg(index)) : a.base);
  }
}

void Lowering::setRows(Factor &f, const Addressing &a, RankedTensorType type) {
  int64_t bytes = simt::elementBytes(f.element);
  f.origins.push_back(a.threadBase);
  if (f.stride == 1) {
    f.widthAlongK = commonDivisor(a.registers, 16 / bytes);
    f.widthAlongK = commonDivisor(a.lanes, f.widthAlongK);
    f.widthAlongK = commonDivisor(a.warps, f.widthAlongK);
  } else {
    auto group =
        static_cast<int64_t>(size_t{1} << chooseGroup(a, type, bytes).size());
    f.widthAcross = commonDivisor(f.stride, group);
  }
  llvm::DenseMap<int32_t, unsigned> known;
  for (uint32_t r : distribution(type).unique) {
    int32_t offset = a.own(r);
    auto [it, isNew] = known.try_emplace(offset, f.rows.size());
    f.rowOf[r] = it->second;
    if (isNew)
      f.rows.push_back({0, offset});
  }
}

/// Reads all rows for `unroll` steps from `k` on: `out[row][step]`.
void Lowering::loadFactor(const Factor &f, Value k, int64_t unroll,
                          Type compute, bool isUnsigned,
                          SmallVectorImpl<SmallVector<Value>> &out) {
  out.assign(f.rows.size(), SmallVector<Value>(unroll));
  SmallVector<Value> origins;
  Value step = k;
  if (f.stride != 1)
    step = arith::MulIOp::create(b, k, i32(f.stride));
  for (Value origin : f.origins)
    origins.push_back(pointerTo(f.storage, origin, LLVM::GEPArg(step)));
  llvm::DenseMap<int32_t, unsigned> byOffset;
  for (auto [index, row] : llvm::enumerate(f.rows))
    byOffset[row.offset] = static_cast<unsigned>(index);
  int64_t along = std::min(f.widthAlongK, unroll);
  for (auto [index, row] : llvm::enumerate(f.rows)) {
    if (f.widthAcross > 1 && row.offset % f.widthAcross != 0)
      continue;
    for (int64_t u = 0; u < unroll; u += along) {
      auto offset = static_cast<int32_t>(row.offset + u * f.stride);
      Value ptr = origins[row.origin];
      if (offset != 0)
        ptr = pointerTo(f.storage, ptr, LLVM::GEPArg(offset));
      int64_t count = std::max(along, f.widthAcross);
      Value raw = simt::ThreadLoadOp::create(
          b, memoryType(f.element, count), ptr, Value(), Value(),
          tile::CacheModifier::None, tile::EvictionPolicy::Normal, false);
      for (auto [i, value] : llvm::enumerate(unpack(raw, f.element, count))) {
        Value now = converted(value, compute, isUnsigned);
        if (f.widthAcross == 1)
          out[index][u + i] = now;
        else
          out[byOffset[row.offset + static_cast<int32_t>(i)]][u] = now;
      }
    }
  }
}

/// How many steps of k to unroll: a power of two that divides the depth.
static int64_t chooseUnroll(int64_t depth, int64_t wanted, size_t elements) {
  int64_t unroll = std::max<int64_t>(4, wanted);
  while (unroll > 1 && (depth % unroll != 0 ||
                        unroll * static_cast<int64_t>(elements) > 1024))
    unroll /= 2;
  return unroll;
}

LogicalResult Lowering::lowerLocalDot(simt::LocalDotOp op) {
  if (failed(checkOneLayout(op)))
    return failure();
  auto type = cast<RankedTensorType>(op.getAcc().getType());
  Distribution &d = distribution(type);
  FailureOr<Factor> lhs = factor(op, true);
  FailureOr<Factor> rhs = factor(op, false);
  if (failed(lhs) || failed(rhs))
    return failure();
  Type element = type.getElementType(), compute = element;
  if (isa<FloatType>(element)) {
    compute = b.getF32Type();
    for (Type part : {element, op.getLhsType(), op.getRhsType()})
      if (part.isF64())
        compute = part;
  }
  bool isUnsigned = op.getIsUnsigned();
  SmallVector<Value> sums;
  for (uint32_t r : d.unique)
    sums.push_back(converted(registersOf(op.getAcc())[r], compute, isUnsigned));
  auto depth = static_cast<int32_t>(op.getDepth());
  int64_t unroll = chooseUnroll(
      depth, std::max(lhs->widthAlongK, rhs->widthAlongK), sums.size());

  auto loop = scf::ForOp::create(b, i32(0), i32(depth), i32(unroll), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<SmallVector<Value>> rows, columns;
    loadFactor(*lhs, k, unroll, compute, isUnsigned, rows);
    loadFactor(*rhs, k, unroll, compute, isUnsigned, columns);
    sums.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    for (int64_t u = 0; u < unroll; ++u)
      for (auto [i, r] : llvm::enumerate(d.unique)) {
        Value x = rows[lhs->rowOf[r]][u], y = columns[rhs->rowOf[r]][u];
        if (isa<FloatType>(compute))
          sums[i] = math::FmaOp::create(b, x, y, sums[i]);
        else
          sums[i] =
              arith::AddIOp::create(b, sums[i], arith::MulIOp::create(b, x, y));
      }
    scf::YieldOp::create(b, sums);
  }
  size_t next = 0;
  setEach(op.getResult(), [&](uint32_t) {
    return converted(loop.getResult(next++), element, isUnsigned);
  });
  return success();
}
