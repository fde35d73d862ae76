# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SwiGLU and its gradients against NumPy and torch in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import swiglu as S


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(1,), (3, 7, 129), (2, 2048)], ids=str)
def test_forward_and_gradients(shape, dtype, normal, close, gradients):
    gate, up, dy = (normal(*shape, dtype=dtype) for _ in range(3))
    close(S.swiglu(gate, up), S.reference(gate.double(), up.double()))
    got = S.swiglu_backward(dy, gate, up)
    for have, want in zip(got, gradients(lambda g, u: torch.nn.functional.silu(g) * u, (gate, up), dy)):
        close(have, want)


def test_large_gates():
    gate = np.array([-1000, -88.8, 0, 88.8, 1000], np.float32)
    np.testing.assert_allclose(S.swiglu(gate, np.ones(5, np.float32)), [0, 0, 0, 88.8, 1000], rtol=1e-6, atol=1e-30)


def test_shapes_must_agree(normal):
    with pytest.raises(ValueError, match=r"'up': expected shape \[4\], found \[5\]"):
        S.swiglu(normal(4), normal(5))
