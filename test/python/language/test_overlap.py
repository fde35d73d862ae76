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


@tz.jit
def converted(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i).to(y.dtype.element_ty) + 1)


@tz.jit
def turned_round(x, BLOCK: tl.constexpr):
    at = x + tl.arange(0, BLOCK) * 8
    more = tl.arange(0, BLOCK)[:, None] + tl.arange(0, BLOCK)[None, :] * BLOCK * 8
    tl.store(at[None, :] + more, tl.load(at[:, None] + more) + 1)


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


@pytest.mark.parametrize(("source", "target"), [("f2", "f4"), ("f4", "f2"), ("f4", "i4"), ("i4", "i8"), ("i8", "u1")])
def test_converted_in_place(source, target):
    """Elements of two sizes at the same offsets are not at the same addresses."""
    memory = np.zeros(8 * 1024, np.uint8)
    x, y = (memory[: 1024 * np.dtype(each).itemsize].view(each) for each in (source, target))
    x[:] = np.arange(1024) % 200
    converted[(1,)](x, y, BLOCK=1024)
    np.testing.assert_array_equal(y, (np.arange(1024) % 200 + 1).astype(target))


def test_same_offsets_along_other_dimensions():
    """What is added to the pointers is the same, but the one before ran along another dimension."""
    n = 64
    memory = np.random.default_rng(0).standard_normal(n * (n + 1) * 8).astype(np.float32)
    want = memory.copy()
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    want[j * 8 + i + j * n * 8] = memory[i * 8 + i + j * n * 8] + 1
    turned_round[(1,)](memory, BLOCK=n)
    np.testing.assert_array_equal(memory, want)


@tz.jit
def turned(a, b, out, n, B: tl.constexpr, ORDERED: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for s in range(n):
        tl.store(a + i, i * i + s)
        if ORDERED:
            tl.debug_barrier()
        total += tl.load(b + (B - 1 - i))
        if ORDERED:
            tl.debug_barrier()
    tl.store(out + i, total)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_one_array_twice_in_a_loop(n, ordered):
    array, out = np.zeros(128, np.int32), np.zeros(128, np.int32)
    compiled = turned[(1,)](array, array, out, n, B=128, ORDERED=ordered)
    np.testing.assert_array_equal(out, np.arange(128)[::-1] ** 2 * n + n * (n - 1) // 2)
    # Nothing is assumed here: what overlaps runs the code of what does not.
    assert turned[(1,)](array, array.copy(), out, n, B=128, ORDERED=ordered) is compiled


@tz.jit
def around_barriers(a, b, out, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(b + (B - 1 - i)) * 2
    first = tl.load(b)
    tl.debug_barrier()
    tl.store(a + i, i + 1)
    tl.debug_barrier()
    y = tl.load(b + i)
    total = tl.sum(x)
    tl.store(a + i, x + total)
    tl.debug_barrier()
    tl.store(out + i, x + y + tl.load(b + i) + first)


def test_values_read_before_a_barrier():
    """A value is evaluated where it is used, with what memory held where it was read."""
    array, out = np.arange(128, dtype=np.int32) * 3 + 7, np.zeros(128, np.int32)
    x = array[::-1] * 2
    around_barriers[(1,)](array, array, out, B=128)
    np.testing.assert_array_equal(array, x + x.sum())
    np.testing.assert_array_equal(out, x + np.arange(1, 129) + x + x.sum() + 7)
