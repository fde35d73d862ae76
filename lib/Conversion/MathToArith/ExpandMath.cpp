//===- ExpandMath.cpp - Elementary functions as arithmetic ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Finds the ops that a target would turn into library calls and replaces each
// by a formula of this folder. One walk, no worklist: formulas emit only ops
// that need no expansion themselves. Contract: Passes.td. Tests:
// test/Conversion/MathToArith.

#include "Functions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "terrazzo/Conversion/MathToArith.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace terrazzo {

#define GEN_PASS_DEF_EXPANDMATH
#include "terrazzo/Conversion/Passes.h.inc"

namespace {
using expand::Emitter;
using expand::Expr;
using Unary = Expr (*)(Expr);
using Binary = Expr (*)(Expr, Expr);

template <typename Op>
bool isOp(Operation *op) {
  return isa<Op>(op);
}

struct UnaryRule {
  bool (*matches)(Operation *);
  Unary formula;
};
constexpr UnaryRule kUnaryRules[] = {
    {isOp<math::ExpOp>, expand::expandExp},
    {isOp<math::Exp2Op>, expand::expandExp2},
    {isOp<math::ExpM1Op>, expand::expandExpm1},
    {isOp<math::LogOp>, expand::expandLog},
    {isOp<math::Log2Op>, expand::expandLog2},
    {isOp<math::Log10Op>, expand::expandLog10},
    {isOp<math::Log1pOp>, expand::expandLog1p},
    {isOp<math::TanhOp>, expand::expandTanh},
    {isOp<math::ErfOp>, expand::expandErf},
    {isOp<math::ErfcOp>, expand::expandErfc},
    {isOp<math::RsqrtOp>, expand::expandRsqrt},
    {isOp<math::SinOp>, expand::expandSin},
    {isOp<math::CosOp>, expand::expandCos},
    {isOp<math::TanOp>, expand::expandTan},
    {isOp<math::AtanOp>, expand::expandAtan},
    {isOp<math::AsinOp>, expand::expandAsin},
    {isOp<math::AcosOp>, expand::expandAcos},
    {isOp<math::SinhOp>, expand::expandSinh},
    {isOp<math::CoshOp>, expand::expandCosh},
    {isOp<math::AsinhOp>, expand::expandAsinh},
    {isOp<math::AcoshOp>, expand::expandAcosh},
    {isOp<math::AtanhOp>, expand::expandAtanh},
    {isOp<math::CbrtOp>, expand::expandCbrt},
};

Value expandConversion(Operation *op, Emitter &emitter) {
  Expr x(emitter, op->getOperand(0));
  Type from = x.element();
  Type to = getElementTypeOrSelf(op->getResult(0));
  const ExpandMathTarget &target = emitter.target;
  auto isKnown = [](Type type) {
    return expand::isNarrowFloat(type) || type.isF32() || type.isF64();
  };
  if (!isKnown(from) || !isKnown(to))
    return {};
  if (isa<arith::ExtFOp>(op)) {
    bool native = !expand::isNarrowFloat(from) ||
                  (from.isF16() && to.isF32() && target.f16Conversions);
    return native ? Value() : expand::widen(x, to).get();
  }
  auto mode = cast<arith::TruncFOp>(op).getRoundingmode();
  bool towardZero = mode && *mode == arith::RoundingMode::toward_zero;
  if (mode && !towardZero && *mode != arith::RoundingMode::to_nearest_even)
    return {};
  bool native = from.isF64()
                    ? to.isF32()
                    : from.isF32() && !expand::needsConversion(to, target);
  return native && !towardZero ? Value()
                               : expand::narrow(x, to, towardZero).get();
}

/// Functions of f32 that the hardware has, and what is one step from them.
/// Nothing for an op that is neither.
std::optional<Value> expandApproximate(Operation *op, Emitter &emitter) {
  ImplicitLocOpBuilder &b = emitter.builder;
  if (isa<math::Exp2Op, math::Log2Op, math::RsqrtOp>(op))
    return Value();
  if (isa<arith::DivFOp>(op)) {
    if (!op->hasAttr(kExactAttr))
      op->setAttr(kApproximateAttr, b.getUnitAttr());
    return Value();
  }
  if (isa<math::ExpOp>(op))
    return math::Exp2Op::create(
               b, (Expr(emitter, op->getOperand(0)) * 0x1.715476p+0).get())
        .getResult();
  if (isa<math::LogOp>(op))
    return (Expr(emitter, math::Log2Op::create(b, op->getOperand(0))) *
            0x1.62e43p-1)
        .get();
  return std::nullopt;
}

/// The results that replace `op`, or none when it may stay.
SmallVector<Value, 2> expandOp(Operation *op, Emitter &emitter) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return {};
  Type operand = getElementTypeOrSelf(op->getOperand(0));
  Type result = getElementTypeOrSelf(op->getResult(0));
  auto single = [](Value v) {
    return v ? SmallVector<Value, 2>{v} : SmallVector<Value, 2>{};
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return single(expandConversion(op, emitter));
  if (isa<arith::BitcastOp, arith::SelectOp, arith::ScalingExtFOp,
          arith::ScalingTruncFOp>(op))
    return {};
  if (expand::isNarrowFloat(operand) || expand::isNarrowFloat(result)) {
    if (isa<math::SincosOp>(op)) {
      Expr x = expand::widen(Expr(emitter, op->getOperand(0)),
                             emitter.builder.getF32Type());
      auto [sine, cosine] = expand::expandSinCos(x);
      return {expand::narrow(sine, operand).get(),
              expand::narrow(cosine, operand).get()};
    }
    return single(expand::expandNarrow(op, emitter));
  }
  if (!operand.isF32() && !operand.isF64())
    return {};
  if (emitter.target.approximate && operand.isF32())
    if (std::optional<Value> value = expandApproximate(op, emitter))
      return single(*value);
  if (isa<math::SincosOp>(op)) {
    auto [sine, cosine] =
        expand::expandSinCos(Expr(emitter, op->getOperand(0)));
    return {sine.get(), cosine.get()};
  }
  if (isa<arith::RemFOp>(op))
    return single(expand::expandRemainder(Expr(emitter, op->getOperand(0)),
                                          Expr(emitter, op->getOperand(1)))
                      .get());
  return single(expand::expandWide(op, op->getOperands(), emitter));
}

bool isCandidate(Operation *op) {
  Dialect *dialect = op->getDialect();
  return isa_and_nonnull<math::MathDialect, arith::ArithDialect>(dialect) &&
         !isa<arith::ConstantOp>(op);
}

struct ExpandAny : RewritePattern {
  ExpandAny(MLIRContext *context, const ExpandMathTarget &target)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        target(target) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isCandidate(op))
      return failure();
    Emitter emitter(ImplicitLocOpBuilder(op->getLoc(), rewriter), target);
    SmallVector<Value, 2> values = expandOp(op, emitter);
    if (values.empty())
      return rewriter.notifyMatchFailure(op, "native on the target");
    rewriter.replaceOp(op, values);
    return success();
  }

  ExpandMathTarget target;
};

