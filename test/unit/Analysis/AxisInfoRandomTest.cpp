//===- AxisInfoRandomTest.cpp - Claims against what programs compute ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes random functions, runs them element by element on random arguments, and
// compares each value that comes up with what AxisInfo claims about it. A run
// ends where it would be undefined: a division by 0, an overflow in spite of
// `overflow<nsw>`, a slice outside its source.
//
// TERRAZZO_AXIS_SEED=<seed> repeats one function, TERRAZZO_AXIS_COUNT=<count>
// makes more or fewer of them.
//===----------------------------------------------------------------------===//

#include "AxisInfoFixture.h"
#include "RandomFunction.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstdlib>
#include <random>

using namespace mlir;
using namespace terrazzo;

namespace {

/// The elements of a value in row-major order, each of its width in bits.
using Elements = SmallVector<APInt, 0>;

/// Interprets a function and checks claims as it goes.
class Interpreter {
public:
  Interpreter(const AxisInfoAnalysis &analysis) : analysis(analysis) {}

  /// Claims of contiguity or constancy above 1 that held.
  unsigned checked = 0;
  /// What is wrong, if anything is.
  std::string failure;

  void set(Value value, Elements elements) {
    check(value, elements);
    values[value] = std::move(elements);
  }
  /// False: undefined from here on, or a claim failed.
  bool run(Block &block);

private:
  bool runFor(scf::ForOp loop);
  bool runWhile(scf::WhileOp loop);
  bool runIf(scf::IfOp branch);
  bool runOp(Operation *op);
  bool runShape(Operation *op, Elements &out);
  bool runSlice(tile::SliceOp op, Elements &out);
  bool runElementwise(Operation *op, Elements &out);

  void check(Value value, const Elements &elements);
  void checkAxis(Value value, const Elements &elements, const AxisInfo &info,
                 unsigned dim, int64_t extent, int64_t stride);
  int64_t scalar(Value value) { return values[value][0].getSExtValue(); }
  void copy(ValueRange to, ValueRange from) {
    SmallVector<Elements, 0> all; // at once: they may be swapped
    for (Value value : from)
      all.push_back(values[value]);
    for (auto [value, elements] : llvm::zip_equal(to, all))
      set(value, elements);
  }

  const AxisInfoAnalysis &analysis;
  DenseMap<Value, Elements> values;
};

SmallVector<int64_t> extentsOf(Type type) {
  SmallVector<int64_t> extents(tile::getShape(type));
  if (extents.empty())
    extents.push_back(1);
  return extents;
}

int64_t stepOf(Type type) {
  auto ptr = dyn_cast<tile::PtrType>(getElementTypeOrSelf(type));
  return ptr ? ptr.getPointeeType().getIntOrFloatBitWidth() / 8 : 1;
}

void Interpreter::checkAxis(Value value, const Elements &elements,
                            const AxisInfo &info, unsigned dim, int64_t extent,
                            int64_t stride) {
  auto fail = [&](const char *what, int64_t claimed, size_t at) {
    failure.clear();
    llvm::raw_string_ostream(failure)
        << what << " " << claimed << " along " << dim << " is wrong at element "
        << at << " of " << value;
  };
  int64_t contiguity = info.contiguity[dim], constancy = info.constancy[dim];
  if (extent % contiguity || extent % constancy)
    fail("a group that does not divide the extent:", contiguity, 0);
  checked += (contiguity > 1) + (constancy > 1);
  int64_t step = stepOf(value.getType());
  for (size_t at = 0; at < elements.size(); ++at) {
    int64_t index = at / stride % extent;
    if (index % contiguity && elements[at] != elements[at - stride] + step)
      fail("contiguity", contiguity, at);
    if (index % constancy && elements[at] != elements[at - stride])
      fail("constancy", constancy, at);
    if (index % contiguity == 0 && !elements[at].isZero() &&
        elements[at].countr_zero() < llvm::Log2_64(info.divisibility[dim]))
      fail("divisibility", info.divisibility[dim], at);
  }
}

void Interpreter::check(Value value, const Elements &elements) {
  AxisInfo info = analysis.get(value);
  SmallVector<int64_t> extents = extentsOf(value.getType());
  int64_t stride = elements.size();
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    stride /= extents[dim];
    checkAxis(value, elements, info, dim, extents[dim], stride);
  }
  for (const APInt &element : elements)
    if (info.constant && element != APInt(element.getBitWidth(), *info.constant,
                                          /*isSigned=*/true,
                                          /*implicitTrunc=*/true))
      failure = "a value is not the constant that is claimed";
}

