# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches that are refused: every one is a LaunchError and a TypeError, and names what is wrong."""

import enum
import types

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def fill(x_ptr, n, value=3.0, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, value, mask=i < n)


@tz.jit
def annotated(x_ptr, u: tl.uint8, s: tl.int16, f: tl.float32, b: tl.int1):
    tl.store(x_ptr, u + s)


@tz.jit
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@tz.jit
def variadic(x_ptr, *rest):
    tl.store(x_ptr, 1)


def x():
    return np.zeros(64, np.float32)


def read_only():
    a = x()
    a.flags.writeable = False
    return a


def cuda_like(name="cuda:0"):
    return types.SimpleNamespace(is_cpu=False, device=name, dtype="float32", data_ptr=lambda: 64)


class CudaArray:
    __cuda_array_interface__ = {"data": (64, False), "typestr": "<f4", "shape": (1,), "version": 3}


class NoDtype:
    def data_ptr(self):
        return 64


class BadPointer:
    dtype = "float32"

    def data_ptr(self):
        raise RuntimeError("it is sparse")


class Interface:
    def __init__(self, **fields):
        self.__array_interface__ = fields


class BadDlpack:
    def __dlpack__(self, **kwargs):
        raise BufferError("cannot be exported")


class NoCapsule:
    def __dlpack__(self, **kwargs):
        return 5


class Colour(enum.Enum):
    RED = 1


