# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N801
"""Types of values in kernels: dtype (a scalar), pointer_type, block_type (a tile), and the named dtypes.

The IR is signless, so signedness lives here alone and shows in the choice of operations. `ir` is a type's MLIR text.
"""

import math
from enum import Enum
from typing import ClassVar

from ..errors import SemanticError

# name -> (kind, bits, mantissa bits, exponent bias, MLIR text). Kinds: s signed, u unsigned, f float, v void.
_TABLE = {
    "void": ("v", 0, 0, 0, None),
    "int1": ("u", 1, 0, 0, "i1"),
    "int8": ("s", 8, 0, 0, "i8"),
    "int16": ("s", 16, 0, 0, "i16"),
    "int32": ("s", 32, 0, 0, "i32"),
    "int64": ("s", 64, 0, 0, "i64"),
    "uint8": ("u", 8, 0, 0, "i8"),
    "uint16": ("u", 16, 0, 0, "i16"),
    "uint32": ("u", 32, 0, 0, "i32"),
    "uint64": ("u", 64, 0, 0, "i64"),
    "fp8e4nv": ("f", 8, 3, 7, "f8E4M3FN"),
    "fp8e4b8": ("f", 8, 3, 8, "f8E4M3FNUZ"),
    "fp8e4b15": ("f", 8, 3, 15, None),
    "fp8e5": ("f", 8, 2, 15, "f8E5M2"),
    "fp8e5b16": ("f", 8, 2, 16, "f8E5M2FNUZ"),
    "fp16": ("f", 16, 10, 15, "f16"),
    "bf16": ("f", 16, 7, 127, "bf16"),
    "fp32": ("f", 32, 23, 127, "f32"),
    "fp64": ("f", 64, 52, 1023, "f64"),
}

MOST_ELEMENTS = 1 << 30  # of a tile, as other compilers of the language have it

# How the language spells a type, where that is not its name.
_SPELLING = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def _shown(value):
    from .values import describe

    return describe(value)


