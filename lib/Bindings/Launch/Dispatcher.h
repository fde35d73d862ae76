//===- Dispatcher.h - The parts of a launch from Python ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call goes: bindArguments (names to slots) -> encodeAll (slots to key and
// values) -> the runtime's dispatcher (key to plan) -> launch. Slots are the
// parameters in order, then the launch options in order.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_LAUNCH_DISPATCHER_H
#define TERRAZZO_BINDINGS_LAUNCH_DISPATCHER_H

#include "Bindings/Arguments/Arguments.h"

#include <unordered_map>

namespace terrazzo::bindings {

/// How a guard looks at what a compiled kernel depends on. The names are those
/// that setDispatcherGuards takes.
enum class GuardKind : uint8_t {
  Entry,     ///< "entry": dict `holder` has `value` under `name`
  Cell,      ///< "cell": closure cell `holder` has `value`
  Items,     ///< "items": dict `holder` has the keys and values of a tuple
  List,      ///< "list": list `holder` has the members of a tuple
  Set,       ///< "set": set `holder` has the members of a tuple
  Function,  ///< "function": `value` is the (code, defaults, keyword defaults)
  Type,      ///< "type": class `holder` and its bases are of a version
  TypeEntry, ///< "member": looking `name` up in class `holder` finds `value`
  Slot,      ///< "slot": attribute `name` of `holder`, a slot, is `value`
  Class,     ///< "class": the class of `holder` is `value`
};

/// One fact that compiled kernels depend on. A null `value` is a missing one.
struct Guard {
  GuardKind kind;
  PyObject *holder, *name, *value;
  unsigned version; ///< of a Type
};

/// The number of a class's present state, 0 where Python keeps none: it changes
/// with each change of the class or a base.
unsigned typeVersion(PyTypeObject *type);

/// What goes with a plan of the runtime's dispatcher.
struct PlanInfo {
  PyObject *compiled = nullptr;
  std::vector<bool> written; ///< by run-time value
  /// It is code for a GPU that takes arrays to be apart, one of which it
  /// writes.
  bool assumesApart = false;
};

/// The state of one kernel function.
struct Dispatcher {
  ~Dispatcher();

  std::string name;
  std::vector<Parameter> parameters;
  std::vector<PyObject *> options; ///< interned names
  PyObject *optionDefaults = nullptr;
  std::vector<std::pair<PyObject *, uint32_t>> byName; ///< open addressing
  Interner interner;
  TzDispatcher *plans = nullptr;
  std::unordered_map<const TzPlan *, PlanInfo> infos;
  std::vector<Guard> guards;
  uint64_t globalsWord = 0; ///< part of the key: which state of the globals
  bool guardsReady = false, hooks = false;
  /// The slots of the options that say where a launch runs; SIZE_MAX where a
  /// parameter hides one.
  size_t targetSlot = SIZE_MAX, deviceSlot = SIZE_MAX, streamSlot = SIZE_MAX;

  size_t slotCount() const { return parameters.size() + options.size(); }
  PyObject *nameOf(size_t slot) const {
    return slot < parameters.size() ? parameters[slot].name
                                    : options[slot - parameters.size()];
  }
  /// Whether all guarded values are what they were.
  bool guardsHold() const;
  int traverse(visitproc visit, void *arg) const;
  void dropReferences();
};

/// The arguments of a call by slot, borrowed; null where an option was not
/// given.
using Bound = Inline<PyObject *, 64>;

/// Binds as Python does. False: an exception is set that names the argument.
/// Without `complete`, keywords and defaults are left to the functions below.
bool bindArguments(const Dispatcher &state, PyObject *const *args,
                   Py_ssize_t count, PyObject *keywords, Bound &bound,
                   bool complete = true);
bool bindKeyword(const Dispatcher &state, PyObject *name, PyObject *value,
                 Bound &bound);
bool bindDefaults(const Dispatcher &state, Bound &bound);

/// Writes the key and the values of a bound call.
bool encodeAll(const Dispatcher &state, const Bound &bound,
               uint64_t configuration, Call &call);
/// A tuple with the description of each parameter's argument.
PyObject *describeAll(const Dispatcher &state, const Bound &bound,
                      const Call &call);
/// The options that were given, as a dictionary.
PyObject *givenOptions(const Dispatcher &state, const Bound &bound);

/// Turns what the runtime reported last on this thread into an exception.
void raiseStatus(TzStatus status);

// The methods of the Python type; see their doc strings in Dispatcher.cpp.
PyObject *setupDispatcher(Dispatcher &state, PyObject *arguments);
PyObject *setDispatcherGuards(Dispatcher &state, PyObject *arguments);
PyObject *insertPlan(Dispatcher &state, PyObject *arguments);
PyObject *findCompiled(Dispatcher &state, PyObject *key);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_LAUNCH_DISPATCHER_H
