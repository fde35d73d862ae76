# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions and arithmetic of 8- and 16-bit floats: bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from compiled import STORAGE, Library
from references import all_exponents

NARROW = ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"]
WIDE = ["f32", "f64"]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ARITHMETIC = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}
TRUNCATING = "%y = arith.truncf %x0 toward_zero : {0} to {r}"


@pytest.fixture(scope="module", params=["f16-native=true", "f16-native=false"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    lib = Library(options=request.param)
    for narrow in NARROW:
        for wide in WIDE:
            lib.add(f"{narrow}_to_{wide}", [narrow], wide, "%y = arith.extf %x0 : {0} to {r}")
            lib.add(f"{wide}_to_{narrow}", [wide], narrow, "%y = arith.truncf %x0 : {0} to {r}")
            lib.add(f"{wide}_to_{narrow}_rtz", [wide], narrow, TRUNCATING)
        if narrow.startswith("f8"):
            for middle in ("f16", "bf16"):
                lib.add(f"{narrow}_to_{middle}", [narrow], middle, "%y = arith.extf %x0 : {0} to {r}")
                lib.add(f"{middle}_to_{narrow}", [middle], narrow, "%y = arith.truncf %x0 : {0} to {r}")
        for name in ARITHMETIC:
            lib.add(f"{name}_{narrow}", [narrow] * 2, narrow, f"%y = arith.{name} %x0, %x1 : {{r}}")
        for name in ("negf", "absf", "sqrt", "floor", "exp"):
            dialect = "arith" if name == "negf" else "math"
            lib.add(f"{name}_{narrow}", [narrow], narrow, f"%y = {dialect}.{name} %x0 : {{r}}")
        for name in ("maxnumf", "minimumf", "remf"):
            lib.add(f"{name}_{narrow}", [narrow] * 2, narrow, f"%y = arith.{name} %x0, %x1 : {{r}}")
        for integer in ("i32", "i64"):
            lib.add(f"{integer}_to_{narrow}", [integer], narrow, "%y = arith.sitofp %x0 : {0} to {r}")
            lib.add(f"u{integer}_to_{narrow}", [integer], narrow, "%y = arith.uitofp %x0 : {0} to {r}")
            lib.add(f"{narrow}_to_{integer}", [narrow], integer, "%y = arith.fptosi %x0 : {0} to {r}")
        compare = "%c = arith.cmpf olt, %x0, %x1 : {0}\n%y = arith.select %c, %x0, %x1 : "
        lib.add(f"smaller_{narrow}", [narrow] * 2, narrow, compare + f"vector<16xi1>, vector<16x{narrow}>")
    lib.add("f64_to_f32_rtz", ["f64"], "f32", TRUNCATING)
    return lib.build(tmp_path_factory.mktemp("narrow"))


def codes(element: str) -> np.ndarray:
    """Every value of a narrow format."""
    dtype = STORAGE[element][0]
    size = np.dtype(dtype).itemsize
    return np.arange(2 ** (8 * size), dtype=np.uint16).astype(f"u{size}").view(dtype)


def bits(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def finite_values(element: str) -> np.ndarray:
    """The non-negative finite values by ascending code."""
    half = codes(element)[: 2 ** (8 * np.dtype(STORAGE[element][0]).itemsize - 1)]
    values = half.astype(np.float64)
    return values[np.isfinite(values)]


def rounded(x: np.ndarray, element: str, toward_zero: bool = False) -> np.ndarray:
    """x in the format by search among its values: nearest (ties to the even code) or towards zero."""
    dtype = STORAGE[element][0]
    values = finite_values(element)
    # One more value, where the next code would be, decides about overflow.
    values = np.append(values, 2 * values[-1] - values[-2])
    magnitude = np.abs(x.astype(np.longdouble))
    below = np.clip(np.searchsorted(values, magnitude, side="right") - 1, 0, len(values) - 2)
    middle = (values[below] + values[below + 1]) / 2
    up = (magnitude > middle) | ((magnitude == middle) & (below % 2 == 1))
    code = np.where(up & (not toward_zero), below + 1, below)
    infinite = np.isinf(x)
    code = np.where(infinite, len(values) - 1, code)
    # f8E4M3FN saturates; of the others ml_dtypes gives the format's infinity or NaN for an infinite argument.
    beyond = values[-2] if element == "f8E4M3FN" else np.inf
    table = np.append(values[:-1], beyond).astype(dtype)
    result = np.copysign(table[code].astype(np.float64), x.astype(np.float64))
    result = np.where(np.isnan(x), np.nan, result)
    with np.errstate(all="ignore"):
        return result.astype(dtype)


def assert_same(actual: np.ndarray, expected: np.ndarray, *xs: np.ndarray) -> None:
    nan = np.isnan(expected.astype(np.float64))
    same = np.where(nan, np.isnan(actual.astype(np.float64)), bits(actual) == bits(expected))
    if not same.all():
        at = int(np.argmin(same))
        arguments = ", ".join(repr(x[at]) for x in xs)
        raise AssertionError(f"{(~same).sum()} differ; at {arguments}: {actual[at]!r}, expected {expected[at]!r}")


def hard_arguments(element: str, wide: str) -> np.ndarray:
    """Every value of the format, every middle of two, and the closest wide numbers around them."""
    dtype = STORAGE[wide][0]
    values = finite_values(element)
    values = np.append(values, 2 * values[-1] - values[-2])
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(dtype)
    points = np.concatenate([points, np.nextafter(points, dtype(0)), np.nextafter(points, dtype(np.inf))])
    return np.concatenate([points, -points, all_exponents(dtype, 40 if wide == "f32" else 6)])


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("narrow", NARROW)
def test_widening_is_exact(library: Library, narrow: str, wide: str) -> None:
    x = codes(narrow)
    assert_same(library.call(f"{narrow}_to_{wide}", x), x.astype(STORAGE[wide][0]), x)


@pytest.mark.parametrize("toward_zero", [False, True])
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("narrow", NARROW)
def test_narrowing_rounds_once(library: Library, narrow: str, wide: str, toward_zero: bool) -> None:
    x = hard_arguments(narrow, wide)
    name = f"{wide}_to_{narrow}" + ("_rtz" if toward_zero else "")
    assert_same(library.call(name, x), rounded(x, narrow, toward_zero), x)


def test_f64_to_f32_toward_zero(library: Library) -> None:
    x = all_exponents(np.float64, 40)
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32)
        above = np.abs(expected.astype(np.float64)) > np.abs(x)
        expected = np.where(above, np.nextafter(expected, np.float32(0)), expected)
    assert_same(library.call("f64_to_f32_rtz", x), expected, x)


@pytest.mark.parametrize("middle", ["f16", "bf16"])
@pytest.mark.parametrize("narrow", [n for n in NARROW if n.startswith("f8")])
def test_between_narrow_formats(library: Library, narrow: str, middle: str) -> None:
    x = codes(narrow)
    assert_same(library.call(f"{narrow}_to_{middle}", x), x.astype(STORAGE[middle][0]), x)
    y = codes(middle)
    assert_same(library.call(f"{middle}_to_{narrow}", y), rounded(y.astype(np.float64), narrow), y)


def pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    x = codes(element)
    if len(x) == 256:
        return np.repeat(x, 256), np.tile(x, 256)
    random = np.random.default_rng(4)
    return random.permutation(np.tile(x, 3)), random.permutation(np.tile(x, 3))


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_rounds_once(library: Library, name: str, narrow: str) -> None:
    x, y = pairs(narrow)
    with np.errstate(all="ignore"):
        exact = ARITHMETIC[name](x.astype(np.longdouble), y.astype(np.longdouble))
    assert_same(library.call(f"{name}_{narrow}", x, y), rounded(exact, narrow), x, y)


@pytest.mark.parametrize("narrow", NARROW)
def test_other_operations(library: Library, narrow: str) -> None:
    x, y = pairs(narrow)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    equal = wide_x == wide_y
    with np.errstate(all="ignore"):
        expected = {
            "negf": -wide_x,
            "absf": np.abs(wide_x),
            "sqrt": np.sqrt(wide_x.astype(np.longdouble)),
            "floor": np.floor(wide_x),
            # -0 counts as smaller than +0.
            "maxnumf": np.where(equal, np.where(np.signbit(wide_x), wide_y, wide_x), np.fmax(wide_x, wide_y)),
            "minimumf": np.where(equal, np.where(np.signbit(wide_x), wide_x, wide_y), np.minimum(wide_x, wide_y)),
            "remf": np.fmod(wide_x, wide_y),
            "smaller": np.where(wide_x < wide_y, wide_x, wide_y),
        }
    for name, value in expected.items():
        operands = (x,) if name in ("negf", "absf", "sqrt", "floor") else (x, y)
        actual = library.call(f"{name}_{narrow}", *operands)
        assert_same(actual, rounded(value, narrow), x, y)


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("integer", ["i32", "i64"])
def test_integers(library: Library, integer: str, narrow: str) -> None:
    width = int(integer[1:])
    random = np.random.default_rng(6)
    magnitude = np.concatenate([random.integers(0, 2**k, 2000, dtype=np.uint64) for k in range(1, width)])
    middle = np.concatenate([(1 << k) + (1 << max(k - 8, 0)) + np.arange(-3, 4) for k in range(4, width - 2)])
    x = np.concatenate([magnitude.astype(np.int64), middle]).astype(f"i{width // 8}")
    x = np.concatenate([x, -x, np.arange(-300, 300).astype(x.dtype)])
    assert_same(library.call(f"{integer}_to_{narrow}", x), rounded(x.astype(np.longdouble), narrow), x)
    unsigned = x.view(f"u{width // 8}").astype(np.longdouble)
    assert_same(library.call(f"u{integer}_to_{narrow}", x), rounded(unsigned, narrow), x)
    back = codes(narrow)
    back = back[np.abs(back.astype(np.float64)) < 2.0**31]
    assert np.array_equal(library.call(f"{narrow}_to_{integer}", back), back.astype(np.float64).astype(x.dtype))


@pytest.mark.parametrize("narrow", NARROW)
def test_functions_go_through_f32(library: Library, narrow: str) -> None:
    x = codes(narrow)
    with np.errstate(all="ignore"):
        expected = rounded(np.exp(x.astype(np.longdouble)), narrow)
        distance = np.abs(bits(library.call(f"exp_{narrow}", x)).astype(int) - bits(expected).astype(int))
    # The f32 result is wrong by less than a unit, which may tip a tie; results below 2^-125.5 are flushed.
    kept = ~np.isnan(x.astype(np.float64)) & ~(expected.astype(np.float64) < 2.0**-125)
    assert distance[kept].max() <= 1


def test_needs_no_library(library: Library) -> None:
    assert library.undefined == []