ONE = (1,)
BAD = {
    # Binding, as Python does.
    "missing": (lambda: fill[ONE](), r"fill\(\) missing 2 required arguments: 'x_ptr' and 'n'"),
    "missing one": (lambda: fill[ONE](x()), r"fill\(\) missing 1 required argument: 'n'"),
    "missing constexpr": (lambda: copy[ONE](x(), x()), "missing 1 required argument: 'BLOCK'"),
    "surplus": (lambda: fill[ONE](x(), 1, 2.0, 16, 5), r"fill\(\) takes 4 positional arguments but 5 were given"),
    "duplicate": (lambda: fill[ONE](x(), 1, x_ptr=x()), "got multiple values for argument 'x_ptr'"),
    "unknown": (lambda: fill[ONE](x(), 1, block=16), "unexpected keyword argument 'block'.*BLOCK.*num_warps"),
    "unknown by dict": (lambda: fill[ONE](x(), **{"n": 1, "bloc" + "k": 1}), "unexpected keyword argument 'block'"),
    "variadic": (lambda: variadic[ONE](x()), r"variadic\(\) takes \*rest"),
    "direct call": (lambda: fill(x(), 1), r"fill\(\) is a kernel: launch it as fill\[grid\]"),
    # Run-time arguments.
    "complex": (lambda: fill[ONE](np.zeros(4, np.complex64), 1), "argument 'x_ptr': arrays of dtype complex64"),
    "object": (lambda: fill[ONE](np.array([None]), 1), "argument 'x_ptr': arrays of dtype object"),
    "string array": (lambda: fill[ONE](np.array(["a"]), 1), "argument 'x_ptr': arrays of dtype <U1"),
    "datetime": (lambda: fill[ONE](np.zeros(1, "M8[s]"), 1), "argument 'x_ptr': arrays of dtype datetime64"),
    "structured": (lambda: fill[ONE](np.zeros(1, "i4,f4"), 1), "argument 'x_ptr': arrays of dtype"),
    "big-endian": (lambda: fill[ONE](np.zeros(4, ">f4"), 1), "argument 'x_ptr': a big-endian array .*>f4"),
    "dict": (lambda: fill[ONE]({}, 1), "argument 'x_ptr': an object of type 'dict'"),
    "object()": (lambda: fill[ONE](object(), 1), "argument 'x_ptr': an object of type 'object'"),
    "set": (lambda: fill[ONE](x(), {1}), "argument 'n': an object of type 'set'"),
    "complex number": (lambda: fill[ONE](x(), 1j), "argument 'n': an object of type 'complex'"),
    "bytes": (lambda: fill[ONE](x(), b"1"), "argument 'n': an object of type 'bytes'"),
    "too large": (lambda: fill[ONE](x(), 1 << 64), "argument 'n': the integer fits neither int64 nor uint64"),
    "too small": (lambda: fill[ONE](x(), -(1 << 63) - 1), "argument 'n': the integer does not fit int64"),
    "device": (lambda: fill[ONE](cuda_like(), 1, target="cpu"), "'x_ptr': .* on device cuda:0, expected cpu, which"),
    "cuda array": (lambda: fill[ONE](CudaArray(), 1, target="cpu"), "argument 'x_ptr': .*device cuda, expected cpu"),
    "no dtype": (lambda: fill[ONE](NoDtype(), 1), "argument 'x_ptr': .*without a dtype"),
    "data_ptr fails": (lambda: fill[ONE](BadPointer(), 1), r"argument 'x_ptr': data_ptr\(\) failed: it is sparse"),
    "dlpack fails": (lambda: fill[ONE](BadDlpack(), 1), r"argument 'x_ptr': __dlpack__\(\) failed: cannot be exported"),
    "no capsule": (lambda: fill[ONE](NoCapsule(), 1), r"argument 'x_ptr': __dlpack__\(\) gave no DLPack capsule"),
    "interface type": (lambda: fill[ONE](Interface(data=(64, False), typestr="<c8"), 1), "argument 'x_ptr': .*<c8"),
    "interface order": (lambda: fill[ONE](Interface(data=(64, False), typestr=">i4"), 1), "'x_ptr': a big-endian"),
    "interface data": (lambda: fill[ONE](Interface(typestr="<i4"), 1), "argument 'x_ptr': its __array_interface__"),
    "mock": (lambda: fill[ONE](tz.MockTensor(tl.float32), 1), r"argument 'x_ptr': .*only warmup\(\)"),
    "in a tuple": (lambda: fill[ONE](x(), (1, [{}])), r"argument 'n\[1\]\[0\]': an object of type 'dict'"),
    # Annotated parameters.
    "uint8 high": (lambda: annotated[ONE](x(), 256, 0, 0, 0), "argument 'u': the integer does not fit uint8"),
    "uint8 low": (lambda: annotated[ONE](x(), -1, 0, 0, 0), "argument 'u': the integer does not fit uint8"),
    "int16": (lambda: annotated[ONE](x(), 0, 1 << 15, 0, 0), "argument 's': the integer does not fit int16"),
    "float for int": (lambda: annotated[ONE](x(), 1.5, 0, 0, 0), "argument 'u': is annotated uint8, found a float"),
    "array for float": (lambda: annotated[ONE](x(), 0, 0, x(), 0), "argument 'f': is annotated fp32, found an object"),
    "string for bool": (lambda: annotated[ONE](x(), 0, 0, 0, "no"), "argument 'b': is annotated int1, found an object"),
    "huge for float": (lambda: annotated[ONE](x(), 0, 0, 10**400, 0), "integer is too large for fp32"),
    # Compile-time arguments.
    "array as constexpr": (lambda: fill[ONE](x(), 1, BLOCK=x()), "argument 'BLOCK': is a compile-time constant.*array"),
    "dict as constexpr": (lambda: fill[ONE](x(), 1, BLOCK={}), "argument 'BLOCK': .*'dict' that is not hashable"),
    # Options.
    "num_warps zero": (lambda: fill[ONE](x(), 1, num_warps=0), "option 'num_warps' is 0, expected an integer of at"),
    "num_warps three": (lambda: fill[ONE](x(), 1, num_warps=3), "option 'num_warps' is 3, .*a power of two"),
    "num_warps float": (lambda: fill[ONE](x(), 1, num_warps=4.0), "option 'num_warps' is 4.0, expected an integer"),
    "num_warps bool": (lambda: fill[ONE](x(), 1, num_warps=True), "option 'num_warps' is True, expected an integer"),
    "num_stages": (lambda: fill[ONE](x(), 1, num_stages=-1), "option 'num_stages' is -1"),
    "num_ctas": (lambda: fill[ONE](x(), 1, num_ctas="2"), "option 'num_ctas' is '2'"),
    "cooperative": (
        lambda: fill[ONE](x(), 1, launch_cooperative_grid=True),
        "option 'launch_cooperative_grid' is True, expected False: the programs of a grid are not promised to run at",
    ),
    "maxnreg": (lambda: fill[ONE](x(), 1, maxnreg=0), "option 'maxnreg' is 0"),
    "device number": (lambda: fill[ONE](x(), 1, device="0"), r"fill\(\) got an option 'device' that is no number"),
    "stream": (lambda: fill[ONE](x(), 1, stream="main"), "option 'stream' is an object of type 'str', expected"),
    "debug": (lambda: fill[ONE](x(), 1, debug="yes"), "option 'debug' is 'yes', expected True or False"),
    # Grids.
    "grid float": (lambda: fill[1.0](x(), 1), "grid of type 'float', expected a tuple, a list, an integer"),
    "grid of float": (lambda: fill[(2, 3.0)](x(), 1), "grid extent 1 is of type 'float', expected an integer"),
    "grid negative": (lambda: fill[(2, -1)](x(), 1), "grid extent 1 is -1, expected 0 or more"),
    "grid of four": (lambda: fill[(1, 1, 1, 1)](x(), 1), "grid has 4 extents, expected 1 to 3"),
    "grid of none": (lambda: fill[()](x(), 1), "grid has 0 extents, expected 1 to 3"),
    "grid large": (lambda: fill[(1 << 31,)](x(), 1), "grid extent 0 is 2147483648, expected at most 2147483647"),
    "grid huge": (lambda: fill[(1 << 80,)](x(), 1), "grid extent 0 is huge"),
    "grid product": (lambda: fill[((1 << 31) - 1,) * 3](x(), 1), r"grid has more than 2\^63 programs"),
    "grid None": (lambda: fill[None](x(), 1), "grid of type 'NoneType'"),
    "grid string": (lambda: fill["1"](x(), 1), "grid of type 'str'"),
    "grid array": (lambda: fill[np.ones(2, np.int64)](x(), 1), "grid of type 'numpy.ndarray'"),
    "grid function": (lambda: fill[lambda meta: -1](x(), 1), "grid extent 0 is -1"),
    "grid function float": (lambda: fill[lambda meta: meta["n"] / 2](x(), 1), "grid of type 'float'"),
    "grid function of function": (lambda: fill[lambda meta: lambda m: 1](x(), 1), "grid of type 'function'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=str)
def test_is_refused(case):
    launch, message = BAD[case]
    with pytest.raises(tz.LaunchError, match=message) as caught:
        launch()
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, tz.TerrazzoError)
    # The kernel is none the worse for it.
    good = x()
    fill[(1,)](good, 5)
    assert good[:6].tolist() == [3.0] * 5 + [0.0]


@pytest.mark.parametrize("value", [1 << 64, -(1 << 63) - 1])
def test_integer_out_of_range_is_an_overflow(value):
    with pytest.raises(OverflowError):
        fill[ONE](x(), value)


def test_read_only_array_that_is_stored_to():
    with pytest.raises(tz.LaunchError, match="argument 'y_ptr': the array is read-only and the kernel stores to it"):
        copy[ONE](x(), read_only(), BLOCK=16)


def test_read_only_array_that_is_loaded_from():
    y = x() + 1
    copy[ONE](read_only(), y, BLOCK=16)
    assert y[:16].tolist() == read_only()[:16].tolist()


def test_grid_function_may_fail():
    with pytest.raises(ZeroDivisionError):
        fill[lambda meta: 1 // 0](x(), 1)


def test_jit_of_no_function():
    with pytest.raises(tz.LaunchError, match="jit takes a Python function, found an object of type 'int'"):
        tz.jit(5)


def test_unspecialised_parameter_that_does_not_exist_is_passed_over():
    kernel = tz.jit(do_not_specialize=["m", "n"], do_not_specialize_on_alignment=["k"])(fill.fn)
    assert [p.name for p in kernel.params if p.do_not_specialize] == [p.name for p in kernel.params if p.name == "n"]
