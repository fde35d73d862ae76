//===- Guards.cpp - What compiled kernels depend on, checked at launches --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over what a kernel reads from around it (python: frontend/reach.py)
// leaves one guard for each place whose contents may change. A launch looks
// at all of them, so each check is a lookup or a comparison of addresses; none
// runs Python code. A guard keeps what it compares with alive, so that an
// address never comes to mean another object.
//===----------------------------------------------------------------------===//

#include "Guards.h"

using namespace terrazzo::bindings;

unsigned terrazzo::bindings::typeVersion(PyTypeObject *type) {
  static PyObject *name = PyUnicode_InternFromString("__class__");
  _PyType_Lookup(type, name); // Python numbers a class when it looks into it
#if PY_VERSION_HEX < 0x030c0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
    return 0;
#endif
  return type->tp_version_tag;
}

static bool isVersion(PyTypeObject *type, unsigned version) {
#if PY_VERSION_HEX < 0x030c0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
    return false;
#endif
  return version && type->tp_version_tag == version;
}

static bool hasItems(PyObject *dict, PyObject *items) {
  if (PyDict_GET_SIZE(dict) * 2 != PyTuple_GET_SIZE(items))
    return false;
  PyObject *key, *value;
  Py_ssize_t position = 0, at = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (PyTuple_GET_ITEM(items, at) != key ||
        PyTuple_GET_ITEM(items, at + 1) != value)
      return false;
    at += 2;
  }
  return true;
}

static bool hasMembers(PyObject *list, PyObject *members) {
  Py_ssize_t size = PyTuple_GET_SIZE(members);
  if (PyList_GET_SIZE(list) != size)
    return false;
  for (Py_ssize_t i = 0; i < size; ++i)
    if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(members, i))
      return false;
  return true;
}

/// A set that nobody changed gives its members in the same order.
static bool hasElements(PyObject *set, PyObject *members) {
  if (PySet_GET_SIZE(set) != PyTuple_GET_SIZE(members))
    return false;
  PyObject *iterator = PyObject_GetIter(set);
  bool same = iterator != nullptr;
  for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(members); ++i) {
    PyObject *member = PyIter_Next(iterator);
    same = member == PyTuple_GET_ITEM(members, i);
    Py_XDECREF(member);
  }
  Py_XDECREF(iterator);
  PyErr_Clear();
  return same;
}

static bool isFunction(PyObject *object, PyObject *parts) {
  auto *function = reinterpret_cast<PyFunctionObject *>(object);
  auto same = [&](PyObject *now, Py_ssize_t i) {
    return (now ? now : Py_None) == PyTuple_GET_ITEM(parts, i);
  };
  return same(function->func_code, 0) && same(function->func_defaults, 1) &&
         same(function->func_kwdefaults, 2);
}

/// Reads the slot by its descriptor: __getattribute__ of a user is not run.
static bool hasSlot(const Guard &guard) {
  PyTypeObject *type = Py_TYPE(guard.holder);
  PyObject *slot = _PyType_Lookup(type, guard.name);
  if (!slot || Py_TYPE(slot) != &PyMemberDescr_Type)
    return false;
  PyObject *now = Py_TYPE(slot)->tp_descr_get(
      slot, guard.holder, reinterpret_cast<PyObject *>(type));
  PyErr_Clear(); // a slot that is empty is a missing value
  Py_XDECREF(now);
  return now == guard.value;
}

bool terrazzo::bindings::holds(const Guard &guard) {
  switch (guard.kind) {
  case GuardKind::Entry: {
    PyObject *now = PyDict_GetItemWithError(guard.holder, guard.name);
    PyErr_Clear();
    return now == guard.value;
  }
  case GuardKind::Cell:
    return PyCell_GET(guard.holder) == guard.value;
  case GuardKind::Items:
    return hasItems(guard.holder, guard.value);
  case GuardKind::List:
    return hasMembers(guard.holder, guard.value);
  case GuardKind::Set:
    return hasElements(guard.holder, guard.value);
  case GuardKind::Function:
    return isFunction(guard.holder, guard.value);
  case GuardKind::Type:
    return isVersion(reinterpret_cast<PyTypeObject *>(guard.holder),
                     guard.version);
  case GuardKind::TypeEntry:
    return _PyType_Lookup(reinterpret_cast<PyTypeObject *>(guard.holder),
                          guard.name) == guard.value;
  case GuardKind::Slot:
    return hasSlot(guard);
  case GuardKind::Class:
    return reinterpret_cast<PyObject *>(Py_TYPE(guard.holder)) == guard.value;
  }
  return false;
}

