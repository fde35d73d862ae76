//===- AxisArithmetic.cpp - AxisInfo of arith, element by element ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rule works along one axis at a time. The recurring argument: a group of
// n contiguous elements that starts at a multiple of n ("aligned") is s, s + 1,
// .., s + n - 1 where the low bits of s are zero. It crosses no multiple of n,
// hence neither the ends of the number range nor a bound, divisor or mask that
// is one value over the group and a multiple of n ("uniform multiple").
//
//===----------------------------------------------------------------------===//

#include "AxisFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::axis;

namespace {

/// What is known along one axis.
struct Axis {
  int64_t contiguity = 1, divisibility = 1, constancy = 1;
};

/// One axis of an operand.
struct Operand {
  const Facts &facts;
  unsigned dim;

  int64_t contiguity() const { return facts.contiguity[dim]; }
  int64_t constancy() const { return facts.constancy[dim]; }
  int64_t starts(int64_t group) const { return facts.starts(dim, group); }
  int64_t every() const { return facts.every(dim); }
  int64_t aligned() const { return facts.aligned(dim); }
  int64_t uniformMultiple() const { return facts.uniformMultiple(dim); }
  /// In groups of so many all are one value whose low bits are ones: `value +
  /// 1` is a multiple of that number.
  int64_t uniformOnes() const {
    if (!facts.constant)
      return 1;
    return std::min(constancy(), powerOfTwoIn(APInt(64, *facts.constant) + 1));
  }
  bool is(int64_t value) const { return facts.constant == value; }
  Axis axis() const {
    return {contiguity(), facts.divisibility[dim], constancy()};
  }
};

int64_t bothConstant(Operand x, Operand y) {
  return std::min(x.constancy(), y.constancy());
}

int64_t bothStart(Operand x, Operand y, int64_t group) {
  return std::min(x.starts(group), y.starts(group));
}

/// One operand is contiguous where the other is constant.
int64_t oneMoves(Operand x, Operand y) {
  return std::max(std::min(x.contiguity(), y.constancy()),
                  std::min(x.constancy(), y.contiguity()));
}

Axis add(Operand x, Operand y) {
  int64_t group = oneMoves(x, y);
  return {group, bothStart(x, y, group), bothConstant(x, y)};
}

Axis subtract(Operand x, Operand y) {
  int64_t group = std::min(x.contiguity(), y.constancy());
  Axis result = {group, bothStart(x, y, group), bothConstant(x, y)};
  // Two contiguous groups keep their distance, that of their first elements.
  int64_t together = std::min(x.contiguity(), y.contiguity());
  result.constancy = std::max(result.constancy, together);
  if (group == 1)
    result.divisibility =
        std::max(result.divisibility, bothStart(x, y, together));
  return result;
}

Axis multiply(Operand x, Operand y) {
  if (y.is(1) && y.facts.width > 1)
    return x.axis();
  if (x.is(1) && x.facts.width > 1)
    return y.axis();
  return {1, product(x.every(), y.every()), bothConstant(x, y)};
}

/// A quotient. `multiple`: the divisor is one multiple of this number in groups
/// of as many elements. `divisor`: the divisor if it is a power of two, else 0.
/// `floors`: rounds down and the divisor is positive.
Axis divide(Operand x, int64_t multiple, int64_t divisor, bool floors,
            int64_t constancy) {
  if (divisor == 1)
    return x.axis();
  Axis result = {1, 1, constancy};
  if (floors)
    result.constancy =
        std::max(result.constancy, std::min(x.aligned(), multiple));
  if (!divisor)
    return result;
  int64_t first = x.facts.divisibility[x.dim];
  if (x.every() >= divisor) // exact
    result.divisibility = x.every() / divisor;
  else if (floors && x.contiguity() <= divisor && first >= divisor)
    result.divisibility = first / divisor;
  return result;
}

/// The operand if it is a positive power of two, else 0.
int64_t constantPowerOfTwo(const Facts &facts) {
  if (!facts.constant || *facts.constant <= 0 || facts.width == 1 ||
      !llvm::isPowerOf2_64(*facts.constant))
    return 0;
  return *facts.constant;
}

Axis divideBy(Operand x, Operand y, bool floors) {
  return divide(x, y.uniformMultiple(), constantPowerOfTwo(y.facts), floors,
                bothConstant(x, y));
}

/// Rounds down, whether signed or not.
Axis shiftRight(Operand x, Operand y) {
  Axis result = {1, 1, bothConstant(x, y)};
  if (!y.facts.constant || *y.facts.constant < 0 || *y.facts.constant > 61 ||
      *y.facts.constant >= x.facts.width)
    return result;
  int64_t divisor = int64_t(1) << *y.facts.constant;
  return divide(x, std::min(divisor, y.constancy()), divisor, /*floors=*/true,
                result.constancy);
}

Axis shiftLeft(Operand x, Operand y) {
  if (y.is(0))
    return x.axis();
  int64_t factor = 1;
  if (y.facts.constant && *y.facts.constant > 0)
    factor = int64_t(1) << std::min<int64_t>(*y.facts.constant, 62);
  return {1, product(x.every(), factor), bothConstant(x, y)};
}

/// `proper`: no operand is negative, or they count as unsigned.
Axis remainder(Operand x, Operand y, bool proper, Trust trust) {
  int64_t group = 1;
  if (proper)
    group = std::min(x.aligned(), y.uniformMultiple());
  if (trust == Trust::Likely)
    group = std::max(group, std::min(x.contiguity(), y.constancy()));
  return {group, std::min(x.starts(group), y.every()), bothConstant(x, y)};
}

Axis bitAnd(Operand x, Operand y) {
  Axis result;
  result.contiguity = std::max(std::min(x.aligned(), y.uniformOnes()),
                               std::min(y.aligned(), x.uniformOnes()));
  result.constancy =
      std::max({bothConstant(x, y), std::min(x.aligned(), y.uniformMultiple()),
                std::min(y.aligned(), x.uniformMultiple())});
  result.divisibility =
      std::max(x.starts(result.contiguity), y.starts(result.contiguity));
  return result;
}

/// Also exclusive-or, which differs where a bit is set in both.
Axis bitOr(Operand x, Operand y, bool exclusive) {
  Axis result;
  result.contiguity = std::max(std::min(x.aligned(), y.uniformMultiple()),
                               std::min(y.aligned(), x.uniformMultiple()));
  result.constancy = bothConstant(x, y);
  if (!exclusive)
    result.constancy =
        std::max({result.constancy, std::min(x.aligned(), y.uniformOnes()),
                  std::min(y.aligned(), x.uniformOnes())});
  result.divisibility = bothStart(x, y, result.contiguity);
  return result;
}

/// Minimum or maximum: of two aligned groups one is wholly the smaller.
Axis extremum(Operand x, Operand y, Trust trust) {
  int64_t group = std::min(x.aligned(), y.aligned());
  if (trust == Trust::Likely)
    group = std::max(group, oneMoves(x, y));
  return {group, bothStart(x, y, group), bothConstant(x, y)};
}

/// `x < y` or `x >= y` if `strict`, else `x <= y` or `x > y`; x contiguous.
int64_t uniformBound(Operand x, Operand y, bool strict) {
  return std::min(x.aligned(), strict ? y.uniformMultiple() : y.uniformOnes());
}

int64_t compare(arith::CmpIPredicate predicate, Operand x, Operand y) {
  using P = arith::CmpIPredicate;
  int64_t result = bothConstant(x, y);
  if (predicate == P::eq || predicate == P::ne)
    return std::max(result, std::min(x.contiguity(), y.contiguity()));
  bool strict = predicate == P::slt || predicate == P::sge ||
                predicate == P::ult || predicate == P::uge;
  // y > x is x < y.
  return std::max({result, std::min(x.aligned(), y.aligned()),
                   uniformBound(x, y, strict), uniformBound(y, x, !strict)});
}

/// The facts of an operand, of a scalar one as those of a tile of it.
Facts spread(const Facts &facts, Type from, Type to) {
  if (isa<RankedTensorType>(from) || !isa<RankedTensorType>(to))
    return facts;
  return splat(facts, extentsOf(to));
}

/// Fills the axes of a result with two operands.
void fill(Facts &result, const Facts &x, const Facts &y,
          llvm::function_ref<Axis(Operand, Operand)> rule) {
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    Axis axis = rule({x, dim}, {y, dim});
    result.contiguity[dim] = axis.contiguity;
    result.divisibility[dim] = axis.divisibility;
    result.constancy[dim] = axis.constancy;
  }
}

