# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The causal convolution against NumPy in fp64 and its gradients against torch's in fp64."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from terrazzo import targets
from terrazzo.kernels import conv1d as C


def torch_conv1d(activation, x, w, bias=None):
    y = F.conv1d(F.pad(x.transpose(1, 2), (w.shape[1] - 1, 0)), w[:, None], bias, groups=x.shape[2]).transpose(1, 2)
    return F.silu(y) if activation == "silu" else y


@pytest.fixture
def check(normal, close, gradients):
    """check(Bt, L, E, W, ...): values and gradients."""

    def compare(Bt, L, E, W, activation="silu", bias=True, dtype=torch.float32, factor=2.0):
        inputs = [normal(Bt, L, E, dtype=dtype), normal(E, W, dtype=dtype)] + ([normal(E, dtype=dtype)] if bias else [])
        dy = normal(Bt, L, E, dtype=dtype)
        y = C.conv1d_forward(*inputs, activation=activation)
        close(y, C.reference(*(x.double() for x in inputs), activation=activation), factor)
        found = C.conv1d_backward(dy, *inputs, activation=activation)
        wanted = gradients(lambda *xs: torch_conv1d(activation, *xs), inputs, dy)
        for have, want in zip(found, wanted):
            close(have, want, 2 * factor)
        assert bias or found[2] is None

    return compare


@pytest.mark.parametrize("W", [2, 3, 4])
@pytest.mark.parametrize(("Bt", "L", "E"), [(1, 1, 1), (2, 2, 3), (1, 64, 64), (3, 65, 70), (2, 200, 130)])
def test_sizes(Bt, L, E, W, check):
    check(Bt, L, E, W)


@pytest.mark.parametrize("activation", [None, "silu"])
@pytest.mark.parametrize("bias", [True, False])
def test_options(activation, bias, check):
    check(2, 70, 20, 4, activation=activation, bias=bias)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("activation", [None, "silu"])
def test_narrow_types(activation, dtype, check):
    check(2, 70, 20, 4, activation=activation, dtype=dtype, factor=1)


def test_future_does_not_matter(normal):
    x, w = normal(1, 90, 8), normal(8, 4)
    changed = x.clone()
    changed[:, 50:] = torch.nan
    assert torch.equal(C.conv1d_forward(changed, w)[:, :50], C.conv1d_forward(x, w)[:, :50])


def test_numpy_strides_and_out(normal):
    x, w, bias = (
        normal(2, 6, 33).transpose(1, 2).cpu().numpy(),
        normal(4, 6).T.cpu().numpy(),
        normal(12)[::2].cpu().numpy(),
    )
    out = np.empty((2, 33, 6), np.float16)
    assert C.conv1d_forward(x, w, bias, "silu", out=out) is out
    y = C.conv1d_forward(x, w, bias, "silu")
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, C.reference(x, w, bias, "silu"), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(out, y.astype(np.float16))


def test_weight_gradient_has_the_same_bits(normal):
    x, w = normal(2, 500, 40), normal(40, 4)
    first, again = (C.conv1d_backward(x, x, w, activation="silu")[1] for _ in range(2))
    assert torch.equal(first, again)


def test_wrong_arguments_are_named(normal):
    x = normal(1, 5, 8)
    with pytest.raises(ValueError, match="'w': expected a width of 2 to 4, found 5"):
        C.conv1d_forward(x, normal(8, 5))
    with pytest.raises(ValueError, match=r"'w': expected shape \[8, any\], found \[7, 4\]"):
        C.conv1d_forward(x, normal(7, 4))
    with pytest.raises(ValueError, match=r"'bias': expected shape \[8\], found \[9\]"):
        C.conv1d_forward(x, normal(8, 4), normal(9))
    with pytest.raises(ValueError, match="'activation': expected None or 'silu', found 'relu'"):
        C.conv1d_forward(x, normal(8, 4), activation="relu")
    with pytest.raises(ValueError, match=r"'out': expected shape \[1, 5, 8\], found \[1, 5, 7\]"):
        C.conv1d_forward(x, normal(8, 4), out=normal(1, 5, 7))


@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3", "cpu:x86-64"])
def test_bits_do_not_depend_on_where_arrays_lie(target):
    """Masked steps before x reach into y where that lies next to it: code for arrays that may overlap takes over."""
    random = torch.Generator("cpu").manual_seed(0)
    shapes = (2, 32, 64), (64, 4), (64,)
    x, w, bias = (torch.randn(shape, generator=random, device="cpu") for shape in shapes)
    memory = torch.zeros(2 * x.numel() + 64, device="cpu")
    beside = memory[: x.numel()].view(x.shape)
    moved = memory[x.numel() + 64 :].view(x.shape)
    moved.copy_(x)
    with targets.using(target):
        apart = C.conv1d_forward(x, w, bias, activation="silu")
        C.conv1d_forward(moved, w, bias, activation="silu", out=beside)
    assert torch.equal(apart, beside)
