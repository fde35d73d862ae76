//===- Binding.cpp - Arguments to slots, slots to keys --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dispatcher.h"

using namespace terrazzo::bindings;

static bool failCall(const Dispatcher &state, const std::string &text) {
  raise("ArgumentError", state.name + "() " + text);
  return false;
}

static std::string utf8(PyObject *text) {
  const char *bytes = PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  PyErr_Clear();
  return bytes ? bytes : "?";
}

/// "'a', 'b' and 'c'".
static std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      text += i + 1 == names.size() ? " and " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

/// The slot of a name, or -1. Names in calls are interned, so that comparing
/// addresses finds nearly all of them.
static int64_t slotOf(const Dispatcher &state, PyObject *name) {
  size_t mask = state.byName.size() - 1;
  size_t at = (reinterpret_cast<uintptr_t>(name) >> 4) & mask;
  for (; state.byName[at].first; at = (at + 1) & mask)
    if (state.byName[at].first == name)
      return state.byName[at].second;
  if (!PyUnicode_Check(name) || PyUnicode_CHECK_INTERNED(name))
    return -1;
  for (size_t i = 0; i < state.slotCount(); ++i)
    if (PyUnicode_Compare(state.nameOf(i), name) == 0)
      return static_cast<int64_t>(i);
  return -1;
}

static bool failUnknown(const Dispatcher &state, PyObject *name) {
  std::string known;
  for (const Parameter &parameter : state.parameters)
    known += (known.empty() ? "" : ", ") + utf8(parameter.name);
  std::string options;
  for (PyObject *option : state.options)
    options += (options.empty() ? "" : ", ") + utf8(option);
  return failCall(state, "got an unexpected keyword argument '" + utf8(name) +
                             "'; its parameters are " + known +
                             "; launch options are " + options);
}

bool terrazzo::bindings::bindKeyword(const Dispatcher &state, PyObject *name,
                                     PyObject *value, Bound &bound) {
  int64_t slot = slotOf(state, name);
  if (slot < 0)
    return failUnknown(state, name);
  if (bound[slot])
    return failCall(state,
                    "got multiple values for argument '" + utf8(name) + "'");
  bound[slot] = value;
  return true;
}

bool terrazzo::bindings::bindDefaults(const Dispatcher &state, Bound &bound) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    if (bound[i])
      continue;
    bound[i] = state.parameters[i].fallback;
    if (!bound[i])
      missing.push_back(utf8(state.parameters[i].name));
  }
  if (missing.empty())
    return true;
  return failCall(state, "missing " + std::to_string(missing.size()) +
                             " required argument" +
                             (missing.size() > 1 ? "s: " : ": ") +
                             listed(missing));
}

bool terrazzo::bindings::bindArguments(const Dispatcher &state,
                                       PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords, Bound &bound,
                                       bool complete) {
  auto parameters = static_cast<Py_ssize_t>(state.parameters.size());
  if (count > parameters)
    return failCall(state, "takes " + std::to_string(parameters) +
                               " positional arguments but " +
                               std::to_string(count) + " were given");
  for (Py_ssize_t i = 0; i < count; ++i)
    bound.push(args[i]);
  for (size_t i = count; i < state.slotCount(); ++i)
    bound.push(nullptr);
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (!bindKeyword(state, PyTuple_GET_ITEM(keywords, i), args[count + i],
                     bound))
      return false;
  return !complete || bindDefaults(state, bound);
}

static PyObject *optionAt(const Bound &bound, size_t slot) {
  PyObject *value = slot < bound.size() ? bound[slot] : nullptr;
  return value == Py_None ? nullptr : value;
}

/// Reads the options target, device and stream.
static bool readPlace(const Dispatcher &state, const Bound &bound, Call &call) {
  call.place = places().wanted;
  if (PyObject *target = optionAt(bound, state.targetSlot)) {
    const char *text =
        PyUnicode_Check(target) ? PyUnicode_AsUTF8(target) : nullptr;
    call.place = {text ? backendOf(text) : Backend::None, -1};
    if (call.place.backend == Backend::None) {
      PyErr_Clear();
      PyObject *module = PyImport_ImportModule("terrazzo.targets");
      PyObject *done =
          module ? PyObject_CallMethod(module, "check_target", "O", target)
                 : nullptr;
      Py_XDECREF(module);
      Py_XDECREF(done);
      if (done)
        raise("LaunchError", "option 'target' names no target of launches");
      return false;
    }
  }
  if (PyObject *device = optionAt(bound, state.deviceSlot)) {
    long number = PyLong_Check(device) ? PyLong_AsLong(device) : -1;
    if (number < 0 || number > 0x7fff) {
      PyErr_Clear();
      return failCall(state, "got an option 'device' that is no number of a "
                             "device, such as 0");
    }
    call.place.device = static_cast<int32_t>(number);
  }
  PyObject *stream = optionAt(bound, state.streamSlot);
  call.hasStream = stream != nullptr;
  return !stream || streamOf(stream, call.stream);
}

/// The first word of a key: the switches of the process (8 bits), the kind of
/// device (8), the device (16), and which text asked for the target (32).
static uint64_t firstWord(uint64_t configuration, const Call &call) {
  return (configuration & 0xff) |
         static_cast<uint64_t>(call.place.backend) << 8 |
         static_cast<uint64_t>(static_cast<uint16_t>(call.place.device + 1))
             << 16 |
         static_cast<uint64_t>(places().wantedWord) << 32;
}

bool terrazzo::bindings::encodeAll(const Dispatcher &state, const Bound &bound,
                                   uint64_t configuration, Call &call) {
  if (!readPlace(state, bound, call))
    return false;
  call.key.push(0); // see below
  call.key.push(state.globalsWord);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (!call.encode(state.parameters[i], bound[i]))
      return false;
  Parameter option;
  option.isConstexpr = true;
  for (size_t i = state.parameters.size(); i < state.slotCount(); ++i) {
    if (!bound[i] || i == state.deviceSlot || i == state.streamSlot)
      continue;
    option.name = state.nameOf(i);
    call.key.push(static_cast<uint64_t>(Tag::Option) | i << 8);
    if (!call.encode(option, bound[i]))
      return false;
  }
  if (!call.settlePlace())
    return false;
  call.key[0] = firstWord(configuration, call);
  return true;
}

PyObject *terrazzo::bindings::describeAll(const Dispatcher &state,
                                          const Bound &bound,
                                          const Call &call) {
  auto size = static_cast<Py_ssize_t>(state.parameters.size());
  PyObject *specs = PyTuple_New(size);
  const uint64_t *cursor = call.key.data() + 2;
  for (Py_ssize_t i = 0; specs && i < size; ++i) {
    PyObject *spec = describe(cursor, bound[i]);
    if (!spec)
      Py_CLEAR(specs);
    else
      PyTuple_SET_ITEM(specs, i, spec);
  }
  return specs;
}

PyObject *terrazzo::bindings::givenOptions(const Dispatcher &state,
                                           const Bound &bound) {
  PyObject *options = PyDict_New();
  for (size_t i = state.parameters.size(); options && i < state.slotCount();
       ++i) {
    PyObject *plain = bound[i] ? plainConstant(bound[i]) : nullptr;
    if (bound[i] &&
        (!plain || PyDict_SetItem(options, state.nameOf(i), plain) < 0))
      Py_CLEAR(options);
    Py_XDECREF(plain);
  }
  return options;
}
