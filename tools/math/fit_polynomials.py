#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the polynomials of lib/Conversion/MathToArith/Coefficients.h.

Each entry of FITS is a minimax fit  of a function on an interval, with the weight that turns absolute
error into error relative to the final result. Coefficients are rounded to the format one by one, lowest power first,
and the rest is fitted again after each, so that the rounded polynomial stays close to the best one.

    python tools/math/fit_polynomials.py > lib/Conversion/MathToArith/Coefficients.h
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np

mp.mp.dps = 45
Function = Callable[[mp.mpf], mp.mpf]


@dataclass
class Fit:
    """One polynomial: sum of c[i] * x**i approximates `function` on [low, high]."""

    name: str
    comment: str
    function: Function
    weight: Function
    low: mp.mpf
    high: mp.mpf
    count32: int
    count64: int
    prefix: tuple[float, ...] = ()


def round_to(value: mp.mpf, bits: int) -> mp.mpf:
    """`value` rounded to `bits` significant bits."""
    with mp.workprec(bits):
        return +value


def horner(coefficients: list[mp.mpf], x: mp.mpf) -> mp.mpf:
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def minimax(entry: Fit, fixed: list[mp.mpf], count: int) -> list[mp.mpf]:
    """The `count` coefficients after the fixed ones with (nearly) the least weighted maximal error.

    Lawson's iteration: least squares whose weights grow where the error is large. Unlike an exchange it needs no
    Chebyshev system, so an interval around zero with some powers already fixed is no trouble. Each least squares
    problem is solved in double precision and refined with residuals in full precision.
    """
    low, high, first = entry.low, entry.high, len(fixed)
    points = 16 * (count + 2)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf("0.5")) / points) for i in range(points)]
    values = [entry.function(x) - horner(fixed, x) for x in grid]
    weights = [abs(entry.weight(x)) for x in grid]
    scale = max(abs(low), abs(high))
    basis = np.array([[float((x / scale) ** (first + k)) for k in range(count)] for x in grid])
    plain = np.array([float(w) for w in weights])
    lawson = np.ones(points)
    best: tuple[float, list[mp.mpf]] = (math.inf, [])
    solution = [mp.mpf(0)] * count
    for _ in range(40):
        rows = np.sqrt(lawson) * plain
        for _ in range(3):
            residual = [f - horner(solution, x) * x**first for x, f in zip(grid, values, strict=True)]
            size = max(abs(r) for r in residual)
            right = np.array([float(r / size) for r in residual])
            step = np.linalg.lstsq(basis * rows[:, None], right * rows, rcond=None)[0]
            powers = [size / scale ** (first + k) for k in range(count)]
            solution = [c + mp.mpf(d) * p for c, d, p in zip(solution, step, powers, strict=True)]
        residual = [f - horner(solution, x) * x**first for x, f in zip(grid, values, strict=True)]
        errors = [abs(w * r) for w, r in zip(weights, residual, strict=True)]
        worst = max(errors)
        if float(worst) < best[0]:
            best = (float(worst), solution)
        lawson = lawson * np.array([float(e / worst) for e in errors])
        lawson = np.maximum(lawson / lawson.max(), 1e-12)
    return best[1]


def fit(entry: Fit, count: int, bits: int) -> tuple[list[mp.mpf], mp.mpf]:
    """Rounded coefficients and the weighted maximal error."""
    fixed: list[mp.mpf] = [mp.mpf(c) for c in entry.prefix]
    # Beyond the first few powers the rounding of a coefficient no longer shows in the result.
    careful = count if bits == 24 else len(fixed) + 3
    while len(fixed) < count:
        free = minimax(entry, fixed, count - len(fixed))
        if len(fixed) < careful:
            fixed.append(round_to(free[0], bits))
        else:
            fixed += [round_to(c, bits) for c in free]
    samples = [entry.low + (entry.high - entry.low) * (i + mp.mpf("0.5")) / 300 for i in range(300)]
    worst = max(abs(entry.weight(x) * (horner(fixed, x) - entry.function(x))) for x in samples)
    return fixed, worst


