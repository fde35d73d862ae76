# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels on a GPU give what NumPy and the CPU target give, within bounds on rounding.

TERRAZZO_RANDOM_KERNELS says how many of each kind (1000), TERRAZZO_RANDOM_SEED where the seeds begin (0).
"""

import os

import pytest
from random_kernels import Kernel, on_host, read, run
from random_runs import KINDS, failures, on_device

COUNT = int(os.environ.get("TERRAZZO_RANDOM_KERNELS", "1000"))
FIRST = int(os.environ.get("TERRAZZO_RANDOM_SEED", "0"))


@pytest.mark.parametrize("kind", KINDS)
def test_random_kernels(kind):
    print(f"{kind}: seeds {FIRST} to {FIRST + COUNT - 1}")
    found = failures(kind, FIRST, COUNT)
    assert not found, (
        f"{len(found)} of {COUNT} kernels fail; the first: "
        + found[0]
        + "".join("\n" + text.splitlines()[0] for text in found[1:])
    )


@pytest.mark.parametrize("first", range(FIRST, FIRST + 60, 20))
def test_integers_have_the_same_bits_as_on_the_cpu(first):
    for seed in range(first, first + 20):
        kernel = Kernel(seed)
        for (_, (value, _)), gpu, cpu in zip(kernel.outputs, run(kernel, on_device), run(kernel, on_host), strict=True):
            if not value.is_float:
                assert (read(gpu, value.dtype) == read(cpu, value.dtype)).all(), f"seed {seed}\n{kernel.source}"
