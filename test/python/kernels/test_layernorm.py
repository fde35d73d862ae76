# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LayerNorm against NumPy in fp64, and its gradients against torch's in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import layernorm as L


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((1, 1), torch.float32), ((5, 3, 33), torch.float32), ((130, 64), torch.float32), ((2, 4097), torch.float32),
     ((3, 16385), torch.float32), ((7, 48), torch.float16), ((7, 48), torch.bfloat16)],
    ids=str,
)  # fmt: skip
def test_forward_and_gradients(shape, dtype, normal, close, gradients):
    N = shape[-1]
    x, w, b, dy = (normal(*s, dtype=dtype) for s in (shape, (N,), (N,), shape))
    y, mean, rstd = L.layernorm_forward(x, w, b)
    # One column has variance 0: eps decides, and rstd = 316 magnifies rounding.
    close(y, L.reference(x.double(), w.double(), b.double()), 2)
    got = L.layernorm_backward(dy, x, w, mean, rstd)
    want = gradients(lambda x, w, b: torch.nn.functional.layer_norm(x, (N,), w, b, 1e-5), (x, w, b), dy)
    for have, expected in zip(got, want):
        close(have, expected, 3)


def test_without_bias(normal, close):
    x, w = normal(6, 20), normal(20)
    close(L.layernorm(x, w), L.reference(x.double(), w.double()))


def test_large_mean_does_not_cancel():
    x = 1000 + np.random.default_rng(0).standard_normal((4, 100), dtype=np.float32)
    w = np.ones(100, np.float32)
    # The inputs are exact; only the mean of numbers near 1000 is rounded, 6e-5 at most.
    np.testing.assert_allclose(L.layernorm(x, w), L.reference(x, w), atol=2e-4)


def test_wrong_bias_is_named(normal):
    with pytest.raises(ValueError, match=r"'b': expected shape \[8\], found \[9\]"):
        L.layernorm(normal(2, 8), normal(8), normal(9))
