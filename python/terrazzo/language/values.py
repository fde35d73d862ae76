# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N801
"""Values in kernels: tensor (a run-time scalar or tile), constexpr (a compile-time value), tuple and slice.

The class tensor has no operators of its own: arithmetic.py, indexing.py and others add them, so that this file knows
none of the functions that work on tensors.
"""

import builtins
import enum
import operator
import types

from ..errors import CompileError, SemanticError
from .dtypes import block_type, dtype, pointer_type


def unwrap(value):
    """The value of a constexpr, everything else as it is; looks into tuples and lists."""
    if isinstance(value, constexpr):
        return unwrap(value.value)
    if type(value) is builtins.tuple or type(value) is tuple:
        return type(value)([unwrap(v) for v in value])
    if isinstance(value, builtins.list):
        return [unwrap(v) for v in value]
    return value


class constexpr_type:
    """The type of a compile-time value; equal for equal values."""

    def __init__(self, value):
        self.value = unwrap(value)

    def mangle(self):
        """What stands for the value in names of symbols."""
        return repr(self.value)

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


class constexpr:
    """A value known at compile time. Operators on two of them follow Python and give another one.

    As an annotation it marks parameters that are fixed when a kernel is compiled. Its methods `to`, `logical_and` and
    `logical_or` are added where those functions are.
    """

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self):
        """A type that holds the value."""
        return constexpr_type(self.value)

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __iter__(self):
        return iter(self.value)

    def __len__(self):
        return len(self.value)

    def __contains__(self, item):
        return unwrap(item) in self.value

    def __getitem__(self, index):
        return constexpr(self.value[unwrap(index)])

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getattr__(self, name):
        if name == "value" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self.value, name)

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr[{self.value!r}]"

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)


def _fold(fn, reflected):
    """An operator of constexpr; values that are no constants get their turn by NotImplemented."""

    def method(self, other):
        other = unwrap(other)
        if isinstance(other, tensor):
            return NotImplemented
        left, right = (other, self.value) if reflected else (self.value, other)
        try:
            return constexpr(fn(left, right))
        except TypeError:  # Python's words are about its own classes
            raise SemanticError(
                f"operator {_SYMBOLS[fn]} does not take the compile-time values {show(left)} and {show(right)}"
            ) from None
        except (ArithmeticError, ValueError, MemoryError) as error:
            raise SemanticError(f"{error} (compile-time values {show(left)} and {show(right)})") from None

    return method


_BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SYMBOLS = dict(zip(_BINARY.values(), ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"), strict=True))
_SYMBOLS |= dict(zip((getattr(operator, n) for n in _COMPARISONS), ("==", "!=", "<", "<=", ">", ">="), strict=True))
for _name, _fn in _BINARY.items():
    setattr(constexpr, f"__{_name}__", _fold(_fn, False))
    setattr(constexpr, f"__r{_name}__", _fold(_fn, True))
for _name in _COMPARISONS:
    setattr(constexpr, f"__{_name}__", _fold(getattr(operator, _name), False))
constexpr.__neg__ = lambda self: constexpr(-self.value)
constexpr.__pos__ = lambda self: constexpr(+self.value)
constexpr.__invert__ = lambda self: constexpr(~self.value)
constexpr.__not__ = lambda self: constexpr(not self.value)


def constexpr_function(fn, is_unwrapping=True):
    """Marks a Python function that kernels may call with compile-time values; it runs when the kernel is compiled.

    Its arguments are plain values, or as they are in kernels where not `is_unwrapping`.
    """
    import functools

    from .builder import active

    plain = unwrap if is_unwrapping else lambda value: value

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        for key in ("_semantic", "_builder", "_generator"):
            kwargs.pop(key, None)
        try:
            result = fn(*[plain(a) for a in args], **{k: plain(v) for k, v in kwargs.items()})
        except CompileError:
            raise
        except Exception as error:
            if not active():
                raise
            # The user's own, at the line of the call.
            raise SemanticError(f"{fn.__name__}() raises {type(error).__name__}: {error}") from error
        return result if isinstance(result, (constexpr, tensor)) or result is None else constexpr(result)

    wrapper.__tl_builtin__ = True
    return wrapper


class tensor:
    """A run-time value: a scalar, or a tile with a shape.

    `type` is a dtype, a pointer_type or a block_type, `dtype` the type of an element, `shape` a tuple of ints, () for a
    scalar. `handle` is the value in the IR.
    """

    def __init__(self, handle, type):
        self.handle = handle
        self.type = type

    @property
    def dtype(self):
        """The type of an element."""
        return self.type.scalar

    @property
    def shape(self):
        """The extents, () for a scalar."""
        return self.type.shape if isinstance(self.type, block_type) else ()

    @property
    def numel(self):
        """How many elements there are, as a constexpr."""
        return constexpr(self.type.numel if isinstance(self.type, block_type) else 1)

    @property
    def element_ty(self):
        """What a pointer points to, or the type of an element."""
        scalar = self.type.scalar
        return scalar.element_ty if isinstance(scalar, pointer_type) else scalar

    def __bool__(self):
        raise SemanticError(f"a run-time value ({self.type}) was used where its truth has to be known at compile time")

    def __index__(self):
        raise SemanticError(f"a run-time value ({self.type}) was used where a compile-time integer is expected")

    def __len__(self):
        if not self.shape:
            raise SemanticError(f"a scalar ({self.type}) has no length")
        return self.shape[0]

    def __iter__(self):
        raise SemanticError(
            f"a run-time value ({self.type}) cannot be iterated over or unpacked; index it, or use tl.split"
        )

    def __hash__(self):
        return id(self)

    def __str__(self):
        return str(self.type)

    def __repr__(self):
        return f"tensor({self.type})"


class tuple_type:
    """The types of the members of a tuple, with their names where it has some."""

    def __init__(self, types, fields=None):
        self.types = list(types)
        self.fields = fields

    @property
    def name(self):
        """The names of the types in brackets."""
        return f"[{','.join(str(t) for t in self.types)}]"

    def __getitem__(self, index):
        return self.types[unwrap(index)]

    def __iter__(self):
        return iter(self.types)

    def __eq__(self, other):
        return isinstance(other, tuple_type) and (self.types, self.fields) == (other.types, other.fields)

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name


class tuple(builtins.tuple):
    """A tuple of values of the language; a Python tuple with `values` and `type`."""

    def __new__(cls, args=(), type=None):
        self = super().__new__(cls, args)
        self._type = type
        return self

    @property
    def values(self):
        """The members as a list."""
        return list(self)

    @property
    def type(self):
        """The types of the members."""
        if self._type is not None:
            return self._type
        return tuple_type([getattr(v, "type", constexpr_type(v)) for v in self])

    def __getitem__(self, index):
        index = unwrap(index)
        if isinstance(index, slice):
            index = index.python()
        found = super().__getitem__(index)
        return tuple(found) if isinstance(index, builtins.slice) else found

    def __getattr__(self, name):
        fields = self.__dict__["_type"].fields if self.__dict__.get("_type") is not None else None
        if fields and name in fields:
            return self[list(fields).index(name)]
        raise AttributeError(f"a tuple has no member {name!r}")

    def __add__(self, other):
        other = other.value if isinstance(other, constexpr) else other
        return tuple([*self, *other]) if isinstance(other, builtins.tuple) else NotImplemented

    def __radd__(self, other):
        return tuple([*other, *self]) if isinstance(other, builtins.tuple) else NotImplemented

    def __mul__(self, count):
        return tuple(builtins.tuple(self) * unwrap(count))

    def __eq__(self, other):
        other = unwrap(other)
        if not isinstance(other, builtins.tuple):
            return False
        return len(self) == len(other) and all(
            unwrap(a) is unwrap(b) or bool(unwrap(a) == unwrap(b)) for a, b in zip(self, other, strict=False)
        )

    def __ne__(self, other):
        return not self == other

    __hash__ = builtins.tuple.__hash__


class Shape(tuple):
    """The extents of a tile, as kernels see them: a tuple that also equals a list of the same extents."""

    def __eq__(self, other):
        other = unwrap(other)
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


class slice:
    """A slice as an index: `start`, `stop` and `step` as in Python."""

    def __init__(self, start=None, stop=None, step=None):
        self.start, self.stop, self.step = start, stop, step

    def python(self):
        """Python's own slice of the same bounds."""
        return builtins.slice(unwrap(self.start), unwrap(self.stop), unwrap(self.step))


_LONGEST = 60  # characters of a constant in a message


def key_text(value):
    """A number, string or other constant of Python as keys have it: the same text for the same value and type only.

    Integers are written in base 16: in base 10 Python refuses those of many digits.
    """
    return f"int:{value:#x}" if type(value) is int else f"{type(value).__name__}:{value!r}"


def show(value):
    """A compile-time value as messages show it: as Python writes it where that is short, else what it is."""
    value = unwrap(value)
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, int) and abs(value) >= 1 << 128:
        return f"an integer of {value.bit_length()} bits"
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes)):
        text = "..." if value is Ellipsis else repr(value[:_LONGEST] if isinstance(value, (str, bytes)) else value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...{text[-1]}"
    if isinstance(value, (builtins.tuple, list)):
        shown = [show(v) for v in value[:6]] + ["..."] * (len(value) > 6)
        inner = ", ".join(shown) + ("," if len(value) == 1 and isinstance(value, builtins.tuple) else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return describe(value)


def describe(value):
    """How messages name a value: its type, or the constant itself with its class; never an address."""
    value = unwrap(value)
    if isinstance(value, tensor):
        return f"a pointer ({value.type})" if value.dtype.is_ptr() and not value.shape else str(value.type)
    if isinstance(value, dtype):
        return f"the type {value}"
    if value is None or value is Ellipsis:
        return show(value)
    if isinstance(value, enum.Enum) or type(value) in (bool, int, float, complex, str, bytes, builtins.tuple, list):
        text = show(value)
        return text if text.startswith("an integer") else f"{text} ({type(value).__name__})"
    if isinstance(value, builtins.tuple):
        return show(builtins.tuple(value))
    return _describe_object(value)


def _describe_object(value):
    name = getattr(value, "__name__", None)
    if isinstance(value, type):
        return f"the class {name}"
    if isinstance(value, types.ModuleType):
        return f"the module {name}"
    if hasattr(value, "flatten") and hasattr(value, "unflatten"):
        return f"a {type(value).__name__.replace('_', ' ')} of {value.type}"
    if isinstance(name, str):  # functions of kernels, too, which are called by inlining them
        return "a lambda" if name == "<lambda>" else f"the function {name}"
    return f"an object of the class {type(value).__name__}"


def static_int(value, what):
    """The int that a compile-time `value` is; an error names it as `what`."""
    value = unwrap(value)
    if isinstance(value, tensor):
        raise SemanticError(
            f"{what} must be known at compile time, found a run-time {value.type}; declare it tl.constexpr"
        )
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise SemanticError(f"{what} must be an integer, found {describe(value)}")
    return operator.index(value)


def static_shape(shape, what="shape"):
    """The ints of a compile-time shape, each 1 at least; a lone int is a shape of rank 1."""
    shape = unwrap(shape)
    if isinstance(shape, tensor) or hasattr(type(shape), "__index__"):
        shape = (shape,)
    if not isinstance(shape, (list, builtins.tuple)):
        raise SemanticError(f"{what} must be a tuple of compile-time integers, found {describe(shape)}")
    extents = builtins.tuple(static_int(extent, f"extent {i} of {what}") for i, extent in enumerate(shape))
    for i, extent in enumerate(extents):
        if extent < 1:
            raise SemanticError(f"extent {i} of {what} must be 1 or more, found {extent}")
    return extents


def static_axis(axis, rank, what="axis"):
    """A compile-time axis in [-rank, rank) as one in [0, rank)."""
    axis = static_int(axis, what)
    if not -rank <= axis < rank:
        raise SemanticError(f"{what} must be in [-{rank}, {rank}) for a value of rank {rank}, found {axis}")
    return axis % rank


def static_dtype(value, what="dtype"):
    """The scalar type that `value` is."""
    value = unwrap(value)
    if not isinstance(value, dtype) or value.is_block() or value.is_void():
        raise SemanticError(f"{what} must be a type such as tl.float32, found {describe(value)}")
    return value