class dtype:
    """A scalar type: `name`, `primitive_bitwidth`, `int_bitwidth`, `int_signedness`, `fp_mantissa_width`,
    `exponent_bias`.
    """

    SINT_TYPES: ClassVar = ["int8", "int16", "int32", "int64"]
    UINT_TYPES: ClassVar = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES: ClassVar = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES: ClassVar = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES: ClassVar = ["void"]

    class SIGNEDNESS(Enum):
        """Whether an integer type has a sign."""

        SIGNED = 0
        UNSIGNED = 1

    class KIND(Enum):
        """The rank of a type in promotion."""

        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name):
        name = getattr(name, "value", name)
        if not isinstance(name, str) or name not in _TABLE:
            raise SemanticError(f"unknown dtype {_shown(name)}; expected one of {', '.join(_TABLE)}")
        kind, bits, mantissa, bias, self._ir = _TABLE[name]
        self.name = name
        self.primitive_bitwidth = bits
        self.itemsize = (bits + 7) // 8
        self._kind = kind
        if kind in "su":
            self.int_bitwidth = bits
            self.int_signedness = self.SIGNEDNESS.SIGNED if kind == "s" else self.SIGNEDNESS.UNSIGNED
        elif kind == "f":
            self.fp_mantissa_width = mantissa
            self.exponent_bias = bias

    @property
    def ir(self):
        """The MLIR text of the type."""
        if self._ir is None:
            raise SemanticError(f"values of {self} do not exist on any target; expected another type")
        return self._ir

    @property
    def scalar(self):
        """The type of an element; a scalar type is its own."""
        return self

    def is_floating(self):
        """Whether it is a float of any width."""
        return self._kind == "f"

    def is_standard_floating(self):
        """Whether it is a float of 16 bits or more."""
        return self.name in self.STANDARD_FP_TYPES

    def is_fp8(self):
        """Whether it is a float of 8 bits."""
        return self._kind == "f" and self.primitive_bitwidth == 8

    def is_int(self):
        """Whether it is an integer or a bool."""
        return self._kind in "su"

    def is_int_signed(self):
        """Whether it is a signed integer."""
        return self._kind == "s"

    def is_int_unsigned(self):
        """Whether it is an unsigned integer or a bool."""
        return self._kind == "u"

    def is_bool(self):
        """Whether it is int1."""
        return self.name == "int1"

    def kind(self):
        """The rank in promotion: boolean < integral < floating."""
        if self.is_bool():
            return dtype.KIND.BOOLEAN
        if self.is_int():
            return dtype.KIND.INTEGRAL
        if self.is_floating():
            return dtype.KIND.FLOATING
        raise SemanticError(f"{self} is neither an integer nor a float")

    def get_int_max_value(self):
        """The greatest value of an integer type."""
        return (1 << (self.int_bitwidth - 1)) - 1 if self.is_int_signed() else (1 << self.int_bitwidth) - 1

    def get_int_min_value(self):
        """The least value of an integer type."""
        return -(1 << (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    @staticmethod
    def is_dtype(name):
        """Whether there is a dtype of that name."""
        return name in _TABLE

    @staticmethod
    def is_void():
        """Whether the type is void; see `void`."""
        return False

    @staticmethod
    def is_block():
        """Whether it is the type of a tile."""
        return False

    @staticmethod
    def is_ptr():
        """Whether it is a pointer."""
        return False

    @staticmethod
    def is_const():
        """Whether it is a pointer that must not be stored through."""
        return False

    def with_element_ty(self, element_ty):
        """The type of the same shape, here none, with other elements."""
        return element_ty

    def codegen_name(self):
        """The name of the type in terrazzo.language."""
        if self.is_fp8():
            return self.name.replace("fp", "float")
        return _SPELLING.get(self.name, self.name)

    @property
    def cache_key_part(self):
        """What stands for the type in keys of caches."""
        return self.name

    def mangle(self):
        """What stands for the type in names of symbols."""
        return self.name

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return type(other) is dtype and other.name == self.name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"terrazzo.language.{self.codegen_name()}"

    def __reduce__(self):
        return dtype, (self.name,)


def _add_predicate(name):
    def predicate(self):
        return self.name == name

    predicate.__doc__ = f"Whether it is {name}."
    setattr(dtype, f"is_{name}", predicate)


for _name in _TABLE:
    if _name != "void":
        _add_predicate(_name)


class _Void(dtype):
    @staticmethod
    def is_void():
        return True

    def __eq__(self, other):
        return isinstance(getattr(other, "value", other), _Void)

    __hash__ = dtype.__hash__

    def __reduce__(self):
        return _Void, ("void",)


class pointer_type(dtype):
    """A 64-bit address of elements of `element_ty`; `const` forbids stores through it."""

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype) or element_ty.is_block():
            raise SemanticError(f"a pointer points to a scalar type, found {_shown(element_ty)}")
        self.element_ty = element_ty
        self.address_space = getattr(address_space, "value", address_space)
        self.const = bool(const)
        self.name = f"pointer<{element_ty}>" if not const else f"const_pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8
        self._kind = "p"

    @property
    def ir(self):
        """The MLIR text of the type; bools are bytes in memory."""
        pointee = "i8" if self.element_ty.is_bool() else self.element_ty.ir
        return f"!tile.ptr<{pointee}>"

    @staticmethod
    def is_ptr():
        """True."""
        return True

    def is_const(self):
        """Whether stores through it are forbidden."""
        return self.const

    def codegen_name(self):
        """The name of the type in messages."""
        return f"pointer_type({self.element_ty.codegen_name()})"

    def mangle(self):
        """What stands for the type in names of symbols."""
        return f"P{self.element_ty.mangle()}"

    def __eq__(self, other):
        other = getattr(other, "value", other)
        if not isinstance(other, pointer_type):
            return False
        return (self.element_ty, self.address_space, self.const) == (other.element_ty, other.address_space, other.const)

    __hash__ = dtype.__hash__

    def __reduce__(self):
        return pointer_type, (self.element_ty, self.address_space, self.const)


class block_type(dtype):
    """A tile of `shape` with elements of `element_ty`."""

    def __init__(self, element_ty, shape):
        if not isinstance(element_ty, dtype) or element_ty.is_block():
            raise SemanticError(f"the elements of a tile are of a scalar type, found {_shown(element_ty)}")
        extents = [getattr(s, "value", s) for s in shape] if isinstance(shape, (list, tuple)) else None
        if extents is None or not all(isinstance(e, int) and not isinstance(e, bool) and e >= 1 for e in extents):
            raise SemanticError(f"the shape of a tile is a tuple of integers of 1 or more, found {_shown(shape)}")
        if not extents:
            raise SemanticError("a tile has one dimension at least; tiles without dimensions are scalars")
        self.element_ty = element_ty
        self.shape = tuple(extents)
        self.numel = math.prod(extents)
        if self.numel > MOST_ELEMENTS:
            raise SemanticError(
                f"a tile has {MOST_ELEMENTS} elements at most, found {_shown(self.numel)} in the shape {_shown(shape)}"
            )
        self.name = f"<{list(map(str, self.shape))}, {element_ty}>".replace("'", "")
        self.primitive_bitwidth = element_ty.primitive_bitwidth
        self._kind = "b"
        self._ir = f"tensor<{'x'.join(map(str, self.shape))}x{element_ty.ir}>"

    @property
    def scalar(self):
        """The type of an element."""
        return self.element_ty

    @property
    def nbytes(self):
        """How many bytes the elements take."""
        return self.numel * self.element_ty.itemsize

    @staticmethod
    def is_block():
        """True."""
        return True

    def get_block_shapes(self):
        """The shape."""
        return self.shape

    def with_element_ty(self, element_ty):
        """The type of the same shape with other elements."""
        return block_type(element_ty, self.shape)

    def codegen_name(self):
        """The name of the type in messages."""
        return f"block_type({self.element_ty.codegen_name()}, {list(self.shape)})"

    def mangle(self):
        """What stands for the type in names of symbols."""
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self.shape))}S"

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return isinstance(other, block_type) and (self.element_ty, self.shape) == (other.element_ty, other.shape)

    __hash__ = dtype.__hash__

    def __reduce__(self):
        return block_type, (self.element_ty, self.shape)


void = _Void("void")
int1, int8, int16, int32, int64 = (dtype(n) for n in ("int1", "int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (dtype(n) for n in ("uint8", "uint16", "uint32", "uint64"))
float8e4nv, float8e4b8, float8e4b15, float8e5, float8e5b16 = (
    dtype(n) for n in ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16")
)
float16, bfloat16, float32, float64 = (dtype(n) for n in ("fp16", "bf16", "fp32", "fp64"))
pi32_t = pointer_type(int32)


class const:
    """Annotation of a pointer parameter that the kernel only reads."""


def get_int_dtype(bitwidth, signed):
    """The integer dtype of a width of 1, 8, 16, 32 or 64 bits."""
    bitwidth = int(getattr(bitwidth, "value", bitwidth))
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    return dtype(name)


def type_of(element_ty, shape):
    """The type of a value of `shape`: a scalar's where it has no dimensions."""
    return block_type(element_ty, shape) if shape else element_ty