/// An operand that the bounds show to be the result of a minimum or maximum.
const Facts *chosen(const Facts &x, const Facts &y, bool largest,
                    bool isSigned) {
  if (!x.range || !y.range)
    return nullptr;
  const ConstantIntRanges &a = *x.range, &b = *y.range;
  bool xIsLess = isSigned ? a.smax().sle(b.smin()) : a.umax().ule(b.umin());
  bool yIsLess = isSigned ? b.smax().sle(a.smin()) : b.umax().ule(a.umin());
  if (xIsLess)
    return largest ? &y : &x;
  if (yIsLess)
    return largest ? &x : &y;
  return nullptr;
}

void inferExtremum(Facts &result, const Facts &x, const Facts &y, bool largest,
                   bool isSigned, Trust trust) {
  if (const Facts *one = chosen(x, y, largest, isSigned))
    return result.copyAxes(*one);
  fill(result, x, y,
       [&](Operand a, Operand b) { return extremum(a, b, trust); });
}

void inferRemainder(Facts &result, const Facts &x, const Facts &y,
                    bool isSigned, Trust trust) {
  bool proper = !isSigned || x.isNonNegative() || x.isPlace;
  // Nothing to take off.
  if (x.range && y.range &&
      (isSigned ? x.isNonNegative() && x.range->smax().slt(y.range->smin())
                : x.range->umax().ult(y.range->umin())))
    return result.copyAxes(x);
  fill(result, x, y,
       [&](Operand a, Operand b) { return remainder(a, b, proper, trust); });
}

