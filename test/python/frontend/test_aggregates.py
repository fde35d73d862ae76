# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Aggregates: fields, methods, constructors, nesting, and as state of loops and branches."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

TEXT = """
@tl.aggregate
class Pair:
    a: tl.tensor
    b: tl.tensor
    n: tl.constexpr

    @tz.constexpr_function
    def __init__(self, a, b, n):
        self.a = a
        self.b = b
        self.n = n

    @tz.jit
    def total(self, k=1):
        return (self.a + self.b) * self.n * k

    @tz.jit
    def twice(a, n: tl.constexpr):
        return Pair(a, 2 * a, n)

    @property
    @tz.jit
    def difference(self):
        return self.b - self.a

    @tz.constexpr_function
    def next(self):
        return self.n + 1

@tl.aggregate
class State:
    pair: Pair
    count: tl.tensor
    name: tl.constexpr = "none"

    @tz.jit
    def step(self, i):
        return State(Pair(self.pair.a + i, self.pair.b, self.pair.n), self.count + 1, self.name)
"""


@pytest.fixture
def run(module):
    def compile_and_run(body, *arguments):
        indented = "\n".join("    " + line for line in body.split("\n"))
        kernel = module(f"{TEXT}\n@tz.jit\ndef kernel(p, n, N: tl.constexpr):\n{indented}\n").kernel
        x = np.zeros(4, np.int32)
        kernel[(1,)](x, *arguments, N=4)
        return x.tolist()

    return compile_and_run


INDEX = "i = tl.arange(0, N)\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s = Pair(i, i + 1, 3)\ntl.store(p + i, s.total() + s.a)", [3, 10, 17, 24]),
        ("tl.store(p + i, Pair.twice(i, 2).total(k=10))", [0, 60, 120, 180]),
        ("s = Pair(b=i, n=2, a=1)\ntl.store(p + i, s.difference + s.next() + s.n)", [4, 5, 6, 7]),
        ("s = State(Pair.twice(i, 1), 5)\ntl.static_assert(s.name == 'none')\ntl.store(p + i, s.count)", [5] * 4),
        ("s = tl.aggregate_replace(Pair.twice(i, 1), n=7)\ntl.store(p + i, s.a * s.n)", [0, 7, 14, 21]),
        ("t = (Pair.twice(i, 1), 2)\ntl.store(p + i, t[0].b + t[1])", [2, 4, 6, 8]),
        ("s = Pair.twice(i, 1)\nif isinstance(s, Pair):\n    tl.store(p + i, 1)", [1] * 4),
    ],
)
def test_fields_and_methods(body, expected, run):
    assert run(INDEX + body, 4) == expected


def test_state_of_loops_and_branches(run):
    body = INDEX + "s = State(Pair.twice(i, 3), 0)\n"
    body += "for k in range(n):\n    s = s.step(k)\n    if k == 1:\n        s = s.step(10)\n"
    body += "tl.static_assert(s.pair.n == 3)\ntl.store(p + i, s.pair.a * 10 + s.count)"
    assert run(body, 3) == [134, 144, 154, 164]
    assert run(body, 1) == [1, 11, 21, 31]


def test_results_of_functions(module):
    text = """
@tz.jit
def choose(i, n):
    if n > 2:
        return Pair(i, i, 1)
    return Pair(i, i * 2, 1)

@tz.jit
def kernel(p, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, choose(i, n).b)
"""
    made = module(TEXT + text)
    x = np.zeros(4, np.int32)
    for n, factor in ((3, 1), (1, 2)):
        made.kernel[(1,)](x, n, N=4)
        assert x.tolist() == [factor * i for i in range(4)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("Pair(i, i)", "Pair(): missing a required argument: 'n'"),
        ("Pair(i, i, n)", "field 'n' of Pair is a constexpr, found the run-time value int32"),
        ("Pair(i, i, 1).c", "Pair has no attribute 'c'; its fields are a, b, n"),
        ("s = Pair(i, i, 1)\ns.a = i", "assignment to an attribute"),
        ("tl.aggregate_replace(Pair(i, i, 1), c=2)", "Pair has no field 'c', expected one of a, b, n"),
        ("tl.aggregate_replace(i, c=2)", "must be an aggregate, found <[4], int32>"),
        ("s = Pair(i, i, 1)\nfor k in range(n):\n    s = Pair(s.a, s.b, s.n + 1)", "variable 's' has type"),
        ("Pair(i, i, 1) + 1", "operator + takes run-time values and numbers"),
    ],
)
def test_errors(body, message, run):
    try:
        run(INDEX + body, 3)
    except tz.CompileError as error:
        assert message in str(error)
        assert "internal error" not in str(error)
    else:
        pytest.fail("no error")


def test_constructors_set_each_field_once(module):
    made = module("""
@tl.aggregate
class Short:
    a: tl.tensor
    b: tl.tensor
    def __init__(self, a):
        self.a = a

@tl.aggregate
class Twice:
    a: tl.tensor
    def __init__(self, a):
        self.a = a
        self.a = a

@tl.aggregate
class Other:
    a: tl.tensor
    def __init__(self, a):
        self.z = a

@tz.jit
def kernel(n, C: tl.constexpr):
    C(n)
""")
    for name, message in (
        ("Short", "the constructor of Short sets no field 'b'"),
        ("Twice", "field 'a' of Twice has a value already"),
        ("Other", "Other has no field 'z', expected one of a"),
    ):
        with pytest.raises(tz.CompileError, match=message):
            made.kernel[(1,)](3, made.names[name])
    with pytest.raises(tz.ArgumentError, match="__init__ cannot be a jit function"):
        module("@tl.aggregate\nclass Wrong:\n    @tz.jit\n    def __init__(self):\n        pass\n")


def test_the_key_holds_what_methods_read(module):
    made = module("""
SCALE = tl.constexpr(2)

@tl.aggregate
class One:
    a: tl.tensor
    @tz.jit
    def scaled(self):
        return self.a * SCALE

@tz.jit
def kernel(p):
    tl.store(p, One(3).scaled())
""")
    x = np.zeros(1, np.int32)
    made.kernel[(1,)](x)
    assert x[0] == 6
    made.names["SCALE"] = tl.constexpr(5)
    made.kernel[(1,)](x)
    assert x[0] == 15