bool Interpreter::run(Block &block) {
  for (Operation &op : block.without_terminator()) {
    bool defined = llvm::TypeSwitch<Operation *, bool>(&op)
                       .Case([&](scf::ForOp loop) { return runFor(loop); })
                       .Case([&](scf::WhileOp loop) { return runWhile(loop); })
                       .Case([&](scf::IfOp branch) { return runIf(branch); })
                       .Default([&](Operation *each) { return runOp(each); });
    if (!defined || !failure.empty())
      return false;
  }
  return true;
}

bool Interpreter::runFor(scf::ForOp loop) {
  int64_t end = scalar(loop.getUpperBound()), step = scalar(loop.getStep());
  if (step <= 0)
    return false;
  copy(loop.getRegionIterArgs(), loop.getInitArgs());
  int64_t turns = 0;
  for (int64_t at = scalar(loop.getLowerBound()); at < end; at += step) {
    if (++turns > 8)
      return false;
    set(loop.getInductionVar(), {APInt(32, at, /*isSigned=*/true)});
    if (!run(*loop.getBody()))
      return false;
    copy(loop.getRegionIterArgs(), loop.getYieldedValues());
  }
  copy(loop.getResults(), loop.getRegionIterArgs());
  return true;
}

bool Interpreter::runWhile(scf::WhileOp loop) {
  copy(loop.getBeforeArguments(), loop.getInits());
  for (int64_t turns = 0; turns < 8; ++turns) {
    if (!run(*loop.getBeforeBody()))
      return false;
    scf::ConditionOp condition = loop.getConditionOp();
    if (values[condition.getCondition()][0].isZero()) {
      copy(loop.getResults(), condition.getArgs());
      return true;
    }
    copy(loop.getAfterArguments(), condition.getArgs());
    if (!run(*loop.getAfterBody()))
      return false;
    copy(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
  }
  return false;
}

bool Interpreter::runIf(scf::IfOp branch) {
  bool taken = !values[branch.getCondition()][0].isZero();
  if (!run(taken ? *branch.thenBlock() : *branch.elseBlock()))
    return false;
  copy(branch.getResults(),
       (taken ? branch.thenYield() : branch.elseYield()).getOperands());
  return true;
}

bool Interpreter::runOp(Operation *op) {
  Elements out;
  if (auto split = dyn_cast<tile::SplitOp>(op)) {
    Elements halves[2];
    for (auto [at, value] : llvm::enumerate(values[split.getSource()]))
      halves[at % 2].push_back(value);
    set(split.getLhs(), halves[0]);
    set(split.getRhs(), halves[1]);
    return true;
  }
  bool defined =
      isa<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op)
          ? runElementwise(op, out)
          : runShape(op, out);
  if (defined)
    set(op->getResult(0), out);
  return defined;
}

//===----------------------------------------------------------------------===//
// Elements from elsewhere
//===----------------------------------------------------------------------===//

SmallVector<int64_t> coordinates(int64_t at, ArrayRef<int64_t> extents) {
  SmallVector<int64_t> result(extents.size());
  for (unsigned dim = extents.size(); dim-- > 0; at /= extents[dim])
    result[dim] = at % extents[dim];
  return result;
}

int64_t position(ArrayRef<int64_t> index, ArrayRef<int64_t> extents) {
  int64_t at = 0;
  for (auto [i, extent] : llvm::zip_equal(index, extents))
    at = at * extent + i;
  return at;
}

bool Interpreter::runSlice(tile::SliceOp op, Elements &out) {
  SmallVector<int64_t> from = extentsOf(op.getSource().getType());
  SmallVector<int64_t> sizes(op.getSizes());
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t at = 0; at < count; ++at) {
    SmallVector<int64_t> index = coordinates(at, sizes);
    for (unsigned dim = 0; dim < index.size(); ++dim) {
      index[dim] =
          index[dim] * op.getStrides()[dim] + scalar(op.getOffsets()[dim]);
      if (index[dim] < 0 || index[dim] >= from[dim])
        return false;
    }
    out.push_back(values[op.getSource()][position(index, from)]);
  }
  return true;
}

