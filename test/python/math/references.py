# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference values, arguments to test at, and the distance in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np

Reference = Callable[..., np.ndarray]
LONG = np.longdouble
# name: ((f32 bound, f64 bound) in units in the last place, interval of the dense arguments)
UNARY = {
    "exp": ((1.0, 1.0), (-100, 100)),
    "exp2": ((1.0, 1.0), (-150, 130)),
    "expm1": ((2.0, 2.0), (-5, 5)),
    "log": ((1.0, 1.0), (0, 4)),
    "log2": ((1.5, 1.5), (0, 4)),
    "log10": ((1.5, 1.5), (0, 4)),
    "log1p": ((1.5, 1.5), (-1, 4)),
    "tanh": ((3.0, 3.0), (-10, 10)),
    "erf": ((1.5, 2.0), (-5, 5)),
    "erfc": ((4.0, 6.0), (-5, 28)),
    "rsqrt": ((1.5, 1.5), (0, 4)),
    "sin": ((2.0, 2.0), (-100, 100)),
    "cos": ((2.0, 2.0), (-100, 100)),
    "tan": ((4.0, 4.0), (-100, 100)),
    "sinh": ((3.0, 3.0), (-90, 90)),
    "cosh": ((2.0, 2.0), (-90, 90)),
    "asinh": ((3.0, 3.0), (-10, 10)),
    "acosh": ((3.0, 3.0), (1, 10)),
    "atanh": ((3.0, 3.0), (-1, 1)),
    "atan": ((2.0, 2.0), (-10, 10)),
    "asin": ((2.5, 2.5), (-1, 1)),
    "acos": ((2.0, 2.0), (-1, 1)),
    "cbrt": ((1.0, 1.0), (-10, 10)),
}
BINARY = {"powf": (1.5, 1.5), "atan2": (2.0, 2.0)}


def elementwise(function: Callable[[float], float]) -> Reference:
    """A scalar function of Python floats over an array; domain errors give NaN."""

    def call(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    return lambda x: np.array([call(float(v)) for v in x], np.float64)


def precise(function: Callable[[mpmath.mpf], mpmath.mpf]) -> Reference:
    """An mpmath function over an array, in long double."""

    def call(value: float) -> np.longdouble:
        with mpmath.workprec(120):
            exact = mpmath.mpmathify(function(mpmath.mpf(min(max(value, -40.0), 40.0))))
            if not mpmath.isfinite(exact):
                return LONG(float(exact))
            high = float(exact)
            return LONG(high) + LONG(float(exact - high))

    return lambda x: np.array([call(float(v)) for v in x], LONG)


def wide(function: Callable[[np.ndarray], np.ndarray]) -> Reference:
    """A NumPy function in long double."""
    return lambda *xs: function(*[np.asarray(x, LONG) for x in xs])


REFERENCES: dict[str, Reference] = {
    "exp": wide(np.exp),
    "exp2": wide(np.exp2),
    "expm1": wide(np.expm1),
    "log": wide(np.log),
    "log2": wide(np.log2),
    "log10": wide(np.log10),
    "log1p": wide(np.log1p),
    "tanh": wide(np.tanh),
    "sin": wide(np.sin),
    "cos": wide(np.cos),
    "tan": wide(np.tan),
    "rsqrt": wide(lambda x: 1 / np.sqrt(x)),
    "sinh": wide(np.sinh),
    "cosh": wide(np.cosh),
    "asinh": wide(np.arcsinh),
    "acosh": wide(np.arccosh),
    "atanh": wide(np.arctanh),
    "atan": wide(np.arctan),
    "asin": wide(np.arcsin),
    "acos": wide(np.arccos),
    "cbrt": wide(np.cbrt),
    "powf": wide(np.power),
    "atan2": wide(np.arctan2),
}


def reference(name: str, dtype: type, *arguments: np.ndarray) -> np.ndarray:
    """The function in at least twice the precision that the comparison needs."""
    with np.errstate(all="ignore"):
        if name in ("erf", "erfc"):
            if dtype == np.float64:
                return precise(getattr(mpmath, name))(*arguments)
            return elementwise(getattr(math, name))(*arguments)
        return REFERENCES[name](*arguments)


def ulp_errors(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|actual - exact| in units in the last place of exact; 0 for equal infinities and for two NaNs."""
    info = np.finfo(actual.dtype)
    with np.errstate(all="ignore"):
        exact = exact.astype(LONG)
        magnitude = np.maximum(np.abs(exact), LONG(info.smallest_normal))
        unit = np.ldexp(LONG(1), np.frexp(magnitude)[1] - 1 - info.nmant)
        limit = LONG(info.max) * (1 + LONG(info.eps) / 4)
        rounded = np.where(np.abs(exact) > limit, np.copysign(LONG(np.inf), exact), exact)
        error = np.abs(actual.astype(LONG) - exact) / unit
        # An overflow that is one rounding away from the largest number counts as that rounding.
        near = np.isinf(actual) & np.isfinite(rounded) & (np.sign(actual) == np.sign(rounded))
        error = np.where(near, np.abs(np.copysign(LONG(info.max), exact) - exact) / unit + 1, error)
        same = (np.isnan(actual) & np.isnan(exact)) | (actual.astype(LONG) == rounded)
    return np.where(same, 0, np.where(np.isnan(error), np.inf, error)).astype(np.float64)


def all_exponents(dtype: type, each: int, seed: int = 1) -> np.ndarray:
    """Random numbers of every exponent and both signs, and the corners of the format."""
    random = np.random.default_rng(seed)
    info = np.finfo(dtype)
    integer = np.uint32 if dtype == np.float32 else np.uint64
    exponents = np.arange(2 ** (info.bits - 1 - info.nmant) - 1, dtype=np.uint64)
    mantissas = random.integers(0, 2**info.nmant, (len(exponents), each), dtype=np.uint64)
    mantissas[:, 0] = 0
    mantissas[:, 1] = 2**info.nmant - 1
    mantissas[:, 2] = 1
    magnitudes = ((exponents[:, None] << np.uint64(info.nmant)) | mantissas).ravel()
    signs = magnitudes | (np.uint64(1) << np.uint64(info.bits - 1))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, math.pi, math.e], dtype)
    return np.concatenate([magnitudes.astype(integer).view(dtype), signs.astype(integer).view(dtype), special])


def dense(dtype: type, low: float, high: float, count: int, seed: int = 2) -> np.ndarray:
    """Uniform random numbers."""
    return np.random.default_rng(seed).uniform(low, high, count).astype(dtype)


def angles_near_zeros(dtype: type, seed: int = 3) -> np.ndarray:
    """The numbers next to multiples of pi/2, where reduction cancels most."""
    multiples = np.unique(np.concatenate([np.arange(1, 3000), np.random.default_rng(seed).integers(1, 2**40, 3000)]))
    centre = (multiples * (LONG(np.pi) + LONG(1.2246467991473531772e-16)) / 2).astype(dtype)
    return np.concatenate([centre, np.nextafter(centre, dtype(0)), np.nextafter(centre, dtype(np.inf))])
