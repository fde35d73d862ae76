# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bessel functions, the gamma function, and inverses of the error function, on every target.

All are worked out in float64 and rounded to the type of the argument, so that float32 is right to a unit in the last
place; float64 has errors of about 1e-13.
"""

import math

from .. import kinds as k
from ..builder import builtin
from ..cast import cast_to
from ..comparison import where
from ..dtypes import float64
from ..math import abs, cos, erf, exp, float_operand, float_unary, floor, log, sin, sqrt
from . import coefficients as c

erfc = float_unary("erfc", "math.erfc", "1 - erf(x), exact for great x.")
_INF, _NAN = math.inf, math.nan
_PI = math.pi


def _of_float64(name, doc):
    """Makes a function of a float64 tile one of the language, of floats of all types."""

    def decorate(compute):
        def fn(x):
            x = float_operand(x, name)
            return cast_to(compute(cast_to(x, float64)), x.dtype)

        fn.__name__, fn.__doc__ = name, doc
        return builtin(x=k.FLOAT)(fn)

    return decorate


def _polynomial(coefficients, t):
    """By Horner's rule."""
    result = t * 0.0 + coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * t + coefficient
    return result


def _near(coefficients, x):
    """A polynomial in x**2, for x to 8."""
    return _polynomial(coefficients, x * x * 0.03125 - 1.0)


def _wave(p, q, x, order, is_second):
    """A Bessel function far from 0: a wave whose height falls, for x from 8."""
    t = 128.0 / (x * x) - 1.0
    # cos and sin of x - pi/4 - order pi/2, up to the factor sqrt(1/2), without a rounding of that difference.
    a, b = cos(x), sin(x)
    cosine, sine = (a + b, b - a) if order == 0 else (b - a, -(a + b))
    first, second = (sine, cosine) if is_second else (cosine, -sine)
    height = sqrt(1.0 / (_PI * x))
    found = height * (_polynomial(p, t) * first + (8.0 / x) * _polynomial(q, t) * second)
    return where(x == _INF, 0.0, found)


@_of_float64("j0", "The Bessel function of the first kind of order 0.")
def j0(x):
    x = abs(x)
    return where(x <= 8.0, _near(c.J0, x), _wave(c.P0, c.Q0, x, 0, False))


@_of_float64("j1", "The Bessel function of the first kind of order 1.")
def j1(x):
    y = abs(x)
    far = _wave(c.P1, c.Q1, y, 1, False)
    return where(y <= 8.0, x * _near(c.J1, y), where(x < 0.0, -far, far))


def _second_kind(x, found):
    """With the values at 0 and below."""
    return where(x == 0.0, -_INF, where(x < 0.0, _NAN, found))


@_of_float64("y0", "The Bessel function of the second kind of order 0.")
def y0(x):
    near = _near(c.Y0, x) + (2.0 / _PI) * log(x) * _near(c.J0, x)
    return _second_kind(x, where(x <= 8.0, near, _wave(c.P0, c.Q0, x, 0, True)))


@_of_float64("y1", "The Bessel function of the second kind of order 1.")
def y1(x):
    near = x * _near(c.Y1, x) + (2.0 / _PI) * (log(x) * x * _near(c.J1, x) - 1.0 / x)
    return _second_kind(x, where(x <= 8.0, near, _wave(c.P1, c.Q1, x, 1, True)))


def _growing(x, near, far):
    """exp(x) times what the polynomials say, in two factors where it would overflow too early."""
    half = exp(x * 0.5)
    distant = _polynomial(far, 16.0 / x - 1.0) / sqrt(x)
    found = half * (half * where(x <= 8.0, near, distant))
    return where(x == _INF, _INF, found)


@_of_float64("cyl_bessel_i0", "The modified Bessel function of the first kind of order 0.")
def cyl_bessel_i0(x):
    x = abs(x)
    return _growing(x, _polynomial(c.I0, x * 0.25 - 1.0), c.I0_FAR)


