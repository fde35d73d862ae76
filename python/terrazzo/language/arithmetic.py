# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of tensors: + - * / // % and - of one operand, & | ^ ~ << >>, and moving pointers.

Integers wrap. At run time // and % of integers follow C (the quotient is truncated, the remainder has the sign of the
dividend), % of floats is C's fmod.
"""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, options
from .cast import cast_to, to_bool, unary
from .dtypes import float16, float32, int32, int64, type_of
from .promotion import broadcast_together, constant, is_literal, literal_dtype, promote, promoted_type, splat, to_tensor
from .values import constexpr, describe, show, tensor

_CONTRACT = {"fastmath": "#arith.fastmath<contract>"}


def contract():
    """The attributes of float operations that may become part of a fused multiply-add."""
    return {} if options().strict else _CONTRACT


def binary(name, a, b, dtype=None, attributes=None):
    """Creates an elementwise operation on two operands of one type."""
    type = type_of(dtype or a.dtype, a.shape)
    return tensor(emit(name, [a.handle, b.handle], type.ir, attributes), type)


def through_wider(fn, values):
    """fn(*values); fp8, for which targets have no arithmetic, goes through float16 and the result comes back."""
    dtype = values[0].dtype
    if not dtype.is_fp8():
        return fn(*values)
    return cast_to(fn(*[cast_to(v, float16) for v in values]), dtype)


def _pointer_offset(pointer, offset, negate):
    """The operands of tile.addptr: the offset signed, and 64 bits wide where its own type could not hold it."""
    if is_literal(offset):
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise SemanticError(f"a pointer moves by integers, found the literal {show(offset)}")
        offset = -offset if negate else offset
        offset, negate = constant(offset, literal_dtype(offset)), False
    dtype = offset.dtype
    if not dtype.is_int():
        raise SemanticError(f"a pointer moves by integers, found {offset.type}")
    if dtype.int_bitwidth < 32:
        offset = cast_to(offset, int32)
    elif dtype.is_int_unsigned():
        offset = cast_to(offset, int64)
    if negate:
        zero = splat(constant(0, offset.dtype), offset.shape)
        offset = binary("arith.subi", zero, offset)
    return broadcast_together([pointer, offset])


def move_pointer(pointer, offset, negate=False):
    """The pointers `offset` elements further (or, with `negate`, back), operands broadcast together."""
    pointer, offset = _pointer_offset(pointer, offset, negate)
    return tensor(emit("tile.addptr", [pointer.handle, offset.handle], pointer.type.ir), pointer.type)


def _is_pointer(value):
    return isinstance(value, tensor) and value.dtype.is_ptr()


def _no_pointers(symbol, *values):
    for value in values:
        if _is_pointer(value):
            raise SemanticError(
                f"operator {symbol} does not take pointers, found {describe(value)}; load the value that it "
                "points to first"
            )


def _sum_like(symbol, int_op, float_op, a, b):
    _no_pointers(symbol, a, b)
    (a, b), _dtype = promote([a, b])

    def compute(x, y):
        return binary(float_op, x, y, attributes=contract()) if x.dtype.is_floating() else binary(int_op, x, y)

    return through_wider(compute, [a, b])


@builtin(x=k.VALUE, y=k.VALUE, sanitize_overflow=k.FLAG)
def add(x, y, sanitize_overflow=True):
    """x + y. A pointer and an integer give the pointer that many elements further."""
    if _is_pointer(x) and _is_pointer(y):
        raise SemanticError(f"cannot add two pointers ({x.type} and {y.type})")
    if _is_pointer(x):
        return move_pointer(x, y)
    if _is_pointer(y):
        return move_pointer(y, x)
    return _sum_like("+", "arith.addi", "arith.addf", x, y)


@builtin(x=k.VALUE, y=k.VALUE, sanitize_overflow=k.FLAG)
def sub(x, y, sanitize_overflow=True):
    """x - y. A pointer minus an integer is the pointer that many elements back."""
    if _is_pointer(x) and not _is_pointer(y):
        return move_pointer(x, y, negate=True)
    return _sum_like("-", "arith.subi", "arith.subf", x, y)


@builtin(x=k.VALUE, y=k.VALUE, sanitize_overflow=k.FLAG)
def mul(x, y, sanitize_overflow=True):
    """x * y."""
    return _sum_like("*", "arith.muli", "arith.mulf", x, y)


@builtin(x=k.VALUE, y=k.VALUE)
def truediv(x, y):
    """x / y in floats: integers as float32, 16-bit floats too."""
    _no_pointers("/", x, y)
    dtype = promoted_type([x, y], division=_any_float(x, y))
    (a, b), _ = promote([x, y], dtype=dtype if dtype.is_floating() else float32)
    return binary("arith.divf", a, b)


def _any_float(*values):
    return any(isinstance(v, float) or (isinstance(v, tensor) and v.dtype.is_floating()) for v in values)


@builtin(x=k.VALUE, y=k.VALUE)
def floordiv(x, y):
    """x // y: integers truncate towards zero, as in C; floats give the floor of the quotient."""
    _no_pointers("//", x, y)
    (a, b), dtype = promote([x, y], division=True)
    if dtype.is_floating():
        return unary("math.floor", binary("arith.divf", a, b), dtype)
    return binary("arith.divsi" if dtype.is_int_signed() else "arith.divui", a, b)


