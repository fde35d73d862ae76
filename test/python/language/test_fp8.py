# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions to and from fp8: from every type, bit for bit; what overflows follows docs/Rationale/Math.md."""

import ml_dtypes
import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch

FP8 = {
    "float8e4nv": ml_dtypes.float8_e4m3fn,
    "float8e5": ml_dtypes.float8_e5m2,
    "float8e4b8": ml_dtypes.float8_e4m3fnuz,
    "float8e5b16": ml_dtypes.float8_e5m2fnuz,
}
BEYOND = {"float8e4nv": 448.0, "float8e5": np.inf, "float8e4b8": np.nan, "float8e5b16": np.nan}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, *FP8.values()]
INTEGERS = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@tz.jit
def convert(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n).to(y_ptr.dtype.element_ty), mask=i < n)


def converted(x, dtype):
    y = np.zeros(x.shape, dtype)
    convert[(tz.cdiv(x.size, 512),)](x, y, x.size, BLOCK=512)
    return y


def values_of(dtype):
    return np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)


def reference(x, name):
    """Nearest of the finite values, ties to the even code; `x` are longdoubles."""
    dtype = FP8[name]
    finite = values_of(dtype)[:128]
    finite = finite[np.isfinite(finite)]
    steps = np.append(finite, 2 * finite[-1] - finite[-2])
    size = np.minimum(np.abs(x), steps[-1])
    below = np.clip(np.searchsorted(steps, size, side="right") - 1, 0, len(steps) - 2)
    middle = (steps[below] + steps[below + 1]) / 2
    code = below + ((size > middle) | ((size == middle) & (below % 2 == 1)))
    # What lies beyond the largest number by half of a step, or more, overflows.
    found = np.append(finite, BEYOND[name])[np.where(np.isnan(x), 0, code)]
    found = np.copysign(found, x.astype(np.float64))
    return np.where(np.isnan(x), np.nan, found).astype(dtype)


def sources(name, dtype):
    """Values, middles and their neighbours, powers of two past both ends, infinities and NaN, as `dtype`."""
    finite = values_of(FP8[name])
    finite = np.unique(np.abs(finite[np.isfinite(finite)]))
    points = np.concatenate(
        [finite, (finite[1:] + finite[:-1]) / 2, finite[-1] * np.array([1.03, 1.0625, 1.1, 1.125, 1.5, 2])]
    )
    points = np.concatenate([points, np.ldexp(1.0, np.arange(-30, 128)), [np.inf, np.nan, 3.4e38, 465.0, 479.9, 480.0]])
    points = np.concatenate([points, -points])
    with np.errstate(all="ignore"):
        points = points.astype(np.float32).astype(dtype)
        if dtype in (np.float32, np.float64, np.float16):
            points = np.concatenate([points, np.nextafter(points, dtype(0)), np.nextafter(points, dtype(np.inf))])
    return points


def assert_same(got, want, x):
    same = np.where(
        np.isnan(want.astype(np.float32)), np.isnan(got.astype(np.float32)), got.view(np.uint8) == want.view(np.uint8)
    )
    at = int(np.argmin(same))
    assert same.all(), f"{(~same).sum()} differ, first {x[at]!r}: got {got[at]!r}, want {want[at]!r}"


@pytest.mark.parametrize("source", FLOATS, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("name", FP8)
def test_from_floats(name, source):
    x = sources(name, source)
    if FP8[name] == source:
        assert_same(converted(x, source), x, x)
    else:
        assert_same(converted(x, FP8[name]), reference(x.astype(np.longdouble), name), x)


@pytest.mark.parametrize("source", INTEGERS, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("name", FP8)
def test_from_integers(name, source):
    bits = 1 if source is np.bool_ else np.dtype(source).itemsize * 8
    low, high = (0, 1) if source is np.bool_ else (np.iinfo(source).min, np.iinfo(source).max)
    points = {0, 1, 17, 447, 448, 449, 463, 464, 465, 480, 57344, 61439, 61440, 65536, low, high}
    points |= {s * ((1 << k) + d) for k in range(bits) for d in (-1, 0, 1) for s in (1, -1)}
    x = np.array(sorted(p for p in points if low <= p <= high), dtype=source)
    # By float32, as the language converts integers to narrow floats.
    assert_same(converted(x, FP8[name]), reference(x.astype(np.float32).astype(np.longdouble), name), x)


@pytest.mark.parametrize(
    "target", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64], ids=lambda t: np.dtype(t).name
)
@pytest.mark.parametrize("name", FP8)
def test_to_wider_floats(name, target):
    x = np.arange(256, dtype=np.uint8).view(FP8[name])
    want = x.astype(target)
    assert np.array_equal(converted(x, target).astype(np.float64), want.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", FP8)
def test_as_torch_converts(name, source):
    x = torch.from_numpy(sources(name, np.float32)).to(getattr(torch, source))
    want = x.to(getattr(torch, FP8[name].__name__)).view(torch.uint8).numpy().view(FP8[name])
    y = torch.zeros(x.shape, dtype=torch.uint8)
    convert[(tz.cdiv(x.numel(), 512),)](x, y.view(getattr(torch, FP8[name].__name__)), x.numel(), BLOCK=512)
    assert_same(y.numpy().view(FP8[name]), want, x.float().numpy())


@tz.jit
def literals(o_ptr, T: tl.constexpr, V: tl.constexpr):
    tl.store(o_ptr, tl.full((), V, T))
    tl.store(o_ptr + 1, tl.full((), V, tl.float32).to(T))
    tl.store(o_ptr + 2, tl.cast(V, T))


@pytest.mark.parametrize(
    "value", [448.0, 450.0, 464.0, 465.0, 1e6, -1e6, float("inf"), float("-inf"), float("nan"), 61440.0]
)
@pytest.mark.parametrize("name", FP8)
def test_literals_as_at_run_time(name, value):
    o = np.zeros(3, FP8[name])
    literals[(1,)](o, getattr(tl, name), value)
    want = reference(np.full(3, value, np.longdouble), name)
    assert_same(o, want, np.full(3, value))


@pytest.mark.parametrize("name", FP8)
def test_towards_zero(name):
    @tz.jit
    def kernel(x_ptr, y_ptr, T: tl.constexpr, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(y_ptr + i, tl.load(x_ptr + i).to(T, fp_downcast_rounding="rtz"))

    largest = float(np.nanmax(np.where(np.isinf(values_of(FP8[name])), np.nan, values_of(FP8[name]))))
    x = np.array([largest, largest * 1.5, 3e38, np.inf, -np.inf, np.nan, -1e9, 0.99999], np.float32)
    y = np.zeros(8, FP8[name])
    kernel[(1,)](x, y, getattr(tl, name), 8)
    got = y.astype(np.float32)
    beyond = np.float32(BEYOND[name])
    want = np.array([largest, largest, largest, beyond, -beyond, np.nan, -largest, np.nan], np.float32)
    assert np.array_equal(got[:7], want[:7], equal_nan=True) and 0.8 < got[7] < 1
