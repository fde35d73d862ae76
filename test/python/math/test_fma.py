# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fma of f32 without an instruction has the bits of the one that rounds the exact sum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from compiled import Library


def nearest(exact: Fraction, negative_zero: bool) -> np.float32:
    """The f32 that a rational number rounds to, to the nearest even."""
    if exact == 0:
        return np.float32(-0.0 if negative_zero else 0.0)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    # round() of a rational number is to the nearest even.
    value = round(size / unit) * unit
    value = np.float32(np.inf) if value >= Fraction(2) ** 128 else np.float32(float(value))
    return -value if exact < 0 else value


def exact_fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    if not np.isfinite([a, b, c]).all():
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    product = Fraction(float(a)) * Fraction(float(b))
    is_negative = bool(np.signbit(a) != np.signbit(b))
    both = is_negative and bool(np.signbit(c)) and product == 0
    # A product too small to be seen keeps its sign.
    return nearest(product + Fraction(float(c)), both)


def operands() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    count = 3000
    bits = random.integers(0, 2**32, (3, count), dtype=np.uint64).astype(np.uint32).view(np.float32)
    # Sums whose last bits meet: products near halves of a unit of the third.
    short = random.integers(1, 2**12, (3, count)).astype(np.float32) * np.exp2(random.integers(-30, 31, (3, count)))
    a, b = random.standard_normal((2, count), np.float32)
    cancelling = [a, b, -(a * b)]
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, 1e-38, 3e38, 1 + 2**-23], np.float32)
    grid = np.array(np.meshgrid(special, special, special)).reshape(3, -1)
    with np.errstate(invalid="ignore"):  # NaNs of any bits
        columns = [
            np.concatenate(parts).astype(np.float32) for parts in zip(bits, short, cancelling, grid, strict=True)
        ]
    size = len(columns[0]) // 16 * 16
    return [column[:size] for column in columns]


@pytest.mark.parametrize("march", ["native", "x86-64"])
def test_bits(march: str, tmp_path) -> None:
    lib = Library(march=march, options="fma=false")
    lib.add("fma", ["f32"] * 3, "f32", "%y = math.fma %x0, %x1, %x2 : {r}")
    lib.add("scalar", ["f32"] * 3, "f32", "%y = math.fma %x0, %x1, %x2 : {r}", scalar=True)
    lib.build(tmp_path)
    assert lib.undefined == []
    values = operands()
    with np.errstate(all="ignore"):
        wanted = np.array([exact_fma(*row) for row in zip(*values, strict=True)], np.float32)
    for name in ("fma", "scalar"):
        found = lib.call(name, *values)
        same = (found.view(np.uint32) == wanted.view(np.uint32)) | (np.isnan(found) & np.isnan(wanted))
        assert same.all(), [(*(v[~same][:3] for v in values), found[~same][:3], wanted[~same][:3])]
