# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMSNorm against NumPy in fp64, and its gradients against torch's in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import rmsnorm as R


def torch_rmsnorm(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (5, 3, 33), (130, 64), (3, 1000), (2, 4097), (3, 16385)], ids=str)
def test_forward_and_gradients(shape, dtype, normal, close, gradients):
    if dtype != torch.float32 and shape[-1] not in (33, 16385):
        shape = (7, 48)
    x, w, dy = normal(*shape, dtype=dtype), normal(shape[-1], dtype=dtype), normal(*shape, dtype=dtype)
    y, rstd = R.rmsnorm_forward(x, w)
    close(y, R.reference(x.double(), w.double()))
    dx, dw = R.rmsnorm_backward(dy, x, w, rstd)
    want_dx, want_dw = gradients(torch_rmsnorm, (x, w), dy)
    close(dx, want_dx, 2)
    close(dw, want_dw, 2)


def test_numpy_arrays_and_other_strides():
    x = np.random.default_rng(0).standard_normal((40, 12), dtype=np.float32)
    w = np.linspace(-1, 1, 40, dtype=np.float32)
    y = R.rmsnorm(x.T, w)
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, R.reference(x.T, w), rtol=1e-5, atol=1e-6)


def test_weight_gradient_has_the_same_bits(normal):
    x, w = normal(1000, 32), normal(32)
    _, rstd = R.rmsnorm_forward(x, w)
    first, again = (R.rmsnorm_backward(x, x, w, rstd)[1] for _ in range(2))
    assert torch.equal(first, again)


def test_no_rows(normal):
    x, w = normal(0, 8), normal(8)
    y, rstd = R.rmsnorm_forward(x, w)
    dx, dw = R.rmsnorm_backward(x, x, w, rstd)
    assert y.shape == dx.shape == (0, 8)
    assert not dw.any()


def test_wrong_arguments_are_named(normal):
    with pytest.raises(ValueError, match=r"'w': expected shape \[8\], found \[7\]"):
        R.rmsnorm(normal(2, 8), normal(7))
    with pytest.raises(ValueError, match="'x': expected float16 or bfloat16 or float32, found float64"):
        R.rmsnorm(normal(2, 8, dtype=torch.float64), normal(8))
