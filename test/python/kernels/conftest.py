# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays and tolerances that the kernel tests share."""

import numpy as np
import pytest
import torch

# Relative to the largest value: rounding of the result, a few units of the type it is stored in.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


@pytest.fixture(autouse=True)
def one_thread_for_torch():
    """Its pool would fight the kernels' pool for the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def normal():
    """normal(*shape, dtype=): a torch tensor of fixed random numbers."""
    generator = torch.Generator().manual_seed(0)

    def make(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    return make


@pytest.fixture
def close():
    """close(have, want, factor=1): compares with an fp64 array, by the tolerance of have's dtype."""

    def compare(have, want, factor=1.0):
        want = torch.as_tensor(np.asarray(want.detach() if isinstance(want, torch.Tensor) else want))
        tolerance = factor * TOLERANCE[have.dtype]
        assert have.shape == want.shape
        torch.testing.assert_close(
            have.detach().double(),
            want.double(),
            rtol=tolerance,
            atol=tolerance * max(1.0, float(want.abs().max()) if want.numel() else 1.0),
        )

    return compare


@pytest.fixture
def gradients():
    """gradients(fn, inputs, dy): fp64 gradients of fn by torch's autograd."""

    def compute(fn, inputs, dy):
        leaves = [x.detach().double().requires_grad_() for x in inputs]
        return torch.autograd.grad(fn(*leaves), leaves, dy.double())

    return compute
