//===- Arguments.h - Python arguments to words and values -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the arguments of a call writes two arrays: the words of the
// specialisation key (types, facts about values, compile-time constants) and
// the values of the run-time arguments. It builds no Python object for the
// types that launches usually carry. On a miss the words are read back into
// descriptions that the compiler front uses, so that key and description cannot
// disagree.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_BINDINGS_ARGUMENTS_ARGUMENTS_H
#define TERRAZZO_BINDINGS_ARGUMENTS_ARGUMENTS_H

#include "Place.h"
#include "terrazzo-c/Runtime.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::bindings {

/// Scalar types, numbered. `kNoType` where there is none.
enum DType : uint8_t {
  kI1,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF8E4NV,
  kF8E5,
  kF8E4B8,
  kF8E5B16,
  kF8E4B15,
  kF16,
  kBF16,
  kF32,
  kF64,
  kTypeCount,
  kNoType = 255
};

/// The language's name of a type: "int1", "fp32", "bf16".
const char *dtypeName(DType type);
/// The type that a name of the language, of numpy or of torch means.
DType dtypeByName(const char *name);

/// What a word of the key says in its low byte. The rest of the word is the
/// detail: see encode.
enum class Tag : uint8_t {
  Option,  ///< the number of the option << 8; its value follows
  None,    ///< None, a compile-time constant also where no constexpr is asked
  Pointer, ///< dtype << 8 | kDivisible | kOverlaps
  Scalar,  ///< dtype << 8 | kDivisible | kOne
  Tuple,   ///< length << 16 | (1 + id of the type) << 32; the elements follow
  False,
  True,
  Int,           ///< a constant of less than 48 bits: value << 16
  Float,         ///< the next word is the constant's bits
  ConstantTuple, ///< as Tuple, of constants
  Object,        ///< any other constant: its id << 16
};
constexpr uint64_t kDivisible = 1 << 16; ///< address or value, by 16
constexpr uint64_t kOne = 1 << 17;       ///< the value is 1
constexpr uint64_t kOverlaps = 1 << 18;  ///< with others that are marked so

/// An array that grows past `N` elements only if it must.
template <typename T, size_t N>
class Inline {
public:
  void push(T value) {
    if (count == capacity)
      grow();
    items[count++] = value;
  }
  void pop() { --count; }
  void clear() { count = 0; }
  size_t size() const { return count; }
  T *data() { return items; }
  const T *data() const { return items; }
  T &operator[](size_t i) { return items[i]; }
  const T &operator[](size_t i) const { return items[i]; }

private:
  void grow() {
    auto bigger = std::make_unique<T[]>(capacity * 2);
    std::copy(items, items + count, bigger.get());
    heap = std::move(bigger);
    items = heap.get();
    capacity *= 2;
  }
  T local[N];
  std::unique_ptr<T[]> heap;
  T *items = local;
  size_t count = 0, capacity = N;
};

/// One parameter of a kernel function.
struct Parameter {
  PyObject *name = nullptr;     ///< interned
  PyObject *fallback = nullptr; ///< the default, or null
  bool isConstexpr = false;
  bool specializeValue = true;     ///< may know that an integer is 1
  bool specializeAlignment = true; ///< may know what 16 divides
  bool fixedIsPointer = false;
  DType fixedType = kNoType; ///< what the annotation asks for
};

/// Compile-time constants that are no plain number, numbered. Holds references
/// to them, so that a number never comes to mean another object.
class Interner {
public:
  /// The number of `value`, or -1 with an exception set (it is not hashable).
  int64_t idOf(PyObject *value);
  int traverse(visitproc visit, void *arg);
  void clear();

private:
  PyObject *types = nullptr; ///< {type: {value: id}}: 1, 1.0, True differ
  int64_t next = 0;
};

/// An array among the values of a call.
struct PointerArgument {
  uint32_t value, word; ///< its places in the values and in the key
  PyObject *object;     ///< that can be asked how far it reaches, or null
  uintptr_t reach;      ///< bytes before the address that belong to it
  uintptr_t end;        ///< behind its last byte; 0: not known yet
};

