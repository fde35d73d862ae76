# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What names, constants, attributes and Python's own functions mean in a kernel."""

import numpy as np
import pytest

PRELUDE = """
import enum
import math
import types
from collections import namedtuple
from typing import NamedTuple
import terrazzo.language as language
from terrazzo.language import exp2, program_id as pid

FIVE = tl.constexpr(5)
ANNOTATED: tl.constexpr = 6
TEXT = tl.constexpr("text")
TYPES = (tl.float32, tl.int32)
FIVES = (tl.constexpr(5), tl.constexpr(55))
NOTHING = None
Pair = namedtuple("Pair", "first second")

class Mode(enum.Enum):
    A = 1
    B = 2

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10

class Named(NamedTuple):
    x: object
    y: object = 3

tools = types.ModuleType("tools")

@tz.jit
def double(x):
    return x * 2

tools.double = double
tools.SIZE = 7

@tz.constexpr_function
def log2(n):
    return n.bit_length() - 1

@tz.jit
def pick(MODE: tl.constexpr, x, y=NOTHING, flag: "tl.constexpr" = True):
    if MODE == Mode.A and flag:
        return x
    elif y is not None:
        return y
    return -x

@tz.jit
def swap(p):
    return Pair(p.second, p.first)

@tz.jit
def total(xs, N: tl.constexpr = FIVE):
    s = N
    for x in xs:
        s += x
    return s

@tz.jit(do_not_specialize=["n"])
def kernel(o, n, N: tl.constexpr, DT: tl.constexpr, S: tl.constexpr, T: tl.constexpr, F: tl.constexpr, M: tl.constexpr):
"""
# Expression or statements that set r -> value, for n = 3, N = 16, DT = tl.int32, S = "sum", T = (4, (8, None)).
CASES = [
    ("r = FIVE + ANNOTATED", 11),
    ("r = FIVE.value", 5),
    ("r = FIVES[1] if TYPES[1] == DT else FIVES[0]", 55),
    ("r = 1 if NOTHING is None and TEXT == 'text' else 2", 1),
    ("r = 1 if DT == tl.int32 and S == 'sum' else 2", 1),
    ("r = T[0] + T[1][0] if T[1][1] is None else 0", 12),
    ("a, (b, c) = T\nr = a * b if c is None else n", 32),
    ("r = len(T) + len('abc') + len([n, n]) + len(range(4))", 11),
    ("r = log2(N) + tz.cdiv(N, 5) + tz.next_power_of_2(N - 7)", 24),
    ("r = tl.cdiv(n, 2) + math.ceil(N / 3) + int(math.log2(N))", 12),
    ("r = tools.double(n) + tools.SIZE", 13),
    ("r = F(n)", 6),
    ("r = pick(M, n, 7) + pick(Mode.B, n) + pick(Mode.A, n, flag=False)", 3 - 3 - 3),
    ("r = 1 if Level.LOW < 3 and M is Mode.A and M.value == 1 and Mode(1) == M else 2", 1),
    ("r = total((n, 2, Level.HIGH)) + total([n], N=1)", 20 + 4),
    ("q = swap(Pair(n, 4))\nr = q.first * 10 + q[1]", 43),
    ("q = Named(n)\nfor i in range(n):\n    q = Named(q.x + 1, q.y)\nr = q.x * 10 + q.y", 63),
    ("r = 0\nfor v in Level:\n    r += v", 11),
    ("r = [i * j for i in range(4) if i % 2 for j in (1, n)][3]", 9),
    ("xs = []\nfor i in tl.static_range(4):\n    xs.append(i * n)\nr = xs[-1] + len(xs[1:3]) + sum(xs)", 9 + 2 + 18),
    ("a, *b = (1, n, 5)\nr = a + b[0] * b[1]", 16),
    ("r = max(n, 5) - min(n, N, 2) + abs(-n) + abs(-4)", 5 - 2 + 3 + 4),
    ("r = int(float(n) * 1.5) + int('7') + bool(n)", 4 + 7 + 1),
    ("r = 1 if isinstance(n, tl.tensor) and isinstance(N, tl.constexpr) and isinstance(N, int) else 2", 1),
    ("r = 1 if isinstance(T, (list, tuple)) and not isinstance(n, tl.constexpr) else 2", 1),
    ("r = 1 if isinstance(T, tl.tuple) and isinstance(DT, tl.dtype) and DT.is_int() else 2", 1),
    ("r = getattr(tl, 'minimum')(n, 2) + (1 if hasattr(n, 'to') and not hasattr(n, 'nope') else 0)", 3),
    ("r = getattr(n, 'nope', 8)", 8),
    ("r = n.to(getattr(tl, S.replace('sum', 'int64')))", 3),
    ("r = (x := n + 1) * x", 16),
    ("r = 3 if n in () else 4 if N in (16, 32) else 5", 4),
    ("r = 1 if n in (1, n + 1, 3) and n not in (2, 4) and n not in () else 2", 1),
    ("r = 1 if 'u' in S and S not in ('a', 'b') else 2", 1),
    ("r = sum(x * i for i, x in enumerate((n, n, 2)))", 7),
    ("r = sum([a * b for a, b in zip((1, n), reversed((2, n)))])", 9),
    ("r = 1 if all([n > 1, True, N > 3]) and any((n > 7, n == 3)) else 2", 1),
    ("f = lambda x, y=n: x * y\nr = f(2) + f(2, y=1)", 8),
    ("def g(x):\n    if x > 2:\n        return x\n    return n\nr = g(1) * 10 + g(5)", 35),
    ("r = tl.math.abs(-n) + language.minimum(n, 1) + pid(0)", 4),
    ("r = 1 if f'{S}-{N:03d}-{DT}' == 'sum-016-int32' else 2", 1),
    ("r: tl.constexpr = N // 3\ntl.static_assert(r == 5)", 5),
    ("x: int = n\nr = x", 3),
    ("r = N.to(tl.int64) + tl.constexpr(2) + (1).to(tl.int32)", 19),
    ("r = 1 if n.dtype == tl.int32 and n.shape == () and o.dtype.element_ty.primitive_bitwidth == 64 else 2", 1),
    ("t = tl.zeros((2, 4), DT)\nr = t.shape[0] * 10 + t.shape[-1] + len(t.shape)", 26),
    ("r = tl.int64(n) + tl.float32(2.5).to(tl.int32)", 5),
    ("r = -7 // 2 + -7 % 3 + 2 ** 5 + (5 ^ 1) + (1 << 3) + ~4", -4 + 2 + 32 + 4 + 8 - 5),
    ("r = (-n) // 2", -1),
    ("r = not n > 3", 1),
    ("r = None\nr = n", 3),
    ("if N > 3:\n    r = 1\nelse:\n    r = undefined", 1),
    ("r = tl.sum(tl.arange(0, 4)[1:3] + tl.arange(0, 8)[::4] + tl.arange(0, 4)[n])", 3 + 4 + 6),
    ("with tz_context() as c:\n    r = c + 1", 5),
    ("r = round(2.6) + divmod(7, 2)[0] + sorted((3, 1, 2))[0]", 7),
    ("r = 0\nfor i in tl.range(0, n, num_stages=2):\n    r += i", 3),
    ("r = 0\nfor i in tl.static_range(4, 0, -2):\n    r = r * 10 + i", 42),
    ("r = 0\nwhile tl.condition(r < n, disable_licm=True):\n    r += 2", 4),
]


