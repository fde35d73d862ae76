# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strict mode: reductions by the trees of docs/Rationale/Tile.md, sums of products in order."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def add(a, b):
    return a + b


@tz.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@tz.jit
def sums(x, y, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    s = tl.sum(v, AXIS)
    tl.store(y + (j if AXIS == 0 else i), s)


@tz.jit
def row(x, y, N: tl.constexpr):
    tl.store(y, tl.reduce(tl.load(x + tl.arange(0, N)) * 1.5, 0, add))


@tz.jit
def composed(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.reduce((tl.load(x + i), tl.load(x + N + i)), 0, affine)
    tl.store(y, a)
    tl.store(y + 1, b)


@tz.jit
def product(x, w, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + i[:, None] * K + k[None, :])
    b = tl.load(w + k[:, None] * N + j[None, :])
    at = c + i[:, None] * N + j[None, :]
    tl.store(at, tl.dot(a, b, tl.load(at)))


def halving(x):
    """Element i with i + h, on the first axis."""
    h = 1 << max(0, len(x) - 1).bit_length()
    while h > 1:
        h //= 2
        pairs = max(0, len(x) - h)
        x = np.concatenate([x[:pairs] + x[h : h + pairs], x[pairs : min(len(x), h)]])
    return x[0]


def neighbours(pairs, combine):
    """Each with the next; a last one without a partner stays."""
    while len(pairs) > 1:
        pairs = [combine(*pairs[i : i + 2]) if i + 1 < len(pairs) else pairs[i] for i in range(0, len(pairs), 2)]
    return pairs[0]


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("N", [1, 2, 4, 16, 32, 128, 1024])
def test_a_row(N):
    x, y = normal(N), np.zeros(1, np.float32)
    row[(1,)](x, y, N=N, strict=True)
    assert y[0] == halving(x * np.float32(1.5))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("M", "N"), [(1, 64), (8, 256), (64, 2), (128, 128), (3, 37), (37, 3), (100, 75)])
def test_sums_of_a_matrix(M, N, axis):
    x, y = normal(M, N), np.zeros(N if axis == 0 else M, np.float32)
    sums[(1,)](x, y, M=M, N=N, AXIS=axis, strict=True)
    np.testing.assert_array_equal(y, halving(x if axis == 0 else x.T))


@pytest.mark.parametrize("N", [1, 2, 8, 64, 512])
def test_a_combination_that_does_not_commute(N):
    x, y = normal(2, N), np.zeros(2, np.float32)
    composed[(1,)](x, y, N=N, strict=True)
    want = neighbours(list(zip(*x)), lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]))
    assert y.tolist() == [float(v) for v in want]


@pytest.mark.parametrize(("M", "N", "K"), [(16, 16, 16), (5, 64, 33), (32, 24, 128)])
def test_products_are_chains_of_fused_sums(M, N, K):
    x, w, c = normal(M, K), normal(K, N)[::-1].copy(), normal(M, N) * 3
    want = c.copy()
    for k in range(K):
        want = fused(x[:, k, None], w[None, k, :], want)
    product[(1,)](x, w, c, M=M, N=N, K=K, strict=True)
    np.testing.assert_array_equal(c, want)


def fused(a, b, c):
    """fma(a, b, c) of float32. Doubles hold the product; a sum that is rounded to odd there rounds right to float32."""
    p = a.astype(np.float64) * b.astype(np.float64)
    c = np.broadcast_to(c, p.shape).astype(np.float64)
    s = p + c
    z = s - p
    rest = (p - (s - z)) + (c - z)
    bits = s.view(np.int64).copy()
    inexact = (rest != 0) & (bits & 1 == 0)
    toward = np.where((rest > 0) == (s > 0), 1, -1)
    bits[inexact] += toward[inexact]
    return bits.view(np.float64).astype(np.float32)