bool isStrict(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr("tile.strict"))
      return true;
  return false;
}

bool hasHalves(Operation *root) {
  auto isHalf = [](Type type) { return getElementTypeOrSelf(type).isF16(); };
  return root
      ->walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isHalf)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// maxnumf and minnumf as comparisons: the second operand where the first is
/// NaN, the first where the second is.
void selectMinMax(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value x = op->getOperand(0), y = op->getOperand(1);
    auto order = isa<arith::MaxNumFOp>(op) ? arith::CmpFPredicate::OGT
                                           : arith::CmpFPredicate::OLT;
    Value wins = arith::CmpFOp::create(b, order, y, x);
    Value first = arith::SelectOp::create(b, wins, y, x);
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    op->replaceAllUsesWith(
        arith::SelectOp::create(b, isNaN, y, first)->getResults());
    op->erase();
  }
}

/// What the formulas use too, of f32 and f64, where there is no instruction.
class LateExpansion {
public:
  LateExpansion(Operation *root, const ExpandMathTarget &target)
      : root(root), target(target),
        emitter(ImplicitLocOpBuilder(root->getLoc(), root->getContext()),
                target) {
    emitter.shareConstants = true;
  }

  void run() {
    SmallVector<Operation *> ops;
    root->walk([&](Operation *op) {
      if (isLate(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      emitter.builder.setInsertionPoint(op);
      emitter.builder.setLoc(op->getLoc());
      op->getResult(0).replaceAllUsesWith(expand(op));
      op->erase();
    }
  }

private:
  bool isLate(Operation *op) const {
    bool isKind = (!target.fma && isa<math::FmaOp>(op)) ||
                  (!target.rounding && ruleOf(op));
    if (!isKind)
      return false;
    Type element = getElementTypeOrSelf(op->getResult(0));
    return element.isF32() || element.isF64();
  }

  static const UnaryRule *ruleOf(Operation *op) {
    static const UnaryRule rules[] = {
        {isOp<math::FloorOp>, expand::expandFloor},
        {isOp<math::CeilOp>, expand::expandCeil},
        {isOp<math::TruncOp>, expand::expandTrunc},
        {isOp<math::RoundOp>, expand::expandRound},
        {isOp<math::RoundEvenOp>, expand::expandRoundEven},
    };
    for (const UnaryRule &rule : rules)
      if (rule.matches(op))
        return &rule;
    return nullptr;
  }

  Value expand(Operation *op) {
    if (const UnaryRule *rule = ruleOf(op))
      return rule->formula(Expr(emitter, op->getOperand(0))).get();
    auto module = dyn_cast<ModuleOp>(root);
    if (module && getElementTypeOrSelf(op->getResult(0)).isF64())
      return func::CallOp::create(emitter.builder, fmaFunction(module, op),
                                  op->getOperands())
          .getResult(0);
    return expandFma(emitter, op->getOperands());
  }

  static Value expandFma(Emitter &emitter, ValueRange operands) {
    return expand::expandFma(Expr(emitter, operands[0]),
                             Expr(emitter, operands[1]),
                             Expr(emitter, operands[2]))
        .get();
  }

  /// The function that computes the fma of f64 `op`, of its type: too long to
  /// be written out for each coefficient of a polynomial.
  func::FuncOp fmaFunction(ModuleOp module, Operation *op) {
    Type type = op->getResult(0).getType();
    func::FuncOp &function = functions[type];
    if (function)
      return function;
    OpBuilder b(module.getContext());
    function = func::FuncOp::create(
        b, op->getLoc(), "fma",
        b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
    function.setPrivate();
    function->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
    Block *body = function.addEntryBlock();
    Emitter inside(
        ImplicitLocOpBuilder(op->getLoc(), OpBuilder::atBlockEnd(body)),
        target);
    inside.shareConstants = true;
    Value result = expandFma(inside, body->getArguments());
    func::ReturnOp::create(inside.builder, result);
    // Renames it where it has to.
    SymbolTable(module).insert(function);
    return function;
  }

  Operation *root;
  const ExpandMathTarget &target;
  Emitter emitter;
  DenseMap<Type, func::FuncOp> functions;
};

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    ExpandMathTarget target;
    target.bf16Conversions = bf16Conversions;
    target.f16Conversions = f16Conversions;
    target.f16Arithmetic = f16Arithmetic;
    target.fma = fma;
    target.rounding = rounding;
    if (auto chip = tile::TargetAttr::of(getOperation())) {
      target.bf16Conversions |= chip.has(tile::Units::Bf16);
      target.f16Conversions &= chip.has(tile::Units::F16);
      target.f16Arithmetic |= chip.has(tile::Units::F16Arithmetic);
      target.fma &= chip.has(tile::Units::Fma);
      target.rounding &= chip.has(tile::Units::Rounding);
      target.selectMinMax = chip.has(tile::Units::SelectMinMax);
      target.approximate =
          chip.has(tile::Units::Approximate) && !isStrict(getOperation());
    }
    Emitter emitter(
        ImplicitLocOpBuilder(getOperation()->getLoc(), &getContext()), target);
    emitter.shareConstants = true;
    getOperation()->walk([&](Operation *op) {
      if (!isCandidate(op))
        return;
      emitter.builder.setInsertionPoint(op);
      emitter.builder.setLoc(op->getLoc());
      SmallVector<Value, 2> values = expandOp(op, emitter);
      if (values.empty())
        return;
      op->replaceAllUsesWith(values);
      op->erase();
    });
    LateExpansion(getOperation(), target).run();
    if (target.selectMinMax && hasHalves(getOperation()))
      selectMinMax(getOperation());
  }
};
} // namespace

Value expand::expandWide(Operation *op, ValueRange operands, Emitter &emitter) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return {};
  Expr x(emitter, operands[0]);
  for (const UnaryRule &rule : kUnaryRules)
    if (rule.matches(op))
      return rule.formula(x).get();
  if (isa<math::PowFOp>(op))
    return expandPow(x, Expr(emitter, operands[1])).get();
  if (isa<math::Atan2Op>(op))
    return expandAtan2(x, Expr(emitter, operands[1])).get();
  return {};
}

void populateExpandMathPatterns(RewritePatternSet &patterns,
                                const ExpandMathTarget &target) {
  patterns.add<ExpandAny>(patterns.getContext(), target);
}

} // namespace terrazzo
