# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax against NumPy in fp64, and its gradient against torch's in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import softmax as S


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((1, 1), torch.float32), ((300, 7), torch.float32), ((4, 5, 33), torch.float32), ((2, 5000), torch.float32),
     ((3, 16385), torch.float32), ((9, 40), torch.float16), ((9, 40), torch.bfloat16)],
    ids=str,
)  # fmt: skip
def test_forward_and_gradient(shape, dtype, normal, close, gradients):
    x, dy = 5 * normal(*shape, dtype=dtype), normal(*shape, dtype=dtype)
    y = S.softmax(x)
    close(y, S.reference(x.double()))
    dx = S.softmax_backward(dy, y)
    p = y.double()
    close(dx, p * (dy.double() - (dy.double() * p).sum(-1, keepdim=True)))
    if dtype == torch.float32:
        (want,) = gradients(lambda x: torch.softmax(x, -1), (x,), dy)
        close(dx, want, 4)


@pytest.mark.parametrize("columns", [100, 20000])
def test_infinities(columns):
    x = np.zeros((3, columns), np.float32)
    x[0, : columns // 2] = -np.inf
    x[1] = -np.inf
    x[2] = 3e38
    y = S.softmax(x)
    assert not y[0, : columns // 2].any()
    np.testing.assert_allclose(y[0, columns // 2 :], 2 / columns, rtol=1e-5)
    assert np.isnan(y[1]).all()
    np.testing.assert_allclose(y[2], 1 / columns, rtol=1e-5)