def over(numerator: Function, divisor: Function) -> Function:
    return lambda x: numerator(x) / divisor(x)


LN2 = mp.log(2)
HALF_LN2 = LN2 / 2 * mp.mpf("1.0001")
PI4 = mp.pi / 4 * mp.mpf("1.01")
SQRT_HALF = mp.sqrt(mp.mpf(1) / 2)
TAN_PI8 = mp.tan(mp.pi / 8) * mp.mpf("1.0001")


def log_tail(x: mp.mpf) -> mp.mpf:
    return (mp.log1p(x) - x + x * x / 2) / x**3


def atanh_tail(u: mp.mpf) -> mp.mpf:
    s = mp.sqrt(u)
    return (2 * mp.atanh(s) / s - 2) / u


def erfcx(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x) * mp.exp(x * x)


def from_unit(t: mp.mpf, k: int) -> mp.mpf:
    """Inverse of t = (x - k) / (x + k)."""
    return k * (1 + t) / (1 - t)


def sqrt_series(odd: Function) -> Function:
    """(odd(s) - s) / s**3 as a function of u = s*s."""

    def tail(u: mp.mpf) -> mp.mpf:
        s = mp.sqrt(u)
        return (odd(s) - s) / s**3

    return tail


def cos_tail(u: mp.mpf) -> mp.mpf:
    return (mp.cos(mp.sqrt(u)) - 1 + u / 2) / u**2


def erf_small(u: mp.mpf) -> mp.mpf:
    s = mp.sqrt(u)
    return mp.erf(s) / s - 1


ERFC_LOW = (mp.mpf("0.45") - 2) / (mp.mpf("0.45") + 2)
ERFC_HIGH = (mp.mpf(28) - 2) / (mp.mpf(28) + 2)
TINY = mp.mpf(10) ** -9

