# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between dtypes: by value, or by bits."""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, enum_attributes, method
from .dtypes import dtype as dtype_type
from .dtypes import float16, float32, int1, int32, int64, pointer_type, type_of
from .promotion import constant, is_literal, splat, to_tensor
from .values import constexpr, show, static_dtype, tensor

_ROUNDED = k.choice("rtne", "rtz")
_TYPE = k.Kind(k.TYPE.expected, lambda v: k.TYPE.holds(getattr(v, "scalar", v)))


def unary(name, value, dtype, attributes=None):
    """Creates an elementwise operation on one operand, with elements of `dtype` as the result."""
    type = type_of(dtype, value.shape)
    return tensor(emit(name, [value.handle], type.ir, attributes), type)


def relabel(value, dtype):
    """The same value under a dtype that has the same MLIR type."""
    return tensor(value.handle, type_of(dtype, value.shape))


def to_bool(value):
    """`value != 0`, as int1."""
    if value.dtype.is_bool():
        return value
    if value.dtype.is_ptr():
        value = cast_to(value, int64)
    if value.dtype.is_fp8():
        value = cast_to(value, float16)
    zero = splat(constant(0, value.dtype), value.shape)
    if value.dtype.is_floating():  # a NaN is not equal to 0, so it is true
        name, predicate = "arith.cmpf", enum_attributes("arith.CmpFPredicate")["une"]
    else:
        name, predicate = "arith.cmpi", enum_attributes("arith.CmpIPredicate")["ne"]
    type = type_of(int1, value.shape)
    return tensor(emit(name, [value.handle, zero.handle], type.ir, {"predicate": predicate}), type)


def _float_to_float(value, dtype, rounding):
    source = value.dtype
    if dtype.primitive_bitwidth > source.primitive_bitwidth:
        return unary("arith.extf", value, dtype)
    if dtype.primitive_bitwidth == source.primitive_bitwidth:
        # Another format of the same width: through the next wider type that holds all its values.
        wide = float16 if source.is_fp8() else float32
        return unary("arith.truncf", unary("arith.extf", value, wide), dtype, rounding)
    return unary("arith.truncf", value, dtype, rounding)


def _int_to_int(value, dtype):
    source = value.dtype
    if dtype.int_bitwidth == source.int_bitwidth:
        return relabel(value, dtype)
    if dtype.int_bitwidth < source.int_bitwidth:
        return unary("arith.trunci", value, dtype)
    return unary("arith.extsi" if source.is_int_signed() else "arith.extui", value, dtype)


def _pointer_cast(value, dtype):
    source = value.dtype
    if dtype.is_ptr() and source.is_ptr():
        return relabel(value, dtype) if dtype.ir == source.ir else unary("tile.ptr_cast", value, dtype)
    if dtype.is_ptr() and source.is_int():
        return unary("tile.int_to_ptr", _int_to_int(value, int64), dtype)
    if source.is_ptr() and dtype.is_int():
        address = unary("tile.ptr_to_int", value, int64)
        return to_bool(address) if dtype.is_bool() else _int_to_int(address, dtype)
    raise SemanticError(f"cannot cast {source} to {dtype}: pointers convert to and from integers and pointers only")


def cast_to(value, dtype, rounding=None):
    """`value` with elements of `dtype`, converted by value; the value itself if it has that dtype."""
    source = value.dtype
    if source == dtype:
        return value
    if source.is_ptr() or dtype.is_ptr():
        return _pointer_cast(value, dtype)
    if dtype.is_bool():
        return to_bool(value)
    if source.is_floating() and dtype.is_floating():
        return _float_to_float(value, dtype, {"roundingmode": rounding} if rounding else None)
    if source.is_int() and dtype.is_int():
        return _int_to_int(value, dtype)
    if source.is_floating():
        value = cast_to(value, float32) if source.is_fp8() else value
        return unary("arith.fptosi" if dtype.is_int_signed() else "arith.fptoui", value, dtype)
    if dtype.is_fp8():
        return cast_to(cast_to(value, float32), dtype)
    return unary("arith.sitofp" if source.is_int_signed() else "arith.uitofp", value, dtype)


def as_index(value):
    """An integer with a sign, as indices and bins are taken to have one, that is the same number."""
    narrow = value.dtype.is_int_unsigned() and value.dtype.int_bitwidth < 32
    return cast_to(value, int32) if narrow else value


def bitcast_to(value, dtype):
    """`value` with its bits read as `dtype`, which has to be as wide."""
    source = value.dtype
    if source == dtype:
        return value
    if source.is_ptr() or dtype.is_ptr():
        return _pointer_cast(value, dtype)
    if source.primitive_bitwidth != dtype.primitive_bitwidth:
        raise SemanticError(
            f"cannot bitcast {source} of {source.primitive_bitwidth} bits to {dtype} of "
            f"{dtype.primitive_bitwidth} bits; the widths must be equal"
        )
    return relabel(value, dtype) if source.ir == dtype.ir else unary("arith.bitcast", value, dtype)


def literal_as(value, dtype):
    """A literal converted to `dtype` as a cast would at run time: integers wrap, floats truncate."""
    if dtype.is_bool():
        return constant(value != 0, dtype)
    if dtype.is_int():
        if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
            raise SemanticError(f"cannot cast the literal {show(value)} to {dtype}")
        span = 1 << dtype.int_bitwidth
        wrapped = int(value) % span
        return constant(wrapped - span if wrapped > dtype.get_int_max_value() else wrapped, dtype)
    if dtype.is_ptr():
        return cast_to(constant(value, int64), dtype)
    return constant(value, dtype)


@method
@builtin(input=k.VALUE, dtype=_TYPE, fp_downcast_rounding=_ROUNDED, bitcast=k.FLAG)
def cast(input, dtype, fp_downcast_rounding=None, bitcast=False):
    """`input` with elements of another type.

    By value: integers wrap, floats round to nearest even and lose their fraction on the way to integers, casts to
    int1 are `!= 0`, pointers convert to and from integers. `fp_downcast_rounding` is "rtne" or, towards zero, "rtz",
    and says nothing of casts that are not to narrower floats. With `bitcast` the bits stay as they are; the widths
    must be equal.
    """
    if isinstance(dtype, dtype_type) and dtype.is_block():
        dtype = dtype.scalar
    dtype = static_dtype(dtype)
    if is_literal(input) and not bitcast:
        return literal_as(input, dtype)
    value = to_tensor(input)
    source = value.dtype
    narrows = source.is_floating() and dtype.is_floating() and dtype.primitive_bitwidth < source.primitive_bitwidth
    to_zero = narrows and fp_downcast_rounding == "rtz"
    rounding = enum_attributes("arith.RoundingMode")["toward_zero"] if to_zero else None
    return bitcast_to(value, dtype) if bitcast else cast_to(value, dtype, rounding)


@method
@builtin(input=k.VALUE, dtype=_TYPE, fp_downcast_rounding=_ROUNDED, bitcast=k.FLAG)
def to(input, dtype, fp_downcast_rounding=None, bitcast=False):
    """See `cast`."""
    return cast(input, dtype, fp_downcast_rounding, bitcast)


constexpr.to = to


def cast_pointee(pointer, dtype):
    """A pointer, or a tile of them, to the same address with another pointee."""
    return cast_to(pointer, pointer_type(dtype, pointer.dtype.address_space, pointer.dtype.const))


__all__ = ["cast"]
