//===- Dispatcher.cpp - From specialisation key to launch -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Runtime/Dispatcher.h"
#include "SmallFloat.h"
#include "terrazzo/Support/Checksum.h"

#include <algorithm>
#include <cstring>

namespace terrazzo::runtime {

//===----------------------------------------------------------------------===//
// LaunchPlan
//===----------------------------------------------------------------------===//

// A launch converts and collects this many arguments on the stack.
static constexpr size_t kMaxParameters = 256;

LaunchPlan::LaunchPlan(std::shared_ptr<Kernel> kernel,
                       std::span<const uint32_t> slots)
    : target(std::move(kernel)) {
  const std::vector<ArgInfo> &args = target->artifact().args;
  std::string operation = "plan for kernel '" + target->name() + "': ";
  if (slots.size() != args.size() || args.size() > kMaxParameters)
    throw Error(Status::InvalidArgument,
                operation + "expected a slot for each of " +
                    std::to_string(args.size()) + " parameters (of at most " +
                    std::to_string(kMaxParameters) + "), found " +
                    std::to_string(slots.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgInfo &arg = args[i];
    Form form = Form::AsIs;
    if (arg.kind == ArgInfo::Float && arg.bytes == 4)
      form = Form::F32;
    else if (arg.kind == ArgInfo::Float && arg.bytes == 2)
      form = arg.dtype == "bf16" ? Form::BF16 : Form::F16;
    else if (arg.bytes > sizeof(Value) ||
             (arg.kind == ArgInfo::Float && arg.bytes != 8))
      throw Error(Status::InvalidArgument,
                  operation + "expected parameter '" + arg.name +
                      "' to have at most 8 bytes (a float 2, 4 or 8), found " +
                      std::to_string(arg.bytes));
    parameters.push_back({slots[i], form});
    neededSlots = std::max<size_t>(neededSlots, size_t(slots[i]) + 1);
  }
}

void LaunchPlan::launch(const Grid &grid, void *stream,
                        std::span<const Value> values) const {
  if (values.size() < neededSlots)
    throw Error(Status::InvalidArgument,
                "launch of kernel '" + target->name() + "': expected " +
                    std::to_string(neededSlots) + " values, found " +
                    std::to_string(values.size()));
  // Integers need no conversion: their low bytes come first.
  void *args[kMaxParameters];
  uint32_t narrowed[kMaxParameters];
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Value &value = values[parameters[i].slot];
    args[i] = &narrowed[i];
    switch (parameters[i].form) {
    case Form::AsIs:
      args[i] = const_cast<Value *>(&value);
      break;
    case Form::F32: {
      float f = static_cast<float>(value.f);
      std::memcpy(&narrowed[i], &f, 4);
      break;
    }
    case Form::F16:
      narrowed[i] = roundToF16(value.f);
      break;
    case Form::BF16:
      narrowed[i] = roundToBF16(value.f);
      break;
    }
  }
  target->launch(grid, stream, args, parameters.size());
}

//===----------------------------------------------------------------------===//
// Dispatcher
//===----------------------------------------------------------------------===//

struct Dispatcher::Entry {
  uint64_t hash;
  std::vector<uint64_t> key;
  std::unique_ptr<LaunchPlan> plan;
};

/// Open addressing; a slot goes from null to an entry once. At most half full.
struct Dispatcher::Table {
  explicit Table(size_t capacity) : mask(capacity - 1), slots(capacity) {}

  const Entry *find(uint64_t hash, Key key) const {
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Entry *entry = slots[i].load(std::memory_order_acquire);
      if (!entry)
        return nullptr;
      if (entry->hash == hash && std::ranges::equal(entry->key, key))
        return entry;
    }
  }
  void insert(const Entry *entry) {
    size_t i = entry->hash & mask;
    while (slots[i].load(std::memory_order_relaxed))
      i = (i + 1) & mask;
    slots[i].store(entry, std::memory_order_release);
    ++used;
  }
  bool isHalfFull() const { return 2 * (used + 1) > slots.size(); }

  size_t mask;
  size_t used = 0;
  std::vector<std::atomic<const Entry *>> slots;
};

static uint64_t hashOf(Dispatcher::Key key) {
  return checksum64(key.data(), key.size_bytes());
}

Dispatcher::Dispatcher() {
  tables.push_back(std::make_unique<Table>(16));
  current.store(tables.back().get());
}

Dispatcher::~Dispatcher() = default;

const LaunchPlan *Dispatcher::find(Key key) const {
  const Table *table = current.load(std::memory_order_acquire);
  const Entry *entry = table->find(hashOf(key), key);
  return entry ? entry->plan.get() : nullptr;
}

const LaunchPlan *Dispatcher::insert(Key key,
                                     std::unique_ptr<LaunchPlan> plan) {
  uint64_t hash = hashOf(key);
  std::lock_guard lock(mutex);
  Table *table = current.load(std::memory_order_relaxed);
  if (const Entry *entry = table->find(hash, key))
    return entry->plan.get();
  if (table->isHalfFull()) {
    tables.push_back(std::make_unique<Table>(2 * table->slots.size()));
    Table *bigger = tables.back().get();
    for (const auto &slot : table->slots)
      if (const Entry *entry = slot.load(std::memory_order_relaxed))
        bigger->insert(entry);
    table = bigger;
  }
  entries.push_back(std::make_unique<Entry>(
      Entry{hash, {key.begin(), key.end()}, std::move(plan)}));
  table->insert(entries.back().get());
  current.store(table, std::memory_order_release);
  return entries.back()->plan.get();
}

void Dispatcher::clear() {
  std::lock_guard lock(mutex);
  tables.push_back(std::make_unique<Table>(16));
  current.store(tables.back().get(), std::memory_order_release);
}

size_t Dispatcher::size() const {
  std::lock_guard lock(mutex);
  return current.load(std::memory_order_relaxed)->used;
}

} // namespace terrazzo::runtime
