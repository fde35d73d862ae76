# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of CUDA's device library that look at the bits of numbers, on every target."""

from ...errors import SemanticError
from .. import kinds as k
from ..arithmetic import mod
from ..builder import builtin
from ..cast import bitcast_to, cast_to
from ..comparison import where
from ..dtypes import float32, float64, get_int_dtype, int32, int64, uint32, uint64
from ..math import abs, float_operand
from ..promotion import promote, to_tensor
from ..values import describe


def _layout(dtype):
    """(signed integer type, bits of the fraction, bias of the exponent) of a float type."""
    bits = dtype.primitive_bitwidth
    return get_int_dtype(bits, True), dtype.fp_mantissa_width, dtype.exponent_bias


def _wide(x, name):
    """A float32 or float64 as it is, narrower floats as float32."""
    x = float_operand(x, name)
    return x if x.dtype in (float32, float64) else cast_to(x, float32)


def _exponent(x):
    """(the exponent of a finite number that is not 0, as an integer; x as float32 or float64)."""
    x = abs(_wide(x, "logb"))
    integer, fraction, bias = _layout(x.dtype)
    tiny = float(2.0 ** (1 - bias))
    is_subnormal = x < tiny
    scaled = where(is_subnormal, x * float(2.0**fraction), x)
    exponent = (bitcast_to(scaled, integer) >> fraction) - bias
    return where(is_subnormal, exponent - fraction, exponent), x


@builtin(x=k.FLOAT)
def ilogb(x):
    """The exponent of a float as int32: the least one for 0 and NaN, the greatest one for infinities."""
    exponent, size = _exponent(x)
    known = where(size == float("inf"), 2**31 - 1, cast_to(exponent, int32))
    return where((size == 0.0) | (size != size), -(2**31), known)


@builtin(x=k.FLOAT)
def logb(x):
    """The exponent of a float as a float; -inf for 0."""
    exponent, size = _exponent(x)
    known = where(size == 0.0, float("-inf"), cast_to(exponent, size.dtype))
    found = where((size == float("inf")) | (size != size), size, known)
    return cast_to(found, to_tensor(x).dtype)


@builtin(x=k.NUMBER, y=k.NUMBER)
def nextafter(x, y):
    """The float32 or float64 next to x in the direction of y."""
    (x, y), dtype = promote([x, y])
    if dtype not in (float32, float64):
        raise SemanticError(f"nextafter takes float32 or float64, found {describe(x)}")
    integer, _, _ = _layout(dtype)
    bits = bitcast_to(x, integer)
    away = where((y > x) == (x > 0.0), 1, -1)
    moved = bits + cast_to(away, integer)
    least = where(y > 0.0, bits * 0 + 1, bits * 0 + (1 - 2 ** (dtype.primitive_bitwidth - 1)))
    found = bitcast_to(where(x == 0.0, least, moved), dtype)
    return where((x != x) | (y != y), x + y, where(x == y, y, found))


@builtin(x=k.NUMBER, y=k.NUMBER)
def remainder(x, y):
    """x - n * y for the integer n that is nearest to x / y, the even one of two; exact."""
    (x, y), _ = promote([x, y])
    x, size = float_operand(x, "remainder"), abs(float_operand(y, "remainder"))
    rest = abs(mod(x, size))
    # n is odd where the rest by twice as much keeps a whole `size`.
    is_odd = abs(mod(x, size * 2.0)) >= size
    other = size - rest
    goes_up = (rest > other) | ((rest == other) & is_odd)
    found = where(goes_up, -other, rest)
    return where(x < 0.0, -found, found)


@builtin(x=k.INTEGER, y=k.INTEGER, s=k.INTEGER)
def byte_perm(x, y, s):
    """Four bytes of the eight of x (the lower ones) and y, chosen by the lowest four digits of 4 bits of s."""
    parts, _ = promote([x, y, s])
    low, high, select = (bitcast_to(part, uint32) for part in map(_word, parts))
    result = low * 0
    for place in range(4):
        index = (select >> (4 * place)) & 7
        byte = (where(index < 4, low, high) >> ((index & 3) * 8)) & 255
        result = result | (byte << (8 * place))
    return bitcast_to(result, to_tensor(x).dtype) if to_tensor(x).dtype.int_bitwidth == 32 else result


def _word(x):
    if x.dtype.int_bitwidth != 32:
        raise SemanticError(f"byte_perm takes integers of 32 bits, found {describe(x)}")
    return x


@builtin(x=k.INTEGER, y=k.INTEGER)
def mul24(x, y):
    """The lower 32 bits of the product of the lower 24 bits of two integers of 32 bits."""
    (a, b), dtype = promote([x, y])
    if dtype.int_bitwidth != 32:
        raise SemanticError(f"mul24 takes integers of 32 bits, found {describe(x)} and {describe(y)}")
    return ((a << 8) >> 8) * ((b << 8) >> 8)


@builtin(x=k.INTEGER, y=k.INTEGER, z=k.INTEGER)
def sad(x, y, z):
    """|x - y| + z of integers."""
    (a, b), _ = promote([x, y])
    return where(a > b, a - b, b - a) + z


@builtin(x=k.INTEGER, y=k.INTEGER)
def hiloint2double(x, y):
    """The float64 whose upper half has the bits of x and whose lower half has those of y."""
    high = cast_to(to_tensor(x), int64) << 32
    low = cast_to(cast_to(to_tensor(y), uint32), uint64)
    return bitcast_to(bitcast_to(high, uint64) | low, float64)


def _half(name, shift, doc):
    @builtin(x=k.FLOAT)
    def fn(x):
        x = float_operand(x, name)
        if x.dtype != float64:
            raise SemanticError(f"{name} takes float64, found {describe(x)}")
        return cast_to(bitcast_to(x, int64) >> shift, int32)

    fn.__name__, fn.__doc__ = name, doc
    return fn


double2hiint = _half("double2hiint", 32, "The upper half of the bits of a float64, as int32.")
double2loint = _half("double2loint", 0, "The lower half of the bits of a float64, as int32.")
