# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels on a GPU give what NumPy and the CPU target give, within bounds on rounding.

TERRAZZO_RANDOM_KERNELS says how many (1200), TERRAZZO_RANDOM_SEED where the seeds begin (0).
"""

import os

import pytest
import terrazzo as tz
import terrazzo.language as tl
from random_kernels import Kernel, check, on_host, read, run

COUNT = int(os.environ.get("TERRAZZO_RANDOM_KERNELS", "1200"))
FIRST = int(os.environ.get("TERRAZZO_RANDOM_SEED", "0"))
GROUP = 50


def on_device(array, dtype):
    memory = tz.DeviceArray(array.shape, tl.bfloat16 if dtype == "bfloat16" else array.dtype).copy_from(array)
    return memory, memory.numpy


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, GROUP))
def test_random_kernels(first):
    print(f"seeds {first} to {first + GROUP - 1}")
    failures = []
    for seed in range(first, first + GROUP):
        kernel = Kernel(seed)
        try:
            check(kernel, run(kernel, on_device))
        except (AssertionError, tz.TerrazzoError) as error:
            failures.append(f"seed {seed}: {type(error).__name__}: {error}")
    assert not failures, (
        f"{len(failures)} of {GROUP} kernels fail; the first: "
        + failures[0]
        + "".join("\n" + text.splitlines()[0] for text in failures[1:])
    )


@pytest.mark.parametrize("first", range(FIRST, FIRST + 60, 20))
def test_integers_have_the_same_bits_as_on_the_cpu(first):
    for seed in range(first, first + 20):
        kernel = Kernel(seed)
        for (_, (value, _)), gpu, cpu in zip(kernel.outputs, run(kernel, on_device), run(kernel, on_host), strict=True):
            if not value.is_float:
                assert (read(gpu, value.dtype) == read(cpu, value.dtype)).all(), f"seed {seed}\n{kernel.source}"
