//===- MutationTest.cpp - IR that verifies crashes no pass ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random changes of the lit tests' modules. What still parses and
// verifies goes through the passes of its RUN line, which may refuse it with a
// diagnostic, but may neither crash nor hang, nor fail without a word, nor
// leave IR that does not verify.
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Mutator.h"
#include "Workers.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "terrazzo/Compiler/Registration.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::mutation;

namespace {

struct Settings {
  size_t mutants = 2000, first = 0;
  uint64_t seed = 1;
  size_t processes = std::max(1U, std::thread::hardware_concurrency());
} settings;

/// What Note::counts count.
enum Count : uint8_t { Attempts, Passed, Refused };

/// Notes the pass after which the IR does not verify.
struct Watch : PassInstrumentation {
  explicit Watch(std::string &culprit) : culprit(culprit) {}
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (culprit.empty() && failed(verify(op)))
      culprit = pass->getName().str();
  }
  std::string &culprit;
};

class Laboratory {
public:
  Laboratory() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    registerPasses();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    for (Input &input : collectInputs(TERRAZZO_TESTS))
      if (auto module = parseSourceString<ModuleOp>(input.text, &context)) {
        inputs.push_back(std::move(input));
        modules.push_back(std::move(module));
      }
  }

  size_t count() const { return inputs.size(); }

  void run(size_t number, Note &note);

private:
  /// The text of a mutant that parses and verifies, and whose it is.
  std::string mutant(std::mt19937_64 &rng, size_t &whose, Note &note);

  MLIRContext context;
  std::vector<Input> inputs;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

} // namespace

std::string Laboratory::mutant(std::mt19937_64 &rng, size_t &whose,
                               Note &note) {
  while (true) {
    ++note.counts[Attempts];
    note.setInput("");
    whose = rng() % inputs.size();
    OwningOpRef<ModuleOp> module(modules[whose]->clone());
    Mutator mutator(*module, rng());
    do
      mutator.mutate();
    while (rng() % 2 == 0);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().printGenericOpForm());
    note.setInput("// RUN: tz-opt %s --pass-pipeline='builtin.module(" +
                  inputs[whose].pipeline + ")'\n// From " + inputs[whose].file +
                  "\n" + text);
    if (parseSourceString<ModuleOp>(text, &context))
      return text;
  }
}

void Laboratory::run(size_t number, Note &note) {
  std::seed_seq seeds{settings.seed, static_cast<uint64_t>(number)};
  std::mt19937_64 rng(seeds);
  bool hasError = false;
  ScopedDiagnosticHandler watch(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
  });
  size_t whose = 0;
  std::string text = mutant(rng, whose, note), culprit;
  hasError = false;
  auto module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context);
  if (failed(parsePassPipeline(inputs[whose].pipeline, manager)))
    return note.setFailure("no pipeline: " + inputs[whose].pipeline);
  manager.addInstrumentation(std::make_unique<Watch>(culprit));
  LogicalResult result = manager.run(*module);
  ++note.counts[succeeded(result) ? Passed : Refused];
  if (failed(result) && !hasError)
    note.setFailure("failed without a diagnostic");
  else if (!culprit.empty())
    note.setFailure("left IR that does not verify: " + culprit);
}

TEST(MutationTest, PassesTakeWhatVerifiesOrRefuseIt) {
  Laboratory laboratory;
  ASSERT_GT(laboratory.count(), 100U);
  Outcome outcome = runJobs(settings.mutants, settings.processes,
                            TERRAZZO_MUTANTS, [&](size_t job, Note &note) {
                              laboratory.run(settings.first + job, note);
                            });
  std::cout << settings.mutants << " mutants of " << laboratory.count()
            << " inputs, seed " << settings.seed << ": "
            << outcome.counts[Attempts] << " attempts, "
            << outcome.counts[Passed] << " passed, " << outcome.counts[Refused]
            << " refused\n";
  EXPECT_GT(outcome.counts[Passed], settings.mutants / 4);
  for (const Failure &failure : outcome.failures) {
    size_t number = settings.first + failure.job;
    std::string name = std::string(TERRAZZO_MUTANTS) + "/" +
                       std::to_string(settings.seed) + "-" +
                       std::to_string(number) + ".mlir";
    std::ofstream(name) << failure.input << '\n';
    ADD_FAILURE() << "mutant " << number << " of seed " << settings.seed << ' '
                  << failure.what << "\n  " << name
                  << "\n  again: --seed=" << settings.seed
                  << " --first=" << number << " --mutants=1";
  }
}

/// A crash, an exit, a hang and a complaint are told apart from a job that goes
/// well, and cost no other job.
TEST(MutationTest, WorkersSurviveTheirJobs) {
  Outcome outcome =
      runJobs(40, 3, TERRAZZO_MUTANTS, [](size_t job, Note &note) {
        note.setInput("job " + std::to_string(job));
        ++note.counts[0];
        if (job == 7)
          std::abort();
        if (job == 8)
          _exit(3);
        if (job == 30)
          note.setFailure("is unhappy");
      });
  ASSERT_EQ(outcome.failures.size(), 3U);
  EXPECT_EQ(outcome.counts[0], 40U);
  EXPECT_EQ(outcome.failures[0].job, 7U);
  EXPECT_EQ(outcome.failures[0].input, "job 7");
  EXPECT_NE(outcome.failures[0].what.find("Aborted"), std::string::npos);
  EXPECT_NE(outcome.failures[1].what.find("status 3"), std::string::npos);
  EXPECT_EQ(outcome.failures[2].what, "is unhappy");
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (llvm::StringRef argument :
       llvm::drop_begin(llvm::ArrayRef(argv, argc))) {
    uint64_t value = 0;
    auto [name, text] = argument.split('=');
    if (text.getAsInteger(10, value)) {
      std::cerr << "expected --mutants=N, --first=N, --seed=N or "
                   "--processes=N, found "
                << argument.str() << '\n';
      return 2;
    }
    if (name == "--mutants")
      settings.mutants = value;
    else if (name == "--first")
      settings.first = value;
    else if (name == "--seed")
      settings.seed = value;
    else if (name == "--processes")
      settings.processes = value;
  }
  return RUN_ALL_TESTS();
}
