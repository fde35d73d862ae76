# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The float remainder is exact, integer division never traps; scalars take the same formulas as vectors."""

from __future__ import annotations

import numpy as np
import pytest
from compiled import STORAGE, Library
from references import all_exponents, reference, ulp_errors


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    lib = Library()
    for scalar in (False, True):
        suffix = "_scalar" if scalar else ""
        for element in ("f32", "f64"):
            lib.add(f"remf_{element}{suffix}", [element] * 2, element, "%y = arith.remf %x0, %x1 : {r}", scalar)
            lib.add(f"sin_{element}{suffix}", [element], element, "%y = math.sin %x0 : {r}", scalar)
        for element in ("i8", "i32", "i64"):
            for name in ("divsi", "divui", "remsi", "remui"):
                body = f"%y = arith.{name} %x0, %x1 : {{r}}"
                lib.add(f"{name}_{element}{suffix}", [element] * 2, element, body, scalar)
    return lib.build(tmp_path_factory.mktemp("division"))


@pytest.mark.parametrize("suffix", ["", "_scalar"])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_remainder_is_exact(library: Library, element: str, suffix: str) -> None:
    dtype = STORAGE[element][0]
    random = np.random.default_rng(7)
    x = all_exponents(dtype, 12 if element == "f32" else 3)
    y = random.permutation(x)
    ordinary = random.uniform(-1000, 1000, 20000).astype(dtype)
    x = np.concatenate([x, ordinary, random.integers(-99, 99, 20000).astype(dtype)])
    y = np.concatenate([y, random.uniform(-3, 3, 20000).astype(dtype), random.integers(-9, 9, 20000).astype(dtype)])
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    actual = library.call(f"remf_{element}{suffix}", x, y)
    same = (actual == expected) & (np.signbit(actual) == np.signbit(expected))
    same |= np.isnan(actual) & np.isnan(expected)
    at = int(np.argmin(same))
    assert same.all(), f"fmod({x[at]!r}, {y[at]!r}): {actual[at]!r}, expected {expected[at]!r}"


@pytest.mark.parametrize("suffix", ["", "_scalar"])
@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
def test_integer_division_is_total(library: Library, element: str, suffix: str) -> None:
    dtype = np.dtype(STORAGE[element][0])
    info = np.iinfo(dtype)
    random = np.random.default_rng(8)
    corners = np.array([0, 1, -1, 2, -2, 7, -7, info.min, info.max, info.min + 1], dtype)
    grid = np.array(np.meshgrid(corners, corners)).reshape(2, -1)
    x = np.concatenate([grid[0], random.integers(info.min, info.max, 1000).astype(dtype)])
    y = np.concatenate([grid[1], random.integers(-50, 50, 1000).astype(dtype)])
    for name, unsigned in (("divsi", False), ("remsi", False), ("divui", True), ("remui", True)):
        actual = library.call(f"{name}_{element}{suffix}", x, y)
        for i in range(len(x)):
            n, d = int(x[i]), int(y[i])
            if unsigned:
                n, d = n % 2**info.bits, d % 2**info.bits
            quotient = -1 if d == 0 else abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1)
            exact = quotient if name.startswith("div") else (n if d == 0 else n - quotient * d)
            assert int(actual[i]) % 2**info.bits == exact % 2**info.bits, f"{name}({x[i]}, {y[i]})"


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_scalar_branch_agrees(library: Library, element: str) -> None:
    dtype = STORAGE[element][0]
    x = all_exponents(dtype, 10)
    actual = library.call(f"sin_{element}_scalar", x)
    assert np.array_equal(actual, library.call(f"sin_{element}", x), equal_nan=True)
    assert ulp_errors(actual, reference("sin", dtype, x)).max() <= 2


def test_needs_no_library(library: Library) -> None:
    assert library.undefined == []