@pytest.mark.parametrize(("body", "want"), CASES, ids=range(len(CASES)))
def test_value(body, want, module):
    import contextlib

    import terrazzo.language as tl

    lines = "\n".join("    " + line for line in body.split("\n"))
    body = f"from contextlib import nullcontext\n{PRELUDE}{lines}\n    tl.store(o, r)\n"
    made = module(body.replace("tz_context()", "nullcontext(4)"))
    assert contextlib.nullcontext
    o = np.full(1, -999, np.int64)
    made.kernel[(1,)](o, 3, N=16, DT=tl.int32, S="sum", T=(4, (8, None)), F=made.double, M=made.Mode.A)
    assert o[0] == want


def test_closures(module):
    made = module("""
        def make(step, op):
            scale = tl.constexpr(step)

            @tz.jit
            def inner(x):
                return op(x) * scale

            @tz.jit
            def kernel(o, n):
                tl.store(o, inner(n))

            return kernel

        @tz.jit
        def negate(x):
            return -x
    """)
    for step in (2, 3):
        o = np.zeros(1, np.int32)
        made.make(step, made.negate)[(1,)](o, 5)
        assert o[0] == -5 * step


def test_functions_passed_to_the_language(module):
    kernel = module("""
        SCALE = tl.constexpr(2)

        @tz.jit
        def larger(a, b):
            if a > b:
                return a
            else:
                return b

        @tz.jit
        def kernel(x, o, N: tl.constexpr):
            v = tl.load(x + tl.arange(0, N))
            tl.store(o, tl.reduce(v, 0, larger))
            tl.store(o + 1, tl.reduce(v, 0, lambda a, b: a + b))
            both = tl.reduce((v, -v), 0, pair)
            tl.store(o + 2, both[0] - both[1])
            tl.store(o + 4 + tl.arange(0, N), tl.associative_scan(v, 0, larger))
            tl.store(o + 4 + N + tl.arange(0, N), tl.map_elementwise(steps, v))

        @tz.jit
        def pair(a, b, c, d):
            return larger(a, c), b + d

        @tz.jit
        def steps(v):
            n = 0
            while v > 1:
                v = v // SCALE
                n += 1
            return n
    """).kernel
    x = np.array([3, 1, 20, 8], np.int32)
    o = np.zeros(12, np.int32)
    kernel[(1,)](x, o, N=4)
    assert o.tolist() == [20, 32, 20 + 32, 0, 3, 3, 20, 20, 1, 0, 4, 3]