@builtin(x=k.VALUE, y=k.VALUE)
def mod(x, y):
    """x % y with the sign of x, as in C."""
    _no_pointers("%", x, y)
    (a, b), dtype = promote([x, y], division=True)
    if dtype.is_floating():
        return binary("arith.remf", a, b)
    return binary("arith.remsi" if dtype.is_int_signed() else "arith.remui", a, b)


@builtin(x=k.VALUE)
def neg(x):
    """-x; of a float, the sign bit flipped."""
    _no_pointers("-", x)
    x = to_tensor(x)
    if x.dtype.is_floating():
        return through_wider(lambda v: unary("arith.negf", v, v.dtype), [x])
    return binary("arith.subi", splat(constant(0, x.dtype), x.shape), x)


def _bitwise(symbol, name, x, y):
    _no_pointers(symbol, x, y)
    if _any_float(x, y):
        raise SemanticError(f"operator {symbol} takes integers or bools, found {describe(x)} and {describe(y)}")
    (a, b), _ = promote([x, y])
    return binary(name, a, b)


@builtin(x=k.VALUE, y=k.VALUE)
def and_(x, y):
    """x & y, bit by bit."""
    return _bitwise("&", "arith.andi", x, y)


@builtin(x=k.VALUE, y=k.VALUE)
def or_(x, y):
    """x | y, bit by bit."""
    return _bitwise("|", "arith.ori", x, y)


@builtin(x=k.VALUE, y=k.VALUE)
def xor_(x, y):
    """x ^ y, bit by bit."""
    return _bitwise("^", "arith.xori", x, y)


@builtin(x=k.VALUE)
def invert(x):
    """~x: every bit flipped; of a bool, its negation."""
    _no_pointers("~", x)
    x = to_tensor(x)
    if not x.dtype.is_int():
        raise SemanticError(f"operator ~ takes integers or bools, found {describe(x)}")
    ones = constant(x.dtype.get_int_max_value() if x.dtype.is_int_unsigned() else -1, x.dtype)
    return binary("arith.xori", x, splat(ones, x.shape))


@builtin(x=k.VALUE, y=k.VALUE)
def shl(x, y):
    """x << y; bits shifted out are lost."""
    return _bitwise("<<", "arith.shli", x, y)


@builtin(x=k.VALUE, y=k.VALUE)
def shr(x, y):
    """x >> y: signed integers keep their sign, unsigned ones shift zeros in."""
    _no_pointers(">>", x, y)
    if _any_float(x, y):
        raise SemanticError(f"operator >> takes integers, found {describe(x)} and {describe(y)}")
    dtype = promoted_type([x, y])
    return _bitwise(">>", "arith.shrsi" if dtype.is_int_signed() else "arith.shrui", x, y)


@builtin(x=k.VALUE, y=k.VALUE)
def power(x, y):
    """x ** y for a small constant integer y by multiplications; else in floats."""
    _no_pointers("**", x, y)
    if isinstance(y, int) and 1 <= y <= 64:
        return _integer_power(to_tensor(x), y)
    (a, b), dtype = promote([x, y])
    if not dtype.is_floating():
        raise SemanticError(f"operator ** of integers takes a constant exponent from 1 to 64, found {describe(y)}")
    return binary("math.powf", a, b)


def _integer_power(x, exponent):
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else mul(result, x)
        exponent >>= 1
        x = mul(x, x) if exponent else x
    return result


@builtin(x=k.VALUE, y=k.VALUE)
def logical_and(x, y):
    """Both operands are true (not 0), as int1; both are computed."""
    a, b = broadcast_together([to_bool(to_tensor(x)), to_bool(to_tensor(y))])
    return binary("arith.andi", a, b)


@builtin(x=k.VALUE, y=k.VALUE)
def logical_or(x, y):
    """One operand is true (not 0), as int1; both are computed."""
    a, b = broadcast_together([to_bool(to_tensor(x)), to_bool(to_tensor(y))])
    return binary("arith.ori", a, b)


@builtin(x=k.VALUE)
def logical_not(x):
    """The operand is false (0), as int1."""
    return invert(to_bool(to_tensor(x)))


@builtin(x=k.ANY, y=k.ANY)
def _constant_and(x, y):
    """Python's `and` of a compile-time value and another; of a run-time value, logical_and."""
    return logical_and(x, y) if isinstance(y, tensor) else constexpr(x and y)


@builtin(x=k.ANY, y=k.ANY)
def _constant_or(x, y):
    """Python's `or` of a compile-time value and another; of a run-time value, logical_or."""
    return logical_or(x, y) if isinstance(y, tensor) else constexpr(x or y)


def _reflected(fn):
    def method(self, other):
        return fn(other, self)

    return method


def _attach():
    operators = {
        "add": add,
        "sub": sub,
        "mul": mul,
        "truediv": truediv,
        "floordiv": floordiv,
        "mod": mod,
        "and": and_,
        "or": or_,
        "xor": xor_,
        "lshift": shl,
        "rshift": shr,
        "pow": power,
    }
    for name, fn in operators.items():
        setattr(tensor, f"__{name}__", fn)
        setattr(tensor, f"__r{name}__", _reflected(fn))
    for name, fn in {"neg": neg, "invert": invert, "not": logical_not}.items():
        setattr(tensor, f"__{name}__", fn)
    tensor.__pos__ = lambda self: self
    constexpr.logical_and, constexpr.logical_or = _constant_and, _constant_or
    tensor.logical_and, tensor.logical_or, tensor.logical_not = logical_and, logical_or, logical_not


_attach()
