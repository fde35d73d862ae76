# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values as lists of run-time values: what loops carry and branches join.

A value is a tensor, a tuple of values, an object with flatten() and unflatten() such as a block pointer, or a
compile-time value, which has no run-time part.
"""

import builtins

from ..language import values as lang
from ..language.promotion import constant, is_literal, literal_dtype
from ..language.values import constexpr, tensor, unwrap


class Unbound:
    """Stands for a variable that has no usable value, and says why."""

    def __init__(self, reason):
        self.reason = reason


def is_tuple(value):
    """Whether it is a tuple or list of values."""
    return isinstance(value, (builtins.tuple, list))


def rebuild_tuple(like, members):
    """A tuple of the kind of another one."""
    if isinstance(like, lang.tuple):
        return lang.tuple(members, like._type)
    if hasattr(like, "_fields"):
        return type(like)(*members)
    return type(like)(members)


def flatten(value):
    """The run-time values in a value, in order."""
    if isinstance(value, tensor):
        return [value]
    if is_tuple(value):
        return [leaf for member in value for leaf in flatten(member)]
    if hasattr(value, "flatten") and hasattr(value, "unflatten") and not isinstance(value, constexpr):
        return list(value.flatten())
    return []


def unflatten(like, leaves):
    """The value of the structure of `like` with other run-time values; takes them from the iterator `leaves`."""
    if isinstance(like, tensor):
        return next(leaves)
    if is_tuple(like):
        return rebuild_tuple(like, [unflatten(member, leaves) for member in like])
    if hasattr(like, "flatten") and hasattr(like, "unflatten") and not isinstance(like, constexpr):
        return like.unflatten([next(leaves) for _ in like.flatten()])
    return like


def is_static(value):
    """Whether there is nothing run-time in it."""
    return not flatten(value)


def same_static(a, b):
    """Whether two compile-time values are the same, of the same type."""
    a, b = unwrap(a), unwrap(b)
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b) and not (isinstance(a, float) and str(a) != str(b))
    except Exception:
        return False


def materialize(value, like=None):
    """Compile-time numbers in a value as run-time scalars, of the type of `like` where that is given."""
    if isinstance(value, tensor):
        return value
    if is_tuple(value):
        likes = like if is_tuple(like) and len(like) == len(value) else [None] * len(value)
        return rebuild_tuple(value, [materialize(v, target) for v, target in zip(value, likes, strict=True)])
    plain = unwrap(value)
    if is_literal(plain):
        if isinstance(like, tensor) and not like.shape and fits(plain, like.dtype):
            return constant(plain, like.dtype)
        return constant(plain, literal_dtype(plain))
    return value


def fits(literal, dtype):
    """Whether a number can become a scalar of `dtype` without a change of kind."""
    if dtype.is_ptr():
        return False
    if dtype.is_floating():
        return not isinstance(literal, bool)
    if dtype.is_bool():
        return isinstance(literal, bool)
    return (
        isinstance(literal, int)
        and not isinstance(literal, bool)
        and dtype.get_int_min_value() <= literal <= dtype.get_int_max_value()
    )


def type_text(value):
    """How messages name the type of a value."""
    if isinstance(value, tensor):
        return str(value.type)
    if is_tuple(value):
        return f"({', '.join(type_text(v) for v in value)})"
    if isinstance(value, Unbound):
        return "no value"
    plain = unwrap(value)
    if is_literal(plain) or plain is None or isinstance(plain, str):
        return f"the constant {plain!r}"
    return f"a compile-time {type(plain).__name__}"


def same_types(a, b):
    """Whether two values have one structure and equal types of their run-time parts."""
    if isinstance(a, tensor) or isinstance(b, tensor):
        return isinstance(a, tensor) and isinstance(b, tensor) and a.type == b.type
    if is_tuple(a) or is_tuple(b):
        return is_tuple(a) and is_tuple(b) and len(a) == len(b) and all(same_types(x, y) for x, y in zip(a, b))
    leaves_a, leaves_b = flatten(a), flatten(b)
    if leaves_a or leaves_b:
        return type(a) is type(b) and [x.type for x in leaves_a] == [x.type for x in leaves_b]
    return same_static(a, b)
