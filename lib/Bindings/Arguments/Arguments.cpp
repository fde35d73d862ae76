//===- Arguments.cpp - From Python arguments to key words and values ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars, tuples, compile-time constants; arrays are in Arrays.cpp. What an
// object is, is decided once for its type and remembered, so that a launch asks
// for nothing by name.
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "ObjectKind.h"

#include <cstdarg>
#include <cstdio>

using namespace terrazzo::bindings;

Call::~Call() {
  for (size_t i = 0; i < keep.size(); ++i)
    Py_DECREF(keep[i]);
}

void terrazzo::bindings::raise(const char *kind, const std::string &text) {
  PyObject *errors = PyImport_ImportModule("terrazzo.errors");
  PyObject *type = errors ? PyObject_GetAttrString(errors, kind) : nullptr;
  if (type)
    PyErr_SetString(type, text.c_str());
  Py_XDECREF(type);
  Py_XDECREF(errors);
}

bool Call::fail(const char *kind, const char *format, ...) {
  char message[512];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  PyErr_Clear();
  const char *name = PyUnicode_AsUTF8(parameter->name);
  std::string text = "argument '" + std::string(name ? name : "?");
  for (size_t i = 0; i < path.size(); ++i)
    text += "[" + std::to_string(path[i]) + "]";
  raise(kind, text + "': " + message);
  return false;
}

//===----------------------------------------------------------------------===//
// Interned constants
//===----------------------------------------------------------------------===//

int64_t Interner::idOf(PyObject *value) {
  if (!types)
    types = PyDict_New();
  if (!types)
    return -1;
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  PyObject *values = PyDict_GetItemWithError(types, type);
  if (!values) {
    values = PyErr_Occurred() ? nullptr : PyDict_New();
    if (!values || PyDict_SetItem(types, type, values) < 0) {
      Py_XDECREF(values);
      return -1;
    }
    Py_DECREF(values); // the outer dictionary keeps it
  }
  if (PyObject *id = PyDict_GetItemWithError(values, value))
    return PyLong_AsLongLong(id);
  PyObject *id = PyErr_Occurred() ? nullptr : PyLong_FromLongLong(next);
  int status = id ? PyDict_SetItem(values, value, id) : -1;
  Py_XDECREF(id);
  return status < 0 ? -1 : next++;
}

int Interner::traverse(visitproc visit, void *arg) {
  Py_VISIT(types);
  return 0;
}

void Interner::clear() { Py_CLEAR(types); }

//===----------------------------------------------------------------------===//
// Compile-time constants
//===----------------------------------------------------------------------===//

static uint64_t word(Tag tag, uint64_t detail = 0) {
  return static_cast<uint64_t>(tag) | detail;
}

PyObject *terrazzo::bindings::plainConstant(PyObject *value) {
  switch (kindOf(value)) {
  case ObjectKind::Constexpr: {
    PyObject *inner = PyObject_GetAttrString(value, "value");
    PyObject *plain = inner ? plainConstant(inner) : nullptr;
    Py_XDECREF(inner);
    return plain;
  }
  case ObjectKind::NumpyBool:
  case ObjectKind::NumpyInt:
  case ObjectKind::NumpyFloat:
    return PyObject_CallMethod(value, "item", nullptr);
  case ObjectKind::Tuple:
  case ObjectKind::List: {
    Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
    PyObject *items = PyTuple_New(size);
    for (Py_ssize_t i = 0; items && i < size; ++i) {
      PyObject *item = plainConstant(PySequence_Fast_GET_ITEM(value, i));
      if (!item)
        Py_CLEAR(items);
      else
        PyTuple_SET_ITEM(items, i, item);
    }
    if (!items || !isNamedTuple(value))
      return items;
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
    PyObject *named = PyObject_CallMethod(type, "_make", "(O)", items);
    Py_DECREF(items);
    return named;
  }
  default:
    Py_INCREF(value);
    return value;
  }
}

/// Whether the class of a tuple-like argument means something to the kernel.
static bool hasMemberNames(PyObject *value) {
  return isNamedTuple(value) || kindOf(value) == ObjectKind::Aggregate;
}

