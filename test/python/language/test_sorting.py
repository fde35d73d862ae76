# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sort, topk and bitonic_merge against numpy: every type, every kind of extent, all dimensions, odd values."""

import ml_dtypes
import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
SMALL_FLOATS = {"fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2}


@tz.jit
def sort_tile(x, y, SHAPE: tl.constexpr, DIM: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.reshape(tl.arange(0, SHAPE[0] * SHAPE[1] * SHAPE[2]), SHAPE)
    tl.store(y + at, tl.sort(tl.load(x + at), DIM, DESCENDING))


@tz.jit
def sort_row(x, y, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.sort(tl.load(x + at), 0, DESCENDING))


def values_of(rng, dtype, shape):
    """Few different values for many places, extreme ones among them."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        found = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.3, rng.choice(np.array([info.min, info.max, 0], dtype), shape), found)
    found = rng.normal(0, 4, shape)
    odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0], shape)
    return np.where(rng.random(shape) < 0.3, odd, found).astype(dtype)


def ordered(x, dim, descending):
    """numpy's order, in which NaN is the greatest, too."""
    keys = np.sort(x if x.dtype.kind in "iu" else x.astype(np.float64), dim)
    return np.flip(keys, dim) if descending else keys


def check(got, x, dim, descending):
    want = ordered(x, dim, descending)
    np.testing.assert_array_equal(got if x.dtype.kind in "iu" else got.astype(np.float64), want)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=str)
def test_every_type(dtype, descending):
    rng = np.random.default_rng(dtype.num + descending)
    for n in (1, 2, 3, 7, 16, 33, 100, 128):
        x = values_of(rng, dtype, n)
        y = np.zeros_like(x)
        sort_row[(1,)](x, y, n, descending)
        check(y, x, 0, descending)


@pytest.mark.parametrize("shape", [(1, 1, 64), (3, 5, 7), (4, 33, 6), (16, 2, 32), (2, 40, 1), (70, 3, 17)], ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, None])
def test_every_dimension(shape, dim, descending):
    rng = np.random.default_rng(sum(shape))
    for dtype in (np.float32, np.int16):
        x = values_of(rng, np.dtype(dtype), shape)
        y = np.zeros_like(x)
        sort_tile[(1,)](x, y, shape, dim, descending)
        check(y, x, -1 if dim is None else dim, descending)


@pytest.mark.parametrize("n", [513, 1000, 4096])
def test_long_rows(n):
    x = values_of(np.random.default_rng(n), np.dtype(np.float32), n)
    for descending in (False, True):
        y = np.zeros_like(x)
        sort_row[(1,)](x, y, n, descending)
        check(y, x, 0, descending)


@tz.jit
def sort_small(x, y, N: tl.constexpr, TYPE: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, N)
    found = tl.sort(tl.load(x + at).to(TYPE, bitcast=True), 0, DESCENDING)
    tl.store(y + at, found.to(tl.uint8, bitcast=True))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_floats_of_a_byte(name, descending):
    # All bit patterns: every number, infinities and NaNs of both signs where the type has them.
    for n in (256, 100):
        x = np.random.default_rng(n).permutation(256).astype(np.uint8)[:n]
        y = np.zeros_like(x)
        sort_small[(1,)](x, y, n, tl.dtype(name), descending)
        dtype = SMALL_FLOATS[name]
        check(y.view(dtype), x.view(dtype), 0, descending)


@tz.jit
def sort_bools(x, y, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.sort(tl.load(x + at) != 0, 0, DESCENDING).to(tl.int8))


@pytest.mark.parametrize("descending", [False, True])
def test_bools(descending):
    for n in (1, 5, 64, 77):
        x = np.random.default_rng(n).integers(0, 2, n).astype(np.int8)
        y = np.zeros_like(x)
        sort_bools[(1,)](x, y, n, descending)
        check(y, x, 0, descending)


def network(x, descending):
    """The bits of a bitonic network over the least power of two: what equal elements of different bits come to."""
    n = len(x)
    size = 1 << (n - 1).bit_length()
    last = -np.inf if descending else np.nan
    x = [*x, *[np.float32(last)] * (size - n)]
    block = 2
    while block <= size:
        distance = block // 2
        while distance:
            for i in range(size):
                if i & distance:
                    continue
                a, b = x[i], x[i + distance]
                greater = (a > b or np.isnan(a)) and not np.isnan(b)
                if greater != (descending != bool(i & block)):
                    x[i], x[i + distance] = b, a
            distance //= 2
        block *= 2
    return np.array(x[:n], np.float32)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("n", [2, 8, 24, 64, 200])
def test_bits_of_equal_elements(n, descending):
    # Zeros of both signs and NaNs that are told apart: the network alone decides where each goes.
    rng = np.random.default_rng(n)
    nans = np.array([0x7FC00000, 0xFFC00001, 0x7FC12345], np.uint32).view(np.float32)
    x = rng.choice(np.array([0.0, -0.0, 1.0, -1.0, *nans], np.float32), n)
    y = np.zeros_like(x)
    sort_row[(1,)](x, y, n, descending)
    np.testing.assert_array_equal(y.view(np.uint32), network(x, descending).view(np.uint32))


@tz.jit
def top_rows(x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DIM: tl.constexpr, DESCENDING: tl.constexpr):
    found = tl.topk(tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]), K, DIM, DESCENDING)
    rows: tl.constexpr = found.shape[0]
    cols: tl.constexpr = found.shape[1]
    tl.store(y + tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :], found)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_topk(dim, descending):
    for m, n in ((3, 20), (17, 6), (8, 64)):
        x = values_of(np.random.default_rng(m), np.dtype(np.int32), (m, n))
        for k in {1, 3, (m, n)[dim]}:
            shape = (k, n) if dim == 0 else (m, k)
            y = np.zeros(shape, x.dtype)
            top_rows[(1,)](x, y, m, n, k, dim, descending)
            np.testing.assert_array_equal(
                y, ordered(x, dim, descending)[:k] if dim == 0 else ordered(x, 1, descending)[:, :k]
            )


@tz.jit
def merge_rows(x, y, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.bitonic_merge(tl.load(x + at), DIM, DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_bitonic_merge(dim, descending):
    for n in (1, 2, 8, 64, 256):
        rng = np.random.default_rng(n)
        x = values_of(rng, np.dtype(np.float32), (3, n))
        # Each row rises, then falls.
        half = n // 2
        x = np.concatenate([np.sort(x[:, :half]), np.flip(np.sort(x[:, half:]), 1)], 1)
        x = np.ascontiguousarray(x.T if dim == 0 else x)
        y = np.zeros_like(x)
        merge_rows[(1,)](x, y, *x.shape, dim, descending)
        check(y, x, dim, descending)


@tz.jit
def in_a_loop(x, y, N: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    for i in range(ROUNDS):
        v = tl.sort(v, 0, False)
        v = tl.where(at == i, v + 100, v)
    tl.store(y + at, v)


def test_sorts_that_a_loop_carries():
    # Each round takes what the round before left, and leaves it changed.
    x = np.random.default_rng(0).permutation(48).astype(np.int32)
    y, want = np.zeros_like(x), x.copy()
    in_a_loop[(1,)](x, y, 48, 5)
    for i in range(5):
        want.sort()
        want[i] += 100
    np.testing.assert_array_equal(y, want)
