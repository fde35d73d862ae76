# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow beside scalars: helpers, loads that must not happen, tiles, block pointers and bounds of all types."""

import numpy as np
import pytest

_VALUES = [(0, 0), (1, 2), (4, 1), (7, -2), (-3, 5), (-7, -1), (9, 9), (3, 0), (2, 20)]

HELPERS = """
    @tz.jit
    def clamp(x, low, high=10):
        if x < low:
            return low
        if x > high:
            return high
        return x

    @tz.jit
    def find(x, n):
        for i in range(n):
            if i * i >= x:
                return i, True
        return -1, False

    @tz.jit
    def total(*args, scale: tl.constexpr = 1):
        s = args[0]
        for x in args[1:]:
            s += x
        return s * scale

    @tz.jit
    def apply(f: tl.constexpr, x, *rest):
        return f(x, *rest)

    @tz.jit
    def nothing(x):
        if x > 0:
            return
        x = x + 1
"""


@pytest.mark.parametrize(
    ("expression", "python"),
    [
        ("clamp(a, 0)", lambda a, b: max(0, min(a, 10))),
        ("clamp(a, low=b, high=b + 2)", lambda a, b: max(b, min(a, b + 2))),
        ("find(a, 3)[0]", lambda a, b: next((i for i in range(3) if i * i >= a), -1)),
        ("1 if find(a, 3)[1] else 0", lambda a, b: int(any(i * i >= a for i in range(3)))),
        ("total(a, b, 3)", lambda a, b: a + b + 3),
        ("total(*(a, b), scale=2)", lambda a, b: (a + b) * 2),
        ("apply(clamp, a, b)", lambda a, b: max(b, min(a, 10)) if b <= 10 else (b if a < b else 10)),
        ("7 if nothing(a) is None else 8", lambda a, b: 7),
    ],
)
def test_helpers(expression, python, module):
    text = (
        HELPERS
        + f"\n    @tz.jit(do_not_specialize=['a', 'b'])\n    def k(a, b, o):\n        tl.store(o, {expression})\n"
    )
    kernel = module(text).k
    for a, b in _VALUES:
        o = np.zeros(1, np.int32)
        kernel[(1,)](a, b, o)
        assert o[0] == python(a, b), f"a = {a}, b = {b}"


def test_short_circuit_guards_loads(module):
    """The right operand of `and` would read outside of the array."""
    kernel = module("""
        @tz.jit
        def k(x, n, o):
            i = 0
            while i < n and tl.load(x + i) != 3:
                i += 1
            tl.store(o, i)
            if n < 1 or tl.load(x + n - 1) > 0:
                tl.store(o + 1, 1)
            if n > 1 and tl.load(x) < tl.load(x + 1) < tl.load(x + n - 1):
                tl.store(o + 2, 1)
    """).k
    for values in ([], [3], [1, 2, 3], [1, 2], [-1]):
        x = np.array([*values, 99], np.int32)
        o = np.zeros(3, np.int32)
        kernel[(1,)](x, len(values), o)
        first = values.index(3) if 3 in values else len(values)
        last = int(not values or values[-1] > 0)
        chain = int(len(values) > 1 and values[0] < values[1] < values[-1])
        assert o.tolist() == [first, last, chain]


def test_tiles_in_loops(module):
    kernel = module("""
        @tz.jit
        def k(x, o, n, limit, N: tl.constexpr):
            i = tl.arange(0, N)
            acc = tl.zeros((N,), tl.float32)
            rows = 0
            for r in range(n):
                v = tl.load(x + r * N + i)
                if tl.sum(v) < 0:
                    continue
                acc += v
                rows += 1
                if tl.max(acc) > limit:
                    break
            else:
                acc = -acc
            tl.store(o + i, acc)
            tl.store(o + N, rows.to(tl.float32))
    """).k
    rng = np.random.default_rng(0)
    for n in (0, 1, 7):
        for limit in (0.5, 2.0, 100.0):
            x = rng.normal(size=(max(n, 1), 8)).astype(np.float32)
            o = np.zeros(9, np.float32)
            kernel[(1,)](x, o, n, limit, N=8)
            acc, rows = np.zeros(8, np.float32), 0
            for r in range(n):
                if x[r].sum(dtype=np.float32) < 0:
                    continue
                acc, rows = acc + x[r], rows + 1
                if acc.max() > limit:
                    break
            else:
                acc = -acc
            np.testing.assert_array_equal(o, [*acc, rows])


def test_block_pointers_in_loops_and_branches(module):
    kernel = module("""
        @tz.jit
        def k(x, y, o, n, flag):
            p = tl.make_block_ptr(x, (n,), (1,), (0,), (4,), (0,))
            q = tl.make_block_ptr(y, (n,), (1,), (0,), (4,), (0,))
            acc = tl.zeros((4,), tl.float32)
            for _ in range(0, n, 4):
                acc = acc * 2 + tl.load(p)
                p, q = q, tl.advance(p, (4,))
            if flag > 0:
                r = p
            else:
                r = tl.make_block_ptr(y, (n,), (1,), (4,), (4,), (0,))
            tl.store(o + tl.arange(0, 4), acc + tl.load(r, boundary_check=(0,)))
    """).k
    x, y = np.arange(8, dtype=np.float32), np.arange(100, 108, dtype=np.float32)
    for flag, rest in ((1, x[4:]), (0, y[4:])):
        o = np.zeros(4, np.float32)
        kernel[(1,)](x, y, o, 8, flag)
        np.testing.assert_array_equal(o, x[:4] * 2 + y[:4] + rest)


def test_rows_of_a_tile_are_replaced(module):
    kernel = module("""
        @tz.jit
        def k(o, n):
            t = tl.zeros((4, 4), tl.int32)
            for i in range(n):
                t[i] = tl.arange(0, 4) + i * 10
            t[0, 0] = 7
            t[1] += 1
            i = tl.arange(0, 4)
            tl.store(o + i[:, None] * 4 + i[None, :], t)
    """).k
    for n in (0, 3, 4):
        o = np.zeros((4, 4), np.int32)
        kernel[(1,)](o, n)
        want = np.zeros((4, 4), np.int32)
        want[:n] = np.arange(4) + np.arange(n)[:, None] * 10
        want[0, 0] = 7
        want[1] += 1
        np.testing.assert_array_equal(o, want)


def test_wide_and_unsigned_bounds(module):
    kernel = module("""
        @tz.jit
        def k(o, n, u: tl.uint32):
            s = n * 0
            for i in range(n, n + 3):
                s += i
            tl.store(o, s)
            c = 0
            for i in range(u, u + 2):
                c += 1
            tl.store(o + 1, c)
    """).k
    o = np.zeros(2, np.int64)
    kernel[(1,)](o, 1 << 40, 0x7FFFFFFF)
    assert o.tolist() == [3 * (1 << 40) + 3, 2]


def test_unsigned_range_beyond_the_largest_signed(module):
    kernel = module("""
        @tz.jit
        def k(o, p, low: tl.uint64, high: tl.uint64):
            c = 0
            q = p + tl.arange(0, 4)
            for i in range(low, high):
                c += 1
                q += 4
            tl.store(o, c)
            tl.store(q, tl.arange(0, 4))
    """).k
    o, p = np.zeros(1, np.int64), np.full(20, -1, np.int32)
    kernel[(1,)](o, p, (1 << 63) - 1, (1 << 63) + 2)
    assert o[0] == 3
    assert p.tolist() == [-1] * 12 + [0, 1, 2, 3] + [-1] * 4