bool Interpreter::runShape(Operation *op, Elements &out) {
  Type type = op->getResult(0).getType();
  SmallVector<int64_t> extents = extentsOf(type);
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  // Reads the elements of operand 0 at an index that depends on that of the
  // result.
  auto read = [&](auto indexOf) {
    SmallVector<int64_t> from = extentsOf(op->getOperand(0).getType());
    for (int64_t at = 0; at < count; ++at)
      out.push_back(values[op->getOperand(0)]
                          [position(indexOf(coordinates(at, extents)), from)]);
    return true;
  };
  using Index = SmallVector<int64_t>;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ConstantOp constant) {
        if (auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
          llvm::append_range(out, dense.getValues<APInt>());
        else
          out.push_back(cast<IntegerAttr>(constant.getValue()).getValue());
        return true;
      })
      .Case([&](tile::ArangeOp arange) {
        for (int64_t at = 0; at < count; ++at)
          out.push_back(APInt(32, int32_t(arange.getStart()) + at, true));
        return true;
      })
      .Case([&](tile::SplatOp splat) {
        out.assign(count, values[splat.getSource()][0]);
        return true;
      })
      .Case([&](tile::BroadcastOp broadcast) {
        Index from = extentsOf(broadcast.getSource().getType());
        return read([&](Index index) {
          for (auto [i, extent] : llvm::zip_equal(index, from))
            i = extent == 1 ? 0 : i;
          return index;
        });
      })
      .Case<tile::ExpandDimsOp, tile::ReshapeOp, tile::IntToPtrOp,
            tile::PtrToIntOp, tile::PtrCastOp>([&](Operation *each) {
        out = values[each->getOperand(0)];
        return true;
      })
      .Case([&](tile::TransposeOp transpose) {
        return read([&](Index index) {
          Index source(index.size());
          for (auto [dim, from] : llvm::enumerate(transpose.getOrder()))
            source[from] = index[dim];
          return source;
        });
      })
      .Case([&](tile::FlipOp flip) {
        return read([&](Index index) {
          index[flip.getAxis()] =
              extents[flip.getAxis()] - 1 - index[flip.getAxis()];
          return index;
        });
      })
      .Case([&](tile::JoinOp join) {
        for (auto [a, b] :
             llvm::zip_equal(values[join.getLhs()], values[join.getRhs()]))
          out.append({a, b});
        return true;
      })
      .Case([&](tile::ConcatOp concat) {
        unsigned axis = concat.getAxis();
        Index left = extentsOf(concat.getLhs().getType());
        Index right = extentsOf(concat.getRhs().getType());
        for (int64_t at = 0; at < count; ++at) {
          Index index = coordinates(at, extents);
          bool isLeft = index[axis] < left[axis];
          if (!isLeft)
            index[axis] -= left[axis];
          out.push_back(isLeft
                            ? values[concat.getLhs()][position(index, left)]
                            : values[concat.getRhs()][position(index, right)]);
        }
        return true;
      })
      .Case([&](tile::SliceOp slice) { return runSlice(slice, out); })
      .Case([&](tile::GatherOp gather) {
        Index from = extentsOf(gather.getSource().getType());
        for (int64_t at = 0; at < count; ++at) {
          Index index = coordinates(at, extents);
          int64_t picked = values[gather.getIndices()][at].getSExtValue();
          if (picked < 0 || picked >= from[gather.getAxis()])
            return false;
          index[gather.getAxis()] = picked;
          out.push_back(values[gather.getSource()][position(index, from)]);
        }
        return true;
      })
      .Case([&](tile::AddPtrOp add) {
        for (auto [ptr, offset] :
             llvm::zip_equal(values[add.getPtr()], values[add.getOffset()]))
          out.push_back(ptr + offset.sextOrTrunc(64) * stepOf(type));
        return true;
      });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

bool compare(arith::CmpIPredicate predicate, const APInt &a, const APInt &b) {
  return arith::applyCmpPredicate(predicate, a, b);
}

/// Adds, subtracts, multiplies; nothing if a promised overflow happens.
std::optional<APInt> ring(Operation *op, const APInt &a, const APInt &b) {
  bool overflow = false;
  APInt exact = isa<arith::AddIOp>(op)   ? a.sadd_ov(b, overflow)
                : isa<arith::SubIOp>(op) ? a.ssub_ov(b, overflow)
                                         : a.smul_ov(b, overflow);
  auto flags = cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  if (overflow && flags.hasNoSignedWrap())
    return std::nullopt;
  return exact;
}

