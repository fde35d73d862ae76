# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that are parts of one array: a statement reads all that it reads before it writes."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

N = 1000


@tz.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n) + 1, mask=i < n)


@tz.jit
def difference(x, z, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    live = (i < n) & (tl.load(z + i, mask=i < n) > -1.0)
    tl.store(y + i, tl.load(x + i, mask=live) - tl.load(z + i + 1, mask=live), mask=live)


@tz.jit
def centred(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.exp(v - tl.sum(v, 0) / n), mask=i < n)


@tz.jit
def transposed(x, y, pitch, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    v = tl.load(x + r[:, None] * pitch + c[None, :])
    tl.store(y + c[:, None] * pitch + r[None, :], tl.trans(v))


@tz.jit
def scattered(x, index, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.load(index + i), tl.load(x + i))


def apart(memory, starts, length):
    """The same slices as copies, the last of them as a view of the memory."""
    return [*(memory[s : s + length].copy() for s in starts[:-1]), memory[starts[-1] : starts[-1] + length]]


def check(kernel, starts, length, *rest, **constants):
    memory = np.random.default_rng(0).standard_normal(3 * N + 64).astype(np.float32)
    want = memory.copy()
    kernel[(1,)](*apart(want, starts, length), *rest, **constants)
    kernel[(1,)](*(memory[s : s + length] for s in starts), *rest, **constants)
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("distance", [-999, -64, -33, -1, 0, 1, 5, 16, 32, 100, 999, 1000])
@pytest.mark.parametrize("n", [N, N - 300])
def test_shifted(distance, n):
    check(scaled, (N, N + distance), N, n, BLOCK=1024)
    check(centred, (N, N + distance), N, n, BLOCK=1024)


@pytest.mark.parametrize(
    ("x", "z", "y"), [(0, 1000, 500), (0, 3, 3), (0, 0, 1), (7, 0, 7), (1000, 10, 9), (10, 10, 10)]
)
def test_two_operands_and_a_mask_from_memory(x, z, y):
    check(difference, (x, z, y), N, N - 1, BLOCK=1024)


@pytest.mark.parametrize("start", [0, 1, 24, 48 * 24, -24])
def test_transposed(start):
    check(transposed, (400, 400 + start), 24 * 24, 24, ROWS=24, COLUMNS=24)
    check(transposed, (400, 400 + start), 24 * 40, 24, ROWS=24, COLUMNS=20)


@pytest.mark.parametrize("distance", [-10, 0, 10])
def test_scattered(distance):
    index = np.random.default_rng(1).permutation(512).astype(np.int32)
    memory = np.random.default_rng(0).standard_normal(600).astype(np.float32)
    want = memory.copy()
    want[index + 20 + distance] = memory[20:532]
    scattered[(1,)](memory[20:], index, memory[20 + distance :], BLOCK=512)
    np.testing.assert_array_equal(memory, want)
