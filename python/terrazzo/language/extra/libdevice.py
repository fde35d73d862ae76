# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of CUDA's device library, as operations that every target has.

"fast" variants are the plain functions: targets choose their own precision. Functions with a rounding mode in their
name exist for round to nearest even, and for conversions to integers.
"""

import builtins

from ...errors import SemanticError
from .. import kinds as k
from ..arithmetic import binary, mod
from ..builder import builtin
from ..cast import bitcast_to, cast_to, unary
from ..comparison import compare_same, maximum, minimum, select, where
from ..dtypes import float32, float64, int32, int64, uint32, uint64
from ..math import (
    abs,
    ceil,
    cos,
    div_rn,
    exp,
    exp2,
    fdiv,
    float_binary,
    float_operand,
    float_unary,
    floor,
    fma,
    in_float32,
    log,
    log2,
    pow,
    rsqrt,
    sin,
    sqrt,
    tanh,
    umulhi,
)
from ..math import erf as _erf
from ..promotion import constant, promote, splat, to_tensor
from ..values import describe
from .bits import (  # noqa: F401
    byte_perm,
    double2hiint,
    double2loint,
    hiloint2double,
    ilogb,
    logb,
    mul24,
    nextafter,
    remainder,
    sad,
)
from .special import (  # noqa: F401
    cyl_bessel_i0,
    cyl_bessel_i1,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    j0,
    j1,
    lgamma,
    normcdfinv,
    tgamma,
    y0,
    y1,
)

acos = float_unary("acos", "math.acos", "The arc cosine of x.")
acosh = float_unary("acosh", "math.acosh", "The inverse hyperbolic cosine of x.")
asin = float_unary("asin", "math.asin", "The arc sine of x.")
asinh = float_unary("asinh", "math.asinh", "The inverse hyperbolic sine of x.")
atan = float_unary("atan", "math.atan", "The arc tangent of x.")
atanh = float_unary("atanh", "math.atanh", "The inverse hyperbolic tangent of x.")
atan2 = float_binary("atan2", "math.atan2", "The angle of the point (y, x), arguments in this order.")
cbrt = float_unary("cbrt", "math.cbrt", "The cube root of x.")
copysign = float_binary("copysign", "math.copysign", "The magnitude of x with the sign of y.")
cosh = float_unary("cosh", "math.cosh", "The hyperbolic cosine of x.")
erf = _erf
expm1 = float_unary("expm1", "math.expm1", "exp(x) - 1, exact for small x.")
fmod = float_binary("fmod", "arith.remf", "The remainder of x / y with the sign of x.")
log10 = float_unary("log10", "math.log10", "The logarithm of x to base 10.")
log1p = float_unary("log1p", "math.log1p", "log(1 + x), exact for small x.")
round = float_unary("round", "math.round", "The nearest integer as a float, halves away from 0.")
rint = float_unary("rint", "math.roundeven", "The nearest integer as a float, halves to the even one.")
nearbyint = rint
sinh = float_unary("sinh", "math.sinh", "The hyperbolic sine of x.")
tan = float_unary("tan", "math.tan", "The tangent of x.")
trunc = float_unary("trunc", "math.trunc", "The integer part of x, as a float.")

fast_sinf, fast_cosf, fast_tanf, fast_tanhf = sin, cos, tan, tanh
fast_expf, fast_logf, fast_log2f, fast_log10f = exp, log, log2, log10
fast_dividef, fast_powf, fma_rn, rsqrt_rn = fdiv, pow, fma, rsqrt


@builtin(x=k.FLOAT)
def exp10(x):
    """10 to the power of x."""
    return in_float32(lambda v: exp2(v * 3.321928094887362), float_operand(x, "exp10"))


fast_exp10f = exp10


@builtin(x=k.NUMBER, y=k.NUMBER)
def hypot(x, y):
    """sqrt(x * x + y * y), without overflow in between."""
    (a, b), dtype = promote([x, y])
    a, b = abs(float_operand(a, "hypot")), abs(b)
    high, low = maximum(a, b), minimum(a, b)
    ratio = where(high == 0.0, 0.0, binary("arith.divf", low, high))
    length = high * sqrt(ratio * ratio + 1.0)
    infinite = splat(constant(builtins.float("inf"), dtype), high.shape)
    return select(compare_same("eq", high, infinite), high, length)


@builtin(x=k.NUMBER, y=k.NUMBER)
def rhypot(x, y):
    """1 / hypot(x, y)."""
    return 1.0 / hypot(x, y)


@builtin(a=k.NUMBER, b=k.NUMBER, c=k.NUMBER)
def norm3d(a, b, c):
    """sqrt(a * a + b * b + c * c), without overflow in between."""
    return hypot(hypot(a, b), c)


@builtin(a=k.NUMBER, b=k.NUMBER, c=k.NUMBER)
def rnorm3d(a, b, c):
    """1 / norm3d(a, b, c)."""
    return 1.0 / norm3d(a, b, c)


@builtin(a=k.NUMBER, b=k.NUMBER, c=k.NUMBER, d=k.NUMBER)
def norm4d(a, b, c, d):
    """sqrt(a * a + b * b + c * c + d * d), without overflow in between."""
    return hypot(hypot(a, b), hypot(c, d))


@builtin(a=k.NUMBER, b=k.NUMBER, c=k.NUMBER, d=k.NUMBER)
def rnorm4d(a, b, c, d):
    """1 / norm4d(a, b, c, d)."""
    return 1.0 / norm4d(a, b, c, d)


@builtin(x=k.FLOAT)
def rcbrt(x):
    """1 / cbrt(x)."""
    return 1.0 / cbrt(x)


@builtin(x=k.FLOAT)
def normcdf(x):
    """The cumulative distribution of the standard normal distribution."""
    return erfc(float_operand(x, "normcdf") * -0.7071067811865476) * 0.5


@builtin(x=k.FLOAT)
def sinpi(x):
    """sin(pi * x)."""
    return sin(_half_turns(x) * 3.141592653589793)


@builtin(x=k.FLOAT)
def cospi(x):
    """cos(pi * x)."""
    return cos(_half_turns(x) * 3.141592653589793)


def _half_turns(x):
    # The remainder is exact, so that great x lose nothing.
    return mod(float_operand(x, "sinpi"), 2.0)


@builtin(x=k.FLOAT)
def saturatef(x):
    """x limited to [0, 1]; a NaN gives 0."""
    return minimum(maximum(x, 0.0), 1.0)


@builtin(x=k.NUMBER, y=k.NUMBER)
def fdim(x, y):
    """x - y where that is positive, else 0."""
    difference = to_tensor(x) - y
    return where(difference <= 0.0, 0.0, difference)


@builtin(x=k.FLOAT, n=k.INTEGER)
def ldexp(x, n):
    """x * 2 ** n for an integer n, in two steps so that subnormal results and great n are right."""
    x, n = float_operand(x, "ldexp"), to_tensor(n)
    dtype = float64 if x.dtype == float64 else float32
    half = n >> 1
    result = cast_to(x, dtype) * exp2(cast_to(half, dtype)) * exp2(cast_to(n - half, dtype))
    return cast_to(result, x.dtype)


scalbn = ldexp


@builtin(x=k.FLOAT)
def isnan(x):
    """Whether x is a NaN, as int1."""
    x = float_operand(x, "isnan")
    return compare_same("ne", x, x)


def _magnitude(x, predicate, name):
    x = abs(float_operand(x, name))
    return compare_same(predicate, x, splat(constant(builtins.float("inf"), x.dtype), x.shape))


@builtin(x=k.FLOAT)
def isinf(x):
    """Whether x is an infinity, as int1."""
    return _magnitude(x, "eq", "isinf")


@builtin(x=k.FLOAT)
def isfinited(x):
    """Whether x is neither an infinity nor a NaN, as int1."""
    return _magnitude(x, "lt", "isfinited")


finitef = isfinited


def _integer_of(x):
    """The bits of a float as a signed integer of its width."""
    from ..dtypes import get_int_dtype

    return bitcast_to(x, get_int_dtype(x.dtype.primitive_bitwidth, True))


@builtin(x=k.FLOAT)
def signbit(x):
    """The sign bit of a float, as int1."""
    return _integer_of(float_operand(x, "signbit")) < 0


def _reinterpret(name, source, target):

    @builtin(x=k.NUMBER)
    def fn(x):
        x = to_tensor(x)
        if x.dtype.primitive_bitwidth != target.primitive_bitwidth:
            raise SemanticError(f"{name} takes {source}, found {describe(x)}")
        return bitcast_to(x, target)

    fn.__name__, fn.__doc__ = name, f"The bits of {source} as {target}."
    return fn


int_as_float = _reinterpret("int_as_float", int32, float32)
uint_as_float = _reinterpret("uint_as_float", uint32, float32)
float_as_int = _reinterpret("float_as_int", float32, int32)
float_as_uint = _reinterpret("float_as_uint", float32, uint32)
longlong_as_double = _reinterpret("longlong_as_double", int64, float64)
double_as_longlong = _reinterpret("double_as_longlong", float64, int64)


def _int_unary(name, op, doc):

    @builtin(x=k.INTEGER)
    def fn(x):
        x = to_tensor(x)
        return cast_to(unary(op, x, x.dtype), int32)

    fn.__name__, fn.__doc__ = name, doc
    return fn


clz = _int_unary("clz", "math.ctlz", "How many zero bits lead, as int32.")
popc = _int_unary("popc", "math.ctpop", "How many bits are 1, as int32.")
_trailing = _int_unary("ffs", "math.cttz", "How many zero bits trail, as int32.")


@builtin(x=k.INTEGER)
def ffs(x):
    """The place of the lowest bit that is 1, counted from 1, or 0 if there is none; int32."""
    return where(to_tensor(x) == 0, 0, _trailing(x) + 1)


@builtin(x=k.INTEGER, y=k.INTEGER)
def mulhi(x, y):
    """The upper half of the product of two integers of 32 bits."""
    (a, b), dtype = promote([x, y])
    if not dtype.is_int() or dtype.int_bitwidth != 32:
        raise SemanticError(f"mulhi takes integers of 32 bits, found {describe(x)} and {describe(y)}")
    if dtype.is_int_unsigned():
        return umulhi(a, b)
    return cast_to((cast_to(a, int64) * cast_to(b, int64)) >> 32, dtype)


@builtin(x=k.INTEGER, y=k.INTEGER)
def hadd(x, y):
    """The mean of two integers, rounded down, without overflow."""
    (a, b), _ = promote([x, y])
    return (a & b) + ((a ^ b) >> 1)


@builtin(x=k.INTEGER, y=k.INTEGER)
def rhadd(x, y):
    """The mean of two integers, rounded up, without overflow."""
    (a, b), _ = promote([x, y])
    return (a | b) - ((a ^ b) >> 1)


@builtin(x=k.INTEGER)
def brev(x):
    """The bits of an integer in reverse order."""
    x = to_tensor(x)
    dtype = x.dtype
    unsigned = bitcast_to(x, uint64 if dtype.int_bitwidth == 64 else uint32)
    width = dtype.int_bitwidth
    distance = 1
    while distance < width:
        mask = sum(((1 << distance) - 1) << at for at in range(0, width, 2 * distance))
        unsigned = ((unsigned >> distance) & mask) | ((unsigned & mask) << distance)
        distance *= 2
    return bitcast_to(unsigned, dtype)


def _to_integer(name, rounding, dtype):

    @builtin(x=k.FLOAT)
    def fn(x):
        return cast_to(rounding(x), dtype)

    fn.__name__, fn.__doc__ = name, f"A float as {dtype}, rounded as the name says."
    return fn


def _add_conversions():
    """float2int_rn, double2ull_rz and their siblings; ll2float_rn and its siblings."""
    names = globals()
    integers = {"int": int32, "uint": uint32, "ll": int64, "ull": uint64}
    roundings = {"rn": rint, "rz": trunc, "rd": floor, "ru": ceil}
    for short, dtype in integers.items():
        for suffix, rounding in roundings.items():
            for source in ("float", "double"):
                name = f"{source}2{short}_{suffix}"
                names[name] = _to_integer(name, rounding, dtype)
        for target, to in (("float", float32), ("double", float64)):
            names[f"{short}2{target}_rn"] = _convert_to(f"{short}2{target}_rn", to)
    names["double2float_rn"] = _convert_to("double2float_rn", float32)
    names["llrint"] = _to_integer("llrint", rint, int64)
    names["llround"] = _to_integer("llround", round, int64)


def _convert_to(name, dtype):

    @builtin(x=k.NUMBER)
    def fn(x):
        return cast_to(to_tensor(x), dtype)

    fn.__name__, fn.__doc__ = name, f"A number as {dtype}, rounded to nearest even."
    return fn


_add_conversions()


@builtin(x=k.NUMBER, y=k.NUMBER)
def add_rn(x, y):
    """x + y of floats, not fused with anything."""
    (a, b), _ = promote([x, y])
    return binary("arith.addf", float_operand(a, "add_rn"), b)


@builtin(x=k.NUMBER, y=k.NUMBER)
def sub_rn(x, y):
    """x - y of floats, not fused with anything."""
    (a, b), _ = promote([x, y])
    return binary("arith.subf", float_operand(a, "sub_rn"), b)


@builtin(x=k.NUMBER, y=k.NUMBER)
def mul_rn(x, y):
    """x * y of floats, not fused with anything."""
    (a, b), _ = promote([x, y])
    return binary("arith.mulf", float_operand(a, "mul_rn"), b)


@builtin(x=k.NUMBER)
def rcp_rn(x):
    """1 / x of floats, correctly rounded."""
    return div_rn(1.0, x)
