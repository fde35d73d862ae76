# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error bounds that docs/Rationale/Math.md states, measured on vectors of the host.

Every exponent of the format, dense random arguments where the function bends, and the corners (zeros, infinities, NaN,
denormals) go through each expanded function; none of the compiled loops may need a library.
"""

from __future__ import annotations

import numpy as np
import pytest
from compiled import Library
from references import BINARY, UNARY, all_exponents, angles_near_zeros, dense, reference, ulp_errors

TYPES = {"f32": np.float32, "f64": np.float64}
# Below this (2^-125.5, give or take a rounding) exp and exp2 in f32 are zero.
FLUSHED = 1.6625e-38
ODD = ["sin", "tan", "tanh", "erf", "expm1", "log1p", "sinh", "asinh", "atanh", "atan", "asin", "cbrt"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    lib = Library()
    for element in TYPES:
        for name in UNARY:
            lib.add(f"{name}_{element}", [element], element, f"%y = math.{name} %x0 : {{r}}")
        for name in BINARY:
            lib.add(f"{name}_{element}", [element] * 2, element, f"%y = math.{name} %x0, %x1 : {{r}}")
    return lib.build(tmp_path_factory.mktemp("accuracy"))


def arguments(name: str, element: str) -> np.ndarray:
    dtype = TYPES[element]
    slow = element == "f64" and name in ("erf", "erfc")
    low, high = UNARY[name][1]
    parts = [all_exponents(dtype, 3 if slow else 150 if element == "f32" else 12)]
    if slow:
        parts[0] = parts[0][::16]
    parts.append(dense(dtype, low, high, 3000 if slow else 60000))
    if name in ("sin", "cos", "tan"):
        parts += [angles_near_zeros(dtype), dense(dtype, -1e5, 1e5, 20000)]
    return np.concatenate(parts)


def worst(errors: np.ndarray, *xs: np.ndarray) -> str:
    at = int(np.argmax(errors))
    return f"{errors[at]:.3f} units at " + ", ".join(repr(x[at]) for x in xs)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_bound(library: Library, name: str, element: str, record_property) -> None:
    x = arguments(name, element)
    actual = library.call(f"{name}_{element}", x)
    exact = reference(name, TYPES[element], x)
    errors = ulp_errors(actual, exact)
    if name in ("exp", "exp2") and element == "f32":
        flushed = (np.abs(exact) < FLUSHED) & (actual == 0)
        errors = np.where(flushed, 0, errors)
    record_property("ulp", float(errors.max()))
    print(f"ULP {name} {element}: {worst(errors, x)}")
    bound = UNARY[name][0][element == "f64"]
    assert errors.max() <= bound, f"{name} {element}: {worst(errors, x)}"


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ODD)
def test_odd_at_zero(library: Library, name: str, element: str) -> None:
    zeros = np.array([0.0, -0.0], TYPES[element])
    assert np.array_equal(np.signbit(library.call(f"{name}_{element}", zeros)), [False, True])


def binary_arguments(element: str) -> tuple[np.ndarray, np.ndarray]:
    dtype = TYPES[element]
    random = np.random.default_rng(5)
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40], dtype)
    grid = np.array(np.meshgrid(special, special)).reshape(2, -1)
    every = random.permutation(all_exponents(dtype, 60 if element == "f32" else 8))
    other = random.permutation(every)
    limit = 90 if element == "f32" else 700
    base = np.exp(random.uniform(-limit, limit, 60000)).astype(dtype)
    near = random.uniform(0.5, 2, 60000).astype(dtype)
    power = (random.uniform(-limit, limit, 60000) / np.log(near.astype(np.float64))).astype(dtype)
    small = random.uniform(-3, 3, 60000).astype(dtype)
    integers = random.integers(-20, 20, 60000).astype(dtype)
    xs = [grid[0], every, base, near, -near]
    ys = [grid[1], other, small, power, integers]
    return np.concatenate(xs), np.concatenate(ys)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary_bound(library: Library, name: str, element: str) -> None:
    x, y = binary_arguments(element)
    actual = library.call(f"{name}_{element}", x, y)
    errors = ulp_errors(actual, reference(name, TYPES[element], x, y))
    print(f"ULP {name} {element}: {worst(errors, x, y)}")
    assert errors.max() <= BINARY[name][element == "f64"], f"{name} {element}: {worst(errors, x, y)}"


@pytest.mark.parametrize("element", TYPES)
def test_huge_angles_stay_bounded(library: Library, element: str) -> None:
    x = all_exponents(TYPES[element], 40)
    for name in ("sin", "cos"):
        value = library.call(f"{name}_{element}", x)
        assert np.array_equal(np.isnan(value), ~np.isfinite(x))
        assert np.nanmax(np.abs(value)) <= 1


def test_needs_no_library(library: Library) -> None:
    assert library.undefined == []
