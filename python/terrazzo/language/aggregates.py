# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Aggregates: classes whose objects kernels make, pass on and carry through loops, field by field.

@tl.aggregate
class Range:
    start: tl.tensor
    length: tl.constexpr

    def __init__(self, start, length): ...   # runs when the kernel is compiled; left out, it sets the fields in order

    @tz.jit
    def indices(self): return self.start + tl.arange(0, self.length)

Objects never change: the constructor sets each field once.
"""

import inspect

from ..errors import ArgumentError, CompileError, SemanticError
from . import kinds as k
from .builder import builtin
from .promotion import is_literal, to_tensor
from .values import constexpr, constexpr_type, describe, tensor, unwrap


class Aggregate:
    """The base of all aggregates. `tz_fields` has the names of a class's fields and whether each is a constexpr."""

    tz_fields = ()

    def __setattr__(self, name, value):
        fields = dict(self.tz_fields)
        cls = type(self).__name__
        if name not in fields:
            raise SemanticError(f"{cls} has no field '{name}', expected one of {', '.join(fields) or 'none'}")
        if name in self.__dict__:
            raise SemanticError(f"field '{name}' of {cls} has a value already: aggregates do not change")
        self.__dict__[name] = _field(cls, name, fields[name], value)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{n}={describe(v)}' for n, v in self.__dict__.items())})"

    @property
    def type(self):
        """The name of the class, as errors show the type of a value."""
        return type(self).__name__


def _field(cls, name, is_constexpr, value):
    """A value as a field holds it."""
    plain = unwrap(value)
    if is_constexpr:
        if isinstance(plain, tensor):
            raise SemanticError(f"field '{name}' of {cls} is a constexpr, found the run-time value {describe(plain)}")
        return constexpr(plain)
    if is_literal(plain):
        return to_tensor(plain)
    return value


def members_of(value):
    """The fields of an aggregate, in the order of its class."""
    return [value.__dict__[name] for name, _ in value.tz_fields]


def with_members(proto, members):
    """An aggregate of the class of another one, with other fields."""
    made = object.__new__(type(proto))
    made.__dict__.update(zip((name for name, _ in proto.tz_fields), members, strict=True))
    return made


def is_fixed_field(proto, index):
    """Whether a field is known at compile time in all objects of the class."""
    return proto.tz_fields[index][1]


def make(cls, args, kwargs):
    """An object of an aggregate class, by its constructor; an error unless that sets all fields."""
    made = object.__new__(cls)
    signature = inspect.signature(cls.__init__)
    try:
        signature.bind(made, *args, **kwargs)
    except TypeError as error:
        raise SemanticError(f"{cls.__name__}(): {error}") from None
    try:
        cls.__init__(made, *args, **kwargs)
    except CompileError:
        raise
    except Exception as error:  # the user's own, at the line of the call
        raise SemanticError(f"{cls.__name__}() raises {type(error).__name__}: {error}") from error
    missing = [name for name, _ in cls.tz_fields if name not in made.__dict__]
    if missing:
        raise SemanticError(f"the constructor of {cls.__name__} sets no field '{missing[0]}'")
    return made


@builtin(value=k.Kind("an aggregate", lambda v: isinstance(v, Aggregate)), changes=k.ANY)
def aggregate_replace(value, **changes):
    """An aggregate with other values in some of its fields."""
    fields = dict(value.tz_fields)
    members = dict(zip(fields, members_of(value), strict=True))
    for name, new in changes.items():
        if name not in fields:
            raise SemanticError(f"{type(value).__name__} has no field '{name}', expected one of {', '.join(fields)}")
        members[name] = _field(type(value).__name__, name, fields[name], new)
    return with_members(value, list(members.values()))


def _says_constexpr(annotation):
    if isinstance(annotation, str):
        return "constexpr" in annotation
    return annotation is constexpr or isinstance(annotation, (constexpr, constexpr_type))


def _plain_constructor(fields, defaults):
    """A constructor that takes the fields in order."""

    def construct(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in fields:
            setattr(self, name, bound.arguments[name])

    parameter = inspect.Parameter
    parameters = [parameter("self", parameter.POSITIONAL_ONLY)]
    parameters += [
        parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(name, parameter.empty)) for name in fields
    ]
    signature = construct.__signature__ = inspect.Signature(parameters)
    return construct


def aggregate(cls):
    """Makes a class one whose objects kernels can make: its annotations are the fields.

    Functions marked as jit are methods for kernels, those marked as constexpr_function run when the kernel is
    compiled, as the constructor does.
    """
    annotations = {}
    for base in reversed(cls.__mro__):
        annotations.update(vars(base).get("__annotations__", {}))
    fields = tuple((name, _says_constexpr(annotation)) for name, annotation in annotations.items())
    if getattr(cls.__init__, "__tz_jit__", False):
        raise ArgumentError(f"{cls.__name__}.__init__ cannot be a jit function: it runs when the kernel is compiled")
    names = {"tz_fields": fields, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    names |= {"__doc__": cls.__doc__, "__annotations__": annotations}
    if cls.__init__ is object.__init__:
        defaults = {name: getattr(cls, name) for name in annotations if hasattr(cls, name)}
        names["__init__"] = _plain_constructor(list(annotations), defaults)
    bases = (cls,) if issubclass(cls, Aggregate) else (Aggregate, cls)
    return type(cls)(cls.__name__, bases, names)