/// One call: what the walk writes.
struct Call {
  explicit Call(Interner &interner) : interner(interner) {}
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Interner &interner;
  Inline<uint64_t, 96> key;
  Inline<TzValue, 64> values;
  /// Which values are read-only arrays, and whose.
  Inline<std::pair<uint32_t, const Parameter *>, 8> readOnly;
  Inline<PointerArgument, 16> pointers;
  Inline<PyObject *, 8> keep; ///< references that live until the launch ends
  bool isWarmup = false;      ///< arrays without memory are welcome

  // Where the call runs, as far as it is known yet.
  Place place;
  const Parameter *placedBy = nullptr; ///< the array that says so, or none
  bool usesTorch = false;              ///< a tensor of torch is on a GPU
  bool sawShared = false; ///< an array is in memory that all devices see
  bool hasStream = false; ///< the call says the stream
  void *stream = nullptr;

  // Where the walk is, for messages.
  const Parameter *parameter = nullptr;
  Inline<Py_ssize_t, 8> path;

  /// Appends the words and values of an argument. False: an exception is set.
  bool encode(const Parameter &parameter, PyObject *value);
  /// Appends the words of a compile-time constant.
  bool encodeConstant(PyObject *value);
  /// Decides where the call runs once all arguments have been seen.
  bool settlePlace();
  /// Marks in the key each array that shares memory with another, if one of the
  /// two is written; `written` says that by value. Whether there are any.
  bool markOverlaps(const std::vector<bool> &written);
  /// Raises errors.`kind` with "argument 'name': message".
  bool fail(const char *kind, const char *format, ...);

private:
  PyObject *beginTuple(PyObject *value, Tag tag, Py_ssize_t &size);
  bool encodeRuntime(PyObject *value);
  bool encodeFixed(PyObject *value);
  bool encodeInt(PyObject *value);
  bool encodeTuple(PyObject *value);
  bool encodeForeign(PyObject *value);
  bool encodeTensor(PyObject *value, bool isTorch);
  bool encodeArray(PyObject *value);
  bool encodeArrayInterface(PyObject *interface, const char *protocol);
  bool encodeCudaInterface(PyObject *value, PyObject *interface);
  bool encodeDlpack(PyObject *value);
  bool encodeCapsule(PyObject *capsule);
  bool seePlace(Place found, PyObject *value);
  bool failPlace(Place found, PyObject *value);
  /// The errors of an array without memory that has elements.
  bool failNull(const char *what);
  bool failNull(PyObject *value);
  /// `object` can be asked for its extent, or the bytes are given from `reach`
  /// before the address to `end`.
  bool pushPointer(DType type, const void *address, bool isReadOnly,
                   PyObject *object, uintptr_t reach = 0, uintptr_t end = 0);
  uintptr_t endOf(PointerArgument &argument);
  bool share(PointerArgument &a, PointerArgument &b);
  void pushScalar(DType type, TzValue value, uint64_t facts);
};

/// Reads the words of one argument back, from `*cursor` on: ("ptr", dtype,
/// divisible, overlaps), ("scalar", dtype, divisible, one), ("const", value) or
/// ("tuple", type, (...)). Null: an exception is set.
PyObject *describe(const uint64_t *&cursor, PyObject *value);

/// A compile-time constant in its plain form: tl.constexpr and numpy scalars
/// unwrapped, lists as tuples. A new reference.
PyObject *plainConstant(PyObject *value);

/// Whether an extent of a shape, any sequence, is 0.
bool hasNoElements(PyObject *shape);

/// Raises terrazzo.errors.`kind`(text).
void raise(const char *kind, const std::string &text);

/// Tells the walk about the classes of the language: its constexpr and dtype.
void setLanguageTypes(PyObject *constexprType, PyObject *dtypeType);

} // namespace terrazzo::bindings

#endif // TERRAZZO_BINDINGS_ARGUMENTS_ARGUMENTS_H
