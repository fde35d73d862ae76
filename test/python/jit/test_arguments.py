# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What may be passed to a kernel, and that it arrives."""

import collections
import ctypes

import ml_dtypes
import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch


@tz.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@tz.jit
def put(y_ptr, value):
    tl.store(y_ptr, value)


@tz.jit
def copy_strided(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i * stride, mask=i < n), mask=i < n)


NUMPY = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
EXTENSIONS = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]


@pytest.mark.parametrize("name", NUMPY + EXTENSIONS)
def test_numpy_dtype(name):
    dtype = np.dtype(getattr(ml_dtypes, name)) if name in EXTENSIONS else np.dtype(name)
    x = np.arange(24).astype(dtype)
    y = np.zeros_like(x)
    copy[(2,)](x, y, 24)
    assert y.tobytes() == x.tobytes()


def test_numpy_bool():
    x = np.array([True, False, True, True])
    y = np.zeros_like(x)
    copy[(1,)](x, y, 4)
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize("name", [*NUMPY[:-3], "float16", "bfloat16", "float32", "float64", "float8_e4m3fn"])
def test_torch_dtype(name):
    x = torch.arange(24).to(getattr(torch, name))
    y = torch.zeros_like(x)
    copy[(2,)](x, y, 24)
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))


def test_torch_parameter():
    x = torch.nn.Parameter(torch.arange(8.0))
    y = torch.zeros(8)
    copy[(1,)](x, y, 8)
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize("step", [3, 2, -1, -2, 0])
def test_strides(step):
    base = np.arange(32, dtype=np.float32)
    x = np.lib.stride_tricks.as_strided(base[16:], (5,), (step * 4,))
    y = np.zeros(5, np.float32)
    copy_strided[(1,)](x, y, step, 5)
    assert y.tolist() == x.tolist()


def test_unaligned_address():
    raw = np.arange(100, dtype=np.uint8)
    x = raw[1:65].view(np.float32)
    y = np.zeros(16, np.float32)
    copy[(1,)](x, y, 16)
    assert y.tobytes() == x.tobytes()


class Interface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Dlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)


class OldDlpack(Dlpack):
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class Pointer:
    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self):
        return self.array.ctypes.data


@pytest.mark.parametrize("wrap", [Interface, Dlpack, OldDlpack, Pointer])
@pytest.mark.parametrize("name", ["float32", "int16", "uint8", "bool", "float64"])
def test_array_protocols(wrap, name):
    x = np.arange(10).astype(name)
    y = np.zeros_like(x)
    copy[(1,)](wrap(x), wrap(y), 10)
    assert y.tolist() == x.tolist()


def test_read_only_by_protocol():
    y = np.zeros(4, np.float32)
    y.flags.writeable = False
    for wrap in (Interface, Dlpack):
        with pytest.raises(tz.LaunchError, match="'y_ptr'.*read-only"):
            copy[(1,)](np.zeros(4, np.float32), wrap(y), 4)


def test_reinterpret():
    x = np.arange(8, dtype=np.int8)
    y = np.zeros(8, np.int8)
    copy[(1,)](tz.reinterpret(x, tl.float8e5), tz.reinterpret(y, tl.float8e5), 8)
    assert y.tolist() == x.tolist()
    t = torch.zeros(8, dtype=torch.int8)
    copy[(1,)](tz.reinterpret(torch.from_numpy(x), tl.float8e5), tz.reinterpret(t, tl.float8e5), 8)
    assert t.tolist() == x.tolist()
    wrapped = tz.reinterpret(x, tl.uint8)
    assert tz.reinterpret(wrapped, tl.float8e5).dtype == tl.float8e5


def test_address_with_annotation():
    @tz.jit
    def kernel(p: tl.pointer_type(tl.int32), q: "*i32"):  # noqa: F722
        tl.store(p, tl.load(q) + 1)

    memory = (ctypes.c_int32 * 2)(1, 41)
    kernel[(1,)](ctypes.addressof(memory), ctypes.addressof(memory) + 4)
    assert memory[0] == 42