/// The members of a tuple, list or aggregate as a new tuple.
static PyObject *membersOf(PyObject *value) {
  if (kindOf(value) != ObjectKind::Aggregate)
    return PySequence_Tuple(value);
  PyObject *items = PyObject_CallMethod(value, "__tz_flatten__", nullptr);
  if (items && !PyTuple_Check(items)) {
    Py_DECREF(items);
    raise("ArgumentError", "__tz_flatten__() must give a tuple");
    return nullptr;
  }
  return items;
}

/// Appends the word of a tuple or list. Returns a tuple of its elements, owned
/// by the call: a list may change while the elements are looked at.
PyObject *Call::beginTuple(PyObject *value, Tag tag, Py_ssize_t &size) {
  uint64_t type = 0;
  if (hasMemberNames(value))
    type = 1 + interner.idOf(reinterpret_cast<PyObject *>(Py_TYPE(value)));
  PyObject *items = membersOf(value);
  if (!items)
    return nullptr;
  keep.push(items);
  size = PyTuple_GET_SIZE(items);
  if (size > 0xffff) {
    fail("ArgumentError", "a tuple of %zd elements, expected at most 65535",
         size);
    return nullptr;
  }
  key.push(word(tag, static_cast<uint64_t>(size) << 16 | type << 32));
  return items;
}

bool Call::encodeConstant(PyObject *value) {
  switch (kindOf(value)) {
  case ObjectKind::None:
    key.push(word(Tag::None));
    return true;
  case ObjectKind::Bool:
    key.push(word(value == Py_True ? Tag::True : Tag::False));
    return true;
  case ObjectKind::Int:
    if (Py_TYPE(value) == &PyLong_Type) {
      int overflow = 0;
      long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      if (!overflow && number >= -(1LL << 47) && number < (1LL << 47)) {
        key.push(word(Tag::Int, static_cast<uint64_t>(number) << 16));
        return true;
      }
    }
    break;
  case ObjectKind::Float:
    if (Py_TYPE(value) == &PyFloat_Type) {
      double number = PyFloat_AS_DOUBLE(value);
      uint64_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      key.push(word(Tag::Float));
      key.push(bits);
      return true;
    }
    break;
  case ObjectKind::Constexpr:
  case ObjectKind::NumpyBool:
  case ObjectKind::NumpyInt:
  case ObjectKind::NumpyFloat: {
    PyObject *plain = plainConstant(value);
    if (!plain)
      return false;
    keep.push(plain);
    return encodeConstant(plain);
  }
  case ObjectKind::Tuple:
  case ObjectKind::List: {
    Py_ssize_t size;
    PyObject *items = beginTuple(value, Tag::ConstantTuple, size);
    for (Py_ssize_t i = 0; items && i < size; ++i)
      if (!encodeConstant(PyTuple_GET_ITEM(items, i)))
        return false;
    return items != nullptr;
  }
  case ObjectKind::Array:
  case ObjectKind::Torch:
    return fail("ArgumentError",
                "is a compile-time constant (constexpr), found an array of "
                "type '%s'",
                Py_TYPE(value)->tp_name);
  default:
    break;
  }
  int64_t id = interner.idOf(value);
  if (id < 0)
    return fail("ArgumentError",
                "is a compile-time constant (constexpr), found an object of "
                "type '%s' that is not hashable",
                Py_TYPE(value)->tp_name);
  key.push(word(Tag::Object, static_cast<uint64_t>(id) << 16));
  return true;
}

//===----------------------------------------------------------------------===//
// Run-time scalars
//===----------------------------------------------------------------------===//

void Call::pushScalar(DType type, TzValue value, uint64_t facts) {
  key.push(word(Tag::Scalar, static_cast<uint64_t>(type) << 8 | facts));
  values.push(value);
}

