# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of numbers, elementwise.

Floats narrower than 32 bits are computed as float32 and rounded back, so that every function takes every float dtype.
"""

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary, floordiv
from .builder import builtin, current, emit, method
from .cast import cast_to, unary
from .comparison import clamp, maximum, minimum  # noqa: F401  (names of tl.math)
from .dtypes import float32, float64, type_of
from .promotion import constant, is_literal, promote, promoted_type, splat, to_tensor
from .values import constexpr, describe, tensor


def float_operand(x, name):
    """A run-time value of floats; float literals become scalars."""
    x = to_tensor(x, f"operand of {name}")
    if not x.dtype.is_floating():
        raise SemanticError(f"{name} takes floats, found {describe(x)}; cast it to tl.float32")
    return x


def in_float32(fn, *values):
    """fn on values as float32 or float64, the result in the dtype that they have."""
    dtype = values[0].dtype
    if dtype in (float32, float64):
        return fn(*values)
    return cast_to(fn(*[cast_to(v, float32) for v in values]), dtype)


def float_unary(name, op, doc, as_method=False):
    """The function `name` of one float, which is the operation `op`."""

    def fn(x):
        return in_float32(lambda v: unary(op, v, v.dtype), float_operand(x, name))

    fn.__name__, fn.__doc__ = name, doc
    fn = builtin(x=k.FLOAT)(fn)
    return method(fn) if as_method else fn


def float_binary(name, op, doc):
    """The function `name` of two floats, which is the operation `op`."""

    def fn(x, y):
        (a, b), dtype = promote([x, y])
        if not dtype.is_floating():
            raise SemanticError(f"{name} takes floats, found {describe(x)} and {describe(y)}; cast them to tl.float32")
        return in_float32(lambda v, w: binary(op, v, w), a, b)

    fn.__name__, fn.__doc__ = name, doc
    return builtin(x=k.NUMBER, y=k.NUMBER)(fn)


exp = float_unary("exp", "math.exp", "e to the power of x.", True)
exp2 = float_unary("exp2", "math.exp2", "2 to the power of x.", True)
log = float_unary("log", "math.log", "The natural logarithm of x.", True)
log2 = float_unary("log2", "math.log2", "The logarithm of x to base 2.", True)
cos = float_unary("cos", "math.cos", "The cosine of x in radians.", True)
sin = float_unary("sin", "math.sin", "The sine of x in radians.", True)
sqrt = float_unary("sqrt", "math.sqrt", "The square root of x.", True)
sqrt_rn = float_unary("sqrt_rn", "math.sqrt", "The square root of x, correctly rounded.", True)
rsqrt = float_unary("rsqrt", "math.rsqrt", "1 / sqrt(x).", True)
erf = float_unary("erf", "math.erf", "The error function of x.", True)
floor = float_unary("floor", "math.floor", "The greatest integer not above x, as a float.", True)
ceil = float_unary("ceil", "math.ceil", "The least integer not below x, as a float.", True)
tanh = float_unary("tanh", "math.tanh", "The hyperbolic tangent of x.", True)


@method
@builtin(x=k.NUMBER)
def abs(x):
    """The absolute value; of the least signed integer, itself."""
    if is_literal(x):
        return constexpr(x if x >= 0 else -x)
    x = to_tensor(x)
    if x.dtype.is_floating():
        return (
            in_float32(lambda v: unary("math.absf", v, v.dtype), x)
            if x.dtype.is_fp8()
            else unary("math.absf", x, x.dtype)
        )
    if x.dtype.is_int():
        return unary("math.absi", x, x.dtype) if x.dtype.is_int_signed() else x
    raise SemanticError(f"abs takes numbers, found {describe(x)}")


@builtin(x=k.NUMBER, y=k.NUMBER, z=k.NUMBER)
def fma(x, y, z):
    """x * y + z, rounded once."""
    (a, b, c), dtype = promote([x, y, z])
    if not dtype.is_floating():
        raise SemanticError(f"fma takes floats, found {describe(x)}, {describe(y)} and {describe(z)}")

    def compute(a, b, c):
        return tensor(emit("math.fma", [a.handle, b.handle, c.handle], a.type.ir), a.type)

    return compute(a, b, c) if not dtype.is_fp8() else in_float32(compute, a, b, c)


def _divide(x, y, name, exact):
    dtype = promoted_type([x, y])
    if not dtype.is_floating():
        raise SemanticError(f"{name} takes floats, found {describe(x)} and {describe(y)}; cast them to tl.float32")
    (a, b), _ = promote([x, y], dtype=dtype)
    attributes = {"tile.exact": "unit"} if exact else None
    return in_float32(lambda v, w: binary("arith.divf", v, w, attributes=attributes), a, b)


@builtin(x=k.NUMBER, y=k.NUMBER)
def div_rn(x, y):
    """x / y of floats, correctly rounded."""
    return _divide(x, y, "div_rn", exact=True)


@builtin(x=k.NUMBER, y=k.NUMBER, ieee_rounding=k.FLAG)
def fdiv(x, y, ieee_rounding=False):
    """x / y of floats; on GPUs off by up to 2 ulp for float32 unless `ieee_rounding` or strict mode asks for more."""
    return _divide(x, y, "fdiv", exact=bool(ieee_rounding))


@builtin(x=k.INTEGER, y=k.INTEGER)
def umulhi(x, y):
    """The upper half of the product of two unsigned integers of 32 or 64 bits; signed ones are taken as unsigned."""
    (a, b), dtype = promote([x, y])
    if not dtype.is_int() or dtype.int_bitwidth not in (32, 64):
        raise SemanticError(f"umulhi takes integers of 32 or 64 bits, found {describe(x)} and {describe(y)}")
    type = type_of(dtype, a.shape)
    op = current().create("arith.mului_extended", [a.handle, b.handle], {}, [type.ir, type.ir])
    return tensor(op.results[1], type)


@method
@builtin(x=k.INTEGER, div=k.INTEGER)
def cdiv(x, div):
    """The quotient of two integers rounded up: (x + div - 1) // div, by C's rules at run time."""
    if is_literal(x) and is_literal(div):
        return constexpr(-(-x // div))
    for value in (x, div):
        if isinstance(value, float) or (isinstance(value, tensor) and not value.dtype.is_int()):
            raise SemanticError(f"cdiv takes integers, found {describe(value)}")
    return floordiv(x + (div - 1) if isinstance(x, tensor) else (div - 1) + x, div)


@method
@builtin(x=k.FLOAT)
def sigmoid(x):
    """1 / (1 + exp(-x))."""

    def compute(v):
        one = splat(constant(1, v.dtype), v.shape)
        bottom = one + exp(-v)
        return binary("arith.divf", one, bottom)

    return in_float32(compute, float_operand(x, "sigmoid"))


@method
@builtin(x=k.tiles(k.FLOAT), dim=k.AXIS, keep_dims=k.FLAG, ieee_rounding=k.FLAG)
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) / sum of it along `dim` (by default the first dimension)."""
    from .reduction import max as greatest
    from .reduction import sum as total

    x = float_operand(x, "softmax")
    dim = 0 if dim is None else dim
    numerator = exp(x - greatest(x, dim, keep_dims=True))
    return binary("arith.divf", *promote([numerator, total(numerator, dim, keep_dims=True)])[0])


@builtin(n=k.static_int(-(2**63), 2**63 - 1))
def next_power_of_2(n):
    """The least power of 2 that is not below a compile-time integer."""
    if isinstance(n, tensor):
        raise SemanticError(f"next_power_of_2 takes a compile-time integer, found {describe(n)}")
    return constexpr(1 << max(n - 1, 0).bit_length() if n > 0 else 0)


@builtin(x=k.NUMBER, y=k.NUMBER)
def pow(x, y):
    """x to the power of y."""
    return x**y if isinstance(x, tensor) else to_tensor(x) ** y


def __getattr__(name):
    """The names of libdevice are names of tl.math, too, as they were in older versions of the language."""
    if not name.startswith("_"):
        from .extra import libdevice

        if name in vars(libdevice):
            return vars(libdevice)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
