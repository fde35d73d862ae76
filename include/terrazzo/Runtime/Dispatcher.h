//===- Dispatcher.h - From specialisation key to launch ----------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel function has one dispatcher. The caller reduces the arguments of a
// call to a key of words and asks for the plan that was made for such a call.
// Reading takes no lock: the table is an array of pointers to entries that
// never change, and a table that got too small is replaced, never edited in
// place.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_RUNTIME_DISPATCHER_H
#define TERRAZZO_RUNTIME_DISPATCHER_H

#include "terrazzo/Runtime/Driver.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace terrazzo::runtime {

/// The value of one slot of a call: integers extended to 64 bits, floats as
/// doubles, booleans as 0 or 1.
union Value {
  int64_t i;
  double f;
  const void *p;
};

/// How to launch one kernel with the values of a call.
class LaunchPlan {
public:
  /// Parameter i of the kernel takes its value from slot slots[i]. Throws
  /// unless there is one slot a parameter, of a size that a Value can hold.
  LaunchPlan(std::shared_ptr<Kernel> kernel, std::span<const uint32_t> slots);

  virtual ~LaunchPlan() = default;

  const std::shared_ptr<Kernel> &kernel() const { return target; }
  /// One more than the highest slot that is read.
  size_t slotCount() const { return neededSlots; }
  void launch(const Grid &grid, void *stream,
              std::span<const Value> values) const;

private:
  enum class Form : uint8_t { AsIs, F32, F16, BF16 };
  struct Parameter {
    uint32_t slot;
    Form form;
  };
  std::shared_ptr<Kernel> target;
  std::vector<Parameter> parameters;
  size_t neededSlots = 0;
};

/// The plans of one kernel function.
class Dispatcher {
public:
  using Key = std::span<const uint64_t>;

  Dispatcher();
  ~Dispatcher();
  Dispatcher(const Dispatcher &) = delete;
  Dispatcher &operator=(const Dispatcher &) = delete;

  /// The plan of a key, or nullptr. Never blocks. The plan lives as long as the
  /// dispatcher.
  const LaunchPlan *find(Key key) const;
  /// Adds a plan, or returns the one that the key has already.
  const LaunchPlan *insert(Key key, std::unique_ptr<LaunchPlan> plan);
  /// Forgets all keys; plans that callers still hold stay valid.
  void clear();
  size_t size() const;

private:
  struct Entry;
  struct Table;

  std::atomic<Table *> current;
  mutable std::mutex mutex;
  // Owners, never shrunk: a reader may be in any of them.
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<Entry>> entries;
};

} // namespace terrazzo::runtime

#endif // TERRAZZO_RUNTIME_DISPATCHER_H