FITS = [
    Fit("exp", "exp(r), |r| <= ln2/2", mp.exp, lambda x: mp.exp(-x), -HALF_LN2, HALF_LN2, 7, 12, (1, 1)),
    Fit(
        "exp2",
        "2^r, |r| <= 1/2",
        lambda x: mp.mpf(2) ** x,
        lambda x: mp.mpf(2) ** -x,
        mp.mpf("-0.5001"),
        mp.mpf("0.5001"),
        7,
        12,
        (1,),
    ),
    Fit(
        "expm1",
        "(exp(r) - 1 - r) / r^2, |r| <= ln2/2",
        lambda x: (mp.expm1(x) - x) / x**2,
        lambda x: x**2 / mp.expm1(x),
        -HALF_LN2,
        HALF_LN2,
        5,
        11,
    ),
    Fit(
        "log",
        "(log(1+f) - f + f^2/2) / f^3, sqrt(1/2) <= 1+f <= sqrt(2)",
        log_tail,
        lambda x: x**3 / mp.log1p(x),
        SQRT_HALF - 1,
        2 * SQRT_HALF - 1,
        9,
        0,
    ),
    Fit(
        "atanh",
        "(log((1+s)/(1-s)) / s - 2) / u, u = s^2, 0 <= s <= 0.1716",
        atanh_tail,
        lambda u: u,
        TINY,
        mp.mpf("0.02945"),
        3,
        8,
    ),
    Fit(
        "pow",
        "(log((1+s)/(1-s)) / (2s) - 1 - v/3) / v^2, v = s^2, 0 <= s <= 0.1716",
        lambda v: (mp.atanh(mp.sqrt(v)) / mp.sqrt(v) - 1 - v / 3) / v**2,
        lambda v: v**2,
        TINY,
        mp.mpf("0.02945"),
        3,
        8,
    ),
    Fit(
        "sin",
        "(sin(r) - r) / r^3 in u = r^2, |r| <= pi/4",
        sqrt_series(mp.sin),
        lambda u: u * mp.sqrt(u) / mp.sin(mp.sqrt(u)),
        TINY,
        PI4**2,
        3,
        6,
    ),
    Fit(
        "cos",
        "(cos(r) - 1 + r^2/2) / r^4 in u = r^2, |r| <= pi/4",
        cos_tail,
        lambda u: u**2 / mp.cos(mp.sqrt(u)),
        TINY,
        PI4**2,
        3,
        6,
    ),
    Fit(
        "atan",
        "(atan(z) - z) / z^3 in u = z^2, |z| <= tan(pi/8)",
        sqrt_series(mp.atan),
        lambda u: u * mp.sqrt(u) / mp.atan(mp.sqrt(u)),
        TINY,
        TAN_PI8**2,
        5,
        11,
    ),
    Fit(
        "asin",
        "(asin(z) - z) / z^3 in u = z^2, |z| <= 1/2",
        sqrt_series(mp.asin),
        lambda u: u * mp.sqrt(u) / mp.asin(mp.sqrt(u)),
        TINY,
        mp.mpf("0.25"),
        6,
        13,
    ),
    Fit(
        "erfSmall",
        "erf(x)/x - 1 in u = x^2, |x| <= 1.125",
        erf_small,
        lambda u: mp.sqrt(u) / mp.erf(mp.sqrt(u)),
        TINY,
        mp.mpf("1.126") ** 2,
        7,
        0,
    ),
    Fit(
        "erfSmall",
        "erf(x)/x - 1 in u = x^2, |x| <= 1",
        erf_small,
        lambda u: mp.sqrt(u) / mp.erf(mp.sqrt(u)),
        TINY,
        mp.mpf("1.001"),
        0,
        12,
    ),
    Fit(
        "erfcRoot",
        "erfc(x)^(1/4), 1.125 <= x <= 4",
        lambda x: mp.root(mp.erfc(x), 4),
        lambda x: 4 * mp.root(mp.erfc(x), 4) ** 3 / mp.erf(x),
        mp.mpf("1.124"),
        mp.mpf("4"),
        8,
        0,
    ),
    Fit(
        "erfcx",
        "erfc(x)*exp(x^2)*(1 + 2x) in t = (x-2)/(x+2), 0.45 <= x <= 28",
        lambda t: erfcx(from_unit(t, 2)) * (1 + 2 * from_unit(t, 2)),
        lambda t: 1 / (erfcx(from_unit(t, 2)) * (1 + 2 * from_unit(t, 2))),
        ERFC_LOW,
        ERFC_HIGH,
        11,
        27,
    ),
]


HEADER = """\
//===- Coefficients.h - Minimax polynomials ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Written by tools/math/fit_polynomials.py. Lowest power first; `error` is that
// of the fit relative to the final result, before rounding of the evaluation.
#ifndef TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H
#define TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H

// clang-format off
namespace terrazzo::coefficients {
"""
FOOTER = """\
} // namespace terrazzo::coefficients
// clang-format on

#endif // TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H"""


def show(value: mp.mpf, bits: int) -> str:
    """A hexadecimal literal without the digits that the format cannot have."""
    text = float(value).hex().replace("0x1.0000000000000p", "0x1p")
    return text.replace("0000000p", "0p").replace("00p", "0p") if bits == 24 else text


def main() -> None:
    print(HEADER)
    for entry in FITS:
        for count, bits, suffix in ((entry.count32, 24, "F32"), (entry.count64, 53, "F64")):
            if not count:
                continue
            values, worst = fit(entry, count, bits)
            print(f"/// {entry.comment}; error 2^{float(mp.log(worst, 2)):.1f}")
            print(f"inline constexpr double {entry.name}{suffix}[] = {{")
            for value in values:
                print(f"    {show(value, bits)},")
            print("};\n", flush=True)
    print(FOOTER)


if __name__ == "__main__":
    main()
