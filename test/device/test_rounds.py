# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose tiles do not fit shared memory, on the device: these go through it in rounds, and values are right."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision="ieee"))


@tz.jit
def turned(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.flip(tl.trans(tl.load(x_ptr + m[:, None] * N + n[None, :])), 0)
    tl.store(y_ptr + n[:, None] * M + m[None, :], x)


@tz.jit
def sums(x_ptr, y_ptr, T: tl.constexpr, E: tl.constexpr, REVERSE: tl.constexpr):
    def step(h, now):
        h = 0.5 * h + now[0]
        return h, h

    at = tl.arange(0, T)[:, None] * E + tl.arange(0, E)[None, :]
    _, y = tl.recurrence(step, tl.zeros((E,), tl.float32), (tl.load(x_ptr + at),), 0, reverse=REVERSE)
    tl.store(y_ptr + at, y)


@pytest.mark.parametrize(("dtype", "m", "n", "k"), [("float32", 64, 64, 512), ("float64", 64, 64, 512)])
def test_product(dtype, m, n, k):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 9, (m, k)).astype(dtype), rng.integers(-8, 9, (k, n)).astype(dtype)
    c = tz.device_array((m, n), dtype)
    compiled = product[(1,)](tz.device_array(a), tz.device_array(b), c, M=m, N=n, K=k, num_warps=8)
    assert "within" in compiled.asm["simt"]
    np.testing.assert_array_equal(c.numpy(), a @ b)


def test_conversion():
    x = np.random.default_rng(1).standard_normal((256, 512)).astype(np.float32)
    y = tz.device_array((512, 256), "float32")
    compiled = turned[(1,)](tz.device_array(x), y, M=256, N=512, num_warps=16)
    assert "within" in compiled.asm["simt"]
    np.testing.assert_array_equal(y.numpy(), x.T[::-1])


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence(reverse):
    x = np.random.default_rng(2).standard_normal((128, 512)).astype(np.float32)
    y = tz.device_array((128, 512), "float32")
    compiled = sums[(1,)](tz.device_array(x), y, T=128, E=512, REVERSE=reverse, num_warps=16)
    assert "within" in compiled.asm["simt"]
    h, want = np.zeros(512, np.float32), np.empty_like(x)
    for t in reversed(range(128)) if reverse else range(128):
        h = np.float32(0.5) * h + x[t]
        want[t] = h
    np.testing.assert_array_equal(y.numpy(), want)
