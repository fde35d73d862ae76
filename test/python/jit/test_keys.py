# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiles a kernel again, and what does not."""

import collections
import enum

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

SCALE = tl.constexpr(2)


def make():
    """A fresh kernel, that nothing has compiled yet."""

    @tz.jit
    def kernel(x_ptr, n, value, K: tl.constexpr = 1):
        tl.store(x_ptr, 1)

    return kernel


def array(dtype=np.float32, offset=0):
    """An array whose address is `offset` bytes past a multiple of 64."""
    raw = np.zeros(4096, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    return raw[start : start + 64].view(dtype) if offset % np.dtype(dtype).itemsize == 0 else raw[start : start + 64]


def count(builds, *calls):
    """How often the calls compile a fresh kernel."""
    kernel = make()
    before = len(builds)
    for args, kwargs in calls:
        kernel[(1,)](*args, **kwargs)
    return len(builds) - before


def call(x=None, n=2, value=0.5, **kwargs):
    return (array() if x is None else x, n, value), kwargs


SAME = {
    "values": [call(n=2), call(n=3), call(n=-7), call(n=2**31 - 1), call(n=-(2**31) + 1)],
    "multiples of 16": [call(n=16), call(n=0), call(n=-32), call(n=1 << 20)],
    "floats": [call(value=0.5), call(value=1.0), call(value=16.0), call(value=float("nan")), call(value=-0.0)],
    "bools": [call(n=True), call(n=False)],
    "wide integers": [call(n=1 << 40 | 2), call(n=-(1 << 50) - 1)],
    "addresses": [call(array()), call(array()), call(array(offset=16)), call(array(offset=48))],
    "unaligned addresses": [call(array(offset=4)), call(array(offset=8)), call(array(offset=20))],
    "shapes and strides": [call(np.zeros((4, 4), np.float32)), call(np.zeros((8, 8, 8), np.float32)[::2, ::-1])],
    "numpy scalars": [call(n=2), call(n=np.int64(3)), call(n=np.uint8(5)), call(n=np.int16(-6))],
    "numpy floats": [call(value=0.5), call(value=np.float32(1)), call(value=np.float64(2)), call(value=np.float16(3))],
    "numpy bools": [call(n=True), call(n=np.True_)],
    "names or positions": [call(K=1), ((), {"value": 0.1, "n": 7, "x_ptr": array()}), ((array(), 9), {"value": 1.5})],
    "defaults": [call(), call(K=1)],
    "constexpr objects": [call(K=3), call(K=tl.constexpr(3)), call(K=np.int64(3))],
    "options of a GPU": [call(num_warps=4), call(num_warps=8), call(num_stages=1), call(waves_per_eu=2)],
}
OTHER = {
    "one": [call(n=2), call(n=1)],
    "divisible by 16": [call(n=2), call(n=16)],
    "int64": [call(n=2), call(n=1 << 31)],
    "uint64": [call(n=(1 << 40) + 1), call(n=(1 << 63) + 1)],
    "float for int": [call(n=2), call(n=2.0)],
    "bool for int": [call(n=2), call(n=True)],
    "None": [call(n=2), call(n=None)],
    "dtype": [call(array(np.float32)), call(array(np.int32))],
    "signedness": [call(array(np.uint32)), call(array(np.int32))],
    "alignment": [call(array()), call(array(offset=4))],
    "constexpr": [call(K=1), call(K=2)],
    "constexpr type": [call(K=1), call(K=1.0), call(K=True)],
    "constexpr sign of zero": [call(K=0.0), call(K=-0.0)],
    "constexpr in tuples": [call(K=(1, 2)), call(K=(1, 2.0)), call(K=(True, 2)), call(K=((1,), 2))],
    "strings": [call(K="a"), call(K="b"), call(K="")],
    "dtypes": [call(K=tl.float32), call(K=tl.int32)],
    "large constants": [call(K=1 << 60), call(K=1 << 61), call(K=1 << 100), call(K=-(1 << 47) - 1)],
    "debug": [call(), call(debug=True)],
    "tuples": [call(n=(1, 2)), call(n=(2, 2)), call(n=(2, 2, 2)), call(n=(2, None))],
}


@pytest.mark.parametrize("case", SAME, ids=str)
def test_compiles_once(case, builds):
    assert count(builds, *SAME[case]) == 1


@pytest.mark.parametrize("case", OTHER, ids=str)
def test_compiles_each(case, builds):
    assert count(builds, *OTHER[case], *OTHER[case]) == len(OTHER[case])


def test_enum_members(builds):
    class Mode(enum.IntEnum):
        A = 1
        B = 2

    assert count(builds, call(K=1), call(K=Mode.A), call(K=Mode.B), call(K=Mode.A)) == 3


def test_named_tuples_of_other_fields(builds):
    first, second = collections.namedtuple("P", "x y"), collections.namedtuple("P", "y x")
    assert count(builds, call(n=first(2, 3)), call(n=first(5, 7)), call(n=second(2, 3)), call(n=(2, 3))) == 3


def test_annotation_stops_specialisation(builds):
    @tz.jit
    def kernel(x_ptr, n: tl.int32, f: tl.float16):
        tl.store(x_ptr, n)

    for n in (0, 1, 2, 16, -1):
        kernel[(1,)](array(), n, n)
    assert len(builds) == 1


def test_do_not_specialize(builds):
    @tz.jit(do_not_specialize=["n"])
    def kernel(x_ptr, n, m):
        tl.store(x_ptr, n)

    for n in (0, 1, 2, 16):
        kernel[(1,)](array(), n, 3)
    assert len(builds) == 1
    kernel[(1,)](array(), 1 << 40, 3)
    kernel[(1,)](array(), 1, 1)
    assert len(builds) == 3


def test_do_not_specialize_on_alignment(builds):
    @tz.jit(do_not_specialize_on_alignment=[0, "n"])
    def kernel(x_ptr, n):
        tl.store(x_ptr, n)

    for x in (array(), array(offset=4)):
        for n in (2, 16):
            kernel[(1,)](x, n)
    assert len(builds) == 1
    kernel[(1,)](array(), 1)
    assert len(builds) == 2


def test_global_constant(builds, monkeypatch):
    @tz.jit
    def kernel(x_ptr):
        tl.store(x_ptr, SCALE)

    def run():
        x = np.zeros(1, np.int32)
        kernel[(1,)](x)
        return int(x[0])

    assert run() == 2
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    assert run() == 5
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(2))
    assert run() == 2
    assert len(builds) == 2


