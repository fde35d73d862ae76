# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fma and rounding without instructions have the bits of those that round the exact result once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from compiled import Library


def nearest(exact: Fraction, negative_zero: bool, dtype: type) -> np.floating:
    """The float that a rational number rounds to, to the nearest even."""
    if exact == 0:
        return dtype(-0.0 if negative_zero else 0.0)
    info = np.finfo(dtype)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    # round() of a rational number is to the nearest even.
    value = round(size / unit) * unit
    value = dtype(np.inf) if value >= Fraction(2) ** int(info.maxexp) else dtype(float(value))
    return -value if exact < 0 else value


def exact_fma(a: np.floating, b: np.floating, c: np.floating) -> np.floating:
    dtype = type(a)
    if not np.isfinite([a, b]).all():
        return a * b + c
    if not np.isfinite(c):
        return c
    product = Fraction(float(a)) * Fraction(float(b))
    is_negative = bool(np.signbit(a) != np.signbit(b))
    both = is_negative and bool(np.signbit(c)) and product == 0
    # A product too small to be seen keeps its sign.
    return nearest(product + Fraction(float(c)), both, dtype)


def operands(dtype: type) -> list[np.ndarray]:
    """Random bits, sums at the edge of their range, products near halves of a unit, cancellation, special values."""
    random = np.random.default_rng(5)
    count = 3000
    info = np.finfo(dtype)
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    bits = random.integers(0, 2**info.bits, (3, count), dtype=np.uint64).astype(unsigned).view(dtype)
    # Sums whose last bits meet: products near halves of a unit of the third.
    half = int(info.nmant) // 2 + 1
    short = random.integers(1, 2**half, (3, count)).astype(dtype) * np.exp2(random.integers(-30, 31, (3, count)))
    a, b = random.standard_normal((2, count)).astype(dtype)
    cancelling = [a, b, -(a * b)]
    # Sums that are denormal, or nearly.
    edge = int(info.minexp)
    power = random.integers(edge // 2 - 40, edge // 2 + 5, count)
    small = [np.ldexp(a, power), np.ldexp(b, power), np.ldexp(random.standard_normal(count), 2 * power + 20)]
    tiny, big = info.smallest_subnormal, info.max
    special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, tiny, info.tiny, -info.tiny, big, -big, 1 + info.eps]
    grid = np.array(np.meshgrid(special, special, special)).reshape(3, -1)
    with np.errstate(invalid="ignore"):  # NaNs of any bits
        columns = [
            np.concatenate(parts).astype(dtype) for parts in zip(bits, short, cancelling, small, grid, strict=True)
        ]
    size = len(columns[0]) // 16 * 16
    return [column[:size] for column in columns]


def assert_same(found: np.ndarray, wanted: np.ndarray, *values: np.ndarray) -> None:
    unsigned = np.uint32 if found.dtype == np.float32 else np.uint64
    same = (found.view(unsigned) == wanted.view(unsigned)) | (np.isnan(found) & np.isnan(wanted))
    assert same.all(), [(*(v[~same][:3] for v in values), found[~same][:3], wanted[~same][:3])]


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("march", ["native", "x86-64"])
def test_fma(march: str, element: str, tmp_path) -> None:
    lib = Library(march=march, options="fma=false")
    lib.add("fma", [element] * 3, element, "%y = math.fma %x0, %x1, %x2 : {r}")
    lib.add("scalar", [element] * 3, element, "%y = math.fma %x0, %x1, %x2 : {r}", scalar=True)
    lib.build(tmp_path)
    assert lib.undefined == []
    dtype = np.float32 if element == "f32" else np.float64
    values = operands(dtype)
    with np.errstate(all="ignore"):
        wanted = np.array([exact_fma(*row) for row in zip(*values, strict=True)], dtype)
    for name in ("fma", "scalar"):
        assert_same(lib.call(name, *values), wanted, *values)


def round_half_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


ROUNDINGS = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": round_half_away,
    "roundeven": np.rint,
}


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_rounding(element: str, tmp_path) -> None:
    lib = Library(march="x86-64", options="rounding=false")
    for name in ROUNDINGS:
        lib.add(name, [element], element, f"%y = math.{name} %x0 : {{r}}")
    lib.build(tmp_path)
    assert lib.undefined == []
    dtype = np.float32 if element == "f32" else np.float64
    random = np.random.default_rng(6)
    halves = np.arange(-64, 64) / 4
    below = np.nextafter(halves.astype(dtype), dtype(0))
    large = np.ldexp(1.0, np.finfo(dtype).nmant) + np.arange(-8, 8) / 2
    bits, special, _ = operands(dtype)
    x = np.concatenate([halves, below, large, -large, bits, special, random.standard_normal(1000) * 100]).astype(dtype)
    x = x[: len(x) // 16 * 16]
    with np.errstate(all="ignore"):
        for name, reference in ROUNDINGS.items():
            wanted = np.copysign(reference(x), x).astype(dtype)
            assert_same(lib.call(name, x), wanted, x)
