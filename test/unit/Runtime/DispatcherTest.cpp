//===- DispatcherTest.cpp - From specialisation key to launch -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Dispatcher.h"
#include "TestKernels.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

using Words = std::vector<uint64_t>;

static std::unique_ptr<LaunchPlan> emptyPlan() {
  static std::shared_ptr<Kernel> kernel = loadKernel("empty", "", "null");
  return std::make_unique<LaunchPlan>(kernel, std::span<const uint32_t>());
}

TEST(Dispatcher, findsWhatWasInserted) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.find(Words{1, 2}), nullptr);
  const LaunchPlan *plan = dispatcher.insert(Words{1, 2}, emptyPlan());
  EXPECT_EQ(dispatcher.find(Words{1, 2}), plan);
  EXPECT_EQ(dispatcher.find(Words{2, 1}), nullptr);
  EXPECT_EQ(dispatcher.find(Words{1}), nullptr);
  EXPECT_EQ(dispatcher.find(Words{1, 2, 0}), nullptr);
  EXPECT_EQ(dispatcher.find(Words{}), nullptr);
  EXPECT_EQ(dispatcher.size(), 1u);
}

TEST(Dispatcher, keepsTheFirstPlanOfAKey) {
  Dispatcher dispatcher;
  const LaunchPlan *first = dispatcher.insert(Words{}, emptyPlan());
  EXPECT_EQ(dispatcher.insert(Words{}, emptyPlan()), first);
  EXPECT_EQ(dispatcher.size(), 1u);
}

TEST(Dispatcher, grows) {
  Dispatcher dispatcher;
  std::vector<const LaunchPlan *> plans;
  for (uint64_t i = 0; i < 5000; ++i)
    plans.push_back(dispatcher.insert(Words{i, i % 3}, emptyPlan()));
  for (uint64_t i = 0; i < 5000; ++i)
    EXPECT_EQ(dispatcher.find(Words{i, i % 3}), plans[i]);
  EXPECT_EQ(dispatcher.size(), 5000u);
}

TEST(Dispatcher, clearKeepsPlansAlive) {
  Dispatcher dispatcher;
  const LaunchPlan *plan = dispatcher.insert(Words{1}, emptyPlan());
  dispatcher.clear();
  EXPECT_EQ(dispatcher.find(Words{1}), nullptr);
  EXPECT_EQ(dispatcher.size(), 0u);
  plan->launch({1, 1, 1}, nullptr, {});
  EXPECT_NE(dispatcher.insert(Words{1}, emptyPlan()), plan);
}

TEST(Dispatcher, readsWhileOthersInsert) {
  Dispatcher dispatcher;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const LaunchPlan *plan = dispatcher.insert(Words{i}, emptyPlan());
        ASSERT_EQ(dispatcher.find(Words{i}), plan);
        ASSERT_NE(dispatcher.find(Words{i / 2}), nullptr);
        plan->launch({1, 1, 1}, nullptr, {});
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(dispatcher.size(), 2000u);
}

TEST(LaunchPlan, narrowsValuesToTheirParameters) {
  std::shared_ptr<Kernel> kernel = loadKernel("scalars", "fhgdcbp");
  std::vector<uint32_t> slots{6, 5, 4, 3, 2, 1, 0};
  LaunchPlan plan(kernel, slots);
  EXPECT_EQ(plan.slotCount(), 7u);
  unsigned char out[18];
  std::vector<Value> values(7);
  values[0].p = out;
  values[1].i = 1;
  values[2].i = -7;
  values[3].f = 0.1;
  values[4].f = 3.14159;
  values[5].f = 65504;
  values[6].f = 0.1;
  plan.launch({1, 1, 1}, nullptr, values);
  float f32;
  uint16_t f16, bf16;
  double f64;
  std::memcpy(&f32, out, 4);
  std::memcpy(&f16, out + 4, 2);
  std::memcpy(&bf16, out + 6, 2);
  std::memcpy(&f64, out + 8, 8);
  EXPECT_EQ(f32, 0.1f);
  EXPECT_EQ(f16, 0x7BFF);
  EXPECT_EQ(bf16, 0x4049);
  EXPECT_EQ(f64, 0.1);
  EXPECT_EQ(int8_t(out[16]), -7);
  EXPECT_EQ(out[17], 1);
}

TEST(LaunchPlan, refusesWhatDoesNotFit) {
  std::shared_ptr<Kernel> kernel = loadKernel("add", "pppi");
  std::vector<uint32_t> few{0, 1}, all{0, 1, 2, 9};
  EXPECT_EQ(errorOf([&] { LaunchPlan(kernel, few); }).message(),
            "plan for kernel 'add': expected a slot for each of 4 parameters "
            "(of at most 256), found 2");
  LaunchPlan plan(kernel, all);
  std::vector<Value> values(9);
  EXPECT_EQ(errorOf([&] { plan.launch({1, 1, 1}, nullptr, values); }).message(),
            "launch of kernel 'add': expected 10 values, found 9");
  Artifact artifact = makeArtifact("empty", "d");
  artifact.args[0].bytes = 16;
  std::shared_ptr<Kernel> wide = openDriver("null")->load(0, artifact);
  std::vector<uint32_t> one{0};
  EXPECT_EQ(errorOf([&] { LaunchPlan(wide, one); }).status(),
            Status::InvalidArgument);
}
