# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both forms of GELU and their gradients against NumPy and torch in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import gelu as G


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_forward_and_gradient(approximate, dtype, normal, close, gradients):
    x, dy = 3 * normal(3, 1367, dtype=dtype), normal(3, 1367, dtype=dtype)
    close(G.gelu(x, approximate), G.reference(x.double().cpu().numpy(), approximate))
    (want,) = gradients(lambda x: torch.nn.functional.gelu(x, approximate=approximate), (x,), dy)
    close(G.gelu_backward(dy, x, approximate), want)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_far_from_zero(approximate):
    x = np.array([-1e4, -50, 50, 1e4], np.float32)
    np.testing.assert_allclose(G.gelu(x, approximate), [0, 0, 50, 1e4], atol=1e-6)
    np.testing.assert_allclose(G.gelu_backward(np.ones(4, np.float32), x, approximate), [0, 0, 1, 1], atol=1e-6)


def test_unknown_form(normal):
    with pytest.raises(ValueError, match="'approximate': expected 'none' or 'tanh', found 'fast'"):
        G.gelu(normal(4), "fast")
