//===- AxisTile.cpp - AxisInfo of the tile dialect ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisFacts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::axis;
using namespace terrazzo::tile;

namespace {

/// What both say along an axis.
void meetAxis(Facts &result, unsigned dim, const Facts &a, const Facts &b) {
  int64_t group = std::min(a.contiguity[dim], b.contiguity[dim]);
  result.contiguity[dim] = group;
  result.divisibility[dim] =
      std::min(a.starts(dim, group), b.starts(dim, group));
  result.constancy[dim] = std::min(a.constancy[dim], b.constancy[dim]);
}

void joinRanges(Facts &result, const Facts &a, const Facts &b) {
  if (a.range && b.range)
    result.range = a.range->rangeUnion(*b.range);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Facts infer(ArangeOp op, FactsOf) {
  Facts result = Facts::unknown(op.getType());
  int32_t start = op.getStart(), end = op.getEnd();
  int64_t extent = int64_t(end) - start;
  int64_t group = powerOfTwoIn(extent);
  result.contiguity[0] = group;
  result.divisibility[0] = powerOfTwoIn(int64_t(start));
  if (group != extent)
    result.divisibility[0] = std::min(result.divisibility[0], group);
  auto bound = [](int32_t value) {
    return APInt(32, value, /*isSigned=*/true);
  };
  result.range = ConstantIntRanges::fromSigned(bound(start), bound(end - 1));
  return result;
}

Facts infer(SplatOp op, FactsOf of) {
  return splat(of(op.getSource()), extentsOf(op.getType()));
}

Facts infer(ProgramIdOp op, FactsOf) {
  Facts result = Facts::unknown(op.getType());
  APInt most = APInt::getSignedMaxValue(32);
  result.range = ConstantIntRanges::fromSigned(APInt(32, 0), most - 1);
  result.isPlace = true;
  return result;
}

Facts infer(NumProgramsOp op, FactsOf) {
  Facts result = Facts::unknown(op.getType());
  result.range =
      ConstantIntRanges::fromSigned(APInt(32, 1), APInt::getSignedMaxValue(32));
  return result;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

Facts infer(BroadcastOp op, FactsOf of) {
  Facts result = of(op.getSource());
  SmallVector<int64_t> from = extentsOf(op.getSource().getType());
  SmallVector<int64_t> to = extentsOf(op.getType());
  for (unsigned dim = 0; dim < to.size(); ++dim)
    if (from[dim] != to[dim])
      result.constancy[dim] = powerOfTwoIn(to[dim]);
  return result;
}

/// An axis of extent 1.
void unitAxis(Facts &result, unsigned dim, const Facts &source) {
  result.contiguity[dim] = result.constancy[dim] = 1;
  result.divisibility[dim] = source.everyElement();
}

Facts infer(ExpandDimsOp op, FactsOf of) {
  const Facts &source = of(op.getSource());
  Facts result = Facts::unknown(op.getType());
  result.range = source.range;
  unsigned axis = op.getAxis();
  for (unsigned dim = 0; dim < result.rank(); ++dim)
    if (dim == axis || dim - (dim > axis) >= source.rank())
      unitAxis(result, dim, source);
    else
      result.copyAxis(dim, source, dim - (dim > axis));
  return result;
}

/// Consecutive axes of a source, as one in row-major order, and its extent.
struct Merged {
  int64_t contiguity = 1, divisibility = 1, constancy = 1, extent = 1;
};

Merged mergeAxes(const Facts &source, ArrayRef<int64_t> extents, unsigned begin,
                 unsigned end) {
  Merged merged;
  merged.divisibility = source.everyElement();
  for (unsigned dim = end; dim-- > begin;) {
    if (extents[dim] == 1)
      continue;
    if (merged.extent == 1) { // the last axis alone is walked through in order
      merged.contiguity = source.contiguity[dim];
      merged.divisibility = source.divisibility[dim];
      merged.constancy = source.constancy[dim];
    } else if (merged.constancy == merged.extent) { // whole rows are equal
      merged.constancy = product(merged.constancy, source.constancy[dim]);
    }
    merged.extent *= extents[dim];
  }
  return merged;
}

/// Cuts one axis into axes `begin .. end - 1` of the result.
void splitAxes(Facts &result, ArrayRef<int64_t> extents, unsigned begin,
               unsigned end, const Merged &merged, const Facts &source) {
  int64_t stride = 1;
  for (unsigned dim = end; dim-- > begin;) {
    unitAxis(result, dim, source);
    if (extents[dim] == 1)
      continue;
    int64_t most = powerOfTwoIn(extents[dim]);
    if (stride == 1) {
      result.contiguity[dim] = merged.contiguity;
      result.divisibility[dim] = merged.divisibility;
      result.shorten(dim, most);
      result.constancy[dim] = std::min(merged.constancy, most);
    } else if (llvm::isPowerOf2_64(stride) && merged.constancy > stride) {
      result.constancy[dim] = std::min(merged.constancy / stride, most);
    }
    stride *= extents[dim];
  }
}

/// Takes the shapes apart into the smallest runs of axes that hold as many
/// elements on either side, and looks at each by itself.
Facts infer(ReshapeOp op, FactsOf of) {
  const Facts &source = of(op.getSource());
  SmallVector<int64_t> from = extentsOf(op.getSource().getType());
  SmallVector<int64_t> to = extentsOf(op.getType());
  Facts result = Facts::unknown(op.getType());
  result.range = source.range;
  unsigned fromBegin = 0, toBegin = 0;
  while (fromBegin < from.size() && toBegin < to.size()) {
    unsigned fromEnd = fromBegin + 1, toEnd = toBegin + 1;
    int64_t left = from[fromBegin], right = to[toBegin];
    while (left != right) {
      if (left < right)
        left *= from[fromEnd++];
      else
        right *= to[toEnd++];
    }
    splitAxes(result, to, toBegin, toEnd,
              mergeAxes(source, from, fromBegin, fromEnd), source);
    fromBegin = fromEnd;
    toBegin = toEnd;
  }
  for (; toBegin < to.size(); ++toBegin) // trailing extents of 1
    unitAxis(result, toBegin, source);
  return result;
}

Facts infer(TransposeOp op, FactsOf of) {
  const Facts &source = of(op.getSource());
  Facts result = source;
  for (auto [dim, from] : llvm::enumerate(op.getOrder()))
    result.copyAxis(dim, source, from);
  return result;
}

Facts infer(JoinOp op, FactsOf of) {
  const Facts &lhs = of(op.getLhs()), &rhs = of(op.getRhs());
  Facts result = Facts::unknown(op.getType());
  joinRanges(result, lhs, rhs);
  unsigned last = result.rank() - 1;
  for (unsigned dim = 0; dim < last && dim < lhs.rank(); ++dim)
    meetAxis(result, dim, lhs, rhs);
  result.divisibility[last] = std::min(lhs.everyElement(), rhs.everyElement());
  if (op.getLhs() == op.getRhs())
    result.constancy[last] = 2;
  return result;
}

Facts infer(SplitOp op, FactsOf of) {
  const Facts &source = of(op.getSource());
  Facts result = Facts::unknown(op.getLhs().getType());
  result.range = source.range;
  for (unsigned dim = 0; dim < result.rank(); ++dim)
    if (dim + 1 < source.rank())
      result.copyAxis(dim, source, dim);
    else
      unitAxis(result, dim, source);
  return result;
}

/// Groups divide the extent of `lhs`, so that those of `rhs` stay aligned.
Facts infer(ConcatOp op, FactsOf of) {
  const Facts &lhs = of(op.getLhs()), &rhs = of(op.getRhs());
  Facts result = Facts::unknown(op.getType());
  joinRanges(result, lhs, rhs);
  for (unsigned dim = 0; dim < result.rank(); ++dim)
    meetAxis(result, dim, lhs, rhs);
  return result;
}

Facts infer(FlipOp op, FactsOf of) {
  Facts result = of(op.getSource());
  result.shorten(op.getAxis(), 1); // Groups of equal elements stay groups.
  return result;
}

/// All of the rectangle lies inside its source, whose elements it is then.
bool isInside(SliceOp op, FactsOf of) {
  SmallVector<int64_t> extents = extentsOf(op.getSource().getType());
  for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
    const ConstantIntRanges &range = *of(offset).range;
    int64_t span = int64_t(op.getSizes()[dim] - 1) * op.getStrides()[dim];
    if (range.smin().getSExtValue() + std::min<int64_t>(span, 0) < 0 ||
        range.smax().getSExtValue() + std::max<int64_t>(span, 0) >=
            extents[dim])
      return false;
  }
  return true;
}

Facts infer(SliceOp op, FactsOf of) {
  const Facts &source = of(op.getSource());
  Facts result = Facts::unknown(op.getType());
  if (!isInside(op, of))
    return result;
  result.range = source.range;
  for (int64_t &divisibility : result.divisibility)
    divisibility = source.everyElement();
  unsigned to = 0;
  for (unsigned dim = 0; dim < op.getOffsets().size(); ++dim) {
    if (llvm::is_contained(op.getDropped(), int32_t(dim)))
      continue;
    int64_t start = of(op.getOffsets()[dim]).every(0);
    if (op.getStrides()[dim] == 1) {
      result.copyAxis(to, source, dim);
      result.shorten(to, start);
      result.constancy[to] = std::min(result.constancy[to], start);
    }
    ++to;
  }
  return result;
}

Facts infer(InsertOp op, FactsOf of) {
  const Facts &source = of(op.getSource()), &dest = of(op.getDest());
  Facts result = Facts::unknown(op.getType());
  joinRanges(result, source, dest);
  for (int64_t &divisibility : result.divisibility)
    divisibility = std::min(source.everyElement(), dest.everyElement());
  return result;
}

Facts infer(GatherOp op, FactsOf of) {
  const Facts &source = of(op.getSource()), &indices = of(op.getIndices());
  Facts result = Facts::unknown(op.getType());
  unsigned axis = op.getAxis();
  int64_t extent = extentsOf(op.getSource().getType())[axis];
  if (indices.width > 64 || indices.range->smin().isNegative() ||
      indices.range->smax().getSExtValue() >= extent)
    return result; // some elements may be undefined
  result.range = source.range;
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    int64_t uniform = indices.constancy[dim];
    if (dim == axis) {
      int64_t group = std::min(source.contiguity[dim], indices.aligned(dim));
      result.contiguity[dim] = group;
      result.divisibility[dim] = source.starts(dim, group);
      // Where the index moves inside a group of equal elements, too.
      result.constancy[dim] = std::max(
          uniform, std::min(source.constancy[dim], indices.aligned(dim)));
    } else {
      result.copyAxis(dim, source, dim);
      result.shorten(dim, uniform);
      result.constancy[dim] = std::min(result.constancy[dim], uniform);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pointers and memory
//===----------------------------------------------------------------------===//

Facts infer(AddPtrOp op, FactsOf of, Trust trust) {
  const Facts &ptr = of(op.getPtr());
  Facts offset = of(op.getOffset());
  if (offset.width < 64)
    offset = extended(offset, /*isSigned=*/true, trust);
  Facts result = Facts::unknown(op.getType());
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    int64_t group =
        std::max(std::min(ptr.contiguity[dim], offset.constancy[dim]),
                 std::min(ptr.constancy[dim], offset.contiguity[dim]));
    result.contiguity[dim] = group;
    result.divisibility[dim] =
        std::min(ptr.starts(dim, group),
                 product(offset.starts(dim, group), result.unit));
    result.constancy[dim] = std::min(ptr.constancy[dim], offset.constancy[dim]);
  }
  return result;
}

/// The same addresses with steps of another size.
Facts restep(const Facts &source, Type from, Type to) {
  auto stepOf = [](Type type) {
    auto ptr = dyn_cast<PtrType>(getElementTypeOrSelf(type));
    return ptr ? pointeeBytes(ptr) : 1;
  };
  Facts result = Facts::unknown(to);
  result.copyAxes(source);
  if (stepOf(from) == stepOf(to))
    return result;
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    result.divisibility[dim] = source.every(dim);
    result.contiguity[dim] = 1;
  }
  return result;
}

/// What a hint and the hints that it is stacked upon promise along an axis;
/// 0 for nothing.
struct Promise {
  int64_t contiguity = 0, divisibility = 0, constancy = 0;
};

Promise promiseOf(HintOp op, unsigned dim) {
  Promise promise;
  for (; op; op = op.getSource().getDefiningOp<HintOp>()) {
    auto raise = [&](int64_t &to, std::optional<ArrayRef<int32_t>> values) {
      if (values)
        to = std::max<int64_t>(to, (*values)[dim]);
    };
    raise(promise.contiguity, op.getContiguity());
    raise(promise.divisibility, op.getDivisibility());
    raise(promise.constancy, op.getConstancy());
  }
  return promise;
}

/// Aligned groups that lie inside aligned runs of `length` elements.
int64_t groupsOf(int64_t length, int64_t extent) {
  if (length >= extent)
    return powerOfTwoIn(extent);
  return length ? std::min(powerOfTwoIn(length), powerOfTwoIn(extent)) : 1;
}

/// A promised divisibility is that of the first element of each run. If nobody
/// says how long runs are, they may be longer than the groups that are known,
/// which then are aligned by their own length only:
///   max_contiguous(multiple_of(x % n, 64), 64)
/// does not promise that 64 divides each element of the inner tile.
Facts infer(HintOp op, FactsOf of) {
  Facts result = of(op.getSource());
  SmallVector<int64_t> extents = extentsOf(op.getType());
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    Promise promise = promiseOf(op, dim);
    int64_t promised = groupsOf(promise.contiguity, extents[dim]);
    int64_t group = std::max(result.contiguity[dim], promised);
    result.contiguity[dim] = group;
    result.constancy[dim] = std::max(result.constancy[dim],
                                     groupsOf(promise.constancy, extents[dim]));
    if (!promise.divisibility)
      continue;
    int64_t divisor = powerOfTwoIn(promise.divisibility);
    bool knowsRuns =
        group == extents[dim] || result.constancy[dim] > 1 ||
        (promise.contiguity && group >= powerOfTwoIn(promise.contiguity));
    if (!knowsRuns)
      divisor = std::min(divisor, product(group, result.unit));
    result.divisibility[dim] = std::max(result.divisibility[dim], divisor);
  }
  return result;
}

/// What is loaded through equal pointers under equal masks is equal, unless the
/// memory changes meanwhile: a race, or a volatile access.
Facts infer(LoadOp op, FactsOf of) {
  Facts result = Facts::unknown(op.getType());
  if (op.getIsVolatile())
    return result;
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    int64_t group = kAll;
    for (Value operand : op->getOperands())
      group = std::min(group, of(operand).constancy[dim]);
    result.constancy[dim] = group;
  }
  return result;
}

