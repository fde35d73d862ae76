# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AdamW against NumPy in fp64 and against torch's optimiser."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import adamw as A

SETTINGS = {"lr": 3e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1}


@pytest.mark.parametrize("size", [1, 2048, 5001])
def test_steps(size, normal, close):
    p, m, v = normal(size), torch.zeros(size), torch.zeros(size)
    want = (p.double(), m.double(), v.double())
    for step in range(1, 6):
        g = normal(size)
        A.adamw(p, g, m, v, step=step, grad_scale=0.25, **SETTINGS)
        want = A.reference(want[0], g, want[1], want[2], step, grad_scale=0.25, **SETTINGS)
    for have, expected in zip((p, m, v), want):
        close(have, expected, 2)


def test_agrees_with_torch(normal, close):
    start = normal(33, 7)
    parameter = torch.nn.Parameter(start.double())
    optimizer = torch.optim.AdamW([parameter], lr=1e-2, betas=(0.9, 0.99), weight_decay=0.05)
    p, m, v = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    for step in range(1, 4):
        g = normal(33, 7)
        parameter.grad = g.double()
        optimizer.step()
        A.adamw(p, g, m, v, step=step, lr=1e-2, beta1=0.9, beta2=0.99, weight_decay=0.05)
    close(p, parameter.detach(), 2)


def test_numpy_and_narrow_parameters(normal, close):
    p, g, m, v = (np.ones(5, np.float32) for _ in range(4))
    A.adamw(p, g, m, v, step=2, **SETTINGS)
    np.testing.assert_allclose(p, A.reference(*np.ones((4, 5)), 2, **SETTINGS)[0], rtol=1e-6)
    p, g = normal(40, dtype=torch.bfloat16), normal(40, dtype=torch.bfloat16)
    want = A.reference(p.double(), g.double(), np.zeros(40), np.zeros(40), 1, **SETTINGS)[0]
    A.adamw(p, g, torch.zeros(40), torch.zeros(40), step=1, **SETTINGS)
    close(p, want)


def test_wrong_arguments_are_named(normal):
    p = normal(4, 4)
    with pytest.raises(ValueError, match="'step': expected 1 or more, found 0"):
        A.adamw(p, p, p, p, step=0, lr=1)
    with pytest.raises(ValueError, match="'p': expected a contiguous array"):
        A.adamw(p.T, p, p, p, step=1, lr=1)