bool Call::encodeInt(PyObject *value) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  TzValue slot;
  DType type = kI64;
  if (overflow > 0) {
    unsigned long long large = PyLong_AsUnsignedLongLong(value);
    if (large == static_cast<unsigned long long>(-1) && PyErr_Occurred())
      return fail("ArgumentRangeError",
                  "the integer fits neither int64 nor uint64");
    number = static_cast<long long>(large);
    type = kU64;
  } else if (overflow < 0) {
    return fail("ArgumentRangeError", "the integer does not fit int64");
  } else if (number == -1 && PyErr_Occurred()) {
    return false;
  } else if (number >= INT32_MIN && number <= INT32_MAX) {
    type = kI32;
  }
  slot.i = number;
  uint64_t facts = 0;
  if (parameter->specializeAlignment && (number & 15) == 0)
    facts |= kDivisible;
  if (parameter->specializeValue && number == 1)
    facts |= kOne;
  pushScalar(type, slot, facts);
  return true;
}

/// The range of an integer type; `low` and `high` are both inclusive.
static void rangeOf(DType type, long long &low, unsigned long long &high) {
  static const int bits[] = {1, 8, 16, 32, 64, 8, 16, 32, 64};
  bool isSigned = type >= kI8 && type <= kI64;
  int width = bits[type];
  high = ~0ULL >> (64 - width + isSigned);
  low = isSigned ? -1 - static_cast<long long>(high) : 0;
}

bool Call::encodeFixed(PyObject *value) {
  DType type = parameter->fixedType;
  ObjectKind kind = kindOf(value);
  bool isInt = kind == ObjectKind::Bool || kind == ObjectKind::Int ||
               kind == ObjectKind::NumpyBool || kind == ObjectKind::NumpyInt;
  bool isFloat = kind == ObjectKind::Float || kind == ObjectKind::NumpyFloat;
  if (!isInt && !isFloat)
    return fail("ArgumentError",
                "is annotated %s, found an object of type '%s'",
                dtypeName(type), Py_TYPE(value)->tp_name);
  TzValue slot;
  if (type >= kF8E4NV) {
    slot.f = PyFloat_AsDouble(value);
    if (slot.f == -1.0 && PyErr_Occurred())
      return fail("ArgumentRangeError", "the integer is too large for %s",
                  dtypeName(type));
    pushScalar(type, slot, 0);
    return true;
  }
  if (isFloat)
    return fail("ArgumentError", "is annotated %s, found a float",
                dtypeName(type));
  if (kind == ObjectKind::NumpyBool || type == kI1) {
    int truth = PyObject_IsTrue(value);
    if (truth < 0)
      return false;
    slot.i = truth;
    pushScalar(type, slot, 0);
    return true;
  }
  PyObject *index = PyNumber_Index(value);
  if (!index)
    return false;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
  bool fits = overflow == 0;
  long long low;
  unsigned long long high;
  rangeOf(type, low, high);
  if (overflow > 0 && type == kU64) {
    number = static_cast<long long>(PyLong_AsUnsignedLongLong(index));
    fits = !PyErr_Occurred();
  } else if (fits) {
    fits = number >= low &&
           (number < 0 || static_cast<unsigned long long>(number) <= high);
  }
  Py_DECREF(index);
  if (!fits)
    return fail("ArgumentRangeError",
                "the integer does not fit %s, which the annotation asks for",
                dtypeName(type));
  slot.i = number;
  pushScalar(type, slot, 0);
  return true;
}

bool Call::encodeTuple(PyObject *value) {
  Py_ssize_t size;
  PyObject *items = beginTuple(value, Tag::Tuple, size);
  if (!items)
    return false;
  size_t depth = path.size();
  path.push(0);
  for (Py_ssize_t i = 0; i < size; ++i) {
    path[depth] = i;
    if (!encodeRuntime(PyTuple_GET_ITEM(items, i)))
      return false;
  }
  path.pop();
  return true;
}