Facts infer(HistogramOp op, FactsOf) {
  Facts result = Facts::unknown(op.getType());
  APInt most(32, op.getSource().getType().getNumElements());
  result.range = ConstantIntRanges::fromUnsigned(APInt(32, 0), most);
  return result;
}

} // namespace

bool axis::inferTile(Operation *op, FactsOf of, Trust trust, Results &results) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ArangeOp, SplatOp, ProgramIdOp, NumProgramsOp, BroadcastOp,
            ExpandDimsOp, ReshapeOp, TransposeOp, JoinOp, ConcatOp, FlipOp,
            SliceOp, InsertOp, GatherOp, HintOp, LoadOp, HistogramOp>(
          [&](auto each) {
            results.push_back(infer(each, of));
            if (isa<BroadcastOp, ExpandDimsOp, ReshapeOp, TransposeOp, HintOp>(
                    op))
              results.back().isPlace = of(op->getOperand(0)).isPlace;
            return true;
          })
      .Case([&](SplitOp each) {
        results.assign(2, infer(each, of));
        return true;
      })
      .Case([&](AddPtrOp each) {
        results.push_back(infer(each, of, trust));
        return true;
      })
      .Case<PtrCastOp, PtrToIntOp, IntToPtrOp>([&](auto each) {
        results.push_back(restep(of(each.getSource()),
                                 each.getSource().getType(), each.getType()));
        return true;
      })
      .Default([](Operation *) { return false; });
}
