# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays without memory: an error that names the parameter, at every door; arrays without elements are fine."""

import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch
from terrazzo._terrazzo import runtime
from terrazzo.errors import ArgumentError
from terrazzo.tools.tensor_descriptor import TensorDescriptor
from torch._subclasses.fake_tensor import FakeTensorMode


@tz.jit
def add_one(values, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(values + i, tl.load(values + i, mask=i < n) + 1, mask=i < n)


@tz.jit
def add_one_at(values: tl.pointer_type(tl.float32), n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(values + i, tl.load(values + i, mask=i < n) + 1, mask=i < n)


@tz.jit
def add_one_in(values, n, N: tl.constexpr):
    values.store([0], values.load([0]) + 1)


def fake(n):
    with FakeTensorMode():
        return torch.ones(n)


def freed(n, offset=0):
    whole = torch.ones(n + offset)
    part = whole[offset:]
    whole.untyped_storage().resize_(0)
    return part


class Interface:
    def __init__(self, name, n):
        setattr(self, name, {"data": (0, False), "typestr": "<f4", "shape": (2, n), "version": 3})


class Pointer:
    """What has an address and a dtype alone."""

    dtype = torch.float32

    def __init__(self, shape):
        self.shape = shape

    @staticmethod
    def data_ptr():
        return 0


def dlpack(n):
    return runtime.make_dlpack(object(), 0, 2, 32, [2, n], "cpu", 0)


def reinterpreted(n):
    return tz.reinterpret(freed(n), tl.int32)


EMPTY = {
    "fake": fake,
    "freed": freed,
    "part of a freed storage": lambda n: freed(n, 5000),
    "far part of a freed storage": lambda n: freed(n, 5_000_000),
    "array interface": lambda n: Interface("__array_interface__", n),
    "DLPack": dlpack,
    "address alone": lambda n: Pointer((n,)),
    "reinterpreted": reinterpreted,
}


pytestmark = pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")


@pytest.mark.parametrize("door", EMPTY, ids=str)
def test_elements_without_memory(door):
    with pytest.raises(ArgumentError, match="argument 'values'.*(memory|data_ptr)"):
        add_one[(1,)](EMPTY[door](4), 4, 4)


@pytest.mark.parametrize("door", [d for d in EMPTY if "part" not in d], ids=str)
def test_no_elements(door):
    assert add_one[(1,)](EMPTY[door](0), 0, 4).name == "add_one"


def test_an_address_of_nothing():
    with pytest.raises(ArgumentError, match="argument 'values': a null address, expected that of an array; pass None"):
        add_one_at[(1,)](0, 4, 4)


@pytest.mark.parametrize("make", [fake, freed], ids=["fake", "freed"])
def test_descriptors(make):
    with pytest.raises(ArgumentError, match=r"argument 'values\[0\]'.*(memory|data_ptr)"):
        add_one_in[(1,)](TensorDescriptor(make(4), [4], [1], [4]), 4, 4)


@pytest.mark.parametrize("options", [{}, {"restore_value": ["values"]}, {"reset_to_zero": ["values"]}], ids=str)
@pytest.mark.parametrize("make", [fake, freed], ids=["fake", "freed"])
def test_autotuned_launches(make, options):
    tuned = tz.autotune([tz.Config({"N": 4}), tz.Config({"N": 8})], key=["n"], **options)(add_one)
    with pytest.raises(ArgumentError, match=r"values"):
        tuned[(1,)](make(4), 4)


def test_functions_of_torch_that_trace():
    def launch(v):
        add_one[(1,)](v, 4, 4)
        return v

    for trace in (torch.func.functionalize, torch.vmap, torch.func.grad):
        with pytest.raises(ArgumentError, match="argument 'values'"):
            trace(lambda v: launch(v).sum())(torch.ones(2, 4))


def test_members_of_tuples():
    @tz.jit
    def kernel(values):
        tl.store(values[1], 1)

    with pytest.raises(ArgumentError, match=r"argument 'values\[1\]': an array of type 'Tensor' has no memory"):
        kernel[(1,)]((1, freed(4)))


def test_warmup_needs_no_memory():
    assert add_one.warmup(torch.float32, 4, N=4, grid=(1,)).name == "add_one"
    assert add_one.warmup(freed(4), 4, N=4, grid=(1,)).name == "add_one"


def test_memory_that_looks_odd():
    """Parts, transposes, subclasses, parameters and views of numpy have memory."""

    class Sub(torch.Tensor):
        pass

    for make in (lambda x: x[3:], lambda x: x.view(8, 8).T, lambda x: x.numpy()[5:], lambda x: x.as_subclass(Sub)):
        base = torch.zeros(64)
        add_one[(1,)](make(base), 4, 4)
        assert base.sum() == 4
    parameter = torch.nn.Parameter(torch.zeros(4))
    add_one[(1,)](parameter, 4, 4)
    assert parameter.tolist() == [1.0] * 4
