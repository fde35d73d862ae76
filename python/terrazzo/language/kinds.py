# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of arguments: what the parameters of the language's functions take, as declarations.

`builtin` holds every argument of every call against the kind that is declared for its parameter, before the function
runs. How arguments fit together (their shapes, an axis and a rank) is the function's own to say.
"""

import builtins

from ..errors import SemanticError
from .dtypes import dtype
from .values import describe, show, tensor


class Kind:
    """A set of values. `expected` names it in errors, "x of sqrt must be ..."; `elements` the elements of its tiles."""

    def __init__(self, expected, holds, elements=""):
        self.expected = expected
        self.holds = holds
        self.elements = elements

    def __or__(self, other):
        return Kind(f"{self.expected} or {other.expected}", lambda v: self.holds(v) or other.holds(v))

    def check(self, value, what):
        """An error about `what`, unless the value is of the kind."""
        if self.holds(value):
            return
        if isinstance(value, int) and not fits(value):
            raise SemanticError(f"{what} is {show(value)}, which does not fit in 64 bits")
        hint = self._hint(value) if isinstance(value, tensor) else ""
        raise SemanticError(f"{what} must be {self.expected}, found {describe(value)}{hint}")

    def _hint(self, value):
        if self in _STATIC:
            return "; it has to be known at compile time: declare it tl.constexpr"
        return "; load what it points to first" if value.dtype.is_ptr() else ""


def fits(value):
    """Whether it is a Python number that has a dtype."""
    return isinstance(value, (bool, float)) or (isinstance(value, int) and -(2**63) <= value < 2**64)


def _run_time(holds):
    return lambda v: isinstance(v, tensor) and holds(v)


def _is_static_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_sequence(value):
    return isinstance(value, (list, builtins.tuple))


def _is_number(value):
    return not value.dtype.is_ptr() if isinstance(value, tensor) else fits(value)


def _is_float(value):
    return value.dtype.is_floating() if isinstance(value, tensor) else isinstance(value, float)


def _is_integer(value):
    return value.dtype.is_int() if isinstance(value, tensor) else isinstance(value, int) and fits(value)


def _is_int_scalar(value):
    return _is_integer(value) and not (isinstance(value, tensor) and value.shape)


def tiles(of):
    """Tiles whose elements are of a kind."""
    return Kind(f"a tile of {of.elements}", _run_time(lambda v: bool(v.shape) and of.holds(v)))


def choice(*words):
    """One of some words; None stands for the default."""
    text = ", ".join(map(repr, words[:-1])) + f" or {words[-1]!r}"
    return Kind(text, lambda v: v is None or (isinstance(v, str) and v in words))


def static_int(low, high):
    """Compile-time integers from `low` to `high`."""
    kind = Kind(f"a compile-time integer from {low} to {high}", lambda v: _is_static_int(v) and low <= v <= high)
    _STATIC.append(kind)
    return kind


def sequence(of, what):
    """Tuples and lists with members of a kind, or one such value alone."""
    return Kind(what, lambda v: all(map(of.holds, v)) if _is_sequence(v) else of.holds(v))


_STATIC = []  # kinds that no run-time value is of
INT32_MAX = 2**31 - 1

NONE = Kind("None", lambda v: v is None)
ANY = Kind("anything", lambda v: True)
VALUE = Kind("a number or a run-time value", lambda v: isinstance(v, tensor) or fits(v))
NUMBER = Kind("a number or a run-time value of numbers", _is_number, "numbers")
FLOAT = Kind("a float or a run-time value of floats", _is_float, "floats")
INTEGER = Kind("an integer or a run-time value of integers", _is_integer, "integers")
SCALAR_INTEGER = Kind("an integer scalar", _is_int_scalar)
TILE = Kind("a tile", _run_time(lambda v: bool(v.shape)))
POINTER = Kind("a pointer or a tile of pointers", _run_time(lambda v: v.dtype.is_ptr()))
SCALAR_POINTER = Kind("a scalar pointer", _run_time(lambda v: v.dtype.is_ptr() and not v.shape))
MASK = Kind("None or a value of bools or integers", lambda v: v is None or _is_integer(v))
VALUES = sequence(VALUE, "a number, a run-time value or a tuple of these")
TENSORS = sequence(Kind("", _run_time(lambda v: True)), "a tile or a tuple of tiles")
OFFSETS = sequence(SCALAR_INTEGER, "a tuple of integer scalars")
AXIS = static_int(-(2**31), INT32_MAX)
BOUND = Kind("None or a compile-time integer", lambda v: v is None or _is_static_int(v))
STATIC_INTS = Kind("a tuple of compile-time integers", lambda v: all(map(AXIS.holds, v if _is_sequence(v) else [v])))
FLAG = Kind("True or False", lambda v: v is None or isinstance(v, int))
TEXT = Kind("a string", lambda v: isinstance(v, str))
SCALAR_TYPE = Kind("a scalar type", lambda v: isinstance(v, dtype) and not v.is_block())
TYPE = Kind("a type such as tl.float32", lambda v: isinstance(v, dtype) and not v.is_block() and not v.is_void())
FUNCTION = Kind("a function", lambda v: callable(v) and not isinstance(v, (type, dtype)))
_STATIC += [BOUND, STATIC_INTS, FLAG, TEXT, SCALAR_TYPE, TYPE]