@pytest.mark.parametrize(
    "value",
    [0, 1, -1, 7, 16, 2**31 - 1, -(2**31), 2**31, 2**40 + 1, -(2**63), 2**63 - 1, np.int64(2**40), np.uint8(255)],
)
def test_integers(value):
    y = np.zeros(1, np.int64)
    put[(1,)](y, value)
    assert y[0] == value


def test_unsigned_64():
    y = np.zeros(1, np.uint64)
    put[(1,)](y, 2**64 - 1)
    assert y[0] == 2**64 - 1


@pytest.mark.parametrize("value", [0.5, -0.0, 1e30, float("inf"), np.float32(0.1), np.float64(0.25), np.float16(2.5)])
def test_floats(value):
    y = np.zeros(1, np.float32)
    put[(1,)](y, value)
    assert y.tobytes() == np.float32(value).tobytes()


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_bools(value):
    y = np.full(1, 9, np.int32)
    put[(1,)](y, value)
    assert y[0] == int(value)


def test_tuples_and_named_tuples():
    point = collections.namedtuple("Point", "x_ptr scale")

    @tz.jit
    def kernel(y_ptr, p, rest):
        tl.store(y_ptr, tl.load(p.x_ptr) * p.scale + rest[0] + rest[1][0])

    x, y = np.array([5], np.int32), np.zeros(1, np.int32)
    kernel[(1,)](y, point(x, 3), (10, (100,)))
    assert y[0] == 125
    kernel[(1,)](y, point(x, 4), [20, [200]])
    assert y[0] == 240


def test_constants_without_an_annotation():
    @tz.jit
    def kernel(y_ptr, bias, op, mode="add"):
        v = 2
        if bias is not None:
            v = v + bias
        if mode == "twice":
            v = op(v)
        tl.store(y_ptr, v)

    @tz.jit
    def double(v):
        return v * 2

    y = np.zeros(1, np.int32)
    kernel[(1,)](y, None, double)
    assert y[0] == 2
    kernel[(1,)](y, 5, double, mode="twice")
    assert y[0] == 14


def test_grids():
    @tz.jit
    def count(x_ptr):
        p = tl.program_id(0) + 100 * tl.program_id(1) + 10000 * tl.program_id(2)
        tl.atomic_add(x_ptr, 1)
        tl.atomic_max(x_ptr + 1, p)

    for grid, programs, last in [
        (3, 3, 2), (np.int64(2), 2, 1), (True, 1, 0), ([4], 4, 3), ((2, 3), 6, 201), ([2, np.int32(3), 4], 24, 30201),
        (lambda meta: 5, 5, 4), (lambda meta: [meta["num_warps"]], 4, 3), (0, 0, -1), ((3, 0, 2), 0, -1), ([0], 0, -1),
    ]:  # fmt: skip
        x = np.array([0, -1], np.int32)
        count[grid](x)
        assert x.tolist() == [programs, last], grid


def test_meta_of_grid_function():
    seen = {}

    def grid(meta):
        seen.update(meta)
        return (1,)

    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    copy[grid](x, n=4, y_ptr=y, num_warps=8)
    assert seen["x_ptr"] is x
    assert {k: seen[k] for k in ("n", "BLOCK", "num_warps", "num_stages", "num_ctas")} == {
        "n": 4, "BLOCK": 16, "num_warps": 8, "num_stages": 3, "num_ctas": 1,
    }  # fmt: skip


def test_launcher_is_reusable_and_arguments_stay_alive():
    launch = copy[(1,)]
    for k in range(20):
        y = np.zeros(16, np.float32)
        launch(np.full(16, k, np.float32), y, 16)
        assert y.tolist() == [k] * 16


def test_empty_arrays():
    y = np.ones(16, np.float32)
    for programs in (0, 1):
        copy[(programs,)](np.zeros(0, np.float32), y[:0], 0)
        assert y.tolist() == [1] * 16
