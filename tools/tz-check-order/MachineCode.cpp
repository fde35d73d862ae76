//===- MachineCode.cpp - Machine code beside its LLVM IR ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access moved if a barrier that is on one side of it in LLVM IR, in one
// turn through the function, is on the other side alone in machine code; or if
// such a barrier may ever run before it now, by way of a loop, and could not.
// What targets make of a divergent branch, one side behind the other, changes
// neither: barriers of the other side are on no side.
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "Numbering.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Target/TargetLoweringObjectFile.h"

using namespace terrazzo::order;

namespace {

/// Looks at machine code behind the last pass that changes it.
class CheckMachineCode : public llvm::MachineFunctionPass {
public:
  static char passId;
  CheckMachineCode(
      const llvm::DenseMap<const llvm::Function *, Numbering> &numberings,
      Findings &findings)
      : MachineFunctionPass(passId), numberings(numberings),
        findings(findings) {}

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    auto found = numberings.find(&function.getFunction());
    if (found == numberings.end())
      return false;
    numbering = &found->second;
    instructions.clear();
    readBlocks(function);
    return false;
  }

private:
  void readBlocks(llvm::MachineFunction &function);
  void read(const llvm::MachineInstr &instruction, Graph::Block &block);
  void compare(const Graph &graph);
  void report(const llvm::MachineInstr &instruction, const llvm::Twine &text);

  const llvm::DenseMap<const llvm::Function *, Numbering> &numberings;
  Findings &findings;
  const Numbering *numbering = nullptr;
  /// The accesses, by their number in the graph, with their places.
  llvm::SmallVector<std::pair<const llvm::MachineInstr *, unsigned>>
      instructions;
  Barriers seen;
};

char CheckMachineCode::passId = 0;

} // namespace

void CheckMachineCode::report(const llvm::MachineInstr &instruction,
                              const llvm::Twine &text) {
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  stream << "block " << instruction.getParent()->getNumber() << ": ";
  instruction.print(stream, /*IsStandalone=*/true, /*SkipOpers=*/false,
                    /*SkipDebugLoc=*/true, /*AddNewLine=*/false);
  stream << ": " << text;
  findings.faults.push_back(fault);
}

/// What the machine itself adds (spills, arguments, constants) is memory of
/// one thread, or memory that nobody writes.
static bool isAccess(const llvm::MachineMemOperand &memory) {
  if (!isOrdered(memory.getAddrSpace()) || memory.getPseudoValue() ||
      memory.isInvariant())
    return false;
  const llvm::Value *value = memory.getValue();
  const auto *global = llvm::dyn_cast_or_null<llvm::GlobalVariable>(
      value ? llvm::getUnderlyingObject(value) : nullptr);
  return !global || !global->isConstant();
}

static bool isBarrier(const llvm::MachineInstr &instruction) {
  const llvm::TargetInstrInfo *info =
      instruction.getMF()->getSubtarget().getInstrInfo();
  llvm::StringRef name = info->getName(instruction.getOpcode());
  return name.contains("BARRIER") && !name.contains("SCHED");
}

void CheckMachineCode::read(const llvm::MachineInstr &instruction,
                            Graph::Block &block) {
  const llvm::DebugLoc &loc = instruction.getDebugLoc();
  unsigned line = loc ? loc.getLine() : 0;
  if (isBarrier(instruction)) {
    std::optional<unsigned> barrier = numbering->barrierOf(line);
    if (!barrier)
      return report(instruction, "a barrier that LLVM IR does not have");
    seen.set(*barrier);
    block.steps.push_back({true, *barrier});
    return;
  }
  for (const llvm::MachineMemOperand *memory : instruction.memoperands()) {
    if (!isAccess(*memory))
      continue;
    std::optional<unsigned> place =
        numbering->placeOf(line, memory->getAAInfo());
    if (!place)
      return report(instruction, "an access of unknown origin");
    ++findings.accesses;
    block.steps.push_back({false, static_cast<unsigned>(instructions.size())});
    instructions.push_back({&instruction, *place});
  }
}

void CheckMachineCode::readBlocks(llvm::MachineFunction &function) {
  llvm::DenseMap<const llvm::MachineBasicBlock *, unsigned> index;
  for (const llvm::MachineBasicBlock &block : function)
    index.insert({&block, index.size()});
  Graph graph(index.size(), numbering->barrierCount);
  seen = Barriers(numbering->barrierCount);
  for (const llvm::MachineBasicBlock &block : function) {
    Graph::Block &to = graph.block(index.lookup(&block));
    for (const llvm::MachineBasicBlock *successor : block.successors())
      to.successors.push_back(index.lookup(successor));
    for (const llvm::MachineInstr &instruction : block.instrs())
      if (!instruction.isBundle())
        read(instruction, to);
  }
  findings.barriers += numbering->barrierCount;
  if (!seen.all())
    findings.faults.push_back(
        ("barrier " + llvm::Twine(seen.find_first_unset()) + " is not there")
            .str());
  compare(graph);
}

/// What is in one set and not in another.
static Barriers without(Barriers set, const Barriers &other) {
  set.reset(other);
  return set;
}

void CheckMachineCode::compare(const Graph &graph) {
  llvm::DenseSet<const llvm::MachineInstr *> reported;
  graph.forEachAccess([&](unsigned access, const Sides &turn,
                          const Sides &ever) {
    const auto &[instruction, number] = instructions[access];
    const Place &place = numbering->places[number];
    Barriers ordered = place.turn.before;
    ordered |= place.turn.after;
    auto check = [&](Barriers is, const Barriers &was, llvm::StringRef text) {
      is &= was;
      if (is.none() || !reported.insert(instruction).second)
        return;
      report(*instruction, "barrier " + llvm::Twine(is.find_first()) + text +
                               ", which is not so in LLVM IR for what is like" +
                               place.example);
    };
    check(without(turn.before, turn.after), place.turn.after, " is before it");
    check(without(turn.after, turn.before), place.turn.before, " is behind it");
    check(without(ever.before, place.ever.before), ordered,
          " may have run before it");
    check(without(ever.after, place.ever.after), ordered, " may run behind it");
  });
}

bool terrazzo::order::checkMachineCode(llvm::Module &module,
                                       llvm::TargetMachine &machine,
                                       Findings &findings) {
  auto numberings = numberAccesses(module);
  llvm::legacy::PassManager passes;
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(info);
  // The printer would do it; instruction selection of NVPTX makes symbols.
  machine.getObjFileLowering()->Initialize(info->getMMI().getContext(),
                                           machine);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  passes.add(new CheckMachineCode(numberings, findings));
  passes.run(module);
  return true;
}
