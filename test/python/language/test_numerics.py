# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of what is composed here of several operations: random numbers, indices, recurrences, descriptors."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def philox_kernel(o_ptr, c, k):
    a, b, c, d = tl.philox(k, c, c, c, c)
    tl.store(o_ptr + tl.arange(0, 1), a)
    tl.store(o_ptr + 1 + tl.arange(0, 1), b)
    tl.store(o_ptr + 2 + tl.arange(0, 1), c)
    tl.store(o_ptr + 3 + tl.arange(0, 1), d)


def test_philox_known_answer():
    # From the test vectors that its authors publish with Random123 ("kat_vectors"): key and counter of zeros.
    out = np.zeros(4, np.uint32)
    philox_kernel[(1,)](out, 0, 0)
    np.testing.assert_array_equal(out, np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], np.uint32))


@tz.jit
def normal_kernel(u_ptr, n_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(u_ptr + i, tl.rand(seed, i))
    tl.store(n_ptr + i, tl.randn(seed, i))


def test_distributions():
    u, n = np.zeros(4096, np.float32), np.zeros(4096, np.float32)
    normal_kernel[(1,)](u, n, 7, 4096)
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 0.03
    assert abs(n.mean()) < 0.06 and abs(n.std() - 1) < 0.05


@tz.jit
def index_kernel(x_ptr, o_ptr, h_ptr, t, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    at = tl.arange(0, ROWS)[:, None] * COLS + c[None, :]
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + c, x[t] + x[-1] + x[2:3].reshape(COLS) + x[::-2][0] + x[t - 100])
    tl.store(h_ptr + at, tl.insert(tl.insert(x, t, x[0]), 1, 7.0))


def test_indices():
    x = np.random.default_rng(2).integers(-9, 9, (6, 4)).astype(np.float32)
    out, changed = np.zeros(4, np.float32), np.zeros_like(x)
    index_kernel[(1,)](x, out, changed, 3, 6, 4)
    np.testing.assert_array_equal(out, x[3] + x[-1] + x[2] + x[5] + x[0])
    want = x.copy()
    want[3], want[1] = x[0], 7
    np.testing.assert_array_equal(changed, want)


@tz.jit
def decay_step(carry, slices):
    state, count = carry
    row, gain = slices
    state = state * gain + row
    return (state, count + 1), tl.sum(state, 0)


@tz.jit
def recurrence_kernel(x_ptr, g_ptr, y_ptr, last_ptr, T: tl.constexpr, D: tl.constexpr, REVERSE: tl.constexpr):
    t = tl.arange(0, T)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + t[:, None] * D + d[None, :])
    (state, count), ys = tl.recurrence(decay_step, (tl.zeros((D,), tl.float32), 0), (x, tl.load(g_ptr + t)), 0, REVERSE)
    tl.store(y_ptr + t, ys)
    tl.store(last_ptr + d, state + count.to(tl.float32))


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence(reverse):
    rng = np.random.default_rng(3)
    x, gain = rng.integers(-4, 5, (6, 4)).astype(np.float32), rng.integers(0, 3, 6).astype(np.float32)
    y, last = np.zeros(6, np.float32), np.zeros(4, np.float32)
    recurrence_kernel[(1,)](x, gain, y, last, 6, 4, reverse)
    state, want = np.zeros(4, np.float32), np.zeros(6, np.float32)
    for t in reversed(range(6)) if reverse else range(6):
        state = state * gain[t] + x[t]
        want[t] = state.sum()
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(last, state + 6)


@tz.jit
def descriptor_kernel(x_ptr, o_ptr, rows, cols, r, c):
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [4, 8])
    target = tl.make_tensor_descriptor(o_ptr, [rows, cols], [cols, 1], [4, 8])
    target.store([r, c], source.load([r, c]) * 2.0)


@pytest.mark.parametrize("r, c", [(0, 0), (8, 16), (-2, 3), (3, -5)])
def test_descriptors(r, c):
    x = np.random.default_rng(4).normal(size=(10, 20)).astype(np.float32)
    out = np.full_like(x, -1)
    descriptor_kernel[(1,)](x, out, 10, 20, r, c)
    want = np.full_like(x, -1)
    block = (slice(max(r, 0), r + 4), slice(max(c, 0), c + 8))
    want[block] = 2 * x[block]
    np.testing.assert_array_equal(out, want)


@tz.jit
def gather_kernel(x_ptr, i_ptr, o_ptr, h_ptr, N: tl.constexpr, BINS: tl.constexpr):
    n = tl.arange(0, N)
    index = tl.load(i_ptr + n)
    tl.store(o_ptr + n, tl.gather(tl.load(x_ptr + n), index, 0))
    tl.store(h_ptr + tl.arange(0, BINS), tl.histogram(index, BINS))


def test_gather_and_histogram():
    rng = np.random.default_rng(5)
    x, index = rng.normal(size=12).astype(np.float32), rng.integers(0, 12, 12).astype(np.int32)
    out, counts = np.zeros_like(x), np.zeros(10, np.int32)
    gather_kernel[(1,)](x, index, out, counts, 12, 10)
    np.testing.assert_array_equal(out, x[index])
    np.testing.assert_array_equal(counts, np.bincount(index[index < 10], minlength=10))


@tz.jit
def narrow_index_kernel(i_ptr, o_ptr, h_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    index = tl.load(i_ptr + n)
    tl.store(o_ptr + n, tl.gather(n, index, 0))
    tl.store(h_ptr + n, tl.histogram(index, N))


def test_narrow_indices_without_sign():
    """What is 128 or more in a byte is no negative number."""
    index = np.arange(256, dtype=np.uint8)[::-1].copy()
    out, counts = np.zeros(256, np.int32), np.zeros(256, np.int32)
    narrow_index_kernel[(1,)](index, out, counts, 256)
    np.testing.assert_array_equal(out, index)
    np.testing.assert_array_equal(counts, np.ones(256))