bool Call::encodeRuntime(PyObject *value) {
  TzValue slot;
  switch (kindOf(value)) {
  case ObjectKind::Array:
    return encodeArray(value);
  case ObjectKind::Torch:
    return encodeTensor(value, true);
  case ObjectKind::DataPtr:
  case ObjectKind::Mock:
    return encodeTensor(value, false);
  case ObjectKind::Int:
    return encodeInt(value);
  case ObjectKind::NumpyInt: {
    PyObject *index = PyNumber_Index(value);
    bool done = index && encodeInt(index);
    Py_XDECREF(index);
    return done;
  }
  case ObjectKind::Float:
  case ObjectKind::NumpyFloat:
    slot.f = PyFloat_AsDouble(value);
    if (slot.f == -1.0 && PyErr_Occurred())
      return false;
    pushScalar(kF32, slot, 0);
    return true;
  case ObjectKind::Bool:
  case ObjectKind::NumpyBool:
    slot.i = value == Py_True || (value != Py_False && PyObject_IsTrue(value));
    pushScalar(kI1, slot, 0);
    return true;
  case ObjectKind::Tuple:
  case ObjectKind::List:
  case ObjectKind::Aggregate:
    return encodeTuple(value);
  case ObjectKind::None:
  case ObjectKind::Constexpr:
  case ObjectKind::Constant:
    return encodeConstant(value);
  case ObjectKind::Foreign:
    return encodeForeign(value);
  }
  return false;
}

bool Call::encode(const Parameter &param, PyObject *value) {
  parameter = &param;
  path.clear();
  if (param.isConstexpr)
    return encodeConstant(value);
  if (param.fixedType == kNoType || value == Py_None ||
      kindOf(value) == ObjectKind::Constexpr)
    return encodeRuntime(value);
  if (!param.fixedIsPointer)
    return encodeFixed(value);
  if (kindOf(value) != ObjectKind::Int)
    return encodeRuntime(value);
  // A plain address, for a parameter whose annotation says what is there.
  void *address = PyLong_AsVoidPtr(value);
  if (!address && PyErr_Occurred())
    return fail("ArgumentRangeError", "the integer is no address");
  if (!address && !isWarmup)
    return fail("ArgumentError",
                "a null address, expected that of an array; pass None where "
                "there is none");
  return pushPointer(param.fixedType, address, false, nullptr);
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

/// Moves over the words of one compile-time constant.
static void skipConstant(const uint64_t *&cursor) {
  uint64_t head = *cursor++;
  auto tag = static_cast<Tag>(head & 0xff);
  if (tag == Tag::Float)
    ++cursor;
  if (tag == Tag::ConstantTuple)
    for (uint64_t n = (head >> 16) & 0xffff; n; --n)
      skipConstant(cursor);
}

static PyObject *describeTuple(uint64_t head, const uint64_t *&cursor,
                               PyObject *value) {
  auto size = static_cast<Py_ssize_t>((head >> 16) & 0xffff);
  PyObject *members = membersOf(value);
  if (!members)
    return nullptr;
  PyObject *items = nullptr;
  if (PyTuple_GET_SIZE(members) == size)
    items = PyTuple_New(size);
  else
    raise("ArgumentError", "a list changed while the kernel was launched");
  for (Py_ssize_t i = 0; items && i < size; ++i) {
    PyObject *item = describe(cursor, PyTuple_GET_ITEM(members, i));
    if (!item)
      Py_CLEAR(items);
    else
      PyTuple_SET_ITEM(items, i, item);
  }
  Py_DECREF(members);
  if (!items)
    return nullptr;
  PyObject *type = hasMemberNames(value)
                       ? reinterpret_cast<PyObject *>(Py_TYPE(value))
                       : Py_None;
  return Py_BuildValue("(sON)", "tuple", type, items);
}

PyObject *terrazzo::bindings::describe(const uint64_t *&cursor,
                                       PyObject *value) {
  uint64_t head = *cursor;
  auto type = static_cast<DType>((head >> 8) & 0xff);
  PyObject *isDivisible = head & kDivisible ? Py_True : Py_False;
  switch (static_cast<Tag>(head & 0xff)) {
  case Tag::Pointer:
    ++cursor;
    return Py_BuildValue("(ssOO)", "ptr", dtypeName(type), isDivisible,
                         head & kOverlaps ? Py_True : Py_False);
  case Tag::Scalar:
    ++cursor;
    return Py_BuildValue("(ssOO)", "scalar", dtypeName(type), isDivisible,
                         head & kOne ? Py_True : Py_False);
  case Tag::Tuple:
    ++cursor;
    return describeTuple(head, cursor, value);
  default: {
    skipConstant(cursor);
    PyObject *plain = plainConstant(value);
    return plain ? Py_BuildValue("(sN)", "const", plain) : nullptr;
  }
  }
}
