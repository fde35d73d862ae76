# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A launch does not wait for its kernel. It compares two times of one run, so tools/device/run.py runs it alone."""

import time

import pytest
import terrazzo as tz
import terrazzo.language as tl

torch = pytest.importorskip("torch")


@tz.jit
def spin(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for _ in range(n):
        x = x * 1.000001 + 1e-9
    tl.store(x_ptr + i, x)


def test_launches_return_at_once():
    x = torch.ones(1024, device="cuda")
    spin[(1,)](x, 16, BLOCK=1024)  # compiles and loads
    torch.cuda.synchronize()
    start = time.perf_counter()
    spin[(1,)](x, 10_000_000, BLOCK=1024)
    launched = time.perf_counter() - start
    tz.synchronize()
    assert launched < 0.2 * (time.perf_counter() - start)
