//===- Numbering.cpp - Where accesses stand in LLVM IR --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbering.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;
using namespace terrazzo::order;

/// Lines: of places from 1 on, of barriers from here on.
static constexpr unsigned kFirstBarrier = 1 << 20;

std::optional<unsigned> Numbering::barrierOf(unsigned line) const {
  if (line < kFirstBarrier || line - kFirstBarrier >= barrierCount)
    return std::nullopt;
  return line - kFirstBarrier;
}

std::optional<unsigned> Numbering::placeOf(unsigned line,
                                           const AAMDNodes &aliases) const {
  if (aliases.Scope)
    for (const MDOperand &operand : aliases.Scope->operands())
      if (auto found = scopes.find(dyn_cast<MDNode>(operand));
          found != scopes.end())
        return found->second;
  if (line < 1 || line > places.size())
    return std::nullopt;
  return line - 1;
}

bool terrazzo::order::isOrdered(unsigned addressSpace) {
  return addressSpace == 0 || addressSpace == 1 || addressSpace == 3;
}

static bool isBarrier(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().contains("barrier");
}

/// Whether an instruction accesses memory that threads may share. What nobody
/// writes while the kernel runs is no matter.
static bool isAccess(const Instruction &instruction) {
  if (!instruction.mayReadOrWriteMemory() || isa<FenceInst>(instruction) ||
      instruction.isDebugOrPseudoInst() ||
      instruction.hasMetadata(LLVMContext::MD_invariant_load))
    return false;
  auto isShared = [](const Value *operand) {
    if (!operand->getType()->isPointerTy() ||
        !isOrdered(operand->getType()->getPointerAddressSpace()))
      return false;
    auto *global = dyn_cast<GlobalVariable>(getUnderlyingObject(operand));
    return !global || !global->isConstant();
  };
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return any_of(call->args(), isShared);
  return any_of(instruction.operands(), isShared);
}

static Graph graphOf(const Function &function,
                     const DenseMap<const Instruction *, unsigned> &numbers,
                     unsigned barrierCount) {
  DenseMap<const BasicBlock *, unsigned> index;
  for (const BasicBlock &block : function)
    index.insert({&block, index.size()});
  Graph graph(index.size(), barrierCount);
  for (const BasicBlock &block : function) {
    Graph::Block &to = graph.block(index.lookup(&block));
    for (const BasicBlock *successor : successors(&block))
      to.successors.push_back(index.lookup(successor));
    for (const Instruction &instruction : block)
      if (auto found = numbers.find(&instruction); found != numbers.end())
        to.steps.push_back({isBarrier(instruction), found->second});
  }
  return graph;
}

/// The number of a place that is like `wanted`.
static unsigned findPlace(Numbering &result, const Place &wanted,
                          const Instruction &access) {
  auto *found = find_if(result.places, [&](const Place &place) {
    return place.turn == wanted.turn && place.ever == wanted.ever;
  });
  if (found != result.places.end())
    return found - result.places.begin();
  result.places.push_back(wanted);
  raw_string_ostream(result.places.back().example) << access;
  return result.places.size() - 1;
}

namespace {
/// Puts numbers on the instructions of a function.
class Labels {
public:
  Labels(Function &function, DISubprogram *subprogram)
      : context(function.getContext()), subprogram(subprogram),
        builder(context), domain(builder.createAnonymousAliasScopeDomain()) {}

  void setLine(Instruction &instruction, unsigned line) {
    instruction.setDebugLoc(DILocation::get(context, line, 0, subprogram));
  }

  void setPlace(Instruction &access, Numbering &numbering, unsigned place) {
    setLine(access, 1 + place);
    for (unsigned next = scopes.size(); next <= place; ++next) {
      scopes.push_back(builder.createAnonymousAliasScope(domain));
      numbering.scopes[scopes.back()] = next;
    }
    access.setMetadata(
        LLVMContext::MD_alias_scope,
        MDNode::concatenate(access.getMetadata(LLVMContext::MD_alias_scope),
                            MDNode::get(context, scopes[place])));
  }

private:
  LLVMContext &context;
  DISubprogram *subprogram;
  MDBuilder builder;
  MDNode *domain;
  SmallVector<MDNode *> scopes; ///< by place
};
} // namespace

static Numbering number(Function &function, DISubprogram *scope) {
  Numbering result;
  DenseMap<const Instruction *, unsigned> numbers;
  SmallVector<Instruction *> accesses;
  for (Instruction &instruction : instructions(function)) {
    if (isBarrier(instruction)) {
      numbers[&instruction] = result.barrierCount++;
    } else if (isAccess(instruction)) {
      numbers[&instruction] = accesses.size();
      accesses.push_back(&instruction);
    }
  }
  Graph graph = graphOf(function, numbers, result.barrierCount);
  SmallVector<Place, 0> found(accesses.size());
  graph.forEachAccess(
      [&](unsigned access, const Sides &turn, const Sides &ever) {
        found[access] = {turn, ever, ""};
      });
  Labels labels(function, scope);
  for (Instruction &instruction : instructions(function)) {
    instruction.dropDbgRecords();
    auto named = numbers.find(&instruction);
    if (named == numbers.end())
      instruction.setDebugLoc(DebugLoc());
    else if (isBarrier(instruction))
      labels.setLine(instruction, kFirstBarrier + named->second);
    else
      labels.setPlace(instruction, result,
                      findPlace(result, found[named->second], instruction));
  }
  return result;
}

DenseMap<const Function *, Numbering>
terrazzo::order::numberAccesses(Module &module) {
  DenseMap<const Function *, Numbering> result;
  if (!module.getModuleFlag("Debug Info Version"))
    module.addModuleFlag(Module::Warning, "Debug Info Version",
                         DEBUG_METADATA_VERSION);
  DIBuilder builder(module);
  DIFile *file = builder.createFile("order", ".");
  builder.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C99), file, "",
                            /*isOptimized=*/true, "", 0, "",
                            DICompileUnit::LineTablesOnly);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DISubprogram *scope = builder.createFunction(
        file, function.getName(), function.getName(), file, 1,
        builder.createSubroutineType(builder.getOrCreateTypeArray({})), 1,
        DINode::FlagZero, DISubprogram::SPFlagDefinition);
    function.setSubprogram(scope);
    result[&function] = number(function, scope);
  }
  builder.finalize();
  return result;
}