void terrazzo::bindings::dropGuards(std::vector<Guard> &guards) {
  std::vector<Guard> old;
  old.swap(guards);
  for (Guard &guard : old) {
    Py_DECREF(guard.holder);
    Py_XDECREF(guard.name);
    Py_XDECREF(guard.value);
  }
}

//===----------------------------------------------------------------------===//
// From Python
//===----------------------------------------------------------------------===//

namespace {
/// A kind by its name, with what the parts of such a guard are.
struct KindName {
  const char *text;
  GuardKind kind;
  bool (*fits)(const Guard &);
};
} // namespace

static bool isName(const Guard &guard) {
  return guard.name && PyUnicode_Check(guard.name);
}
static bool isTuple(PyObject *value) { return value && PyTuple_Check(value); }

static constexpr KindName kKinds[] = {
    {"entry", GuardKind::Entry,
     [](const Guard &g) { return PyDict_Check(g.holder) && g.name; }},
    {"cell", GuardKind::Cell,
     [](const Guard &g) { return bool(PyCell_Check(g.holder)); }},
    {"items", GuardKind::Items,
     [](const Guard &g) { return PyDict_Check(g.holder) && isTuple(g.value); }},
    {"list", GuardKind::List,
     [](const Guard &g) { return PyList_Check(g.holder) && isTuple(g.value); }},
    {"set", GuardKind::Set,
     [](const Guard &g) { return PySet_Check(g.holder) && isTuple(g.value); }},
    {"function", GuardKind::Function,
     [](const Guard &g) {
       return PyFunction_Check(g.holder) && isTuple(g.value) &&
              PyTuple_GET_SIZE(g.value) == 3;
     }},
    {"type", GuardKind::Type,
     [](const Guard &g) {
       return PyType_Check(g.holder) && g.value && PyLong_Check(g.value);
     }},
    {"member", GuardKind::TypeEntry,
     [](const Guard &g) { return PyType_Check(g.holder) && isName(g); }},
    {"slot", GuardKind::Slot, isName},
    {"class", GuardKind::Class,
     [](const Guard &g) { return g.value && PyType_Check(g.value); }}};

/// Reads (kind, holder, name or None) or (kind, holder, name or None, value);
/// the references are borrowed.
static bool readGuard(PyObject *tuple, Guard &guard) {
  const char *text = nullptr;
  guard = {};
  if (!PyTuple_Check(tuple) ||
      !PyArg_ParseTuple(tuple, "sOO|O", &text, &guard.holder, &guard.name,
                        &guard.value)) {
    PyErr_Clear();
    text = "";
  }
  if (guard.name == Py_None)
    guard.name = nullptr;
  for (const KindName &known : kKinds) {
    if (std::strcmp(text, known.text) != 0 || !known.fits(guard))
      continue;
    guard.kind = known.kind;
    if (guard.kind == GuardKind::Type)
      guard.version =
          static_cast<unsigned>(PyLong_AsUnsignedLongMask(guard.value));
    return true;
  }
  PyErr_SetString(PyExc_TypeError,
                  "a guard is (kind, holder, name or None, value), its kind "
                  "that of the holder");
  return false;
}

PyObject *terrazzo::bindings::setDispatcherGuards(Dispatcher &state,
                                                  PyObject *arguments) {
  PyObject *list;
  unsigned long long word;
  if (!PyArg_ParseTuple(arguments, "O!K", &PyList_Type, &list, &word))
    return nullptr;
  std::vector<Guard> guards;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    Guard guard;
    if (!readGuard(PyList_GET_ITEM(list, i), guard)) {
      dropGuards(guards);
      return nullptr;
    }
    Py_INCREF(guard.holder);
    Py_XINCREF(guard.name);
    Py_XINCREF(guard.value);
    guards.push_back(guard);
  }
  state.guards.swap(guards);
  state.globalsWord = word;
  state.guardsReady = true;
  dropGuards(guards);
  Py_RETURN_NONE;
}