std::optional<APInt> divide(Operation *op, const APInt &a, const APInt &b) {
  if (b.isZero() || (a.isMinSignedValue() && b.isAllOnes()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, APInt>(op)
      .Case([&](arith::DivSIOp) { return a.sdiv(b); })
      .Case([&](arith::DivUIOp) { return a.udiv(b); })
      .Case([&](arith::RemSIOp) { return a.srem(b); })
      .Case([&](arith::RemUIOp) { return a.urem(b); })
      .Case([&](arith::FloorDivSIOp) {
        return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
      });
}

std::optional<APInt> binary(Operation *op, const APInt &a, const APInt &b) {
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return ring(op, a, b);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp>(op))
    return divide(op, a, b);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) &&
      b.uge(b.getBitWidth()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, APInt>(op)
      .Case([&](arith::ShLIOp) { return a.shl(b); })
      .Case([&](arith::ShRSIOp) { return a.ashr(b); })
      .Case([&](arith::ShRUIOp) { return a.lshr(b); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::MaxSIOp) { return llvm::APIntOps::smax(a, b); })
      .Case([&](arith::MinSIOp) { return llvm::APIntOps::smin(a, b); })
      .Case([&](arith::MaxUIOp) { return llvm::APIntOps::umax(a, b); })
      .Case([&](arith::MinUIOp) { return llvm::APIntOps::umin(a, b); })
      .Case([&](arith::CmpIOp cmp) {
        return APInt(1, compare(cmp.getPredicate(), a, b));
      });
}

bool Interpreter::runElementwise(Operation *op, Elements &out) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  unsigned width = element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
  const Elements &first = values[op->getOperand(0)];
  if (op->getNumOperands() == 1) {
    for (const APInt &value : first)
      out.push_back(isa<arith::ExtUIOp>(op) ? value.zext(width)
                                            : value.sextOrTrunc(width));
    return true;
  }
  const Elements &second = values[op->getOperand(1)];
  if (isa<arith::SelectOp>(op)) {
    const Elements &third = values[op->getOperand(2)];
    for (size_t at = 0; at < second.size(); ++at)
      out.push_back(first[first.size() == 1 ? 0 : at].isZero() ? third[at]
                                                               : second[at]);
    return true;
  }
  for (auto [a, b] : llvm::zip_equal(first, second)) {
    std::optional<APInt> value = binary(op, a, b);
    if (!value)
      return false;
    out.push_back(*value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

class AxisInfoRandomTest : public AxisInfoFixture {
protected:
  /// Makes, analyses and runs one function. Claims that held.
  unsigned runOne(unsigned seed) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    axistest::RandomFunction random(*module, seed);
    func::FuncOp func = random.make();
    EXPECT_TRUE(succeeded(verify(*module)));
    AxisInfoAnalysis analysis(func);
    unsigned checked = 0;
    for (unsigned round = 0; round < 4; ++round) {
      Interpreter interpreter(analysis);
      for (BlockArgument argument : func.getArguments())
        interpreter.set(argument, {random.argument(argument)});
      interpreter.run(func.getBody().front());
      checked += interpreter.checked;
      if (interpreter.failure.empty())
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << *module;
      ADD_FAILURE() << "TERRAZZO_AXIS_SEED=" << seed << ": "
                    << interpreter.failure << "\n"
                    << text;
      return checked;
    }
    return checked;
  }
};

TEST_F(AxisInfoRandomTest, ClaimsHold) {
  if (const char *seed = std::getenv("TERRAZZO_AXIS_SEED")) {
    runOne(std::strtoul(seed, nullptr, 10));
    return;
  }
  const char *more = std::getenv("TERRAZZO_AXIS_COUNT");
  unsigned count = more ? std::strtoul(more, nullptr, 10) : 10000;
  unsigned first = std::random_device()() % 1000000000;
  RecordProperty("first_seed", int(first));
  uint64_t checked = 0;
  for (unsigned seed = first; seed < first + count && !HasFailure(); ++seed)
    checked += runOne(seed);
  // Not a test of nothing: most functions must come to claims worth checking.
  if (!HasFailure())
    EXPECT_GT(checked, 20u * count) << "from seed " << first;
}

} // namespace