void inferSelect(Facts &result, const Facts &condition, const Facts &x,
                 const Facts &y) {
  if (condition.constant)
    return result.copyAxes(*condition.constant ? x : y);
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    int64_t uniform = condition.constancy[dim];
    int64_t group = std::min({x.contiguity[dim], y.contiguity[dim], uniform});
    result.contiguity[dim] = group;
    result.divisibility[dim] =
        std::min(x.starts(dim, group), y.starts(dim, group));
    result.constancy[dim] =
        std::min({x.constancy[dim], y.constancy[dim], uniform});
  }
}

/// Equal operands give equal results: holds of every operation that computes
/// each element from those of the operands alone.
void inferEqual(Facts &result, ArrayRef<Facts> operands) {
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    int64_t group = kAll;
    for (const Facts &operand : operands)
      group = std::min(group, operand.constancy[dim]);
    result.constancy[dim] = group;
  }
}

/// The bounds of the results, by the rules that come with the operation.
void inferRanges(Operation *op, ArrayRef<Facts> operands, Results &results) {
  auto rules = dyn_cast<InferIntRangeInterface>(op);
  if (!rules || !results[0].range)
    return;
  SmallVector<ConstantIntRanges> ranges;
  for (const Facts &operand : operands)
    ranges.push_back(operand.range ? *operand.range
                                   : ConstantIntRanges::maxRange(0));
  rules.inferResultRanges(
      ranges, [&](Value value, const ConstantIntRanges &range) {
        Facts &result = results[cast<OpResult>(value).getResultNumber()];
        if (result.range && range.umin().getBitWidth() == result.width)
          result.range = range;
      });
}

