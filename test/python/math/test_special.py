# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of tl.extra.libdevice that are made of others, against mpmath: relative errors, and special values."""

import math

import mpmath
import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

INF, NAN = math.inf, math.nan
SPAN = {"near": (0.001, 8.0), "far": (8.0, 200.0), "both": (-60.0, 60.0), "unit": (-0.9999, 0.9999)}
# name: (mpmath's function, intervals, size below which errors are absolute)
FUNCTIONS = {
    "j0": (lambda x: mpmath.besselj(0, x), ("near", "far", "both"), 0.05),
    "j1": (lambda x: mpmath.besselj(1, x), ("near", "far", "both"), 0.05),
    "y0": (lambda x: mpmath.bessely(0, x), ("near", "far"), 0.05),
    "y1": (lambda x: mpmath.bessely(1, x), ("near", "far"), 0.05),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), ("near", "both"), 0.0),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), ("near", "both"), 0.0),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), ("near", "far"), 0.0),
    "erfinv": (mpmath.erfinv, ("unit",), 0.0),
    "erfcinv": (lambda x: mpmath.erfinv(1 - x), ("unit+1",), 0.01),
    "normcdfinv": (lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1), ("unit/2",), 0.01),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), ("near", "far", "both"), 1.0),
    "tgamma": (mpmath.gamma, ("near", "both"), 0.0),
}
SPECIAL = {
    "j0": [(0.0, 1.0), (INF, 0.0), (NAN, NAN)],
    "j1": [(0.0, 0.0), (-INF, 0.0)],
    "y0": [(0.0, -INF), (-1.0, NAN), (INF, 0.0)],
    "y1": [(0.0, -INF), (-1.0, NAN)],
    "cyl_bessel_i0": [(0.0, 1.0), (-INF, INF)],
    "cyl_bessel_i1": [(0.0, 0.0), (-INF, -INF)],
    "erfinv": [(1.0, INF), (-1.0, -INF), (0.0, 0.0), (1.5, NAN)],
    "erfcinv": [(0.0, INF), (2.0, -INF), (1.0, 0.0), (3.0, NAN)],
    "normcdfinv": [(0.0, -INF), (1.0, INF)],
    "lgamma": [(0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF)],
    "tgamma": [(0.0, INF), (-0.0, -INF), (-3.0, NAN), (INF, INF), (5.0, 24.0)],
    "erfcx": [(INF, 0.0), (0.0, 1.0)],
    "logb": [(8.0, 3.0), (0.7, -1.0), (0.0, -INF), (-INF, INF), (1e-40, -133.0)],
    "ilogb": [(8.0, 3), (0.0, -(2**31)), (NAN, -(2**31)), (INF, 2**31 - 1), (-1e-40, -133)],
}


def run(name, *arguments, dtype=None):
    """The function of libdevice on arrays."""

    @tz.jit
    def unary(x, out, N: tl.constexpr, F: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, F(tl.load(x + i)))

    @tz.jit
    def binary(x, y, out, N: tl.constexpr, F: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, F(tl.load(x + i), tl.load(y + i)))

    @tz.jit
    def ternary(x, y, z, out, N: tl.constexpr, F: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, F(tl.load(x + i), tl.load(y + i), tl.load(z + i)))

    out = np.zeros(len(arguments[0]), dtype or arguments[0].dtype)
    kernel = (unary, binary, ternary)[len(arguments) - 1]
    kernel[(1,)](*arguments, out, len(out), getattr(tl.extra.libdevice, name))
    return out


def interval(span):
    if span == "unit+1":
        return 0.0001, 1.9999
    return (0.0001, 0.9999) if span == "unit/2" else SPAN[span]


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 2e-7), (np.float64, 3e-13)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors(name, dtype, bound):
    function, spans, least = FUNCTIONS[name]
    for span in spans:
        x = np.random.default_rng(3).uniform(*interval(span), 128).astype(dtype)
        with mpmath.workdps(40):
            exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
        fits = (np.abs(exact) < np.finfo(dtype).max) & (np.abs(exact) > np.finfo(dtype).tiny)
        error = np.abs(run(name, x).astype(np.float64) - exact) / np.maximum(np.abs(exact), max(least, 1e-300))
        assert np.max(error[fits]) < bound, (span, x[fits][np.argmax(error[fits])])


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    x, expected = (np.array(column, np.float32) for column in zip(*SPECIAL[name]))
    found = run(name, x, dtype=np.int32 if name == "ilogb" else np.float32)
    if name == "ilogb":
        assert found.tolist() == [value for _, value in SPECIAL[name]]
    else:
        np.testing.assert_array_equal(found, expected)
        is_zero = expected == 0
        assert not np.signbit(found[is_zero]).any() or name == "j1"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_and_remainder(dtype):
    values = np.array([0.0, -0.0, 1.0, -1.0, 1.5, 2.5, 7.0, -7.5, 1e-40, 1e30, INF, NAN], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    np.testing.assert_array_equal(run("nextafter", x, y), np.nextafter(x, y))
    fits = np.isfinite(x) & (y != 0) & ~np.isnan(y) & (np.abs(y) < 1e30)
    exact = [math.remainder(float(a), float(b)) for a, b in zip(x[fits], y[fits])]
    np.testing.assert_array_equal(run("remainder", x[fits], y[fits]), np.array(exact, dtype))


def test_bits():
    random = np.random.default_rng(1)
    x, y, s = (random.integers(-(2**31), 2**31, 64).astype(np.int32) for _ in range(3))

    def permuted(a, b, select):
        data = int(a) & 0xFFFFFFFF | (int(b) & 0xFFFFFFFF) << 32
        return sum((data >> 8 * (int(select) >> 4 * i & 7) & 255) << 8 * i for i in range(4))

    expected = np.array([permuted(*row) for row in zip(x, y, s)], np.uint32).view(np.int32)
    np.testing.assert_array_equal(run("byte_perm", x, y, s), expected)
    small = x >> 20
    np.testing.assert_array_equal(run("sad", small, y >> 20, s >> 8), np.abs(small - (y >> 20)) + (s >> 8))
    np.testing.assert_array_equal(run("mul24", small, y >> 20), small * (y >> 20))
    joined = run("hiloint2double", x, y, dtype=np.float64).view(np.int64)
    np.testing.assert_array_equal(joined, x.astype(np.int64) << 32 | y.astype(np.int64) & 0xFFFFFFFF)
    numbers = random.normal(size=64)
    np.testing.assert_array_equal(
        run("double2hiint", numbers, dtype=np.int32), (numbers.view(np.int64) >> 32).astype(np.int32)
    )
    np.testing.assert_array_equal(run("double2loint", numbers, dtype=np.int32), numbers.view(np.int64).astype(np.int32))


def test_norms():
    a, b, c = (np.array([v], np.float32) for v in (3e30, 4e30, 12e30))
    np.testing.assert_allclose(run("norm3d", a, b, c), 13e30, rtol=1e-6)
    np.testing.assert_allclose(run("rnorm3d", a, b, c), 1 / 13e30, rtol=1e-6)