def test_closure_constant(builds):
    def outer(value):
        k = tl.constexpr(value)

        @tz.jit
        def kernel(x_ptr):
            tl.store(x_ptr, k)

        return kernel

    for value in (3, 4):
        x = np.zeros(1, np.int32)
        outer(value)[(1,)](x)
        assert x[0] == value
    assert len(builds) == 2


def test_helper_in_the_key(builds):
    def outer(factor):
        @tz.jit
        def helper(v):
            return v * factor

        @tz.jit
        def kernel(x_ptr, f: tl.constexpr):
            tl.store(x_ptr, f(tl.load(x_ptr)))

        return kernel, helper

    two, three = tl.constexpr(2), tl.constexpr(3)
    kernel, double = outer(two)
    _, triple = outer(three)
    x = np.ones(1, np.int32)
    kernel[(1,)](x, double)
    kernel[(1,)](x, triple)
    kernel[(1,)](x, double)
    assert x[0] == 12
    assert len(builds) == 2


def test_key_is_the_same_in_memory_and_described():
    kernel = make()
    key, specs, options, target = kernel._specialization((array(), 1, 0.5), {"K": (1, "a"), "num_warps": 8})
    assert specs == (
        ("ptr", "fp32", True, False),
        ("scalar", "int32", False, True),
        ("scalar", "fp32", False, False),
        ("const", (1, "a")),
    )
    assert (options, target) == ({"num_warps": 8}, "cpu")
    assert key == kernel._specialization((array(), 1, 0.25), {"K": (1, "a"), "num_warps": 8})[0]