@_of_float64("cyl_bessel_i1", "The modified Bessel function of the first kind of order 1.")
def cyl_bessel_i1(x):
    y = abs(x)
    found = _growing(y, y * _polynomial(c.I1, y * 0.25 - 1.0), c.I1_FAR)
    return where(x < 0.0, -found, found)


@_of_float64("erfcx", "exp(x * x) * erfc(x), for great x, too.")
def erfcx(x):
    near = exp(x * x) * erfc(x)
    return where(x < 1.0, near, _polynomial(c.ERFCX, 2.0 / x - 1.0) / x)


def _start(product):
    """About the e with 1 - erf(e)**2 = product, to some thousandths."""
    a = 0.147
    log_ = log(product)
    u = 2.0 / (_PI * a) + log_ * 0.5
    return sqrt(sqrt(u * u - log_ * (1.0 / a)) - u)


def _improve(e, missing):
    """One step of Halley's method; `missing` is what erf(e) has to grow by."""
    step = missing * exp(e * e) * (math.sqrt(_PI) / 2)
    return e + step / (1.0 - e * step)


@_of_float64("erfinv", "The number whose erf is x.")
def erfinv(x):
    y = abs(x)
    e = _start((1.0 - y) * (1.0 + y))
    for _ in range(2):
        e = _improve(e, where(y < 0.5, y - erf(e), erfc(e) - (1.0 - y)))
    e = where(y == 1.0, _INF, e)
    return where(x < 0.0, -e, e)


def _erfcinv(x):
    tail = where(x > 1.0, 2.0 - x, x)
    e = _start(tail * (2.0 - tail))
    for _ in range(2):
        e = _improve(e, erfc(e) - tail)
    e = where(tail == 0.0, _INF, e)
    return where(x > 1.0, -e, e)


@_of_float64("erfcinv", "The number whose erfc is x.")
def erfcinv(x):
    return _erfcinv(x)


@_of_float64("normcdfinv", "The number whose normcdf is x.")
def normcdfinv(x):
    return -math.sqrt(2.0) * _erfcinv(2.0 * x)


_BERNOULLI = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _stirling(x):
    """(z, factor): ln(gamma(x)) for x > 0 is Stirling's series at z less ln(factor); z is 10 or more."""
    z, factor = x, x * 0.0 + 1.0
    for _ in range(10):
        is_small = z < 10.0
        factor = where(is_small, factor * z, factor)
        z = where(is_small, z + 1.0, z)
    inverse = 1.0 / z
    series = _polynomial(_BERNOULLI, inverse * inverse) * inverse
    return (z - 0.5) * log(z) - z + 0.5 * math.log(2 * _PI) + series, factor


def _sine_of_turns(x):
    """|sin(pi x)|, 0 for integers; and whether its sign is negative."""
    nearest = floor(x + 0.5)
    below = floor(x)
    is_negative = below - 2.0 * floor(below * 0.5) == 1.0
    return abs(sin((x - nearest) * _PI)), is_negative


@_of_float64("lgamma", "The logarithm of the absolute value of the gamma function.")
def lgamma(x):
    is_reflected = x < 0.5
    z = where(is_reflected, 1.0 - x, x)
    series, factor = _stirling(z)
    found = where(z == _INF, _INF, series - log(factor))
    sine, _ = _sine_of_turns(x)
    reflected = math.log(_PI) - log(sine) - found
    return where(x == -_INF, _INF, where(is_reflected, reflected, found))


@_of_float64("tgamma", "The gamma function.")
def tgamma(x):
    is_reflected = x < 0.5
    series, factor = _stirling(where(is_reflected, 1.0 - x, x))
    half = exp(series * 0.5)
    found = half * (half / factor)
    sine, is_negative = _sine_of_turns(x)
    reflected = _PI / (where(is_negative, -sine, sine) * found)
    is_pole = (x < 0.0) & (sine == 0.0)
    found = where(is_reflected, where(is_pole, _NAN, reflected), where(x == _INF, _INF, found))
    return where(x == 0.0, 1.0 / x, found)
