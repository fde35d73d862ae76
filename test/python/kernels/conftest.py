# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays and tolerances that the kernel tests share. Every test runs on each kind of device that there is."""

import importlib
import pkgutil

import numpy as np
import pytest
import terrazzo.kernels
import torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

# Relative to the largest value: rounding of the result, a few units of the type it is stored in.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


@pytest.fixture(autouse=True)
def one_thread_for_torch():
    """Its pool would fight the kernels' pool for the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=DEVICES, autouse=True)
def device(request):
    """Where the tensors are that a test makes; numpy arrays stay in the host's memory."""
    with torch.device(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def references_take_tensors_of_any_device(device, monkeypatch):
    """They compute with NumPy."""
    if device == "cpu":
        return

    def host(x):
        return x.cpu() if isinstance(x, torch.Tensor) else x

    def on_host(reference):
        return lambda *args, **kwargs: reference(*map(host, args), **{k: host(v) for k, v in kwargs.items()})

    for info in pkgutil.iter_modules(terrazzo.kernels.__path__):
        module = importlib.import_module(f"terrazzo.kernels.{info.name}")
        if hasattr(module, "reference"):
            monkeypatch.setattr(module, "reference", on_host(module.reference))


@pytest.fixture
def normal(device):
    """normal(*shape, dtype=): a torch tensor of fixed random numbers."""
    generator = torch.Generator("cpu").manual_seed(0)

    def make(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator, dtype=torch.float64, device="cpu").to(device, dtype)

    return make


@pytest.fixture
def close():
    """close(have, want, factor=1): compares with an fp64 array, by the tolerance of have's dtype."""

    def compare(have, want, factor=1.0):
        want = (
            want.detach().cpu() if isinstance(want, torch.Tensor) else torch.as_tensor(np.asarray(want), device="cpu")
        )
        tolerance = factor * TOLERANCE[have.dtype]
        assert have.shape == want.shape
        torch.testing.assert_close(
            have.detach().cpu().double(),
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
