# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The run-time parts of a value, and how to put it together again: what branches and loops hand on.

A pattern describes the values that a variable has on several ways through a kernel. Its leaves are scalars and tiles,
which become results of scf operations; all else (None, dtypes, functions, strings) has to be the same on each way.
"""

import math

from ..errors import CompileError
from ..language.aggregates import Aggregate, is_fixed_field, members_of, with_members
from ..language.dtypes import float32, float64, int1, int32, int64, pointer_type, uint64
from ..language.kinds import fits
from ..language.promotion import constant, literal_dtype, splat
from ..language.values import constexpr, describe, show, tensor
from ..language.values import tuple as tl_tuple

ABSENT = object()  # the value of a variable on a way where nobody reads it


class MismatchError(Exception):
    """Values that have no common pattern: `first` and `second` describe the parts that differ."""

    def __init__(self, first, second, hint=""):
        super().__init__(f"{first} and {second}")
        self.first, self.second, self.hint = first, second, hint


def is_number(value):
    """Whether it is a compile-time bool, int or float."""
    return isinstance(value, constexpr) and isinstance(value.value, (bool, int, float))


def is_object(value):
    """Whether it is an object of the language made of scalars, such as a block pointer."""
    return hasattr(value, "flatten") and hasattr(value, "unflatten")


def describe_value(value):
    """How errors show a value: its type, or the constant itself with the type that it has at run time."""
    if is_number(value) and fits(value.value):
        return f"{literal_dtype(value.value)} (the constant {show(value.value)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(describe_value, value))}{',' if len(value) == 1 else ''})"
    if is_object(value):
        return f"a {type(value).__name__.replace('_', ' ')} of {value.type}"
    if isinstance(value, Aggregate):
        return f"{type(value).__name__}({', '.join(map(describe_value, members_of(value)))})"
    if value is None:
        return "None"
    return describe(value)


def same(a, b):
    """Whether two values are the same at compile time already."""
    if a is b:
        return True
    if isinstance(a, constexpr) and isinstance(b, constexpr):
        a, b = a.value, b.value
        if isinstance(a, float) and isinstance(b, float):
            return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, tensor) and isinstance(b, tensor):
        return a.type == b.type and a.handle == b.handle
    if isinstance(a, tuple) and isinstance(b, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Aggregate) and isinstance(b, Aggregate):
        return type(a) is type(b) and all(map(same, members_of(a), members_of(b)))
    if isinstance(a, (tensor, constexpr, tuple)) or isinstance(b, (tensor, constexpr, tuple)) or is_object(a):
        return False
    return type(a) is type(b) and not isinstance(a, list) and bool(a == b)


def common_literal_type(values):
    """The dtype of literals that are different on different ways."""
    types = [literal_dtype(v.value) for v in values]
    kinds = {t.kind() for t in types}
    if len(kinds) > 1:
        other = next(v for v, t in zip(values, types) if t.kind() != types[0].kind())
        raise MismatchError(describe_value(values[0]), describe_value(other))
    ranked = (int1, int32, int64, uint64, float32, float64)
    return max(types, key=ranked.index)


def zero(type):
    """Some value of a type, for ways on which nobody reads it."""
    scalar = type.scalar
    if isinstance(scalar, pointer_type):
        from ..language.cast import cast_to

        return splat(cast_to(constant(0, int64), scalar), _shape(type))
    return splat(constant(0, scalar), _shape(type))


def _shape(type):
    return type.shape if type.is_block() else ()


class Static:
    """A value that is known at compile time and never changes."""

    types = ()

    def __init__(self, value):
        self.value = value

    def flatten(self, value):
        if value is not ABSENT and not same(value, self.value):
            raise MismatchError(describe_value(self.value), describe_value(value))
        return []

    def build(self, parts):
        return self.value


class Leaf:
    """A scalar or tile."""

    def __init__(self, type):
        self.type = type
        self.types = (type,)

    def flatten(self, value):
        if value is ABSENT:
            return [zero(self.type)]
        if isinstance(value, tensor):
            if value.type != self.type:
                raise MismatchError(str(self.type), describe_value(value))
            return [value]
        if is_number(value) and not self.type.is_block() and not self.type.is_ptr():
            own = literal_dtype(value.value)
            if own.kind() == self.type.kind():
                try:
                    return [constant(value.value, self.type)]
                except CompileError as error:
                    raise MismatchError(str(self.type), describe_value(value), error.message) from None
        raise MismatchError(str(self.type), describe_value(value))

    def build(self, parts):
        return next(parts)


class Members:
    """A tuple of patterns, or those of the fields of an aggregate."""

    def __init__(self, proto, items):
        self.proto = proto
        self.items = items
        self.types = tuple(t for item in items for t in item.types)

    def flatten(self, value):
        if value is ABSENT:
            return [part for item in self.items for part in item.flatten(ABSENT)]
        members = alike(self.proto, value)
        return [part for item, member in zip(self.items, members) for part in item.flatten(member)]

    def build(self, parts):
        return remake(self.proto, [item.build(parts) for item in self.items])


def alike(proto, value):
    """The members of a tuple as long as `proto`, or of an aggregate of its class; raises MismatchError."""
    if isinstance(proto, Aggregate):
        if type(value) is type(proto):
            return members_of(value)
    elif isinstance(value, tuple) and len(value) == len(proto):
        return list(tuple.__iter__(value))
    raise MismatchError(describe_value(proto), describe_value(value))


def remake(proto, members):
    """A tuple or aggregate of the class of `proto`."""
    if isinstance(proto, Aggregate):
        return with_members(proto, members)
    if hasattr(proto, "_fields"):
        return type(proto)(*members)
    if isinstance(proto, tl_tuple):
        return tl_tuple(members, proto.__dict__.get("_type"))
    return type(proto)(members)


class Composite:
    """An object of the language that is made of scalars. Of a block pointer only the offsets, unless `whole`."""

    def __init__(self, proto, whole):
        self.proto = proto
        self.whole = whole or not hasattr(proto, "same_tensor")
        self.types = tuple(part.type for part in self._parts(proto))

    def _parts(self, value):
        return value.flatten_all() if self.whole and hasattr(value, "flatten_all") else value.flatten()

    def flatten(self, value):
        if value is ABSENT:
            return [zero(t) for t in self.types]
        if type(value) is not type(self.proto) or value.type != self.proto.type:
            raise MismatchError(describe_value(self.proto), describe_value(value))
        if not self.whole and not self.proto.same_tensor(value):
            raise MismatchError(describe_value(self.proto), "a block pointer into another tensor")
        return self._parts(value)

    def build(self, parts):
        return self.proto.unflatten([next(parts) for _ in self.types])


def changing(value, whole_objects=True, numbers=True):
    """The pattern of a variable that a loop changes, from its value before the loop: `numbers` become run-time ones."""
    if is_number(value) and numbers:
        return Leaf(literal_dtype(value.value))
    if isinstance(value, tensor):
        return Leaf(value.type)
    if isinstance(value, tuple):
        return Members(value, [changing(v, whole_objects, numbers) for v in value])
    if isinstance(value, Aggregate):
        fields = enumerate(members_of(value))
        return Members(
            value, [Static(v) if is_fixed_field(value, i) else changing(v, whole_objects, numbers) for i, v in fields]
        )
    if is_object(value):
        return Composite(value, whole_objects)
    return Static(value)


def joined(values):
    """The pattern that values of one variable on several ways have together; raises MismatchError."""
    present = [v for v in values if v is not ABSENT]
    first = present[0]
    if all(same(first, v) for v in present[1:]):
        # With a way that lacks the value, it was made on the others and has to be handed out of there.
        return Static(first) if len(present) == len(values) else changing(first, numbers=False)
    if isinstance(first, (tuple, Aggregate)):
        return _joined_members(first, values, present)
    if is_object(first):
        whole = not all(first.same_tensor(v) for v in present) if hasattr(first, "same_tensor") else True
        return Composite(first, whole)
    tensors = [v for v in present if isinstance(v, tensor)]
    if tensors:
        return Leaf(tensors[0].type)
    if all(map(is_number, present)):
        return Leaf(common_literal_type(present))
    other = next(v for v in present if not same(first, v))
    raise MismatchError(describe_value(first), describe_value(other))


def _joined_members(first, values, present):
    rows = {id(value): alike(first, value) for value in present}
    count = len(rows[id(first)])
    columns = [[v if v is ABSENT else rows[id(v)][i] for v in values] for i in range(count)]
    return Members(first, [joined(column) for column in columns])
