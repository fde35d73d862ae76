//===- SplitFunctions.cpp - Long functions to short ones ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that is too long is cut into runs of operations, inner blocks first:
//
//   for .. { a; b; c; d }  =>  for .. { part0(); part1() }
//
// A run's arguments are the values that it reads, its results those that others
// read; constants are repeated. Contract: Passes.td. Every case:
// test/Conversion/SplitFunctions/split-functions.mlir.
//===----------------------------------------------------------------------===//

#include "terrazzo/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_SPLITFUNCTIONS
#include "terrazzo/Conversion/Passes.h.inc"

namespace {

/// Operations of one block, in order.
using Run = SmallVector<Operation *>;

/// What stays in its block: stack memory lives as long as the function that
/// allocates it, and constants are repeated wherever they are read.
bool stays(Operation *op) {
  return isa<LLVM::AllocaOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether memory is only loaded from and stored to, at offsets: then no
/// pointer to it hides in an integer or elsewhere in memory.
bool isPlain(Value pointer) {
  return llvm::all_of(pointer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<LLVM::GEPOp>(user))
      return isPlain(user->getResult(0));
    auto store = dyn_cast<LLVM::StoreOp>(user);
    return isa<LLVM::LoadOp>(user) || (store && store.getValue() != use.get());
  });
}

/// What a pointer was computed from.
Value baseOf(Value pointer) {
  while (auto offset = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = offset.getBase();
  return pointer;
}

class Splitter {
public:
  Splitter(ModuleOp module, int64_t limit, int64_t part)
      : symbols(module), limit(limit), part(part) {}

  void split(func::FuncOp func) {
    name = func.getSymName().str();
    func.walk([&](LLVM::AllocaOp memory) {
      if (isPlain(memory))
        plain.insert(memory);
    });
    for (Block &block : func.getBody())
      shorten(block);
  }

private:
  /// Cuts a block and those in it; returns how many operations are left.
  int64_t shorten(Block &block) {
    int64_t total;
    SmallVector<std::pair<Operation *, int64_t>> weights;
    for (Operation &op : block.without_terminator()) {
      int64_t weight = stays(&op) ? 0 : 1;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          weight += shorten(inner);
      weights.push_back({&op, weight});
    }
    do {
      total = 1;
      for (auto [op, weight] : weights)
        total += weight;
      if (total <= limit)
        return total;
    } while (cut(weights));
    return total;
  }

  /// Cuts a block's operations into runs of `part` or so; false if there is
  /// nothing to cut.
  bool cut(SmallVectorImpl<std::pair<Operation *, int64_t>> &weights) {
    SmallVector<std::pair<Operation *, int64_t>> left;
    Run run;
    int64_t inRun = 0;
    bool isShorter = false;
    auto close = [&] {
      if (run.size() > 1 || inRun > 1) {
        isShorter |= inRun > 1;
        left.push_back({outline(run), 1});
      } else if (!run.empty()) {
        left.push_back({run.front(), inRun});
      }
      run.clear();
      inRun = 0;
    };
    for (auto [op, weight] : weights) {
      if (stays(op)) {
        left.push_back({op, weight});
        continue;
      }
      if (inRun > 0 && inRun + weight > part)
        close();
      run.push_back(op);
      inRun += weight;
    }
    close();
    weights.assign(left.begin(), left.end());
    return isShorter;
  }

  static bool isIn(const llvm::DenseSet<Operation *> &run, Block *block,
                   Operation *op) {
    Operation *top = block->findAncestorOpInBlock(*op);
    return top && run.contains(top);
  }

  /// The values from outside that a run reads.
  static llvm::SetVector<Value>
  inputsOf(const Run &run, const llvm::DenseSet<Operation *> &members) {
    llvm::SetVector<Value> values;
    Block *block = run.front()->getBlock();
    for (Operation *top : run)
      top->walk([&](Operation *op) {
        for (Value operand : op->getOperands()) {
          Operation *owner = operand.getDefiningOp();
          if (!owner)
            owner = operand.getParentBlock()->getParentOp();
          bool isOwn = isIn(members, block, owner);
          if (!isOwn)
            values.insert(operand);
        }
      });
    return values;
  }

  static SmallVector<Value>
  neededBehind(const Run &run, const llvm::DenseSet<Operation *> &members) {
    SmallVector<Value> values;
    Block *block = run.front()->getBlock();
    for (Operation *op : run)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !isIn(members, block, user);
            }))
          values.push_back(result);
    return values;
  }

  /// Moves a run to a function of its own; returns the call of it.
  Operation *outline(const Run &run) {
    llvm::DenseSet<Operation *> members(run.begin(), run.end());
    SmallVector<Value> arguments, constants;
    for (Value value : inputsOf(run, members)) {
      Operation *owner = value.getDefiningOp();
      bool isConstant = owner && owner->hasTrait<OpTrait::ConstantLike>();
      (isConstant ? constants : arguments).push_back(value);
    }
    SmallVector<Value> results = neededBehind(run, members);

    Location loc = run.front()->getLoc();
    OpBuilder b(run.front()->getContext());
    auto func = func::FuncOp::create(
        loc, name + ".part",
        b.getFunctionType(TypeRange(arguments), TypeRange(results)));
    func.setPrivate();
    func->setAttr("passthrough", b.getStrArrayAttr({"noinline", "optsize"}));
    func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                      b.getContext(), LLVM::Linkage::Internal));
    symbols.insert(func);
    // Of memory that a run gets no second pointer to, LLVM may know it.
    for (auto [i, value] : llvm::enumerate(arguments))
      if (plain.contains(value) && llvm::count_if(arguments, [&](Value other) {
                                     return baseOf(other) == value;
                                   }) == 1)
        func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
    Block *entry = func.addEntryBlock();

    b.setInsertionPointAfter(run.back());
    auto call = func::CallOp::create(b, loc, func, arguments);
    for (auto [inner, outer] : llvm::zip_equal(results, call.getResults()))
      inner.replaceUsesWithIf(outer, [&](OpOperand &use) {
        return !isIn(members, call->getBlock(), use.getOwner());
      });
    b.setInsertionPointToStart(entry);
    llvm::DenseMap<Value, Value> inside;
    for (auto [outer, argument] :
         llvm::zip_equal(arguments, entry->getArguments()))
      inside[outer] = argument;
    for (Value constant : constants)
      inside[constant] = b.clone(*constant.getDefiningOp())->getResult(0);
    for (Operation *top : run)
      top->walk([&](Operation *op) {
        for (OpOperand &operand : op->getOpOperands())
          if (Value now = inside.lookup(operand.get()))
            operand.set(now);
      });
    for (Operation *op : run)
      op->moveBefore(entry, entry->end());
    b.setInsertionPointToEnd(entry);
    func::ReturnOp::create(b, loc, results);
    return call;
  }

  SymbolTable symbols;
  int64_t limit, part;
  llvm::DenseSet<Value> plain;
  std::string name;
};

struct SplitFunctions : impl::SplitFunctionsBase<SplitFunctions> {
  using SplitFunctionsBase::SplitFunctionsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    Splitter splitter(getOperation(), limit, part);
    for (func::FuncOp func : functions)
      splitter.split(func);
  }
};

} // namespace
} // namespace terrazzo