/// Extensions and truncations, also between index and integers.
bool inferCast(Operation *op, const Facts &x, Facts &result, Trust trust) {
  if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
           arith::IndexCastUIOp>(op))
    return false;
  bool isSigned = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
  result.isPlace = x.isPlace && isSigned;
  if (result.width > x.width)
    result.copyAxes(extended(x, isSigned, trust));
  else
    result.copyAxes(x);
  return true;
}

/// Facts::isPlace of a result.
bool givesPlace(Operation *op, const Facts &x, const Facts &y) {
  if (isa<arith::DivSIOp, arith::RemSIOp>(op))
    return x.isPlace;
  auto counts = [](const Facts &facts) {
    return facts.isPlace || facts.isNonNegative();
  };
  return isa<arith::AddIOp, arith::MulIOp>(op) && (x.isPlace || y.isPlace) &&
         counts(x) && counts(y);
}

void inferBinary(Operation *op, const Facts &x, const Facts &y, Facts &result,
                 Trust trust) {
  result.isPlace = givesPlace(op, x, y);
  auto with = [&](auto rule) { fill(result, x, y, rule); };
  bool natural = trust == Trust::Likely || x.isNonNegative();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::AddIOp) { with(add); })
      .Case([&](arith::SubIOp) { with(subtract); })
      .Case([&](arith::MulIOp) { with(multiply); })
      .Case([&](arith::DivSIOp) {
        with([&](Operand a, Operand b) { return divideBy(a, b, natural); });
      })
      .Case([&](arith::DivUIOp) {
        with([&](Operand a, Operand b) { return divideBy(a, b, true); });
      })
      .Case([&](arith::FloorDivSIOp) {
        bool floors = y.isPositive();
        with([&](Operand a, Operand b) { return divideBy(a, b, floors); });
      })
      .Case([&](arith::RemSIOp) {
        inferRemainder(result, x, y, /*isSigned=*/true, trust);
      })
      .Case([&](arith::RemUIOp) {
        inferRemainder(result, x, y, /*isSigned=*/false, trust);
      })
      .Case([&](arith::ShLIOp) { with(shiftLeft); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { with(shiftRight); })
      .Case([&](arith::AndIOp) { with(bitAnd); })
      .Case([&](arith::OrIOp) {
        with([&](Operand a, Operand b) { return bitOr(a, b, false); });
      })
      .Case([&](arith::XOrIOp) {
        with([&](Operand a, Operand b) { return bitOr(a, b, true); });
      })
      .Case([&](arith::MaxSIOp) {
        inferExtremum(result, x, y, true, true, trust);
      })
      .Case([&](arith::MinSIOp) {
        inferExtremum(result, x, y, false, true, trust);
      })
      .Case([&](arith::MaxUIOp) {
        inferExtremum(result, x, y, true, false, trust);
      })
      .Case([&](arith::MinUIOp) {
        inferExtremum(result, x, y, false, false, trust);
      })
      .Case([&](arith::CmpIOp cmp) {
        with([&](Operand a, Operand b) {
          return Axis{1, 1, compare(cmp.getPredicate(), a, b)};
        });
      });
}

} // namespace

bool axis::inferElementwise(Operation *op, FactsOf of, Trust trust,
                            Results &results) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op) || op->getNumOperands() == 0)
    return false;
  for (Value value : op->getResults())
    results.push_back(Facts::unknown(value.getType()));
  SmallVector<Facts, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(
        spread(of(operand), operand.getType(), op->getResult(0).getType()));

  inferRanges(op, operands, results);
  for (Facts &result : results)
    inferEqual(result, operands);
  if (op->getNumResults() != 1)
    return true;
  if (isa<arith::SelectOp>(op))
    inferSelect(results[0], operands[0], operands[1], operands[2]);
  else if (operands.size() == 1)
    inferCast(op, operands[0], results[0], trust);
  else if (operands.size() == 2)
    inferBinary(op, operands[0], operands[1], results[0], trust);
  return true;
}
