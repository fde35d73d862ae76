# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels on the CPU give what NumPy gives, within bounds on rounding. More of them: test/device."""

import numpy as np
import pytest
from random_kernels import Kernel, check, on_host, round_bfloat16, run
from random_products import ProductKernel

COUNT, GROUP = 160, 16


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_random_kernels(first):
    for seed in range(first, first + GROUP):
        kernel = Kernel(seed)
        check(kernel, run(kernel, on_host))


@pytest.mark.parametrize("first", range(0, 96, GROUP))
def test_random_products(first):
    print(f"seeds {first} to {first + GROUP - 1}")
    for seed in range(first, first + GROUP):
        kernel = ProductKernel(seed)
        check(kernel, run(kernel, on_host))


def test_a_wrong_product_is_found():
    """A factor that is off by one element in memory: the bounds are tight enough to see it."""
    found = 0
    for seed in range(20):
        kernel = ProductKernel(seed)
        name, (array, dtype) = next((n, x) for n, x in kernel.inputs.items() if n.startswith("f"))
        kernel.inputs[name] = np.roll(array, 1), dtype
        try:
            check(kernel, run(kernel, on_host))
        except AssertionError:
            found += 1
    assert found >= 15


def test_a_wrong_result_is_found():
    kernel = Kernel(3)
    outputs = run(kernel, on_host)
    outputs[0].reshape(-1)[0] += np.array(64, outputs[0].dtype)
    with pytest.raises(AssertionError, match="random kernel 3: 1 of"):
        check(kernel, outputs)


def test_bfloat16_rounds_halves_to_even():
    x = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, -1 - 2.0**-9])
    assert round_bfloat16(x).tolist() == [1, 1 + 2.0**-6, -1]
